//! All axioms together: the last aggregation, with weights, and its derivatives.

use super::aggregate::AggregatorSettings;
use super::run::Shared;
use super::{Evaluation, loss_of};
use crate::operators::{Aggregator, Loss};
use crate::plan::PlannedAxiom;
use crate::semantics::Semantics;

/// Fills in `sat` and `loss`.
pub(super) fn finish<T>(shared: &Shared<T>, axioms: &[PlannedAxiom], evaluation: &mut Evaluation) {
    let values = (evaluation.axioms.iter().zip(axioms)).map(|(v, a)| (v.truth, a.weight));
    let sat = combine(shared.semantics.over_axioms, &shared.aggregators, values);
    evaluation.sat = sat;
    evaluation.loss = loss_of(shared.semantics.loss, sat);
}

/// The weighted aggregate: weights multiply what is added up, and are exponents in a product. `min` and
/// `max` ignore them.
fn combine(
    aggregator: Aggregator,
    s: &AggregatorSettings,
    values: impl Iterator<Item = (f64, f64)> + Clone,
) -> f64 {
    let total: f64 = values.clone().map(|(_, w)| w).sum();
    let counted = values.clone().filter(|(_, w)| *w > 0.0);
    let sum = |f: &dyn Fn(f64) -> f64| counted.clone().map(|(x, w)| w * f(x)).sum::<f64>();
    let truths = || values.clone().map(|(x, _)| x);
    match aggregator {
        Aggregator::Mean => sum(&|x| x) / total,
        Aggregator::Sum => sum(&|x| x),
        Aggregator::LogProduct => sum(&|x| away_from_zero(s, x).ln()),
        Aggregator::Min => truths().fold(f64::INFINITY, f64::min),
        Aggregator::Max => truths().fold(f64::NEG_INFINITY, f64::max),
        Aggregator::Product => (values.clone())
            .map(|(x, w)| away_from_zero(s, x).powf(w))
            .product(),
        Aggregator::LogMeanExp | Aggregator::LogSumExp => {
            let largest = largest_counted(values.clone());
            let exps = sum(&|x| (s.alpha * (x - largest)).exp());
            let scale = match aggregator {
                Aggregator::LogMeanExp => total,
                _ => 1.0,
            };
            largest + (exps / scale).ln() / s.alpha
        }
        Aggregator::PMean => p_mean(s.p, total, values.map(|(x, w)| (away_from_zero(s, x), w))),
        Aggregator::PMeanError => {
            let errors = values.map(|(x, w)| (1.0 - away_from_one(s, x), w));
            1.0 - p_mean(s.p_forall, total, errors)
        }
    }
}

/// The weighted p-mean, relative to the largest so that a large p leaves something.
fn p_mean(p: f64, total: f64, values: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let largest = values.clone().map(|(x, _)| x).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    let powers: f64 = values.map(|(x, w)| w * (x / largest).powf(p)).sum();
    largest * (powers / total).powf(1.0 / p)
}

/// The largest value of positive weight. Another one could be so much larger that relative to it all
/// others vanish.
fn largest_counted(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let counted = values.filter(|(_, w)| *w > 0.0).map(|(x, _)| x);
    counted.fold(f64::NEG_INFINITY, f64::max)
}

fn away_from_zero(s: &AggregatorSettings, x: f64) -> f64 {
    (1.0 - s.eps) * x + s.eps
}

fn away_from_one(s: &AggregatorSettings, x: f64) -> f64 {
    (1.0 - s.eps) * x
}

/// The derivative of the loss by each axiom's truth.
pub(super) fn derive(
    s: &AggregatorSettings,
    semantics: &Semantics,
    axioms: &[PlannedAxiom],
    evaluation: &Evaluation,
    derivatives: &mut [f64],
) {
    let total: f64 = axioms.iter().map(|a| a.weight).sum();
    let aggregator = semantics.over_axioms;
    let values = || evaluation.axioms.iter().map(|v| v.truth);
    // The first axiom that attains an extreme takes it all.
    let extreme = || {
        let compare = |a: f64, b: f64| match aggregator {
            Aggregator::Min => a < b,
            _ => a > b,
        };
        let better = |best: Option<(usize, f64)>, (i, x)| match best {
            Some((_, y)) if !compare(x, y) => best,
            _ => Some((i, x)),
        };
        values().enumerate().fold(None, better)
    };
    let chosen = match aggregator {
        Aggregator::Min | Aggregator::Max => extreme().map(|(i, _)| i),
        _ => None,
    };
    let sum = |f: &dyn Fn(f64) -> f64| {
        let counted = values().zip(axioms).filter(|(_, a)| a.weight > 0.0);
        counted.map(|(x, a)| a.weight * f(x)).sum::<f64>()
    };
    let slope = 1.0 - s.eps;
    // What all axioms share of the derivative.
    let (largest, shared) = match aggregator {
        Aggregator::LogMeanExp | Aggregator::LogSumExp => {
            let weighted = values().zip(axioms.iter().map(|a| a.weight));
            let largest = largest_counted(weighted);
            (largest, 1.0 / sum(&|x| (s.alpha * (x - largest)).exp()))
        }
        // d/dx (Σ w xᵖ / W)^(1/p) = w (x / mean)^(p − 1) / W, where mean is the p-mean itself.
        Aggregator::PMean => {
            let weights = axioms.iter().map(|a| a.weight);
            let projected = values().map(|x| away_from_zero(s, x));
            (p_mean(s.p, total, projected.zip(weights)), slope / total)
        }
        Aggregator::PMeanError => {
            let weights = axioms.iter().map(|a| a.weight);
            let errors = values().map(|x| 1.0 - away_from_one(s, x));
            (
                p_mean(s.p_forall, total, errors.zip(weights)),
                slope / total,
            )
        }
        _ => (0.0, 1.0),
    };
    for (i, (axiom, value)) in axioms.iter().zip(&evaluation.axioms).enumerate() {
        let (w, x) = (axiom.weight, value.truth);
        let by_sat = match aggregator {
            Aggregator::Mean => w / total,
            Aggregator::Sum => w,
            Aggregator::LogProduct => w * slope / away_from_zero(s, x),
            Aggregator::Min | Aggregator::Max => f64::from(u8::from(chosen == Some(i))),
            Aggregator::Product => {
                let others = (values().zip(axioms).enumerate())
                    .filter(|(j, _)| *j != i)
                    .map(|(_, (y, a))| away_from_zero(s, y).powf(a.weight))
                    .product::<f64>();
                others * w * away_from_zero(s, x).powf(w - 1.0) * slope
            }
            Aggregator::LogMeanExp | Aggregator::LogSumExp => {
                // An axiom without weight may lie far above the largest, and 0 · ∞ is not 0.
                if w > 0.0 {
                    w * (s.alpha * (x - largest)).exp() * shared
                } else {
                    0.0
                }
            }
            Aggregator::PMean => w * (away_from_zero(s, x) / largest).powf(s.p - 1.0) * shared,
            Aggregator::PMeanError => {
                w * ((1.0 - away_from_one(s, x)) / largest).powf(s.p_forall - 1.0) * shared
            }
        };
        let by_sat = if by_sat.is_finite() { by_sat } else { 0.0 };
        // Both losses fall as sat rises.
        derivatives[i] = match semantics.loss {
            Loss::MinusSat | Loss::OneMinusSat => -by_sat,
        };
    }
}
