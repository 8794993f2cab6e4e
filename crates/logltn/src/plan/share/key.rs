//! When two parts of formulas are the same, whatever the names of their variables and their places.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use crate::guard::Scope;
use crate::guard_parts::PartMut;
use crate::plan::normal::{Kind, Normal};
use crate::recursion::deep;
use crate::theory::*;

/// Writes a formula as text, with numbers in place of its variables.
pub(super) struct Keys<'a> {
    scope: Scope<'a>,
    numbered: Vec<VarId>,
    bound: FxHashSet<VarId>,
    out: String,
}

impl<'a> Keys<'a> {
    pub fn new(scope: Scope<'a>) -> Keys<'a> {
        Keys {
            scope,
            numbered: Vec::new(),
            bound: FxHashSet::default(),
            out: String::new(),
        }
    }

    fn number(&mut self, id: VarId) -> VarId {
        let known = self.numbered.iter().position(|v| *v == id);
        let number = known.unwrap_or_else(|| {
            self.numbered.push(id);
            self.numbered.len() - 1
        });
        VarId(number as u32)
    }

    fn part(&mut self, mut part: PartMut) {
        part.forget_place();
        let binds = matches!(part, PartMut::Guard(_));
        part.rename(|variable| {
            if binds {
                self.bound.insert(variable);
            }
            self.number(variable)
        });
    }

    fn arguments(&mut self, arguments: &[Term]) {
        for argument in arguments {
            let mut argument = argument.clone();
            argument.visit_mut(&mut |part| self.part(part));
            // Writing to a string cannot fail.
            let _ = write!(self.out, "{:?},", argument.kind);
        }
    }

    pub fn normal(&mut self, normal: &Normal) {
        let out = &mut self.out;
        let _ = match &normal.kind {
            Kind::Constant(truth) => write!(out, "{truth}"),
            Kind::Literal {
                predicate, negated, ..
            } => write!(out, "P{}{negated}", predicate.index()),
            Kind::Use {
                stratum, negated, ..
            } => write!(out, "U{stratum}{negated}"),
            Kind::Not(_) => write!(out, "N"),
            Kind::Implies(..) => write!(out, "I"),
            Kind::Iff(..) => write!(out, "E"),
            Kind::And(_) => write!(out, "A"),
            Kind::Or(_) => write!(out, "O"),
            Kind::Log(_) => write!(out, "L"),
            Kind::SumProduct(_) => write!(out, "S"),
            Kind::Quantifier {
                forall,
                binding: Binding::Sorts(_),
                ..
            } => write!(out, "Q{forall}"),
            Kind::Quantifier {
                forall,
                binding: Binding::Rows(table, _),
                ..
            } => write!(out, "R{forall}{}", table.index()),
        };
        match &normal.kind {
            Kind::Literal { arguments, .. } | Kind::Use { arguments, .. } => {
                self.arguments(arguments);
            }
            Kind::Quantifier { binding, guard, .. } => {
                for variable in binding.variables() {
                    self.bound.insert(*variable);
                    let number = self.number(*variable);
                    let _ = write!(self.out, "v{},", number.index());
                }
                if let Some(guard) = guard {
                    let mut guard = (**guard).clone();
                    guard.visit_mut(&mut |part| self.part(part));
                    let _ = write!(self.out, "{guard:?}");
                }
            }
            _ => {}
        }
        self.out.push('(');
        deep(|| normal.children().for_each(|c| self.normal(c)));
        self.out.push(')');
    }

    /// The variables that the formula reads and does not bind.
    pub fn free(&self) -> Vec<VarId> {
        let free = self.numbered.iter().filter(|v| !self.bound.contains(v));
        free.copied().collect()
    }

    /// A key that is equal for equal formulas that read these variables in this order.
    pub fn finish_with(mut self, order: &[VarId]) -> String {
        for variable in order {
            let number = self.number(*variable);
            let _ = write!(self.out, "#{}", number.index());
        }
        self.finish()
    }

    fn finish(mut self) -> String {
        for variable in &self.numbered {
            let sort = self.scope.variables[variable.index()].sort;
            let _ = write!(self.out, "{sort:?}");
        }
        self.out
    }
}
