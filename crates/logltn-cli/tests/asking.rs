//! `query` and `explain`, as their users see them.

use crate::common::Folder;
use serde_json::{Value, json};

const THEORY: &str = "sort Person
sort Mood = {glad, sad}
table knows(x: Person, y: Person)
predicate smokes(Person)
predicate friends(Person, Person)
predicate mood(Person, Mood)
axiom peers:
    forall x: Person. forall y: Person where x != y.   # a chain of two
        friends(x, y) and smokes(x) -> smokes(y)
axiom someone: forall x: Person. exists y: Person where y != x. friends(x, y)
axiom one: exists x: Person. smokes(x)
axiom none: forall x: Person. exists y: Person where x != x. friends(x, y)
axiom each for m: Mood: forall x: Person. mood(x, m)
";

const MANIFEST: &str = "theory = \"t.ltn\"
[sorts]
Person = { individuals = [\"ann\", \"bob\", \"cleo\"] }
[tables]
knows = { rows = \"knows.csv\" }
[predicates]
smokes = { truth = \"smokes.csv\" }
friends = { truth = \"friends.csv\" }
mood = { truth = \"mood.csv\" }
[axioms.one]
weight = 0
";

fn people() -> Folder {
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
        ("knows.csv", b"x,y\nann,bob\ncleo,ann\nann,bob\n"),
        ("smokes.csv", b"t\n0.9\n0.2\n0.5\n"),
        (
            "friends.csv",
            b"ann,bob,cleo\n0.1,0.9,0.3\n0.8,0.1,0.2\n0.5,0.6,0.1\n",
        ),
        ("mood.csv", b"glad,sad\n0.5,0.5\n1,0\n0.5,0.5\n"),
    ])
}

fn asked(folder: &Folder, arguments: &[&str]) -> Value {
    folder.json(arguments)
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - expected).abs() < 1e-9,
        "{value}, expected {expected}"
    );
}

#[test]
fn a_closed_formula_has_a_truth() {
    let folder = people();
    let found = asked(
        &folder,
        &[
            "query",
            "m.toml",
            "smokes(ann) and not smokes(bob)",
            "--semantics",
            "stable",
        ],
    );
    assert_eq!(found["formula"], "smokes(ann) and not smokes(bob)");
    assert_eq!(found["semantics"], "stable");
    let (e, x, y) = (1e-4, 0.9, 0.8);
    near(&found["truth"], ((1.0 - e) * x + e) * ((1.0 - e) * y + e));
    assert!(found.get("answers").is_none());
    // The same in words, with the log beside the degree.
    let run = folder.run(&["query", "m.toml", "exists x: Person. smokes(x)"]);
    run.says("log truth");
}

#[test]
fn open_formulas_have_answers() {
    let folder = people();
    let query = "find x: Person, y: Person where x != y. friends(x, y) and not smokes(y)";
    let found = asked(
        &folder,
        &[
            "query",
            "m.toml",
            query,
            "--top",
            "2",
            "--semantics",
            "godel",
        ],
    );
    assert_eq!(found["total"], 6);
    // not is [x = 0] there: all are as true, so the order of the individuals decides.
    let bindings: Vec<&Value> = (found["answers"].as_array().expect("answers").iter())
        .map(|a| &a["binding"])
        .collect();
    assert_eq!(
        bindings,
        [
            &json!({"x": "ann", "y": "bob"}),
            &json!({"x": "ann", "y": "cleo"})
        ]
    );
    let found = asked(&folder, &["query", "m.toml", query, "--top", "1"]);
    assert_eq!(
        found["answers"][0]["binding"],
        json!({"x": "ann", "y": "bob"})
    );
    near(
        &found["answers"][0]["truth"],
        (0.9 + 1e-7_f64).ln() + (0.8 + 1e-7_f64).ln(),
    );

    // Over the rows of a table duplicates count; 0 shows all.
    let rows = asked(
        &folder,
        &[
            "query",
            "m.toml",
            "find (x, y) in knows. friends(y, x)",
            "--top",
            "0",
        ],
    );
    assert_eq!(rows["total"], 3);
    let bindings: Vec<&Value> = (rows["answers"].as_array().expect("answers").iter())
        .map(|a| &a["binding"])
        .collect();
    let (row, other) = (
        json!({"x": "ann", "y": "bob"}),
        json!({"x": "cleo", "y": "ann"}),
    );
    assert_eq!(bindings, [&row, &row, &other]);

    let run = folder.ok(&["query", "m.toml", query]);
    run.says("all 6 bindings");
    let run = folder.run(&["query", "m.toml", "find x: Person where x != x. smokes(x)"]);
    run.says("no binding passes the guard");
}

#[test]
fn find_may_be_a_predicate() {
    let folder = people();
    folder.write("t.ltn", THEORY.replace("smokes", "find").as_bytes());
    folder.write("m.toml", MANIFEST.replace("smokes =", "find =").as_bytes());
    assert!(asked(&folder, &["query", "m.toml", "find(ann)"])["truth"].is_f64());
    let rows = asked(
        &folder,
        &["query", "m.toml", "find (x, y) in knows. find(x)"],
    );
    assert_eq!(rows["total"], 3);
}

#[test]
fn mistakes_in_questions_are_shown_in_place() {
    let folder = people();
    for (query, expected) in [
        ("smokes(x)", "`find x: Person. …`"),
        ("smoks(ann)", "did you mean `smokes`?"),
        ("find x: Persn. smokes(x)", "did you mean `Person`?"),
        ("find x: Person smokes(x)", "before the body of `find`"),
        ("find x: Person. friends(x, y)", "unbound variable `y`"),
        ("smokes(dan)", "unbound variable `dan`"),
        ("find x: Person where y = x. smokes(x)", "y"),
        ("smokes(ann) smokes(bob)", "after the end of a formula"),
        ("", "expected"),
    ] {
        let run = folder.refuses(&["query", "m.toml", query]);
        run.complains(expected);
        if !query.is_empty() {
            run.complains("query:1:");
        }
    }
    // Where individuals have no names, they go by number.
    let points = Folder::new(&[
        ("t.ltn", b"sort Point\npredicate P(Point)\naxiom a: forall x: Point. P(x)\n"),
        ("m.toml", b"theory = \"t.ltn\"\n[sorts.Point]\nfeatures = \"f.csv\"\n[predicates.P]\ntruth = \"p.csv\"\n"),
        ("f.csv", b"a\n1\n2\n"),
        ("p.csv", b"t\n0.5\n0.25\n"),
    ]);
    let found = asked(
        &points,
        &["query", "m.toml", "P(1)", "--semantics", "stable"],
    );
    near(&found["truth"], 0.25);
    let run = points.refuses(&["query", "m.toml", "P(2)"]);
    run.complains("numbered from 0 to 1");
    let worst = asked(&points, &["explain", "m.toml", "--semantics", "stable"]);
    assert_eq!(
        worst["axioms"][0]["worst"][0]["literals"][0]["literal"],
        "P(1)"
    );
    assert_eq!(worst["axioms"][0]["worst"][0]["binding"], json!({"x": 1}));
}

#[test]
fn explanations_name_culprits_and_witnesses() {
    let folder = people();
    let found = asked(
        &folder,
        &["explain", "m.toml", "--semantics", "stable", "--top", "1"],
    );
    let axioms = found["axioms"].as_array().expect("axioms");
    let names: Vec<&str> = axioms
        .iter()
        .map(|a| a["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        names,
        ["peers", "someone", "one", "none", "each[glad]", "each[sad]"]
    );

    let peers = &axioms[0];
    assert_eq!(peers["groundings"], 6);
    let worst = &peers["worst"][0];
    assert_eq!(worst["binding"], json!({"x": "ann", "y": "bob"}));
    let literals: Vec<&str> = (worst["literals"].as_array().expect("literals").iter())
        .map(|l| l["literal"].as_str().expect("text"))
        .collect();
    assert_eq!(literals.len(), 3);
    // The conclusion weighs most: the premises are true.
    near(&worst["literals"][0]["truth"], 0.2);
    assert!(literals.contains(&"smokes(bob)") && literals.contains(&"friends(ann, bob)"));

    let someone = &axioms[1]["worst"][0];
    assert_eq!(someone["binding"], json!({"x": "cleo"}));
    assert_eq!(someone["witnesses"][0]["binding"], json!({"y": "bob"}));
    near(&someone["witnesses"][0]["truth"], 0.6);
    assert_eq!(
        someone["witnesses"][0]["formula"],
        "exists y: Person where y != x. friends(x, y)"
    );
    assert_eq!(someone["literals"].as_array().map(Vec::len), Some(1));

    // No `forall` at the root: one entry without a binding. Its weight of 0 does not matter.
    let one = &axioms[2];
    assert_eq!(
        (&one["groundings"], &one["worst"][0]["binding"]),
        (&json!(1), &json!({}))
    );
    // Nothing to choose from.
    let none = &axioms[3]["worst"][0]["witnesses"][0];
    assert_eq!(
        (&none["binding"], &none["truth"]),
        (&Value::Null, &Value::Null)
    );
    // Equal ones in the order of the individuals.
    assert_eq!(axioms[4]["worst"][0]["binding"], json!({"x": "ann"}));

    // In log space the negations stand at the atoms.
    let log = asked(
        &folder,
        &["explain", "m.toml", "--axiom", "peers", "--top", "0"],
    );
    let worst = &log["axioms"][0]["worst"];
    assert_eq!(worst.as_array().map(Vec::len), Some(6));
    let text = worst.to_string();
    assert!(text.contains("\"not friends(ann, bob)\""), "{text}");
    near(
        &log["axioms"][0]["truth"],
        worst
            .as_array()
            .expect("all")
            .iter()
            .map(|w| w["truth"].as_f64().expect("a log"))
            .sum::<f64>()
            / 6.0,
    );
    // In `prod` the binding's truth is a log, the literals' are degrees.
    let prod = asked(
        &folder,
        &[
            "explain",
            "m.toml",
            "--axiom",
            "each[glad]",
            "--semantics",
            "prod",
        ],
    );
    let worst = &prod["axioms"][0]["worst"][0];
    near(&worst["truth"], (0.5 * (1.0 - 1e-4) + 1e-4_f64).ln());
    near(&worst["literals"][0]["truth"], 0.5);

    let run = folder.ok(&["explain", "m.toml", "--axiom", "peers", "--top", "1"]);
    run.says("x = ann, y = bob");
    run.says("friends(x, y) and smokes(x) -> smokes(y)");
    run.says("^^^");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let folder = people();
    for (arguments, expected) in [
        (vec!["--axiom", "peer"], "did you mean `peers`?"),
        (vec!["--axiom", "each[grim]"], "no axiom `each[grim]`"),
        (vec!["--run", "runs/none"], "there is no such folder"),
        (vec!["--alpha", "-1"], "alpha"),
    ] {
        let run = folder.refuses(&[vec!["explain", "m.toml"], arguments].concat());
        run.complains(expected);
    }
}

/// A run that is finished or not, asked; and one that does not fit.
#[test]
fn runs_are_asked() {
    let manifest = "theory = \"t.ltn\"\n[sorts.Point]\nfeatures = \"f.csv\"\n[predicates.P]\n\
        network = { mlp = [4] }\noutput = \"sigmoid\"\n[train]\nsteps = 3\n";
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Point\npredicate P(Point)\naxiom a: forall x: Point. P(x)\n",
        ),
        ("m.toml", manifest.as_bytes()),
        ("wide.toml", manifest.replace("[4]", "[5]").as_bytes()),
        ("f.csv", b"a\n1\n2\n"),
    ]);
    let untrained = folder.refuses(&["query", "m.toml", "P(0)"]);
    untrained.complains("--run");
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let truth =
        |query: &str| asked(&folder, &["query", "m.toml", query, "--run", "run"])["truth"].clone();
    let whole = asked(&folder, &["eval", "m.toml", "--run", "run"])["axioms"][0]["truth"].clone();
    assert_eq!(truth("forall x: Point. P(x)"), whole);
    let worst = asked(&folder, &["explain", "m.toml", "--run", "run"]);
    assert_eq!(
        worst["axioms"][0]["worst"].as_array().map(Vec::len),
        Some(2)
    );
    // The report has it too.
    let page = folder.read("run/report.html");
    assert!(page.contains("\"explained\":{") && page.contains("P(1)"));
    let other = folder.refuses(&["explain", "wide.toml", "--run", "run"]);
    other.complains("run/manifest.toml");
    // A run of something else altogether.
    folder.write("p.csv", b"t\n0.5\n0.5\n");
    let given = "theory = \"t.ltn\"\n[sorts.Point]\nfeatures = \"f.csv\"\n[predicates.P]\ntruth = \"p.csv\"\n";
    folder.write("given.toml", given.as_bytes());
    folder.refuses(&["query", "given.toml", "P(0)", "--run", "run"]);
}
