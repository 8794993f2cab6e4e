//! `logltn identify`, the line in `check`, and ensembles.

use crate::common::Folder;

const THEORY: &str = "\
sort Image
sort Digit = 0..4
table sums(x: Image, y: Image, n: Int)
predicate digit(Image, Digit)
axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
";

/// Five images that show 0 to 4, as one-hot features, and rsbench's sums of MNAdd-Half.
fn half(labels: &str) -> Folder {
    let manifest = format!(
        "theory = \"t.ltn\"\n[sorts.Image]\nfeatures = \"images.csv\"\n{labels}\n[tables]\nsums = {{ rows = \"sums.csv\" }}\n\
         [predicates.digit]\nnetwork = {{ mlp = [16] }}\noutput = \"softmax\"\n[train]\nsteps = 300\nlearning_rate = 0.02\n"
    );
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", manifest.as_bytes()),
        (
            "images.csv",
            b"a,b,c,d,e\n1,0,0,0,0\n0,1,0,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,1\n",
        ),
        ("labels.csv", b"digit\n0\n1\n2\n3\n4\n"),
        ("sums.csv", b"x,y,n\n0,0,0\n0,1,1\n2,3,5\n2,4,6\n"),
        ("support.csv", b"x,y\n0,0\n0,1\n2,3\n2,4\n"),
    ])
}

const LABELS: &str = "labels = { file = \"labels.csv\" }";

#[test]
fn half_has_three_maps_and_one_label_is_enough() {
    let folder = half(LABELS);
    let found = folder.json(&["identify", "m.toml"]);
    let expected = serde_json::json!({
        "predicate": "digit", "classes": [0, 1, 2, 3, 4], "support": "labels", "maps": "3", "bijective": "1",
        "fixed": [0, 1],
        "examples": [{"0": 0, "1": 1, "2": 3, "3": 2, "4": 3}, {"0": 0, "1": 1, "2": 4, "3": 1, "4": 2}],
        "labels": [{"class": 2, "maps": "1"}], "left_out": [], "contradicted": 0,
    });
    assert_eq!(found, expected);
    let text = folder.ok(&["identify", "m.toml", "--list", "1"]).stdout;
    for part in [
        "cannot be learnt from this supervision alone: 3 maps",
        "2 → 3, 3 → 2, 4 → 3",
        "examples of class 2",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("3 → 1"), "{text}");
    // The same from a file of the true classes, and no more than that without either.
    let folder = half("");
    let from_file = folder.json(&["identify", "m.toml", "--support", "addition=support.csv"]);
    assert_eq!(
        (&from_file["maps"], &from_file["support"]),
        (&"3".into(), &"file".into())
    );
    let optimistic = folder.json(&["identify", "m.toml"]);
    assert_eq!(optimistic["support"], "satisfying");
    assert_eq!(optimistic["maps"], "1");
}

#[test]
fn labels_that_break_a_row_are_counted_and_left_out() {
    let folder = half(LABELS);
    folder.write("sums.csv", b"x,y,n\n0,0,0\n0,1,1\n2,3,5\n2,4,6\n2,4,1\n");
    let found = folder.json(&["identify", "m.toml"]);
    assert_eq!(
        (&found["maps"], &found["contradicted"]),
        (&"3".into(), &1.into())
    );
    // A third image that nobody adds up is free.
    folder.write("sums.csv", b"x,y,n\n0,0,0\n");
    assert_eq!(folder.json(&["identify", "m.toml"])["maps"], "625");
}

