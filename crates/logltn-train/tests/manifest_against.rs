//! Manifests that do not fit their theory.

use std::path::Path;

use logltn::{Diagnostics, Severity, Source};
use logltn_train::manifest::{Manifest, SortKind, TheoryNames, check_against};

fn check(text: &str, theory: &TheoryNames) -> Diagnostics {
    let result = Manifest::parse(Source::new("m.toml", text), Path::new("."));
    let (manifest, _) = result.unwrap_or_else(|errors| panic!("{errors}"));
    check_against(&manifest, theory)
}

fn named<V: Clone>(entries: &[(&str, V)]) -> std::collections::BTreeMap<String, V> {
    entries
        .iter()
        .map(|(name, v)| (name.to_string(), v.clone()))
        .collect()
}

fn set(names: &[&str]) -> std::collections::BTreeSet<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn clustering() -> TheoryNames {
    TheoryNames {
        sorts: named(&[("Point", SortKind::Data), ("Cluster", SortKind::Range)]),
        predicates: named(&[("C", 2)]),
        params: set(&["near"]),
        axioms: set(&["covered", "inhabited", "smooth"]),
        ..TheoryNames::default()
    }
}

fn pascal_part() -> TheoryNames {
    TheoryNames {
        sorts: named(&[("Box", SortKind::Data), ("Type", SortKind::Data)]),
        tables: named(&[
            ("ontology", columns(&["whole", "part"])),
            ("labelled", columns(&["x", "t"])),
            ("pairs", columns(&["x", "y"])),
        ]),
        predicates: named(&[("type", 2), ("part_of", 2)]),
        axioms: set(&["types", "positives", "negatives", "whole_to_parts"]),
        ..TheoryNames::default()
    }
}

#[test]
fn the_examples_fit() {
    let found = check(include_str!("manifests/clustering.toml"), &clustering());
    assert!(found.is_empty(), "{found}");
    let found = check(include_str!("manifests/pascal_part.toml"), &pascal_part());
    assert!(found.is_empty(), "{found}");
}

#[test]
fn everything_missing() {
    let theory = TheoryNames {
        tables: named(&[("pairs", columns(&["x", "y"]))]),
        functions: named(&[("f", 1)]),
        constants: set(&["alice"]),
        ..clustering()
    };
    let found = check("theory = \"t.ltn\"\n", &theory);
    insta::assert_snapshot!(found.to_string());
    // What has no grounding can still come from host code.
    let warnings = found
        .iter()
        .filter(|d| d.severity() == Severity::Warning)
        .count();
    assert_eq!((found.error_count(), warnings), (4, 2));
}

#[test]
fn names_and_kinds() {
    let text = r#"
theory = "t.ltn"
[sorts.Ponit]
features = "p.csv"
[sorts.Point]
learnable = 3
[sorts.Cluster]
features = "c.csv"
labels = { file = "l.csv" }
[tables.rows]
rows = "r.csv"
[params]
far = 1
near = { percentile = 1, of = "dist(Pont, Cluster)" }
[predicates.C]
args = ["x"]
[predicates.D]
truth = "d.csv"
[functions.f]
[constants.a]
row = 1
[train]
phases = [{ steps = 1, axioms = ["smoth", "covered", "inhabited[3]", "nothing[3]"] }]
[evaluate]
metrics = [{ metric = "mrr", predicate = "c", of = "x", filter = ["T"], rows = "r.csv" },
           { metric = "row_accuracy", rows = "r.csv", table = "T" },
           { metric = "mae", function = "f", rows = "r.csv" },
           { metric = "balanced_accuracy", predicate = "C", labels = "Point" },
           { metric = "accuracy", predicate = "C", labels = "Points" }]
"#;
    insta::assert_snapshot!(check(text, &clustering()).to_string());
}

#[test]
fn inputs() {
    let text = r#"
theory = "t.ltn"
sorts = { Box = { features = "b.csv" }, Type = { individuals = ["a", "b"] } }
tables = { ontology = { rows = "o.csv" }, labelled = { rows = "l.csv" }, pairs = { rows = "p.csv" } }
[params]
[predicates.type]
args = ["x", "t"]
network = { mlp = [4], inputs = ["x", "stop(part_of(x, x))"] }
output = "softmax"
[predicates.part_of]
args = ["x", "y"]
network = { mlp = [4], inputs = ["type(x)", "type(x, y)", "tpye(y)"] }
output = "sigmoid"
"#;
    insta::assert_snapshot!(check(text, &pascal_part()).to_string());
}

#[test]
fn a_network_that_reads_its_own_output_through_a_shared_trunk() {
    let theory = TheoryNames {
        predicates: named(&[("p", 1), ("q", 0)]),
        ..TheoryNames::default()
    };
    let text = "theory = \"t.ltn\"\n[networks.trunk]\nmlp = []\ninputs = [\"p(x)\"]\n\
                [predicates.p]\nargs = [\"x\"]\nnetwork = \"trunk\"\noutput = \"sigmoid\"\n\
                [predicates.q]\nlogits = \"q.csv\"\noutput = \"softmax\"\n";
    let found = check(text, &theory).to_string();
    assert!(
        found.contains("the network of `p` reads itself: `p` → `p`"),
        "{found}"
    );
    assert!(found.contains("`q` cannot be a softmax"), "{found}");
}

/// A chain as long as the file allows is walked without recursion.
#[test]
fn long_chains_of_inputs_do_not_overflow_the_stack() {
    let n = 20_000;
    let mut text = String::from("theory = \"t.ltn\"\n");
    for i in 0..n {
        let next = (i + 1) % n;
        text += &format!(
            "[predicates.p{i}]\nargs = [\"x\"]\nnetwork = {{ mlp = [], inputs = [\"p{next}(x)\"] }}\noutput = \"sigmoid\"\n"
        );
    }
    let theory = TheoryNames {
        predicates: (0..n).map(|i| (format!("p{i}"), 1)).collect(),
        ..TheoryNames::default()
    };
    let found = check(&text, &theory);
    assert_eq!(found.error_count(), 1);
}
