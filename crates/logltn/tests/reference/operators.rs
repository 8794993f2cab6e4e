//! Connectives and aggregators, as in the table of `docs/language.md`.

use logltn::{Aggregator, And, Implies, Not, Or, Parameters};

use super::literal::log1mexp;
use super::tape::{Tape, Var};

/// π0(x) = (1 − ε)x + ε
pub fn pi0(tape: &mut Tape, eps: f64, x: Var) -> Var {
    tape.affine(eps, &[(1.0 - eps, x)])
}

/// π1(x) = (1 − ε)x
fn pi1(tape: &mut Tape, eps: f64, x: Var) -> Var {
    tape.affine(0.0, &[(1.0 - eps, x)])
}

/// `and` of one or more.
pub fn and(tape: &mut Tape, operator: And, eps: f64, members: &[Var]) -> Var {
    let fold = |tape: &mut Tape, binary: fn(&mut Tape, f64, Var, Var) -> Var| {
        let fold = |x, &y| binary(tape, eps, x, y);
        members[1..].iter().fold(members[0], fold)
    };
    match operator {
        And::Sum => {
            let terms: Vec<_> = members.iter().map(|&v| (1.0, v)).collect();
            tape.affine(0.0, &terms)
        }
        And::Min => tape.minimum(members),
        And::Product => fold(tape, |tape, eps, x, y| {
            let (x, y) = (pi0(tape, eps, x), pi0(tape, eps, y));
            tape.product(x, y)
        }),
        And::Lukasiewicz => fold(tape, |tape, _, x, y| {
            let sum = tape.affine(-1.0, &[(1.0, x), (1.0, y)]);
            let zero = tape.constant(0.0);
            tape.maximum(&[sum, zero])
        }),
    }
}

/// `or` of one or more.
pub fn or(
    tape: &mut Tape,
    operator: Or,
    eps: f64,
    parameters: &Parameters,
    members: &[Var],
    complements: &[Var],
) -> Var {
    let fold = |tape: &mut Tape, binary: fn(&mut Tape, f64, Var, Var) -> Var| {
        let fold = |x, &y| binary(tape, eps, x, y);
        members[1..].iter().fold(members[0], fold)
    };
    let equal: Vec<(f64, Var)> = members.iter().map(|&v| (1.0, v)).collect();
    match operator {
        Or::LogMeanExp => log_exp(tape, parameters.alpha, members.len() as f64, &equal),
        Or::LogSumExp => log_exp(tape, parameters.alpha, 1.0, &equal),
        Or::LogProbabilisticSum => log_probabilistic_sum(tape, &equal, complements),
        Or::Max => tape.maximum(members),
        Or::ProbabilisticSum => fold(tape, |tape, eps, x, y| {
            let (x, y) = (pi1(tape, eps, x), pi1(tape, eps, y));
            let both = tape.product(x, y);
            tape.affine(0.0, &[(1.0, x), (1.0, y), (-1.0, both)])
        }),
        Or::Lukasiewicz => fold(tape, |tape, _, x, y| {
            let sum = tape.affine(0.0, &[(1.0, x), (1.0, y)]);
            let one = tape.constant(1.0);
            tape.minimum(&[sum, one])
        }),
    }
}

/// x -> y, of truth degrees.
pub fn implies(tape: &mut Tape, operator: Implies, eps: f64, x: Var, y: Var) -> Var {
    match operator {
        Implies::Nnf => panic!("negation normal form has no implications"),
        Implies::Reichenbach => {
            let (x, y) = (pi0(tape, eps, x), pi1(tape, eps, y));
            let both = tape.product(x, y);
            tape.affine(1.0, &[(-1.0, x), (1.0, both)])
        }
        Implies::KleeneDienes => {
            let complement = tape.affine(1.0, &[(-1.0, x)]);
            tape.maximum(&[complement, y])
        }
        Implies::Godel if tape.at_most_or_jump(x, y) => tape.constant(1.0),
        Implies::Godel => y,
        Implies::Goguen => {
            let x = pi0(tape, eps, x);
            if tape.at_most_or_kink(x, y) {
                return tape.constant(1.0);
            }
            let (a, b) = (tape.value(x), tape.value(y));
            tape.node(b / a, vec![(x, -b / (a * a)), (y, 1.0 / a)])
        }
        Implies::Lukasiewicz => {
            let sum = tape.affine(1.0, &[(-1.0, x), (1.0, y)]);
            let one = tape.constant(1.0);
            tape.minimum(&[sum, one])
        }
    }
}

/// not x, of a truth degree.
pub fn not(tape: &mut Tape, operator: Not, x: Var) -> Var {
    match operator {
        Not::Nnf => panic!("negation normal form negates atoms only"),
        Not::Standard => tape.affine(1.0, &[(-1.0, x)]),
        Not::Godel => {
            let zero = tape.constant(0.0);
            let is_zero = tape.at_most_or_jump(x, zero);
            tape.constant(if is_zero { 1.0 } else { 0.0 })
        }
    }
}

