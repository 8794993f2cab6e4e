//! The sum of logs: the product of truth degrees. The paper's conjunction.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::connective::Fold;
use super::laws::{Additive, AggregatorLaws, ConnectiveLaws, Summand};
use super::{And, Domain, Formula, Operator, Settings};
use crate::operators::Affine;
use crate::vector::Real;

pub(crate) struct Sum;

impl Operator for Sum {
    const DOMAIN: Domain = Domain::Logs;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "logs",
        "Σ v",
        "the product of the truth degrees",
    )];
}

impl Fold<And> for Sum {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        adds: true,
        semiring: None,
        polynomial: None,
        wants_complements: false,
    };

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        x + y
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, _: T, _: T) -> (T, T) {
        (T::ONE, T::ONE)
    }
}

impl Aggregate for Sum {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: false,
        regroups: true,
        picks_one: false,
        semiring: None,
        additive: Some(Additive {
            summand: Summand::Itself,
            projection: |_| Affine::IDENTITY,
            state: |total, count| State {
                count,
                ..State::new(total)
            },
            slope: |by, _, _| by,
        }),
        of_logs: None,
        wants_complements: false,
    };

    /// `a`: the sum.
    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(_: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        block.add_up(to.states);
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a += other.a;
    }

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }

    fn slopes<T: Real>(_: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        block.fill(to, |by, _| by);
    }
}
