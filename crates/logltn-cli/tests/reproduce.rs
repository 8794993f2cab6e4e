//! `logltn reproduce` as users meet it.

use crate::common::Folder;

#[test]
fn configurations_that_do_not_exist_are_refused_with_suggestions() {
    let folder = Folder::new(&[]);
    let run = folder.refuses(&[
        "reproduce",
        "clustering",
        "--configs",
        "logltn-sun,prod,foo",
    ]);
    run.complains("there is no configuration `logltn-sun`");
    run.complains("did you mean `logltn-sum`?");
    run.complains("there is no configuration `foo`");
    assert!(!folder.has("runs"));
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
        folder.refuses(arguments);
    }
}

#[test]
fn a_small_table_and_its_continuation() {
    let folder = Folder::new(&[]);
    let small = ["reproduce", "clustering", "--steps", "3", "--data", "."];
    let first = folder.ok(&[&small[..], &["--configs", "logltn", "--runs", "1"]].concat());
    first.says("STAND-IN");
    first.says("0.71 ± 0.06");
    first.complains("1/1  logltn, run 1: ari");
    let more = ["--configs", "logltn,prod", "--runs", "2", "--json"];
    let second = folder.ok(&[&small[..], &more].concat());
    second.complains("1 of 4 runs were done before");
    let json = second.json();
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(2));
    assert!(folder.has("runs/reproduce-clustering/report.html"));
}

#[test]
fn a_quick_table_has_all_configurations_and_a_folder_of_its_own() {
    let folder = Folder::new(&[]);
    let run = folder.ok(&[
        "reproduce",
        "clustering",
        "--quick",
        "--steps",
        "2",
        "--data",
        ".",
    ]);
    run.complains("14/14  ");
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
    run.says("runs/reproduce-clustering-quick");
    assert!(place.join("report.html").exists() && place.join("assignments.png").exists());
    assert!(!folder.has("runs/reproduce-clustering"));
}

#[test]
fn quick_mnist_add_takes_the_smaller_data_unless_told_otherwise() {
    let folder = Folder::new(&[]);
    // CI builds outside the clone, from where the program does not find what the repository ships.
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
    let run = folder.ok(&[&quick[..], &small].concat());
    run.complains("4/4  ");
    let json = run.json();
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
    let run = folder.ok(&[
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
    run.complains("data: SIMULATED features of made-up pictures");
    run.complains("4/4  ");
    for shown in [
        "SIMULATED features: mereological violations",
        "10708.2 ± 1455.9",
        "stable-6",
    ] {
        run.says(shown);
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
fn stories_that_are_made_up_and_that_are_not() {
    let folder = Folder::new(&[]);
    let short = ["reproduce", "stories", "--runs", "1", "--quick"];
    let run = folder.ok(&[
        &short[..],
        &["--steps", "60", "--configs", "stories", "--json"],
    ]
    .concat());
    run.complains("data: made-up stories");
    let found = run.json();
    let cells = found["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 9, "{found}");
    let right = |steps: usize| cells[steps - 2]["mean"].as_f64().expect("a figure");
    assert!(right(2) > 90.0 && right(10) > 60.0, "{found}");
    // A folder that is named has to have them.
    let empty = folder.refuses(&[&short[..], &["--data", "."]].concat());
    empty.complains("there is no CLUTRR");
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
    let first = folder.ok(&[&graph[..], &short, &["--configs", "rules", "--seeds", "1"]].concat());
    first.says("real: Family in ./kg/family");
    first.says("RNNLogic");
    let second = folder.ok(&[&graph[..], &short, &["--seeds", "1", "--json"]].concat());
    second.complains("1 of 3 runs were done before");
    let json = second.json();
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
    let axioms = folder.ok(&[&graph[..], &short, &axioms].concat());
    assert!(
        axioms.stdout.contains("ComplEx, rules as axioms") || axioms.stdout.contains("\n  axioms "),
        "{}",
        axioms.stdout
    );
    // Other rules are another table.
    std::fs::write(folder.path().join("rules.ltn"), rules.replace("0.9", "0.8")).expect("a file");
    let other = folder.refuses(&[&graph[..], &short, &["--seeds", "1"]].concat());
    other.complains("`rules` was");
    // Rules that are unsure conclude nothing that could be an axiom, which is said before the first run.
    std::fs::write(folder.path().join("rules.ltn"), rules.replace("0.9", "0.2")).expect("a file");
    let asked = ["--configs", "axioms,both", "--out", "unsure"];
    let unsure = folder.refuses(&[&graph[..], &short, &asked].concat());
    unsure.complains("--configs");
}

#[test]
fn a_made_up_graph_of_each_small_kind_runs_without_data() {
    let folder = Folder::new(&[]);
    for graph in ["umls", "kinship"] {
        let run = folder.ok(&[
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
        run.says("STAND-IN");
    }
}
