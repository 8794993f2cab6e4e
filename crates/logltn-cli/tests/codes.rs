//! Mistakes in files and commands, as programs see them: the examples of `Code`. The documents of `--json` are in `cases/codes.case`.

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
