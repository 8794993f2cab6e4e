//! Negation normal form: negation at the atoms only, no implications, no equivalences.
//!
//! The paper needs it because log(1 − x) of a log truth degree is unstable except at the atoms
//! (section "Semantics"). The nesting is kept: under LogMeanExp `(¬a ∨ ¬b) ∨ c` is not
//! `¬a ∨ ¬b ∨ c`.

use crate::recursion::deep;
use crate::theory::{
    Binding, DefinitionId, Formula, FormulaKind, Guard, PredicateId, Quantifier, Term,
};

/// An equivalence writes both of its sides twice, so nested ones double at each level. If they turn a small formula
/// into more nodes than this, it is refused; a formula that was written with that many is fine.
pub const MAX_NNF_NODES: usize = 1_000_000;

impl Formula {
    /// The formula in negation normal form, or `None` if equivalences blow that up to more than 1,000,000 nodes.
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
        (!self.nnf_is_too_large()).then(|| convert((self, false)))
    }
}

impl Formula {
    /// Whether equivalences blow the normal form up to more than [`MAX_NNF_NODES`] nodes.
    pub(crate) fn nnf_is_too_large(&self) -> bool {
        size(self, 2) > MAX_NNF_NODES.max(BLOWN_UP * size(self, 1))
    }

    /// Whether negation normal form changes which quantifiers there are.
    pub(crate) fn nnf_differs(&self) -> bool {
        use FormulaKind::{Iff, Implies, Not};
        let differs = |part: &Formula| matches!(part.kind, Not(_) | Implies(..) | Iff(..));
        self.parts().any(differs)
    }
}

/// A normal form with this many times the nodes of the text was not written by hand.
const BLOWN_UP: usize = 4;

/// The number of nodes of the normal form, the same whether negated or not, if equivalences write each side this often.
fn size(formula: &Formula, times: usize) -> usize {
    let children = deep(|| {
        let sizes = formula.children().into_iter().map(|f| size(f, times));
        sizes.fold(0, usize::saturating_add)
    });
    match formula.kind {
        FormulaKind::Not(_) => children,
        FormulaKind::Iff(..) => children.saturating_mul(times).saturating_add(3),
        _ => children.saturating_add(1),
    }
}

/// A formula and whether it is negated.
pub(crate) type Signed<'f> = (&'f Formula, bool);

/// The outermost part of a formula's normal form. De Morgan's laws are here only: code that shows or plans the normal
/// form of a formula takes it from here layer by layer.
pub(crate) enum Layer<'f> {
    Literal {
        predicate: PredicateId,
        arguments: &'f [Term],
        negated: bool,
    },
    Use {
        definition: DefinitionId,
        arguments: &'f [Term],
        negated: bool,
    },
    /// `not a` is `a` with the other sign.
    Same(Signed<'f>),
    Connective {
        and: bool,
        members: Vec<Signed<'f>>,
    },
    /// `a <-> b`: both implications, each of them the other connective of two.
    Equivalence {
        and: bool,
        halves: [[Signed<'f>; 2]; 2],
    },
    Quantified {
        quantifier: Quantifier,
        binding: &'f Binding,
        guard: Option<&'f Guard>,
        body: Signed<'f>,
    },
}

impl<'f> Layer<'f> {
    pub fn of((formula, negate): Signed<'f>) -> Layer<'f> {
        let all = |members: &'f [Formula]| members.iter().map(|m| (m, negate)).collect();
        match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } => Layer::Literal {
                predicate: *predicate,
                arguments,
                negated: negate,
            },
            FormulaKind::Use {
                definition,
                arguments,
            } => Layer::Use {
                definition: *definition,
                arguments,
                negated: negate,
            },
            FormulaKind::Not(inner) => Layer::Same((inner, !negate)),
            FormulaKind::And(members) => Layer::Connective {
                and: !negate,
                members: all(members),
            },
            FormulaKind::Or(members) => Layer::Connective {
                and: negate,
                members: all(members),
            },
            FormulaKind::Implies(a, b) => Layer::Connective {
                and: negate,
                members: vec![(a, !negate), (b, negate)],
            },
            FormulaKind::Iff(a, b) => Layer::Equivalence {
                and: !negate,
                halves: [(a, b), (b, a)].map(|(p, q)| [(&**p, !negate), (&**q, negate)]),
            },
            FormulaKind::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } => Layer::Quantified {
                quantifier: if negate {
                    quantifier.dual()
                } else {
                    *quantifier
                },
                binding,
                guard: guard.as_ref(),
                body: (body, negate),
            },
        }
    }
}

fn convert((formula, negate): Signed) -> Formula {
    let span = formula.span;
    let kind = deep(|| match Layer::of((formula, negate)) {
        Layer::Literal { negated: true, .. } | Layer::Use { negated: true, .. } => {
            FormulaKind::Not(Box::new(formula.clone()))
        }
        Layer::Literal { .. } | Layer::Use { .. } => formula.kind.clone(),
        // The place of the whole, so that a message shows the `not` as well.
        Layer::Same(inner) => convert(inner).kind,
        Layer::Connective { and, members } => connective(and, members.into_iter().map(convert)),
        Layer::Equivalence { and, halves } => {
            let halves = halves.map(|half| {
                let kind = connective(!and, half.into_iter().map(convert));
                Formula::new(kind, span)
            });
            connective(and, halves)
        }
        Layer::Quantified {
            quantifier,
            binding,
            guard,
            body,
        } => FormulaKind::Quantified {
            quantifier,
            binding: binding.clone(),
            guard: guard.cloned(),
            body: Box::new(convert(body)),
        },
    });
    Formula::new(kind, span)
}

fn connective(and: bool, members: impl IntoIterator<Item = Formula>) -> FormulaKind {
    let members = members.into_iter().collect();
    match and {
        true => FormulaKind::And(members),
        false => FormulaKind::Or(members),
    }
}
