//! The greatest: since the log is monotone, the same of truth degrees and of their logs.

use super::aggregate::{Aggregate, State};
use super::connective::Fold;
use super::extreme::Extreme;
use super::laws::{AggregatorLaws, ConnectiveLaws, Semiring};
use super::{Domain, Formula, Kept, Operator, Or, Reduction, Settings};
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
        associative: true,
        semiring: Some(Semiring::Greatest),
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: &'static str = "where(x >= y, x, y)";

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
        or: Some(Or::Max),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::greatest("top", "x"),
            Kept::sum("ties", "where(x == top, 1, 0)").relative("top", "where(old == new, 1, 0)"),
            Kept::sum("tied", "where(x == top, x - top, 0)"),
        ],
        value: "top + tied / ties",
    };

    type Running = Extreme<true>;

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }
}
