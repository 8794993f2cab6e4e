//! Aggregators as running states: two numbers and a count per outer binding, so that a quantifier can be
//! gone through block by block, and its lanes put together afterwards.

use crate::operators::Aggregator;
use crate::parameters::Parameters;
use crate::semantics::Semantics;
use crate::vector::Real;

use super::connective::Settings;
use super::lane::Segment;

/// What has been seen of one outer binding's values so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// The sum, extreme or product; for the log-exponential aggregators and the p-means the largest value.
    pub a: f64,
    /// For the log-exponential aggregators the sum of exponentials relative to `a`, for the p-means that of
    /// powers; for a product the number of zeros left out of it; for an extreme 1 once its derivative has
    /// been given away.
    pub b: f64,
    pub count: u64,
}

/// The parameters that aggregators take.
#[derive(Clone, Copy, Debug)]
pub(super) struct AggregatorSettings {
    pub alpha: f64,
    pub p: f64,
    pub p_forall: f64,
    pub eps: f64,
}

impl AggregatorSettings {
    pub fn new(parameters: &Parameters, semantics: &Semantics) -> AggregatorSettings {
        AggregatorSettings {
            alpha: parameters.alpha,
            p: parameters.p,
            p_forall: parameters.p_forall,
            eps: semantics.stable_eps,
        }
    }
}

impl State {
    pub fn new(aggregator: Aggregator) -> State {
        let a = match aggregator {
            Aggregator::Min => f64::INFINITY,
            Aggregator::Max | Aggregator::LogMeanExp | Aggregator::LogSumExp => f64::NEG_INFINITY,
            Aggregator::Product => 1.0,
            _ => 0.0,
        };
        State {
            a,
            b: 0.0,
            count: 0,
        }
    }

    /// The state of both together: `other` comes after `self`.
    pub fn merge(&mut self, aggregator: Aggregator, s: &AggregatorSettings, other: &State) {
        self.count += other.count;
        match aggregator {
            Aggregator::Min => self.a = self.a.min(other.a),
            Aggregator::Max => self.a = self.a.max(other.a),
            Aggregator::Product => {
                self.a *= other.a;
                self.b += other.b;
            }
            Aggregator::LogMeanExp | Aggregator::LogSumExp => {
                let largest = self.a.max(other.a);
                if largest > f64::NEG_INFINITY {
                    self.b = self.b * (s.alpha * (self.a - largest)).exp()
                        + other.b * (s.alpha * (other.a - largest)).exp();
                    self.a = largest;
                }
            }
            Aggregator::PMean | Aggregator::PMeanError => {
                let largest = self.a.max(other.a);
                if largest > 0.0 {
                    let p = exponent(aggregator, s);
                    self.b =
                        self.b * (self.a / largest).powf(p) + other.b * (other.a / largest).powf(p);
                    self.a = largest;
                }
            }
            _ => self.a += other.a,
        }
    }

    /// The aggregate of at least one value.
    pub fn value(&self, aggregator: Aggregator, s: &AggregatorSettings) -> f64 {
        let n = self.count as f64;
        match aggregator {
            Aggregator::Mean => self.a / n,
            Aggregator::Sum | Aggregator::LogProduct | Aggregator::Min | Aggregator::Max => self.a,
            Aggregator::Product if self.b > 0.0 => 0.0,
            Aggregator::Product => self.a,
            Aggregator::LogMeanExp => self.a + (self.b / n).ln() / s.alpha,
            Aggregator::LogSumExp => self.a + self.b.ln() / s.alpha,
            Aggregator::PMean => self.a * (self.b / n).powf(1.0 / s.p),
            Aggregator::PMeanError => 1.0 - self.a * (self.b / n).powf(1.0 / s.p_forall),
        }
    }
}

/// Whether the derivative by each value is known before any value is.
pub(super) fn is_linear(aggregator: Aggregator) -> bool {
    matches!(
        aggregator,
        Aggregator::Mean | Aggregator::Sum | Aggregator::LogProduct
    )
}

