//! `logltn compare`: runs side by side.

use std::path::{Path, PathBuf};

use logltn::Diagnostics;
use logltn_report::write_comparison;
use logltn_train::run_directory::RunStatus;
use logltn_train::train::{ComparedRun, Comparison, Spread};
use serde_json::Value;

use crate::console;
use crate::outcome::Outcome;
use crate::text::{Align, counted, real, sentence, table};

/// Compare runs: differences of their manifests, truths, metrics and curves.
/// Runs that differ only in the seed share a column with mean and standard deviation. `*` marks the best of a line. Runs
/// may be unfinished.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folders of the runs
    #[arg(value_name = "DIR", required = true)]
    runs: Vec<PathBuf>,
    /// Draw the curves to this file, an SVG
    #[arg(long, value_name = "FILE", value_parser = svg)]
    picture: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

fn svg(path: &str) -> Result<PathBuf, String> {
    match path.ends_with(".svg") {
        true => Ok(PathBuf::from(path)),
        false => Err("pictures are SVG: call it `….svg`".to_string()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let picture = arguments.picture.as_deref();
    match Comparison::new(&arguments.runs) {
        Err(errors) => console::wrong_input(&errors, arguments.json),
        Ok(comparison) => match show(&comparison, picture, arguments.json) {
            Ok(outcome) => outcome,
            Err(errors) => {
                console::report(&errors);
                Outcome::Failed
            }
        },
    }
}

/// Draws a comparison and prints it.
pub fn show(
    comparison: &Comparison,
    picture: Option<&Path>,
    json: bool,
) -> Result<Outcome, Diagnostics> {
    let mut drawn = None;
    if let Some(path) = picture {
        let named = |run: &ComparedRun| (run.run.display().to_string(), run.run.clone());
        let runs: Vec<(String, PathBuf)> = comparison.runs.iter().map(named).collect();
        if write_comparison(&runs, path)? {
            drawn = Some(path);
        }
    }
    if json {
        return Ok(console::print_json(&comparison.document()));
    }
    let mut text = human(comparison);
    if let Some(path) = drawn {
        text += &format!("\npicture  {}\n", path.display());
    }
    Ok(console::print(&text))
}

/// The most axioms worth a line each.
const MOST_AXIOMS: usize = 40;
/// The longest value that is shown whole.
const LONGEST: usize = 40;

fn human(comparison: &Comparison) -> String {
    let letters: Vec<String> = (0..comparison.groups.len()).map(letter).collect();
    let mut text = heads(comparison, &letters);
    text += "\n";
    text += &differences(comparison, &letters);
    let axioms = comparison.axioms();
    let mut rows = Vec::new();
    for axiom in axioms.iter().take(MOST_AXIOMS) {
        let better = comparison.same_axiom(axiom).then_some(Better::More);
        rows.push(line(
            axiom,
            comparison.spread(|run| run.degree(axiom)),
            better,
        ));
    }
    text += &sentence(match comparison.whole {
        true => "truths and loss of the whole theory, with the final weights",
        false => {
            "truths and loss in the last step's batch: not every run has those of the whole theory (`logltn eval --run`)"
        }
    });
    text += &section("axiom, truth", &letters, rows);
    if comparison.runs.iter().any(ComparedRun::is_capped) {
        text += &sentence("  some log truths are above 0 and count as 1 here; --json has them");
    }
    if axioms.len() > MOST_AXIOMS {
        let more = axioms.len() - MOST_AXIOMS;
        text += &format!("  … and {more} more, with --json\n");
    }
    let metrics = comparison.metrics().into_iter().map(|metric| {
        let less = comparison
            .runs
            .iter()
            .any(|run| run.smaller_is_better(metric));
        let better = if less { Better::Less } else { Better::More };
        line(
            metric,
            comparison.spread(|run| run.metric(metric)),
            Some(better),
        )
    });
    text += &section("metric", &letters, metrics.collect());
    let better = comparison.same_loss().then_some(Better::Less);
    let loss = line("loss", comparison.spread(|run| Some(run.loss)), better);
    text += &section("", &letters, vec![loss]);
    if !comparison.same_loss() {
        text += &sentence(
            "  the runs have other rules, weights or semantics: where their numbers mean different things, none is marked",
        );
    }
    text
}

/// What the letters stand for.
fn heads(comparison: &Comparison, letters: &[String]) -> String {
    let mut rows = Vec::new();
    for (group, letter) in comparison.groups.iter().zip(letters) {
        for (i, &run) in group.iter().enumerate() {
            let run = &comparison.runs[run];
            let letter = if i == 0 { letter.as_str() } else { "" };
            let mut row = vec![letter.to_string(), run.run.display().to_string()];
            row.push(format!("{}, seed {}", how_far(run), run.seed));
            rows.push(row);
        }
    }
    table(&[Align::Left, Align::Left, Align::Left], &rows)
}

fn how_far(run: &ComparedRun) -> String {
    let steps = counted(run.steps, "step");
    let status = match run.status {
        RunStatus::Finished => {
            let stopped = run.reason.starts_with("stopped early");
            let early = if stopped { ", stopped early" } else { "" };
            return format!("finished, {steps}{early}");
        }
        RunStatus::Running => "still running, or killed,",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Failed => "failed",
    };
    match run.reason.as_str() {
        "" => format!("{status} after {steps}"),
        reason => format!("{status} after {steps}: {reason}"),
    }
}

fn differences(comparison: &Comparison, letters: &[String]) -> String {
    let mut rows = Vec::new();
    for (key, values) in &comparison.differences {
        // Within a group only seeds differ, and those are listed above.
        let of = |group: &Vec<usize>| shown(&values[group[0]]) + "  ";
        let cells: Vec<String> = comparison.groups.iter().map(of).collect();
        if cells.len() == 1 || key == "train.seed" && comparison.groups.iter().any(|g| g.len() > 1)
        {
            continue;
        }
        rows.push([&[key.clone()][..], &cells].concat());
    }
    if rows.is_empty() && comparison.differences.is_empty() {
        return "the runs have the same settings\n".to_string();
    }
    columns("difference", letters, rows, Align::Left)
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "–".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.chars().count() > LONGEST {
        true => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => text,
    }
}

/// Which of two numbers is the better one.
#[derive(Clone, Copy)]
enum Better {
    More,
    Less,
}

/// A line of numbers, the best one marked.
fn line(name: &str, spreads: Vec<Option<Spread>>, better: Option<Better>) -> Vec<String> {
    let means = spreads.iter().flatten().map(|s| s.mean);
    let best = match better {
        Some(Better::More) => means.reduce(f64::max),
        Some(Better::Less) => means.reduce(f64::min),
        None => None,
    };
    let all_best = spreads.iter().flatten().all(|s| Some(s.mean) == best);
    let cell = |spread: Option<Spread>| match spread {
        None => "–  ".to_string(),
        Some(spread) => {
            let mark = if Some(spread.mean) == best && !all_best {
                " *"
            } else {
                "  "
            };
            match spread.runs {
                1 => format!("{}{mark}", real(spread.mean)),
                _ => format!("{} ± {}{mark}", real(spread.mean), short(spread.deviation)),
            }
        }
    };
    let cells = spreads.iter().map(|&spread| cell(spread));
    std::iter::once(name.to_string()).chain(cells).collect()
}

/// Two digits of a deviation are enough.
fn short(deviation: f64) -> String {
    match deviation {
        0.0 => "0".to_string(),
        small if small < 1e-4 => format!("{small:.1e}"),
        other => {
            let digits = (1.0 - other.log10().floor()).max(0.0) as usize;
            format!("{other:.digits$}")
        }
    }
}

fn section(head: &str, letters: &[String], rows: Vec<Vec<String>>) -> String {
    columns(head, letters, rows, Align::Right)
}

fn columns(head: &str, letters: &[String], rows: Vec<Vec<String>>, of: Align) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut align = vec![of; letters.len() + 1];
    align[0] = Align::Left;
    let mut lines = Vec::new();
    if !head.is_empty() {
        let letters = letters.iter().map(|letter| format!("{letter}  "));
        lines.push(std::iter::once(head.to_string()).chain(letters).collect());
    }
    lines.extend(rows);
    format!("{}\n", table(&align, &lines))
}

/// `a`, `b`, … `z`, `a1`, ….
fn letter(place: usize) -> String {
    let letter = char::from(b'a' + (place % 26) as u8);
    match place / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}
