//! `logltn compare`: runs side by side.

use crate::common::{Folder, Run};
use serde_json::{Value, json};

fn ok(run: Run) -> String {
    run.quiet();
    run.stdout
}

fn document(run: Run) -> Value {
    serde_json::from_str(&ok(run)).expect("JSON")
}

const THEORY: &str = "sort P\npredicate good(P)\nfunction size(P): Real\npredicate small(Real)
axiom some: exists x: P. good(x)
axiom few: exists x: P. not good(x)
axiom all: forall x: P. small(size(x))
";

const MANIFEST: &str = "theory = \"t.ltn\"
[sorts.P]
features = \"points.csv\"
[predicates.good]
network = { mlp = [4] }
output = \"sigmoid\"
[predicates.small]
network = { mlp = [2] }
output = \"sigmoid\"
[functions.size]
network = { mlp = [2] }
[train]
steps = 8
learning_rate = 0.01
seed = 1
[evaluate]
metrics = [ { metric = \"rmse\", function = \"size\", rows = \"sizes.csv\" },
            { metric = \"accuracy\", predicate = \"good\", rows = \"good.csv\", name = \"right\" } ]
";

/// A project with the runs `a`, `deep/b` with another learning rate, and `c` with another seed.
fn folder() -> Folder {
    let folder = Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
        ("points.csv", b"x,y\n0,1\n1,0\n2,2\n"),
        ("sizes.csv", b"a1,value\n0,1\n1,0\n"),
        ("good.csv", b"a1,truth\n0,1\n1,0\n"),
    ]);
    let faster = MANIFEST.replace("learning_rate = 0.01", "learning_rate = 5e-2");
    folder.write("faster.toml", faster.as_bytes());
    for run in [
        ["m.toml", "--out", "a", "--seed", "1"],
        ["faster.toml", "--out", "deep/b", "--seed", "1"],
        ["m.toml", "--out", "c", "--seed", "2"],
    ] {
        folder.ok(&[&["train"], &run[..]].concat());
    }
    folder
}

/// The last record of a run.
fn last(folder: &Folder, run: &str) -> Value {
    let path = folder.path().join(run).join("metrics.jsonl");
    let text = std::fs::read_to_string(path).expect("records");
    serde_json::from_str(text.lines().last().expect("a record")).expect("JSON")
}

/// The whole theory with the last weights of a run.
fn whole(folder: &Folder, run: &str) -> Value {
    let path = folder.path().join(run).join("run.json");
    let text = std::fs::read_to_string(path).expect("a file");
    let info: Value = serde_json::from_str(&text).expect("JSON");
    info["whole"]["last"].clone()
}

#[test]
fn what_differs_and_what_came_of_it() {
    let folder = folder();
    let found = document(folder.run(&["compare", "a", "deep/b", "--json"]));
    // The files are the same, though the runs see them by different ways.
    let differences = json!({"train.learning_rate": [0.01, 0.05]});
    assert_eq!(found["differences"], differences);
    for (i, name) in ["a", "deep/b"].into_iter().enumerate() {
        let last = last(&folder, name);
        let run = &found["runs"][i];
        assert_eq!(run["metrics"], last["metrics"]);
        let whole = whole(&folder, name);
        assert_eq!(run["loss"], whole["loss"]);
        for (axiom, place) in [("some", 0), ("few", 1), ("all", 2)] {
            assert_eq!(run["axioms"][axiom], whole["axioms"][place], "{axiom}");
        }
        assert_eq!(
            (&run["steps"], &run["status"]),
            (&json!(8), &json!("finished"))
        );
    }
    assert!(!folder.has("comparison.png"));

    let text = ok(folder.run(&["compare", "a", "deep/b"]));
    assert!(!folder.has("comparison.png"), "nobody asked for it");
    ok(folder.run(&["compare", "a", "deep/b", "--picture", "comparison.png"]));
    assert!(folder.has("comparison.png"));
    let lines = |word: &str| -> String {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(word));
        line.unwrap_or_else(|| panic!("{word}:\n{text}"))
            .to_string()
    };
    assert!(lines("train.learning_rate").contains("0.01"), "{text}");
    // Of rmse and the loss less is better, of truths more.
    let value = |run: usize, key: &str, name: &str| found["runs"][run][key][name].as_f64();
    for (name, a, b, less) in [
        (
            "some",
            value(0, "axioms", "some"),
            value(1, "axioms", "some"),
            false,
        ),
        (
            "rmse(size)",
            value(0, "metrics", "rmse(size)"),
            value(1, "metrics", "rmse(size)"),
            true,
        ),
        (
            "loss",
            found["runs"][0]["loss"].as_f64(),
            found["runs"][1]["loss"].as_f64(),
            true,
        ),
    ] {
        assert_ne!(a, b, "{name}");
        let first_is_better = (a < b) == less;
        let line = lines(name);
        let star = line.find('*').unwrap_or_else(|| panic!("{line}"));
        assert_eq!(star < line.len() - 2, first_is_better, "{line}");
    }
}

