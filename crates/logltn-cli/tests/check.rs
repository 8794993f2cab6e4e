//! `logltn check` on what is right.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, root, run_in, sound};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn the_papers_theories_are_right() {
    for name in ["clustering", "mnist_add", "pascal_part"] {
        let manifest = format!("theories/{name}.toml");
        let run = run_in(root(), &["check", &manifest]);
        run.quiet();
        run.says("axioms\n");
        let plan = run_in(root(), &["check", &manifest, "--plan"]);
        plan.quiet();
        assert!(plan.stdout.len() > run.stdout.len(), "{}", plan.stdout);
    }
}

#[test]
fn clustering_as_json() {
    let run = run_in(root(), &["check", "--json", "theories/clustering.toml"]);
    run.quiet();
    let document = json(&run.stdout);
    assert_eq!(document["theory"], "theories/clustering.ltn");
    assert_eq!(document["semantics"], "logltn");
    assert_eq!(document["sorts"][0]["size"], 801);
    assert_eq!(document["sorts"][0]["features"][0]["shape"], json("[16]"));
    assert_eq!(document["predicates"][0]["output"], "softmax");
    assert_eq!(document["warnings"], json("[]"));
    let near = document["params"][0]["value"].as_f64().expect("a number");
    assert!((9.8..9.9).contains(&near), "{near}");
    let smooth = &document["axioms"][2];
    assert_eq!(smooth["name"], "smooth");
    assert_eq!(smooth["groundings_before"], 801 * 801 * 5);
    // 2.5 % of 801² pairs, for each of five clusters, self included.
    assert_eq!(smooth["groundings"], 16_039 * 5);
    assert!(
        smooth["nnf"]
            .as_str()
            .is_some_and(|nnf| nnf.ends_with("not C(x, c) or C(y, c)"))
    );
}

#[test]
fn families_are_written_out_for_programs() {
    let run = run_in(root(), &["check", "--json", "theories/pascal_part.toml"]);
    let document = json(&run.stdout);
    let axioms = document["axioms"].as_array().expect("a list");
    assert_eq!(axioms.len(), 60);
    let members = |family: &str| axioms.iter().filter(|a| a["family"] == family).count();
    assert_eq!(
        (members("whole_to_parts"), members("part_to_wholes")),
        (16, 39)
    );
    assert!(axioms.iter().any(|a| a["name"] == "whole_to_parts[bottle]"));
    let people = run_in(root(), &["check", "theories/pascal_part.toml"]);
    assert!(!people.stdout.contains("[bottle]"), "{}", people.stdout);
    let plan = run_in(root(), &["check", "--plan", "theories/pascal_part.toml"]);
    plan.says("[bottle]");
}

#[test]
fn what_each_pass_makes() {
    let check = |more: &[&str]| {
        let arguments = [&["check", "theories/mnist_add.toml"], more].concat();
        run_in(root(), &arguments)
    };
    let shown = |pass: &str| check(&["--plan", "--pass", pass]).stdout;
    let passes = ["normal", "narrow", "share", "eliminate", "ground", "lower"];
    insta::assert_snapshot!(passes.map(shown).join("\n"));
    let unknown = check(&["--plan", "--pass", "widen"]);
    unknown.ended(2);
    assert!(passes.iter().all(|name| unknown.stderr.contains(name)));
    assert_eq!(check(&["--pass", "normal"]).status, 2, "without --plan");

    let all = json(&check(&["--plan", "--json"]).stdout);
    let listed = all["passes"].as_array().expect("a list");
    let names: Vec<_> = listed.iter().map(|p| p["name"].as_str()).collect();
    assert_eq!(names, passes.map(Some));
    let forms = |at: usize| listed[at]["axioms"][0]["form"].as_str().expect("a form");
    assert!(forms(3).contains("exists d2, d4, carry1 where"));
    let one = json(&check(&["--plan", "--json", "--pass", "ground"]).stdout);
    assert_eq!(one["passes"].as_array().map(Vec::len), Some(1));
    assert!(json(&check(&["--json"]).stdout)["passes"].is_null());
}

