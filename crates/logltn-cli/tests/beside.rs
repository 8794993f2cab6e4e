//! What ordinary users do next to the examples: limits of the shell, questions in pipes, runs that were touched.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{Folder, Run};
use serde_json::{Value, json};

const THEORY: &[u8] = b"sort P\npredicate p(P)\naxiom a: forall x: P. p(x)\n";
const MANIFEST: &[u8] = b"theory = 't.ltn'\nsorts.P.features = 'p.csv'\n\
    predicates.p = { args = ['x'], network = { mlp = [4] }, output = 'sigmoid' }\ntrain.steps = 3\n";

fn project() -> Folder {
    Folder::new(&[
        ("t.ltn", THEORY),
        ("m.toml", MANIFEST),
        ("p.csv", b"a,b\n1,0\n0,1\n0.5,0.5\n"),
    ])
}

/// Runs the program by way of a shell that sets limits first.
#[cfg(target_os = "linux")]
fn limited(folder: &Folder, limit: &str, arguments: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_logltn");
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("ulimit {limit} && exec '{program}' {arguments}"),
        ])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
#[cfg(target_os = "linux")]
fn a_bound_on_addresses_is_a_bound_on_memory() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort N = 1..700\npredicate p(N, N)\naxiom a for x, y: N: p(x, y)\n",
        ),
        (
            "m.toml",
            b"theory = 't.ltn'\n[predicates.p]\nlearnable = true\n[train]\nsteps = 1\n",
        ),
    ]);
    for kilobytes in [150_000, 300_000, 600_000] {
        let (status, said) = limited(&folder, &format!("-v {kilobytes}"), "check m.toml");
        assert!(matches!(status, Some(1 | 2)), "{status:?} {said}");
        assert!(said.contains("memory") || said.contains("thread"), "{said}");
    }
    // More is allowed than there is: the allocation itself fails.
    let (status, said) = limited(&folder, "-v 500000", "check m.toml --memory 100GB");
    assert!(matches!(status, Some(1 | 2)), "{status:?} {said}");
    assert!(said.contains("memory"), "{said}");
    let (status, said) = limited(&project(), "-v 2000000", "train m.toml --out run");
    assert_eq!(status, Some(0), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_not_grow_is_a_write_that_fails() {
    let (status, said) = limited(&project(), "-f 1", "train m.toml --out run");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
}

#[test]
fn nobody_waits_for_years_without_a_word() {
    let guard = "axiom a: forall x: N where exists y, z: N. x * y = z * z + 3. p(x)";
    let family = "axiom a for x: N where exists y, z: N. x * y = z * z + 3: p(x)";
    for axiom in [guard, family] {
        let theory = format!("sort N = 0..100000\npredicate p(N)\n{axiom}\n");
        let folder = Folder::new(&[
            ("t.ltn", theory.as_bytes()),
            (
                "m.toml",
                b"theory = 't.ltn'\npredicates.p.learnable = true\ntrain.steps = 1\n",
            ),
        ]);
        let run = folder.refuses(&["check", "m.toml"]);
        run.complains("combinations");
        run.complains("t.ltn:3");
    }
    // What is found soon is soon found, however much there is to try.
    let theory = "sort N = 0..100000\npredicate p(N)\n\
        axiom a: forall x: N where x < 50 and (exists y, z: N. y * z >= x). p(x)\n";
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\npredicates.p.learnable = true\ntrain.steps = 1\n",
        ),
    ]);
    folder.ok(&["check", "m.toml"]);
    for steps in ["9223372036854775807", "1000000000001"] {
        let folder = project();
        let manifest =
            String::from_utf8_lossy(MANIFEST).replace("steps = 3", &format!("steps = {steps}"));
        folder.write("m.toml", manifest.as_bytes());
        let run = folder.refuses(&["check", "m.toml"]);
        run.complains("m.toml:4");
    }
}

#[test]
fn what_is_not_finite_is_no_answer() {
    let folder = Folder::new(&[
        ("t.ltn", THEORY),
        ("p.csv", b"a\n1\n2\n"),
        ("zero.csv", b"p\n0\n0.5\n"),
        (
            "m.toml",
            b"theory = 't.ltn'\nsemantics = { base = 'prod', stable_eps = 0 }\nsorts.P.features = 'p.csv'\n\
              predicates.p.truth = 'zero.csv'\n",
        ),
    ]);
    for more in [&[][..], &["--gradients", "g"]] {
        let run = folder.refuses(&[&["eval", "m.toml"][..], more].concat());
        for word in ["axiom `a`", "-inf", "stable_eps", "t.ltn:3"] {
            run.complains(word);
        }
    }
    folder.ok(&["eval", "m.toml", "--semantics", "prod"]);
}

