//! Closed forms as the page on knowledge graphs has them; others are in `cases/closed_forms.case`.

use crate::common::Folder;
use serde_json::Value;

fn metric(document: &Value, name: &str) -> f64 {
    let metrics = document["metrics"].as_array().expect("metrics");
    let found = metrics.iter().find(|m| m["name"] == name);
    found.expect("the metric")["value"]
        .as_f64()
        .expect("a value")
}

/// A block of the page on knowledge graphs that begins with this line.
fn documented(first: &str) -> String {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/knowledge-graphs.md"
    );
    let page = std::fs::read_to_string(page).expect("the page");
    let start = page.find(first).expect("the block");
    let end = page[start..].find("```").expect("its end");
    page[start..start + end].to_string()
}

/// Numbers modulo 24 and what is one, two and five further: every fact follows from few others.
fn around() -> Folder {
    let entity = |i: usize| format!("n{}", i % 24);
    let (mut parts, mut entities) = (vec!["h,r,t\n".to_string(); 3], String::new());
    for i in 0..24 {
        entities += &format!("{}\n", entity(i));
        for (r, step) in [1, 2, 5].into_iter().enumerate() {
            let part = match (i + 7 * r) % 8 {
                0 => 1,
                1 => 2,
                _ => 0,
            };
            parts[part] += &format!("{},plus{step},{}\n", entity(i), entity(i + step));
        }
    }
    Folder::new(&[
        ("complex.ltn", documented("# complex.ltn").as_bytes()),
        ("complex.toml", documented("# complex.toml").as_bytes()),
        ("entities.txt", entities.as_bytes()),
        ("relations.txt", b"plus1\nplus2\nplus5\n"),
        ("train.csv", parts[0].as_bytes()),
        ("valid.csv", parts[1].as_bytes()),
        ("test.csv", parts[2].as_bytes()),
    ])
}

#[test]
fn complex_as_it_is_documented() {
    let folder = around();
    folder.change("complex.toml", "batch = 100", "batch = 20");
    folder.change("complex.toml", "epochs = 50", "epochs = 200");
    folder.ok(&["check", "complex.toml"]);
    folder.ok(&["train", "complex.toml", "--out", "a"]);
    let found = folder.json(&["eval", "complex.toml", "--run", "a"]);
    // Guessing among 24 has .16; each test fact is told by others.
    for name in ["mrr(linked, t)", "mrr(linked_from, h)"] {
        assert!(metric(&found, name) > 0.5, "{found}");
    }
    // A softmax says which of all entities it is.
    let said = folder.json(&["predict", "complex.toml", "linked", "--run", "a"]);
    let rows = said["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 24 * 3);
    // The same seed in sparse steps, which move only what they read: with a softmax over all that is everything.
    folder.change(
        "complex.toml",
        "learning_rate = 0.02",
        "learning_rate = 0.02\noptimizer = 'sparse_adam'",
    );
    folder.change("complex.toml", "batch = 20", "batch = 1000");
    folder.ok(&["train", "complex.toml", "--out", "sparse"]);
    folder.change("complex.toml", "'sparse_adam'", "'adam'");
    folder.ok(&["train", "complex.toml", "--out", "dense"]);
    let of = |run: &str| {
        let found = folder.json(&["eval", "complex.toml", "--run", run]);
        metric(&found, "mrr(linked, t)")
    };
    assert_eq!(of("sparse"), of("dense"));
}

#[test]
fn a_softmax_needs_two_classes() {
    let folder = around();
    folder.write("entities.txt", b"n0\n");
    for part in ["train.csv", "valid.csv", "test.csv"] {
        folder.write(part, b"h,r,t\nn0,plus1,n0\n");
    }
    let run = folder.run(&["check", "complex.toml"]).ends(2);
    assert!(
        run.stderr.contains("`linked` cannot be a softmax"),
        "{}",
        run.stderr
    );
    folder.change(
        "complex.toml",
        "learnable = 32 }     #",
        "learnable = 31 }     #",
    );
    folder.write("entities.txt", b"n0\nn1\n");
    let run = folder.run(&["check", "complex.toml"]).ends(2);
    assert!(run.stderr.contains("`h` is 31 numbers"), "{}", run.stderr);
}
