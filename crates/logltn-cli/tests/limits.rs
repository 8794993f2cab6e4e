//! What takes too long or too much memory, as a user meets it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;
use serde_json::Value;

/// A rule of four variables over a thousand things, too many to wait for.
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
        begun.elapsed() < Duration::from_secs(600),
        "{:?}",
        begun.elapsed()
    );
    run.ended(0);
    let step = "\na step: 1,000,000,000,000 groundings, about ";
    run.says(step);
    let warning = "warning: a step goes through 1,000,000,000,000 groundings, which takes about ";
    run.complains(warning);
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
    run.says(step);
}

#[test]
fn networks_that_would_keep_too_much_are_refused() {
    let folder = hopeless("2048, 2048");
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let run = folder.refuses(&[command, &["--memory", "4GB"]].concat());
        let wrong =
            "error: the network of `near` is asked about 1,000,000 rows in a step by axiom `far`";
        run.complains(wrong);
        run.complains("--> t.ltn:3:");
    }
    assert!(!folder.has("run"));
    folder.ok(&["check", "m.toml", "--memory", "1TB"]);
    folder.refuses(&["check", "m.toml", "--memory", "much"]);
}

#[test]
fn what_takes_decades_is_refused() {
    let bound: String = ('a'..='h').map(|v| format!("exists {v}: S. ")).collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            format!(
                "sort S = 1..2000\npredicate r(S, S)\naxiom deep: {bound}r(a, b) or r(c, d) and r(e, f) and r(g, h) and \
                 (r(a, h) or r(b, g)) and (r(c, f) or r(d, e))\n"
            )
            .as_bytes(),
        ),
        ("m.toml", b"theory = 't.ltn'\npredicates.r.learnable = true\ntrain.steps = 1\n"),
    ]);
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let run = folder.refuses(command);
        let wrong = "error: axiom `deep` has 2.6e26 groundings, too many to visit";
        run.complains(wrong);
    }
}

#[test]
fn what_nobody_can_list_is_refused() {
    let things: String = (0..20_000)
        .map(|i| format!("{},{}\n", i % 311, i % 701))
        .collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Thing\npredicate p(Thing)\n\
              axiom odd: forall x, y, z: Thing where dist(x, y) + dist(y, z) < 0.1. p(x) or p(z)\n",
        ),
        ("things.csv", format!("a,b\n{things}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\nsorts.Thing.features = 'things.csv'\n\
              predicates.p = { network = { mlp = [4] }, output = 'sigmoid' }\n",
        ),
    ]);
    let run = folder.refuses(&["check", "m.toml"]);
    let wrong = "would try about 8.0e12 combinations";
    run.complains(wrong);
    run.complains("--> t.ltn:3:");
}

#[test]
fn a_chain_of_guards_is_counted_link_by_link() {
    let edges: String = (0..10_000)
        .map(|i| format!("{},{}\n", i % 500, (i * 7 + i / 500) % 500))
        .collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 0..499\ntable e(x: S, y: S)\npredicate p(S)\n\
              axiom a: forall a: S. exists b: S where e(a, b). forall c: S where e(b, c). exists d: S where e(c, d).\n\
              forall f: S where e(d, f). exists g: S where e(f, g). forall h: S where e(g, h). p(a) or not p(h)\n",
        ),
        ("e.csv", format!("x,y\n{edges}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\ntables.e.rows = 'e.csv'\npredicates.p.learnable = true\ntrain.steps = 1\n",
        ),
    ]);
    let begun = Instant::now();
    let run = folder.run(&["check", "m.toml", "--json"]);
    let document = run.json();
    // 20 edges from each: 500 * 20^6.
    assert_eq!(
        document["axioms"][0]["groundings"], 32_000_000_000_u64,
        "{document}"
    );
    assert!(begun.elapsed() < Duration::from_secs(600));
}

