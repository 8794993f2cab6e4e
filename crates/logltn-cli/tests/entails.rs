//! `logltn entails`: reasoning by refutation.

use crate::common::Folder;
use serde_json::Value;

/// Propositions A and B and these axioms, in the semantics of LTN's tutorial.
fn folder(axioms: &str) -> Folder {
    let theory = format!("predicate A()\npredicate B()\n{axioms}\n");
    Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        (
            "m.toml",
            b"theory = \"t.ltn\"\nsemantics = \"stable\"\n[predicates]\nA = { learnable = true }\nB = { learnable = true }\n",
        ),
    ])
}

fn entails(folder: &Folder, formula: &str, more: &[&str]) -> Value {
    let asked = ["entails", "m.toml", formula, "--json", "--steps", "300"];
    folder.ok(&[&asked[..], more].concat()).json()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn refuted(found: &Value) {
    assert_eq!(found["entailed"], false, "{found}");
    let (theory, formula) = (number(&found["theory"]), number(&found["formula"]));
    let level = number(&found["level"]);
    assert!(theory >= level && formula < level - 1e-6, "{found}");
    assert!(found["counterexample"].is_object(), "{found}");
}

fn not_refuted(found: &Value) {
    assert_eq!(found["entailed"], Value::Null, "{found}");
    assert!(found.get("counterexample").is_none(), "{found}");
    assert!(
        number(&found["theory"]) >= number(&found["level"]),
        "{found}"
    );
}

#[test]
fn one_of_two_does_not_say_which() {
    let folder = folder("axiom either: A() or B()");
    let found = entails(&folder, "A()", &[]);
    refuted(&found);
    assert!(number(&found["formula"]) < 0.05, "{found}");
    assert_eq!(found["restarts"], 10);
    assert_eq!(found["level"], 0.95);
    // The counterexample is one: B holds, A does not.
    let predicates = &found["counterexample"]["predicates"];
    assert!(
        number(&predicates["B"]) > 0.9 && number(&predicates["A"]) < 0.05,
        "{found}"
    );
    assert!(
        number(&found["counterexample"]["axioms"]["either"]) >= 0.95,
        "{found}"
    );
    not_refuted(&entails(&folder, "B() or A()", &[]));
    let run = folder.run(&["entails", "m.toml", "A()", "--steps", "300"]);
    assert!(
        run.stdout
            .starts_with("not entailed at level 0.95: a grounding "),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("leaks"), "{}", run.stdout);
}

#[test]
fn what_follows_is_not_refuted() {
    for semantics in [
        "stable",
        "godel",
        "lukasiewicz",
        "prod",
        "logltn-max",
        "goguen",
    ] {
        let more = ["--semantics", semantics];
        let one = folder("axiom a: A()");
        not_refuted(&entails(&one, "A() or B()", &more));
        refuted(&entails(&one, "A() and B()", &more));
    }
    let run = folder("axiom a: A()").run(&["entails", "m.toml", "A() or B()", "--steps", "200"]);
    run.says("not a proof");
}

#[test]
fn de_morgan() {
    for semantics in ["stable", "lukasiewicz", "logltn-prob"] {
        let more = ["--semantics", semantics];
        let not_both = folder("axiom a: not (A() and B())");
        not_refuted(&entails(&not_both, "not A() or not B()", &more));
        refuted(&entails(&not_both, "not A()", &more));
        let neither = folder("axiom a: not (A() or B())");
        not_refuted(&entails(&neither, "not A() and not B()", &more));
    }
}

#[test]
fn truth_leaks_between_axioms() {
    let one = folder("axiom both: A() and (A() -> B())");
    not_refuted(&entails(&one, "B()", &[]));
    let two = folder("axiom a: A()\naxiom rule: A() -> B()");
    let found = entails(&two, "B()", &[]);
    refuted(&found);
    // At best 1 − √2 · 0.05: all that the theory lacks is in the rule.
    let formula = number(&found["formula"]);
    assert!(formula > 0.92 && formula < 0.945, "{found}");
    let run = two.run(&["entails", "m.toml", "B()", "--steps", "300"]);
    run.says("truth leaks");
    // Nearer to 1 there is less to leak.
    let found = entails(&two, "B()", &["--level", "0.99"]);
    refuted(&found);
    assert!(number(&found["formula"]) > 0.98, "{found}");
}

#[test]
fn a_theory_that_cannot_be_satisfied() {
    let folder = folder("axiom a: A()\naxiom b: not A()");
    let found = entails(&folder, "B()", &[]);
    assert_eq!(found["entailed"], Value::Null);
    let best = number(&found["theory"]);
    assert!(best < 0.95 && best > 0.4, "{found}");
    let run = folder.run(&["entails", "m.toml", "B()", "--steps", "100"]);
    run.says("never satisfied");
}

#[test]
fn a_learnt_relation() {
    let theory = |rule: &str| {
        format!(
            "sort P = {{ann, bob, cid}}\npredicate knows(P, P)\naxiom facts: knows(ann, bob) and knows(bob, cid)\n{rule}\n"
        )
    };
    let rule = "axiom trans: forall x, y, z: P. knows(x, y) and knows(y, z) -> knows(x, z)";
    let folder = Folder::new(&[
        ("t.ltn", theory(rule).as_bytes()),
        (
            "m.toml",
            b"theory = \"t.ltn\"\nsemantics = \"godel\"\n[predicates.knows]\nlearnable = true\n",
        ),
    ]);
    not_refuted(&entails(&folder, "knows(ann, cid)", &["--restarts", "5"]));
    refuted(&entails(&folder, "knows(cid, ann)", &["--restarts", "5"]));
    folder.write("t.ltn", theory("").as_bytes());
    let found = entails(&folder, "knows(ann, cid)", &["--restarts", "5"]);
    refuted(&found);
    let knows = &found["counterexample"]["predicates"]["knows"];
    assert_eq!(knows["ann, cid"], found["formula"]);
    let all = entails(&folder, "forall x, y: P. knows(x, y)", &["--restarts", "5"]);
    refuted(&all);
}

#[test]
fn networks_are_moved_too() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort P\npredicate good(P)\npredicate kind(P)\naxiom a: forall x: P. good(x) and (kind(x) or not kind(x))\n",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"\nsemantics = \"lukasiewicz\"\n[sorts.P]\nfeatures = \"p.csv\"\n[predicates]
good = { network = { mlp = [8] }, output = \"sigmoid\" }\nkind = { network = { mlp = [8] }, output = \"sigmoid\" }\n",
        ),
        ("p.csv", b"x,y\n0,1\n1,0\n-1,2\n"),
    ]);
    let more = ["--restarts", "2"];
    refuted(&entails(&folder, "exists x: P. not good(x)", &more));
    let found = entails(&folder, "forall x: P. kind(x)", &more);
    refuted(&found);
    assert!(number(&found["formula"]) < 0.1, "{found}");
    not_refuted(&entails(&folder, "exists x: P. good(x)", &more));
}

#[test]
fn mistakes() {
    let folder = folder("axiom either: A() or B()");
    for (formula, more, word) in [
        ("D()", &[][..], "D"),
        ("A() and", &[], "expected"),
        ("A() and x", &[], "x"),
        ("A()", &["--level", "1.5"], "at most 1"),
        ("A()", &["--semantics", "stabel"], "stable"),
    ] {
        let run = folder.refuses(&[&["entails", "m.toml", formula], more].concat());
        run.complains(word);
    }
}
