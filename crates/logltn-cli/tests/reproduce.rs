//! `logltn reproduce` as users meet it.

mod common;

use common::Folder;

#[test]
fn configurations_that_do_not_exist_are_refused_with_suggestions() {
    let folder = Folder::new(&[]);
    let run = folder.run(&[
        "reproduce",
        "clustering",
        "--configs",
        "logltn-sun,prod,foo",
    ]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("there is no configuration `logltn-sun`")
    );
    assert!(run.stderr.contains("did you mean `logltn-sum`?"));
    assert!(run.stderr.contains("there is no configuration `foo`"));
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn wrong_flags_are_refused() {
    let folder = Folder::new(&[]);
    for arguments in [
        &["reproduce", "clustering", "--percentile", "0"][..],
        &["reproduce", "clustering", "--runs", "0"],
        &["reproduce", "clustering", "--data", "nowhere"],
        &["reproduce", "mnist-add", "--samples", "0"],
        &["reproduce", "multi-add", "--digits", "0"],
        // It keeps alpha at 1.
        &["reproduce", "multi-add", "--alpha-end", "4"],
        &["reproduce", "pascal-part", "--pictures", "0"],
        &["reproduce", "pascal-part", "--configs", "logltn-lse"],
        &["reproduce", "pascal-part", "--released", "--examples-only"],
        &["reproduce", "knowledge-graph"],
        &["reproduce", "knowledge-graph", "--graph", "fb15k"],
        &[
            "reproduce",
            "knowledge-graph",
            "--graph",
            "umls",
            "--configs",
            "logltn",
            "--data",
            ".",
        ],
        &[
            "reproduce",
            "knowledge-graph",
            "--graph",
            "umls",
            "--rules",
            "nowhere.ltn",
            "--data",
            ".",
        ],
        &["reproduce", "everything"],
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_small_table_and_its_continuation() {
    let folder = Folder::new(&[]);
    let small = ["reproduce", "clustering", "--steps", "3", "--data", "."];
    let first = folder.run(&[&small[..], &["--configs", "logltn", "--runs", "1"]].concat());
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(first.stdout.contains("STAND-IN"), "{}", first.stdout);
    assert!(first.stdout.contains("0.71 ± 0.06"), "{}", first.stdout);
    assert!(first.stderr.contains("1/1  logltn, run 1: ari"));
    let more = ["--configs", "logltn,prod", "--runs", "2", "--json"];
    let second = folder.run(&[&small[..], &more].concat());
    assert_eq!(second.status, 0, "{}", second.stderr);
    assert!(
        second.stderr.contains("1 of 4 runs were done before"),
        "{}",
        second.stderr
    );
    let json: serde_json::Value = serde_json::from_str(&second.stdout).expect("JSON alone");
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(2));
    assert!(
        folder
            .path()
            .join("runs/reproduce-clustering/report.html")
            .exists()
    );
}

#[test]
fn a_quick_table_has_all_configurations_and_a_folder_of_its_own() {
    let folder = Folder::new(&[]);
    let run = folder.run(&[
        "reproduce",
        "clustering",
        "--quick",
        "--steps",
        "2",
        "--data",
        ".",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("14/14  "), "{}", run.stderr);
    for name in [
        "prod",
        "stable-2",
        "stable-6",
        "logltn",
        "logltn-lse",
        "logltn-max",
        "logltn-sum",
    ] {
        let row = (run.stdout.lines()).find(|line| line.split_whitespace().next() == Some(name));
        let row: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
        assert_eq!(row.get(4), Some(&"2"), "two runs of {name}: {}", run.stdout);
    }
    let place = folder.path().join("runs/reproduce-clustering-quick");
    assert!(run.stdout.contains("runs/reproduce-clustering-quick"));
    assert!(place.join("report.html").exists() && place.join("assignments.png").exists());
    assert!(!folder.path().join("runs/reproduce-clustering").exists());
}

#[test]
fn quick_mnist_add_takes_the_smaller_data_unless_told_otherwise() {
    let folder = Folder::new(&[]);
    // CI builds outside of the clone, from where the program does not find what the repository ships.
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
    let quick = [
        "reproduce",
        "mnist-add",
        "--quick",
        "--json",
        "--data",
        data,
    ];
    let small = [
        "--samples",
        "40",
        "--epochs",
        "1",
        "--configs",
        "logltn,stable-2",
    ];
    let run = folder.run(&[&quick[..], &small].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("4/4  "), "{}", run.stderr);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON alone");
    assert_eq!(json["task"], "mnist-add");
    for (cell, name) in [(0, "stable-2"), (1, "logltn")] {
        let cell = &json["cells"][cell];
        assert_eq!(
            (&cell["config"], &cell["samples"]),
            (&name.into(), &40.into())
        );
        assert_eq!(cell["runs"].as_array().map(Vec::len), Some(2));
    }
    let place = folder.path().join("runs/reproduce-mnist-add-quick");
    assert!(place.join("curves-40.png").exists());
}

#[test]
fn pascal_part_on_a_few_made_up_pictures() {
    let folder = Folder::new(&[]);
    let run = folder.run(&[
        "reproduce",
        "pascal-part",
        "--data",
        ".",
        "--pictures",
        "20",
        "--steps",
        "3",
        "--runs",
        "1",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("data: SIMULATED features of made-up pictures"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("4/4  "), "{}", run.stderr);
    for shown in [
        "SIMULATED features: mereological violations",
        "10708.2 ± 1455.9",
        "stable-6",
    ] {
        assert!(run.stdout.contains(shown), "{}", run.stdout);
    }
    let table = folder.path().join("runs/reproduce-pascal-part");
    for file in [
        "report.html",
        "table.md",
        "table.csv",
        "table.json",
        "curves.png",
    ] {
        assert!(table.join(file).exists(), "{file}");
    }
}

#[test]
fn a_graph_of_ones_own_with_rules_of_ones_own() {
    // Twenty families of three generations; a grandparent of each fifth is asked for.
    let (mut train, mut test) = (String::new(), String::new());
    for f in 0..20 {
        train += &format!("a{f}\tparent\tb{f}\nb{f}\tparent\tc{f}\n");
        let old = format!("a{f}\tgrandparent\tc{f}\n");
        if f % 5 == 0 { &mut test } else { &mut train }.push_str(&old);
    }
    let rules = "axiom old (weight 0.9):\n    \
        forall x, z, y: Entity where train(x, parent, z) and train(z, parent, y). linked(x, grandparent, y)\n";
    let folder = Folder::new(&[
        ("kg/family/train.txt", train.as_bytes()),
        ("kg/family/valid.txt", test.as_bytes()),
        ("kg/family/test.txt", test.as_bytes()),
        ("rules.ltn", rules.as_bytes()),
    ]);
    let graph = [
        "reproduce",
        "knowledge-graph",
        "--graph",
        "family",
        "--data",
        ".",
    ];
    let short = ["--epochs", "4", "--rules", "rules.ltn"];
    let first = folder.run(&[&graph[..], &short, &["--configs", "rules", "--seeds", "1"]].concat());
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(
        first.stdout.contains("real: Family in ./kg/family"),
        "{}",
        first.stdout
    );
    assert!(first.stdout.contains("RNNLogic"), "{}", first.stdout);
    let second = folder.run(&[&graph[..], &short, &["--seeds", "1", "--json"]].concat());
    assert_eq!(second.status, 0, "{}", second.stderr);
    assert!(
        second.stderr.contains("1 of 3 runs were done before"),
        "{}",
        second.stderr
    );
    let json: serde_json::Value = serde_json::from_str(&second.stdout).expect("JSON alone");
    let cell = |config: &str, metric: &str| {
        let cells = json["cells"].as_array().expect("cells").iter();
        let mut own = cells.filter(|c| c["config"] == config && c["metric"] == metric);
        own.next().expect("a cell")["mean"]
            .as_f64()
            .expect("a figure")
    };
    assert_eq!(cell("rules", "mrr"), 1.0);
    assert!(
        cell("both", "hits10") > cell("embeddings", "hits10"),
        "{json}"
    );
    assert!(
        json["sources"][0]
            .as_str()
            .is_some_and(|s| s.contains("wizwand")),
        "{json}"
    );
    let place = folder.path().join("runs/reproduce-knowledge-graph-family");
    assert!(place.join("table.csv").exists() && place.join("curves.png").exists());
    // Embeddings that must agree with the rules, for which the family has to be asked.
    let axioms = ["--seeds", "1", "--configs", "axioms"];
    let axioms = folder.run(&[&graph[..], &short, &axioms].concat());
    assert_eq!(axioms.status, 0, "{}", axioms.stderr);
    assert!(
        axioms.stdout.contains("ComplEx, rules as axioms") || axioms.stdout.contains("\n  axioms "),
        "{}",
        axioms.stdout
    );
    // Other rules are another table.
    std::fs::write(folder.path().join("rules.ltn"), rules.replace("0.9", "0.8")).expect("a file");
    let other = folder.run(&[&graph[..], &short, &["--seeds", "1"]].concat());
    assert_eq!(other.status, 2, "{}", other.stderr);
    assert!(other.stderr.contains("`rules` was"), "{}", other.stderr);
    // Rules that are unsure conclude nothing that could be an axiom, which is said before the first run.
    std::fs::write(folder.path().join("rules.ltn"), rules.replace("0.9", "0.2")).expect("a file");
    let asked = ["--configs", "axioms,both", "--out", "unsure"];
    let unsure = folder.run(&[&graph[..], &short, &asked].concat());
    assert_eq!(unsure.status, 2, "{}", unsure.stderr);
    assert!(unsure.stderr.contains("--configs"), "{}", unsure.stderr);
}

#[test]
fn a_made_up_graph_of_each_small_kind_runs_without_data() {
    let folder = Folder::new(&[]);
    for graph in ["umls", "kinship"] {
        let run = folder.run(&[
            "reproduce",
            "knowledge-graph",
            "--graph",
            graph,
            "--runs",
            "1",
            "--epochs",
            "1",
            "--out",
            graph,
        ]);
        assert_eq!(run.status, 0, "{graph}: {}", run.stderr);
        assert!(run.stdout.contains("STAND-IN"), "{}", run.stdout);
    }
}
