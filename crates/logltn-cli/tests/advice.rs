//! The help of a message is something that can be done, and that does away with it.

use crate::common::Folder;

fn said(files: &[(&str, &str)], arguments: &[&str]) -> (i32, String) {
    let files: Vec<_> = files.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    let run = Folder::new(&files).run(arguments);
    // The help may be cut into lines.
    let words: Vec<&str> = (run.stderr.split_whitespace())
        .filter(|word| *word != "|")
        .collect();
    (run.status, words.join(" "))
}

/// A network over individuals that have names and no numbers.
#[test]
fn a_network_of_individuals_without_numbers() {
    let theory = "sort P\npredicate q(P)\naxiom a: forall x: P. q(x)\n";
    let with = |more: &str| {
        format!(
            "theory = 't.ltn'\n[sorts.P]\nindividuals = ['ann', 'bob']\n{more}[predicates.q]\n\
             network = {{ mlp = [3] }}\noutput = 'sigmoid'\n[train]\nsteps = 2\n"
        )
    };
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let (status, text) = said(&[("t.ltn", theory), ("m.toml", &with(""))], command);
        assert_eq!(status, 2, "{text}");
        assert!(
            !text.contains("proposition") && !text.contains("has no arguments"),
            "{text}"
        );
        assert!(text.contains("`learnable = 8` under `[sorts.P]`"), "{text}");
        let mended = with("learnable = 8\n");
        let (status, text) = said(&[("t.ltn", theory), ("m.toml", &mended)], command);
        assert_eq!(status, 0, "{text}");
    }
}

/// What is not grounded stops `check` as it stops `train`, if there is something to train; a proposition is told what it
/// needs at once.
#[test]
fn what_is_not_grounded() {
    let theory = "predicate rain()\npredicate wet()\naxiom a: rain() -> wet()\naxiom b: rain()\n";
    let wet = "[predicates.wet]\nlearnable = true\n";
    let manifest = format!("theory = 't.ltn'\n{wet}[train]\nsteps = 2\n");
    for command in [
        &["check", "m.toml"][..],
        &["train", "m.toml", "--out", "run"],
    ] {
        let (status, text) = said(&[("t.ltn", theory), ("m.toml", &manifest)], command);
        assert_eq!(status, 2, "{text}");
        assert!(
            text.contains("add `[predicates.rain]` with `learnable = true`"),
            "{text}"
        );
        let mended = format!("{manifest}[predicates.rain]\nlearnable = true\n");
        let (status, text) = said(&[("t.ltn", theory), ("m.toml", &mended)], command);
        assert_eq!(status, 0, "{text}");
    }
    // Without `[train]` host code may bring it, and what no axiom uses is needed by nobody.
    let manifest = format!("theory = 't.ltn'\n{wet}");
    let (status, text) = said(
        &[("t.ltn", theory), ("m.toml", &manifest)],
        &["check", "m.toml"],
    );
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("host code must give its logits"), "{text}");
    let unused = "predicate rain()\npredicate wet()\naxiom a: wet()\n";
    let manifest = format!("theory = 't.ltn'\n{wet}[train]\nsteps = 2\n");
    let (status, text) = said(
        &[("t.ltn", unused), ("m.toml", &manifest)],
        &["check", "m.toml"],
    );
    assert_eq!(status, 0, "{text}");
}

/// Arithmetic among the arguments of a predicate, and params there.
#[test]
fn numbers_as_arguments() {
    let manifest = "theory = 't.ltn'\n";
    let help = |axiom: &str| {
        let theory = format!(
            "sort P\nparam k\ntable t(x: P, y: Real)\nfunction f(P): Real\npredicate eq(Real, Real)\npredicate big(Real)\n\
             predicate is(P)\n{axiom}\n"
        );
        said(
            &[("t.ltn", &theory), ("m.toml", manifest)],
            &["check", "m.toml"],
        )
        .1
    };
    let text = help("axiom a: forall x: P. eq(f(x) + 1, 2)");
    assert!(
        text.contains("closed_form = {") && !text.contains("beforehand"),
        "{text}"
    );
    let text = help("axiom a: forall (x, y) in t. eq(y + 1, 2)");
    assert!(
        text.contains("compute it beforehand, as a column"),
        "{text}"
    );
    let text = help("axiom a: big(k)");
    assert!(
        text.contains("write the number itself") && !text.contains("`constant"),
        "{text}"
    );
    let text = help("axiom a: is(k)");
    assert!(text.contains("`constant k: P`"), "{text}");
}

/// Every line of a file of individuals is one; what looks like a header is pointed out.
#[test]
fn individuals_have_no_header() {
    let theory = "sort Word\npredicate q(Word)\naxiom a: forall x: Word. q(x)\n";
    let manifest =
        "theory = 't.ltn'\n[sorts.Word]\nindividuals = 'w.txt'\n[predicates.q]\ntruth = 'q.csv'\n";
    for first in ["label", "NAME", "word", "individuals"] {
        let words = format!("{first}\nverb\ntree\n");
        let files = [
            ("t.ltn", theory),
            ("m.toml", manifest),
            ("w.txt", &words),
            ("q.csv", "q\n1\n0.5\n0.5\n"),
        ];
        let (status, text) = said(
            &files,
            &[
                "query",
                "m.toml",
                &format!("q(\"{first}\")"),
                "--semantics",
                "stable",
            ],
        );
        assert_eq!(status, 0, "{text}");
        assert!(
            text.contains(&format!("line 1: `{first}` is taken for an individual")),
            "{text}"
        );
    }
}

