//! Which sorts the distances of a theory's guards are measured in.

use logltn::theory::*;
use logltn::{Part, Span};

/// A `dist(x, y)` of some guard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The sorts of the two individuals.
    pub sorts: [SortId; 2],
    /// Its place in the theory.
    pub span: Span,
}

/// Every `dist` of every guard.
pub fn distances(theory: &Theory) -> Vec<Distance> {
    (theory.formulas())
        .flat_map(|axiom| distances_of(theory, axiom))
        .collect()
}

/// Every `dist` of the guards of one axiom, or of a question about the theory.
pub fn distances_of(theory: &Theory, axiom: &Axiom) -> Vec<Distance> {
    let sort = |term: &Term| match &term.kind {
        TermKind::Individual(sort, _) => Some(*sort),
        TermKind::Number(_) => None,
        TermKind::Constant(id) => Some(theory[*id].sort),
        TermKind::Variable(id) => axiom[*id].sort.sort(),
        TermKind::Apply(id, _) => theory[*id].result.sort(),
    };
    let mut found = Vec::new();
    let mut look = |part: Part| {
        if let Part::Value(value) = part
            && let ValueKind::Dist(a, b) = &value.kind
            && let (Some(a), Some(b)) = (sort(a), sort(b))
        {
            let (sorts, span) = ([a, b], value.span);
            found.push(Distance { sorts, span });
        }
    };
    let family = axiom.family.iter().flat_map(|family| &family.guard);
    family.for_each(|guard| guard.visit(&mut look));
    (axiom.formula.parts()).for_each(|formula| formula.visit_own(&mut look));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use logltn::Source;

    #[test]
    fn wherever_a_guard_may_stand() {
        let text = "sort A  sort B  sort C  predicate P(A)  constant c: C
            axiom a: forall x: A. P(x) and (exists y: A where not (1 < 2 * abs(-dist(x, y)) or x = y). P(y))
            axiom b for x: A where exists b: B. dist(b, b) < min(1, 2): P(x)
            axiom c: forall x: A where dist(c, c) < 1. P(x)";
        let theory = Theory::parse(Source::new("t", text)).unwrap();
        let found: Vec<String> = (distances(&theory).iter())
            .map(|d| d.sorts.map(|s| theory[s].name.clone()).concat())
            .collect();
        assert_eq!(found, ["AA", "BB", "CC"]);
    }
}
