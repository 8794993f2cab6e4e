//! The p-mean of truth degrees: a soft maximum.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::laws::{Additive, AggregatorLaws, Exponent, Summand};
use super::powers::{self, Powers};
use super::{Affine, Domain, Formula, Operator, Settings};
use crate::vector::Real;

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

impl Powers for PMean {
    const EXPONENT: Exponent = Exponent::P;

    #[inline(always)]
    fn project<T: Real>(s: Settings<T>, x: T) -> T {
        s.away_from_zero(x)
    }
}

impl Aggregate for PMean {
    const LAWS: AggregatorLaws = AggregatorLaws {
        // Not with projections.
        idempotent: false,
        regroups: false,
        picks_one: false,
        semiring: None,
        additive: Some(Additive {
            summand: Summand::Power(<PMean as Powers>::EXPONENT),
            projection: Affine::away_from_zero,
            // Relative to 1.
            state: |total, count| State {
                a: 1.0,
                b: total,
                c: 0.0,
                count,
            },
            slope: |by, s, state| by * powers::outer::<PMean>(s, state),
        }),
        of_logs: None,
        wants_complements: false,
    };

    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        powers::accumulate::<PMean, T>(s, block, to);
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        powers::merge::<PMean>(s, state, other);
    }

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        powers::value::<PMean>(s, state)
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        powers::slopes::<PMean, T>(s, block, to);
    }
}
