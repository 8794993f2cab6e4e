//! The normal form of a formula, which all passes after the first one work on.
//!
//! In log space negation is at the atoms, and there are no implications and no equivalences; in truth space `not`, `->`
//! and `<->` are operators and stay. Families, `all` and `any` are written out, with individuals in place of their
//! variables. Each member is rewritten and grounded separately, since a guard that reads the member's individual keeps
//! different bindings for each. So every variable that is left is bound by a quantifier.

mod make;
mod written_out;

use std::sync::Arc;

use super::eliminate::{Factor, SumProduct};
use crate::guard::{free_variables, term_variables};
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;

pub(super) use make::{Maker, Member};

/// A formula in normal form.
#[derive(Debug)]
pub(crate) struct Normal {
    pub kind: Kind,
    pub span: Span,
    /// The two halves of an equivalence: they bind the same variables of the text twice.
    pub equivalence: bool,
    /// Made of quantifiers: how many bindings those had. Such a formula is moved whole, so that these are still counted.
    pub groundings: Option<Bindings>,
}

/// How many bindings quantifiers have, as a product.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    pub times: u128,
    /// Quantifiers whose guards may read variables bound around all of them.
    pub kept: Vec<(Binding, Arc<Guard>)>,
}

impl From<u128> for Bindings {
    fn from(times: u128) -> Bindings {
        Bindings {
            times,
            kept: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// An empty `any` (false) or `all` (true).
    Constant(bool),
    Literal {
        predicate: PredicateId,
        arguments: Vec<Term>,
        negated: bool,
    },
    /// The value of a stratum at a tuple: a definition. It is not a literal, even where operators treat literals
    /// differently.
    Use {
        stratum: usize,
        arguments: Vec<Term>,
        /// Only in log space, where the stratum has a formula for its negation.
        negated: bool,
    },
    /// Truth space only, as are the next two.
    Not(Box<Normal>),
    Implies(Box<Normal>, Box<Normal>),
    Iff(Box<Normal>, Box<Normal>),
    And(Vec<Normal>),
    Or(Vec<Normal>),
    /// The log of a truth degree: where `prod` leaves truth space.
    Log(Box<Normal>),
    Quantifier {
        forall: bool,
        binding: Binding,
        guard: Option<Arc<Guard>>,
        body: Box<Normal>,
    },
    /// An `exists` whose variables are eliminated one after another.
    SumProduct(Box<SumProduct>),
}

// As deep as the formulas of a theory.
impl Clone for Normal {
    fn clone(&self) -> Normal {
        deep(|| Normal {
            kind: self.kind.clone(),
            groundings: self.groundings.clone(),
            ..*self
        })
    }
}

impl Normal {
    pub fn new(kind: Kind, span: Span) -> Normal {
        Normal {
            kind,
            span,
            equivalence: false,
            groundings: None,
        }
    }

    /// A connective of one member is that member.
    pub fn connective(and: bool, mut members: Vec<Normal>, span: Span) -> Normal {
        if members.len() == 1
            && let Some(only) = members.pop()
        {
            return only;
        }
        let kind = match and {
            _ if members.is_empty() => Kind::Constant(and),
            true => Kind::And(members),
            false => Kind::Or(members),
        };
        Normal::new(kind, span)
    }

    /// How many nested `forall`s begin here.
    pub fn foralls(&self) -> usize {
        let (mut at, mut count) = (self, 0);
        while let Kind::Quantifier {
            forall: true, body, ..
        } = &at.kind
        {
            (at, count) = (body, count + 1);
        }
        count
    }

    /// The formula under this many quantifiers.
    pub fn under_mut(&mut self, quantifiers: usize) -> &mut Normal {
        let mut at = self;
        for _ in 0..quantifiers {
            at = match at {
                Normal {
                    kind: Kind::Quantifier { body, .. },
                    ..
                } => body,
                other => return other,
            };
        }
        at
    }

    /// The direct subformulas.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &Normal> {
        let (first, second, members, factors): (_, Option<&Normal>, &[Normal], &[Factor]) =
            match &self.kind {
                Kind::Constant(_) | Kind::Literal { .. } | Kind::Use { .. } => {
                    (None, None, &[], &[])
                }
                Kind::Not(a) | Kind::Log(a) | Kind::Quantifier { body: a, .. } => {
                    (Some(&**a), None, &[], &[])
                }
                Kind::Implies(a, b) | Kind::Iff(a, b) => (Some(&**a), Some(&**b), &[], &[]),
                Kind::And(members) | Kind::Or(members) => (None, None, members, &[]),
                Kind::SumProduct(sum) => (None, None, &sum.common, &sum.factors),
            };
        let pair = first.into_iter().chain(second);
        (pair.chain(members)).chain(factors.iter().map(|f| &f.body))
    }

    /// This formula and all under it, outer ones first.
    pub fn parts(&self) -> impl Iterator<Item = &Normal> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.children().rev());
            Some(next)
        })
    }

    /// The direct subformulas, to be rewritten; those of a sum of products have been rewritten already.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Normal> {
        let (first, second, members): (_, Option<&mut Normal>, &mut [Normal]) = match &mut self.kind
        {
            Kind::Constant(_) | Kind::Literal { .. } | Kind::Use { .. } | Kind::SumProduct(_) => {
                (None, None, &mut [])
            }
            Kind::Not(a) | Kind::Log(a) | Kind::Quantifier { body: a, .. } => {
                (Some(&mut **a), None, &mut [])
            }
            Kind::Implies(a, b) | Kind::Iff(a, b) => (Some(&mut **a), Some(&mut **b), &mut []),
            Kind::And(members) | Kind::Or(members) => (None, None, members),
        };
        first.into_iter().chain(second).chain(members)
    }

    /// Whether it contains a quantifier, or did before a rewrite.
    pub fn is_literal(&self) -> bool {
        matches!(self.kind, Kind::Literal { .. })
    }

    pub fn has_quantifier(&self) -> bool {
        let own = |part: &Normal| {
            let chooses = matches!(part.kind, Kind::Quantifier { .. } | Kind::SumProduct(_));
            chooses || part.groundings.is_some()
        };
        self.parts().any(own)
    }

    /// Every variable that it mentions; each binder has variables of its own.
    pub fn variables(&self, found: &mut Vec<VarId>) {
        for part in self.parts() {
            let moved = part.groundings.iter().flat_map(|of| &of.kept);
            moved.for_each(|(_, guard)| found.extend(free_variables(guard)));
            match &part.kind {
                Kind::Literal { arguments, .. } | Kind::Use { arguments, .. } => {
                    arguments.iter().for_each(|a| term_variables(a, found));
                }
                Kind::Quantifier { guard, .. } => {
                    guard.iter().for_each(|g| found.extend(free_variables(g)));
                }
                Kind::SumProduct(sum) => found.extend(&sum.keys.0),
                _ => {}
            }
        }
    }

    /// The strata that it uses, with the sign.
    pub fn uses(&self) -> impl Iterator<Item = (usize, bool)> {
        self.parts().filter_map(|part| match part.kind {
            Kind::Use {
                stratum, negated, ..
            } => Some((stratum, negated)),
            _ => None,
        })
    }

    /// The members of a conjunction, nested ones too: a sum of sums is a sum.
    pub fn conjuncts(&self) -> Vec<&Normal> {
        match &self.kind {
            Kind::And(members) if self.groundings.is_none() && !self.equivalence => {
                deep(|| members.iter().flat_map(Normal::conjuncts).collect())
            }
            _ => vec![self],
        }
    }

    /// The members of a disjunction. Nested ones stay: a mean of means is not a mean.
    pub fn disjuncts(&self) -> Vec<&Normal> {
        match &self.kind {
            Kind::Or(members) if self.groundings.is_none() && !self.equivalence => {
                members.iter().collect()
            }
            _ => vec![self],
        }
    }
}
