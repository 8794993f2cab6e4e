//! Mistakes in a question that show once the data are known.

use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard_parts::Part;
use crate::theory::*;

/// Individuals that are written by number and do not exist.
pub(super) fn check_individuals(data: &Data, query: &Query) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut look = |part: Part| {
        if let Part::Term(term) = part
            && let TermKind::Individual(sort, index) = term.kind
            && index as usize >= data.size(sort)
        {
            let (name, size) = (&data.theory()[sort].name, data.size(sort));
            let help = match size {
                0 => format!("sort `{name}` is empty"),
                _ => format!("they are numbered from 0 to {}", size - 1),
            };
            found.push(
                Diagnostic::error(
                    Code::UnknownIndividual,
                    format!("sort `{name}` has no individual {index}"),
                )
                .at(&query.source, term.span, "")
                .help(help),
            );
        }
    };
    let parts = query.axiom.formula.parts();
    parts.for_each(|formula| formula.visit_own(&mut look));
    found
}
