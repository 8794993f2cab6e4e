//! `logltn eval --run` on other data than those that a run was trained on.

use crate::common::Folder;

/// Points of which those to the right are `right`, with a file of rows.
fn points(seed: u64, count: u64) -> (String, String) {
    let (mut points, mut rows) = ("a,b\n".to_string(), "x,k\n".to_string());
    for i in 0..count {
        let mix = |n: u64| (i * 2_654_435_761 + seed * 97 + n * 40_503) % 1000;
        let (a, b) = (mix(1) as f64 / 500.0 - 1.0, mix(2) as f64 / 500.0 - 1.0);
        points += &format!("{a},{b}\n");
        rows += &format!("{i},{}\n", if a > 0.0 { "right" } else { "left" });
    }
    (points, rows)
}

const MANIFEST: &str = "theory = 't.ltn'\n[sorts.P]\nfeatures = 'points.csv'\n[sorts.E]\nindividuals = ['e', 'f']\n\
    learnable = 3\n[constants.somewhere]\nlearnable = 2\n[tables]\nknown = { rows = 'rows.csv', batch = 10 }\n\
    [predicates.c]\nargs = ['x', 'k']\nnetwork = { mlp = [8], undecided = true }\noutput = 'softmax'\n\
    [predicates.likes]\nnetwork = { mlp = [4] }\noutput = 'sigmoid'\n\
    [train]\nsteps = 150\nlearning_rate = 0.03\n[evaluate]\nmetrics = [\n\
    { metric = 'accuracy', predicate = 'c', rows = 'rows.csv' }, { metric = 'row_accuracy', table = 'known' } ]\n";

fn folder() -> Folder {
    let (points, rows) = points(1, 60);
    Folder::new(&[
        (
            "t.ltn",
            b"sort P\nsort E\nsort K = {left, right}\nconstant somewhere: P\ntable known(x: P, k: K)\n\
              predicate c(P, K)\npredicate likes(P, E)\naxiom known: forall (x, k) in known. c(x, k)\n\
              axiom likes: forall x: P. exists u: E. likes(x, u)\naxiom not_all: exists u: E. not likes(somewhere, u)\n",
        ),
        ("points.csv", points.as_bytes()),
        ("rows.csv", rows.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
    ])
}

#[test]
fn metrics_on_more_and_on_fewer_individuals() {
    let folder = folder();
    folder.ok(&["train", "m.toml", "--out", "run"]);
    for count in [7, 300] {
        let (points, rows) = points(5, count);
        folder.write("new.csv", points.as_bytes());
        folder.write("new_rows.csv", rows.as_bytes());
        let manifest = MANIFEST
            .replace("points.csv", "new.csv")
            .replace("rows.csv", "new_rows.csv");
        folder.write("new.toml", manifest.as_bytes());
        let run = folder.ok(&["eval", "new.toml", "--run", "run", "--json"]);
        let document = run.json();
        assert_eq!(document["axioms"][0]["groundings"], count);
        for metric in document["metrics"].as_array().expect("a list") {
            assert!(metric["value"].as_f64() > Some(0.8), "{document}");
        }
    }
}
