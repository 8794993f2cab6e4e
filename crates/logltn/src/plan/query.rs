//! Mistakes in a question that show once the data are known.

use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard_parts::Part;
use crate::recursion::deep;
use crate::theory::*;

/// Individuals that are written by number and do not exist.
pub(super) fn check_individuals(data: &Data, query: &Query) -> Diagnostics {
    let mut found = Diagnostics::new();
    look_at(data, query, &query.axiom.formula, &mut found);
    found
}

fn look_at(data: &Data, query: &Query, formula: &Formula, found: &mut Diagnostics) {
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
    match &formula.kind {
        FormulaKind::Atom { arguments, .. } | FormulaKind::Use { arguments, .. } => {
            arguments.iter().for_each(|a| a.visit(&mut look));
        }
        FormulaKind::Quantified {
            guard: Some(guard), ..
        } => guard.visit(&mut look),
        _ => {}
    }
    deep(|| {
        let children = formula.children();
        children
            .into_iter()
            .for_each(|c| look_at(data, query, c, found));
    });
}
