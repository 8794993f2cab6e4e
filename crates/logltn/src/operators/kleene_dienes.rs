//! Kleene and Dienes' implication: the greater of not x and y.

use super::implication::{ImplicationLaws, Implies};
use super::{Domain, Expressed, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct KleeneDienes;

impl Operator for KleeneDienes {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "max(1 − x, y)",
        "no projections",
    )];
}

impl Implies for KleeneDienes {
    const LAWS: ImplicationLaws = ImplicationLaws { polynomial: None };
    const EXPRESSED: Expressed = Expressed::Of("where(1 - x >= y, 1 - x, y)");

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        (T::ONE - x).max(y)
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        if T::ONE - x >= y {
            (-T::ONE, T::ZERO)
        } else {
            (T::ZERO, T::ONE)
        }
    }
}
