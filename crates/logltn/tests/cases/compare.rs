//! When two evaluations count as equal.

use logltn::{Parameters, Semantics};

use crate::reference::{self, Case, TieRule, Ties};

/// Whether two numbers agree, relative to the greater of 1 and their size.
pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    // Infinities agree only with themselves, and a NaN with nothing.
    let both_finite = a.is_finite() && b.is_finite();
    a == b || both_finite && (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// The gradients of the reference, if they do not depend on which subgradient a (near) tie takes.
pub fn unambiguous_gradients(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    tie: f64,
    tolerance: f64,
) -> Option<Vec<Vec<f64>>> {
    let rules = [
        TieRule::First,
        TieRule::Last,
        TieRule::Split,
        TieRule::Scattered(1),
        TieRule::Scattered(2),
    ];
    let [first, others @ ..] = rules.map(|rule| {
        let ties = Ties {
            rule,
            tolerance: tie,
        };
        reference::evaluate_with(case, semantics, parameters, ties).expect("evaluated before")
    });
    if first.singular || first.kink_gap <= tie || first.jump_gap <= tie {
        return None;
    }
    let agree = |other: &reference::Evaluation| {
        let pairs = first
            .gradients
            .iter()
            .flatten()
            .zip(other.gradients.iter().flatten());
        pairs.into_iter().all(|(&a, &b)| near(a, b, tolerance))
    };
    others.iter().all(agree).then_some(first.gradients)
}
