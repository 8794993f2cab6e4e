//! One less the p-mean of how far members are from true: a soft minimum.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::laws::{Additive, AggregatorLaws, Exponent, Summand};
use super::powers::{self, Powers};
use super::{Affine, Domain, Formula, Operator, Settings};
use crate::vector::Real;

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

impl Powers for PMeanError {
    const EXPONENT: Exponent = Exponent::PForall;

    #[inline(always)]
    fn project<T: Real>(s: Settings<T>, x: T) -> T {
        T::ONE - s.away_from_one(x)
    }
}

impl Aggregate for PMeanError {
    const LAWS: AggregatorLaws = AggregatorLaws {
        // Not with projections.
        idempotent: false,
        regroups: false,
        picks_one: false,
        semiring: None,
        additive: Some(Additive {
            summand: Summand::Power(<PMeanError as Powers>::EXPONENT),
            projection: |eps| Affine {
                slope: eps - 1.0,
                start: 1.0,
            },
            // Relative to 1.
            state: |total, count| State {
                a: 1.0,
                b: total,
                c: 0.0,
                count,
            },
            slope: |by, s, state| -by * powers::outer::<PMeanError>(s, state),
        }),
        of_logs: None,
        wants_complements: false,
    };

    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        powers::accumulate::<PMeanError, T>(s, block, to);
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        powers::merge::<PMeanError>(s, state, other);
    }

    fn value(s: &Settings<f64>, state: &State) -> f64 {
        1.0 - powers::value::<PMeanError>(s, state)
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        powers::slopes::<PMeanError, T>(s, block, to);
    }
}
