//! The log of a product of truth degrees: `forall` of `prod`, where logs begin.

use super::aggregate::{Aggregate, State};
use super::laws::{Additive, AggregatorLaws, Summand};
use super::sums::{self, Sums};
use super::{Affine, Aggregator, Domain, Formula, Kept, Operator, Reduction, Settings};

pub(crate) struct LogProduct;

impl Operator for LogProduct {
    const DOMAIN: Domain = Domain::TruthsToLogs;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "Σ log π0(x)",
        "gives a log; the outermost `forall` of `prod` only",
    )];
}

impl Aggregate for LogProduct {
    const LAWS: AggregatorLaws = AggregatorLaws {
        additive: Some(Additive {
            summand: Summand::Log,
            projection: Affine::away_from_zero,
            state: sums::state,
            slope: |by, _, _| by,
        }),
        of_logs: Some(Aggregator::Sum),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[Kept::sum("total", "w * log(away_from_zero(x))")],
        value: "total",
    };

    type Running = Sums<LogProduct>;

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }
}
