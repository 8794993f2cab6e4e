//! Definitions on the dashboard, and rules beside their table; the rest is in `cases/definitions.case`.

use crate::common::Folder;
use crate::common::served::{Served, trained};

const THEORY: &[u8] = b"sort N = 0..3
table edges(x: N, y: N)
predicate up(N, N)
define path(x, y: N):
    (exists (u, v) in edges where u = x and v = y. up(u, v)) or
    (exists (u, v) in edges where u = x. up(u, v) and path(v, y))
axiom all: forall x, y: N where x < y. path(x, y)
";

/// A chain 0, 1, 2, 3 whose steps are .9, .5 and .7 true: under `godel` a path is as true as its least step.
fn chain() -> Folder {
    let manifest = "theory = \"t.ltn\"\nsemantics = \"godel\"\n[tables]\nedges = { rows = \"edges.csv\" }\n[predicates.up]\n";
    let learnt = manifest.replace("godel", "logltn") + "learnable = true\n[train]\nsteps = 5\n";
    Folder::new(&[
        ("t.ltn", THEORY),
        ("edges.csv", b"x,y\n0,1\n1,2\n2,3\n"),
        (
            "up.csv",
            b"a,b,c,d\n0,0.9,0,0\n0,0,0.5,0\n0,0,0,0.7\n0,0,0,0\n",
        ),
        ("rows.csv", b"x,y\n0,3\n2,3\n0,1\n3,0\n"),
        (
            "m.toml",
            (manifest.to_string() + "truth = \"up.csv\"\n").as_bytes(),
        ),
        ("learnt.toml", learnt.as_bytes()),
    ])
}

#[test]
fn the_dashboard_knows_them() {
    let folder = chain();
    folder.write("m.toml", folder.read("learnt.toml").as_bytes());
    trained(&folder, "a", &[]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    let question = r#"{"run": "a", "formula": "find y: N where y > 0. path(0, y)"}"#;
    let answer = served.post("/api/query", question);
    let told: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(told["total"], 3, "{}", answer.body);
}

/// Rules of three arguments: first and second lead to the third, told by two examples of four pairs.
fn rules(crisp: &str) -> Folder {
    let manifest = format!(
        "theory = \"t.ltn\"\n[tables]\ntold = {{ rows = \"told.csv\" }}\n[predicates.rule]\nargs = [\"first\", \"second\", \"is\"]\n\
         learnable = true\noutput = \"softmax\"\n{crisp}\n[train]\nsteps = 40\nlearning_rate = 0.1\n"
    );
    Folder::new(&[
        (
            "t.ltn",
            b"sort K = {a, b}\ntable told(x: K, y: K, z: K)\npredicate rule(K, K, K)\n\
              axiom told: forall (x, y, z) in told. rule(x, y, z)\naxiom all: forall x, y: K. exists z: K. rule(x, y, z)\n",
        ),
        ("told.csv", b"x,y,z\na,b,b\nb,b,a\nb,b,a\nb,b,a\nb,b,b\n"),
        ("m.toml", manifest.as_bytes()),
    ])
}

/// Premise, conclusion and confidence of each line.
fn said(folder: &Folder) -> Vec<(String, String, f64)> {
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let run = folder.ok(&["predict", "m.toml", "rule", "--run", "run", "--rules"]);
    let line = |line: &str| {
        let (premise, rest) = line.split_once("->").expect("an arrow");
        let mut rest = rest.split_whitespace();
        let mut next = || rest.next().expect("a word").to_string();
        let (is, confidence) = (next(), next().parse().expect("a number"));
        (premise.trim().to_string(), is, confidence)
    };
    run.stdout.lines().map(line).collect()
}

#[test]
fn rules_are_printed_with_their_confidence() {
    let folder = rules("");
    let found = said(&folder);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.is_sorted_by(|a, b| a.2 >= b.2), "{found:?}");
    assert_eq!((&*found[0].0, &*found[0].1), ("a, b", "b"), "{found:?}");
    // The same as in the table, to three digits.
    let csv = folder.ok(&["predict", "m.toml", "rule", "--run", "run"]);
    for (premise, is, confidence) in &found {
        let row = format!("{},{is},", premise.replace(", ", ","));
        let truth = csv.stdout.lines().find_map(|line| line.strip_prefix(&*row));
        let truth: f64 = truth.expect("a row").parse().expect("a number");
        assert!((truth - confidence).abs() < 0.00051, "{row} {truth}");
    }
    // What contradicts itself is not decided, unless that counts.
    let confidence = |found: &[(String, String, f64)]| {
        let own = found.iter().find(|(premise, ..)| premise == "b, b");
        own.expect("a rule").2
    };
    let crisp = said(&rules("crisp = 2"));
    assert!(
        confidence(&found) < 0.85 && confidence(&crisp) > 0.92,
        "{found:?} {crisp:?}"
    );
}
