//! The probabilistic sum in log space, log(1 − Π (1 − eˣ)): the exact dual of `and` as a sum.
//!
//! It is the complement of the sum S of the members' complements log(1 − eˣ): log(1 − e^S), exact for members close
//! to 0 and close to −∞. Its derivative by each complement is −e^S / (1 − e^S). Only where all members are so small
//! that S vanishes, it is computed from the members themselves, as their LogSumExp.

use super::aggregate::{Accumulated, Aggregate, Block, Running, Slopes, State};
use super::complement::{FLOOR, NOTHING, log_not};
use super::connective::{Backward, Connective, Forward, Members};
use super::laws::{AggregatorLaws, ConnectiveLaws};
use super::log_exp::{self, Exponentials};
use super::{Domain, Expressed, Formula, Kept, Operator, Or, Reduction, Settings};
use crate::vector::{Function, LogNot, Real, Task, run_task};

pub(crate) struct LogProbabilisticSum;

impl Operator for LogProbabilisticSum {
    const DOMAIN: Domain = Domain::Logs;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "logs",
        "log(1 − Π (1 − exp v))",
        "exactly dual to `sum`; LogSumExp where 1 − Π is below 1e-30; not below −1e5",
    )];
}

/// Whether the sum of complements vanishes.
fn vanishes<T: Real>(sum: T) -> bool {
    sum.to_f64() > -NOTHING
}

/// The derivative by each complement.
fn slope<T: Real>(sum: T) -> T {
    -T::ONE / (-sum).exp_m1()
}

fn any_vanishes<T: Real>(sums: &[T]) -> bool {
    T::kernels().max(sums).to_f64() > -NOTHING
}

/// out = log(1 − e^sum), above the floor.
struct LogNots<'a, T> {
    sums: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Task for LogNots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let floor = T::from_f64(FLOOR);
        for (out, &sum) in self.out.iter_mut().zip(self.sums) {
            let (log, _): (T, T) = LogNot.of::<FUSED>(sum);
            *out = if log < floor { floor } else { log };
        }
    }
}

/// Overwrites sums with the derivatives by their complements.
struct Derivatives<'a, T> {
    sums: &'a mut [T],
    by: &'a [T],
}

impl<T: Real> Task for Derivatives<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (sum, &by) in self.sums.iter_mut().zip(self.by) {
            let (_, slope): (T, T) = LogNot.of::<FUSED>(*sum);
            *sum = by * slope;
        }
    }
}

fn add_up_complements<T: Real>(members: Members<T>, count: usize, out: &mut [T]) {
    out.fill(T::ZERO);
    for complements in &members.complements[..count] {
        for (sum, &c) in out.iter_mut().zip(complements) {
            *sum += c.min(T::ZERO);
        }
    }
}

impl Connective<Or> for LogProbabilisticSum {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        wants_complements: true,
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: Expressed = Expressed::All(<LogProbabilisticSum as Aggregate>::EXPRESSED);

    /// Keeps the derivatives by the members themselves, which differ from 0 only where S vanishes.
    fn forward<T: Real>(_: Settings<T>, members: Members<T>, to: Forward<T>) {
        let Forward {
            slopes,
            out,
            scratch,
        } = to;
        let count = slopes.len();
        add_up_complements(members, count, scratch);
        if !any_vanishes(scratch) {
            run_task(LogNots { sums: scratch, out });
            let len = out.len();
            return slopes.iter_mut().for_each(|own| own[..len].fill(T::ZERO));
        }
        {
            let to = Forward {
                slopes,
                out,
                scratch,
            };
            log_exp::forward(false, T::ONE, members, to);
            add_up_complements(members, count, scratch);
        }
        let floor = T::from_f64(FLOOR);
        for (i, (out, &sum)) in out.iter_mut().zip(scratch.iter()).enumerate() {
            if vanishes(sum) && *out > floor {
                continue;
            }
            *out = match vanishes(sum) {
                true => floor,
                false => log_not(sum),
            };
            slopes.iter_mut().for_each(|slopes| slopes[i] = T::ZERO);
        }
    }

    fn backward<T: Real>(_: Settings<T>, members: Members<T>, to: Backward<T>) {
        let count = to.slopes.len();
        add_up_complements(members, count, to.scratch);
        if any_vanishes(to.scratch) {
            for (sum, &by) in to.scratch.iter_mut().zip(to.by) {
                *sum = match vanishes(*sum) {
                    true => T::ZERO,
                    false => by * slope(*sum),
                };
            }
        } else {
            run_task(Derivatives {
                sums: to.scratch,
                by: to.by,
            });
        }
        for k in 0..count {
            for (slope, &by) in to.slopes[k].iter_mut().zip(to.by) {
                *slope *= by;
            }
            let complements = to.by_complements[k].iter_mut().zip(&members.complements[k]);
            for ((by, &c), &slope) in complements.zip(&*to.scratch) {
                *by = if c > T::ZERO { T::ZERO } else { slope };
            }
        }
    }
}

/// LogSumExp has no α here.
fn without_alpha(s: &Settings<f64>) -> Settings<f64> {
    Settings { alpha: 1.0, ..*s }
}

/// The LogSumExp of the members, and whether that is above the floor.
fn log_sum_exp(state: &State) -> (f64, bool) {
    let value = state.a + state.b.ln();
    (value.max(FLOOR), value > FLOOR)
}

impl Aggregate for LogProbabilisticSum {
    const LAWS: AggregatorLaws = AggregatorLaws {
        regroups: true,
        wants_complements: true,
        or: Some(Or::LogProbabilisticSum),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::sum("none", "w * where(c > 0, 0, c)"),
            Kept::greatest("top", "x"),
            Kept::sum("total", "w * exp(x - top)").relative("top", "exp(old - new)"),
        ],
        value: "where(none > -1e-30, where(top + log(total) > -1e5, top + log(total), -1e5), log_not(none))",
    };

    type Running = LogProbabilisticSum;

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        match vanishes(state.c) {
            true => log_sum_exp(state).0,
            false => log_not(state.c),
        }
    }
}

impl Running for LogProbabilisticSum {
    /// `a`, `b`: as of LogSumExp; `c`: the weighted sum of complements.
    fn start() -> State {
        Exponentials::start()
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        let Accumulated {
            states,
            work,
            scratch,
        } = to;
        let exponentials = Accumulated {
            states,
            work,
            scratch,
        };
        Exponentials::accumulate(&without_alpha(s), block, exponentials);
        for (capped, &c) in scratch.iter_mut().zip(block.complements) {
            *capped = c.min(T::ZERO);
        }
        for segment in block.segments {
            states[segment.parent].c += block.sum(segment, scratch);
        }
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        Exponentials::merge(&without_alpha(s), state, other);
        state.c += other.c;
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        let Slopes {
            states,
            by,
            fresh,
            out,
            by_complements,
            scratch,
        } = to;
        if states.iter().any(|state| vanishes(state.c)) {
            let shares = Slopes {
                states,
                by,
                fresh,
                out,
                by_complements,
                scratch,
            };
            Exponentials::slopes(&without_alpha(s), block, shares);
        }
        for segment in block.segments {
            let state = &states[segment.parent];
            let range = segment.range();
            if !vanishes(state.c) || !log_sum_exp(state).1 {
                out[range.clone()].fill(T::ZERO);
            }
            let slope = match vanishes(state.c) {
                true => 0.0,
                false => by(segment.parent) * slope(state.c),
            };
            for i in range {
                by_complements[i] = match block.complements[i] > T::ZERO {
                    true => T::ZERO,
                    false => T::from_f64(slope * block.weight(i)),
                };
            }
        }
    }
}
