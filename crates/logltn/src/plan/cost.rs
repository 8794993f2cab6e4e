//! About how much work a formula is, to decide whether a rewrite pays.

use super::normal::{Kind, Normal};
use crate::guard::{Cell, Scope, conjuncts, free_variables, has_exists};
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
            let share = guard.as_deref().map_or(Some(1.0), |g| share(scope, g));
            // What a guard will keep that keeps few is not known yet.
            let kept = share.map_or(size.sqrt(), |share| size * share);
            kept * (inside() + 2.0)
        }
    }
}

/// How many bindings a guard is tried on, and of how many it must keep one.
const TRIES: u64 = 32;
const FEW: u64 = 8;

/// About which share of its bindings a guard keeps, if these are not few.
fn share(scope: &Scope, guard: &Guard) -> Option<f64> {
    if keeps_most(guard) {
        return Some(1.0);
    }
    let variables = free_variables(guard);
    let sizes: Vec<u64> = variables.iter().map(|v| scope.size_of(*v).into()).collect();
    if sizes.contains(&0) || scope.may_fail(guard) || has_exists(guard) {
        return None;
    }
    let mut env = scope.environment();
    let (mut kept, mut number) = (0, 1_u64);
    for _ in 0..TRIES {
        for (v, size) in variables.iter().zip(&sizes) {
            number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            env[v.index()] = Cell::Individual(((number >> 33) % size) as u32);
        }
        kept += u64::from(scope.holds(guard, &mut env).ok()?);
    }
    (kept * FEW >= TRIES).then_some(kept as f64 / TRIES as f64)
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
