//! `logltn eval`: the truth of each axiom and of the whole theory.

use std::path::PathBuf;

use logltn::{Diagnostics, Parameters, Semantics};
use logltn_learn::Evaluated;
use logltn_train::train::evaluate_run;
use serde::Serialize;

use crate::commands::meaning::Operators;
use crate::commands::{after, gradients, load};
use crate::console::{self, Message, messages};
use crate::outcome::Outcome;
use crate::text::{Align, degree, real, table, thousands};

/// Print each axiom's truth and the total, and the metrics of `[evaluate]`.
///
/// Networks need the weights of a run (`--run`); without one, predicates must be given by numbers (`logits`,
/// `truth` or `log_truth` in the manifest). Batched tables are evaluated whole.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The folder of a run: its weights, or those of its last checkpoint
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    #[command(flatten)]
    operators: Operators,
    /// Write DIR/P.csv for every predicate P given by numbers: the derivative of the loss with respect to each number
    #[arg(long, value_name = "DIR")]
    gradients: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    semantics: String,
    alpha: f64,
    p: f64,
    p_forall: f64,
    sat: f64,
    loss: f64,
    axioms: Vec<Axiom<'a>>,
    metrics: Vec<Metric<'a>>,
    warnings: Vec<Message<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Axiom<'a> {
    Soft {
        name: &'a str,
        weight: f64,
        truth: f64,
        groundings: u128,
        empty_exists: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        impossible: Option<u64>,
    },
    Law {
        name: &'a str,
        hard: bool,
        groundings: u128,
    },
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    value: f64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, mut warnings) = load(&arguments.manifest, arguments.run.as_deref())?;
    if let Some(dir) = &arguments.gradients {
        gradients::check(dir, &project)?;
    }
    let semantics = (arguments.operators).semantics(project.manifest.semantics);
    let last = project.manifest.schedule.last(arguments.run.is_some());
    let parameters = arguments.operators.parameters(last);
    let wanted = arguments.gradients.is_some();
    let evaluated = match &arguments.run {
        Some(run) => evaluate_run(&project, run, &semantics, &parameters, wanted),
        None => project
            .evaluate(&semantics, &parameters, wanted)
            .and_then(|evaluated| Ok((evaluated, project.measure()?))),
    };
    let (evaluated, metrics) = evaluated.map_err(after(&warnings))?;
    warnings.extend(evaluated.warnings.clone());
    if let Some(dir) = &arguments.gradients
        && let Err(error) = gradients::write(dir, &project, &evaluated.gradients)
    {
        return Ok(console::failed(&error.into(), arguments.json));
    }
    let outcome = if arguments.json {
        console::print_json(&document(
            &semantics,
            &parameters,
            &evaluated,
            &metrics,
            &warnings,
        ))
    } else {
        console::print(&human(&semantics, &parameters, &evaluated, &metrics))
    };
    console::report(&warnings);
    Ok(outcome)
}

fn document<'a>(
    semantics: &Semantics,
    parameters: &Parameters,
    evaluated: &'a Evaluated,
    metrics: &'a [(String, f64)],
    warnings: &'a Diagnostics,
) -> Document<'a> {
    Document {
        semantics: semantics.to_string(),
        alpha: parameters.alpha,
        p: parameters.p,
        p_forall: parameters.p_forall,
        sat: evaluated.sat,
        loss: evaluated.loss,
        axioms: (evaluated.axioms.iter().zip(&evaluated.truths))
            .zip(&evaluated.impossible)
            .map(|((axiom, &truth), &impossible)| match axiom.hard {
                true => Axiom::Law {
                    name: &axiom.name,
                    hard: true,
                    groundings: axiom.groundings,
                },
                false => Axiom::Soft {
                    name: &axiom.name,
                    weight: axiom.weight,
                    truth,
                    groundings: axiom.groundings,
                    empty_exists: axiom.empty_exists,
                    impossible: semantics.exact.then_some(impossible),
                },
            })
            .collect(),
        metrics: (metrics.iter())
            .map(|(name, value)| Metric {
                name,
                value: *value,
            })
            .collect(),
        warnings: messages(warnings),
    }
}

fn human(
    semantics: &Semantics,
    parameters: &Parameters,
    evaluated: &Evaluated,
    metrics: &[(String, f64)],
) -> String {
    let logs = semantics.sat_is_log();
    // α, p and p_forall do not affect exact probabilities.
    let mut out = match semantics.exact {
        true => format!("semantics {semantics}\n\n"),
        false => format!(
            "semantics {semantics}, alpha {}, p {}, p_forall {}\n\n",
            real(parameters.alpha),
            real(parameters.p),
            real(parameters.p_forall)
        ),
    };
    let mut heads = vec!["axiom", "weight"];
    heads.push("truth");
    heads.extend(logs.then_some("log truth"));
    heads.extend([
        "groundings",
        if semantics.exact {
            "impossible"
        } else {
            "empty exists"
        },
    ]);
    let mut align = vec![Align::Right; heads.len()];
    align[0] = Align::Left;
    let mut rows = vec![heads.into_iter().map(str::to_string).collect()];
    let values = evaluated.truths.iter().zip(&evaluated.impossible);
    for (axiom, (&value, &impossible)) in evaluated.axioms.iter().zip(values) {
        if axiom.hard {
            let groundings = thousands(axiom.groundings);
            let cells = [axiom.name.as_str(), "law", "", "", &groundings, ""];
            rows.push(cells.map(str::to_string).to_vec());
            continue;
        }
        let mut row = vec![axiom.name.clone(), real(axiom.weight)];
        row.push(degree(semantics, value));
        row.extend(logs.then(|| real(value)));
        row.push(thousands(axiom.groundings));
        row.push(match axiom.empty_exists + impossible {
            0 => String::new(),
            count => thousands(count),
        });
        rows.push(row);
    }
    out += &table(&align, &rows);
    out += &format!("\n{}", totals(semantics, evaluated.sat, evaluated.loss));
    if !metrics.is_empty() {
        let mut rows = vec![vec!["metric".to_string(), "value".to_string()]];
        let values = metrics.iter();
        rows.extend(values.map(|(name, value)| vec![name.clone(), real(*value)]));
        out += &format!("\n{}", table(&[Align::Left, Align::Right], &rows));
    }
    out
}

/// The last lines: all axioms together as a degree, in log semantics beside the log, and the loss.
pub fn totals(semantics: &Semantics, sat: f64, loss: f64) -> String {
    let log = match semantics.sat_is_log() {
        true => format!(" (log {})", real(sat)),
        false => String::new(),
    };
    let (sat, loss) = (degree(semantics, sat), real(loss));
    format!("sat   {sat}{log}\nloss  {loss}\n")
}
