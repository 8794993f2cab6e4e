//! Goguen's implication, the residuum of the product.

use super::implication::{ImplicationLaws, Implies};
use super::{Domain, Expressed, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct Goguen;

impl Operator for Goguen {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "1 if π0(x) ≤ y else y / π0(x)",
        "its gradient jumps at π0(x) = y, its value does not",
    )];
}

impl Implies for Goguen {
    const LAWS: ImplicationLaws = ImplicationLaws { polynomial: None };
    const EXPRESSED: Expressed = Expressed::Of(
        "where(away_from_zero(x) <= y, 1, y / where(away_from_zero(x) <= y, 1, away_from_zero(x)))",
    );

    #[inline(always)]
    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T {
        let x = s.away_from_zero(x);
        if x <= y { T::ONE } else { y / x }
    }

    #[inline(always)]
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T) {
        let x = s.away_from_zero(x);
        if x <= y {
            (T::ZERO, T::ZERO)
        } else {
            (-s.slope() * y / (x * x), T::ONE / x)
        }
    }
}
