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

    /// The same, as numbers of another kind.
    pub fn cast<U: Real>(self) -> Settings<U> {
        Settings {
            alpha: U::from_f64(self.alpha.to_f64()),
            p: U::from_f64(self.p.to_f64()),
            p_forall: U::from_f64(self.p_forall.to_f64()),
            eps: U::from_f64(self.eps.to_f64()),
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

    /// Whether the powers of a p-mean stay far from the ends of the range although they are not relative to the greatest.
    pub fn powers_are_tame(self) -> bool {
        let least = self.eps.to_f64().max(f64::MIN_POSITIVE);
        self.p.to_f64().max(self.p_forall.to_f64()) * -least.ln() <= 60.0
    }

    pub fn exponent(self, exponent: Exponent) -> T {
        match exponent {
            Exponent::P => self.p,
            Exponent::PForall => self.p_forall,
        }
    }
}
