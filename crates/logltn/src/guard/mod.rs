//! Guards at work: evaluating them on a binding, and listing the bindings that pass them.
//!
//! [`evaluate`] says whether one binding passes: the meaning of a guard. [`join`] lists all bindings
//! that pass without trying the whole product, wherever an equation, a table, bounds or a distance allow.

mod bounds;
mod evaluate;
mod join;
mod linear;
mod near_pairs;
mod neighbours;
mod planner;
mod table_index;

pub(crate) use evaluate::{Cell, Scope};
pub(crate) use join::{Join, with_names};
pub(crate) use linear::Linear;
pub use neighbours::Neighbours;
pub(crate) use table_index::TableIndexes;

use crate::theory::*;

/// The conjuncts of a guard: `a and (b and c)` has three.
pub(crate) fn conjuncts(guard: &Guard) -> Vec<&Guard> {
    match &guard.kind {
        GuardKind::And(members) => members.iter().flat_map(conjuncts).collect(),
        _ => vec![guard],
    }
}

/// The variables that a guard looks at, without those that it binds itself, each once, in order.
pub(crate) fn free_variables(guard: &Guard) -> Vec<VarId> {
    let mut found = Vec::new();
    guard_variables(guard, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

fn guard_variables(guard: &Guard, found: &mut Vec<VarId>) {
    match &guard.kind {
        GuardKind::Compare(_, a, b) => {
            value_variables(a, found);
            value_variables(b, found);
        }
        GuardKind::Same { left, right, .. } => {
            term_variables(left, found);
            term_variables(right, found);
        }
        GuardKind::Member(_, cells) => cells.iter().for_each(|c| value_variables(c, found)),
        GuardKind::Not(inner) => guard_variables(inner, found),
        GuardKind::And(members) | GuardKind::Or(members) => {
            members.iter().for_each(|m| guard_variables(m, found));
        }
        GuardKind::Exists(binding, guard, body) => {
            let mut inner = Vec::new();
            guard.iter().for_each(|g| guard_variables(g, &mut inner));
            guard_variables(body, &mut inner);
            let bound = binding.variables();
            found.extend(inner.into_iter().filter(|v| !bound.contains(v)));
        }
    }
}

/// The tables that a guard looks at.
pub(crate) fn tables(guard: &Guard, found: &mut Vec<TableId>) {
    match &guard.kind {
        GuardKind::Compare(..) | GuardKind::Same { .. } => {}
        GuardKind::Member(table, _) => found.push(*table),
        GuardKind::Not(inner) => tables(inner, found),
        GuardKind::And(members) | GuardKind::Or(members) => {
            members.iter().for_each(|m| tables(m, found));
        }
        GuardKind::Exists(binding, guard, body) => {
            if let Binding::Rows(table, _) = binding {
                found.push(*table);
            }
            guard.iter().for_each(|g| tables(g, found));
            tables(body, found);
        }
    }
}

pub(crate) fn term_variables(term: &Term, found: &mut Vec<VarId>) {
    match &term.kind {
        TermKind::Variable(id) => found.push(*id),
        TermKind::Individual(..) | TermKind::Constant(_) => {}
        TermKind::Apply(_, arguments) => {
            arguments.iter().for_each(|a| term_variables(a, found));
        }
    }
}

fn value_variables(value: &Value, found: &mut Vec<VarId>) {
    match &value.kind {
        ValueKind::Int(_) | ValueKind::Real(_) | ValueKind::Param(_) => {}
        ValueKind::Number(id) => found.push(*id),
        ValueKind::Individual(term) => term_variables(term, found),
        ValueKind::Negative(inner) | ValueKind::Abs(inner) => value_variables(inner, found),
        ValueKind::Sum(members) => members.iter().for_each(|(_, m)| value_variables(m, found)),
        ValueKind::Product(members) => {
            members.iter().for_each(|(_, m)| value_variables(m, found));
        }
        ValueKind::Min(values) | ValueKind::Max(values) => {
            values.iter().for_each(|v| value_variables(v, found));
        }
        ValueKind::Dist(a, b) => {
            term_variables(a, found);
            term_variables(b, found);
        }
    }
}
