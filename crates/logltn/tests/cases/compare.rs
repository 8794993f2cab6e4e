//! When two evaluations count as equal.

use logltn::{Parameters, Semantics};

use crate::reference::{self, Case, TieRule, Ties};

/// Whether two numbers agree, relative to the greater of 1 and their size.
pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    // Equality first, for infinities; a NaN is near nothing.
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// The gradients of the reference, if they do not depend on which subgradient a (near) tie takes.
pub fn unambiguous_gradients(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    tie: f64,
    tolerance: f64,
) -> Option<Vec<Vec<f64>>> {
    let rules = [TieRule::First, TieRule::Last, TieRule::Split];
    let [first, last, split] = rules.map(|rule| {
        let ties = Ties {
            rule,
            tolerance: tie,
        };
        reference::evaluate_with(case, semantics, parameters, ties).expect("evaluated before")
    });
    if first.singular || first.kink_gap <= tie || first.jump_gap <= tie {
        return None;
    }
    let agree = |other: &Vec<Vec<f64>>| {
        let pairs = first.gradients.iter().flatten().zip(other.iter().flatten());
        pairs.into_iter().all(|(&a, &b)| near(a, b, tolerance))
    };
    (agree(&last.gradients) && agree(&split.gradients)).then_some(first.gradients)
}