#[test]
fn seeds_only_are_one_column() {
    let folder = folder();
    let found = document(folder.run(&["compare", "a", "c", "deep/b", "--json"]));
    assert_eq!(found["differences"]["train.seed"], json!([1, 2, 1]));
    let groups = found["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["runs"], json!(["a", "c"]));
    let losses = [0, 1].map(|run| found["runs"][run]["loss"].as_f64().expect("a loss"));
    let mean = (losses[0] + losses[1]) / 2.0;
    let deviation = (losses[0] - losses[1]).abs() / 2.0_f64.sqrt();
    let loss = &groups[0]["loss"];
    assert!((loss["mean"].as_f64().expect("a mean") - mean).abs() < 1e-12);
    assert!((loss["deviation"].as_f64().expect("one") - deviation).abs() < 1e-12);
    let text = ok(folder.run(&["compare", "a", "c"]));
    assert!(text.contains(" ± ") && text.contains("seed 2"), "{text}");
}

#[test]
fn other_rules_and_other_data() {
    let folder = folder();
    let theory = THEORY
        .replace(
            "exists x: P. not good(x)",
            "exists x: P. not good(x) # rarely",
        )
        .replace("some: exists", "some (weight 2): exists");
    folder.write(
        "t.ltn",
        (theory + "axiom more: exists x: P. good(x) or good(x)\n").as_bytes(),
    );
    folder.write("points.csv", b"x,y\n0,1\n1,0\n2,3\n");
    folder.ok(&["train", "m.toml", "--out", "d"]);
    let found = document(folder.run(&["compare", "a", "d", "--json"]));
    let differences = found["differences"].as_object().expect("an object");
    let keys: Vec<&String> = differences.keys().collect();
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert!(
        keys[0].starts_with("files.") && keys[0].ends_with("points.csv"),
        "{keys:?}"
    );
    let more = json!([null, "exists x: P. good(x) or good(x)"]);
    assert_eq!(differences["theory.axiom more"], more);
    assert_eq!(
        differences["theory.axiom some"],
        json!(["exists x: P. good(x)", "(weight 2): exists x: P. good(x)"])
    );
    // Losses of other theories are not compared.
    let text = ok(folder.run(&["compare", "a", "d"]));
    let loss = text
        .lines()
        .find(|line| line.trim_start().starts_with("loss"));
    assert!(!loss.expect("a line").contains('*'), "{text}");
    assert!(text.contains("none is marked"), "{text}");
}

#[test]
fn unfinished_runs_say_so() {
    let folder = folder();
    let path = folder.path().join("c/run.json");
    let info = std::fs::read_to_string(&path).expect("a file");
    // As an older program's, which has no checksum.
    let mut info: Value = serde_json::from_str(&info).expect("JSON");
    info.as_object_mut().expect("an object").remove("check");
    let info = info.to_string();
    for (status, words) in [
        ("running", "still running, or killed, after 8 steps"),
        ("interrupted", "interrupted after 8 steps"),
    ] {
        let changed = info.replace("\"finished\"", &format!("\"{status}\""));
        folder.write("c/run.json", changed.as_bytes());
        let text = ok(folder.run(&["compare", "a", "c"]));
        assert!(text.contains(words), "{text}");
        let found = document(folder.run(&["compare", "a", "c", "--json"]));
        assert_eq!(found["runs"][1]["status"], status);
    }
    // Before the first step there is nothing but what it was told.
    folder.remove("c/metrics.jsonl");
    let found = document(folder.run(&["compare", "a", "c", "--json"]));
    assert_eq!(found["runs"][1]["loss"], Value::Null);
}

#[test]
fn what_cannot_be_compared() {
    let folder = folder();
    for (runs, word) in [
        (&["a"][..], "two runs"),
        (&["a", "nowhere"], "nowhere: there is no such folder"),
        (&["a", "deep"], "deep: the folder holds no run"),
    ] {
        let run = folder.refuses(&[&["compare"], runs].concat());
        run.complains(word);
    }
}
