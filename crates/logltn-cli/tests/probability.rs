//! The semantics `probability` and laws, on the command line; what needs no computing is in `cases/probability.case`.

use crate::common::{Folder, root, run_in};
use serde_json::Value;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().expect("a list")
}

/// Every case of `conformance/probability`, with its name and what is expected.
fn cases() -> Vec<(std::path::PathBuf, Value)> {
    let all = root().join("conformance/probability");
    let mut folders: Vec<_> = (std::fs::read_dir(all).expect("part of the repository"))
        .map(|entry| entry.expect("readable").path())
        .collect();
    folders.sort();
    assert!(folders.len() >= 33);
    let expected = |folder: &std::path::Path| -> Value {
        let text = std::fs::read_to_string(folder.join("expected.json")).expect("readable");
        let entries: Value = serde_json::from_str(&text).expect("JSON");
        entries[0].clone()
    };
    folders
        .into_iter()
        .map(|f| (f.clone(), expected(&f)))
        .collect()
}

#[test]
fn truths_and_gradients_are_those_of_all_worlds() {
    for (folder, expected) in cases() {
        let name = folder.display().to_string();
        let out = Folder::new(&[]);
        let gradients = out.path().join("gradients");
        let words = [
            "eval",
            "case.toml",
            "--semantics",
            "probability",
            "--json",
            "--gradients",
        ];
        let mut words = words.to_vec();
        let to = gradients.display().to_string();
        words.push(&to);
        let run = run_in(&folder, &words).ends(0);
        let found = run.json();
        for key in ["sat", "loss"] {
            assert!(
                close(number(&found[key]), number(&expected[key])),
                "{name}, {key}"
            );
        }
        let (hard, soft): (Vec<&Value>, Vec<&Value>) =
            (list(&found, "axioms").iter()).partition(|a| a["hard"] == true);
        let laws: Vec<&Value> = hard.iter().map(|a| &a["name"]).collect();
        assert_eq!(
            laws,
            list(&expected, "hard").iter().collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(soft.len(), list(&expected, "axioms").len(), "{name}");
        for (found, expected) in soft.iter().zip(list(&expected, "axioms")) {
            assert!(
                close(number(&found["truth"]), number(&expected["truth"])),
                "{name}: {found}"
            );
            for key in ["name", "weight", "impossible"] {
                assert_eq!(found[key], expected[key], "{name}: {found}");
            }
        }
        for (predicate, rows) in expected["gradients"].as_object().expect("an object") {
            let file = gradients.join(format!("{predicate}.csv"));
            let text = std::fs::read_to_string(file).expect("written");
            let found = text.lines().skip(1).flat_map(|line| line.split(','));
            let found: Vec<f64> = found.map(|x| x.parse().expect("a number")).collect();
            let rows = rows.as_array().expect("rows").iter();
            let expected: Vec<f64> = (rows.flat_map(|r| r.as_array().expect("a row")))
                .map(number)
                .collect();
            assert_eq!(found.len(), expected.len(), "{name}, {predicate}");
            for (a, b) in found.iter().zip(&expected) {
                assert!(close(*a, *b), "{name}, {predicate}: {a} is not {b}");
            }
        }
    }
}

fn place(atom: &Value) -> &[Value] {
    atom[1].as_array().expect("a list")
}

/// The marginals and worlds of all cases with laws, through `predict`.
#[test]
fn predictions_are_given_the_laws() {
    let mut with_laws = 0;
    for (folder, expected) in cases() {
        let name = folder.display().to_string();
        let Some(marginals) = expected["marginals"].as_object() else {
            continue;
        };
        with_laws += 1;
        for (key, states) in marginals {
            let atom: Value = serde_json::from_str(key).expect("JSON");
            let predicate = atom[0].as_str().expect("a name");
            let document = |more: &[&str]| -> Value {
                let words = [&["predict", "case.toml", predicate, "--json"][..], more].concat();
                let run = run_in(&folder, &words);
                assert_eq!(run.status, 0, "{name}: {}", run.stderr);
                serde_json::from_str(&run.stdout).expect("JSON")
            };
            let is_it = |row: &&Value| {
                let arguments = row["arguments"].as_object().expect("an object");
                arguments.values().eq(place(&atom))
            };
            // Of a sigmoid with a number for each class the class is no argument.
            let said = document(&[]);
            let has_classes = list(&said, "rows")
                .iter()
                .any(|r| !r["prediction"].is_null());
            let said = if has_classes {
                document(&["--classes"])
            } else {
                said
            };
            let states = states.as_array().expect("a list");
            if let Some(row) = list(&said, "rows").iter().find(is_it) {
                let found: Vec<f64> = match row["classes"].as_object() {
                    Some(classes) => classes.values().map(number).collect(),
                    None => vec![1.0 - number(&row["truth"]), number(&row["truth"])],
                };
                for (a, b) in found.iter().zip(states) {
                    assert!(close(*a, number(b)), "{name}, {key}: {a} is not {b}");
                }
            } else {
                let (class, row) = place(&atom).split_last().expect("a class");
                let found = list(&said, "rows").iter().find(|said| {
                    let arguments = said["arguments"].as_object().expect("an object");
                    arguments.values().eq(row)
                });
                let found = &found.expect("the row")["classes"][class.to_string()];
                assert!(close(number(found), number(&states[1])), "{name}, {key}");
            }
            if let Some(world) = expected["world"].as_object() {
                let said = document(&["--world"]);
                let row = list(&said, "rows").iter().find(is_it).expect("the atom");
                assert_eq!(row["prediction"], world[key], "{name}, {key}");
                assert!(number(&said["log_probability"]) <= 1e-12, "{name}");
            }
        }
    }
    assert!(with_laws >= 15);
}

const HIERARCHY: &[(&str, &[u8])] = &[
    (
        "t.ltn",
        b"sort X
sort Label = {cat, dog, animal}
table isa(c: Label, p: Label)
table friends(a: X, b: X)
predicate is(X, Label)
axiom hierarchy: forall x: X. forall (c, p) in isa. is(x, c) -> is(x, p)
axiom alike: forall (a, b) in friends. is(a, cat) -> is(b, cat)
axiom fam for l: Label: forall x: X. is(x, l)
",
    ),
    (
        "m.toml",
        b"theory = 't.ltn'
[sorts.X]
features = 'x.csv'
[tables]
isa = { rows = 'isa.csv' }
friends = { rows = 'friends.csv' }
[predicates.is]
network = { mlp = [3] }
output = 'sigmoid'
[axioms.hierarchy]
hard = true
[evaluate]
metrics = [ { metric = 'accuracy', predicate = 'is', rows = 'truth.csv' } ]
[train]
steps = 3
",
    ),
    ("x.csv", b"u,v\n0,1\n1,0\n1,1\n"),
    ("new.csv", b"u,v\n0.5,1\n2,0\n"),
    ("isa.csv", b"c,p\ncat,animal\ndog,animal\n"),
    ("friends.csv", b"a,b\n0,1\n"),
    ("truth.csv", b"a1,a2,truth\n0,cat,1\n0,animal,1\n1,dog,0\n"),
];

#[test]
fn laws_hold_in_predictions_of_a_run_and_of_new_individuals() {
    let folder = Folder::new(HIERARCHY);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let rows = |words: &[&str]| -> Vec<Vec<String>> {
        let all = [&["predict", "m.toml", "is", "--run", "run"][..], words].concat();
        let said = folder.ok(&all).stdout;
        let lines = said.lines().skip(1);
        lines
            .map(|l| l.split(',').map(str::to_string).collect())
            .collect()
    };
    for (more, count) in [(&[][..], 3), (&["--features", "X=new.csv"][..], 2)] {
        let said = rows(&[&["--classes"][..], more].concat());
        assert_eq!(said.len(), count);
        for row in said {
            let p: Vec<f64> = row[3..]
                .iter()
                .map(|x| x.parse().expect("a number"))
                .collect();
            assert!(p[0] <= p[2] && p[1] <= p[2], "{p:?}");
        }
        let world = rows(&[&["--world"][..], more].concat());
        assert_eq!(world.len(), 3 * count);
        for row in world.chunks(3) {
            assert!(row[0][2] <= row[2][2] && row[1][2] <= row[2][2], "{row:?}");
        }
    }
    // Without laws, and with another one, the degrees are others.
    let plain = rows(&["--given", "none", "--classes"]);
    assert_ne!(plain, rows(&["--classes"]));
    assert_eq!(
        rows(&["--given", "hierarchy, fam[cat]", "--classes"])[0][3],
        "1"
    );
    let words = [
        "predict",
        "m.toml",
        "is",
        "--run",
        "run",
        "--features",
        "X=new.csv",
        "--given",
        "alike",
    ];
    folder
        .refuses(&words)
        .complains("a law uses table `friends`");
    let words = [
        "predict",
        "m.toml",
        "is",
        "--run",
        "run",
        "--given",
        "hierarchy,fam[cow]",
    ];
    folder.refuses(&words).complains("no axiom `fam[cow]`");
    let worlds = folder.ok(&[
        "sample", "m.toml", "is", "--run", "run", "--worlds", "50", "--seed", "7",
    ]);
    assert_eq!(worlds.stdout.lines().count(), 1 + 50 * 9);
    let lines: Vec<&str> = worlds.stdout.lines().skip(1).collect();
    for three in lines.chunks(3) {
        let value = |i: usize| three[i].ends_with(",1");
        assert!(value(2) || !(value(0) || value(1)), "{three:?}");
    }
    // Metrics see what `predict` says.
    let said = rows(&["--classes"]);
    let p = |row: usize, class: usize| said[row][3 + class].parse::<f64>().expect("a number") > 0.5;
    let right = u8::from(p(0, 0)) + u8::from(p(0, 2)) + u8::from(!p(1, 1));
    let run = folder.ok(&["eval", "m.toml", "--run", "run", "--json"]);
    let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(
        close(
            number(&found["metrics"][0]["value"]),
            f64::from(right) / 3.0
        ),
        "{found}"
    );
}

/// Implications that no circuit is found for: the most probable world is found anyway, other questions are refused.
#[test]
fn worlds_of_implications_need_no_circuit() {
    const LABELS: usize = 60;
    let mut isa = String::from("c,p\n");
    let mut pairs = Vec::new();
    for child in 1..LABELS {
        for step in [1, 7, 11] {
            let parent = (step * 17) % child;
            pairs.push((child, parent));
            isa += &format!("{child},{parent}\n");
        }
    }
    let degree = |label: usize| ((label * 37 + 11) % 97) as f64 / 97.0;
    let degrees: Vec<String> = (0..LABELS).map(|l| degree(l).to_string()).collect();
    let names: Vec<String> = (0..LABELS).map(|l| format!("l{l}")).collect();
    let degrees = format!("{}\n{}\n", names.join(","), degrees.join(","));
    let theory = format!(
        "sort X = {{one}}\nsort L = 0..{}\ntable isa(c: L, p: L)\npredicate is(X, L)\n\
         axiom hierarchy: forall x: X. forall (c, p) in isa. is(x, c) -> is(x, p)\n",
        LABELS - 1
    );
    let manifest = |seconds: f64| {
        format!(
            "theory = 't.ltn'\n[tables]\nisa = {{ rows = 'isa.csv' }}\n[predicates.is]\ntruth = 'is.csv'\n\
             [axioms.hierarchy]\nhard = true\n[train]\nsteps = 1\ncompile_seconds = {seconds}\n"
        )
    };
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("isa.csv", isa.as_bytes()),
        ("is.csv", degrees.as_bytes()),
        ("hard.toml", manifest(1e-9).as_bytes()),
        ("easy.toml", manifest(60.0).as_bytes()),
    ]);
    let world = |manifest: &str| {
        folder
            .ok(&["predict", manifest, "is", "--world", "--json"])
            .json()
    };
    let (hard, easy) = (world("hard.toml"), world("easy.toml"));
    assert_eq!(hard["rows"], easy["rows"]);
    assert!(hard["log_probability"].is_null() && number(&easy["log_probability"]) < 0.0);
    let state = |label: usize| number(&list(&hard, "rows")[label]["prediction"]);
    assert!(
        pairs
            .iter()
            .all(|(child, parent)| state(*child) <= state(*parent))
    );
    folder
        .refuses(&["predict", "hard.toml", "is"])
        .complains("too hard to compile");
    folder
        .refuses(&["sample", "hard.toml", "is", "--worlds", "3"])
        .complains("too hard to compile");
}
