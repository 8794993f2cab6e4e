//! What pMean and pMeanError share: sums of powers relative to the greatest.

use super::aggregate::{Accumulated, Block, Slopes, State, scale};
use super::laws::Exponent;
use super::settings::Settings;
use crate::vector::Real;

/// What is raised to which power.
pub(super) trait Powers {
    const EXPONENT: Exponent;

    /// The projection of a member.
    fn project<T: Real>(s: Settings<T>, x: T) -> T;
}

fn project<P: Powers, T: Real>(s: &Settings<f64>, values: &[T], out: &mut [T]) {
    let s = s.cast();
    for (out, &x) in out.iter_mut().zip(values) {
        *out = P::project(s, x);
    }
}

/// `a`: the greatest; `b`: the sum of powers relative to it, since for a large p the powers themselves would all be 0.
pub(super) fn accumulate<P: Powers, T: Real>(
    s: &Settings<f64>,
    block: Block<T>,
    to: Accumulated<T>,
) {
    let p = s.exponent(P::EXPONENT);
    project::<P, T>(s, block.values, to.work);
    for segment in block.segments {
        let state = &mut to.states[segment.parent];
        let greatest = block.greatest(segment, to.work);
        if greatest > state.a {
            state.b *= (state.a / greatest).powf(p);
            state.a = greatest;
        }
        if state.a > 0.0 {
            scale(&mut to.work[segment.range()], T::from_f64(1.0 / state.a));
        }
    }
    T::kernels().pow(to.work, T::from_f64(p));
    for segment in block.segments {
        to.states[segment.parent].b += block.sum(segment, to.work);
    }
}

pub(super) fn merge<P: Powers>(s: &Settings<f64>, state: &mut State, other: &State) {
    let greatest = state.a.max(other.a);
    if greatest > 0.0 {
        let p = s.exponent(P::EXPONENT);
        state.b = state.b * (state.a / greatest).powf(p) + other.b * (other.a / greatest).powf(p);
        state.a = greatest;
    }
}

/// The p-mean of what was projected.
pub(super) fn value<P: Powers>(s: &Settings<f64>, state: &State) -> f64 {
    state.a * (state.b / state.count).powf(1.0 / s.exponent(P::EXPONENT))
}

/// The derivative of the p-mean by a projected member, without (x / a)^(p − 1).
pub(super) fn outer<P: Powers>(s: &Settings<f64>, state: &State) -> f64 {
    let p = s.exponent(P::EXPONENT);
    (state.b / state.count).powf(1.0 / p - 1.0) / state.count
}

/// Both grow with their members: in 1 − mean (1 − x)ᵖ two signs cancel.
pub(super) fn slopes<P: Powers, T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
    let p = s.exponent(P::EXPONENT);
    project::<P, T>(s, block.values, to.out);
    for segment in block.segments {
        let greatest = to.states[segment.parent].a;
        if greatest > 0.0 {
            scale(&mut to.out[segment.range()], T::from_f64(1.0 / greatest));
        }
    }
    T::kernels().pow(to.out, T::from_f64(p - 1.0));
    for segment in block.segments {
        let outer = outer::<P>(s, &to.states[segment.parent]) * (1.0 - s.eps);
        let g = (to.by)(segment.parent) * outer;
        let g = if g.is_finite() { g } else { 0.0 };
        block.scale(segment, to.out, g);
        for x in &mut to.out[segment.range()] {
            *x = if x.is_finite() { *x } else { T::ZERO };
        }
    }
}
