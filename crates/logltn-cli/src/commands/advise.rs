//! `logltn advise`: which semantics, start and weights do best on labels that were held out.

use std::path::PathBuf;
use std::time::Duration;

use logltn::{Code, Diagnostics};
use logltn_train::train::{Advice, AdviseOptions, Trial, advise};
use serde_json::json;

use crate::commands::load;
use crate::console;
use crate::ctrl_c;
use crate::outcome::Outcome;
use crate::text::{Align, counted, real, table};

/// Suggest a semantics, a start and weights, by short trainings on part of the labels, measured on the rest.
///
/// A fifth of the labels is held out from all trainings. The manifest's own metrics are not used, since their rows are
/// reserved for the final test. Nothing is written.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// Roughly how many seconds the whole search may take
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seconds: u64,
    /// How many seeds to try each option with
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100))]
    seeds: u64,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, warnings) = load(&arguments.manifest, None)?;
    console::report(&warnings);
    let options = AdviseOptions {
        time: Duration::from_secs(arguments.seconds),
        seeds: arguments.seeds,
    };
    let stop = ctrl_c::asks_to_stop();
    let told = &mut |trial: &Trial| {
        console::complain(&format!("{}: {}\n", trial.name, real(trial.value)));
    };
    match advise(&project, &options, &stop, told) {
        Ok(advice) if arguments.json => Ok(console::print(&format!("{}\n", document(&advice)))),
        Ok(advice) => Ok(console::print(&text(&advice, arguments.seeds))),
        Err(errors) if errors.iter().any(|error| error.code() == Code::Interrupted) => {
            Ok(console::failed(&errors, arguments.json))
        }
        Err(errors) => Err(errors),
    }
}

fn text(advice: &Advice, seeds: u64) -> String {
    let mut text = format!(
        "{} of {} labels held out; {} steps, means of {}\n\n",
        advice.held_out,
        advice.held_out + advice.learnt,
        advice.steps,
        counted(seeds as usize, "seed"),
    );
    let mut rows = vec![
        ["", "tried", &advice.metric[..], "seeds differ by"]
            .map(str::to_string)
            .to_vec(),
    ];
    for (i, trial) in advice.trials.iter().enumerate() {
        let mark = if i == advice.best { "→" } else { "" };
        rows.push(vec![
            mark.into(),
            trial.name.clone(),
            real(trial.value),
            real(trial.deviation),
        ]);
    }
    text += &table(
        &[Align::Left, Align::Left, Align::Right, Align::Right],
        &rows,
    );
    text += "\n";
    text += &reason(advice);
    text
}

/// What to take, and why.
fn reason(advice: &Advice) -> String {
    let (first, best) = (&advice.trials[0], &advice.trials[advice.best]);
    let chance = format!("differences below {} may be chance", real(advice.chance));
    if !advice.is_clear() {
        let others = match advice.best {
            0 => "nothing that was tried is better".to_string(),
            _ => format!(
                "`{}` is better by {} only",
                best.name,
                real((best.value - first.value).abs())
            ),
        };
        return format!("keep the manifest as it is: {others}, and {chance}\n");
    }
    let mut text = format!(
        "take `{}`: {} instead of {}, and {chance}\n\n",
        best.name,
        real(best.value),
        real(first.value)
    );
    for line in &best.lines {
        text += &format!("    {line}\n");
    }
    if best.name.contains("the labels alone") {
        text += "\nthe rules do not help as they are: `logltn explain` shows what breaks them\n";
    }
    text
}

fn document(advice: &Advice) -> serde_json::Value {
    let trials: Vec<_> = (advice.trials.iter())
        .map(|trial| {
            json!({
                "name": trial.name,
                "manifest": trial.lines,
                "value": trial.value,
                "deviation": trial.deviation,
            })
        })
        .collect();
    json!({
        "metric": advice.metric,
        "learnt": advice.learnt,
        "held_out": advice.held_out,
        "steps": advice.steps,
        "chance": advice.chance,
        "trials": trials,
        "best": advice.best,
        "clear": advice.is_clear(),
    })
}
