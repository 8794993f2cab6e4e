//! LogSumExp: a soft maximum in log space that is never below the maximum.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::connective::{Backward, Connective, Forward, Members};
use super::laws::{AggregatorLaws, ConnectiveLaws, Semiring};
use super::{Domain, Formula, Operator, Or, Settings, log_exp};
use crate::vector::Real;

pub(crate) struct LogSumExp;

const SEMIRING: Semiring = Semiring::Exponentials { mean: false };

impl Operator for LogSumExp {
    const DOMAIN: Domain = Domain::Logs;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "logs",
        "1/α · log Σ exp(α v)",
        "max ≤ it ≤ max + log n/α: can be more than true",
    )];
}

impl Connective<Or> for LogSumExp {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        adds: false,
        semiring: Some(SEMIRING),
        polynomial: None,
        wants_complements: false,
    };

    fn forward<T: Real>(s: Settings<T>, members: Members<T>, to: Forward<T>) {
        log_exp::forward(false, s.alpha, members, to);
    }

    fn backward<T: Real>(_: Settings<T>, _: Members<T>, to: Backward<T>) {
        log_exp::backward(to);
    }
}

impl Aggregate for LogSumExp {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: false,
        regroups: true,
        picks_one: false,
        semiring: Some(SEMIRING),
        additive: None,
        of_logs: None,
        wants_complements: false,
    };

    fn start() -> State {
        log_exp::start()
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        log_exp::accumulate(s, block, to);
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        log_exp::merge(s, state, other);
    }

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        state.a + state.b.ln() / s.alpha
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        log_exp::slopes(s, block, to);
    }
}
