//! Random manifests around the examples, trained for two steps: each is refused with status 2 and a place, or it is done.
//! `LOGLTN_RANDOM_CASES=5000 cargo test --release -p logltn-cli --test all random_manifests::` looks further, and from
//! `LOGLTN_RANDOM_FIRST` on elsewhere.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Random;
use logltn_examples::{Sources, example};
use serde_json::Value;
use tempfile::TempDir;

/// Small ones, which together have nearly every key.
const BASES: [&str; 6] = [
    "binary",
    "clustering",
    "smokes",
    "propositions",
    "real-estate",
    "ancestors",
];

/// What nobody means, or hardly anybody.
const ODD: [&str; 30] = [
    "0",
    "-1",
    "1",
    "2",
    "0.5",
    "1e400",
    "-1e30",
    "1e-300",
    "nan",
    "inf",
    "9223372036854775807",
    "\"\"",
    "\"x\"",
    "\"no-such-file.csv\"",
    "\"../x\"",
    "true",
    "[]",
    "{}",
    "[0]",
    "[1, \"a\"]",
    "[[]]",
    "{ rows = \"x.csv\" }",
    "{ linear = [1, 0] }",
    "{ linear = [0, 4] }",
    "{ mlp = [] }",
    "{ mlp = [4] }",
    "\"softmax\"",
    "\"sigmoid\"",
    "\"prod\"",
    "1979-05-27",
];

/// A text with one thing changed.
fn changed(text: &str, other: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    if lines.is_empty() {
        return other.to_string();
    }
    let at = random.below(lines.len());
    match random.below(9) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 | 3 => {
            let line = &lines[at];
            if let Some((key, _)) = line.split_once('=') {
                lines[at] = format!("{key}= {}", random.of(&ODD));
            }
        }
        4 => {
            let to = random.below(lines.len());
            let [a, b] = [at, to].map(|i| {
                lines[i]
                    .split_once('=')
                    .map(|(k, v)| (k.to_string(), v.to_string()))
            });
            if let (Some((ka, va)), Some((kb, vb))) = (a, b) {
                lines[at] = format!("{ka}={vb}");
                lines[to] = format!("{kb}={va}");
            }
        }
        5 => {
            // A number is another one.
            let line = lines[at].clone();
            let digits: Vec<usize> = (line.char_indices())
                .filter(|(_, c)| c.is_ascii_digit())
                .map(|(i, _)| i)
                .collect();
            if !digits.is_empty() {
                let i = *random.of(&digits);
                let number = *random.of(&["0", "9", "-3", "1e9", "1e40", "0.001", "77"]);
                lines[at] = format!("{}{number}{}", &line[..i], &line[i + 1..]);
            }
        }
        6 => {
            // A letter less.
            let line: Vec<char> = lines[at].chars().collect();
            let i = random.below(line.len());
            lines[at] = line
                .iter()
                .enumerate()
                .filter(|(j, _)| *j != i)
                .map(|(_, c)| c)
                .collect();
        }
        7 => {
            let others: Vec<&str> = other.lines().collect();
            if !others.is_empty() {
                lines.insert(at, random.of(&others).to_string());
            }
        }
        _ => lines.truncate(at),
    }
    lines.join("\n") + "\n"
}

/// Spoils a file of data.
fn spoil(path: &Path, random: &mut Random) {
    let bytes = std::fs::read(path).expect("a file");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let spoiled = match random.below(6) {
        0 => Vec::new(),
        1 => bytes[..bytes.len() / 2].to_vec(),
        2 => text.replacen(',', ",,", 1).into_bytes(),
        3 => text.replacen('1', "NaN", 1).into_bytes(),
        4 => text
            .lines()
            .take(1)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
            .into_bytes(),
        _ => {
            std::fs::remove_file(path).expect("it can be removed");
            return;
        }
    };
    std::fs::write(path, spoiled).expect("a file");
}

