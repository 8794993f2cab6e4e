//! Łukasiewicz' connectives: sums of truth degrees, cut off at 0 and 1.

use super::connective::Fold;
use super::implication::{ImplicationLaws, Implies};
use super::laws::ConnectiveLaws;
use super::{And, Domain, Expressed, Formula, Operator, Or, Settings};
use crate::vector::Real;

pub(crate) struct Lukasiewicz;

impl Operator for Lukasiewicz {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[
        Formula::new(
            "and",
            "truth degrees",
            "max(x + y − 1, 0)",
            "folds from the left",
        ),
        Formula::new(
            "or",
            "truth degrees",
            "min(x + y, 1)",
            "folds from the left",
        ),
        Formula::new("implies", "truth degrees", "min(1 − x + y, 1)", ""),
    ];
}

impl Fold<And> for Lukasiewicz {
    const LAWS: ConnectiveLaws = ConnectiveLaws::NONE;
    const EXPRESSED: &'static str = "where(x + y > 1, x + y - 1, 0)";

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        (x + y - T::ONE).max(T::ZERO)
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        let slope = if x + y > T::ONE { T::ONE } else { T::ZERO };
        (slope, slope)
    }
}

impl Fold<Or> for Lukasiewicz {
    const LAWS: ConnectiveLaws = ConnectiveLaws::NONE;
    const EXPRESSED: &'static str = "where(x + y < 1, x + y, 1)";

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        (x + y).min(T::ONE)
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        let slope = if x + y < T::ONE { T::ONE } else { T::ZERO };
        (slope, slope)
    }
}

impl Implies for Lukasiewicz {
    const LAWS: ImplicationLaws = ImplicationLaws { polynomial: None };
    const EXPRESSED: Expressed = Expressed::Of("where(x > y, 1 - x + y, 1)");

    #[inline(always)]
    fn of<T: Real>(_: Settings<T>, x: T, y: T) -> T {
        (T::ONE - x + y).min(T::ONE)
    }

    #[inline(always)]
    fn slopes<T: Real>(_: Settings<T>, x: T, y: T) -> (T, T) {
        if x > y {
            (-T::ONE, T::ONE)
        } else {
            (T::ZERO, T::ZERO)
        }
    }
}
