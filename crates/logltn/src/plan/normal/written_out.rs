//! How large the written-out form of families, `all` and `any` will be, computed before writing it out.

use super::Maker;
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::free_variables;
use crate::memory;
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;

/// The total memory of a part of a formula: in the normal form, in the program, in the engine.
const BYTES_PER_PART: u128 = 400;
/// The additional memory of a member of a family.
const BYTES_PER_MEMBER: u128 = 4600;
/// Below this nothing needs to be counted.
const FEW: u128 = 1 << 16;

impl Maker<'_> {
    /// Refuses an axiom that would take too much memory when written out.
    pub(super) fn check_written_out(&mut self, axiom: &Axiom) -> Result<(), Diagnostic> {
        let family = axiom.family.as_ref();
        let members = family.map_or(1, |f| self.product(&f.variables));
        if members.saturating_mul(self.at_most(&axiom.formula)) < FEW {
            return Ok(());
        }
        let bytes = match family {
            None => self.parts(&axiom.formula).saturating_mul(BYTES_PER_PART),
            Some(family) => {
                let guard = family.guard.as_ref();
                let (members, parts) =
                    self.members_and_parts(&family.variables, guard, "for", &axiom.formula);
                let all = members.saturating_mul(BYTES_PER_MEMBER);
                all.saturating_add(parts.saturating_mul(BYTES_PER_PART))
            }
        };
        let Err(error) = memory::ask(bytes) else {
            return Ok(());
        };
        let source = &self.scope.theory().source;
        const MOST_SHOWN: usize = 4;
        let of_family = family.map(|family| ("for", family.variables[0]));
        let binders = of_family.into_iter().chain(binders(&axiom.formula));
        let mut refused = error.refuse(format_args!(
            "axiom `{}`, written out member by member,",
            axiom.name
        ));
        for (at, (word, variable)) in binders.take(MOST_SHOWN).enumerate() {
            let span = self.scope.variables[variable.index()].span;
            let size = self.scope.size_of(variable);
            let label = format!("`{word}` has up to {size} members here");
            refused = match at {
                0 => refused.at(source, span, label),
                _ => refused.mark(span, label),
            };
        }
        Err(refused.help(format!(
            "use `forall` or `exists`, which take no memory for their bindings, narrower guards or smaller sorts; {}",
            memory::allow_more()
        )))
    }

    /// The error when memory runs out in spite of that.
    pub(super) fn check_memory(&self, span: Span) -> Result<(), Diagnostic> {
        if memory::left() >= memory::limit() / 16 {
            return Ok(());
        }
        let limit = memory::shown(memory::limit().into());
        Err(Diagnostic::error(
            Code::TooMuchMemory,
            format!("what is written out here takes more than the {limit} of memory allowed"),
        )
        .at(&self.scope.theory().source, span, "")
        .help(memory::allow_more()))
    }

    /// How many combinations some variables have, guards aside.
    fn product(&self, variables: &[VarId]) -> u128 {
        let sizes = variables.iter().map(|v| u128::from(self.scope.size_of(*v)));
        sizes.fold(1, u128::saturating_mul)
    }

    /// How many parts a formula has at most.
    fn at_most(&self, formula: &Formula) -> u128 {
        deep(|| {
            let inside = formula.children().into_iter().map(|f| self.at_most(f));
            let inside = inside.fold(1, u128::saturating_add);
            match &formula.kind {
                FormulaKind::Iff(..) => inside.saturating_mul(2),
                FormulaKind::Quantified {
                    quantifier,
                    binding,
                    ..
                } if quantifier.is_big_connective() => {
                    inside.saturating_mul(self.product(binding.variables()))
                }
                _ => inside,
            }
        })
    }

    /// How many it has; counting stops when there are too many.
    fn parts(&mut self, formula: &Formula) -> u128 {
        deep(|| match &formula.kind {
            FormulaKind::Quantified {
                quantifier,
                binding,
                guard,
                body,
            } if quantifier.is_big_connective() => {
                let (guard, word) = (guard.as_ref(), quantifier.word());
                self.members_and_parts(binding.variables(), guard, word, body)
                    .1
            }
            _ => {
                let inside = formula.children().into_iter().map(|f| self.parts(f));
                let inside = inside.fold(1, u128::saturating_add);
                match &formula.kind {
                    FormulaKind::Iff(..) => inside.saturating_mul(2),
                    _ => inside,
                }
            }
        })
    }

    /// The number of members, and of parts in all of them.
    fn members_and_parts(
        &mut self,
        variables: &[VarId],
        guard: Option<&Guard>,
        word: &str,
        body: &Formula,
    ) -> (u128, u128) {
        // Errors in the guard are reported when it is written out.
        let Ok(bindings) = self.bindings(variables, guard, word) else {
            return (0, 1);
        };
        let members = bindings.len() as u128;
        let alike = !depends(body, variables);
        let mut parts: u128 = 1;
        for cells in bindings {
            for (variable, cell) in variables.iter().zip(cells) {
                self.fixed[variable.index()] = Some(cell);
            }
            let own = self.parts(body);
            if alike {
                parts = parts.saturating_add(own.saturating_mul(members));
                break;
            }
            parts = parts.saturating_add(own);
            // Clearly too much: the memory of the count itself is free again before the request.
            if memory::ask(parts.saturating_mul(BYTES_PER_PART) / 2).is_err() {
                break;
            }
        }
        for variable in variables {
            self.fixed[variable.index()] = None;
        }
        (members, parts)
    }
}

/// Whether a guard of an inner `all` or `any` reads one of the variables.
fn depends(formula: &Formula, variables: &[VarId]) -> bool {
    formula.parts().any(|formula| match &formula.kind {
        FormulaKind::Quantified {
            quantifier,
            guard: Some(guard),
            ..
        } if quantifier.is_big_connective() => {
            free_variables(guard).iter().any(|v| variables.contains(v))
        }
        _ => false,
    })
}

/// The first variable of each `all` and `any`, from the outside in.
fn binders(formula: &Formula) -> impl Iterator<Item = (&'static str, VarId)> {
    formula.parts().filter_map(|formula| match &formula.kind {
        FormulaKind::Quantified {
            quantifier,
            binding,
            ..
        } if quantifier.is_big_connective() => {
            let first = binding.variables().first()?;
            Some((quantifier.word(), *first))
        }
        _ => None,
    })
}
