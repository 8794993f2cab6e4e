//! What is said of axioms that pull on nothing, and why they may.

use crate::axioms::{NAMED, listed};
use logltn::{Aggregator, Code, Diagnostic, Implies, Not, PlannedAxiom, Semantics, Span, Theory};

/// These axioms have had no gradient, at one look after the other.
pub(crate) fn of_axioms(
    theory: &Theory,
    semantics: &Semantics,
    axioms: &[(String, Span)],
    step: u64,
) -> Diagnostic {
    let names: Vec<&str> = axioms.iter().map(|(name, _)| name.as_str()).collect();
    let (count, names) = (names.len(), listed(&names));
    let message = match count {
        1 => format!("step {step}: the gradient of axiom {names} is still zero"),
        2..=NAMED => format!("step {step}: the gradients of axioms {names} are still zero"),
        _ => format!("step {step}: the gradients of {count} axioms are still zero: {names}"),
    };
    let mut warning = Diagnostic::warning(Code::VanishingGradient, message);
    // A mark for each declaration; the members of a family share one.
    let mut marked: Vec<Span> = Vec::new();
    for (_, span) in axioms {
        if marked.len() < NAMED && !marked.contains(span) {
            warning = match marked.is_empty() {
                true => warning.at(&theory.source, *span, ""),
                false => warning.mark(*span, ""),
            };
            marked.push(*span);
        }
    }
    for note in slopeless(semantics) {
        warning = warning.note(note);
    }
    warning.help(mend(semantics).unwrap_or_else(|| {
        "until that changes they teach nothing: either they are already satisfied, or their operators pass no gradient"
            .to_string()
    }))
}

/// So many observations of an axiom, in exact probabilities, have been true in no world.
pub(crate) fn of_observations(
    theory: &Theory,
    axiom: &PlannedAxiom,
    count: u64,
    step: u64,
) -> Diagnostic {
    let observations = if count == 1 {
        "observation"
    } else {
        "observations"
    };
    let what = format!(
        "step {step}: {count} {observations} of axiom `{}` had probability 0 up to now",
        axiom.name
    );
    Diagnostic::warning(Code::VanishingGradient, what)
        .at(&theory.source, axiom.span, "")
        .help("laws or certain degrees exclude them, and they teach nothing: explaining the axiom shows which, evaluating counts them")
}

/// Not one step had a gradient.
pub(crate) fn nothing_moved(semantics: &Semantics, steps: u64, undecided: bool) -> Diagnostic {
    let mut error = Diagnostic::error(
        Code::NothingLearnt,
        format!(
            "nothing was learnt: the gradient was zero in each of the {steps} steps, and the weights are still the initial ones"
        ),
    );
    for note in slopeless(semantics) {
        error = error.note(note);
    }
    let help = mend(semantics).unwrap_or_else(|| match undecided {
        true => "from an undecided start these axioms treat all classes alike: let the network not start `undecided`, or add an axiom that tells the classes apart"
            .to_string(),
        false => "check that some axiom mentions what should be learnt, and that it can become more true".to_string(),
    });
    error.help(help)
}

/// The operators through which little or nothing flows back.
fn slopeless(semantics: &Semantics) -> Vec<String> {
    let mut notes = Vec::new();
    if semantics.not == Not::Godel {
        notes.push(
            "`not` is Gödel's: 1 for a truth of 0, otherwise 0. It is flat, so nothing flows back through it"
                .to_string(),
        );
    }
    if let Implies::Godel | Implies::Goguen = semantics.implies {
        notes.push(format!(
            "`->` is `{}`: 1 wherever the left side is not truer than the right one, and flat there",
            semantics.implies
        ));
    }
    let picking: Vec<&str> = [
        ("`forall`", semantics.forall),
        ("the aggregation over axioms", semantics.over_axioms),
    ]
    .into_iter()
    .filter_map(|(what, operator)| (operator == Aggregator::Min).then_some(what))
    .collect();
    if !picking.is_empty() {
        notes.push(format!(
            "{} is `min`: only the least true one gets a gradient",
            picking.join(" and ")
        ));
    }
    notes
}

fn mend(semantics: &Semantics) -> Option<String> {
    (!slopeless(semantics).is_empty()).then(|| {
        "train with a semantics that has gradients everywhere, such as `logltn` or `stable`, and evaluate with this one"
            .to_string()
    })
}
