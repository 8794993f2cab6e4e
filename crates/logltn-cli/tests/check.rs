//! `logltn check` whose output nobody reads to its end; the rest is in `cases/check.case`.

use std::process::{Command, Stdio};

use crate::common::Folder;

/// `logltn check … | head -1`.
#[test]
fn a_reader_that_has_seen_enough() {
    let mut theory = String::from("predicate P()\n");
    for i in 0..5_000 {
        theory += &format!("axiom a{i}: P() <-> P()\n");
    }
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        (
            "m.toml",
            b"theory = \"t.ltn\"\npredicates.P.truth = \"p.csv\"\n",
        ),
        ("p.csv", b"p\n1\n"),
    ]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(["check", "m.toml"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
