//! LogMeanExp: a soft maximum in log space that never exceeds the maximum. The paper's disjunction and `exists`.

use super::aggregate::{Aggregate, State};
use super::connective::{Backward, Connective, Forward, Members};
use super::laws::{AggregatorLaws, ConnectiveLaws, Semiring};
use super::log_exp::{self, Exponentials};
use super::{Domain, Expressed, Formula, Kept, Operator, Or, Reduction, Settings};
use crate::vector::Real;

pub(crate) struct LogMeanExp;

const SEMIRING: Semiring = Semiring::Exponentials { mean: true };

impl Operator for LogMeanExp {
    const DOMAIN: Domain = Domain::Logs;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "logs",
        "1/α · log(1/n Σ exp(α v))",
        "the power mean of order α of the truth degrees; max − log n/α ≤ it ≤ max",
    )];
}

impl Connective<Or> for LogMeanExp {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        semiring: Some(SEMIRING),
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: Expressed = Expressed::All(<LogMeanExp as Aggregate>::EXPRESSED);

    fn forward<T: Real>(s: Settings<T>, members: Members<T>, to: Forward<T>) {
        log_exp::forward(true, s.alpha, members, to);
    }

    fn backward<T: Real>(_: Settings<T>, _: Members<T>, to: Backward<T>) {
        log_exp::backward(to);
    }
}

impl Aggregate for LogMeanExp {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: true,
        regroups: true,
        semiring: Some(SEMIRING),
        or: Some(Or::LogMeanExp),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::greatest("top", "x"),
            Kept::sum("total", "w * exp(alpha * (x - top))")
                .relative("top", "exp(alpha * (old - new))"),
        ],
        value: "top + log(total / count) / alpha",
    };

    type Running = Exponentials;

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        state.a + (state.b / state.count).ln() / s.alpha
    }
}
