//! For aggregators that add up their members, or the logs of them.

use std::marker::PhantomData;

use super::aggregate::{Accumulated, Aggregate, Block, Running, Slopes, State};
use super::for_each::for_each;
use super::laws::{Additive, Summand};
use super::settings::Settings;
use crate::vector::Real;

/// `a`: the sum that the law of `A` describes.
pub(crate) struct Sums<A>(PhantomData<A>);

impl<A: Aggregate> Sums<A> {
    const LAW: Additive = A::LAWS.additive.expect("a sum");
    const LOGS: bool = matches!(Self::LAW.summand, Summand::Log);
}

/// The state after this many members, given the total.
pub(super) fn state(total: f64, count: f64) -> State {
    State {
        count,
        ..State::new(total)
    }
}

impl<A: Aggregate> Running for Sums<A> {
    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        let values = match Self::LOGS {
            false => block.values,
            true => {
                (Self::LAW.projection)(s.eps).apply(block.values, to.work);
                T::kernels().ln(to.work);
                to.work
            }
        };
        for segment in block.segments {
            to.states[segment.parent].a += block.sum(segment, values);
        }
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a += other.a;
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        for segment in block.segments {
            let by = (to.by)(segment.parent);
            let slope = |by| (Self::LAW.slope)(by, s, &to.states[segment.parent]);
            let out = &mut to.out[segment.range()];
            match block.weights {
                None => out.fill(T::from_f64(slope(by))),
                Some(weights) => {
                    for (out, &w) in out.iter_mut().zip(&weights[segment.range()]) {
                        *out = T::from_f64(slope(by * w));
                    }
                }
            }
        }
        if Self::LOGS {
            let projection = (Self::LAW.projection)(s.eps);
            projection.apply(block.values, to.scratch);
            let slope = T::from_f64(projection.slope);
            for_each(to.out.iter_mut().zip(to.scratch), |(out, x)| {
                *out = slope * *out / *x;
            });
        }
    }
}
