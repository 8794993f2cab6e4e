//! About how much work a formula is, to decide whether a rewrite pays.

use super::normal::{Kind, Normal};
use crate::guard::{Scope, conjuncts};
use crate::recursion::deep;
use crate::theory::*;

/// About how many operations a formula takes for one binding of the variables around it.
pub(super) fn work(scope: &Scope, normal: &Normal) -> f64 {
    let inside = || deep(|| normal.children().map(|c| work(scope, c)).sum::<f64>());
    match &normal.kind {
        Kind::Constant(_) | Kind::Not(_) | Kind::And(_) | Kind::Log(_) => inside(),
        Kind::Literal { .. } | Kind::Use { .. } => 2.0,
        Kind::Or(members) => 3.0 * members.len() as f64 + inside(),
        Kind::Implies(..) => 6.0 + inside(),
        Kind::Iff(..) => 12.0 + inside(),
        Kind::SumProduct(sum) => sum.rewrite.cost_after,
        Kind::Quantifier { binding, guard, .. } => {
            let size = match binding {
                Binding::Rows(table, _) => scope.data.table(*table).map_or(0.0, |t| t.rows as f64),
                Binding::Sorts(variables) => {
                    let sizes = variables.iter().map(|v| f64::from(scope.size_of(*v)));
                    sizes.product()
                }
            };
            let few = guard.as_deref().is_some_and(|guard| !keeps_most(guard));
            // What such a guard will keep is not known yet.
            let kept = if few { size.sqrt() } else { size };
            kept * (inside() + 2.0)
        }
    }
}

/// Whether a guard only asks whether individuals differ, or which of them is less.
fn keeps_most(guard: &Guard) -> bool {
    let individual = |value: &Value| matches!(value.kind, ValueKind::Individual(_));
    let differ = |condition: &&Guard| match &condition.kind {
        GuardKind::Same { negated, .. } => *negated,
        GuardKind::Compare(comparison, a, b) => {
            *comparison != Comparison::Equal && individual(a) && individual(b)
        }
        _ => false,
    };
    conjuncts(guard).iter().all(differ)
}
