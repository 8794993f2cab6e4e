//! The sum of logs: the product of truth degrees. The paper's conjunction.

use super::aggregate::{Aggregate, State};
use super::connective::Fold;
use super::laws::{Additive, AggregatorLaws, ConnectiveLaws, Summand};
use super::sums::{self, Sums};
use super::{Affine, And, Domain, Formula, Kept, Operator, Reduction, Settings};
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
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: &'static str = "x + y";

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
        regroups: true,
        additive: Some(Additive {
            summand: Summand::Itself,
            projection: |_| Affine::IDENTITY,
            state: sums::state,
            slope: |by, _, _| by,
        }),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[Kept::sum("total", "w * x")],
        value: "total",
    };

    type Running = Sums<Sum>;

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }
}
