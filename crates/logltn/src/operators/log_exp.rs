//! For LogMeanExp and LogSumExp: sums of exponentials relative to the greatest.

use super::aggregate::{Accumulated, Block, Running, Slopes, State};
use super::connective::{Backward, Forward, Members};
use super::settings::Settings;
use crate::vector::{Exp, Function, Ln, Log1pExpNeg, Real, Task, run_task};

/// `a`: the greatest member; `b`: the sum of exponentials relative to it.
pub(crate) struct Exponentials;

impl Running for Exponentials {
    fn start() -> State {
        State::new(f64::NEG_INFINITY)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        if block.weights.is_none() && LONG * block.segments.len() <= block.values.len() {
            return accumulate_long(s, block, to);
        }
        for segment in block.segments {
            let state = &mut to.states[segment.parent];
            let greatest = block.greatest(segment, block.values);
            if greatest > state.a {
                if state.b > 0.0 {
                    state.b *= (s.alpha * (state.a - greatest)).exp();
                }
                state.a = greatest;
            }
            to.scratch[segment.range()].fill(T::from_f64(state.a));
        }
        to.work.copy_from_slice(block.values);
        T::kernels().exp_scaled_difference(to.work, T::from_f64(s.alpha), to.scratch);
        for segment in block.segments {
            to.states[segment.parent].b += block.sum(segment, to.work);
        }
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        let greatest = state.a.max(other.a);
        if greatest > f64::NEG_INFINITY {
            state.b = state.b * (s.alpha * (state.a - greatest)).exp()
                + other.b * (s.alpha * (other.a - greatest)).exp();
            state.a = greatest;
        }
    }

    /// Each member's share of the sum.
    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        if !to.fresh && block.weights.is_none() && LONG * block.segments.len() <= to.out.len() {
            for segment in block.segments {
                let relative = Relative {
                    values: &block.values[segment.range()],
                    alpha: T::from_f64(s.alpha),
                    greatest: T::from_f64(to.states[segment.parent].a),
                    out: &mut to.out[segment.range()],
                };
                run_task(relative);
            }
        } else if !to.fresh {
            for segment in block.segments {
                let greatest = T::from_f64(to.states[segment.parent].a);
                to.scratch[segment.range()].fill(greatest);
            }
            to.out.copy_from_slice(block.values);
            T::kernels().exp_scaled_difference(to.out, T::from_f64(s.alpha), to.scratch);
        }
        for segment in block.segments {
            let g = (to.by)(segment.parent) / to.states[segment.parent].b;
            block.scale(segment, to.out, g);
        }
    }
}

/// From this many members of one outer binding on, a separate loop pays.
const LONG: usize = 64;

fn accumulate_long<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
    for segment in block.segments {
        let state = &mut to.states[segment.parent];
        let greatest = block.greatest(segment, block.values);
        if greatest > state.a {
            if state.b > 0.0 {
                state.b *= (s.alpha * (state.a - greatest)).exp();
            }
            state.a = greatest;
        }
        let sum = run_task(Relative {
            values: &block.values[segment.range()],
            alpha: T::from_f64(s.alpha),
            greatest: T::from_f64(state.a),
            out: &mut to.work[segment.range()],
        });
        state.b += sum.to_f64();
    }
}

/// The numbers that are computed together, and the number of partial sums.
const TOGETHER: usize = 16;

/// out = exp(α (value − greatest)), and the sum of these, always in the same order.
struct Relative<'a, T> {
    values: &'a [T],
    alpha: T,
    greatest: T,
    out: &'a mut [T],
}

impl<T: Real> Task for Relative<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> T {
        let mut sums = [T::ZERO; TOGETHER];
        let (values, values_left) = self.values.as_chunks::<TOGETHER>();
        let (out, out_left) = self.out.as_chunks_mut::<TOGETHER>();
        for (out, values) in out.iter_mut().zip(values) {
            for i in 0..TOGETHER {
                out[i] = Exp.of::<FUSED>(self.alpha * (values[i] - self.greatest));
                sums[i] += out[i];
            }
        }
        for ((out, &x), sum) in out_left.iter_mut().zip(values_left).zip(&mut sums) {
            *out = Exp.of::<FUSED>(self.alpha * (x - self.greatest));
            *sum += *out;
        }
        let mut width = TOGETHER / 2;
        while width > 0 {
            for i in 0..width {
                sums[i] += sums[i + width];
            }
            width /= 2;
        }
        sums[0]
    }
}

