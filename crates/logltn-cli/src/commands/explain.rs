//! `logltn explain`: what breaks an axiom, and why.

use std::path::PathBuf;

use logltn::theory::Formula;
use logltn::{
    BlamedLiteral, Diagnostics, Explanation, Semantics, Space, Span, Theory, Violation, Witness,
};
use logltn_dashboard::binding_text;
use serde::Serialize;

use crate::commands::load;
use crate::commands::meaning::{BindingDocument, Meaning, bar};
use crate::console::{self, Message, messages};
use crate::outcome::Outcome;
use crate::text::{Align, counted, real, table, thousands};

/// Show which bindings violate an axiom most, which literals are to blame, and the witness of each `exists`.
///
/// `blame` is how much the truth of a binding would change with that of a literal: the derivative. Everything is shown of
/// the formula as it is evaluated: in log space with negations at the atoms.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// Only this axiom, family (`name`) or member of one (`name[individual]`)
    #[arg(long, value_name = "NAME")]
    axiom: Option<String>,
    /// How many bindings of each axiom to show; 0 for all
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    meaning: Meaning,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    axioms: Vec<AxiomDocument<'a>>,
    warnings: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct AxiomDocument<'a> {
    name: &'a str,
    truth: f64,
    groundings: u64,
    worst: Vec<ViolationDocument<'a>>,
}

#[derive(Serialize)]
struct ViolationDocument<'a> {
    binding: BindingDocument<'a>,
    truth: f64,
    literals: Vec<LiteralDocument<'a>>,
    witnesses: Vec<WitnessDocument<'a>>,
}

#[derive(Serialize)]
struct LiteralDocument<'a> {
    literal: &'a str,
    truth: f64,
    blame: f64,
}

#[derive(Serialize)]
struct WitnessDocument<'a> {
    formula: &'a str,
    binding: Option<BindingDocument<'a>>,
    truth: Option<f64>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let (project, mut warnings) = match load(&arguments.manifest, arguments.json) {
        Ok(loaded) => loaded,
        Err(outcome) => return outcome,
    };
    let questions = arguments.meaning.questions(&project, arguments.top);
    let found = match questions.explain(arguments.axiom.as_deref()) {
        Ok(found) => found,
        Err(errors) => {
            warnings.extend(errors);
            return console::wrong_input(&warnings, arguments.json);
        }
    };
    warnings.extend(found.warnings);
    let outcome = if arguments.json {
        console::print_json(&document(&found.axioms, &warnings))
    } else {
        let explained = found.axioms.iter();
        let parts: Vec<String> = explained
            .map(|axiom| human(project.theory(), &questions.semantics, axiom))
            .collect();
        console::print(&parts.join("\n"))
    };
    console::report(&warnings);
    outcome
}

/// What `--json` prints.
pub fn document<'a>(
    axioms: &'a [Explanation],
    warnings: &'a Diagnostics,
) -> impl Serialize + use<'a> {
    Document {
        axioms: axioms.iter().map(axiom_document).collect(),
        warnings: messages(warnings),
    }
}

fn axiom_document(axiom: &Explanation) -> AxiomDocument<'_> {
    AxiomDocument {
        name: &axiom.name,
        truth: axiom.truth,
        groundings: axiom.groundings,
        worst: axiom.worst.iter().map(violation_document).collect(),
    }
}

fn violation_document(violation: &Violation) -> ViolationDocument<'_> {
    ViolationDocument {
        binding: BindingDocument(&violation.binding),
        truth: violation.truth,
        literals: (violation.literals.iter())
            .map(|literal| LiteralDocument {
                literal: &literal.text,
                truth: literal.truth,
                blame: literal.blame,
            })
            .collect(),
        witnesses: (violation.witnesses.iter())
            .map(|Witness { formula, truest }| WitnessDocument {
                formula,
                binding: truest.as_ref().map(|(b, _)| BindingDocument(b)),
                truth: truest.as_ref().map(|(_, truth)| *truth),
            })
            .collect(),
    }
}

// --- for people -------------------------------------------------------------------------------------

