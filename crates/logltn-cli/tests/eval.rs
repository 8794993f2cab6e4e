//! `logltn eval`: every semantics, gradients against differences, numbers without a header. The rest is in `cases/eval.case`.

use crate::common::{Run, project};
use serde_json::Value;

fn json(run: &Run) -> Value {
    run.quiet();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", run.stdout))
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

/// Numbers in other formats than CSV have no header: the columns go by the individuals.
#[test]
fn numbers_without_a_header() {
    let folder = project("sound");
    let mut npy = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }";
    npy.extend(format!("{header:<69}\n").bytes());
    for logit in [2.0, -1.0, 0.0, 0.0, -0.5, 1.0_f64] {
        npy.extend(logit.to_le_bytes());
    }
    let csv = json(&folder.run(&["eval", "--json", "m.toml"]));
    let manifest = folder.read("m.toml");
    folder.write(
        "m.toml",
        manifest.replace("type.csv", "type.npy").as_bytes(),
    );
    folder.write("type.npy", &npy);
    let run = folder.run(&["eval", "--json", "m.toml", "--gradients", "g"]);
    assert_eq!(json(&run), csv);
    let gradient = folder.read("g/type.csv");
    assert!(gradient.starts_with("cat,dog\n"), "{gradient}");
}
