//! Where predicates occur positively and where negatively.
//!
//! A predicate that no axiom ever holds back can satisfy its theory by being true of everything, which is
//! rarely what was meant: nothing in the theory says when it is false.

use crate::recursion::deep;
use crate::source::Span;
use crate::theory::{DefinitionId, Formula, FormulaKind, Theory};

/// Where a predicate occurs in the negation normal form of the axioms.
///
/// ```
/// use logltn::{Source, Theory};
/// let theory = Theory::parse(Source::new("t", "
///     predicate a()  predicate b()
///     axiom x: a() -> b()
///     axiom y: b()")).unwrap();
/// let [a, b] = theory.polarities()[..] else { panic!() };
/// assert!(a.positive.is_none() && b.negative.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polarity {
    /// The first positive occurrence.
    pub positive: Option<Span>,
    /// The first negative occurrence.
    pub negative: Option<Span>,
}

impl Theory {
    /// The polarity of each predicate over all axioms, in the order of the declarations.
    pub fn polarities(&self) -> Vec<Polarity> {
        let mut found = vec![Polarity::default(); self.predicates.len()];
        for axiom in &self.axioms {
            let mut uses = Vec::new();
            visit(&axiom.formula, [true, false], &mut found, &mut uses);
            // What a definition says counts for each sign of its uses, once.
            let mut seen = Vec::new();
            while let Some((definition, signs)) = uses.pop() {
                if !seen.contains(&(definition, signs)) {
                    seen.push((definition, signs));
                    let formula = &self[definition].body.formula;
                    visit(formula, signs, &mut found, &mut uses);
                }
            }
        }
        found
    }
}

/// Whether a formula is positive, and whether negative, in negation normal form: both within an equivalence, each side of
/// which is on both sides of an implication.
type Signs = [bool; 2];

/// Without making the normal form, which may be far longer than the formula.
fn visit(
    formula: &Formula,
    signs @ [positive, negative]: Signs,
    found: &mut [Polarity],
    uses: &mut Vec<(DefinitionId, Signs)>,
) {
    deep(|| match &formula.kind {
        FormulaKind::Atom { predicate, .. } => {
            let polarity = &mut found[predicate.index()];
            if positive {
                polarity.positive.get_or_insert(formula.span);
            }
            if negative {
                polarity.negative.get_or_insert(formula.span);
            }
        }
        FormulaKind::Use { definition, .. } => uses.push((*definition, signs)),
        FormulaKind::Not(inner) => visit(inner, [negative, positive], found, uses),
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            members.iter().for_each(|m| visit(m, signs, found, uses));
        }
        FormulaKind::Implies(a, b) => {
            visit(a, [negative, positive], found, uses);
            visit(b, signs, found, uses);
        }
        FormulaKind::Iff(a, b) => {
            visit(a, [true; 2], found, uses);
            visit(b, [true; 2], found, uses);
        }
        FormulaKind::Quantified { body, .. } => visit(body, signs, found, uses),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn signs(formula: &str) -> Vec<(bool, bool)> {
        let text = format!(
            "sort S = 0..1  predicate p()  predicate q()  predicate r()  axiom a: {formula}"
        );
        let theory = Theory::parse(Source::new("t", text)).unwrap();
        let polarities = theory.polarities();
        (polarities.iter())
            .map(|p| (p.positive.is_some(), p.negative.is_some()))
            .collect()
    }

    #[test]
    fn negations_and_implications_turn_signs() {
        let (plus, minus) = ((true, false), (false, true));
        assert_eq!(signs("p() and q() -> r()"), [minus, minus, plus]);
        assert_eq!(signs("not (p() -> not q()) or r()"), [plus; 3]);
        assert_eq!(
            signs("not (forall x: S. p() and not q())")[..2],
            [minus, plus]
        );
        assert_eq!(signs("(p() -> q()) -> r()"), [plus, minus, plus]);
    }

    #[test]
    fn an_equivalence_has_both_signs() {
        assert_eq!(signs("p() <-> (q() -> r())"), [(true, true); 3]);
        assert_eq!(signs("not (p() <-> not q())")[..2], [(true, true); 2]);
    }

    /// Must agree with the normal form itself.
    #[test]
    fn as_in_negation_normal_form() {
        for formula in [
            "p() -> not (q() and not r())",
            "p() or (q() <-> not p())",
            "not not (p() -> (exists x: S. q() or not r()))",
        ] {
            let text = format!(
                "sort S = 0..1  predicate p()  predicate q()  predicate r()  axiom a: {formula}"
            );
            let theory = Theory::parse(Source::new("t", text)).unwrap();
            let mut normal = theory.clone();
            normal.axioms[0].formula = theory.axioms[0].formula.nnf().unwrap();
            let signs = |t: &Theory| -> Vec<(bool, bool)> {
                (t.polarities().iter())
                    .map(|p| (p.positive.is_some(), p.negative.is_some()))
                    .collect()
            };
            assert_eq!(signs(&theory), signs(&normal), "{formula}");
        }
    }
}