/// New data with the same columns in another order: the message has the line that mends it.
#[test]
fn columns_in_another_order() {
    let theory = "sort P\npredicate q(P)\naxiom a: forall x: P. q(x)\n";
    let manifest = |features: &str| {
        format!(
            "theory = 't.ltn'\n[sorts.P]\nfeatures = {features}\n[predicates.q]\nnetwork = {{ mlp = [3] }}\noutput = 'sigmoid'\n[train]\nsteps = 2\n"
        )
    };
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("p.csv", b"u,v\n1,2\n3,4\n"),
        ("new.csv", b"v,u\n2,1\n4,3\n"),
        ("other.csv", b"v,w\n2,1\n4,3\n"),
        ("m.toml", manifest("'p.csv'").as_bytes()),
        ("new.toml", manifest("'new.csv'").as_bytes()),
        (
            "mended.toml",
            manifest("{ file = \"new.csv\", columns = [\"u\", \"v\"] }").as_bytes(),
        ),
        ("other.toml", manifest("'other.csv'").as_bytes()),
    ]);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let run = folder.refuses(&["eval", "new.toml", "--run", "run"]);
    let mend = "features = { file = \"new.csv\", columns = [\"u\", \"v\"] }";
    run.complains(mend);
    let same = |name: &str| folder.run(&["eval", name, "--run", "run", "--json"]).stdout;
    assert_eq!(same("m.toml"), same("mended.toml"));
    // Other names cannot be chosen.
    let run = folder.refuses(&["eval", "other.toml", "--run", "run"]);
    run.complains("with the manifest it was trained with");
}

/// A place is named as the file has it, also where columns before it are not features.
#[test]
fn places_are_those_of_the_file() {
    let theory = "sort P\npredicate q(P)\naxiom a: forall x: P. q(x)\n";
    let manifest = "theory = 't.ltn'\n[sorts.P]\nfeatures = { file = 'p.csv', names = 'who' }\n[predicates.q]\n\
                    network = { mlp = [3] }\noutput = 'sigmoid'\n";
    let files = [
        ("t.ltn", theory),
        ("m.toml", manifest),
        ("p.csv", "who,u,v\nann,1e13,1\nbob,2,3\n"),
    ];
    let (status, text) = said(&files, &["check", "m.toml"]);
    assert_eq!(status, 2, "{text}");
    assert!(
        text.contains("row 0, column `u`: 1e13 is too large"),
        "{text}"
    );
}

/// A rule can be nearly true although it is broken wherever it says something; following the help mends it.
#[test]
fn rules_that_are_not_kept() {
    let theory = |rule: &str| {
        format!(
            "sort P = 0..19\ntable next(x: P, y: P)\npredicate before(P, P)\npredicate next_to(P, P)\n\
             axiom known: forall (x, y) in next. next_to(x, y)\n\
             axiom others: forall x, y: P where not next(x, y). not next_to(x, y)\n{rule}\n\
             axiom few: forall x, y: P. not before(x, y)\n"
        )
    };
    let free = theory("axiom rule: forall x, y: P. next_to(x, y) -> before(x, y)");
    let guarded = theory("axiom rule: forall (x, y) in next. before(x, y)");
    let manifest = "theory = 't.ltn'\n[tables.next]\nrows = 'next.csv'\n[predicates]\nbefore = { learnable = true }\n\
                    next_to = { learnable = true }\n[train]\nsteps = 500\nlearning_rate = 0.05\n";
    let next: String = (0..19).map(|x| format!("{x},{}\n", x + 1)).collect();
    let next = format!("x,y\n{next}");
    let train = &["train", "m.toml", "--out", "run"];
    let trained = |theory: &str| {
        let files = [("t.ltn", theory), ("m.toml", manifest), ("next.csv", &next)];
        said(&files, train)
    };
    let (status, text) = trained(&free);
    assert_eq!(status, 0, "{text}");
    let often = "axiom `rule` does not hold where its premise is true: its premise is true in 19 of 400 groundings, \
                 and in 19 of these its conclusion is false";
    assert!(text.contains(often), "{text}");
    assert!(text.contains("a table in the guard"), "{text}");
    assert!(text.contains("logltn-prob"), "{text}");
    let (status, text) = trained(&guarded);
    assert_eq!(status, 0, "{text}");
    assert!(!text.contains("not kept"), "{text}");
}

/// What networks learn badly from is pointed out, where one is to learn from it.
#[test]
fn features_far_from_one() {
    let theory =
        "sort P\npredicate q(P)\naxiom a: exists x: P. q(x)\naxiom b: exists x: P. not q(x)\n";
    let network = "[predicates.q]\nnetwork = { mlp = [3] }\noutput = 'sigmoid'\n";
    let far = "who,u,v\nann,1,181\nbob,2,170\n";
    let says = |behind: &str, train: &str, features: &str| {
        let manifest = format!(
            "theory = 't.ltn'\n[sorts.P]\nfeatures = {{ file = 'p.csv', names = 'who' }}\n{behind}{train}"
        );
        let files = [
            ("t.ltn", theory),
            ("m.toml", &manifest[..]),
            ("p.csv", features),
        ];
        let (status, text) = said(&files, &["check", "m.toml"]);
        assert_eq!(status, 0, "{text}");
        text.contains("column `v`: numbers of about 176 ")
    };
    let train = "[train]\nsteps = 2\n";
    assert!(says(network, train, far));
    assert!(!says(network, "", far));
    assert!(!says(network, train, "who,u,v\nann,1,9\nbob,2,7\n"));
    let closed = "[predicates.q]\nargs = ['x']\nclosed_form = { logit = 'dot(w, x)' }\nlearn = { w = [0, 0] }\n";
    assert!(!says(closed, train, far));
}
