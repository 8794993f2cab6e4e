//! The usual negation of truth degrees.

use super::negation::{Negate, NegationLaws};
use super::{Affine, Domain, Expressed, Formula, Operator};
use crate::vector::Real;

pub(crate) struct Standard;

impl Operator for Standard {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[Formula::new("", "truth degrees", "1 − x", "")];
}

impl Negate for Standard {
    const LAWS: NegationLaws = NegationLaws {
        affine: Some(Affine {
            slope: -1.0,
            start: 1.0,
        }),
    };
    const EXPRESSED: Expressed = Expressed::Of("1 - x");

    #[inline(always)]
    fn of<T: Real>(x: T) -> T {
        T::ONE - x
    }

    #[inline(always)]
    fn slope<T: Real>(_: T) -> T {
        -T::ONE
    }
}