#[test]
fn for_people() {
    let run = sound().ok(&["check", "m.toml"]);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn a_manifest_anywhere() {
    let folder = sound();
    let path = folder.path().join("m.toml");
    run_in(root(), &["check", path.to_str().expect("UTF-8")]).ends(0);
}

const WARNED: [(&str, &[u8]); 3] = [
    (
        "t.ltn",
        b"sort Point
sort Unused
sort Digit = 0..3
param unused
predicate P(Point)
predicate Q(Point)
predicate R(Point)
axiom nothing: forall x, y: Point where x != y and dist(x, y) < 0. P(x) -> Q(y)
axiom family for d: Digit where d > 5: forall x: Point where d > 1. Q(x)
axiom never: forall x, y: Point. R(x) <-> P(x)
",
    ),
    (
        "m.toml",
        b"theory = \"t.ltn\"
params.unused = 1
[sorts]
Point.features = \"points.csv\"
Unused.individuals = [\"a\"]
[predicates]
P.network = { mlp = [4] }
P.output = \"sigmoid\"
Q.network = { mlp = [4] }
Q.output = \"sigmoid\"
",
    ),
    ("points.csv", b"x\n0\n1\n"),
];

#[test]
fn warnings() {
    let folder = Folder::new(&WARNED);
    let run = folder.ok(&["check", "m.toml"]);
    insta::assert_snapshot!(run.stderr);
    let run = folder.run(&["check", "m.toml", "--json"]);
    run.quiet();
    let document = json(&run.stdout);
    let messages: Vec<&str> = (document["warnings"].as_array().expect("a list").iter())
        .map(|w| w["message"].as_str().expect("a text"))
        .collect();
    for expected in [
        "`Q` occurs only positively",
        "sort `Unused`",
        "variable `y`",
        "family `family` has no members",
        "axiom `nothing` has no groundings",
    ] {
        assert!(
            messages.iter().any(|m| m.contains(expected)),
            "{expected}: {messages:?}"
        );
    }
}

/// A program may give the numbers of a predicate that the manifest leaves out; `train` has no such program.
#[test]
fn predicates_that_nothing_stands_behind() {
    for (line, wrong) in [
        ("", "error: predicate `q` is not grounded"),
        ("[predicates.q]\n", "error: nothing grounds predicate `q`"),
        (
            "[predicates.q]\noutput = 'sigmoid'\n",
            "error: nothing grounds predicate `q`",
        ),
    ] {
        let manifest =
            format!("theory = 't.ltn'\npredicates.p.learnable = true\n{line}[train]\nsteps = 1\n");
        let folder = Folder::new(&[
            (
                "t.ltn",
                b"predicate p() predicate q()\naxiom a: p() -> q() axiom b: not q() or p()",
            ),
            ("m.toml", manifest.as_bytes()),
        ]);
        for command in [
            &["check", "m.toml"][..],
            &["train", "m.toml", "--out", "run"],
        ] {
            let run = folder.refuses(command);
            run.complains(wrong);
        }
        assert!(!folder.has("run"));
        // A manifest that does not say how to train may be a program's.
        let manifest = manifest.replace("[train]\nsteps = 1\n", "");
        folder.write("m.toml", manifest.as_bytes());
        folder.ok(&["check", "m.toml"]);
    }
}

/// The percentile of a manifest and the distance of a guard are the same number to the last bit: `<` leaves
/// out exactly the pairs at that distance.
#[test]
fn percentiles_and_guards_measure_alike() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort P  param d  predicate C(P)
              axiom below: forall x, y: P where dist(x, y) < d. C(x) <-> C(y)
              axiom at: forall x, y: P where dist(x, y) <= d. C(x) <-> C(y)",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"
            sorts.P.features = \"p.csv\"
            params.d = { percentile = 50, of = \"dist(P, P)\" }
            predicates.C.truth = \"c.csv\"",
        ),
        ("p.csv", b"x,y,z\n0.1,0.2,0.3\n0.7,1e-3,-5\n1,2,3.3\n"),
        ("c.csv", b"c\n0\n1\n0.5\n"),
    ]);
    let document = json(&folder.run(&["check", "--json", "m.toml"]).stdout);
    // Of nine pairs three are at distance 0, and the middle one is the smallest of the three others, twice.
    assert_eq!(document["axioms"][0]["groundings"], 3);
    assert_eq!(document["axioms"][1]["groundings"], 5);
}

