//! Gödel's implication and negation. Both jump, and the negation has no gradient at all.

use super::implication::{ImplicationLaws, Implies};
use super::negation::{Negate, NegationLaws};
use super::{Domain, Expressed, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct Godel;

impl Operator for Godel {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[
        Formula::new("implies", "truth degrees", "1 if x ≤ y else y", "jumps"),
        Formula::new(
            "not",
            "truth degrees",
            "1 if x = 0 else 0",
            "jumps, and has no gradient at all",
        ),
    ];
}

impl Implies for Godel {
    const LAWS: ImplicationLaws = ImplicationLaws { polynomial: None };
    const EXPRESSED: Expressed = Expressed::Of("where(x <= y, 1, y)");

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        if x <= y { T::ONE } else { y }
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        (T::ZERO, if x <= y { T::ZERO } else { T::ONE })
    }
}

impl Negate for Godel {
    const LAWS: NegationLaws = NegationLaws { affine: None };
    const EXPRESSED: Expressed = Expressed::Of("where(x == 0, 1, 0)");

    #[inline(always)]
    fn of<T: Real>(x: T) -> T {
        if x == T::ZERO { T::ONE } else { T::ZERO }
    }

    #[inline(always)]
    fn slope<T: Real>(_: T) -> T {
        T::ZERO
    }
}
