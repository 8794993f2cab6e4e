//! Mistakes in files and commands, as programs see them: the examples of `Code`, and the documents of `--json`.

use crate::common::{Folder, Run, root};
use logltn_diagnostics::{Code, Mistake, SURROUNDINGS, Severity, Text};
use serde_json::Value;

fn folder(files: &[(&str, Text)]) -> Folder {
    let folder = Folder::new(&[]);
    for (name, content) in SURROUNDINGS.iter().chain(files) {
        folder.write(name, &content.bytes());
    }
    folder
}

/// Runs the commands of an example, the last one with `--json`.
fn run(folder: &Folder, commands: Text) -> Run {
    // What the repository ships, wherever that is.
    let data = root().join("data").display().to_string();
    let commands_text = commands.shown();
    let mut commands = commands_text.lines().map(|line| {
        let words = line.split_whitespace();
        let words = words.map(|word| if word == "DATA" { &data } else { word });
        words.collect::<Vec<&str>>()
    });
    let mut last = commands.next_back().expect("a command");
    for command in commands {
        folder.ok(&command);
    }
    if !writes_text(&commands_text) {
        last.push("--json");
    }
    folder.run(&last)
}

/// Whether a command has no JSON, so that its codes are not shown.
fn writes_text(commands: &str) -> bool {
    commands.starts_with("new ")
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", run.stdout, run.stderr))
}

/// The severities and codes of a document.
fn codes<'a>(document: &'a Value, key: &str) -> Vec<(&'a str, &'a str)> {
    let word = |d: &'a Value, key: &str| d[key].as_str().expect("a word");
    let found = diagnostics(document, key).iter();
    found
        .map(|d| (word(d, "severity"), word(d, "code")))
        .collect()
}

/// The diagnostics of a document, each of them checked for its keys.
fn diagnostics<'a>(document: &'a Value, key: &str) -> &'a [Value] {
    let list = document[key].as_array().map_or(&[][..], Vec::as_slice);
    for diagnostic in list {
        let keys = diagnostic.as_object().expect("an object");
        for key in [
            "severity", "code", "message", "file", "line", "column", "notes", "help",
        ] {
            assert!(keys.contains_key(key), "{key}: {diagnostic}");
        }
        let code = diagnostic["code"].as_str().and_then(Code::named);
        assert!(code.is_some(), "{diagnostic}");
    }
    list
}

#[test]
fn files_and_commands_have_the_mistakes_that_they_are_examples_of() {
    let (mut seen, mut wrong) = (0, String::new());
    for code in Code::ALL {
        let example = code.example();
        let Mistake::Files { commands, files } = example.mistake else {
            continue;
        };
        let run = run(&folder(files), commands);
        let (severity, key) = match example.severity {
            Severity::Error => ("error", "errors"),
            Severity::Warning => ("warning", "warnings"),
        };
        let document: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let found = diagnostics(&document, key);
        let right = |d: &Value| d["code"] == code.name() && d["severity"] == severity;
        if !found.iter().any(right) && !writes_text(&commands.shown()) {
            let codes: Vec<&str> = found.iter().filter_map(|d| d["code"].as_str()).collect();
            wrong += &format!("{code}: {codes:?} {}\n{}\n", run.status, run.stderr);
        }
        // What is wrong with the input is told apart from what went wrong while running.
        let failed = matches!(code, Code::CannotWrite);
        let status = match example.severity {
            Severity::Error if failed => 1,
            Severity::Error => 2,
            Severity::Warning => 0,
        };
        if run.status != status {
            wrong += &format!("{code}: status {}\n", run.status);
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "not as their examples say:\n{wrong}");
    assert!(seen > 30, "{seen}");
}

/// Errors and warnings of one go, in the order found, with their places.
#[test]
fn check_tells_errors_and_warnings_apart() {
    let manifest = br#"
        theory = "theory.ltn"
        semantics = { base = "logltn", stable_eps = 0.001 }
        [sorts]
        Piont = { features = "points.csv" }
        "#;
    let folder = folder(&[]);
    folder.write("m.toml", manifest);
    let run = folder.refuses(&["check", "m.toml", "--json"]);
    let document = document(&run);
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["errors"]);
    let found = codes(&document, "errors");
    assert!(found.contains(&("error", "unknown-sort")), "{found:?}");
    assert!(found.contains(&("warning", "no-effect")), "{found:?}");
    let unknown = (diagnostics(&document, "errors").iter()).find(|d| d["code"] == "unknown-sort");
    let unknown = unknown.expect("it is among them");
    assert_eq!(unknown["file"], "m.toml");
    assert_eq!(
        (&unknown["line"], &unknown["column"]),
        (&5.into(), &9.into())
    );
    assert_eq!(unknown["help"], "did you mean `Point`?");
    assert!(
        unknown["message"]
            .as_str()
            .is_some_and(|m| m.contains("Piont"))
    );
}

#[test]
fn eval_tells_errors_and_warnings_apart() {
    let theory = b"sort Point\npredicate good(Point)\n\
        axiom some: exists x: Point where dist(x, x) > 1. good(x)\naxiom few: not (forall x: Point. good(x))\n";
    let manifest = b"theory = \"theory.ltn\"\n[sorts]\nPoint = { features = \"points.csv\" }\n\
        [predicates]\ngood = { truth = \"good.csv\" }\n";
    let folder = folder(&[]);
    folder.write("theory.ltn", theory);
    folder.write("m.toml", manifest);
    folder.write("good.csv", b"good\n0.5\n1\n0\n");
    let run = folder.ok(&["eval", "m.toml", "--json"]);
    let right = document(&run);
    assert!(right["sat"].is_number(), "{right}");
    assert_eq!(
        codes(&right, "warnings"),
        [("warning", "nothing-to-range-over")]
    );
    folder.write("good.csv", b"good\n0.5\n1\n1.5\n");
    let run = folder.refuses(&["eval", "m.toml", "--json"]);
    let wrong = document(&run);
    assert_eq!(codes(&wrong, "errors"), [("error", "value-out-of-range")]);
    // No place in a text, and nothing that could help: the keys are there anyway.
    let missing = folder.run(&["eval", "nowhere.toml", "--json"]);
    let missing = document(&missing);
    assert_eq!(codes(&missing, "errors"), [("error", "file-not-found")]);
    for key in ["file", "line", "column"] {
        assert!(missing["errors"][0][key].is_null(), "{missing}");
    }
}

#[test]
fn reproduce_tells_errors_apart() {
    let folder = Folder::new(&[]);
    let table = ["reproduce", "clustering", "--json", "--data", "."];
    for (more, status, code) in [
        (["--configs", "logltn-sun"], 2, "unknown-configuration"),
        (["--percentile", "0"], 2, "value-out-of-range"),
    ] {
        let run = folder.run(&[&table[..], &more].concat());
        assert_eq!(run.status, status, "{more:?}: {}", run.stderr);
        let document = document(&run);
        assert_eq!(codes(&document, "errors"), [("error", code)], "{more:?}");
        assert!(diagnostics(&document, "errors")[0]["line"].is_null());
    }
}
