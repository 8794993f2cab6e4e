//! `logltn query`: how true a formula is, or which bindings satisfy it.

use std::path::PathBuf;

use logltn::{Answers, Code, Diagnostic, Diagnostics, Semantics};
use logltn_learn::Queried;
use serde::Serialize;

use crate::commands::meaning::{BindingDocument, Meaning, bar};
use crate::commands::{after, load};
use crate::console::{self, Message, messages};
use crate::outcome::Outcome;
use crate::text::{Align, counted, degree, real, table, thousands};

/// Print how true a formula is, or the bindings that satisfy it, best first.
///
/// A closed formula has a truth: `logltn query M "forall x: Person. smokes(x)"`. A formula that begins with `find` has answers:
/// `logltn query M "find x: Person, y: Person where x != y. friends(x, y) and not smokes(y)"`, or over the
/// rows of a table `"find (x, t) in labelled. not type(x, t)"`. Individuals without names are shown by number.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The formula, over the symbols of the theory
    #[arg(value_name = "FORMULA")]
    formula: String,
    /// How many answers to show; 0 for all
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// Under `probability`, the probability that the whole formula holds: leading `forall`s are part of the event
    #[arg(long)]
    joint: bool,
    #[command(flatten)]
    meaning: Meaning,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    formula: &'a str,
    semantics: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<AnswerDocument<'a>>>,
    warnings: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct AnswerDocument<'a> {
    binding: BindingDocument<'a>,
    truth: f64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, mut warnings) = load(&arguments.manifest, arguments.meaning.run.as_deref())?;
    let mut questions = arguments.meaning.questions(&project, arguments.top);
    questions.joint = arguments.joint;
    if arguments.joint && !questions.semantics.exact {
        let what = format!("`--joint` does not apply under `{}`", questions.semantics);
        let error = Diagnostic::error(Code::OperatorsDoNotMix, what)
            .help("ask for exact probabilities: `--semantics probability`");
        return Err(error.into());
    }
    let found = questions.query(&arguments.formula);
    let found = found.map_err(after(&warnings))?;
    warnings.extend(found.warnings.clone());
    let semantics = &questions.semantics;
    let outcome = if arguments.json {
        console::print_json(&document(semantics, &found, &warnings))
    } else {
        console::print(&human(semantics, &found))
    };
    console::report(&warnings);
    Ok(outcome)
}

/// What `--json` prints.
pub fn document<'a>(
    semantics: &Semantics,
    found: &'a Queried,
    warnings: &'a Diagnostics,
) -> impl Serialize + use<'a> {
    let (truth, total, answers) = match &found.answers {
        Answers::Closed(truth) => (Some(*truth), None, None),
        Answers::Open { total, answers } => {
            let answers = (answers.iter()).map(|answer| AnswerDocument {
                binding: BindingDocument(&answer.binding),
                truth: answer.truth,
            });
            (None, Some(*total), Some(answers.collect()))
        }
    };
    Document {
        formula: &found.formula,
        semantics: semantics.to_string(),
        truth,
        total,
        answers,
        warnings: messages(warnings),
    }
}

fn human(semantics: &Semantics, found: &Queried) -> String {
    let logs = semantics.sat_is_log();
    let shown = |truth: f64| {
        let mut cells = vec![bar(semantics.degree(truth)), degree(semantics, truth)];
        cells.extend(logs.then(|| real(truth)));
        cells
    };
    let mut heads = vec![String::new(), "truth".to_string()];
    heads.extend(logs.then(|| "log truth".to_string()));
    let mut align = vec![Align::Right; heads.len()];
    let (mut rows, last) = match &found.answers {
        Answers::Closed(truth) => (vec![shown(*truth)], String::new()),
        Answers::Open { total, answers } => {
            if let Some(answer) = answers.first() {
                heads.extend(answer.binding.iter().map(|b| b.variable.clone()));
                align.resize(heads.len(), Align::Left);
            }
            let rows = answers.iter().map(|answer| {
                let mut cells = shown(answer.truth);
                cells.extend(answer.binding.iter().map(|b| b.to.to_string()));
                cells
            });
            let rows: Vec<Vec<String>> = rows.collect();
            let last = match rows.len() as u64 {
                0 => "no binding passes the guard\n".to_string(),
                all if all == *total => format!("\nall {}\n", counted(all, "binding")),
                some => {
                    let total = counted(total, "binding");
                    format!("\nthe {} truest of {total}\n", thousands(some))
                }
            };
            (rows, last)
        }
    };
    if !rows.is_empty() {
        rows.insert(0, heads);
    }
    format!("{}\n\n{}{last}", found.formula, table(&align, &rows))
}