/// The connective over blocks: `out`, and in `slopes` each member's share of the sum.
pub(super) fn forward<T: Real>(mean: bool, alpha: T, members: Members<T>, to: Forward<T>) {
    let Forward { slopes, out, .. } = to;
    let len = out.len();
    if let [a, b] = slopes {
        return run_task(SharesOfTwo {
            mean,
            alpha,
            members: [members.values(0), members.values(1)],
            shares: [&mut a[..len], &mut b[..len]],
            out,
        });
    }
    run_task(Shares {
        mean,
        alpha,
        members,
        shares: slopes,
        out,
    });
}

/// Where there are fewer bindings, the rest are zeros.
#[inline(always)]
fn filled_up<T: Real>(values: &[T]) -> [T; TOGETHER] {
    let mut block = [T::ZERO; TOGETHER];
    block[..values.len()].copy_from_slice(values);
    block
}

/// The shares of many members, some bindings at a time.
struct Shares<'a, T> {
    mean: bool,
    alpha: T,
    members: Members<'a, T>,
    shares: &'a mut [Vec<T>],
    out: &'a mut [T],
}

impl<T: Real> Task for Shares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Shares {
            mean,
            alpha,
            members,
            shares,
            out,
        } = self;
        let count = match mean {
            true => T::from_f64(shares.len() as f64),
            false => T::ONE,
        };
        for (i, out) in out.chunks_mut(TOGETHER).enumerate() {
            let from = TOGETHER * i;
            let range = from..from + out.len();
            let mut greatest = [T::NEG_INFINITY; TOGETHER];
            for k in 0..shares.len() {
                let values = filled_up(&members.values(k)[range.clone()]);
                for (greatest, x) in greatest.iter_mut().zip(values) {
                    *greatest = if x > *greatest { x } else { *greatest };
                }
            }
            let mut sums = [T::ZERO; TOGETHER];
            for (k, share) in shares.iter_mut().enumerate() {
                let mut values = filled_up(&members.values(k)[range.clone()]);
                for i in 0..TOGETHER {
                    values[i] = Exp.of::<FUSED>(alpha * (values[i] - greatest[i]));
                    sums[i] += values[i];
                }
                share[range.clone()].copy_from_slice(&values[..out.len()]);
            }
            let mut logs = [T::ZERO; TOGETHER];
            let mut inverse = [T::ZERO; TOGETHER];
            for i in 0..TOGETHER {
                inverse[i] = T::ONE / sums[i];
                logs[i] = greatest[i] + Ln.of::<FUSED>(sums[i] / count) / alpha;
            }
            for share in shares.iter_mut() {
                for (share, &inverse) in share[range.clone()].iter_mut().zip(&inverse) {
                    *share *= inverse;
                }
            }
            out.copy_from_slice(&logs[..out.len()]);
        }
    }
}

/// Two members need one exponential and one logarithm: max + log(1 + e^(−α|a − b|))/α.
struct SharesOfTwo<'a, T> {
    mean: bool,
    alpha: T,
    members: [&'a [T]; 2],
    shares: [&'a mut [T]; 2],
    out: &'a mut [T],
}

impl<T: Real> Task for SharesOfTwo<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let over = T::ONE / self.alpha;
        let less = match self.mean {
            true => T::LN2,
            false => T::ZERO,
        };
        let ([a, b], [share_a, share_b]) = (self.members, self.shares);
        let shares = share_a.iter_mut().zip(share_b);
        let members = a.iter().zip(b);
        for ((out, (share_a, share_b)), (&a, &b)) in self.out.iter_mut().zip(shares).zip(members) {
            let (log, e): (T, T) = Log1pExpNeg.of::<FUSED>((a - b).abs() * self.alpha);
            let a_is_larger = a >= b;
            let greater = if a_is_larger { a } else { b };
            *out = greater + (log - less) * over;
            let large = T::ONE / (T::ONE + e);
            let small = e * large;
            *share_a = if a_is_larger { large } else { small };
            *share_b = if a_is_larger { small } else { large };
        }
    }
}

/// The shares become derivatives.
pub(super) fn backward<T: Real>(to: Backward<T>) {
    run_task(Scaled {
        shares: to.slopes,
        by: to.by,
    });
}

struct Scaled<'a, T> {
    shares: &'a mut [Vec<T>],
    by: &'a [T],
}

impl<T: Real> Task for Scaled<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for share in self.shares {
            for (share, &by) in share.iter_mut().zip(self.by) {
                *share *= by;
            }
        }
    }
}
