//! `logltn entails`: reasoning by refutation.

use std::path::PathBuf;

use logltn::Diagnostics;
use logltn_learn::{Counterexample, Entailment, Exactly, Refute, entails, entails_exactly};
use serde_json::{Value, json};

use crate::commands::load;
use crate::commands::meaning::Operators;
use crate::console;
use crate::outcome::Outcome;
use crate::text::{Align, counted, number, real, table};

/// Search for a counterexample: a grounding that satisfies the theory but not a formula.
///
/// Everything learnable (networks, embeddings, learnable predicates) is moved by gradients to make the formula
/// as false as possible while the theory stays true. A counterexample refutes the formula; that none was found is not a
/// proof.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The formula, in quotes: "A() or B()"
    #[arg(value_name = "FORMULA")]
    formula: String,
    /// Decide it in classical logic: the axioms as laws, atoms that data makes 0 or 1 as given, all others free
    #[arg(long, conflicts_with_all = ["level", "restarts", "steps", "semantics", "alpha", "p", "p_forall"])]
    exact: bool,
    /// The degree to which the theory must be true
    #[arg(long, value_name = "Q", default_value_t = 0.95, value_parser = level)]
    level: f64,
    /// The number of starts
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    restarts: u64,
    /// The number of steps from each start
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    steps: u64,
    #[command(flatten)]
    operators: Operators,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

fn level(text: &str) -> Result<f64, String> {
    number(text, "a degree above 0 and at most 1", |x| {
        x > 0.0 && x <= 1.0
    })
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, warnings) = load(&arguments.manifest, None)?;
    if arguments.exact {
        console::report(&warnings);
        let found = entails_exactly(
            &project.knowledge_for_question(&arguments.formula)?,
            &arguments.formula,
        )?;
        return Ok(match arguments.json {
            true => console::print_json(&exact_document(&found)),
            false => console::print(&exact_human(&found)),
        });
    }
    let manifest = &project.manifest;
    let last = manifest.schedule.last(false);
    let how = Refute {
        level: arguments.level,
        restarts: arguments.restarts,
        steps: arguments.steps,
        seed: manifest
            .train
            .as_ref()
            .map_or(0, |train| train.settings.seed),
        semantics: arguments.operators.semantics(manifest.semantics),
        parameters: arguments.operators.parameters(last),
        axioms: manifest.axiom_settings(),
    };
    let steps = how.restarts.saturating_mul(how.steps);
    let bar = console::progress_bar(steps, "{bar:30} {elapsed} elapsed, {eta} left at most");
    let found = (project.knowledge_for_question(&arguments.formula))
        .and_then(|knowledge| entails(&knowledge, &arguments.formula, &how, &mut || bar.inc(1)));
    bar.finish_and_clear();
    let found = found?;
    console::report(&warnings);
    Ok(match arguments.json {
        true => console::print_json(&document(&found)),
        false => console::print(&human(&found, arguments)),
    })
}

fn document(found: &Entailment) -> Value {
    let mut out = json!({
        "entailed": found.counterexample.as_ref().map(|_| false),
        "level": found.level,
        "theory": found.theory,
        "formula": found.formula,
        "restarts": found.restarts,
    });
    if let Some(counterexample) = &found.counterexample {
        out["counterexample"] = shown(counterexample);
    }
    out
}

fn shown(counterexample: &Counterexample) -> Value {
    let axioms = counterexample.axioms.iter();
    let axioms: Value = axioms.map(|(name, v)| (name.clone(), json!(v))).collect();
    // A proposition is a number, any other predicate a number for each tuple.
    let predicates = counterexample.predicates.iter().map(|(name, tuples)| {
        let truths = match tuples.as_slice() {
            [(tuple, truth)] if tuple.is_empty() => json!(truth),
            tuples => (tuples.iter())
                .map(|(tuple, truth)| (tuple.join(", "), json!(truth)))
                .collect(),
        };
        (name.clone(), truths)
    });
    let predicates: Value = predicates.collect();
    json!({ "axioms": axioms, "predicates": predicates })
}

