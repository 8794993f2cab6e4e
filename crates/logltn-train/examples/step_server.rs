//! Training steps on request, for `bench/peers`: reads commands on standard input, answers each with a line of JSON.
//!
//! ```text
//! cargo run --release -p logltn-train --example step_server -- theories/clustering.toml
//! ```
//!
//! | command | does | answers |
//! |---|---|---|
//! | – | loads and plans the manifest | `{"ready": true, "load_seconds": …, "plan_seconds": …}` |
//! | `weights PATH` | writes the weights as safetensors | `{"written": PATH}` |
//! | `step N` | N whole training steps: networks, logic, backward, optimizer | `{"seconds": [each step's], "losses": [first, last]}` |
//! | `block N` | the same, timed together | `{"seconds": [all steps'], "losses": [first, last]}` |
//!
//! The benchmark keeps several such programs alive, one for each framework, and asks them in turns.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use logltn::Diagnostics;
use logltn_learn::State;
use logltn_train::project::Project;
use logltn_train::run_directory::encode;
use logltn_train::train::{TrainOptions, Trainer};
use serde_json::{Value, json};

fn main() {
    let outcome = match std::env::args().nth(1) {
        Some(manifest) => serve(Path::new(&manifest)),
        None => Err("usage: step_server MANIFEST".to_string()),
    };
    if let Err(reason) = outcome {
        answer(&json!({ "failed": reason }));
        std::process::exit(1);
    }
}

fn answer(line: &Value) {
    println!("{line}");
    // A pipe is not flushed at the end of a line.
    let _ = std::io::stdout().flush();
}

fn serve(manifest: &Path) -> Result<(), String> {
    let text = |errors: Diagnostics| errors.to_string();
    let begun = Instant::now();
    let mut found = Diagnostics::new();
    let project = Project::load(manifest, &mut found).ok_or_else(|| found.to_string())?;
    let load_seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let forever = TrainOptions {
        steps: Some(1 << 40),
        ..TrainOptions::default()
    };
    let mut trainer = Trainer::new(project, &forever).map_err(text)?;
    let plan_seconds = begun.elapsed().as_secs_f64();
    let first: State = trainer.weights();
    answer(&json!({ "ready": true, "load_seconds": load_seconds, "plan_seconds": plan_seconds }));

    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let (command, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match command {
            "weights" => {
                std::fs::write(argument, encode(&first).map_err(text)?)
                    .map_err(|e| format!("{argument}: {e}"))?;
                answer(&json!({ "written": argument }));
            }
            "step" => {
                let (mut seconds, mut losses) = (Vec::new(), Vec::new());
                for _ in 0..count(argument)? {
                    let begun = Instant::now();
                    losses.push(trainer.step().map_err(text)?.loss);
                    seconds.push(begun.elapsed().as_secs_f64());
                }
                report(&seconds, &losses);
            }
            "block" => {
                let steps = count(argument)?;
                let mut losses = Vec::new();
                let begun = Instant::now();
                for _ in 0..steps {
                    losses.push(trainer.step().map_err(text)?.loss);
                }
                report(&[begun.elapsed().as_secs_f64()], &losses);
            }
            "quit" => break,
            other => return Err(format!("no such command: `{other}`")),
        }
    }
    Ok(())
}

/// A step's loss is that before it changes the weights.
fn report(seconds: &[f64], losses: &[f64]) {
    answer(&json!({ "seconds": seconds, "losses": [losses.first(), losses.last()] }));
}

fn count(argument: &str) -> Result<u64, String> {
    (argument.parse()).map_err(|_| format!("a number of steps was expected, not `{argument}`"))
}
