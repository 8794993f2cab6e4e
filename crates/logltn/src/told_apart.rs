//! Predicates whose classes no axiom names, and only guards tell apart.

use crate::guard_parts::Part;
use crate::theory::*;

impl Theory {
    /// Whether the axioms tell a predicate's classes, its last argument, apart by guards alone: no atom of it has a
    /// class that is written in the theory or comes from a table, and some guard reads a class by its number or in a
    /// table. So it is for `digit` in `forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and
    /// digit(y, b)`. A guard that only says whether two classes are the same tells none from another.
    pub fn classes_are_only_guarded(&self, predicate: PredicateId) -> bool {
        let mut guarded = false;
        for axiom in self.formulas() {
            let seen = Seen::of(axiom);
            for formula in axiom.formula.parts() {
                let FormulaKind::Atom {
                    predicate: this,
                    arguments,
                } = &formula.kind
                else {
                    continue;
                };
                match arguments.last().map(|term| &term.kind) {
                    _ if *this != predicate => {}
                    Some(TermKind::Variable(class)) if seen.ranges[class.index()] => {
                        guarded |= seen.looked_at[class.index()];
                    }
                    _ => return false,
                }
            }
        }
        guarded
    }
}

/// How an axiom uses its variables.
struct Seen {
    /// Whether it ranges over its sort.
    ranges: Vec<bool>,
    /// Whether a guard depends on the individual.
    looked_at: Vec<bool>,
}

impl Seen {
    fn of(axiom: &Axiom) -> Seen {
        let count = axiom.variables.len();
        let mut seen = Seen {
            ranges: vec![false; count],
            looked_at: vec![false; count],
        };
        if let Some(family) = &axiom.family {
            family
                .variables
                .iter()
                .for_each(|v| seen.ranges[v.index()] = true);
            family.guard.iter().for_each(|guard| seen.look(guard));
        }
        for formula in axiom.formula.parts() {
            if let FormulaKind::Quantified { binding, guard, .. } = &formula.kind {
                if let Binding::Sorts(variables) = binding {
                    variables.iter().for_each(|v| seen.ranges[v.index()] = true);
                }
                guard.iter().for_each(|guard| seen.look(guard));
            }
        }
        seen
    }

    /// Marks the variables that a guard compares as numbers, or looks up in a table.
    fn look(&mut self, guard: &Guard) {
        guard.visit(&mut |part| {
            let Part::Guard(guard) = part else { return };
            let mut mark = |value: &Value| {
                value.visit(&mut |part| {
                    part.variable()
                        .into_iter()
                        .for_each(|v| self.looked_at[v.index()] = true);
                });
            };
            match &guard.kind {
                GuardKind::Compare(Comparison::Equal | Comparison::NotEqual, a, b)
                    if is_variable(a) && is_variable(b) => {}
                GuardKind::Compare(_, a, b) => {
                    mark(a);
                    mark(b);
                }
                GuardKind::Member(_, cells) => cells.iter().for_each(mark),
                _ => {}
            }
        });
    }
}

fn is_variable(value: &Value) -> bool {
    matches!(value.kind, ValueKind::Number(_))
}

#[cfg(test)]
mod tests {
    use crate::{Source, Theory};

    fn is_only_guarded(axioms: &str) -> bool {
        let text = format!(
            "sort I  sort D = 0..9  table sums(x: I, y: I, n: Int)  table labelled(x: I, d: D)  predicate digit(I, D) {axioms}"
        );
        let theory = Theory::parse(Source::new("t", text)).unwrap();
        theory.classes_are_only_guarded(crate::theory::PredicateId(0))
    }

    const SUMS: &str = "axiom a: forall (x, y, n) in sums. exists a, b: D where a + b = n. digit(x, a) and digit(y, b)";

    #[test]
    fn sums_tell_classes_apart_by_guards() {
        assert!(is_only_guarded(SUMS));
        assert!(is_only_guarded(
            "axiom a: forall (x, y, n) in sums. exists a: D where a = n + 0. digit(x, a)"
        ));
        assert!(is_only_guarded(
            "axiom f for d: D where d < 3: exists x: I. digit(x, d)"
        ));
    }

    #[test]
    fn labels_and_symmetries_do_not() {
        for axioms in [
            "axiom a: forall (x, d) in labelled. digit(x, d)",
            "axiom a: forall x: I. digit(x, 3)",
            "axiom a: forall x: I. exists d: D. digit(x, d)",
            "axiom a: forall x: I, d, e: D where d != e. not (digit(x, d) and digit(x, e))",
            "axiom a: forall x, y: I, d: D where dist(x, y) < 1. digit(x, d) -> digit(y, d)",
        ] {
            assert!(!is_only_guarded(axioms), "{axioms}");
            if axioms.contains("labelled") || axioms.contains('3') {
                let both = format!("{SUMS} {}", axioms.replace("axiom a", "axiom b"));
                assert!(!is_only_guarded(&both), "{both}");
            }
        }
    }
}
