//! Trains a manifest without the command line: `cargo run --release -p logltn-train --example train -- theories/clustering.toml`.

use std::path::Path;

use logltn::Diagnostics;
use logltn_train::project::Project;
use logltn_train::train::{TrainOptions, Trainer};

fn main() -> Result<(), Diagnostics> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("theories/clustering.toml".into());
    let mut found = Diagnostics::new();
    let Some(project) = Project::load(Path::new(&path), &mut found) else {
        eprintln!("{found}");
        std::process::exit(2);
    };
    let mut trainer = Trainer::new(project, &TrainOptions::default())?;
    let begun = std::time::Instant::now();
    while !trainer.is_done() {
        let step = trainer.step()?;
        if step.step == 1 || step.step.is_multiple_of(100) {
            println!(
                "step {:5}  loss {:.5}  gradient {:.5}",
                step.step, step.loss, step.gradient_norm
            );
        }
        if trainer.measure_is_due() {
            println!("            {:?}", trainer.measure()?);
        }
    }
    println!("{:.2} s", begun.elapsed().as_secs_f64());
    for (name, value) in trainer.measure()? {
        println!("{name} = {value:.4}");
    }
    Ok(())
}
