//! The least: since the log is monotone, the same of truth degrees and of their logs.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::connective::Fold;
use super::laws::{AggregatorLaws, ConnectiveLaws};
use super::{And, Domain, Formula, Operator, Settings, extreme};
use crate::vector::Real;

pub(crate) struct Min;

impl Operator for Min {
    const DOMAIN: Domain = Domain::Either;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "both",
        "the least",
        "at a tie, any of the tied operands may take the gradient; ignores weights",
    )];
}

impl Fold<And> for Min {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        adds: false,
        semiring: None,
        polynomial: None,
        wants_complements: false,
    };

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        x.min(y)
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        if x <= y {
            (T::ONE, T::ZERO)
        } else {
            (T::ZERO, T::ONE)
        }
    }
}

impl Aggregate for Min {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: true,
        regroups: true,
        picks_one: true,
        semiring: None,
        additive: None,
        of_logs: None,
        wants_complements: false,
    };

    /// `a`: the least.
    fn start() -> State {
        State::new(f64::INFINITY)
    }

    fn accumulate<T: Real>(_: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        for segment in block.segments {
            let state = &mut to.states[segment.parent];
            let least = T::kernels().min(block.values(segment));
            state.a = state.a.min(least.to_f64());
        }
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a = state.a.min(other.a);
    }

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }

    fn slopes<T: Real>(_: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        extreme::slopes(block, to);
    }
}
