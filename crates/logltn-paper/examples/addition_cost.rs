//! What a training row of N-digit addition costs, for N from 1 to 15: the logic alone, and the whole step.
//!
//! `cargo run --release -p logltn-paper --example addition_cost -- [FOLDER [STEPS [THREADS]]]` prints a table and writes
//! `addition-cost.png` and `addition-cost.csv` to FOLDER. Theory, network and batches are those of
//! `logltn reproduce multi-add`; images and sums are made up, as times do not depend on them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use logltn::{Code, Diagnostic, Diagnostics, Engine, Parameters, Plan};
use logltn_paper::{addition_batch, addition_manifest, addition_theory};
use logltn_report::{LinesOptions, Series, lines_png};
use logltn_train::project::Project;
use logltn_train::train::{TrainOptions, Trainer};
use tempfile::TempDir;

/// Enough sums that batches differ.
const BATCHES: usize = 20;
const MOST_DIGITS: usize = 15;
/// All numbers of digits take turns, so that other work on the machine disturbs them alike.
const ROUNDS: usize = 10;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or("runs/addition-cost".into()));
    let mut number = |default| {
        arguments
            .next()
            .and_then(|a| a.parse().ok())
            .unwrap_or(default)
    };
    let (steps, threads) = (number(200), number(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let done = match pool {
        Ok(pool) => pool.install(|| all(&folder, steps, threads)),
        Err(error) => Err(Diagnostic::error(Code::NoThreads, error.to_string()).into()),
    };
    if let Err(errors) = done {
        eprintln!("{errors}");
        std::process::exit(1);
    }
}

/// Seconds of all steps, of one number of digits.
#[derive(Default)]
struct Times {
    logic: Vec<f64>,
    step: Vec<f64>,
}

/// Microseconds of a row, fastest and median.
fn per_row(seconds: &mut [f64], rows: usize) -> [f64; 2] {
    seconds.sort_by(f64::total_cmp);
    [seconds[0], seconds[seconds.len() / 2]].map(|s| s * 1e6 / rows as f64)
}

fn all(folder: &Path, steps: usize, threads: usize) -> Result<(), Diagnostics> {
    let failed = |error: std::io::Error| {
        Diagnostic::error(Code::CannotWrite, format!("{}: {error}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    println!("{steps} steps on {threads} thread(s); microseconds per row: fastest (median)");
    println!(" N  rows/step      logic alone         whole step        logic/step");
    let mut csv =
        "digits,rows_per_step,logic_fastest_us,logic_median_us,step_fastest_us,step_median_us\n"
            .to_string();
    let names = ["logic alone", "whole step"];
    let mut series = names.map(|name| Series {
        name: name.into(),
        points: Vec::new(),
    });
    let mut times: [Times; MOST_DIGITS] = Default::default();
    for _ in 0..ROUNDS {
        for (times, digits) in times.iter_mut().zip(1..) {
            measure(digits, steps.div_ceil(ROUNDS), times)?;
        }
    }
    for (times, digits) in times.iter_mut().zip(1..) {
        let rows = addition_batch(digits);
        let logic = per_row(&mut times.logic, rows);
        let step = per_row(&mut times.step, rows);
        println!(
            "{digits:2}  {rows:9}  {:8.2} ({:8.2})  {:8.1} ({:8.1})  {:6.1} %",
            logic[0],
            logic[1],
            step[0],
            step[1],
            100.0 * logic[0] / step[0]
        );
        csv += &format!(
            "{digits},{rows},{},{},{},{}\n",
            logic[0], logic[1], step[0], step[1]
        );
        // The fastest: what else the machine does makes the others slower.
        series[0].points.push((digits as f64, logic[0]));
        series[1].points.push((digits as f64, step[0]));
    }
    std::fs::write(folder.join("addition-cost.csv"), csv).map_err(failed)?;
    let options = LinesOptions {
        title: "Addition of N-digit numbers: cost of a training row, fastest step".into(),
        x_label: "digits of each number, N".into(),
        y_label: "microseconds per row".into(),
        markers: true,
        ..LinesOptions::default()
    };
    lines_png(&series, &options, &folder.join("addition-cost.png"))?;
    // The logic is too little to be seen beside the networks.
    let options = LinesOptions {
        title: "Addition of N-digit numbers: the logic of a training row, fastest step".into(),
        ..options
    };
    lines_png(
        &series[..1],
        &options,
        &folder.join("addition-cost-logic.png"),
    )?;
    Ok(())
}

fn measure(digits: usize, steps: usize, times: &mut Times) -> Result<(), Diagnostics> {
    // The folder must stay until the images are read.
    let (_folder, project) = project(digits)?;
    let rows = addition_batch(digits);
    let count = BATCHES * rows;
    let plan = Plan::new(&project.data, &project.outputs, &project.manifest.semantics)?;
    let table = (project.theory().table("sums")).ok_or_else(|| {
        Diagnostic::error(
            Code::Internal,
            "the theory of addition has no table of sums",
        )
    })?;
    let mut engine = Engine::<f32>::new(plan);
    for step in 0..steps {
        let first = step * rows % count;
        let batch: Vec<u32> = (first..first + rows).map(|r| r as u32).collect();
        let begun = Instant::now();
        engine.set_batch(table, &batch)?;
        let chosen = begun.elapsed();
        for (i, x) in engine.numbers_mut(0).iter_mut().enumerate() {
            *x = (0.7 * i as f32).sin();
        }
        let begun = Instant::now();
        engine.evaluate_with_gradients(&Parameters::default())?;
        (times.logic).push((chosen + begun.elapsed()).as_secs_f64());
    }
    let options = TrainOptions {
        steps: Some(steps as u64),
        ..TrainOptions::default()
    };
    let mut trainer = Trainer::new(project, &options)?;
    while !trainer.is_done() {
        let begun = Instant::now();
        trainer.step()?;
        times.step.push(begun.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Made-up images and sums, in files as the experiment has them.
fn project(digits: usize) -> Result<(TempDir, Project), Diagnostics> {
    let failed = |error: std::io::Error| {
        Diagnostic::error(Code::CannotWrite, format!("a temporary folder: {error}"))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let count = BATCHES * addition_batch(digits);
    let images = 2 * digits * count;
    let mut idx = vec![0, 0, 8, 3];
    for size in [images, 28, 28] {
        idx.extend((size as u32).to_be_bytes());
    }
    idx.extend((0..images * 784).map(|i| (i * 7919 % 251) as u8));
    let heads = |name: &str, count: usize| -> Vec<String> {
        (0..count).rev().map(|i| format!("{name}{i}")).collect()
    };
    let head = [
        heads("x", digits),
        heads("y", digits),
        heads("s", digits + 1),
    ]
    .concat();
    let mut csv = head.join(",") + "\n";
    for row in 0..count {
        let images = (0..2 * digits).map(|k| k * count + row);
        // The first digit of a sum is a carry; the others may be anything.
        let sum = (0..=digits).map(|i| if i == 0 { row % 2 } else { (row + 3 * i) % 10 });
        let cells: Vec<String> = images.chain(sum).map(|n| n.to_string()).collect();
        csv += &(cells.join(",") + "\n");
    }
    let files = [
        ("images.idx".to_string(), idx),
        (format!("sums-{digits}.csv"), csv.into_bytes()),
        (
            format!("sums-{digits}.ltn"),
            addition_theory(digits).into_bytes(),
        ),
        (
            "addition.toml".to_string(),
            addition_manifest(digits, 1).into_bytes(),
        ),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).map_err(failed)?;
    }
    let mut found = Diagnostics::new();
    let project = Project::load(&folder.path().join("addition.toml"), &mut found);
    Ok((folder, project.ok_or(found)?))
}
