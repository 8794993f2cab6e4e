//! LogMeanExp: a soft maximum in log space that never exceeds the maximum. The paper's disjunction and `exists`.

use super::aggregate::{Aggregate, Block, Slopes, State};
use super::connective::{Connective, Members};
use super::laws::{AggregatorLaws, ConnectiveLaws, Semiring};
use super::{Domain, Formula, Operator, Or, Settings, log_exp};
use crate::vector::Real;

pub(crate) struct LogMeanExp;

const SEMIRING: Semiring = Semiring::Exponentials { mean: true };

impl Operator for LogMeanExp {
    const DOMAIN: Domain = Domain::Logs;
    const FORMULAS: &'static [Formula] = &[Formula {
        roles: "",
        of: "logs",
        is: "1/α · log(1/n Σ exp(α v))",
        remarks: "the power mean of order α of the truth degrees; max − log n/α ≤ it ≤ max",
    }];
}

impl Connective<Or> for LogMeanExp {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        adds: false,
        semiring: Some(SEMIRING),
        polynomial: None,
    };

    fn forward<T: Real>(
        s: Settings<T>,
        members: Members<T>,
        slopes: &mut [Vec<T>],
        out: &mut [T],
        scratch: &mut [T],
    ) {
        log_exp::forward(true, s.alpha, members, slopes, out, scratch);
    }

    fn backward<T: Real>(
        _: Settings<T>,
        _: Members<T>,
        by: &[T],
        slopes: &mut [Vec<T>],
        _: &mut [T],
    ) {
        log_exp::backward(by, slopes);
    }
}

impl Aggregate for LogMeanExp {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: true,
        regroups: true,
        picks_one: false,
        semiring: Some(SEMIRING),
        additive: None,
        of_logs: None,
    };

    fn start() -> State {
        log_exp::start()
    }

    fn accumulate<T: Real>(
        s: &Settings<f64>,
        block: Block<T>,
        states: &mut [State],
        work: &mut [T],
        scratch: &mut [T],
    ) {
        log_exp::accumulate(s, block, states, work, scratch);
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        log_exp::merge(s, state, other);
    }

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        state.a + (state.b / state.count).ln() / s.alpha
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, slopes: Slopes<T>) {
        log_exp::slopes(s, block, slopes);
    }
}
