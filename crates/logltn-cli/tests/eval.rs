//! `logltn eval`: truths, and gradients as files.

use crate::common::{Folder, Run, root, run_in, sound};
use serde_json::Value;

fn json(run: &Run) -> Value {
    run.quiet();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", run.stdout))
}

fn truth(document: &Value, axiom: usize) -> f64 {
    document["axioms"][axiom]["truth"]
        .as_f64()
        .expect("a number")
}

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn truths_are_those_of_pen_and_paper() {
    let document = json(&sound().run(&["eval", "--json", "m.toml"]));
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    for key in [
        "semantics",
        "alpha",
        "p",
        "p_forall",
        "sat",
        "loss",
        "axioms",
    ] {
        assert!(keys.iter().any(|k| *k == key), "{key}: {keys:?}");
    }
    assert_eq!(document["semantics"], "logltn");
    // The softmax of the logits (2, -1), (0, 0), (-0.5, 1), the first of each.
    let cat = [
        1.0 / (1.0 + (-3.0_f64).exp()),
        0.5,
        1.0 / (1.0 + 1.5_f64.exp()),
    ];
    let examples = (cat[0].ln() + (1.0 - cat[2]).ln()) / 2.0;
    assert_close(truth(&document, 0), examples);
    let cats = (cat.iter().sum::<f64>() / 3.0).ln();
    assert_close(truth(&document, 1), cats);
    // close(x, x) is 1 in all three: (¬1 ∨ 1) ∧ (¬1 ∨ 1), each the log of a mean.
    let smooth = 2.0 * (((1.0 + 1e-7) + 1e-7) / 2.0_f64).ln();
    assert_close(truth(&document, 2), smooth);
    assert_close(truth(&document, 4), 0.0);
    let sum: f64 = (0..5).map(|axiom| truth(&document, axiom)).sum();
    assert_close(document["sat"].as_f64().expect("a number"), sum / 5.0);
    assert_eq!(
        document["loss"].as_f64(),
        document["sat"].as_f64().map(|sat| -sat)
    );
    assert_eq!(document["axioms"][2]["groundings"], 3);
}

#[test]
fn for_people() {
    let run = sound().run(&["eval", "m.toml"]);
    run.quiet();
    let stable = sound().run(&["eval", "m.toml", "--semantics", "stable"]);
    stable.quiet();
    insta::assert_snapshot!(format!("{}\n{}", run.stdout, stable.stdout));
}

#[test]
fn the_last_value_of_a_schedule_unless_told_otherwise() {
    let folder = sound();
    let manifest = folder.read("m.toml");
    let manifest = format!("{manifest}\n[schedule]\nalpha = {{ linear = [1, 4] }}\np = 3\n");
    folder.write("m.toml", manifest.as_bytes());
    let document = json(&folder.run(&["eval", "--json", "m.toml"]));
    assert_eq!(
        (document["alpha"].as_f64(), document["p"].as_f64()),
        (Some(4.0), Some(3.0))
    );
    let arguments = [
        "eval",
        "--json",
        "m.toml",
        "--alpha",
        "2",
        "--p",
        "5",
        "--p-forall",
        "6",
    ];
    let told = json(&folder.run(&arguments));
    let found = ["alpha", "p", "p_forall"].map(|key| told[key].as_f64());
    assert_eq!(found, [Some(2.0), Some(5.0), Some(6.0)]);
    // LogMeanExp grows with α.
    assert!(truth(&document, 1) > truth(&told, 1));
}

#[test]
fn every_semantics() {
    for semantics in logltn::Semantics::NAMES {
        let run = sound().run(&["eval", "--json", "m.toml", "--semantics", semantics]);
        let document = json(&run);
        assert_eq!(document["semantics"], semantics);
        assert!(
            document["sat"].as_f64().is_some_and(f64::is_finite),
            "{semantics}"
        );
    }
}

#[test]
fn gradients_have_the_header_and_shape_of_the_numbers() {
    let folder = sound();
    let unused = folder.read("t.ltn") + "predicate idle(Digit)\n";
    folder.write("t.ltn", unused.as_bytes());
    let manifest = folder.read("m.toml");
    let manifest = manifest + "idle = { truth = \"idle.csv\" }\n";
    folder.write("m.toml", manifest.as_bytes());
    folder.write("idle.csv", b"\"a, b\"\n0\n0\n0\n0\n0\n0\n0\n0\n0\n1\n");
    folder.ok(&["eval", "m.toml", "--gradients", "deep/gradients"]);
    let dir = folder.path().join("deep/gradients");
    let mut names: Vec<String> = (std::fs::read_dir(&dir).expect("a folder"))
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "bright.csv",
            "close.csv",
            "idle.csv",
            "shows.csv",
            "type.csv"
        ]
    );
    for name in &names {
        let given = folder.read(name);
        let found = std::fs::read_to_string(dir.join(name)).expect("it is there");
        assert_eq!(given.lines().next(), found.lines().next(), "{name}");
        let shape = |text: &str| -> Vec<usize> {
            text.lines()
                .skip(1)
                .map(|line| line.split(',').count())
                .collect()
        };
        assert_eq!(shape(&given), shape(&found), "{name}");
    }
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).expect("it is there");
    assert!(
        read("idle.csv").lines().skip(1).all(|line| line == "0.0"),
        "{}",
        read("idle.csv")
    );
    // d loss / d log truth of bright(origin) has a share of the axiom `origin`, 1/5, and no other.
    assert_eq!(read("bright.csv").lines().nth(1), Some("-0.2"));
}

