//! What takes too long or too much memory, as a user meets it.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Folder;
use serde_json::Value;

/// A rule of four variables over a thousand things, which nobody can wait for.
fn hopeless(hidden: &str) -> Folder {
    let things: String = (0..1000)
        .map(|i| format!("{},{}\n", i % 31, i % 7))
        .collect();
    Folder::new(&[
        (
            "t.ltn",
            b"sort Thing\npredicate near(Thing, Thing)\n\
              axiom far: forall x, y, z, w: Thing. near(x, y) and near(y, z) and near(z, w) -> near(x, w)\n",
        ),
        ("things.csv", format!("a,b\n{things}").as_bytes()),
        (
            "m.toml",
            format!(
                "theory = 't.ltn'\n[sorts.Thing]\nfeatures = 'things.csv'\n[predicates.near]\n\
                 network = {{ mlp = [{hidden}] }}\noutput = 'sigmoid'\n[train]\nsteps = 3\n"
            )
            .as_bytes(),
        ),
    ])
}

#[test]
fn check_says_how_long_a_step_takes() {
    let folder = hopeless("4");
    let begun = Instant::now();
    let run = folder.run(&["check", "m.toml"]);
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let step = "\na step: 1,000,000,000,000 groundings, about ";
    assert!(run.stdout.contains(step), "{}", run.stdout);
    let warning = "warning: a step goes through 1,000,000,000,000 groundings, which takes about ";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    let document: Value =
        serde_json::from_str(&folder.run(&["check", "m.toml", "--json"]).stdout).expect("JSON");
    assert_eq!(document["step"]["groundings"], 1_000_000_000_000_u64);
    assert!(
        document["step"]["seconds"].as_f64() > Some(60.0),
        "{document}"
    );
    let warnings = document["warnings"].as_array().expect("a list");
    assert!(
        warnings.iter().any(|w| w["code"] == "slow-step"),
        "{document}"
    );
}

#[test]
fn of_a_table_with_batches_a_batch_counts() {
    let rows: String = (0..100).map(|i| format!("{i}\n")).collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 0..99\ntable t(x: S)\npredicate p(S)\n\
              axiom a: forall (x) in t. p(x)\naxiom b: forall (x) in t. exists y: S. not p(y) or p(x)\n",
        ),
        ("t.csv", format!("x\n{rows}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\ntables.t = { rows = 't.csv', batch = 10 }\npredicates.p.learnable = true\n\
              [train]\nsteps = 3\n",
        ),
    ]);
    let run = folder.run(&["check", "m.toml"]);
    let step = "\na step: 1,010 groundings, less than ";
    assert!(run.stdout.contains(step), "{}{}", run.stdout, run.stderr);
}

#[test]
fn networks_that_would_keep_too_much_are_refused() {
    let folder = hopeless("2048, 2048");
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let run = folder.run(command);
        assert_eq!(run.status, 2, "{}", run.stderr);
        let wrong =
            "error: the network of `near` is asked about 1,000,000 rows in a step by axiom `far`";
        assert!(run.stderr.contains(wrong), "{}", run.stderr);
        assert!(run.stderr.contains("--> t.ltn:3:"), "{}", run.stderr);
    }
    assert!(!folder.path().join("run").exists());
    let run = folder.run(&["check", "m.toml", "--memory", "1TB"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        folder.run(&["check", "m.toml", "--memory", "much"]).status,
        2
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_inside_a_step() {
    let folder = hopeless("4");
    let child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(["train", "m.toml", "--out", "run"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let begun = Instant::now();
    while !folder.path().join("run/metrics.csv").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
    let begun = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    // About a second; this machine may have other things to do.
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    assert!(stderr.contains("stopped after step 0 of 3"), "{stderr}");
    let info = std::fs::read_to_string(folder.path().join("run/run.json")).expect("a record");
    assert!(info.contains("interrupted"), "{info}");
    assert!(folder.path().join("run/checkpoint.safetensors").exists());
}