/// Starts a command, waits until it is at work, and sends what Ctrl-C sends.
#[cfg(unix)]
fn interrupted(folder: &Folder, arguments: &[&str]) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    std::thread::sleep(Duration::from_millis(700));
    let ended = child.try_wait().expect("a child");
    assert_eq!(ended, None, "{arguments:?} is too quick for this test");
    // What a shell starts in the background does not hear Ctrl-C, and neither do its children.
    let signal = if ctrl_c_is_ignored() { "-TERM" } else { "-INT" };
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
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
    let far = "exists x, y, z, w: S. r(x, y) and not r(y, z) and r(z, w) and r(x, w) and r(y, w)";
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
    let folder = hopeless("4");
    let child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(["train", "m.toml", "--out", "run"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let begun = Instant::now();
    while !folder.has("run/metrics.csv") {
        assert!(begun.elapsed() < Duration::from_secs(600));
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
        begun.elapsed() < Duration::from_secs(600),
        "{:?}",
        begun.elapsed()
    );
    assert!(stderr.contains("stopped after step 0 of 3"), "{stderr}");
    let info = folder.read("run/run.json");
    assert!(info.contains("interrupted"), "{info}");
    assert!(folder.has("run/checkpoint.safetensors"));
}

/// `metrics.csv` without the times.
#[cfg(unix)]
fn table_of_metrics(folder: &Folder, run: &str) -> Vec<String> {
    let path = folder.path().join(run).join("metrics.csv");
    let text = std::fs::read_to_string(path).expect("metrics");
    let without_time = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells.remove(4);
        cells.join(",")
    };
    text.lines().map(without_time).collect()
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
    let child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(["train", "m.toml", "--out", "cut"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let begun = Instant::now();
    while !folder.has("cut/metrics.csv") {
        assert!(begun.elapsed() < Duration::from_secs(600));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let sent = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    // As many records as steps, below the header, wherever it was met.
    let records = table_of_metrics(&folder, "cut").len() - 1;
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
    let [cut, whole] = ["cut", "whole"].map(|run| table_of_metrics(&folder, run));
    assert_eq!(cut, whole);
    assert_eq!(cut.len(), 3);
}

#[test]
fn features_beyond_single_precision_are_refused() {
    let project = |value: &str, axioms: &str, manifest: &str| {
        Folder::new(&[
            (
                "t.ltn",
                format!("sort S\nsort T = 0..1\npredicate p(S)\npredicate q(T)\n{axioms}\n")
                    .as_bytes(),
            ),
            (
                "points.csv",
                format!("a,b\n1,2\n3,4\n5,{value}\n").as_bytes(),
            ),
            (
                "m.toml",
                format!(
                    "theory = 't.ltn'\nsorts.S.features = 'points.csv'\ntrain.steps = 20\n\
                     predicates.q.learnable = true\n{manifest}\n"
                )
                .as_bytes(),
            ),
        ])
    };
    let network = "predicates.p = { network = { mlp = [4] }, output = 'sigmoid' }";
    let axiom = "axiom a: forall x: S. p(x)\naxiom b: forall t: T. not q(t)";
    for value in ["1e39", "-1e25", "1.1e12"] {
        let folder = project(value, axiom, network);
        for command in [
            &["check", "m.toml"][..],
            &["train", "m.toml", "--out", "run"],
        ] {
            let run = folder.refuses(command);
            let wrong =
                format!("points.csv, row 2, column `b`: {value} is too large to learn from");
            run.complains(&wrong);
        }
        assert!(!folder.has("run"));
    }
    let folder = project("1e12", axiom, network);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    // What only guards look at is in double precision.
    let near = "axiom a: forall x, y: S where dist(x, y) < 1. p(x) -> p(y)\naxiom b: forall t: T. not q(t)";
    let folder = project("1e25", near, "predicates.p.learnable = true");
    folder.ok(&["check", "m.toml"]);
}

#[test]
fn numbers_beyond_single_precision_are_refused_wherever_networks_read_them() {
    let theory = "sort S = 0..2\ntable t(x: S, n: Int, y: Real)\nfunction age(S): Real\n\
        predicate near(S, Real)\npredicate same(Real, Real)\npredicate q(S)\n";
    let network =
        "predicates.near = { args = ['x', 'y'], network = { mlp = [4] }, output = 'sigmoid' }\n";
    let closed = "predicates.same = { args = ['u', 'v'], closed_form = { logit = 'a - abs(u - v)' }, learn = { a = 1 } }\n";
    let folder = |axioms: &str, manifest: &str, [n, y, age]: [&str; 3]| {
        let manifest = format!(
            "theory = 't.ltn'\ntables.t.rows = 't.csv'\nfunctions.age.values = 'age.csv'\npredicates.q.learnable = true\n\
             {network}{closed}train.steps = 3\n{manifest}"
        );
        Folder::new(&[
            (
                "t.ltn",
                format!("{theory}axiom c: forall x: S. q(x)\n{axioms}\n").as_bytes(),
            ),
            (
                "t.csv",
                format!("y,x,n\n1,0,1\n{y},1,{n}\n2,2,1\n").as_bytes(),
            ),
            ("age.csv", format!("age\n1\n2\n{age}\n").as_bytes()),
            (
                "rows.csv",
                format!("x,y,truth\n0,1,1\n1,{y},0\n").as_bytes(),
            ),
            ("m.toml", manifest.as_bytes()),
        ])
    };
    let right = ["1", "1", "1"];
    let both = "axiom a: forall (x, n, y) in t. near(x, y)\naxiom b: forall (x, n, y) in t. same(n, age(x))";
    let metric =
        "[evaluate]\nmetrics = [{ metric = 'accuracy', predicate = 'near', rows = 'rows.csv' }]\n";
    folder(both, metric, right)
        .run(&["train", "m.toml", "--out", "run"])
        .ends(0);
    for (axioms, manifest, numbers, place) in [
        (
            both,
            "",
            ["1", "1e39", "1"],
            "t.csv, row 1, column `y`: 1e39 is",
        ),
        (
            both,
            "",
            ["1", "-1e25", "1"],
            "t.csv, row 1, column `y`: -1e25 is",
        ),
        (
            both,
            "",
            ["9000000000000", "1", "1"],
            "t.csv, row 1, column `n`: 9e12 is",
        ),
        (
            both,
            "",
            ["1", "1", "1e25"],
            "age.csv, row 2, column 0: 1e25 is",
        ),
        (
            "axiom a: forall x: S. near(x, 1e39)",
            "",
            right,
            "a number: 1e39 is",
        ),
        (
            "axiom a: forall x: S. near(x, 1)",
            metric,
            ["1", "1e25", "1"],
            "rows.csv, row 1 (line 3), column `y`: 1e25 is",
        ),
    ] {
        let folder = folder(axioms, manifest, numbers);
        for command in [
            &["check", "m.toml"][..],
            &["train", "m.toml", "--out", "run"],
        ] {
            let run = folder.refuses(command);
            let wrong = format!("{place} too large to learn from");
            run.complains(&wrong);
        }
        assert!(!folder.has("run"));
    }
    // Guards are in double precision.
    let guard = "axiom a: forall (x, n, y) in t where y > 1e30. q(x)";
    folder(guard, "", ["1", "1e39", "1"])
        .run(&["check", "m.toml"])
        .ends(0);
}

#[test]
fn settings_that_single_precision_cannot_hold_are_refused() {
    let theory = b"sort S = 1..2\npredicate p(S)\naxiom a: forall x: S. p(x)\n";
    for (predicate, train, wrong) in [
        (
            "{ learnable = true, initial = 1e39 }",
            "{ steps = 3 }",
            "`predicates.p.initial`",
        ),
        (
            "{ learnable = true }",
            "{ steps = 3, learning_rate = 1e39 }",
            "`train.learning_rate`",
        ),
        (
            "{ args = ['x'], closed_form = { logit = 'a * x + 1e39' }, learn = { a = 1 } }",
            "{ steps = 3 }",
            "`predicates.p.closed_form.logit`",
        ),
        (
            "{ args = ['x'], closed_form = { logit = 'a * x' }, learn = { a = 1e39 } }",
            "{ steps = 3 }",
            "`predicates.p.learn.a`",
        ),
    ] {
        let manifest = format!("theory = 't.ltn'\npredicates.p = {predicate}\ntrain = {train}\n");
        let folder = Folder::new(&[("t.ltn", theory), ("m.toml", manifest.as_bytes())]);
        for command in [
            &["check", "m.toml"][..],
            &["train", "m.toml", "--out", "run"],
        ] {
            let run = folder.refuses(command);
            run.complains(wrong);
        }
    }
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    let truths: String = (0..3000).map(|i| format!("0.{}\n", i % 97 + 1)).collect();
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 1..3000\npredicate p(S)\naxiom a: forall x: S. p(x)\n",
        ),
        ("p.csv", format!("p\n{truths}").as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\npredicates.p.truth = 'p.csv'\n",
        ),
    ]);
    let question = "find x: S, y: S. p(x) and p(y)";
    let run = folder.refuses(&[
        "query", "m.toml", question, "--top", "0", "--memory", "600MB",
    ]);
    let wrong = "error: the list of all answers takes about ";
    run.complains(wrong);
    folder.ok(&["query", "m.toml", question, "--memory", "600MB"]);
}

