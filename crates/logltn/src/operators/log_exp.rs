//! For LogMeanExp and LogSumExp: sums of exponentials relative to the greatest.

use super::aggregate::{Accumulated, Block, Running, Slopes, State};
use super::connective::{Backward, Forward, Members};
use super::settings::Settings;
use crate::vector::Real;

/// `a`: the greatest member; `b`: the sum of exponentials relative to it.
pub(crate) struct Exponentials;

impl Running for Exponentials {
    fn start() -> State {
        State::new(f64::NEG_INFINITY)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
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
        if !to.fresh {
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

/// The connective over blocks: `out`, and in `slopes` each member's share of the sum.
pub(super) fn forward<T: Real>(mean: bool, alpha: T, members: Members<T>, to: Forward<T>) {
    let Forward {
        slopes,
        out,
        scratch,
    } = to;
    let len = out.len();
    if let [a, b] = slopes {
        let two = [members.values(0), members.values(1)];
        return forward_of_two(mean, alpha, two, [&mut a[..len], &mut b[..len]], out);
    }
    out.copy_from_slice(members.values(0));
    for k in 1..slopes.len() {
        for (out, &x) in out.iter_mut().zip(members.values(k)) {
            *out = out.max(x);
        }
    }
    scratch.fill(T::ZERO);
    for (k, share) in slopes.iter_mut().enumerate() {
        let share = &mut share[..len];
        share.copy_from_slice(members.values(k));
        T::kernels().exp_scaled_difference(share, alpha, out);
        for (sum, &e) in scratch.iter_mut().zip(share.iter()) {
            *sum += e;
        }
    }
    for share in slopes.iter_mut() {
        for (e, &sum) in share.iter_mut().zip(scratch.iter()) {
            *e = *e / sum;
        }
    }
    let count = T::from_f64(slopes.len() as f64);
    if mean {
        scratch.iter_mut().for_each(|s| *s = *s / count);
    }
    T::kernels().ln(scratch);
    for (out, &log) in out.iter_mut().zip(scratch.iter()) {
        *out += log / alpha;
    }
}

/// Two members need one exponential and one logarithm: max + log(1 + e^(−α|a − b|))/α.
fn forward_of_two<T: Real>(
    mean: bool,
    alpha: T,
    [a, b]: [&[T]; 2],
    [share_a, share_b]: [&mut [T]; 2],
    out: &mut [T],
) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = (a - b).abs() * alpha;
    }
    T::kernels().log1p_exp_neg_with_exp(out, share_a);
    let over = T::ONE / alpha;
    let less = if mean {
        T::from_f64(std::f64::consts::LN_2)
    } else {
        T::ZERO
    };
    let shares = share_a.iter_mut().zip(share_b.iter_mut());
    for ((out, (share_a, share_b)), (&a, &b)) in out.iter_mut().zip(shares).zip(a.iter().zip(b)) {
        *out = a.max(b) + (*out - less) * over;
        let e = *share_a;
        let large = T::ONE / (T::ONE + e);
        let small = e * large;
        let a_is_larger = a >= b;
        *share_a = if a_is_larger { large } else { small };
        *share_b = if a_is_larger { small } else { large };
    }
}

/// The shares become derivatives.
pub(super) fn backward<T: Real>(to: Backward<T>) {
    for share in to.slopes {
        for (share, &by) in share.iter_mut().zip(to.by) {
            *share *= by;
        }
    }
}
