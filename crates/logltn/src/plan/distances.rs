//! Every `dist` of a guard needs features of one width on both sides.

use crate::diagnostic::{Code, Diagnostic};
use crate::guard::Scope;
use crate::guard_parts::Part;
use crate::theory::*;

/// Every `dist` of a guard needs features of one width on both sides.
pub(super) fn check_distances(scope: &Scope, guard: &Guard) -> Result<(), Diagnostic> {
    let theory = scope.theory();
    let mut problem = None;
    guard.visit(&mut |part| {
        let Part::Value(value) = part else { return };
        let ValueKind::Dist(a, b) = &value.kind else {
            return;
        };
        let width = |term: &Term| {
            let sort = scope.sort_of(term)?;
            let features = scope.data.sorts[sort.index()].features.as_ref();
            Some((sort, features.map(|(width, _)| *width)))
        };
        let (Some((s, a)), Some((t, b))) = (width(a), width(b)) else {
            return;
        };
        let (s, t) = (&theory[s].name, &theory[t].name);
        let message = match (a, b) {
            (None, _) => {
                format!("sort `{s}` has no features, so `dist` has nothing to measure")
            }
            (_, None) => {
                format!("sort `{t}` has no features, so `dist` has nothing to measure")
            }
            (Some(a), Some(b)) if a != b => format!(
                "`{s}` has {a} features and `{t}` has {b}: `dist` needs as many on both sides"
            ),
            _ => return,
        };
        let code = match (a, b) {
            (Some(_), Some(_)) => Code::SizesDisagree,
            _ => Code::NoFeatures,
        };
        let here = || Diagnostic::error(code, message).at(&theory.source, value.span, "");
        problem.get_or_insert_with(here);
    });
    problem.map_or(Ok(()), Err)
}