/// d loss / d number by the program's own loss at the numbers next to it.
#[test]
fn gradients_are_differences_of_losses() {
    let folder = sound();
    folder.ok(&["eval", "m.toml", "--gradients", "g"]);
    let gradient = folder.read("g/type.csv");
    let gradient: Vec<f64> = (gradient.lines().skip(1).flat_map(|line| line.split(',')))
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    let logits = [2.0, -1.0, 0.0, 0.0, -0.5, 1.0];
    let loss = |logits: &[f64]| {
        let rows: String = (logits
            .chunks(2)
            .map(|row| format!("{},{}\n", row[0], row[1])))
        .collect();
        folder.write("type.csv", format!("cat,dog\n{rows}").as_bytes());
        let document = json(&folder.run(&["eval", "--json", "m.toml"]));
        document["loss"].as_f64().expect("a number")
    };
    for (i, expected) in gradient.iter().enumerate() {
        let moved = |by: f64| {
            let mut logits = logits;
            logits[i] += by;
            loss(&logits)
        };
        let found = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!(
            (found - expected).abs() < 1e-9,
            "{i}: {found} is not {expected}"
        );
    }
}

#[test]
fn networks_cannot_be_evaluated_untrained() {
    let run = run_in(root(), &["eval", "theories/pascal_part.toml"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(run.stderr);
}

#[test]
fn learnable_constants_have_no_numbers() {
    let folder = sound();
    let manifest = folder.read("m.toml");
    folder.write(
        "m.toml",
        manifest.replace("row = 0", "learnable = 2").as_bytes(),
    );
    let run = folder.refuses(&["eval", "m.toml"]);
    run.complains("applies it to a learnable constant");
    // One that the predicate is not applied to does no harm.
    let theory = folder.read("t.ltn");
    folder.write(
        "t.ltn",
        theory
            .replace("bright(origin)", "exists x: Point. bright(x)")
            .as_bytes(),
    );
    folder.ok(&["eval", "m.toml"]);
}

#[test]
fn an_empty_exists_is_counted_and_told() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 0..4  predicate P(S)
              axiom a (weight 2): forall x: S. exists y: S where y > x + 2. P(y)
              axiom b: forall x: S. not P(x)",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"\npredicates.P.truth = \"p.csv\"\n",
        ),
        ("p.csv", b"p\n0\n0.25\n0.5\n0.75\n1\n"),
    ]);
    let run = folder.ok(&["eval", "--json", "m.toml", "--semantics", "godel"]);
    run.complains("nothing to choose from, 3 times");
    let document = run.json();
    assert_eq!(document["axioms"][0]["empty_exists"], 3);
    assert_eq!(document["axioms"][0]["groundings"], 3);
    assert_eq!(document["axioms"][0]["weight"], 2.0);
    assert_eq!(truth(&document, 0), 0.0);
}

#[test]
fn what_a_semantics_cannot_say_is_wrong_input() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 0..2  predicate P(S)  axiom a: exists x: S. P(x) and (forall y: S. P(y))",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"\npredicates.P.truth = \"p.csv\"\n",
        ),
        ("p.csv", b"p\n0\n0.5\n1\n"),
    ]);
    folder.ok(&["eval", "m.toml"]);
    let run = folder.refuses(&["eval", "--json", "m.toml", "--semantics", "prod"]);
    run.complains("t.ltn:1:");
    run.complains("`logltn`");
    let document = run.json();
    assert_eq!(document["errors"][0]["file"], "t.ltn");
}

#[test]
fn a_folder_that_cannot_be_written_is_a_failed_run() {
    let folder = sound();
    let run = folder.run(&["eval", "m.toml", "--gradients", "t.ltn"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    run.complains("t.ltn: cannot be written");
}

/// Numbers in other formats than CSV have no header: the columns go by the individuals.
#[test]
fn numbers_without_a_header() {
    let folder = sound();
    let mut npy = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }";
    npy.extend(format!("{header:<69}\n").bytes());
    for logit in [2.0, -1.0, 0.0, 0.0, -0.5, 1.0_f64] {
        npy.extend(logit.to_le_bytes());
    }
    let csv = json(&folder.run(&["eval", "--json", "m.toml"]));
    let manifest = folder.read("m.toml");
    folder.write(
        "m.toml",
        manifest.replace("type.csv", "type.npy").as_bytes(),
    );
    folder.write("type.npy", &npy);
    let run = folder.run(&["eval", "--json", "m.toml", "--gradients", "g"]);
    assert_eq!(json(&run), csv);
    let gradient = folder.read("g/type.csv");
    assert!(gradient.starts_with("cat,dog\n"), "{gradient}");
}
