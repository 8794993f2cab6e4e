//! With the same weights and LTN's operators (`stable`), our truths are LTNtorch's, to the precision of its float32.
//!
//! `ltntorch/make.py` says how the figures and weights were made, by LTNtorch 1.0.2 on the stand-in data.

use logltn::{Diagnostics, Semantics};
use logltn_examples::{Sources, example};
use logltn_train::project::Project;
use logltn_train::train::evaluate_run;

/// Networks and LTNtorch's logic have 24 bits; ours above the networks has more.
const TOLERANCE: f64 = 1e-6;

fn agrees(name: &str, weights: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources {
        stand_ins: true,
        ..Sources::default()
    };
    let written = example(name)
        .unwrap()
        .write(&sources, folder.path())
        .unwrap();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("weights.safetensors"), weights).unwrap();
    let mut found = Diagnostics::new();
    let project = Project::load(&written.manifest, &mut found).unwrap_or_else(|| panic!("{found}"));
    let stable = Semantics::named("stable").unwrap();
    let last = project.manifest.schedule.last(true);
    let (ours, _) = evaluate_run(&project, &run, &stable, &last, false).unwrap();
    let mut compared = 0;
    for line in include_str!("ltntorch/values.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] != name {
            continue;
        }
        let value = match cells[1] {
            "" => ours.sat,
            axiom => ours.truths[ours.axioms.iter().position(|a| a.name == axiom).unwrap()],
        };
        let theirs: f64 = cells[2].parse().unwrap();
        let difference = (value - theirs).abs();
        assert!(
            difference < TOLERANCE,
            "{line}: {value}, off by {difference:e}"
        );
        compared += 1;
    }
    // All axioms and the total; facts of ancestors, which are a family, count in the total only.
    let named = ours.axioms.iter().filter(|a| !a.name.contains(", "));
    assert_eq!(compared, named.count() + 1);
}

#[test]
fn binary() {
    agrees("binary", include_bytes!("ltntorch/binary.safetensors"));
}

#[test]
fn iris() {
    agrees("iris", include_bytes!("ltntorch/iris.safetensors"));
}

#[test]
fn crabs() {
    agrees("crabs", include_bytes!("ltntorch/crabs.safetensors"));
}

#[test]
fn real_estate() {
    agrees(
        "real-estate",
        include_bytes!("ltntorch/real-estate.safetensors"),
    );
}

#[test]
fn clustering() {
    agrees(
        "clustering",
        include_bytes!("ltntorch/clustering.safetensors"),
    );
}

#[test]
fn smokes() {
    agrees("smokes", include_bytes!("ltntorch/smokes.safetensors"));
}

#[test]
fn ancestors() {
    agrees(
        "ancestors",
        include_bytes!("ltntorch/ancestors.safetensors"),
    );
}
