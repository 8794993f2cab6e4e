//! The greatest: since the log is monotone, the same of truth degrees and of their logs.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::connective::Fold;
use super::laws::{AggregatorLaws, ConnectiveLaws, Semiring};
use super::{Domain, Formula, Operator, Or, Settings, extreme};
use crate::vector::Real;

pub(crate) struct Max;

impl Operator for Max {
    const DOMAIN: Domain = Domain::Either;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "both",
        "the greatest",
        "at a tie, any of the tied operands may take the gradient; ignores weights",
    )];
}

impl Fold<Or> for Max {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        adds: false,
        semiring: Some(Semiring::Greatest),
        polynomial: None,
        wants_complements: false,
    };

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        x.max(y)
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        if x >= y {
            (T::ONE, T::ZERO)
        } else {
            (T::ZERO, T::ONE)
        }
    }
}

impl Aggregate for Max {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: true,
        regroups: true,
        picks_one: true,
        semiring: Some(Semiring::Greatest),
        additive: None,
        of_logs: None,
        wants_complements: false,
    };

    /// `a`: the greatest.
    fn start() -> State {
        State::new(f64::NEG_INFINITY)
    }

    fn accumulate<T: Real>(_: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        for segment in block.segments {
            let state = &mut to.states[segment.parent];
            let greatest = T::kernels().max(block.values(segment));
            state.a = state.a.max(greatest.to_f64());
        }
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a = state.a.max(other.a);
    }

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }

    fn slopes<T: Real>(_: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        extreme::slopes(block, to);
    }
}
