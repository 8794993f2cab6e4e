//! What the numbers behind a predicate say of an atom and of its negation.

use logltn::theory::PredicateId;
use logltn::{OutputKind, Space};

use super::Case;
use super::tape::{Tape, Var};

/// Added to truth degrees before their log is taken; also the least negation of a log truth degree.
const EPSILON: f64 = 1e-7;

pub fn check(case: &Case) -> Result<(), String> {
    for (index, output) in case.outputs.iter().enumerate() {
        let shape = case.shape(PredicateId(index as u32));
        let atoms: usize = shape.iter().product();
        assert_eq!(atoms, case.numbers[index].len(), "predicate {index}");
        if output.kind == OutputKind::Softmax && shape.last().is_none_or(|&classes| classes < 2) {
            return Err("a softmax over one class".into());
        }
    }
    Ok(())
}

/// The value of an atom, or of its negation: a log in log space, else a truth degree.
pub fn literal(
    tape: &mut Tape,
    space: Space,
    output: OutputKind,
    numbers: &[Var],
    class: usize,
    negated: bool,
) -> Var {
    let leaf = numbers[class];
    let x = tape.value(leaf);
    let (value, parents) = match (space, output) {
        (_, OutputKind::Softmax) => {
            let logits: Vec<f64> = numbers.iter().map(|&v| tape.value(v)).collect();
            let (value, derivatives) = softmax(space, &logits, class, negated);
            let parents = numbers.iter().copied().zip(derivatives).collect();
            return tape.literal(value, parents);
        }
        (Space::Log, OutputKind::Sigmoid) if negated => (-softplus(x), -sigmoid(x)),
        (Space::Log, OutputKind::Sigmoid) => (-softplus(-x), sigmoid(-x)),
        (Space::Log, OutputKind::Truth) if negated => {
            let complement = 1.0 - x + EPSILON;
            (complement.ln(), -1.0 / complement)
        }
        (Space::Log, OutputKind::Truth) => ((x + EPSILON).ln(), 1.0 / (x + EPSILON)),
        (Space::Log, OutputKind::LogTruth) if negated => {
            let floor = tape.constant(EPSILON.ln());
            if log1mexp(x) < floor_minus_slack() {
                return floor; // the derivative of what is left out need not be finite
            }
            let negation = tape.literal(log1mexp(x), vec![(leaf, -1.0 / (-x).exp_m1())]);
            return tape.maximum(&[negation, floor]);
        }
        (Space::Log, OutputKind::LogTruth) => return leaf,
        (_, kind) => {
            let (truth, slope) = match kind {
                OutputKind::Sigmoid => (sigmoid(x), sigmoid(x) * sigmoid(-x)),
                OutputKind::LogTruth => (x.exp(), x.exp()),
                _ => (x, 1.0),
            };
            assert!(!negated, "truth degrees are negated by `not`");
            (truth, slope)
        }
    };
    tape.literal(value, vec![(leaf, parents)])
}

/// Well below the floor, so that a negation near it still counts as a tie.
fn floor_minus_slack() -> f64 {
    EPSILON.ln() - 1.0
}

fn softmax(space: Space, logits: &[f64], class: usize, negated: bool) -> (f64, Vec<f64>) {
    let greatest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|z| (z - greatest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let p: Vec<f64> = weights.iter().map(|w| w / total).collect();
    // Not 1 − p: next to 1 that would lose all digits.
    let rest = |logits: &[f64]| -> (f64, Vec<f64>) {
        let others = || (0..logits.len()).filter(|&j| j != class);
        let greatest = others()
            .map(|j| logits[j])
            .fold(f64::NEG_INFINITY, f64::max);
        let weights = |j: usize| (logits[j] - greatest).exp();
        let total: f64 = others().map(weights).sum();
        let shares = (0..logits.len())
            .map(|j| if j == class { 0.0 } else { weights(j) / total })
            .collect();
        (greatest + total.ln(), shares)
    };
    let indicator = |j: usize| if j == class { 1.0 } else { 0.0 };
    let classes = 0..logits.len();
    match (space, negated) {
        (Space::Log, false) => {
            // Next to certainty the log is what is left for the others, which their sum with 1 would lose.
            let (log_rest, shares) = rest(logits);
            let odds = (log_rest - logits[class]).exp();
            let value = if odds < 1.0 {
                -odds.ln_1p()
            } else {
                logits[class] - greatest - total.ln()
            };
            let others = (-softplus(logits[class] - log_rest)).exp();
            let derivative = |j: usize| (indicator(j) - shares[j]) * others;
            (value, classes.map(derivative).collect())
        }
        (Space::Log, true) => {
            let (log_rest, shares) = rest(logits);
            let value = if p[class] <= 0.5 {
                (-p[class]).ln_1p()
            } else {
                (log_rest - greatest) - total.ln()
            };
            // d log(1 − p_k)/d z_j = shares_j − p_j = shares_j · p_k for j ≠ k
            let derivative = |j: usize| (shares[j] - indicator(j)) * p[class];
            (value, classes.map(derivative).collect())
        }
        (_, true) => panic!("truth degrees are negated by `not`"),
        (_, false) => (
            p[class],
            classes.map(|j| p[class] * (indicator(j) - p[j])).collect(),
        ),
    }
}

pub fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        z.exp() / (1.0 + z.exp())
    }
}

/// log(1 + eᶻ)
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// log(1 − eᵛ)
pub fn log1mexp(v: f64) -> f64 {
    if v > -std::f64::consts::LN_2 {
        (-v.exp_m1()).ln()
    } else {
        (-v.exp()).ln_1p()
    }
}
