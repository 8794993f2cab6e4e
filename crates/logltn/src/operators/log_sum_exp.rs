//! LogSumExp: a soft maximum in log space that is never below the maximum.

use super::aggregate::{Aggregate, State};
use super::connective::{Backward, Connective, Forward, Members};
use super::laws::{AggregatorLaws, ConnectiveLaws, Semiring};
use super::log_exp::{self, Exponentials};
use super::{Domain, Expressed, Formula, Kept, Operator, Or, Reduction, Settings};
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
        associative: true,
        semiring: Some(SEMIRING),
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: Expressed = Expressed::All(<LogSumExp as Aggregate>::EXPRESSED);

    fn forward<T: Real>(s: Settings<T>, members: Members<T>, to: Forward<T>) {
        log_exp::forward(false, s.alpha, members, to);
    }

    fn backward<T: Real>(_: Settings<T>, _: Members<T>, to: Backward<T>) {
        log_exp::backward(to);
    }
}

impl Aggregate for LogSumExp {
    const LAWS: AggregatorLaws = AggregatorLaws {
        regroups: true,
        semiring: Some(SEMIRING),
        or: Some(Or::LogSumExp),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::greatest("top", "x"),
            Kept::sum("total", "w * exp(alpha * (x - top))")
                .relative("top", "exp(alpha * (old - new))"),
        ],
        value: "top + log(total) / alpha",
    };

    type Running = Exponentials;

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        state.a + state.b.ln() / s.alpha
    }
}
