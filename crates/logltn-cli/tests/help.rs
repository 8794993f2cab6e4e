//! What the program says leads somewhere: no help is refused in turn, nothing is said without need, and nothing that went wrong
//! ends silently.

use crate::common::{Folder, Run};

const POINTS: &str = "a,b\n0.1,1\n0.9,0\n0.2,2\n0.8,1\n";

fn folder(theory: &str, manifest: &str) -> Folder {
    let manifest =
        format!("theory = \"t.ltn\"\n[sorts]\nPoint = {{ features = \"points.csv\" }}\n{manifest}");
    Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("m.toml", manifest.as_bytes()),
        ("points.csv", POINTS.as_bytes()),
    ])
}

/// What `check` says of a theory about points, of which `P` and `Q` are predicates and `age` is a function.
fn said_of(axiom: &str) -> String {
    let theory = format!(
        "sort Point\npredicate P(Point)\npredicate Q(Point)\nfunction age(Point): Real\naxiom a: {axiom}\n"
    );
    let run = folder(&theory, "").run(&["check", "m.toml"]).ends(2);
    run.stderr
}

fn contains(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn comparisons_in_formulas_are_sent_where_they_can_go() {
    let learnt = said_of("forall x: Point. age(x) > 10 -> P(x)");
    contains(
        &learnt,
        &[
            "if `age` is given by data (`values` in the manifest), put it into a guard",
            "if `age` is learnt, compare it by a predicate, `predicate above(Real, Real)`",
            "`above(age(x), 10)`",
        ],
    );
    contains(
        &said_of("forall x, y: Point. P(x) and x != y"),
        &["put it into a guard: `forall … where x != y. …`"],
    );
    // A guard takes no predicate: it would not help to send these there.
    for (axiom, help) in [
        ("forall x: Point. P(x) = 1", "write `P(x)` alone"),
        ("forall x: Point. P(x) > 0.5", "write `P(x)` alone"),
        ("forall x: Point. P(x) = 0", "write `not P(x)`"),
        ("forall x: Point. 0.5 > P(x)", "write `not P(x)`"),
        ("forall x: Point. P(x) = Q(x)", "write `P(x) <-> Q(x)`"),
        ("forall x: Point. P(x) <= Q(x)", "write `P(x) -> Q(x)`"),
        ("forall x: Point. P(x) >= Q(x)", "write `Q(x) -> P(x)`"),
    ] {
        let said = said_of(axiom);
        contains(&said, &["not a number to be compared", help]);
        assert!(!said.contains("guard"), "{said}");
    }
}

/// What people write who come from elsewhere.
#[test]
fn words_of_other_languages_are_understood() {
    for (axiom, help) in [
        ("forall x: Point. P(x) implies Q(x)", "write `->`"),
        ("forall x: Point. P(x) iff Q(x)", "write `<->`"),
        ("forall x: Point. P(x) xor Q(x)", "`not (a <-> b)`"),
        (
            "forall x: Point. P(x) <-> true",
            "no constants for truth and falsehood",
        ),
        (
            "forall x: Point. P(x)\nforall x: Point. Q(x)",
            "begins with `axiom name:`",
        ),
        (
            "forall x in Point. P(x)",
            "`x: …` for the individuals of a sort",
        ),
        (
            "forall x: Point, y: Point in near. P(x)",
            "`forall (x, y) in …`",
        ),
        ("forall x: Point. P() = x", "write `P(x)`"),
        (
            "P(y)\naxiom forall x: Point. Q(x)",
            "`axiom some_name: forall …`",
        ),
        (
            "P(y)\naxiom b weight 2: forall x: Point. Q(x)",
            "`axiom name (weight 2): formula`",
        ),
        (
            "P(y)\nsort Class = [cat, dog]",
            "labels go in braces, `{red, green}`",
        ),
    ] {
        contains(&said_of(axiom), &[help]);
    }
}

#[test]
fn keys_of_other_programs_are_understood() {
    let theory = "sort Point\npredicate P(Point)\naxiom a: forall x: Point. P(x)\n";
    for (manifest, help) in [
        ("[train]\nlr = 0.1\n", "did you mean `learning_rate`?"),
        (
            "[train]\nbatch_size = 32\n",
            "`T = { rows = \"t.csv\", batch = 32 }`",
        ),
        (
            "[tables]\nT = { file = \"t.csv\" }\n",
            "did you mean `rows`?",
        ),
        (
            "[predicates.P]\nmlp = [4]\noutput = \"sigmoid\"\n",
            "`network = { mlp =",
        ),
        (
            "[evaluate]\nmetrics = [{ metric = \"auc\", predicate = \"P\" }]\n",
            "did you mean `roc_auc`?",
        ),
        ("[semantics]\nbase = \"product\"\n", "did you mean `prod`?"),
    ] {
        let run = folder(theory, manifest).run(&["check", "m.toml"]).ends(2);
        contains(&run.stderr, &[help]);
    }
}

#[test]
fn exactly_one_is_not_a_negation() {
    for quantifier in ["exists!", "∃!"] {
        let said = said_of(&format!("{quantifier} x: Point. P(x)"));
        contains(
            &said,
            &[
                "there is no quantifier for exactly one individual",
                "forall x, y: S where x != y. not (P(x) and P(y))",
            ],
        );
        assert!(!said.contains("write `not`"), "{said}");
    }
    contains(&said_of("∄ x: Point. P(x)"), &["not (exists x: S. …)"]);
}

#[test]
fn a_proposition_is_not_asked_for_its_arguments() {
    let theory = "sort Point\npredicate rain()\naxiom a: rain()\n";
    let manifest =
        "[predicates.rain]\nnetwork = { mlp = [4] }\noutput = \"sigmoid\"\n[train]\nsteps = 2\n";
    let run = folder(theory, manifest)
        .run(&["train", "m.toml", "--out", "run"])
        .ends(2);
    contains(
        &run.stderr,
        &["`rain`", "no arguments", "`learnable = true`"],
    );
    assert!(
        !run.stderr.contains("sorts of its arguments"),
        "{}",
        run.stderr
    );
}

fn trained(theory: &str, semantics: &str, network: &str, steps: u64) -> Run {
    let manifest = format!(
        "[predicates.P]\nnetwork = {{ mlp = [4]{network} }}\noutput = \"softmax\"\n[train]\nsteps = {steps}\n"
    );
    let arguments = ["train", "m.toml", "--out", "run", "--semantics", semantics];
    folder(theory, &manifest).run(&arguments)
}

#[test]
fn a_training_that_moves_nothing_says_so_once_and_fails() {
    let axioms: String = (0..12)
        .map(|i| format!("axiom a{i}: forall x: Point. not P(x, {})\n", i % 3))
        .collect();
    let theory = format!("sort Point\nsort Class = 0..2\npredicate P(Point, Class)\n{axioms}");
    let run = trained(&theory, "godel", "", 25);
    run.ended(1);
    assert_eq!(run.stderr.matches("warning").count(), 1, "{}", run.stderr);
    contains(
        &run.stderr,
        &[
            "step 10: the gradients of 12 axioms are still zero: `a0`, `a1`, `a2`, `a3` and 8 more",
            "`not` is Gödel's",
            "error: nothing was learnt: the gradient was zero in each of the 25 steps",
            "such as `logltn` or `stable`",
        ],
    );
    // The run is there anyway, to be looked at.
    contains(&run.stdout, &["axiom", "weights"]);
    let moved = trained(&theory, "stable", "", 25);
    moved.ended(0);
    assert!(
        !moved.stderr.contains("nothing was learnt"),
        "{}",
        moved.stderr
    );
}

/// All classes are alike at first, so that most axioms have no slope in the first step.
#[test]
fn an_undecided_start_is_no_reason_to_warn() {
    let alike = "sort Point\nsort Class = 0..2\npredicate P(Point, Class)
axiom near: forall x: Point. exists c: Class. P(x, c)
axiom each: forall c: Class. exists x: Point. P(x, c)
";
    let example = format!("{alike}axiom some: forall x: Point. P(x, 0)\n");
    let run = trained(&example, "stable", ", undecided = true", 12);
    run.ended(0);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    // But if it stays so, it is said, and why.
    let run = trained(alike, "stable", ", undecided = true", 12);
    run.ended(1);
    contains(
        &run.stderr,
        &[
            "still zero",
            "nothing was learnt",
            "set `undecided = false`",
        ],
    );
}

#[test]
fn an_index_is_not_silently_a_feature() {
    let theory = "sort Point\npredicate P(Point)\naxiom a: forall x: Point. P(x)\naxiom b: exists x: Point. not P(x)\n";
    let manifest =
        "[predicates.P]\nnetwork = { mlp = [4] }\noutput = \"sigmoid\"\n[train]\nsteps = 2\n";
    let folder = folder(theory, manifest);
    let quiet = folder.run(&["check", "m.toml"]);
    assert!(!quiet.stderr.contains("index"), "{}", quiet.stderr);
    folder.write("points.csv", b",a,b\n0,0.1,1\n1,0.9,0\n2,0.2,2\n");
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let run = folder.ok(command);
        contains(
            &run.stderr,
            &[
                "column 1 has no name and is read as a feature",
                "m.toml:3:",
                "features = { file = \"points.csv\", columns = [\"a\", \"b\"] }",
            ],
        );
    }
}

