//! The table of docs/choosing.md: what examples learn with which semantics and α, five seeds each.
//!
//! ```sh
//! cargo run --release -p logltn-examples --example choosing          # `LOGLTN_DATA` names the folder of `classics/`
//! ```
//!
//! It runs on all cores and prints the table as Markdown.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use logltn::{Diagnostics, Semantics};
use logltn_examples::{Sources, example};
use logltn_learn::{Curve, Schedule};
use logltn_train::project::Project;
use logltn_train::train::{TrainOptions, Trainer};

const SEEDS: u64 = 5;

/// What is tried: a title, a semantics, a constant α instead of the schedule from 1 to 4.
const VARIANTS: [(&str, &str, Option<f64>); 10] = [
    ("`logltn` (default: α from 1 to 4)", "logltn", None),
    ("`logltn`, α = 1", "logltn", Some(1.0)),
    ("`logltn`, α = 4", "logltn", Some(4.0)),
    ("`logltn`, α = 10", "logltn", Some(10.0)),
    ("`logltn-lse`, α = 1", "logltn-lse", Some(1.0)),
    ("`logltn-max`", "logltn-max", None),
    ("`logltn-prob`", "logltn-prob", None),
    ("`stable`", "stable", None),
    ("`prod`", "prod", None),
    ("`lukasiewicz`", "lukasiewicz", None),
];

/// An example, its metric, and how many steps are enough to tell.
struct Task {
    title: &'static str,
    example: &'static str,
    metric: &'static str,
    steps: Option<u64>,
    /// Another theory and manifest for the same data.
    instead: Option<(&'static [&'static str], &'static str)>,
}

const TASKS: [Task; 7] = [
    Task {
        title: "crabs, 1 − Hamming",
        example: "crabs",
        metric: "1 - Hamming loss",
        // Where the one that learns fastest has just learnt it.
        steps: Some(150),
        instead: None,
    },
    Task {
        title: "clustering, ARI",
        example: "clustering",
        metric: "adjusted_rand_index(C)",
        steps: None,
        instead: None,
    },
    Task {
        title: "ancestors, F1",
        example: "ancestors",
        metric: "f1(ancestor)",
        steps: None,
        instead: None,
    },
    Task {
        title: "the same with parents in a guard, F1",
        example: "ancestors",
        metric: "f1(ancestor)",
        steps: None,
        instead: Some((&[HORN], HORN_MANIFEST)),
    },
    Task {
        title: "and nobody an ancestor unless told, F1",
        example: "ancestors",
        metric: "f1(ancestor)",
        steps: None,
        instead: Some((&[HORN, CLOSED], HORN_MANIFEST)),
    },
    Task {
        title: "MNIST addition, sums",
        example: "mnist-add",
        metric: "sums",
        steps: Some(188),
        instead: None,
    },
    Task {
        title: "Sudoku, digits",
        example: "sudoku",
        metric: "digits",
        steps: Some(150),
        instead: None,
    },
];

const HORN: &str = "
sort Person
table parents(x: Person, y: Person)
predicate ancestor(Person, Person)
axiom first:   forall (x, y) in parents. ancestor(x, y)
axiom further: forall x, y, z: Person where parents(x, y). ancestor(y, z) -> ancestor(x, z)
axiom only:    forall x, y: Person where not parents(x, y).
                   ancestor(x, y) -> (exists z: Person where parents(z, y). ancestor(x, z))
";

/// What holds unless the rules say otherwise.
const CLOSED: &str = "axiom closed (weight 0.3): forall x, y: Person. not ancestor(x, y)\n";

const HORN_MANIFEST: &str = r#"
theory = "horn.ltn"
[sorts.Person]
individuals = "people.txt"
[tables]
parents = { rows = "parents.csv" }
[predicates.ancestor]
args = ["x", "y"]
learnable = true
[schedule]
p = 6
p_forall = 5
[train]
steps = 1000
learning_rate = 0.05
[evaluate]
metrics = [ { metric = "f1", predicate = "ancestor", rows = "ancestors.csv" } ]
"#;

fn main() -> Result<(), Diagnostics> {
    let folder = tempfile::tempdir().expect("a folder for the data");
    let mut projects = Vec::new();
    for (i, task) in TASKS.iter().enumerate() {
        let own = folder.path().join(i.to_string());
        let written = example(task.example)?.write(&Sources::default(), &own)?;
        eprintln!("{}: data: {}", task.title, written.data);
        let manifest = match task.instead {
            None => written.manifest,
            Some((theory, manifest)) => {
                let theory = theory.concat();
                std::fs::write(own.join("horn.ltn"), theory).expect("a theory can be written");
                let path = own.join("horn.toml");
                std::fs::write(&path, manifest).expect("a manifest can be written");
                path
            }
        };
        projects.push(load(&manifest)?);
    }
    let jobs: Vec<(usize, usize, u64)> = (0..TASKS.len())
        .flat_map(|t| (0..VARIANTS.len()).map(move |v| (t, v)))
        .flat_map(|(t, v)| (0..SEEDS).map(move |seed| (t, v, seed)))
        .collect();
    let found: Mutex<BTreeMap<(usize, usize), Vec<f64>>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a thread");
        while let Some(&(t, v, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let value = pool.install(|| learnt(&projects[t], &TASKS[t], VARIANTS[v], seed));
            // What stops is as good as what never began.
            let value = value.unwrap_or(0.0);
            eprintln!(
                "{}, {}, seed {seed}: {value:.3}",
                TASKS[t].title, VARIANTS[v].0
            );
            found
                .lock()
                .expect("nobody panics")
                .entry((t, v))
                .or_default()
                .push(value);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let found = found.into_inner().expect("nobody panics");
    let titles: Vec<&str> = TASKS.iter().map(|task| task.title).collect();
    println!(
        "| | {} |\n|---|{}",
        titles.join(" | "),
        "---|".repeat(TASKS.len())
    );
    for (v, (title, ..)) in VARIANTS.iter().enumerate() {
        let cell = |t: usize| {
            let values = found.get(&(t, v)).map_or(&[][..], Vec::as_slice);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let worst = values.iter().copied().fold(f64::INFINITY, f64::min);
            format!("{mean:.2} ({worst:.2})")
        };
        let cells: Vec<String> = (0..TASKS.len()).map(cell).collect();
        println!("| {title} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn load(manifest: &Path) -> Result<Project, Diagnostics> {
    let mut found = Diagnostics::new();
    Project::load(manifest, &mut found).ok_or(found)
}

fn learnt(
    project: &Project,
    task: &Task,
    (_, semantics, alpha): (&str, &str, Option<f64>),
    seed: u64,
) -> Result<f64, Diagnostics> {
    let mut project = project.clone();
    project.manifest.semantics = Semantics::named(semantics).expect("the table names semantics");
    let line = Schedule {
        curve: Curve::Linear { from: 1.0, to: 4.0 },
        ..Schedule::from(1.0)
    };
    project.manifest.schedule.alpha = Some(alpha.map_or(line, Schedule::from));
    let options = TrainOptions {
        seed: Some(seed),
        steps: task.steps,
        semantics: None,
    };
    let mut trainer = Trainer::new(project, &options)?;
    while !trainer.is_done() {
        trainer.step()?;
    }
    let metrics = trainer.measure()?;
    let value = metrics.iter().find(|(name, _)| name == task.metric);
    Ok(value.map_or(f64::NAN, |(_, value)| *value))
}
