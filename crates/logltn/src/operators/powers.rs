//! For p-means: sums of powers of projected members, relative to the greatest.

use std::marker::PhantomData;

use super::aggregate::{Accumulated, Aggregate, Block, Running, Slopes, State, scale};
use super::laws::{Additive, Summand};
use super::settings::Settings;
use crate::vector::Real;

/// `a`: the greatest; `b`: the sum of powers relative to it, since for a large p the powers themselves would all be 0.
pub(crate) struct Powers<A>(PhantomData<A>);

impl<A: Aggregate> Powers<A> {
    const LAW: Additive = A::LAWS.additive.expect("a sum of powers");

    fn p(s: &Settings<f64>) -> f64 {
        match const { Self::LAW.summand } {
            Summand::Power(exponent) => s.exponent(exponent),
            Summand::Itself | Summand::Log => 1.0,
        }
    }

    /// The p-mean of the projected members.
    pub fn mean(s: &Settings<f64>, state: &State) -> f64 {
        state.a * (state.b / state.count).powf(1.0 / Self::p(s))
    }

    /// The derivative of the p-mean by a projected member, without (x / a)^(p − 1).
    pub fn outer(s: &Settings<f64>, state: &State) -> f64 {
        (state.b / state.count).powf(1.0 / Self::p(s) - 1.0) / state.count
    }
}

/// The state after this many members, given the sum of their powers: relative to 1.
pub(super) fn state(total: f64, count: f64) -> State {
    State {
        b: total,
        count,
        ..State::new(1.0)
    }
}

/// Relative to the greatest.
fn shrink<T: Real>(values: &mut [T], greatest: f64) {
    if greatest > 0.0 {
        scale(values, T::from_f64(1.0 / greatest));
    }
}

impl<A: Aggregate> Running for Powers<A> {
    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        let p = Self::p(s);
        (Self::LAW.projection)(s.eps).apply(block.values, to.work);
        for segment in block.segments {
            let state = &mut to.states[segment.parent];
            let greatest = block.greatest(segment, to.work);
            if greatest > state.a {
                state.b *= (state.a / greatest).powf(p);
                state.a = greatest;
            }
            shrink(&mut to.work[segment.range()], state.a);
        }
        T::kernels().pow(to.work, T::from_f64(p));
        for segment in block.segments {
            to.states[segment.parent].b += block.sum(segment, to.work);
        }
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        let greatest = state.a.max(other.a);
        if greatest > 0.0 {
            let power = |x: f64| (x / greatest).powf(Self::p(s));
            state.b = state.b * power(state.a) + other.b * power(other.a);
            state.a = greatest;
        }
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        let projection = (Self::LAW.projection)(s.eps);
        projection.apply(block.values, to.out);
        for segment in block.segments {
            let greatest = to.states[segment.parent].a;
            shrink(&mut to.out[segment.range()], greatest);
        }
        T::kernels().pow(to.out, T::from_f64(Self::p(s) - 1.0));
        for segment in block.segments {
            let state = &to.states[segment.parent];
            let g = (Self::LAW.slope)((to.by)(segment.parent), s, state) * projection.slope;
            let g = if g.is_finite() { g } else { 0.0 };
            block.scale(segment, to.out, g);
            for x in &mut to.out[segment.range()] {
                *x = if x.is_finite() { *x } else { T::ZERO };
            }
        }
    }
}
