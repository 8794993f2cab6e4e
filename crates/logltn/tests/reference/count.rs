//! How many bindings of all the quantified variables of an axiom pass all guards.

use logltn::theory::{Formula, FormulaKind, Quantifier};

use super::Case;
use super::guard::{Environment, all_bindings, passes};

/// In the formula as written: an equivalence has each of its variables once.
pub fn groundings(case: &Case, mut environment: Environment) -> Result<u128, String> {
    let formula = &environment.axiom.formula;
    count(case, &mut environment, formula)
}

fn count(case: &Case, environment: &mut Environment, formula: &Formula) -> Result<u128, String> {
    Ok(match &formula.kind {
        FormulaKind::Use { .. } => unreachable!("no definitions here"),
        FormulaKind::Atom { .. } => 1,
        FormulaKind::Not(inner) => count(case, environment, inner)?,
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            let mut product = 1_u128;
            for member in members {
                product = product.saturating_mul(count(case, environment, member)?);
            }
            product
        }
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
            count(case, environment, a)?.saturating_mul(count(case, environment, b)?)
        }
        FormulaKind::Quantified {
            quantifier,
            binding,
            guard,
            body,
        } => {
            let mut counts = Vec::new();
            for cells in all_bindings(case, environment.axiom, binding) {
                environment.bind(binding.variables(), &cells);
                if passes(case, environment, guard.as_ref())? {
                    counts.push(count(case, environment, body)?);
                }
            }
            match quantifier {
                Quantifier::Forall | Quantifier::Exists => {
                    counts.into_iter().fold(0, u128::saturating_add)
                }
                // Written out, these are connectives.
                Quantifier::All | Quantifier::Any => {
                    counts.into_iter().fold(1, u128::saturating_mul)
                }
            }
        }
    })
}
