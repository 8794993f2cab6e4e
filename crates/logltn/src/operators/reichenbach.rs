//! Reichenbach's implication: not x or both, by the product.

use super::implication::{ImplicationLaws, Implies};
use super::{Affine, Bilinear, Domain, Expressed, Formula, Operator, Polynomial, Settings};
use crate::vector::Real;

pub(crate) struct Reichenbach;

impl Operator for Reichenbach {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "1 − a + ab, a = π0(x), b = π1(y)",
        "",
    )];
}

impl Implies for Reichenbach {
    const LAWS: ImplicationLaws = ImplicationLaws {
        polynomial: Some(|eps| Polynomial {
            projections: [Affine::away_from_zero(eps), Affine::away_from_one(eps)],
            value: Bilinear {
                constant: 1.0,
                first: -1.0,
                second: 0.0,
                both: 1.0,
            },
        }),
    };
    const EXPRESSED: Expressed =
        Expressed::Of("1 - away_from_zero(x) + away_from_zero(x) * away_from_one(y)");

    #[inline(always)]
    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T {
        let (x, y) = (s.away_from_zero(x), s.away_from_one(y));
        T::ONE - x + x * y
    }

    #[inline(always)]
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T) {
        (
            s.slope() * (s.away_from_one(y) - T::ONE),
            s.slope() * s.away_from_zero(x),
        )
    }
}
