//! The meaning of the numbers of predicates that have a network or are given by host code.

use logltn::theory::{ArgumentSort, Predicate, SortKind};
use logltn::{Code, Data, Diagnostic, Output, OutputKind, Span, Theory};

use super::report::Report;
use crate::manifest::{self, Grounding, InputExpr, Output as ManifestOutput};

/// The output of a predicate that has no file of numbers.
///
/// A softmax has one logit per class. A sigmoid has one logit per tuple of arguments, unless the last argument can
/// only pick one of several: its sort consists of integers or labels, and the network does not read it. It reads the
/// arguments that its `inputs` name, or, without `inputs`, those that have numbers (features or a learnable vector).
/// Then it has one logit per individual of the last sort. Numbers from host code without a declared meaning are a
/// sigmoid of one logit.
pub(super) fn output(
    report: &mut Report<'_>,
    theory: &Theory,
    predicate: &Predicate,
    grounding: Option<&manifest::Predicate>,
    data: &Data,
    known: impl Fn(logltn::theory::SortId) -> bool,
) -> Output {
    if let Some(Grounding::ClosedForm(form)) = grounding.map(|g| &g.grounding) {
        if let (OutputKind::Softmax, Some(ArgumentSort::Sort(last))) =
            (form.output().kind, predicate.arguments.last())
            && known(*last)
        {
            softmax_fits(report, theory, predicate, data, form.span());
        }
        return form.output();
    }
    let declared = grounding.and_then(|g| g.output());
    match declared.map(|o| (o.value, o.span)) {
        Some((ManifestOutput::Softmax, span)) => {
            let last_is_known = match predicate.arguments.last() {
                Some(ArgumentSort::Sort(sort)) => known(*sort),
                _ => true,
            };
            if last_is_known {
                softmax_fits(report, theory, predicate, data, span);
            }
            Output::softmax()
        }
        Some((ManifestOutput::Sigmoid, _)) => {
            let per_class = grounding.is_some_and(|g| picks_class(report, theory, predicate, g));
            if per_class {
                Output::sigmoid().per_class()
            } else {
                Output::sigmoid()
            }
        }
        None => Output::sigmoid(),
    }
}

/// Whether the last argument of a sigmoid picks one of several logits.
fn picks_class(
    report: &Report<'_>,
    theory: &Theory,
    predicate: &Predicate,
    grounding: &manifest::Predicate,
) -> bool {
    let Grounding::Network { network, .. } = &grounding.grounding else {
        return false;
    };
    let Some(ArgumentSort::Sort(last)) = predicate.arguments.last() else {
        return false;
    };
    let sort = &theory[*last];
    let given = report.manifest.sorts.get(&sort.name);
    let has_features = report.manifest.features(&sort.name).is_some();
    if sort.kind == SortKind::Data && (has_features || sort.labels.is_empty()) {
        return false;
    }
    let inputs = (report.manifest.network(&network.value)).and_then(|n| n.inputs.as_ref());
    match (inputs, &grounding.args) {
        (Some(inputs), Some(args)) => {
            let reads = |input: &InputExpr, name: &str| {
                input
                    .variables()
                    .iter()
                    .any(|variable| variable.value == name)
            };
            args.last()
                .is_some_and(|last| !inputs.iter().any(|input| reads(input, last)))
        }
        _ => given.is_none_or(|s| s.learnable.is_none()),
    }
}

/// Whether a predicate can be a softmax: its last argument is one of at least two individuals.
pub(super) fn softmax_fits(
    report: &mut Report<'_>,
    theory: &Theory,
    predicate: &Predicate,
    data: &Data,
    span: Span,
) -> bool {
    let name = &predicate.name;
    let error = match predicate.arguments.last() {
        // Reported with the other mismatches of manifest and theory.
        None => return false,
        Some(ArgumentSort::Vector(_)) => Diagnostic::error(
            Code::NoClasses,
            format!(
                "`{name}` cannot be a softmax: its last argument is a vector, which picks no class"
            ),
        ),
        Some(ArgumentSort::Sort(sort)) => match data.size(*sort) {
            0 | 1 => Diagnostic::error(
                Code::NoClasses,
                format!(
                    "`{name}` cannot be a softmax: sort `{}` has {}, and a softmax over one class is always 1",
                    theory[*sort].name,
                    if data.size(*sort) == 0 {
                        "no individuals"
                    } else {
                        "one individual"
                    }
                ),
            ),
            _ => return true,
        },
    };
    report.push(
        span,
        "needs two classes or more",
        error.help("use `output = \"sigmoid\"`"),
    );
    false
}