#[test]
fn a_run_that_was_touched_is_not_believed() {
    let folder = project();
    for run in ["a", "b"] {
        folder.ok(&["train", "m.toml", "--out", run]);
    }
    let path = folder.path().join("a/run.json");
    let sound = std::fs::read_to_string(&path).expect("run.json");
    let mut document: Value = serde_json::from_str(&sound).expect("JSON");
    document["whole"]["last"]["sat"] = json!(-0.001);
    let redumped = document.to_string();
    for touched in [
        redumped,
        sound.replace("\"check\"", "\"chebk\""),
        sound.replace("\"seed\": 0", "\"seed\": 1") + " ",
    ] {
        assert_ne!(touched, sound);
        std::fs::write(&path, touched).expect("a file");
        for command in [
            &["compare", "a", "b"][..],
            &["eval", "m.toml", "--run", "a"],
        ] {
            let run = folder.refuses(command);
            run.complains("run.json");
        }
        let run = folder.run(&["train", "m.toml", "--out", "a", "--resume"]);
        assert_ne!(run.status, 0, "{}", run.stdout);
    }
    // In another layout it says the same.
    let same: Value = serde_json::from_str(&sound).expect("JSON");
    std::fs::write(&path, same.to_string()).expect("a file");
    folder.ok(&["compare", "a", "b"]);

    let records = folder.path().join("a/metrics.jsonl");
    let text = std::fs::read_to_string(&records).expect("records");
    let cut: String = text
        .lines()
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&records, cut).expect("a file");
    let run = folder.run(&["train", "m.toml", "--out", "a", "--resume"]);
    assert_ne!(run.status, 0, "{}", run.stdout);
    run.complains("its records end at step 2");

    let run = folder.refuses(&["train", "m.toml", "--out", "a"]);
    assert!(
        run.stderr.contains("--force") && run.stderr.contains("--out a-2"),
        "{}",
        run.stderr
    );
    folder.write("a/mine.txt", b"mine");
    folder.ok(&["train", "m.toml", "--out", "a", "--force"]);
    folder.ok(&["compare", "a", "b"]);
    assert!(folder.has("a/mine.txt"));
    folder.refuses(&["train", "m.toml", "--out", "a", "--force", "--resume"]);
}

/// Runs the program with something on its standard input.
fn piped(folder: &Folder, arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // One that refuses its flags does not read it.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("a child");
    Run {
        arguments: arguments.join(" "),
        status: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[test]
fn new_individuals_come_by_a_pipe() {
    let folder = project();
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let csv = b"a,b\n1,2\n3,4\n";
    folder.write("new.csv", csv);
    let predict = ["predict", "m.toml", "p", "--run", "run", "--features"];
    let from_file = folder.run(&[&predict[..], &["P=new.csv"]].concat());
    from_file.ended(0);
    for (input, more) in [
        ("P=-", &[][..]),
        ("P=/dev/stdin", &[]),
        ("P=-", &["--format", "csv"]),
    ] {
        let run = piped(&folder, &[&predict[..], &[input], more].concat(), csv);
        run.ended(0);
        assert_eq!(run.stdout, from_file.stdout);
    }
    let run = piped(
        &folder,
        &[&predict[..], &["P=-", "--rows", "-"]].concat(),
        csv,
    );
    run.ended(2);
    let run = piped(&folder, &[&predict[..], &["P=-"]].concat(), b"");
    run.ended(2);
    let rows = ["predict", "m.toml", "p", "--run", "run", "--rows", "-"];
    let run = piped(&folder, &rows, b"x\n2\n");
    run.ended(0);
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
}

#[test]
fn messages_help_where_they_stand() {
    let folder = project();
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let ask = |formula: &str| {
        folder
            .run(&["query", "m.toml", "--run", "run", formula])
            .stderr
    };
    let said = ask("forall x: P. likes(x)");
    assert!(
        said.contains("the theory's predicates are `p`") && !said.contains("declare"),
        "{said}"
    );
    let said = ask("forall x: P. p(y)");
    assert!(said.contains("did you mean `x`?"), "{said}");
    folder.write("p.csv", b"a,b\n1,x\n");
    let said = folder.run(&["check", "m.toml"]).stderr;
    assert!(said.contains("p.csv, row 0 (line 2), column `b`"), "{said}");
}
