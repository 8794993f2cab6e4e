//! For `min` and `max`: the extreme of the members, and the member that gets the whole derivative.

use super::aggregate::{Accumulated, Block, Running, Slopes, State};
use super::settings::Settings;
use crate::vector::Real;

/// `a` is the extreme; `b` becomes 1 once its derivative has been given away: of equal members the first gets all of
/// it.
pub(crate) struct Extreme<const GREATEST: bool>;

impl<const GREATEST: bool> Extreme<GREATEST> {
    fn add(state: &mut State, x: f64) {
        state.a = match GREATEST {
            true => state.a.max(x),
            false => state.a.min(x),
        };
    }
}

impl<const GREATEST: bool> Running for Extreme<GREATEST> {
    fn start() -> State {
        State::new(match GREATEST {
            true => f64::NEG_INFINITY,
            false => f64::INFINITY,
        })
    }

    fn accumulate<T: Real>(_: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        for segment in block.segments {
            let values = block.values(segment);
            let extreme = match GREATEST {
                true => T::kernels().max(values),
                false => T::kernels().min(values),
            };
            Self::add(&mut to.states[segment.parent], extreme.to_f64());
        }
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        Self::add(state, other.a);
    }

    fn slopes<T: Real>(_: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        to.out.fill(T::ZERO);
        for segment in block.segments {
            let state = &mut to.states[segment.parent];
            if state.b != 0.0 {
                continue;
            }
            let values = block.values(segment);
            if let Some(at) = values.iter().position(|x| x.to_f64() == state.a) {
                to.out[segment.start + at] = T::from_f64((to.by)(segment.parent));
                state.b = 1.0;
            }
        }
    }
}