#[test]
fn each_is_refused_with_a_place_or_done() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |n| n.parse().expect("a number"))
    };
    let (first, cases) = (
        number("LOGLTN_RANDOM_FIRST", 0),
        number("LOGLTN_RANDOM_CASES", 48),
    );
    let sources = Sources {
        stand_ins: true,
        ..Sources::default()
    };
    let made: Vec<(TempDir, &str)> = (BASES.iter())
        .map(|name| {
            let folder = TempDir::new().expect("a folder");
            let written = example(name)
                .expect("an example")
                .write(&sources, folder.path());
            written.unwrap_or_else(|errors| panic!("{errors}"));
            (folder, *name)
        })
        .collect();
    let text = |base: usize, ending: &str| {
        let (folder, name) = &made[base];
        std::fs::read_to_string(folder.path().join(format!("{name}.{ending}"))).expect("a text")
    };
    let mut seen = [0; 3];
    for case in first..first + cases {
        let mut random = Random(case.wrapping_mul(0x1234_5678_9abc_def1));
        let base = random.below(made.len());
        let other = text(random.below(made.len()), "toml");
        let folder = TempDir::new().expect("a folder");
        let name = made[base].1;
        let mut data = Vec::new();
        for entry in std::fs::read_dir(made[base].0.path()).expect("a folder") {
            let entry = entry.expect("an entry");
            let to = folder.path().join(entry.file_name());
            std::fs::copy(entry.path(), &to).expect("a copy");
            let ending = to.extension().unwrap_or_default();
            if ending != "toml" && ending != "ltn" {
                data.push(to);
            }
        }
        data.sort();
        let [mut manifest, mut theory] = ["toml", "ltn"].map(|ending| text(base, ending));
        // The first ones are as they are.
        let changes = if case < 2 { 0 } else { 1 + random.below(3) };
        for _ in 0..changes {
            match random.below(8) {
                0 if !data.is_empty() => {
                    let path = random.of(&data).clone();
                    if path.exists() {
                        spoil(&path, &mut random);
                    }
                }
                1 | 2 => theory = changed(&theory, &theory.clone(), &mut random),
                3 => {
                    // Some axiom is a law.
                    let named = theory.lines().filter_map(|l| l.strip_prefix("axiom "));
                    let names: Vec<&str> =
                        named.filter_map(|l| l.split([':', ' ']).next()).collect();
                    if !names.is_empty() {
                        manifest += &format!("[axioms.{}]\nhard = true\n", random.of(&names));
                    }
                }
                _ => manifest = changed(&manifest, &other, &mut random),
            }
        }
        for (ending, text) in [("toml", &manifest), ("ltn", &theory)] {
            std::fs::write(folder.path().join(format!("{name}.{ending}")), text).expect("a file");
        }
        let told = format!("case {case}:\n{manifest}\n{theory}");
        let status = train(folder.path(), &format!("{name}.toml"), &told);
        seen[status] += 1;
    }
    assert!(seen[0] > 0 && (cases < 20 || seen[2] > 0), "{seen:?}");
}

/// Trains for two steps, looks at what is said, and gives the status.
fn train(folder: &Path, manifest: &str, told: &str) -> usize {
    let errors = std::fs::File::create(folder.join("stderr.txt")).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args([
            "train",
            manifest,
            "--out",
            "run",
            "--steps",
            "2",
            "--memory",
            "600MB",
            "--threads",
            "1",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(errors)
        .spawn()
        .expect("the program runs");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(600) {
            child.kill().expect("it can be killed");
            panic!("it does not end\n{told}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let said = std::fs::read_to_string(folder.join("stderr.txt")).expect("UTF-8");
    let said = format!("{said}\n{told}");
    assert!(!said.contains("panicked"), "{said}");
    match status.code() {
        Some(0) => {
            assert!(folder.join("run/weights.safetensors").exists(), "{said}");
            evaluate(folder, manifest, &said);
        }
        // The input is right, but it cannot be learnt from: numbers run away, or none moves.
        Some(1) => assert!(
            said.contains("gradient") || said.contains("error: step "),
            "{said}"
        ),
        Some(2) => {
            let errors = said.lines().filter(|line| line.starts_with("error"));
            assert!(errors.count() > 0, "{said}");
            let placed = [".toml", ".ltn", ".csv", ".npy", "--"]
                .iter()
                .any(|p| said.contains(p));
            assert!(placed, "{said}");
        }
        _ => panic!("{status}\n{said}"),
    }
    status.code().unwrap_or(2) as usize
}

/// What training says of the whole theory at its end, `eval` says of its weights.
fn evaluate(folder: &Path, manifest: &str, told: &str) {
    let run: Value =
        serde_json::from_slice(&std::fs::read(folder.join("run/run.json")).expect("a run"))
            .expect("JSON");
    let Some(loss) = run.pointer("/whole/last/loss").and_then(Value::as_f64) else {
        return;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(["eval", manifest, "--run", "run", "--json"])
        .current_dir(folder)
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{told}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = found["loss"].as_f64().expect("a number");
    let near = (found - loss).abs() <= 1e-5 * loss.abs().max(1.0);
    assert!(near, "{found} is not {loss}\n{told}");
}
