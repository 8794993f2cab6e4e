//! Writes runs as long and as many as wanted, to see how the dashboard bears them:
//! `cargo run --release -p logltn-dashboard --example many_runs -- FOLDER 200 100000`.
//!
//! To spare the disk, ten runs share one file of records, each under its own name.

use std::path::Path;

use logltn::Diagnostics;
use logltn_train::run_directory::{AxiomInfo, RunDirectory, RunInfo, RunStatus, StepRecord};

fn main() -> Result<(), Diagnostics> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, runs, steps] = &words[..] else {
        eprintln!("usage: many_runs FOLDER RUNS STEPS");
        std::process::exit(2);
    };
    let number = |text: &String| text.parse::<u64>().unwrap_or(0);
    let mut shared = None;
    for run in 0..number(runs) {
        let dir = Path::new(folder).join(format!("run-{run:04}"));
        let directory = RunDirectory::create(&dir)?;
        let names: Vec<String> = (0..8).map(|i| format!("axiom_{i}")).collect();
        match &shared {
            Some(records) if run % 10 != 0 => {
                if let Err(error) = std::fs::hard_link(records, directory.file("metrics.jsonl")) {
                    eprintln!("{}: {error}", dir.display());
                    std::process::exit(1);
                }
            }
            _ => {
                write(&directory, &names, run, number(steps))?;
                shared = Some(directory.file("metrics.jsonl"));
            }
        }
        directory.write_info(&RunInfo {
            title: format!("made {run}"),
            seed: run,
            semantics: "logltn".into(),
            logs: Some(true),
            started: format!("2026-01-01T00:{:02}:{:02}Z", run / 60 % 60, run % 60),
            status: RunStatus::Finished,
            steps: Some(number(steps)),
            total: Some(number(steps)),
            steps_per_epoch: Some(1),
            axioms: (names.iter())
                .map(|name| AxiomInfo {
                    left_out: 0,
                    name: name.clone(),
                    weight: 1.0,
                    hard: false,
                    groundings: Some(1000),
                })
                .collect(),
            ..RunInfo::default()
        })?;
    }
    Ok(())
}

fn write(
    directory: &RunDirectory,
    names: &[String],
    run: u64,
    steps: u64,
) -> Result<(), Diagnostics> {
    let mut log = directory.metrics_log(names, &["accuracy".into()], None)?;
    for step in 1..=steps {
        let x = step as f64 / steps as f64;
        let noise = ((step * 2_654_435_761 + run) % 1000) as f64 / 5000.0;
        let loss = (-3.0 * x).exp() + noise;
        log.append(&StepRecord {
            left_out: Vec::new(),
            step,
            loss,
            sat: -loss,
            axioms: (0..names.len()).map(|i| -loss * (1.0 + i as f64)).collect(),
            metrics: match step % 100 {
                0 => vec![("accuracy".into(), x)],
                _ => Vec::new(),
            },
            gradient_norm: loss * loss,
            step_time: 0.001,
        })?;
    }
    drop(log);
    // The table beside it is not looked at.
    let _ = std::fs::remove_file(directory.file("metrics.csv"));
    Ok(())
}
