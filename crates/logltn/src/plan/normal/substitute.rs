//! Individuals in the place of variables, where a family, `all` or `any` is written out.

use crate::guard::Scope;
use crate::recursion::deep;
use crate::theory::*;

/// What some variables stand for, by index of the variable.
pub(super) type Fixed = [Option<u32>];

impl Scope<'_> {
    pub(super) fn fix_guard(&self, fixed: &Fixed, guard: &mut Guard) {
        let value = |v: &mut Value| self.fix_value(fixed, v);
        deep(|| match &mut guard.kind {
            GuardKind::Compare(_, a, b) => [a, b].into_iter().for_each(value),
            GuardKind::Same { left, right, .. } => {
                self.fix_term(fixed, left);
                self.fix_term(fixed, right);
            }
            GuardKind::Member(_, cells) => cells.iter_mut().for_each(value),
            GuardKind::Not(inner) => self.fix_guard(fixed, inner),
            GuardKind::And(members) | GuardKind::Or(members) => {
                members.iter_mut().for_each(|m| self.fix_guard(fixed, m));
            }
            GuardKind::Exists(_, guard, body) => {
                guard.iter_mut().for_each(|g| self.fix_guard(fixed, g));
                self.fix_guard(fixed, body);
            }
        });
    }

    fn fix_value(&self, fixed: &Fixed, value: &mut Value) {
        deep(|| match &mut value.kind {
            ValueKind::Int(_) | ValueKind::Real(_) | ValueKind::Param(_) => {}
            ValueKind::Number(id) => {
                if let Some(index) = fixed[id.index()] {
                    let sort = self.variables[id.index()].sort;
                    value.kind = ValueKind::Int(self.integer_of(sort, index));
                }
            }
            ValueKind::Individual(term) => self.fix_term(fixed, term),
            ValueKind::Negative(inner) | ValueKind::Abs(inner) => self.fix_value(fixed, inner),
            ValueKind::Sum(members) => {
                members
                    .iter_mut()
                    .for_each(|(_, m)| self.fix_value(fixed, m));
            }
            ValueKind::Product(members) => {
                members
                    .iter_mut()
                    .for_each(|(_, m)| self.fix_value(fixed, m));
            }
            ValueKind::Min(values) | ValueKind::Max(values) => {
                values.iter_mut().for_each(|v| self.fix_value(fixed, v));
            }
            ValueKind::Dist(a, b) => {
                self.fix_term(fixed, a);
                self.fix_term(fixed, b);
            }
        });
    }

    pub(super) fn fix_term(&self, fixed: &Fixed, term: &mut Term) {
        match &mut term.kind {
            TermKind::Variable(id) => {
                if let (Some(index), ColumnSort::Sort(sort)) =
                    (fixed[id.index()], self.variables[id.index()].sort)
                {
                    term.kind = TermKind::Individual(sort, index);
                }
            }
            TermKind::Individual(..) | TermKind::Constant(_) => {}
            TermKind::Apply(_, arguments) => {
                deep(|| arguments.iter_mut().for_each(|a| self.fix_term(fixed, a)));
            }
        }
    }
}
