//! Axioms that give labels: the class, or the value, of individuals in a table.

use logltn::Theory;
use logltn::theory::{
    Axiom, Binding, FormulaKind, FunctionId, PredicateId, Quantifier, TableId, TermKind,
};

/// What labels are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelsOf {
    /// `forall (x, k) in T. P(x, k)`: the class of each row.
    Predicate(PredicateId),
    /// `forall (x, y) in T. eq(f(x), y)`: the value of each row.
    Function(FunctionId),
}

/// An axiom that gives labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Its place among the theory's axioms.
    pub axiom: usize,
    /// What it labels.
    pub of: LabelsOf,
    /// The table with a row for each label: an individual and its class, or its value.
    pub table: TableId,
}

impl Labels {
    /// Those of a theory, in its order.
    pub fn all(theory: &Theory) -> Vec<Labels> {
        let axioms = theory.axioms.iter().enumerate();
        axioms
            .filter_map(|(i, axiom)| Labels::new(i, axiom))
            .collect()
    }

    fn new(place: usize, axiom: &Axiom) -> Option<Labels> {
        let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            binding: Binding::Rows(table, bound),
            body,
            ..
        } = &axiom.formula.kind
        else {
            return None;
        };
        let FormulaKind::Atom {
            predicate,
            arguments,
        } = &body.kind
        else {
            return None;
        };
        let ([x, y], None) = (&bound[..], &axiom.family) else {
            return None;
        };
        let [first, second] = &arguments[..] else {
            return None;
        };
        if second.kind != TermKind::Variable(*y) {
            return None;
        }
        let of = match &first.kind {
            TermKind::Variable(v) if v == x => LabelsOf::Predicate(*predicate),
            TermKind::Apply(f, inner)
                if inner.len() == 1 && inner[0].kind == TermKind::Variable(*x) =>
            {
                LabelsOf::Function(*f)
            }
            _ => return None,
        };
        Some(Labels {
            axiom: place,
            of,
            table: *table,
        })
    }
}

#[cfg(test)]
mod tests {
    use logltn::Source;

    use super::*;

    #[test]
    fn labels_and_rules_are_told_apart() {
        let text = "sort S  sort K = {a, b}  table t(x: S, k: K)  table v(x: S, y: Real)
            predicate p(S, K)  predicate eq(Real, Real)  function f(S): Real
            axiom classes: forall (x, k) in t. p(x, k)
            axiom values: forall (x, y) in v. eq(f(x), y)
            axiom rule: forall (x, k) in t. not p(x, k)
            axiom all_a: forall (x, k) in t. p(x, a)
            axiom other: forall x: S. p(x, b)";
        let theory = Theory::parse(Source::new("t", text)).unwrap();
        let found: Vec<(usize, LabelsOf)> = (Labels::all(&theory).iter())
            .map(|labels| (labels.axiom, labels.of))
            .collect();
        let wanted = [
            (0, LabelsOf::Predicate(PredicateId(0))),
            (1, LabelsOf::Function(FunctionId(0))),
        ];
        assert_eq!(found, wanted);
    }
}