/// Adds a block's values to the states of their outer bindings. `work` is left holding what
/// [`derivatives`] wants: exponentials relative to the states' largest values, or powers.
pub(super) fn accumulate<T: Real>(
    aggregator: Aggregator,
    s: &AggregatorSettings,
    values: &[T],
    segments: &[Segment],
    states: &mut [State],
    work: &mut [T],
    scratch: &mut [T],
) {
    let kernels = T::kernels();
    match aggregator {
        Aggregator::LogMeanExp | Aggregator::LogSumExp => {
            for segment in segments {
                let state = &mut states[segment.parent];
                let largest = greatest(&values[segment.start..segment.end]).to_f64();
                if largest > state.a {
                    if state.b > 0.0 {
                        state.b *= (s.alpha * (state.a - largest)).exp();
                    }
                    state.a = largest;
                }
                scratch[segment.start..segment.end].fill(T::from_f64(state.a));
            }
            work.copy_from_slice(values);
            kernels.exp_scaled_difference(work, T::from_f64(s.alpha), scratch);
            for segment in segments {
                let sum = sum(&work[segment.start..segment.end]).to_f64();
                states[segment.parent].b += sum;
            }
        }
        Aggregator::PMean | Aggregator::PMeanError => {
            let settings = Settings {
                alpha: T::ONE,
                eps: T::from_f64(s.eps),
            };
            let p = exponent(aggregator, s);
            projected(aggregator, settings, values, work);
            // Relative to the largest: for a large p the powers themselves would all be 0.
            for segment in segments {
                let state = &mut states[segment.parent];
                let part = &mut work[segment.start..segment.end];
                let largest = kernels.max(part).to_f64();
                if largest > state.a {
                    state.b *= (state.a / largest).powf(p);
                    state.a = largest;
                }
                if state.a > 0.0 {
                    scale(part, T::from_f64(1.0 / state.a));
                }
            }
            kernels.pow(work, T::from_f64(p));
            for segment in segments {
                let sum = kernels.sum(&work[segment.start..segment.end]).to_f64();
                states[segment.parent].b += sum;
            }
        }
        Aggregator::Mean | Aggregator::Sum | Aggregator::LogProduct => {
            for segment in segments {
                let sum = sum(&values[segment.start..segment.end]).to_f64();
                states[segment.parent].a += sum;
            }
        }
        Aggregator::Min => {
            for segment in segments {
                let state = &mut states[segment.parent];
                let least = kernels.min(&values[segment.start..segment.end]);
                state.a = state.a.min(least.to_f64());
            }
        }
        Aggregator::Max => {
            for segment in segments {
                let state = &mut states[segment.parent];
                let largest = kernels.max(&values[segment.start..segment.end]);
                state.a = state.a.max(largest.to_f64());
            }
        }
        Aggregator::Product => {
            for segment in segments {
                let state = &mut states[segment.parent];
                for &x in &values[segment.start..segment.end] {
                    let x = (1.0 - s.eps) * x.to_f64() + s.eps;
                    if x == 0.0 {
                        state.b += 1.0;
                    } else {
                        state.a *= x;
                    }
                }
            }
        }
    }
    for segment in segments {
        states[segment.parent].count += (segment.end - segment.start) as u64;
    }
}

fn exponent(aggregator: Aggregator, s: &AggregatorSettings) -> f64 {
    match aggregator {
        Aggregator::PMeanError => s.p_forall,
        _ => s.p,
    }
}

/// What is raised to a power: π0(x), or 1 − π1(x).
fn projected<T: Real>(aggregator: Aggregator, s: Settings<T>, values: &[T], out: &mut [T]) {
    match aggregator {
        Aggregator::PMeanError => {
            for (out, &x) in out.iter_mut().zip(values) {
                *out = T::ONE - s.away_from_one(x);
            }
        }
        _ => {
            for (out, &x) in out.iter_mut().zip(values) {
                *out = s.away_from_zero(x);
            }
        }
    }
}

