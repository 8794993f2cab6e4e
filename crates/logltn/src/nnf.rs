//! Negation normal form: negation at the atoms only, no implications, no equivalences.
//!
//! The paper needs it because log(1 − x) of a log truth degree is unstable except at the atoms
//! (section "Semantics"). The nesting is kept: under LogMeanExp `(¬a ∨ ¬b) ∨ c` is not
//! `¬a ∨ ¬b ∨ c`.

use crate::recursion::deep;
use crate::theory::{Formula, FormulaKind};

/// An equivalence writes both of its sides twice, so nested ones double at each level. More atoms
/// than this and the formula is refused.
pub const MAX_NNF_NODES: usize = 1_000_000;

impl Formula {
    /// The formula in negation normal form, or `None` if that has more than [`MAX_NNF_NODES`] nodes.
    ///
    /// ```
    /// use logltn::{Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     predicate a() predicate b() predicate c()
    ///     axiom x: a() and b() -> c()")).unwrap();
    /// let axiom = &theory.axioms[0];
    /// let nnf = axiom.formula.nnf().unwrap();
    /// assert_eq!(theory.show(axiom, &nnf), "(not a() or not b()) or c()");
    /// ```
    pub fn nnf(&self) -> Option<Formula> {
        (size(self) <= MAX_NNF_NODES).then(|| convert(self, false))
    }
}

impl Formula {
    /// Whether the normal form has more than [`MAX_NNF_NODES`] nodes.
    pub(crate) fn nnf_is_too_large(&self) -> bool {
        size(self) > MAX_NNF_NODES
    }

    /// Whether negation normal form changes which quantifiers there are.
    pub(crate) fn nnf_differs(&self) -> bool {
        deep(|| match &self.kind {
            FormulaKind::Atom { .. } => false,
            FormulaKind::Not(_) | FormulaKind::Implies(..) | FormulaKind::Iff(..) => true,
            FormulaKind::And(members) | FormulaKind::Or(members) => {
                members.iter().any(Formula::nnf_differs)
            }
            FormulaKind::Quantified { body, .. } => body.nnf_differs(),
        })
    }
}

/// The number of nodes of the normal form: the same whether negated or not.
fn size(formula: &Formula) -> usize {
    let all = |members: &[Formula]| {
        members
            .iter()
            .fold(1_usize, |sum, m| sum.saturating_add(size(m)))
    };
    deep(|| match &formula.kind {
        FormulaKind::Atom { .. } => 1,
        FormulaKind::Not(inner) => size(inner),
        FormulaKind::And(members) | FormulaKind::Or(members) => all(members),
        FormulaKind::Implies(a, b) => size(a).saturating_add(size(b)).saturating_add(1),
        FormulaKind::Iff(a, b) => size(a)
            .saturating_add(size(b))
            .saturating_mul(2)
            .saturating_add(3),
        FormulaKind::Quantified { body, .. } => size(body).saturating_add(1),
    })
}

fn convert(formula: &Formula, negate: bool) -> Formula {
    let kind = deep(|| match &formula.kind {
        FormulaKind::Atom { .. } if negate => FormulaKind::Not(Box::new(formula.clone())),
        FormulaKind::Atom { .. } => formula.kind.clone(),
        FormulaKind::Not(inner) => {
            // The place of the whole, so that a message shows the `not` as well.
            convert(inner, !negate).kind
        }
        FormulaKind::And(members) => connective(!negate, convert_all(members, negate)),
        FormulaKind::Or(members) => connective(negate, convert_all(members, negate)),
        FormulaKind::Implies(a, b) => {
            connective(negate, vec![convert(a, !negate), convert(b, negate)])
        }
        FormulaKind::Iff(a, b) => {
            let half = |p: &Formula, q: &Formula| Formula {
                kind: connective(negate, vec![convert(p, !negate), convert(q, negate)]),
                span: formula.span,
            };
            connective(!negate, vec![half(a, b), half(b, a)])
        }
        FormulaKind::Quantified {
            quantifier,
            binding,
            guard,
            body,
        } => FormulaKind::Quantified {
            quantifier: if negate {
                quantifier.dual()
            } else {
                *quantifier
            },
            binding: binding.clone(),
            guard: guard.clone(),
            body: Box::new(convert(body, negate)),
        },
    });
    Formula {
        kind,
        span: formula.span,
    }
}

fn convert_all(members: &[Formula], negate: bool) -> Vec<Formula> {
    members.iter().map(|m| convert(m, negate)).collect()
}

fn connective(and: bool, members: Vec<Formula>) -> FormulaKind {
    if and {
        FormulaKind::And(members)
    } else {
        FormulaKind::Or(members)
    }
}
