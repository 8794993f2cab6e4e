//! Which formulas can have no empty `exists` inside.
//!
//! Empty ones are counted, once per binding around them. Moved out of a quantifier, a formula has fewer
//! bindings around it, so only one without empty ones can move.

use super::Builder;
use crate::guard::{Cell, Join, conjuncts, free_variables};
use crate::recursion::deep;
use crate::theory::*;

/// The most combinations of enclosing variables that a guard is tried on.
const MAX_TRIES: u64 = 1 << 12;

impl Builder<'_> {
    /// Whether every `exists` in the formula, negated or not, surely has something to choose from.
    pub(super) fn never_empty(&self, formula: &Formula, negate: bool) -> bool {
        deep(|| match &formula.kind {
            FormulaKind::Atom { .. } => true,
            FormulaKind::Not(inner) => self.never_empty(inner, !negate),
            FormulaKind::And(members) | FormulaKind::Or(members) => {
                members.iter().all(|m| self.never_empty(m, negate))
            }
            FormulaKind::Implies(a, b) => {
                self.never_empty(a, !negate) && self.never_empty(b, negate)
            }
            FormulaKind::Iff(a, b) => [a, b]
                .iter()
                .all(|f| self.never_empty(f, true) && self.never_empty(f, false)),
            FormulaKind::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } => {
                let quantifier = if negate {
                    quantifier.dual()
                } else {
                    *quantifier
                };
                let chooses = quantifier != Quantifier::Exists
                    || self.keeps_something(binding, guard.as_ref());
                chooses && self.never_empty(body, negate)
            }
        })
    }

    /// Whether a guard surely leaves something, whatever the variables around it are bound to.
    fn keeps_something(&self, binding: &Binding, guard: Option<&Guard>) -> bool {
        let scope = self.guard_scope();
        let inhabited = match binding {
            Binding::Rows(table, _) => {
                let rows = self.data.table(*table);
                rows.is_some_and(|t| t.rows > 0 && !t.batched)
            }
            Binding::Sorts(variables) => variables.iter().all(|v| scope.size_of(*v) > 0),
        };
        let Some(guard) = guard.filter(|_| inhabited) else {
            return inhabited;
        };
        let conditions = conjuncts(guard);
        let mut outer = free_variables(guard);
        outer.retain(|v| !binding.variables().contains(v) && !self.fixed[v.index()]);
        let sizes = outer.iter().map(|v| u64::from(scope.size_of(*v)));
        let tries = sizes.clone().fold(1, u64::saturating_mul);
        // Numbers of a table have no size: which ones there are is not known here.
        if tries == 0 || tries > MAX_TRIES || conditions.iter().any(|g| scope.may_fail(g)) {
            return false;
        }
        let join = Join::new(scope, binding, &conditions);
        let mut env = self.env.clone();
        (0..tries).all(|mut number| {
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
        })
    }
}