#[test]
fn integers_of_params_stay_integers() {
    let folder = sound();
    let document = json(&folder.run(&["check", "--json", "m.toml"]).stdout);
    assert_eq!(document["params"][1]["value"], json("12"));
}

/// A few seconds in a release build; in quadratic time it would be hours.
#[test]
fn a_hundred_thousand_axioms() {
    let mut theory = String::from("sort S = 0..9\npredicate P(S)\npredicate Q(S)\n");
    for i in 0..100_000 {
        let d = i % 10;
        theory += &format!(
            "axiom a{i}: forall x: S where x < {d}. P(x) and Q({d}) -> not (P({d}) or Q(x))\n"
        );
    }
    let values: String = (0..10).map(|i| format!("0.{i}\n")).collect();
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        (
            "m.toml",
            b"theory = \"t.ltn\"\npredicates.P.truth = \"p.csv\"\npredicates.Q.truth = \"p.csv\"\n",
        ),
        ("p.csv", format!("p\n{values}").as_bytes()),
    ]);
    let start = Instant::now();
    let run = folder.run(&["check", "m.toml"]);
    let took = start.elapsed();
    run.ended(0);
    run.says("\n100,000 axioms, 450,000 groundings");
    let limit = Duration::from_secs(600);
    assert!(took < limit, "took {took:?}");
}

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

/// The columns of a file of numbers go by their order, so a header that names them in another is suspicious.
#[test]
fn columns_named_in_another_order() {
    let folder = crate::common::sound();
    folder.write("shows.csv", b"red,blue,green\n1,2,3\n0,0,0\n-1,0,1\n");
    let run = folder.ok(&["check", "m.toml"]);
    let warning = "warning: shows.csv: column 2 is named `blue`, but it is read as `green`";
    assert!(run.stderr.starts_with(warning), "{}", run.stderr);
    for header in ["a,b,c", "0,1,2", "blue,green,grey"] {
        folder.write(
            "shows.csv",
            format!("{header}\n1,2,3\n0,0,0\n-1,0,1\n").as_bytes(),
        );
        assert_eq!(folder.run(&["check", "m.toml"]).stderr, "");
    }
}

/// What training would refuse is known before, for all predicates at once.
#[test]
fn networks_that_cannot_be_built_are_refused() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Day
sort Picture
predicate rains()
predicate wet(Day)
predicate cat(Picture)
axiom a: rains() <-> exists d: Day, p: Picture. wet(d) and cat(p)
",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"
[sorts.Day]
individuals = [\"mon\", \"tue\"]
[sorts.Picture]
features = \"pictures.csv\"
[predicates]
rains = { network = { mlp = [4] }, output = \"sigmoid\" }
wet = { network = { mlp = [4] }, output = \"sigmoid\" }
cat = { network = { cnn = \"lenet\" }, output = \"sigmoid\" }
[train]
steps = 3
",
        ),
        ("pictures.csv", b"a,b\n0,1\n1,0\n"),
    ]);
    let commands = [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ];
    let [check, train] = commands.map(|command| folder.run(command));
    assert_eq!((check.status, train.status), (2, 2), "{}", check.stderr);
    for wrong in [
        "error: the network of `rains` has nothing to read",
        "error: the network of `wet` has nothing to read",
        "error: the network of `cat` cannot be built",
        "m.toml:7:21",
    ] {
        check.complains(wrong);
        train.complains(wrong);
    }
}