fn human(theory: &Theory, semantics: &Semantics, axiom: &Explanation) -> String {
    let mut out = format!(
        "axiom {}   truth {}   {}\n",
        axiom.name,
        truth_text(
            semantics.degree(axiom.truth),
            semantics.sat_is_log(),
            axiom.truth
        ),
        counted(axiom.groundings, "grounding")
    );
    let family = axiom.name.split('[').next().unwrap_or_default();
    if let Some(written) = theory.axiom(family) {
        let culprits = axiom.worst.first().map(culprits).unwrap_or_default();
        out += &rule(theory, &written.formula, &culprits);
    }
    match axiom.worst.len() as u64 {
        0 => out += "\n  there is nothing that it could be false of\n",
        all if all == axiom.groundings => {}
        some => {
            let total = thousands(axiom.groundings);
            out += &format!("\n  the {} least true of {total}:\n", thousands(some));
        }
    }
    for violation in &axiom.worst {
        out += &violation_text(semantics, violation);
    }
    out
}

fn truth_text(degree: f64, log: bool, value: f64) -> String {
    match log {
        true if value > 1e-9 => format!("1 (capped, log {})", real(value)),
        true => format!("{} (log {})", real(degree), real(value)),
        false => real(degree),
    }
}

/// The literals with more than half of the greatest blame.
fn culprits(violation: &Violation) -> Vec<Span> {
    let most = violation.literals.first().map_or(0.0, |l| l.blame.abs());
    let guilty = |l: &&BlamedLiteral| most > 0.0 && l.blame.abs() >= 0.5 * most;
    violation
        .literals
        .iter()
        .filter(guilty)
        .map(|l| l.span)
        .collect()
}

/// The rule on one line, or as many as it takes, with marks under the culprits.
fn rule(theory: &Theory, formula: &Formula, culprits: &[Span]) -> String {
    const WIDTH: usize = 100;
    let start = formula.span.start as usize;
    let (mut text, mut marks) = (Vec::new(), Vec::new());
    let mut in_comment = false;
    for (at, letter) in theory.source.slice(formula.span).char_indices() {
        in_comment = letter != '\n' && (in_comment || letter == '#');
        if in_comment || letter.is_whitespace() {
            if text.last() != Some(&' ') {
                text.push(' ');
                marks.push(' ');
            }
            continue;
        }
        let place = start + at;
        let within = |s: &Span| (s.start as usize..s.end as usize).contains(&place);
        text.push(letter);
        marks.push(if culprits.iter().any(within) {
            '^'
        } else {
            ' '
        });
    }
    // Spaces inside of a marked atom.
    for i in 1..marks.len().saturating_sub(1) {
        if text[i] == ' ' && marks[i - 1] == '^' && marks[i + 1] == '^' {
            marks[i] = '^';
        }
    }
    let mut out = String::new();
    for (line, marked) in text.chunks(WIDTH).zip(marks.chunks(WIDTH)) {
        out += &format!("    {}\n", line.iter().collect::<String>().trim_end());
        let marked: String = marked.iter().collect();
        if !marked.trim().is_empty() {
            out += &format!("    {}\n", marked.trim_end());
        }
    }
    out
}

fn violation_text(semantics: &Semantics, violation: &Violation) -> String {
    let degree = semantics.degree(violation.truth);
    let truth = truth_text(degree, semantics.sat_is_log(), violation.truth);
    let mut out = format!("\n  {} {truth}", bar(degree));
    if !violation.binding.is_empty() {
        out += &format!("   {}", binding_text(&violation.binding));
    }
    out.push('\n');
    let in_logs = semantics.space == Space::Log;
    let degree_of = |truth: f64| if in_logs { truth.exp().min(1.0) } else { truth };
    let mut rows = vec![vec![
        "literal".to_string(),
        String::new(),
        "truth".to_string(),
        "blame".to_string(),
    ]];
    for literal in &violation.literals {
        let degree = degree_of(literal.truth);
        rows.push(vec![
            literal.text.clone(),
            bar(degree),
            real(degree),
            real(literal.blame),
        ]);
    }
    if rows.len() > 1 {
        let align = [Align::Left, Align::Left, Align::Right, Align::Right];
        out += &indented(&table(&align, &rows));
    }
    for Witness { formula, truest } in &violation.witnesses {
        let found = match truest {
            Some((binding, truth)) => {
                format!("{} with {}", real(degree_of(*truth)), binding_text(binding))
            }
            None => "there is nothing to choose from".to_string(),
        };
        out += &format!("      at best {found}: {formula}\n");
    }
    out
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
