//! Which formulas can have no empty `exists` inside.
//!
//! Empty ones are counted, once per binding around them. Moved out of a quantifier, a formula has fewer
//! bindings around it, so only one without empty ones can move.

use crate::guard::{Cell, Join, Scope, conjuncts, free_variables};
use crate::plan::normal::{Kind, Normal};
use crate::recursion::deep;
use crate::theory::*;

/// About how many bindings are looked at to find one that the guard keeps, for all values of the variables around it.
const MAX_TRIES: u64 = 1 << 21;

/// Whether no `exists` in the formula can be empty.
pub(in crate::plan) fn never_empty(scope: Scope, normal: &Normal) -> bool {
    let chooses = match &normal.kind {
        Kind::Quantifier {
            forall: false,
            binding,
            guard,
            ..
        } => keeps_something(scope, binding, guard.as_deref()),
        Kind::SumProduct(sum) => !sum.elimination.counts.contains(&0),
        _ => true,
    };
    chooses && deep(|| normal.children().all(|c| never_empty(scope, c)))
}

/// Whether a guard certainly keeps something, whatever the values of the variables around it.
fn keeps_something(scope: Scope, binding: &Binding, guard: Option<&Guard>) -> bool {
    let inhabited = match binding {
        Binding::Rows(table, _) => {
            let rows = scope.data.table(*table);
            rows.is_some_and(|t| t.rows > 0 && !t.batched)
        }
        Binding::Sorts(variables) => variables.iter().all(|v| scope.size_of(*v) > 0),
    };
    let Some(guard) = guard.filter(|_| inhabited) else {
        return inhabited;
    };
    let conditions = conjuncts(guard);
    let mut outer = free_variables(guard);
    outer.retain(|v| !binding.variables().contains(v));
    let sizes = outer.iter().map(|v| u64::from(scope.size_of(*v)));
    let tries = sizes.clone().fold(1, u64::saturating_mul);
    // Number columns have no extent: their values are not known here.
    if tries == 0 || tries > MAX_TRIES || conditions.iter().any(|g| scope.may_fail(g)) {
        return false;
    }
    let join = Join::new(scope, binding, &conditions);
    let mut env = scope.environment();
    let mut keeps = |mut number| {
        for (v, size) in outer.iter().zip(sizes.clone()) {
            env[v.index()] = Cell::Individual((number % size) as u32);
            number /= size;
        }
        let mut found = false;
        let run = join.run(&mut env, &mut |_, _| {
            found = true;
            false
        });
        run.is_ok() && found
    };
    scope.tiring_after(MAX_TRIES, || (0..tries).all(&mut keeps))
}
