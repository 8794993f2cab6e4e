//! Guards at work: evaluating them on a binding, and listing the bindings that pass them.
//!
//! [`evaluate`] decides whether one binding passes; it defines the meaning of a guard. [`join`] lists all bindings that
//! pass without trying the whole product, wherever an equation, a table, bounds or a distance allow, or an `exists` or
//! `or` of these.

mod bounds;
mod distinct;
mod estimate;
mod evaluate;
mod join;
mod linear;
mod near_pairs;
mod neighbours;
mod planner;
mod table_index;

pub(crate) use distinct::sort_tuples;
pub(crate) use estimate::say_if_slow;
pub(crate) use evaluate::{Cell, Scope};
pub(crate) use join::{Join, with_names};
pub(crate) use linear::Linear;
pub(crate) use neighbours::Neighbours;
pub(crate) use planner::has_exists;
pub(crate) use table_index::{Kept, TableIndexes};

use crate::guard_parts::Part;
use crate::theory::*;

/// The conjuncts of a guard: `a and (b and c)` has three.
pub(crate) fn conjuncts(guard: &Guard) -> Vec<&Guard> {
    match &guard.kind {
        GuardKind::And(members) => members.iter().flat_map(conjuncts).collect(),
        _ => vec![guard],
    }
}

/// The variables that a guard reads, without those that it binds itself, each once, in order.
pub(crate) fn free_variables(guard: &Guard) -> Vec<VarId> {
    let (mut found, mut bound) = (Vec::new(), Vec::new());
    guard.visit(&mut |part| {
        found.extend(part.variable());
        // Each binder has its own variables.
        if let Part::Guard(Guard {
            kind: GuardKind::Exists(binding, ..),
            ..
        }) = part
        {
            bound.extend_from_slice(binding.variables());
        }
    });
    found.retain(|v| !bound.contains(v));
    found.sort_unstable();
    found.dedup();
    found
}

/// The tables that a guard reads.
pub(crate) fn tables(guard: &Guard) -> Vec<TableId> {
    let mut found = Vec::new();
    guard.visit(&mut |part| {
        if let Part::Guard(guard) = part {
            match &guard.kind {
                GuardKind::Member(table, _) | GuardKind::Exists(Binding::Rows(table, _), ..) => {
                    found.push(*table);
                }
                _ => {}
            }
        }
    });
    found
}

pub(crate) fn term_variables(term: &Term, found: &mut Vec<VarId>) {
    term.visit(&mut |part| found.extend(part.variable()));
}

fn value_variables(value: &Value, found: &mut Vec<VarId>) {
    value.visit(&mut |part| found.extend(part.variable()));
}

impl Theory {
    /// Whether some guard tests membership in a table, or searches it: the result then depends on all rows, not only on
    /// those that a quantifier ranges over.
    pub fn guards_look_into(&self, table: TableId) -> bool {
        if self.is_in_product(table) {
            return true;
        }
        let looks =
            |guard: &Option<Guard>| guard.as_ref().is_some_and(|g| tables(g).contains(&table));
        self.formulas().any(|axiom| {
            let mut formulas = vec![&axiom.formula];
            let mut found = axiom.family.as_ref().is_some_and(|f| looks(&f.guard));
            while let Some(formula) = formulas.pop().filter(|_| !found) {
                if let FormulaKind::Quantified { guard, .. } = &formula.kind {
                    found = looks(guard);
                }
                formulas.extend(formula.children());
            }
            found
        })
    }

    /// Whether the rows of a table are bound together with others.
    pub(crate) fn is_in_product(&self, table: TableId) -> bool {
        let parts = self.products.iter().flat_map(|p| &p.parts);
        parts
            .into_iter()
            .any(|part| *part == ProductPart::Rows(table))
    }
}
