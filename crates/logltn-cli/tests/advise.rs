//! `logltn advise`: what does best on labels that were held out. And `explain` of tables, whose columns moved the networks.

use crate::common::Folder;
use serde_json::Value;

/// Points on a line in two classes, of which some are labelled, in chains.
fn folder(labels: usize) -> Folder {
    let points: String = (0..60)
        .map(|i| format!("{},{}\n", i % 30, (i * 7) % 11))
        .collect();
    let known: String = (0..labels)
        .map(|i| format!("{i},{}\n", if i % 30 < 15 { "a" } else { "b" }))
        .collect();
    let links: String = (0..30).map(|i| format!("{i},{}\n", i + 30)).collect();
    Folder::new(&[
        (
            "t.ltn",
            b"sort Point\nsort Class = {a, b}\ntable known(x: Point, k: Class)\ntable links(x: Point, y: Point)\n\
              predicate class(Point, Class)\naxiom labels: forall (x, k) in known. class(x, k)\n\
              axiom agree: forall (x, y) in links. exists k: Class. class(x, k) and class(y, k)\n",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"\n[sorts]\nPoint = { features = { file = \"points.csv\", prepare = true } }\n\
              [tables]\nknown = { rows = \"known.csv\" }\nlinks = { rows = \"links.csv\" }\n\
              [predicates.class]\nnetwork = { mlp = [] }\noutput = \"softmax\"\n[train]\nsteps = 30\nlearning_rate = 0.1\n",
        ),
        ("points.csv", format!("place,noise\n{points}").as_bytes()),
        ("known.csv", format!("x,k\n{known}").as_bytes()),
        ("links.csv", format!("x,y\n{links}").as_bytes()),
    ])
}

#[test]
fn the_best_way_on_labels_that_were_held_out() {
    let folder = folder(30);
    let told = folder.json(&["advise", "m.toml", "--seconds", "3", "--seeds", "1"]);
    let trials = told["trials"].as_array().expect("trials");
    assert_eq!(
        (told["learnt"].as_u64(), told["held_out"].as_u64()),
        (Some(24), Some(6))
    );
    assert_eq!(trials[0]["name"], "as the manifest says");
    for part in [
        "semantics = \"stable\"",
        "alpha = 1",
        "begin with the labels",
        "the labels alone",
    ] {
        let tried = |trial: &Value| {
            trial["name"]
                .as_str()
                .is_some_and(|name| name.contains(part))
        };
        assert!(trials.iter().any(tried), "{part}: {told}");
    }
    let value = |trial: &Value| trial["value"].as_f64().expect("a number");
    let best = told["best"].as_u64().expect("a place") as usize;
    assert!(
        trials
            .iter()
            .all(|trial| value(trial) <= value(&trials[best])),
        "{told}"
    );
    // Half of the line is easy.
    assert!(value(&trials[best]) > 0.8, "{told}");
    folder
        .ok(&["advise", "m.toml", "--seconds", "1", "--seeds", "1"])
        .says("6 of 30 labels held out");
    // The lines that it says are lines of a manifest.
    folder.write("t2.ltn", folder.read("t.ltn").as_bytes());
    for trial in trials {
        let lines: Vec<&str> = (trial["manifest"].as_array().expect("lines").iter())
            .map(|line| line.as_str().expect("a line"))
            .collect();
        let (head, rest): (Vec<&str>, Vec<&str>) =
            lines.iter().partition(|line| line.starts_with("semantics"));
        let text = folder.read("m.toml");
        let rest = rest.join("\n");
        let text = match rest.contains("phases") {
            true => text.split("[train]").next().expect("a part").to_string(),
            false => text,
        };
        folder.write(
            "said.toml",
            format!("{}\n{text}\n{rest}\n", head.join("\n")).as_bytes(),
        );
        folder.ok(&["check", "said.toml"]);
    }
    // Labels that come in batches.
    folder.change("m.toml", "known.csv\"", "known.csv\", batch = 8");
    folder.ok(&["advise", "m.toml", "--seconds", "1", "--seeds", "1"]);
    // Where there is nothing to hold out.
    folder.write("known.csv", b"x,k\n0,a\n29,b\n");
    folder
        .refuses(&["advise", "m.toml"])
        .complains("fewer than 10 labels");
    folder.change(
        "t.ltn",
        "axiom labels: forall (x, k) in known. class(x, k)\n",
        "",
    );
    folder
        .refuses(&["advise", "m.toml"])
        .complains("no axiom of the theory gives labels");
}

/// For a linear network the part of a column is its weight times how far it is from the mean: the same slope between any two
/// individuals, and the mean of all parts is 0.
#[test]
fn columns_that_moved_a_linear_network() {
    let folder = folder(30);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let told = folder.json(&[
        "explain", "m.toml", "--run", "run", "--axiom", "labels", "--top", "0",
    ]);
    let worst = told["axioms"][0]["worst"].as_array().expect("bindings");
    assert_eq!(worst.len(), 30);
    for column in ["place", "noise"] {
        // Of those that are said to be `a`: the number in the file, and the part.
        let points: Vec<(f64, f64)> = (worst.iter())
            .map(|one| &one["features"]["x"])
            .filter(|seen| seen["moved"][0]["said"] == "a")
            .map(|seen| {
                let cell = seen["columns"][column].as_str().expect("a cell");
                let parts = seen["moved"][0]["columns"].as_array().expect("parts");
                let part = parts.iter().find(|part| part[0] == column);
                (
                    cell.parse().expect("a number"),
                    part.map_or(0.0, |part| part[1].as_f64().expect("a number")),
                )
            })
            .collect();
        assert!(points.len() > 5, "{told}");
        let (x0, y0) = points[0];
        let far = points
            .iter()
            .max_by(|a, b| (a.0 - x0).abs().total_cmp(&(b.0 - x0).abs()))
            .expect("one");
        let slope = (far.1 - y0) / (far.0 - x0);
        for (x, y) in &points {
            assert!(
                (y0 + slope * (x - x0) - y).abs() < 1e-4,
                "{column}: {points:?}"
            );
        }
    }
    let text = folder.ok(&["explain", "m.toml", "--run", "run", "--axiom", "labels"]);
    text.says("class gives ");
    text.says(": place ");
    text.says("largest effects: ");
    // Without a run there are no networks, and individuals without columns have no effects to show.
    let other = folder.json(&[
        "explain", "m.toml", "--run", "run", "--axiom", "agree", "--top", "1",
    ]);
    assert!(
        other["axioms"][0]["worst"][0]["features"]["y"]["columns"]["noise"].is_string(),
        "{other}"
    );
}
