//! `logltn eval`: every semantics, gradients against differences. The rest is in `cases/eval.case`.

use crate::common::{Run, project};
use serde_json::Value;

fn json(run: &Run) -> Value {
    run.quiet();
    run.json()
}

#[test]
fn every_semantics() {
    for semantics in logltn::Semantics::NAMES {
        let run = project("sound").run(&["eval", "--json", "m.toml", "--semantics", semantics]);
        let document = json(&run);
        assert_eq!(document["semantics"], semantics);
        assert!(
            document["sat"].as_f64().is_some_and(f64::is_finite),
            "{semantics}"
        );
    }
}

/// d loss / d number by the program's own loss at the numbers next to it.
#[test]
fn gradients_are_differences_of_losses() {
    let folder = project("sound");
    folder.ok(&["eval", "m.toml", "--gradients", "g"]);
    let gradient = folder.read("g/type.csv");
    let gradient: Vec<f64> = (gradient.lines().skip(1).flat_map(|line| line.split(',')))
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    let logits = [2.0, -1.0, 0.0, 0.0, -0.5, 1.0];
    let loss = |logits: &[f64]| {
        let rows: String = (logits
            .chunks(2)
            .map(|row| format!("{},{}\n", row[0], row[1])))
        .collect();
        folder.write("type.csv", format!("cat,dog\n{rows}").as_bytes());
        let document = json(&folder.run(&["eval", "--json", "m.toml"]));
        document["loss"].as_f64().expect("a number")
    };
    for (i, expected) in gradient.iter().enumerate() {
        let moved = |by: f64| {
            let mut logits = logits;
            logits[i] += by;
            loss(&logits)
        };
        let found = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!(
            (found - expected).abs() < 1e-9,
            "{i}: {found} is not {expected}"
        );
    }
}
