//! Visits all parts of a guard: guards, values and terms, outer ones first.

use crate::recursion::deep;
use crate::theory::*;

macro_rules! visitors {
    ($(#[$doc:meta])* $vis:vis $part:ident, $visit:ident, $iter:ident $(, $mut:tt)?) => {
        $(#[$doc])*
        $vis enum $part<'p> {
            /// A guard.
            Guard(&'p $($mut)? Guard),
            /// A number in one.
            Value(&'p $($mut)? Value),
            /// An individual, or a function's value.
            Term(&'p $($mut)? Term),
        }

        impl Guard {
            /// Visits this guard and all parts of it.
            $vis fn $visit(&$($mut)? self, visit: &mut dyn FnMut($part)) {
                visit($part::Guard(self));
                deep(|| match &$($mut)? self.kind {
                    GuardKind::Compare(_, a, b) => {
                        a.$visit(visit);
                        b.$visit(visit);
                    }
                    GuardKind::Same { left, right, .. } => {
                        left.$visit(visit);
                        right.$visit(visit);
                    }
                    GuardKind::Member(_, cells) => cells.$iter().for_each(|c| c.$visit(visit)),
                    GuardKind::Not(inner) => inner.$visit(visit),
                    GuardKind::And(members) | GuardKind::Or(members) => {
                        members.$iter().for_each(|m| m.$visit(visit));
                    }
                    GuardKind::Exists(_, guard, body) => {
                        guard.$iter().for_each(|g| g.$visit(visit));
                        body.$visit(visit);
                    }
                });
            }
        }

        impl Value {
            /// Visits this value and all parts of it.
            pub(crate) fn $visit(&$($mut)? self, visit: &mut dyn FnMut($part)) {
                visit($part::Value(self));
                deep(|| match &$($mut)? self.kind {
                    ValueKind::Int(_)
                    | ValueKind::Real(_)
                    | ValueKind::Param(_)
                    | ValueKind::Number(_) => {}
                    ValueKind::Individual(term) => term.$visit(visit),
                    ValueKind::Negative(inner) | ValueKind::Abs(inner) => inner.$visit(visit),
                    ValueKind::Sum(members) => members.$iter().for_each(|(_, m)| m.$visit(visit)),
                    ValueKind::Product(members) => {
                        members.$iter().for_each(|(_, m)| m.$visit(visit));
                    }
                    ValueKind::Min(values) | ValueKind::Max(values) => {
                        values.$iter().for_each(|v| v.$visit(visit));
                    }
                    ValueKind::Dist(a, b) => {
                        a.$visit(visit);
                        b.$visit(visit);
                    }
                });
            }
        }

        impl Term {
            /// Visits this term and all parts of it.
            $vis fn $visit(&$($mut)? self, visit: &mut dyn FnMut($part)) {
                visit($part::Term(self));
                if let TermKind::Apply(_, arguments) = &$($mut)? self.kind {
                    deep(|| arguments.$iter().for_each(|a| a.$visit(visit)));
                }
            }
        }
    };
}

impl Formula {
    /// Visits all parts of its arguments, or of its guard, but not what is in the formulas under it.
    pub fn visit_own(&self, visit: &mut dyn FnMut(Part)) {
        match &self.kind {
            FormulaKind::Atom { arguments, .. } | FormulaKind::Use { arguments, .. } => {
                arguments.iter().for_each(|a| a.visit(visit));
            }
            FormulaKind::Quantified { guard, .. } => guard.iter().for_each(|g| g.visit(visit)),
            _ => {}
        }
    }
}

visitors! {
    /// A part of a guard, or of an argument.
    pub Part, visit, iter
}
visitors! {
    /// A part of a guard, to be changed.
    pub(crate) PartMut, visit_mut, iter_mut, mut
}

impl Part<'_> {
    /// The variable that it is.
    pub(crate) fn variable(&self) -> Option<VarId> {
        match self {
            Part::Value(Value {
                kind: ValueKind::Number(id),
                ..
            }) => Some(*id),
            Part::Term(Term {
                kind: TermKind::Variable(id),
                ..
            }) => Some(*id),
            Part::Guard(_) | Part::Value(_) | Part::Term(_) => None,
        }
    }
}

impl PartMut<'_> {
    /// Gives other variables in place of those that it is or binds.
    pub fn rename(&mut self, mut to: impl FnMut(VarId) -> VarId) {
        let own = match self {
            PartMut::Guard(Guard {
                kind: GuardKind::Exists(Binding::Sorts(variables) | Binding::Rows(_, variables), ..),
                ..
            }) => variables.as_mut_slice(),
            PartMut::Value(Value {
                kind: ValueKind::Number(id),
                ..
            })
            | PartMut::Term(Term {
                kind: TermKind::Variable(id),
                ..
            }) => std::slice::from_mut(id),
            PartMut::Guard(_) | PartMut::Value(_) | PartMut::Term(_) => &mut [],
        };
        own.iter_mut().for_each(|id| *id = to(*id));
    }

    /// Forgets where it is.
    pub fn forget_place(&mut self) {
        let span = match self {
            PartMut::Guard(guard) => &mut guard.span,
            PartMut::Value(value) => &mut value.span,
            PartMut::Term(term) => &mut term.span,
        };
        *span = Default::default();
    }
}
