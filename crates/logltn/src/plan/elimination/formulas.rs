//! What elimination wants to know of formulas: the members of conjunctions, the variables they mention,
//! and about how much work they are.

use super::{Builder, Member};
use crate::guard::{free_variables, term_variables};
use crate::recursion::deep;
use crate::theory::*;

impl Builder<'_> {
    /// The variables of the arguments that name rows.
    pub(super) fn row_variables(&self, formula: &Formula, found: &mut Vec<VarId>) {
        deep(|| match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } => {
                let rows = match self.outputs[predicate.index()].per_class {
                    true => &arguments[..arguments.len().saturating_sub(1)],
                    false => arguments.as_slice(),
                };
                rows.iter().for_each(|a| term_variables(a, found));
            }
            FormulaKind::Not(inner) => self.row_variables(inner, found),
            FormulaKind::And(members) | FormulaKind::Or(members) => {
                members.iter().for_each(|m| self.row_variables(m, found));
            }
            FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
                self.row_variables(a, found);
                self.row_variables(b, found);
            }
            FormulaKind::Quantified { body, .. } => self.row_variables(body, found),
        });
    }

    /// About how much work a formula is for one binding.
    pub(in crate::plan) fn weight(&self, formula: &Formula) -> f64 {
        deep(|| match &formula.kind {
            FormulaKind::Atom { .. } => 2.0,
            FormulaKind::Not(inner) => self.weight(inner),
            FormulaKind::And(members) => members.iter().map(|m| self.weight(m)).sum(),
            FormulaKind::Or(members) => members.iter().map(|m| 3.0 + self.weight(m)).sum(),
            FormulaKind::Implies(a, b) => 6.0 + self.weight(a) + self.weight(b),
            FormulaKind::Iff(a, b) => 12.0 + 2.0 * (self.weight(a) + self.weight(b)),
            FormulaKind::Quantified {
                binding,
                body,
                guard,
                ..
            } => {
                let size = match binding {
                    Binding::Rows(table, _) => {
                        self.data.table(*table).map_or(0.0, |t| t.rows as f64)
                    }
                    Binding::Sorts(variables) => {
                        let scope = self.guard_scope();
                        variables
                            .iter()
                            .map(|v| f64::from(scope.size_of(*v)))
                            .product()
                    }
                };
                // Nobody knows yet what a guard will leave.
                let kept = if guard.is_some() { size.sqrt() } else { size };
                kept * (self.weight(body) + 2.0)
            }
        })
    }
}

/// The members of a conjunction, nested ones too: a sum of sums is a sum.
pub(in crate::plan) fn flatten<'f>(
    formula: &'f Formula,
    negate: bool,
    found: &mut Vec<Member<'f>>,
) {
    deep(|| match &formula.kind {
        FormulaKind::Not(inner) => flatten(inner, !negate, found),
        FormulaKind::And(members) if !negate => {
            members.iter().for_each(|m| flatten(m, false, found));
        }
        FormulaKind::Or(members) if negate => members.iter().for_each(|m| flatten(m, true, found)),
        FormulaKind::Implies(a, b) if negate => {
            flatten(a, false, found);
            flatten(b, true, found);
        }
        _ => found.push((formula, negate)),
    });
}

/// Every variable that a formula mentions; each binder has variables of its own.
pub(in crate::plan) fn formula_variables(formula: &Formula, found: &mut Vec<VarId>) {
    deep(|| match &formula.kind {
        FormulaKind::Atom { arguments, .. } => {
            arguments.iter().for_each(|a| term_variables(a, found));
        }
        FormulaKind::Not(inner) => formula_variables(inner, found),
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            members.iter().for_each(|m| formula_variables(m, found));
        }
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
            formula_variables(a, found);
            formula_variables(b, found);
        }
        FormulaKind::Quantified { guard, body, .. } => {
            guard.iter().for_each(|g| found.extend(free_variables(g)));
            formula_variables(body, found);
        }
    });
}
