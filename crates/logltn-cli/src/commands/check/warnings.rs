//! Warnings about theories that are easier to satisfy than intended.

use logltn::theory::{ArgumentSort, Predicate};
use logltn::{Code, Diagnostic, Diagnostics, OutputKind, Plan};
use logltn_train::manifest::Grounding;
use logltn_train::project::Project;
use logltn_train::train::Trainer;

/// Warns of predicates that can satisfy all axioms by being true (or false) of everything. Not of a softmax,
/// whose classes compete: to be true of one is to be false of the others.
pub fn one_sided(project: &Project, found: &mut Diagnostics) {
    let theory = project.theory();
    let polarities = theory.polarities();
    for ((predicate, output), polarity) in theory
        .predicates
        .iter()
        .zip(&project.outputs)
        .zip(polarities)
    {
        if output.kind == OutputKind::Softmax || cannot_give_in(project, predicate) {
            continue;
        }
        let (sign, value, other) = if polarity.positive.is_some() && polarity.negative.is_none() {
            ("positively", "true", "false")
        } else if polarity.negative.is_some() && polarity.positive.is_none() {
            ("negatively", "false", "true")
        } else {
            continue;
        };
        let name = &predicate.name;
        found.push(
            Diagnostic::warning(Code::OneSidedPredicate, format!(
                "predicate `{name}` occurs only {sign}: a constant {value} satisfies every axiom about it"
            ))
            .at(&theory.source, predicate.span, "")
            .help(format!("add an axiom that says where `{name}` is {other}")),
        );
    }
}

/// Whether a predicate is a closed form that nothing can make true or false of everything: what it compares is data, or
/// the values of networks for data, and its own numbers, if it has any, do not move.
fn cannot_give_in(project: &Project, predicate: &Predicate) -> bool {
    let manifest = &project.manifest;
    let given = manifest.predicates.get(&predicate.name);
    let Some(Grounding::ClosedForm(form)) = given.map(|given| &given.grounding) else {
        return false;
    };
    let frozen = |name: &str| {
        let train = manifest.train.as_ref();
        train.is_some_and(|train| train.freeze.iter().any(|frozen| frozen.value == name))
    };
    let learnt = |argument: &ArgumentSort| match argument {
        ArgumentSort::Sort(sort) => {
            let sort = &project.theory()[*sort].name;
            let given = manifest.sorts.get(sort);
            given.is_some_and(|given| given.learnable.is_some()) && !frozen(sort)
        }
        ArgumentSort::Vector(_) => false,
    };
    (form.learnt().is_empty() || frozen(&predicate.name)) && !predicate.arguments.iter().any(learnt)
}

/// Warns of axioms, and families with members, of which no grounding is left.
pub fn nothing_left(trainer: &Trainer, plan: &Plan, found: &mut Diagnostics) {
    let theory = trainer.project().theory();
    let mut planned = plan.axioms();
    for (index, axiom) in theory.axioms.iter().enumerate() {
        let count = planned.iter().take_while(|p| p.axiom == index).count();
        let (members, rest) = planned.split_at(count);
        planned = rest;
        // The plan itself reports an `exists` with nothing to choose from.
        let is_empty = |m: &logltn::PlannedAxiom| m.groundings == 0 && m.empty_exists == 0;
        if members.is_empty() || !members.iter().all(is_empty) {
            continue;
        }
        // A sample without groundings says nothing about other samples.
        if trainer.sees_samples(index) {
            let what = format!(
                "axiom `{}` has no groundings in the first step's sample",
                axiom.name
            );
            let warning = Diagnostic::warning(Code::NothingToRangeOver, what);
            found.push(
                warning
                    .at(&theory.source, axiom.name_span, "its guards keep no individual of the sample")
                    .help("other steps draw other samples; with a larger `sample` more of them have groundings"),
            );
            continue;
        }
        let why = if members.iter().all(|m| m.groundings_before == 0) {
            "the sorts or tables it ranges over are empty"
        } else {
            "its guards keep nothing"
        };
        found.push(
            Diagnostic::warning(
                Code::NothingToRangeOver,
                format!("axiom `{}` has no groundings", axiom.name),
            )
            .at(&theory.source, axiom.name_span, why),
        );
    }
}