#[test]
fn a_column_of_text_is_not_a_feature() {
    let folder = folder(
        "sort Point\npredicate P(Point)\naxiom a: forall x: Point. P(x)\n",
        "",
    );
    folder.write("points.csv", b"a,species\n1,cat\n2,dog\n");
    let run = folder.refuses(&["check", "m.toml"]);
    let help = "choose the columns that are, `features = { file = …, columns = [";
    assert_eq!(run.stderr.matches(help).count(), 1, "{}", run.stderr);
}

#[test]
fn truths_are_shown_between_0_and_1() {
    let theory = "sort Point\nsort Class = 0..2\npredicate P(Point, Class)
axiom some: forall x: Point. P(x, 0)
axiom others: exists x: Point. P(x, 1)
";
    let logs = trained(theory, "logltn", ", undecided = true", 1);
    // The classes are equally likely before the step: 1/3.
    contains(
        &logs.stdout,
        &[
            "axiom   weight  at first     truth  log truth",
            "some         1  0.333333  0.33",
            "sat   0.33",
            " (log -1.08",
        ],
    );
    contains(&logs.stderr, &["loss 1.09861  sat 0.33333"]);
    let degrees = trained(theory, "stable", ", undecided = true", 1);
    contains(&degrees.stdout, &["axiom   weight  at first ", " truth\n"]);
    assert!(!degrees.stdout.contains("log"), "{}", degrees.stdout);
}
