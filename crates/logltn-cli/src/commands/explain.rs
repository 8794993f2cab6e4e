//! `logltn explain`: what breaks an axiom, and why.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logltn::theory::{Formula, SortId};
use logltn::{
    BlamedLiteral, Diagnostics, Explanation, Semantics, Space, Span, Theory, Violation, Witness,
};
use logltn_dashboard::binding_text;
use logltn_train::train::{Moved, Seen};
use serde::Serialize;

use crate::commands::meaning::{BindingDocument, Meaning, bar};
use crate::commands::{after, load};
use crate::console::{self, Message, messages};
use crate::outcome::Outcome;
use crate::text::{Align, counted, indented, real, table, thousands};

/// Show which bindings violate an axiom most, which literals are to blame, and the witness of each `exists`.
///
/// `blame` is the derivative of the binding's truth with respect to the literal's. Formulas are shown as they are evaluated: in log
/// space with negations at the atoms. Where the features of an individual are columns of a file, its cells are shown, with
/// the effect of each column on the output of the run's networks: the output minus the output with the column at its mean,
/// in logits or in a function's own units.
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
    /// Open the formula of this definition, instead of treating it as one literal; may be repeated
    #[arg(long, value_name = "NAME")]
    open: Vec<String>,
    #[command(flatten)]
    meaning: Meaning,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

/// Individuals whose features are columns of a file, as people see them.
type SeenBy = BTreeMap<(SortId, u32), Seen>;

/// How many columns of an individual are shown to people, and how many that moved a network.
const SHOWN_CELLS: usize = 8;
const SHOWN_MOVED: usize = 4;

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
    /// By variable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    features: BTreeMap<&'a str, SeenDocument<'a>>,
}

#[derive(Serialize)]
struct SeenDocument<'a> {
    columns: BTreeMap<&'a str, &'a str>,
    moved: &'a [Moved],
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
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, mut warnings) = load(&arguments.manifest, arguments.meaning.run.as_deref())?;
    let mut questions = arguments.meaning.questions(&project, arguments.top);
    questions.open.clone_from(&arguments.open);
    let found = questions.explain(arguments.axiom.as_deref());
    let found = found.map_err(after(&warnings))?;
    warnings.extend(found.warnings);
    let shown = found.axioms.iter().flat_map(|axiom| &axiom.worst);
    let individuals: Vec<(SortId, u32)> = shown
        .flat_map(|violation| violation.binding.iter().filter_map(|b| b.individual))
        .collect();
    let seen = questions.seen(&individuals).map_err(after(&warnings))?;
    let outcome = if arguments.json {
        console::print_json(&document_with(&found.axioms, &seen, &warnings))
    } else {
        let explained = found.axioms.iter();
        let parts: Vec<String> = explained
            .map(|axiom| human(project.theory(), &questions.semantics, axiom, &seen))
            .collect();
        console::print(&parts.join("\n"))
    };
    console::report(&warnings);
    Ok(outcome)
}

/// What `--json` prints, without the cells of tables.
pub fn document<'a>(
    axioms: &'a [Explanation],
    warnings: &'a Diagnostics,
) -> impl Serialize + use<'a> {
    static NOTHING: SeenBy = BTreeMap::new();
    document_with(axioms, &NOTHING, warnings)
}

fn document_with<'a>(
    axioms: &'a [Explanation],
    seen: &'a SeenBy,
    warnings: &'a Diagnostics,
) -> Document<'a> {
    Document {
        axioms: axioms
            .iter()
            .map(|axiom| axiom_document(axiom, seen))
            .collect(),
        warnings: messages(warnings),
    }
}

fn axiom_document<'a>(axiom: &'a Explanation, seen: &'a SeenBy) -> AxiomDocument<'a> {
    AxiomDocument {
        name: &axiom.name,
        truth: axiom.truth,
        groundings: axiom.groundings,
        worst: (axiom.worst.iter())
            .map(|violation| violation_document(violation, seen))
            .collect(),
    }
}

fn seen_document(seen: &Seen) -> SeenDocument<'_> {
    SeenDocument {
        columns: seen
            .cells
            .iter()
            .map(|(name, cell)| (&name[..], &cell[..]))
            .collect(),
        moved: &seen.moved,
    }
}

fn violation_document<'a>(violation: &'a Violation, seen: &'a SeenBy) -> ViolationDocument<'a> {
    ViolationDocument {
        features: (violation.binding.iter())
            .filter_map(|bound| {
                Some((
                    &bound.variable[..],
                    seen_document(seen.get(&bound.individual?)?),
                ))
            })
            .collect(),
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

fn human(theory: &Theory, semantics: &Semantics, axiom: &Explanation, seen: &SeenBy) -> String {
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
        0 => out += "\n  it has no groundings that could be false\n",
        all if all == axiom.groundings => {}
        some => {
            let total = thousands(axiom.groundings);
            out += &format!("\n  the {} least true of {total}:\n", thousands(some));
        }
    }
    for violation in &axiom.worst {
        out += &violation_text(semantics, violation, seen);
    }
    out
}

/// An individual's cells, and what moved the networks.
fn seen_text(variable: &str, seen: &Seen) -> String {
    let cells = seen.cells.iter().take(SHOWN_CELLS);
    let mut shown: Vec<String> = cells
        .map(|(name, cell)| match cell.trim() {
            "" => format!("{name} missing"),
            cell => format!("{name} {cell}"),
        })
        .collect();
    if seen.cells.len() > SHOWN_CELLS {
        shown.push(format!("{} more", seen.cells.len() - SHOWN_CELLS));
    }
    let mut out = format!("      {variable}: {}\n", shown.join(", "));
    for Moved {
        symbol,
        said,
        columns,
    } in &seen.moved
    {
        let sign = |by: f64| if by < 0.0 { "−" } else { "+" };
        let most: Vec<String> = (columns.iter().take(SHOWN_MOVED))
            .map(|(name, by)| format!("{name} {}{}", sign(*by), real(by.abs())))
            .collect();
        let by = match most.is_empty() {
            true => "no column affects it".to_string(),
            false => format!("largest effects: {}", most.join(", ")),
        };
        out += &format!("         {symbol} gives {said}; {by}\n");
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
    // Spaces inside a marked atom.
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

fn violation_text(semantics: &Semantics, violation: &Violation, seen: &SeenBy) -> String {
    let degree = semantics.degree(violation.truth);
    let truth = truth_text(degree, semantics.sat_is_log(), violation.truth);
    let mut out = format!("\n  {} {truth}", bar(degree));
    if !violation.binding.is_empty() {
        out += &format!("   {}", binding_text(&violation.binding));
    }
    out.push('\n');
    for bound in &violation.binding {
        if let Some(seen) = bound
            .individual
            .and_then(|individual| seen.get(&individual))
        {
            out += &seen_text(&bound.variable, seen);
        }
    }
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
        out += &indented(&table(&align, &rows), 4);
    }
    for Witness { formula, truest } in &violation.witnesses {
        let found = match truest {
            Some((binding, truth)) => {
                let truth = real(degree_of(*truth));
                format!("witness {}, truth {truth}", binding_text(binding))
            }
            None => "no witness, as there is nothing to choose from".to_string(),
        };
        out += &format!("      {found}: {formula}\n");
    }
    out
}
