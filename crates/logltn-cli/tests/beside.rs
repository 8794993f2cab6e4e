//! Limits of the shell; more of what users do is in `cases/beside.case`.

use std::process::Command;

use crate::common::Folder;

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
fn a_file_that_may_not_grow_is_a_write_that_fails() {
    let (status, said) = limited(&project(), "-f 1", "train m.toml --out run");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
}
