//! The figures of docs/choosing.md on Horn rules: is it the objective or the search that misses the ancestors?
//!
//! ```sh
//! cargo run --release -p logltn-examples --example horn
//! ```
//!
//! Parent–ancestor as LTN writes it, with a logit of its own for each pair instead of networks, so that nothing but the
//! objective decides: the loss of four worlds, and where training ends that begins in the true one, or undecided.

use std::path::Path;

use logltn::{Diagnostics, Semantics};
use logltn_examples::{Sources, example};
use logltn_learn::Schedule;
use logltn_train::project::Project;
use logltn_train::train::{TrainOptions, Trainer};

/// A logit that is as good as certain.
const SURE: f32 = 8.0;

const MANIFEST: &str = r#"
theory = "ancestors.ltn"
[sorts.Person]
individuals = "people.txt"
[tables]
parents = { rows = "parents.csv" }
[predicates.parent]
learnable = true
[predicates.ancestor]
args = ["x", "y"]
learnable = true
[train]
steps = 20000
learning_rate = 0.01
[evaluate]
metrics = [ { metric = "f1", predicate = "ancestor", rows = "ancestors.csv" } ]
"#;

/// Semantics and α.
const MEANT: [(&str, f64); 3] = [("logltn", 1.0), ("logltn", 4.0), ("logltn-prob", 4.0)];

fn main() -> Result<(), Diagnostics> {
    let folder = tempfile::tempdir().expect("a folder for the data");
    example("ancestors")?.write(&Sources::default(), folder.path())?;
    let manifest = folder.path().join("horn.toml");
    std::fs::write(&manifest, MANIFEST).expect("a manifest can be written");
    let mut found = Diagnostics::new();
    let project = Project::load(&manifest, &mut found).ok_or(found)?;
    let parents = pairs(folder.path(), "parents.csv", None);
    let ancestors = pairs(folder.path(), "ancestors.csv", Some("1"));
    let people = project.theory().sort("Person");
    let people = people.map_or(0, |sort| project.data.size(sort));
    let everybody: Vec<usize> = (0..people * people).collect();
    let worlds = [
        ("the truth", &ancestors),
        ("parents only", &parents),
        ("nobody", &Vec::new()),
        ("everybody", &everybody),
    ];
    for (semantics, alpha) in MEANT {
        println!("{semantics}, alpha {alpha}");
        let trainer = || {
            let mut project = project.clone();
            project.manifest.semantics = Semantics::named(semantics).expect("it has a name");
            project.manifest.schedule.alpha = Some(Schedule::constant(alpha));
            Trainer::new(project, &TrainOptions::default())
        };
        for (name, ancestors) in &worlds {
            let mut trainer = trainer()?;
            put(&mut trainer, &parents, ancestors)?;
            println!("  loss {:.5}  {name}", loss(&mut trainer)?);
        }
        for begins_true in [true, false] {
            let mut trainer = trainer()?;
            if begins_true {
                put(&mut trainer, &parents, &ancestors)?;
            }
            while !trainer.is_done() {
                trainer.step()?;
            }
            let f1 = trainer.measure()?.first().map_or(f64::NAN, |(_, f1)| *f1);
            let from = if begins_true {
                "the truth"
            } else {
                "undecided"
            };
            let loss = loss(&mut trainer)?;
            println!("  loss {loss:.5}  trained from {from}: F1 {f1:.2}");
        }
    }
    Ok(())
}

/// The pairs of people in a file, as places in a square; those alone that have a mark in the third column, if one is asked.
fn pairs(folder: &Path, file: &str, mark: Option<&str>) -> Vec<usize> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it was written");
    let (people, rows) = (read("people.txt"), read(file));
    let people: Vec<&str> = people.lines().collect();
    let place = |name: &str| people.iter().position(|p| *p == name).expect("a person");
    let rows = rows
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect::<Vec<_>>());
    rows.filter(|row| mark.is_none() || row.get(2).copied() == mark)
        .map(|row| place(row[0]) * people.len() + place(row[1]))
        .collect()
}

/// Makes these pairs true and all others false.
fn put(trainer: &mut Trainer, parents: &[usize], ancestors: &[usize]) -> Result<(), Diagnostics> {
    let mut weights = trainer.weights();
    for (name, _, logits) in &mut weights.tensors {
        let pairs = if name == "parent" { parents } else { ancestors };
        logits.fill(-SURE);
        pairs.iter().for_each(|&pair| logits[pair] = SURE);
    }
    trainer.restore_weights(&weights)
}

fn loss(trainer: &mut Trainer) -> Result<f64, Diagnostics> {
    Ok(trainer
        .evaluate_whole()?
        .map_or(f64::NAN, |whole| whole.loss))
}