#[test]
fn a_gradient_that_adam_cannot_square_ends_at_its_step() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 1..2\npredicate p(S)\naxiom a: forall x: S. p(x)\n",
        ),
        (
            "m.toml",
            b"theory = 't.ltn'\npredicates.p = { args = ['x'], closed_form = { logit = '-1e20 * a * x' }, learn = { a = 1 } }\n\
              train = { steps = 300 }\n",
        ),
    ]);
    let run = folder.stops(&["train", "m.toml", "--out", "run"]);
    let wrong = "error: step 1: the gradient of the network of `p.a` has a number of ";
    run.complains(wrong);
}

/// Starts a command and waits until it has said something on standard error, then ends it.
fn first_words(folder: &Folder, arguments: &[&str], words: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
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

#[test]
fn nobody_writes_over_what_he_reads() {
    let files: [(&str, &[u8]); 4] = [
        (
            "t.ltn",
            b"sort S = 0..2\ntable e(x: S, y: S)\npredicate r(S, S)\npredicate p(S)\n\
              axiom a: forall (x, y) in e. r(x, y)\naxiom b: forall x: S. p(x)\n",
        ),
        ("e.csv", b"x,y\n0,1\n1,2\n"),
        ("p.csv", b"p\n0.5\n0.25\n1\n"),
        (
            "m.toml",
            b"theory = 't.ltn'\ntables.e.rows = 'e.csv'\npredicates.r.learnable = true\npredicates.p.truth = 'p.csv'\n",
        ),
    ];
    let folder = Folder::new(&files);
    for command in [
        &["mine", "m.toml", "--out", "t.ltn"][..],
        &["mine", "m.toml", "--out", "./e.csv"],
        &["predict", "m.toml", "p", "--out", "m.toml"],
        &["predict", "m.toml", "p", "--out", "p.csv"],
        &["eval", "m.toml", "--gradients", "."],
    ] {
        let run = folder.refuses(command);
        assert!(
            run.stderr.contains("it belongs to the manifest"),
            "{command:?} {}",
            run.stderr
        );
    }
    for (name, content) in files {
        let now = folder.bytes(name);
        assert!(now == content, "{name}");
    }
    folder.ok(&["predict", "m.toml", "p", "--out", "said.csv"]);
    // What is not a file is not replaced by one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        for command in [
            &["predict", "m.toml", "p", "--out", "pipe"][..],
            &["mine", "m.toml", "--out", "pipe", "--support", "1"],
        ] {
            let run = folder.stops(command);
            let wrong = "pipe: the file cannot be written: it is a pipe or device";
            run.complains(wrong);
            let kind = std::fs::metadata(&pipe).expect("it is there").file_type();
            assert!(kind.is_fifo());
        }
    }
}

