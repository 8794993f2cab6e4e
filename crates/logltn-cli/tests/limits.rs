//! What takes long is foretold, and ends when it is told to; what is refused at once is in `cases/limits.case`.

use std::time::{Duration, Instant};

use crate::common::Folder;
#[cfg(unix)]
use crate::common::signal;

/// A rule of four variables over a thousand things, too many to wait for.
#[cfg(unix)]
fn hopeless() -> Folder {
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
            b"theory = 't.ltn'\n[sorts.Thing]\nfeatures = 'things.csv'\n[predicates.near]\n\
              network = { mlp = [4] }\noutput = 'sigmoid'\n[train]\nsteps = 3\n",
        ),
    ])
}

/// Starts a command, waits until it is at work, and sends what Ctrl-C sends.
#[cfg(unix)]
fn interrupted(folder: &Folder, arguments: &[&str]) {
    let mut child = folder.start(arguments);
    std::thread::sleep(Duration::from_millis(700));
    let ended = child.try_wait().expect("a child");
    assert_eq!(ended, None, "{arguments:?} is too quick for this test");
    // What a shell starts in the background does not hear Ctrl-C, and neither do its children.
    let how = if ctrl_c_is_ignored() { "-TERM" } else { "-INT" };
    signal(&child, how);
    // Within a second on a quiet machine.
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(600) {
            child.kill().expect("it can be killed");
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(!status.success(), "{arguments:?}");
}

/// Whether this process, and so every one that it starts, ignores SIGINT.
#[cfg(unix)]
fn ctrl_c_is_ignored() -> bool {
    const SIGINT: u32 = 2;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    (status.lines().find_map(|line| line.strip_prefix("SigIgn:")))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (SIGINT - 1)) != 0)
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_whatever_is_done() {
    let truths: String = (0..160_000)
        .map(|i| format!("0.{}\n", i % 97 + 1))
        .collect();
    let given = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 1..400\npredicate r(S, S)\n\
              axiom far: forall x, y, z, w: S. r(x, y) and r(y, z) and r(z, w) -> r(x, w)\n",
        ),
        ("r.csv", format!("r\n{truths}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\npredicates.r.truth = 'r.csv'\n",
        ),
        (
            "learnt.toml",
            b"theory = 't.ltn'\npredicates.r.learnable = true\ntrain.steps = 1\n",
        ),
    ]);
    // All pairs of five: no variable can be summed out for fewer combinations.
    let far = "exists v, x, y, z, w: S. r(v, x) and r(v, y) and r(v, z) and r(v, w) and r(x, y) \
               and r(x, z) and r(x, w) and not r(y, z) and r(y, w) and r(z, w)";
    interrupted(&given, &["eval", "m.toml"]);
    interrupted(&given, &["query", "m.toml", far]);
    interrupted(&given, &["explain", "m.toml"]);
    interrupted(&given, &["entails", "learnt.toml", far]);

    let things: String = (0..800)
        .map(|i| format!("{},{}\n", i % 31, i % 7))
        .collect();
    let listing = Folder::new(&[
        (
            "t.ltn",
            b"sort S\npredicate p(S)\n\
              axiom a: forall x, y, z: S where dist(x, y) + dist(y, z) < 0.001. p(x) or p(z)\n",
        ),
        ("things.csv", format!("a,b\n{things}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\nsorts.S.features = 'things.csv'\n\
              predicates.p = { network = { mlp = [4] }, output = 'sigmoid' }\ntrain.steps = 1\n",
        ),
    ]);
    interrupted(&listing, &["check", "m.toml"]);
    interrupted(&listing, &["train", "m.toml", "--out", "run"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_inside_a_step() {
    let folder = hopeless();
    let mut child = folder.start(&["train", "m.toml", "--out", "run"]);
    folder.await_file("run/metrics.csv", &mut child);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-INT");
    let begun = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    // About a second; this machine may have other things to do.
    assert!(
        begun.elapsed() < Duration::from_secs(600),
        "{:?}",
        begun.elapsed()
    );
    assert!(stderr.contains("stopped after step 0 of 3"), "{stderr}");
    let info = folder.read("run/run.json");
    assert!(info.contains("interrupted"), "{info}");
    assert!(folder.has("run/checkpoint.safetensors"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_inside_a_metric() {
    // Two million pairs to be ranked: seconds.
    let things: String = (0..1500)
        .map(|i| format!("{},{}\n", i * 7919 % 1009, i * 31 % 97))
        .collect();
    let known: String = (0..1500)
        .map(|i| format!("{i},{}\n", (i * 17 + 3) % 1500))
        .collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Thing\ntable known(x: Thing, y: Thing)\npredicate near(Thing, Thing)\n\
              axiom a: forall (x, y) in known. near(x, y)\naxiom b: forall x: Thing. not near(x, x)\n",
        ),
        ("things.csv", format!("a,b\n{things}").as_bytes()),
        ("known.csv", format!("x,y\n{known}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\nsorts.Thing.features = 'things.csv'\ntables.known = { rows = 'known.csv', batch = 50 }\n\
              predicates.near = { args = ['x', 'y'], network = { mlp = [32] }, output = 'sigmoid' }\n\
              train = { steps = 2, early_stop = { metric = 'mrr', patience = 5 } }\n[evaluate]\nevery = 1\n\
              metrics = [{ metric = 'mrr', predicate = 'near', rows = 'known.csv', of = 'y' }]\n",
        ),
    ]);
    let mut child = folder.start(&["train", "m.toml", "--out", "cut"]);
    folder.await_file("cut/metrics.csv", &mut child);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "-TERM");
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    // As many records as steps, wherever it was met.
    let records = folder.records("cut").len();
    assert!(
        stderr.contains(&format!("stopped after step {records} of 2")),
        "{records}: {stderr}"
    );
    for arguments in [
        &["train", "m.toml", "--out", "cut", "--resume"][..],
        &["train", "m.toml", "--out", "whole"],
    ] {
        folder.ok(arguments);
    }
    for name in ["weights.safetensors", "checkpoint.safetensors"] {
        let [cut, whole] = ["cut", "whole"]
            .map(|run| std::fs::read(folder.path().join(run).join(name)).expect("what was learnt"));
        assert!(cut == whole, "{name}");
    }
    let [cut, whole] = ["cut", "whole"].map(|run| folder.records(run));
    assert_eq!(cut, whole);
    assert_eq!(cut.len(), 2);
}

/// Starts a command and waits until it has said something on standard error, then ends it.
fn first_words(folder: &Folder, arguments: &[&str], words: &str) {
    let mut child = folder.start(arguments);
    let mut said = String::new();
    let mut from = child.stderr.take().expect("standard error");
    let begun = Instant::now();
    let mut bytes = [0; 1024];
    while !said.contains(words) {
        assert!(begun.elapsed() < Duration::from_secs(600), "{said}");
        match std::io::Read::read(&mut from, &mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(read) => said += &String::from_utf8_lossy(&bytes[..read]),
        }
    }
    let still_at_it = child.try_wait().expect("a child").is_none();
    child.kill().expect("it can be killed");
    child.wait().expect("a child");
    assert!(said.contains(words), "{arguments:?}: {said}");
    assert!(still_at_it, "{arguments:?}: {said}");
}

#[test]
fn minutes_are_foretold() {
    let truths: String = (0..1_000_000)
        .map(|i| format!("0.{}\n", i % 97 + 1))
        .collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 1..1000\npredicate r(S, S)\n\
              axiom far: forall x, y, z, w: S. r(x, y) and r(y, z) and r(z, w) -> r(x, w)\n",
        ),
        ("r.csv", format!("r\n{truths}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\npredicates.r.truth = 'r.csv'\n",
        ),
        (
            "learnt.toml",
            b"theory = 't.ltn'\npredicates.r.learnable = true\n",
        ),
    ]);
    let chain = "forall x, y, z, w: S. r(x, y) and r(y, z) and r(z, w) -> r(x, w)";
    let find = "find x: S, y: S, z: S, w: S. r(x, y) and r(y, z) and r(z, w) -> r(x, w)";
    for (arguments, what) in [
        (&["eval", "m.toml"][..], "the theory"),
        (&["query", "m.toml", chain], "the question"),
        (&["query", "m.toml", find], "the question"),
        (&["explain", "m.toml"], "the explanation"),
        (&["entails", "learnt.toml", "r(1, 2)"], "the search"),
    ] {
        let words = format!(
            "warning: {what} goes through 1,000,000,000,000 groundings, which takes about "
        );
        first_words(&folder, arguments, &words);
    }
    // Many small steps.
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 1..100\npredicate r(S, S)\naxiom a: forall x, y, z: S. r(x, y) and r(y, z) -> r(x, z)\n",
        ),
        ("m.toml", b"theory = 't.ltn'\npredicates.r.learnable = true\n"),
    ]);
    let arguments = ["entails", "m.toml", "r(1, 2)", "--steps", "1000000"];
    let words = "warning: the search has up to 10 starts of 1000000 steps, which takes about ";
    first_words(&folder, &arguments, words);
    // Lists of a guard, for each of many.
    let things: String = (0..3000)
        .map(|i| format!("{},{}\n", i % 311, i % 701))
        .collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Thing\npredicate p(Thing)\n\
              axiom odd: forall x: Thing. exists y, z: Thing where dist(x, y) + dist(y, z) < 0.1. p(x) or p(z)\n",
        ),
        ("things.csv", format!("a,b\n{things}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\nsorts.Thing.features = 'things.csv'\n\
              predicates.p = { network = { mlp = [4] }, output = 'sigmoid' }\n",
        ),
    ]);
    let words = "warning: this guard has up to 3000 lists, which takes about ";
    first_words(&folder, &["check", "m.toml"], words);
}
