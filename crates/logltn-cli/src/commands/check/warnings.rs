//! Warnings about theories that are easily satisfied.

use logltn::{Diagnostic, Diagnostics, OutputKind};
use logltn_train::project::Project;

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
        if output.kind == OutputKind::Softmax {
            continue;
        }
        let (sign, value, other) = if polarity.only_positive().is_some() {
            ("positively", "true", "false")
        } else if polarity.only_negative().is_some() {
            ("negatively", "false", "true")
        } else {
            continue;
        };
        let name = &predicate.name;
        found.push(
            Diagnostic::warning(format!(
                "predicate `{name}` occurs only {sign}: to be {value} of everything satisfies every axiom about it"
            ))
            .at(&theory.source, predicate.span, "")
            .help(format!("add an axiom that says where `{name}` is {other}")),
        );
    }
}
