//! Ensembles; `logltn identify` itself is in `cases/identify.case`.

use crate::common::Folder;

const THEORY: &str = "\
sort Image
sort Digit = 0..4
table sums(x: Image, y: Image, n: Int)
predicate digit(Image, Digit)
axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
";

/// Five images that show 0 to 4, as one-hot features, and rsbench's sums of MNAdd-Half.
fn half() -> Folder {
    let manifest = "theory = \"t.ltn\"\n[sorts.Image]\nfeatures = \"images.csv\"\nlabels = { file = \"labels.csv\" }\n[tables]\nsums = { rows = \"sums.csv\" }\n\
         [predicates.digit]\nnetwork = { mlp = [16] }\noutput = \"softmax\"\n[train]\nsteps = 300\nlearning_rate = 0.02\n";
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", manifest.as_bytes()),
        (
            "images.csv",
            b"a,b,c,d,e\n1,0,0,0,0\n0,1,0,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,1\n",
        ),
        ("labels.csv", b"digit\n0\n1\n2\n3\n4\n"),
        ("sums.csv", b"x,y,n\n0,0,0\n0,1,1\n2,3,5\n2,4,6\n"),
    ])
}

#[test]
fn an_ensemble_disagrees_where_the_axioms_leave_room() {
    let folder = half();
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
    // Each member has learnt one of the maps, which is also said of all of them at once.
    let after = folder.json(&["identify", "m.toml", "--after", "run"]);
    let each = after["after"]["members"].as_array().expect("members");
    assert_eq!(each.len(), 3, "{after}");
    assert!(each.iter().all(|m| m["allowed"] == true), "{after}");
    let text = (folder.ok(&["identify", "m.toml", "--after", "run"])).stdout;
    assert!(
        text.contains("member 3 has learnt one of these") || text.contains("member 3 predicts"),
        "{text}"
    );
    assert!(!text.contains("breaks axioms"), "{text}");
    for member in ["run/1", "run/2", "run/3"] {
        let after = folder.json(&["identify", "m.toml", "--after", member]);
        assert_eq!(after["after"]["allowed"], true, "{after}");
    }
    assert!(folder.has("run/1/pictures/digit-concepts.svg"));
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