/// The derivative of the loss by each value of a block, from that by each outer binding's aggregate.
///
/// `states` are final. If `fresh`, `out` still holds what [`accumulate`] left in its `work` and nothing
/// has been added to the states since.
#[allow(clippy::too_many_arguments)] // a block, its states, and both sides' derivatives
pub(super) fn derivatives<T: Real>(
    aggregator: Aggregator,
    s: &AggregatorSettings,
    values: &[T],
    segments: &[Segment],
    states: &mut [State],
    by_aggregate: &dyn Fn(usize) -> f64,
    fresh: bool,
    out: &mut [T],
    scratch: &mut [T],
) {
    let kernels = T::kernels();
    match aggregator {
        Aggregator::Mean => {
            for segment in segments {
                let g = by_aggregate(segment.parent) / states[segment.parent].count as f64;
                out[segment.start..segment.end].fill(T::from_f64(g));
            }
        }
        Aggregator::Sum | Aggregator::LogProduct => {
            for segment in segments {
                let g = by_aggregate(segment.parent);
                out[segment.start..segment.end].fill(T::from_f64(g));
            }
        }
        Aggregator::LogMeanExp | Aggregator::LogSumExp => {
            if !fresh {
                for segment in segments {
                    let largest = T::from_f64(states[segment.parent].a);
                    scratch[segment.start..segment.end].fill(largest);
                }
                out.copy_from_slice(values);
                kernels.exp_scaled_difference(out, T::from_f64(s.alpha), scratch);
            }
            for segment in segments {
                let g = by_aggregate(segment.parent) / states[segment.parent].b;
                scale(&mut out[segment.start..segment.end], T::from_f64(g));
            }
        }
        Aggregator::PMean | Aggregator::PMeanError => {
            let settings = Settings {
                alpha: T::ONE,
                eps: T::from_f64(s.eps),
            };
            let p = exponent(aggregator, s);
            projected(aggregator, settings, values, out);
            for segment in segments {
                let largest = states[segment.parent].a;
                if largest > 0.0 {
                    scale(
                        &mut out[segment.start..segment.end],
                        T::from_f64(1.0 / largest),
                    );
                }
            }
            kernels.pow(out, T::from_f64(p - 1.0));
            for segment in segments {
                let state = &states[segment.parent];
                let mean = state.b / state.count as f64;
                // Both pMean and pMeanError grow with their values: (1 − x)^p has two signs that cancel.
                let outer = mean.powf(1.0 / p - 1.0) / state.count as f64 * (1.0 - s.eps);
                let g = by_aggregate(segment.parent) * outer;
                let g = if g.is_finite() { g } else { 0.0 };
                scale(&mut out[segment.start..segment.end], T::from_f64(g));
                for x in &mut out[segment.start..segment.end] {
                    *x = if x.is_finite() { *x } else { T::ZERO };
                }
            }
        }
        Aggregator::Min | Aggregator::Max => {
            out.fill(T::ZERO);
            for segment in segments {
                let state = &mut states[segment.parent];
                if state.b != 0.0 {
                    continue;
                }
                let slice = &values[segment.start..segment.end];
                // Single-passing: the first of those that are equal takes it all.
                if let Some(at) = slice.iter().position(|x| x.to_f64() == state.a) {
                    out[segment.start + at] = T::from_f64(by_aggregate(segment.parent));
                    state.b = 1.0;
                }
            }
        }
        Aggregator::Product => {
            for segment in segments {
                let state = &states[segment.parent];
                let g = by_aggregate(segment.parent) * (1.0 - s.eps);
                for i in segment.start..segment.end {
                    let x = (1.0 - s.eps) * values[i].to_f64() + s.eps;
                    let others = match (x == 0.0, state.b) {
                        (false, 0.0) => state.a / x,
                        (true, 1.0) => state.a,
                        _ => 0.0,
                    };
                    out[i] = T::from_f64(g * others);
                }
            }
        }
    }
}

/// A kernel is not worth its call for fewer values.
const SHORT: usize = 12;

fn sum<T: Real>(values: &[T]) -> T {
    match values.len() {
        0..SHORT => values.iter().fold(T::ZERO, |a, &b| a + b),
        _ => T::kernels().sum(values),
    }
}

fn greatest<T: Real>(values: &[T]) -> T {
    match values.len() {
        0..SHORT => values
            .iter()
            .fold(T::NEG_INFINITY, |a, &b| if b > a { b } else { a }),
        _ => T::kernels().max(values),
    }
}

fn scale<T: Real>(values: &mut [T], by: T) {
    values.iter_mut().for_each(|x| *x *= by);
}