fn exact_document(found: &Exactly) -> Value {
    match found {
        Exactly::Entailed { satisfiable } => {
            json!({ "entailed": true, "exact": true, "satisfiable": satisfiable })
        }
        Exactly::Refuted(counterexample) => json!({
            "entailed": false,
            "exact": true,
            "satisfiable": true,
            "counterexample": shown(counterexample),
        }),
        Exactly::TooHard(errors) => {
            let why = errors.iter().map(|error| error.message().to_string());
            json!({ "entailed": null, "exact": true, "too_hard": why.collect::<Vec<_>>().join("; ") })
        }
    }
}

fn exact_human(found: &Exactly) -> String {
    match found {
        Exactly::Entailed { satisfiable } => match satisfiable {
            Some(true) => "entailed: the formula holds in every world in which the axioms do\n",
            Some(false) => {
                "entailed, since the axioms hold in no world at all: everything follows from them\n"
            }
            None => {
                "entailed: the formula holds in every world in which the axioms do; whether there is one is too hard to tell\n"
            }
        }
        .to_string(),
        Exactly::Refuted(counterexample) => {
            let mut rows = Vec::new();
            predicate_rows(counterexample, &mut rows);
            format!(
                "not entailed: in this world the axioms hold and the formula does not\n\n{}",
                table(&[Align::Left, Align::Right], &rows)
            )
        }
        Exactly::TooHard(errors) => format!("too hard to decide\n\n{errors}\n"),
    }
}

fn predicate_rows(counterexample: &Counterexample, rows: &mut Vec<Vec<String>>) {
    for (name, tuples) in &counterexample.predicates {
        for (tuple, truth) in tuples.iter().take(MOST_TUPLES) {
            rows.push(vec![format!("{name}({})", tuple.join(", ")), real(*truth)]);
        }
        if tuples.len() > MOST_TUPLES {
            let more = tuples.len() - MOST_TUPLES;
            let more = format!("… and {more} more, with --json");
            rows.push(vec![more, String::new()]);
        }
    }
}

/// The most lines of a predicate worth reading.
const MOST_TUPLES: usize = 12;

fn human(found: &Entailment, arguments: &Arguments) -> String {
    let starts = format!(
        "{} of {}",
        counted(found.restarts, "start"),
        counted(arguments.steps, "step")
    );
    let (theory, formula) = (real(found.theory), real(found.formula));
    let level = found.level;
    let Some(counterexample) = &found.counterexample else {
        return match found.satisfied {
            true => format!(
                "no counterexample was found, which is not a proof ({starts})\n\
                 the least true that the formula became under the theory: {formula} (theory {theory}, level {level})\n"
            ),
            false => format!(
                "the theory was never satisfied to degree {level}: {theory} is the best that {starts} reached, so nothing \
                 was learnt about the formula\n\
                 a lower `--level` may be reached; or the theory contradicts itself, or its semantics does not let it be that \
                 true (in `logltn` an `or` is as true as its members are on average)\n"
            ),
        };
    };
    let mut text = format!(
        "not entailed at level {level}: a grounding makes the theory true to {theory} and the formula only to {formula} ({starts}); \
         this does not refute it in classical logic\n\n"
    );
    let mut rows = vec![vec!["axiom".to_string(), "truth".to_string()]];
    for (name, truth) in &counterexample.axioms {
        rows.push(vec![name.clone(), real(*truth)]);
    }
    rows.push(vec![String::new(), String::new()]);
    predicate_rows(counterexample, &mut rows);
    text += &table(&[Align::Left, Align::Right], &rows);
    // The loss of truth is a few times what the theory may lack.
    if 1.0 - found.formula < 10.0 * (1.0 - found.level) {
        text += &format!(
            "\nThe formula is nearly as true as the theory: truth leaks. A theory of degree {level} may fall short of 1 by {}, \
             several axioms may share that unevenly, and each step of reasoning adds what its premises lack. With a \
             higher `--level` the formula rises too if it follows from the axioms; one axiom that joins them with `and` \
             leaves less to leak.\n",
            real(1.0 - level)
        );
    }
    text
}
