//! The mean: of logs in log space, which is the geometric mean of the truth degrees; of truth degrees in truth space.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::laws::{Additive, AggregatorLaws, Summand};
use super::{Affine, Domain, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct Mean;

impl Operator for Mean {
    const DOMAIN: Domain = Domain::Either;
    const FORMULAS: &'static [Formula] = &[
        Formula::new(
            "",
            "logs",
            "1/n Σ v",
            "the geometric mean of the truth degrees",
        ),
        Formula::new("", "truth degrees", "1/n Σ x", "the arithmetic mean"),
    ];
}

impl Aggregate for Mean {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: true,
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
            slope: |by, _, state| by / state.count,
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
        state.a / state.count
    }

    fn slopes<T: Real>(_: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        block.fill(to, |by, state| by / state.count);
    }
}
