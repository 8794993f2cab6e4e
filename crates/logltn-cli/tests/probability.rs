//! `conformance/probability` on the command line, and implications that are hard to compile; the rest is in `cases/probability.case`.

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