#[test]
fn what_does_not_fit_is_said() {
    let folder = half(LABELS);
    folder.write("wrong.csv", b"x,y\n0,7\n");
    folder.write("other.csv", b"x,z\n0,1\n");
    folder.write("less.csv", b"x\n0\n");
    for (arguments, expected) in [
        (["--predicate", "digits"], "did you mean `digit`?"),
        (
            ["--support", "addition=wrong.csv"],
            "expected a class of `digit`, found `7`",
        ),
        (
            ["--support", "addition=other.csv"],
            "column `z` is not a variable of axiom `addition`",
        ),
        (
            ["--support", "addition=less.csv"],
            "asks about the class of an individual that no column gives",
        ),
        (
            ["--support", "additions=support.csv"],
            "there is no axiom `additions`",
        ),
        (["--support", "addition"], "expected AXIOM=FILE"),
    ] {
        let run = folder
            .run(&["identify", "m.toml", arguments[0], arguments[1]])
            .ends(2);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
}

#[test]
fn check_says_in_a_line_that_concepts_are_not_fixed() {
    let folder = half(LABELS);
    let text = folder.ok(&["check", "m.toml"]).stdout;
    let said = "the axioms do not fix the classes of `digit`: 3 maps of them satisfy all axioms";
    assert!(
        text.contains(said) && text.contains("logltn identify m.toml"),
        "{text}"
    );
    assert_eq!(
        folder.json(&["check", "m.toml"])["not_fixed"][0]["maps"],
        "3"
    );
    // One that is fixed is no news.
    folder.write("sums.csv", b"x,y,n\n0,0,0\n1,1,2\n2,2,4\n3,3,6\n4,4,8\n");
    assert!(
        !folder
            .ok(&["check", "m.toml"])
            .stdout
            .contains("do not fix")
    );
}

#[test]
fn an_ensemble_disagrees_where_the_axioms_leave_room() {
    let folder = half(LABELS);
    folder.ok(&[
        "train",
        "m.toml",
        "--out",
        "run",
        "--ensemble",
        "3",
        "--diversity",
        "0.5",
    ]);
    let said = folder.json(&["predict", "m.toml", "digit", "--run", "run"]);
    let disagreement = |image: usize| {
        said["rows"][image]["disagreement"]
            .as_f64()
            .expect("a number")
    };
    // 0 and 1 are fixed.
    assert!(disagreement(0) < 0.1 && disagreement(1) < 0.1, "{said}");
    assert!((2..5).any(|image| disagreement(image) > 0.2), "{said}");
    let csv = folder
        .ok(&["predict", "m.toml", "digit", "--run", "run"])
        .stdout;
    assert!(
        csv.starts_with("a1,prediction,truth,disagreement\n"),
        "{csv}"
    );
    // Each member has learnt one of the maps.
    for member in ["run/1", "run/2", "run/3"] {
        let after = folder.json(&["identify", "m.toml", "--after", member]);
        assert_eq!(after["after"]["allowed"], true, "{after}");
    }
    assert!(folder.has("run/1/pictures/digit-concepts.png"));
    // A report names the shortcut in its first words, where there is one.
    for member in ["run/1", "run/2", "run/3"] {
        let map = folder.json(&["identify", "m.toml", "--after", member])["after"].clone();
        let page = folder.read(&format!("{member}/report.html"));
        let shortcut = "The classes of digit are mixed up: a shortcut that no axiom notices: 2 → ";
        let right = map["map"]["2"] == 2;
        assert_eq!(page.contains(shortcut), !right, "{member}: {map}");
    }
    // The same command again finds the folder taken; going on finds nothing to do.
    folder
        .run(&["train", "m.toml", "--out", "run", "--ensemble", "3"])
        .ends(2);
    folder.ok(&[
        "train",
        "m.toml",
        "--out",
        "run",
        "--ensemble",
        "3",
        "--diversity",
        "0.5",
        "--resume",
    ]);
}

#[test]
fn metrics_see_shortcuts() {
    let folder = half(LABELS);
    let metrics = "\n[evaluate]\nmetrics = [\n\
        { metric = \"accuracy\", predicate = \"digit\", labels = \"Image\" }, { metric = \"matched_accuracy\", predicate = \"digit\", labels = \"Image\" },\n\
        { metric = \"collapse\", predicate = \"digit\", labels = \"Image\" }, { metric = \"calibration_error\", predicate = \"digit\", labels = \"Image\" } ]\n";
    let numbers = "0,9,0,0,0\n9,0,0,0,0\n0,0,9,0,0\n0,0,9,0,0\n0,0,9,0,0\n";
    folder.write("logits.csv", format!("a,b,c,d,e\n{numbers}").as_bytes());
    folder.change(
        "m.toml",
        "network = { mlp = [16] }",
        "logits = \"logits.csv\"",
    );
    let text = folder.read("m.toml") + metrics;
    folder.write("m.toml", text.as_bytes());
    let found = folder.json(&["eval", "m.toml"]);
    let value = |at: usize| found["metrics"][at]["value"].as_f64().expect("a number");
    assert_eq!([value(0), value(1), value(2)], [0.2, 0.6, 2.0], "{found}");
    // It is sure of everything, and right in one case of five.
    assert!((value(3) - 0.8).abs() < 0.001, "{found}");
}

#[test]
fn entropy_keeps_classes_in_use() {
    let folder = half(LABELS);
    folder.write("t.ltn", b"sort Image\nsort Digit = 0..4\npredicate digit(Image, Digit)\naxiom any: forall x: Image. exists d: Digit where d < 4. digit(x, d)\n");
    folder.change("m.toml", "sums = { rows = \"sums.csv\" }", "");
    folder.change("m.toml", "steps = 300", "steps = 300\nentropy = 1.0");
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let said = folder.json(&["predict", "m.toml", "digit", "--run", "run"]);
    let classes: std::collections::BTreeSet<String> = (0..5)
        .map(|i| said["rows"][i]["prediction"].to_string())
        .collect();
    assert!(classes.len() >= 4, "{said}");
}
