//! The mean: of logs in log space, which is the geometric mean of the truth degrees; of truth degrees in truth space.

use super::aggregate::{Aggregate, State};
use super::laws::{Additive, AggregatorLaws, Summand};
use super::sums::{self, Sums};
use super::{Affine, Domain, Formula, Kept, Operator, Reduction, Settings};

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
        additive: Some(Additive {
            summand: Summand::Itself,
            projection: |_| Affine::IDENTITY,
            state: sums::state,
            slope: |by, _, state| by / state.count,
        }),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[Kept::sum("total", "w * x")],
        value: "total / count",
    };

    type Running = Sums<Mean>;

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a / state.count
    }
}
