//! When two evaluations count as equal.

use logltn::{Parameters, Semantics};

use crate::reference::{self, Case, Evaluation, Ties};

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
    let brackets = subgradients(case, semantics, parameters, tie)?;
    let points = |sides: Vec<(f64, f64)>| -> Option<Vec<f64>> {
        let point = |(a, b)| near(a, b, tolerance).then_some(a);
        sides.into_iter().map(point).collect()
    };
    brackets.into_iter().map(points).collect()
}

/// The least and the greatest that each derivative of the reference can be, whatever a (near) tie takes. None where
/// rounding decides a derivative otherwise.
pub fn subgradients(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    tie: f64,
) -> Option<Vec<Vec<(f64, f64)>>> {
    let ties = Ties {
        tolerance: tie,
        ..Ties::default()
    };
    let value =
        reference::evaluate_with(case, semantics, parameters, ties).expect("evaluated before");
    if value.singular || value.kink_gap <= tie || value.jump_gap <= tie {
        return None;
    }
    let points = || {
        let points = |own: &Vec<f64>| own.iter().map(|&x| (x, x)).collect();
        value.gradients.iter().map(points).collect()
    };
    Some(value.brackets.clone().unwrap_or_else(points))
}

/// Whether truths or derivatives are so sensitive that the rounding of what they are made of decides them: two units of the
/// last place (of size `epsilon`), put in at random, already change a fifth of what is allowed.
pub fn rounding_decides(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    tie: f64,
    tolerance: f64,
    epsilon: f64,
) -> bool {
    let rounded = |jitter, seed| {
        let ties = Ties {
            tolerance: tie,
            jitter,
            seed,
            ..Ties::default()
        };
        reference::evaluate_with(case, semantics, parameters, ties).expect("evaluated before")
    };
    let numbers = |value: &Evaluation| -> Vec<f64> {
        let truths = value.axioms.iter().map(|axiom| axiom.truth);
        let sides = value.brackets.iter().flatten().flatten();
        (truths.chain([value.sat, f64::from(u8::from(value.singular))]))
            .chain(value.gradients.iter().flatten().copied())
            .chain(sides.flat_map(|&(least, greatest)| [least, greatest]))
            .collect()
    };
    let expected = numbers(&rounded(0.0, 0));
    (1..=16).any(|seed| {
        let other = numbers(&rounded(2.0 * epsilon, seed));
        let differ =
            |(&a, &b): (&f64, &f64)| !(near(a, b, tolerance / 5.0) || a.is_nan() && b.is_nan());
        // A tie that comes or goes brings its sides.
        other.len() != expected.len() || expected.iter().zip(&other).any(differ)
    })
}
