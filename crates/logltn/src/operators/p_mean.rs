//! The p-mean of truth degrees: a soft maximum.

use super::aggregate::{Aggregate, State};
use super::laws::{Additive, AggregatorLaws, Exponent, Summand};
use super::powers::{self, Powers};
use super::{Affine, Domain, Formula, Kept, Operator, Reduction, Settings};

pub(crate) struct PMean;

impl Operator for PMean {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "(1/n Σ π0(x)^p)^(1/p)",
        "",
    )];
}

impl Aggregate for PMean {
    const LAWS: AggregatorLaws = AggregatorLaws {
        additive: Some(Additive {
            summand: Summand::Power(Exponent::P),
            projection: Affine::away_from_zero,
            state: powers::state,
            slope: |by, s, state| by * Powers::<PMean>::outer(s, state),
        }),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::greatest("top", "away_from_zero(x)"),
            Kept::sum(
                "total",
                "w * power((away_from_zero(x)) / where(top > 0, top, 1), p)",
            )
            .relative(
                "top",
                "power(where(old > 0, old, 1) / where(new > 0, new, 1), p)",
            ),
        ],
        value: "where(top > 0, top, 1) * power(total / count, 1 / p)",
    };

    type Running = Powers<PMean>;

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        Powers::<PMean>::mean(s, state)
    }
}
