//! What operators need besides their operands.

use super::laws::Exponent;
use crate::parameters::Parameters;
use crate::vector::Real;

/// The parameters of a call and the ε of the semantics, as numbers of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<T> {
    pub alpha: T,
    pub p: T,
    pub p_forall: T,
    /// ε of the stable projections.
    pub eps: T,
}

impl<T: Real> Settings<T> {
    pub fn new(parameters: &Parameters, eps: f64) -> Settings<T> {
        Settings {
            alpha: T::from_f64(parameters.alpha),
            p: T::from_f64(parameters.p),
            p_forall: T::from_f64(parameters.p_forall),
            eps: T::from_f64(eps),
        }
    }

    /// π0(x) = (1 − ε)x + ε: away from 0.
    #[inline(always)]
    pub fn away_from_zero(self, x: T) -> T {
        (T::ONE - self.eps) * x + self.eps
    }

    /// π1(x) = (1 − ε)x: away from 1.
    #[inline(always)]
    pub fn away_from_one(self, x: T) -> T {
        (T::ONE - self.eps) * x
    }

    /// The derivative of both projections.
    #[inline(always)]
    pub fn slope(self) -> T {
        T::ONE - self.eps
    }

    pub fn exponent(self, exponent: Exponent) -> T {
        match exponent {
            Exponent::P => self.p,
            Exponent::PForall => self.p_forall,
        }
    }
}
