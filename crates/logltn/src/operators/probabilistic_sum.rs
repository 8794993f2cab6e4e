//! The probabilistic sum of truth degrees: the dual of their product.

use super::connective::Fold;
use super::laws::ConnectiveLaws;
use super::{Affine, Bilinear, Domain, Formula, Operator, Or, Polynomial, Settings};
use crate::vector::Real;

pub(crate) struct ProbabilisticSum;

impl Operator for ProbabilisticSum {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "a + b − ab, a = π1(x), b = π1(y)",
        "folds from the left",
    )];
}

impl Fold<Or> for ProbabilisticSum {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        polynomial: Some(|eps| Polynomial {
            projections: [Affine::away_from_one(eps); 2],
            value: Bilinear {
                constant: 0.0,
                first: 1.0,
                second: 1.0,
                both: -1.0,
            },
        }),
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: &'static str =
        "away_from_one(x) + away_from_one(y) - away_from_one(x) * away_from_one(y)";

    #[inline(always)]
    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T {
        let (x, y) = (s.away_from_one(x), s.away_from_one(y));
        x + y - x * y
    }

    #[inline(always)]
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T) {
        (
            s.slope() * (T::ONE - s.away_from_one(y)),
            s.slope() * (T::ONE - s.away_from_one(x)),
        )
    }
}