#[test]
fn nothing_to_train_is_said_before_training() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort S = 1..2\npredicate p(S)\naxiom a: forall x: S. p(x)\n",
        ),
        ("p.csv", b"p\n0.5\n0.25\n"),
        (
            "m.toml",
            b"theory = 't.ltn'\npredicates.p.truth = 'p.csv'\n",
        ),
        (
            "trained.toml",
            b"theory = 't.ltn'\npredicates.p.truth = 'p.csv'\ntrain.steps = 3\n",
        ),
    ]);
    for command in [
        &["check", "trained.toml"][..],
        &["train", "trained.toml", "--out", "run"],
        &["train", "m.toml", "--steps", "3", "--out", "run"],
    ] {
        let run = folder.refuses(command);
        run.complains("there is nothing to train");
        assert!(!folder.has("run"));
    }
    // Asking how true it is needs no training.
    for command in ["check", "eval"] {
        folder.ok(&[command, "m.toml"]);
    }
}

#[test]
fn text_that_turns_is_pointed_out() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            "sort S = {a, \"b\u{2066}c\"} # \u{202e}backwards\npredicate p(S)\naxiom a: p(a) or not p(a)\n".as_bytes(),
        ),
        ("m.toml", b"theory = 't.ltn'\npredicates.p.learnable = true\n"),
    ]);
    let run = folder.run(&["check", "m.toml", "--json"]);
    let document = run.json();
    let places: Vec<(u64, u64)> = (document["warnings"].as_array().expect("a list").iter())
        .filter(|w| w["code"] == "turned-text")
        .map(|w| {
            (
                w["line"].as_u64().unwrap_or(0),
                w["column"].as_u64().unwrap_or(0),
            )
        })
        .collect();
    assert_eq!(places, [(1, 16), (1, 23)], "{document}");
}
