//! Every `dist` of a guard needs features of one width on both sides.

use crate::diagnostic::Diagnostic;
use crate::guard::Scope;
use crate::theory::*;

/// Every `dist` of a guard needs features of one width on both sides.
pub(super) fn check_distances(scope: &Scope, guard: &Guard) -> Result<(), Diagnostic> {
    let theory = scope.theory();
    let mut distances = Vec::new();
    find_distances(guard, &mut distances);
    for (value, a, b) in distances {
        let width = |term: &Term| {
            let sort = scope.sort_of(term)?;
            let features = scope.data.sorts[sort.index()].features.as_ref();
            Some((sort, features.map(|(width, _)| *width)))
        };
        let (Some((s, a)), Some((t, b))) = (width(a), width(b)) else {
            continue;
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
            _ => continue,
        };
        return Err(Diagnostic::error(message).at(&theory.source, value.span, ""));
    }
    Ok(())
}

fn find_distances<'g>(guard: &'g Guard, found: &mut Vec<(&'g Value, &'g Term, &'g Term)>) {
    match &guard.kind {
        GuardKind::Compare(_, a, b) => {
            distances_of(a, found);
            distances_of(b, found);
        }
        GuardKind::Same { .. } => {}
        GuardKind::Member(_, cells) => cells.iter().for_each(|c| distances_of(c, found)),
        GuardKind::Not(inner) => find_distances(inner, found),
        GuardKind::And(members) | GuardKind::Or(members) => {
            members.iter().for_each(|m| find_distances(m, found));
        }
        GuardKind::Exists(_, guard, body) => {
            guard.iter().for_each(|g| find_distances(g, found));
            find_distances(body, found);
        }
    }
}

fn distances_of<'g>(value: &'g Value, found: &mut Vec<(&'g Value, &'g Term, &'g Term)>) {
    match &value.kind {
        ValueKind::Dist(a, b) => found.push((value, a, b)),
        ValueKind::Negative(inner) | ValueKind::Abs(inner) => distances_of(inner, found),
        ValueKind::Sum(members) => members.iter().for_each(|(_, m)| distances_of(m, found)),
        ValueKind::Product(members) => members.iter().for_each(|(_, m)| distances_of(m, found)),
        ValueKind::Min(values) | ValueKind::Max(values) => {
            values.iter().for_each(|v| distances_of(v, found));
        }
        ValueKind::Int(_)
        | ValueKind::Real(_)
        | ValueKind::Param(_)
        | ValueKind::Number(_)
        | ValueKind::Individual(_) => {}
    }
}
