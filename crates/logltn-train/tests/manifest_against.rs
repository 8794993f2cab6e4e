//! Manifests that do not fit their theory.

use std::path::Path;

use logltn::{Diagnostics, Severity, Source, Theory};
use logltn_train::manifest::{Manifest, check_against};

fn check(text: &str, theory: &str) -> Diagnostics {
    let result = Manifest::parse(Source::new("m.toml", text), Path::new("."));
    let (manifest, _) = result.unwrap_or_else(|errors| panic!("{errors}"));
    let theory = Theory::parse(Source::new("t.ltn", theory));
    let theory = theory.unwrap_or_else(|errors| panic!("{errors}"));
    check_against(&manifest, &theory, &Default::default())
}

const CLUSTERING: &str = "sort Point  sort Cluster = 0..3  param near  predicate C(Point, Cluster)
    axiom covered: forall x: Point. exists c: Cluster. C(x, c)
    axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
    axiom smooth: forall c: Cluster, x, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
";

const PASCAL_PART: &str = "sort Box  sort Type  table ontology(whole: Type, part: Type)
    table labelled(x: Box, t: Type)  table pairs(x: Box, y: Box)
    predicate type(Box, Type)  predicate part_of(Box, Box)
    axiom types: forall (x, t) in labelled. type(x, t)
    axiom positives: forall (x, y) in pairs. part_of(x, y)
    axiom negatives: forall (x, y) in pairs. not part_of(y, x)
    axiom whole_to_parts for w: Type: forall x, y: Box. (part_of(x, y) and type(y, w)) -> type(x, w)
";

#[test]
fn the_examples_fit() {
    let found = check(include_str!("manifests/clustering.toml"), CLUSTERING);
    assert!(found.is_empty(), "{found}");
    let found = check(include_str!("manifests/pascal_part.toml"), PASCAL_PART);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn everything_missing() {
    let rest = "table pairs(x: Point, y: Point)  function f(Point): Point  constant alice: Point";
    let theory = format!("{CLUSTERING}{rest}");
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
    insta::assert_snapshot!(check(text, CLUSTERING).to_string());
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
    insta::assert_snapshot!(check(text, PASCAL_PART).to_string());
}

#[test]
fn a_network_that_reads_its_own_output_through_a_shared_trunk() {
    let theory = "sort P  predicate p(P)  predicate q()";
    let text = "theory = \"t.ltn\"\n[networks.trunk]\nmlp = []\ninputs = [\"p(x)\"]\n\
                [predicates.p]\nargs = [\"x\"]\nnetwork = \"trunk\"\noutput = \"sigmoid\"\n\
                [predicates.q]\nlogits = \"q.csv\"\noutput = \"softmax\"\n";
    let found = check(text, theory).to_string();
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
    let mut text = String::from("theory = \"t.ltn\"\n[sorts.P]\nindividuals = [\"a\"]\n");
    let mut theory = String::from("sort P\n");
    for i in 0..n {
        theory += &format!("predicate p{i}(P)\n");
        let next = (i + 1) % n;
        text += &format!(
            "[predicates.p{i}]\nargs = [\"x\"]\nnetwork = {{ mlp = [], inputs = [\"p{next}(x)\"] }}\noutput = \"sigmoid\"\n"
        );
    }
    let found = check(&text, &theory);
    assert_eq!(found.error_count(), 1);
}