/// One or more values with their weights: all 1 under a quantifier, those of the axioms over axioms.
pub fn aggregate(
    tape: &mut Tape,
    operator: Aggregator,
    eps: f64,
    parameters: &Parameters,
    members: &[(f64, Var)],
    complements: &[Var],
) -> Var {
    let total: f64 = members.iter().map(|(weight, _)| weight).sum();
    let values: Vec<Var> = members.iter().map(|&(_, v)| v).collect();
    match operator {
        Aggregator::Mean => {
            let terms: Vec<_> = members.iter().map(|&(w, v)| (w / total, v)).collect();
            tape.affine(0.0, &terms)
        }
        Aggregator::Sum => tape.affine(0.0, members),
        Aggregator::Min => tape.minimum(&values),
        Aggregator::Max => tape.maximum(&values),
        Aggregator::Product => {
            let factors: Vec<(f64, Var)> = (members.iter())
                .map(|&(w, v)| (w, pi0(tape, eps, v)))
                .collect();
            let one = tape.constant(1.0);
            factors.into_iter().fold(one, |product, (weight, x)| {
                let a = tape.value(x);
                let power = tape.node(a.powf(weight), vec![(x, weight * a.powf(weight - 1.0))]);
                tape.product(product, power)
            })
        }
        Aggregator::LogProduct => {
            let logs: Vec<(f64, Var)> = (members.iter())
                .map(|&(w, v)| {
                    let x = pi0(tape, eps, v);
                    (w, tape.log(x))
                })
                .collect();
            tape.affine(0.0, &logs)
        }
        Aggregator::LogMeanExp => log_exp(tape, parameters.alpha, total, members),
        Aggregator::LogSumExp => log_exp(tape, parameters.alpha, 1.0, members),
        Aggregator::LogProbabilisticSum => log_probabilistic_sum(tape, members, complements),
        Aggregator::PMean => {
            let projected: Vec<(f64, Var)> = (members.iter())
                .map(|&(w, v)| (w, pi0(tape, eps, v)))
                .collect();
            power_mean(tape, parameters.p, total, &projected)
        }
        Aggregator::PMeanError => {
            let errors: Vec<(f64, Var)> = (members.iter())
                .map(|&(w, v)| {
                    let x = pi1(tape, eps, v);
                    (w, tape.affine(1.0, &[(-1.0, x)]))
                })
                .collect();
            let mean = power_mean(tape, parameters.p_forall, total, &errors);
            tape.affine(1.0, &[(-1.0, mean)])
        }
    }
}

/// 1/α · log(Σ w exp(α v) / divisor)
fn log_exp(tape: &mut Tape, alpha: f64, divisor: f64, members: &[(f64, Var)]) -> Var {
    let value = |v: Var| tape.value(v);
    // A member of weight 0 must not set the scale.
    let counted = || members.iter().filter(|(weight, _)| *weight > 0.0);
    let greatest = counted()
        .map(|&(_, v)| value(v))
        .fold(f64::NEG_INFINITY, f64::max);
    let term = |weight: f64, v: Var| weight * (alpha * (value(v) - greatest)).exp();
    let sum: f64 = counted().map(|&(w, v)| term(w, v)).sum();
    let parents = counted().map(|&(w, v)| (v, term(w, v) / sum)).collect();
    tape.node(greatest + (sum / divisor).ln() / alpha, parents)
}

/// log(1 − eˣ), with x capped at 0: the complement of what is not a literal.
pub fn complement(tape: &mut Tape, x: Var) -> Var {
    let zero = tape.constant(0.0);
    if tape.value(x) == f64::NEG_INFINITY {
        return zero;
    }
    let x = tape.minimum(&[x, zero]);
    let a = tape.value(x);
    if a == 0.0 {
        return tape.constant(-1e5); // e to this power is 0
    }
    tape.node(log1mexp(a), vec![(x, -1.0 / (-a).exp_m1())])
}

/// log(1 − Π (1 − eˣ)ʷ), where 1 − eˣ is e to the power of the complement, capped at 0.
fn log_probabilistic_sum(tape: &mut Tape, members: &[(f64, Var)], complements: &[Var]) -> Var {
    let zero = tape.constant(0.0);
    let mut terms = Vec::new();
    for (&(weight, _), &complement) in members.iter().zip(complements) {
        if weight > 0.0 {
            terms.push((weight, tape.minimum(&[complement, zero])));
        }
    }
    let sum = tape.affine(0.0, &terms);
    let s = tape.value(sum);
    if s < -1e-30 {
        return tape.node(log1mexp(s), vec![(sum, -1.0 / (-s).exp_m1())]);
    }
    let capped: Vec<(f64, Var)> = (members.iter())
        .map(|&(w, v)| (w, tape.minimum(&[v, zero])))
        .collect();
    let vanishing = log_exp(tape, 1.0, 1.0, &capped);
    let floor = tape.constant(-1e5);
    tape.maximum(&[vanishing, floor])
}

/// (Σ w xᵖ / total)^(1/p)
fn power_mean(tape: &mut Tape, p: f64, total: f64, members: &[(f64, Var)]) -> Var {
    let counted = || members.iter().filter(|(weight, _)| *weight > 0.0);
    let greatest = counted().map(|&(_, v)| tape.value(v)).fold(0.0, f64::max);
    if greatest == 0.0 {
        tape.singular = true;
        return tape.constant(0.0);
    }
    // Scaled by the greatest, so that no power underflows that matters.
    let mean: f64 = counted()
        .map(|&(w, v)| w * (tape.value(v) / greatest).powf(p))
        .sum::<f64>()
        / total;
    let root = greatest * mean.powf(1.0 / p);
    let parents = counted()
        .map(|&(w, v)| (v, w / total * (tape.value(v) / root).powf(p - 1.0)))
        .collect();
    tape.node(root, parents)
}
