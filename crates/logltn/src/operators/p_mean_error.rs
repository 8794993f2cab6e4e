//! One minus the p-mean of the members' distances from true: a soft minimum.

use super::aggregate::{Aggregate, State};
use super::laws::{Additive, AggregatorLaws, Exponent, Summand};
use super::powers::{self, Powers};
use super::{Affine, Domain, Formula, Kept, Operator, Reduction, Settings};

pub(crate) struct PMeanError;

impl Operator for PMeanError {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "1 − (1/n Σ (1 − π1(x))^p)^(1/p)",
        "p = `p_forall`",
    )];
}

impl Aggregate for PMeanError {
    const LAWS: AggregatorLaws = AggregatorLaws {
        additive: Some(Additive {
            summand: Summand::Power(Exponent::PForall),
            projection: |eps| Affine {
                slope: eps - 1.0,
                start: 1.0,
            },
            state: powers::state,
            slope: |by, s, state| -by * Powers::<PMeanError>::outer(s, state),
        }),
        ..AggregatorLaws::NONE
    };

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::greatest("top", "1 - away_from_one(x)"),
            Kept::sum(
                "total",
                "w * power((1 - away_from_one(x)) / where(top > 0, top, 1), p_forall)",
            )
            .relative(
                "top",
                "power(where(old > 0, old, 1) / where(new > 0, new, 1), p_forall)",
            ),
        ],
        value: "1 - where(top > 0, top, 1) * power(total / count, 1 / p_forall)",
    };

    type Running = Powers<PMeanError>;

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        1.0 - Powers::<PMeanError>::mean(s, state)
    }
}
