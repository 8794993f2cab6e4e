//! Which sorts the distances of a theory's guards are measured in.

use logltn::Span;
use logltn::theory::*;

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
    let mut found = Vec::new();
    let mut walk = Walk {
        theory,
        axiom,
        found: &mut found,
    };
    if let Some(guard) = axiom.family.as_ref().and_then(|f| f.guard.as_ref()) {
        walk.guard(guard);
    }
    // A separate stack: formulas may be nested a thousand deep.
    let mut formulas = vec![&axiom.formula];
    while let Some(formula) = formulas.pop() {
        if let FormulaKind::Quantified {
            guard: Some(guard), ..
        } = &formula.kind
        {
            walk.guard(guard);
        }
        formulas.extend(formula.children());
    }
    found
}

struct Walk<'a> {
    theory: &'a Theory,
    axiom: &'a Axiom,
    found: &'a mut Vec<Distance>,
}

impl Walk<'_> {
    fn guard(&mut self, guard: &Guard) {
        let mut guards = vec![guard];
        while let Some(guard) = guards.pop() {
            match &guard.kind {
                GuardKind::Compare(_, a, b) => {
                    self.value(a);
                    self.value(b);
                }
                GuardKind::Same { .. } => {}
                GuardKind::Member(_, cells) => cells.iter().for_each(|cell| self.value(cell)),
                GuardKind::Not(inner) => guards.push(inner),
                GuardKind::And(members) | GuardKind::Or(members) => guards.extend(members),
                GuardKind::Exists(_, guard, body) => {
                    guards.extend(guard.as_deref());
                    guards.push(body);
                }
            }
        }
    }

    fn value(&mut self, value: &Value) {
        let mut values = vec![value];
        while let Some(value) = values.pop() {
            match &value.kind {
                ValueKind::Int(_)
                | ValueKind::Real(_)
                | ValueKind::Param(_)
                | ValueKind::Number(_)
                | ValueKind::Individual(_) => {}
                ValueKind::Negative(inner) | ValueKind::Abs(inner) => values.push(inner),
                ValueKind::Sum(members) => values.extend(members.iter().map(|(_, v)| v)),
                ValueKind::Product(members) => values.extend(members.iter().map(|(_, v)| v)),
                ValueKind::Min(members) | ValueKind::Max(members) => values.extend(members),
                ValueKind::Dist(a, b) => {
                    if let (Some(a), Some(b)) = (self.sort(a), self.sort(b)) {
                        self.found.push(Distance {
                            sorts: [a, b],
                            span: value.span,
                        });
                    }
                }
            }
        }
    }

    fn sort(&self, term: &Term) -> Option<SortId> {
        match &term.kind {
            TermKind::Individual(sort, _) => Some(*sort),
            TermKind::Number(_) => None,
            TermKind::Constant(id) => Some(self.theory[*id].sort),
            TermKind::Variable(id) => self.axiom[*id].sort.sort(),
            TermKind::Apply(id, _) => self.theory[*id].result.sort(),
        }
    }
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
