//! Numbers of guards: 64-bit integers that never wrap, and reals.

use std::cmp::Ordering;
use std::fmt;

/// An integer or a real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Exact.
    Int(i64),
    /// Rounded.
    Real(f64),
}

/// What went wrong with arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticError {
    /// The result of an integer operation does not fit in 64 bits, or that of a real one is not finite.
    Overflow,
    /// Division, or remainder, by zero.
    DivisionByZero,
}

use Number::{Int, Real};

impl Number {
    /// As a real.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Int(n) => n as f64,
            Real(x) => x,
        }
    }

    /// `self + other`
    pub(crate) fn plus(self, other: Number) -> Result<Number, ArithmeticError> {
        self.combine(other, i64::checked_add, |a, b| a + b)
    }

    /// `self - other`
    pub(crate) fn minus(self, other: Number) -> Result<Number, ArithmeticError> {
        self.combine(other, i64::checked_sub, |a, b| a - b)
    }

    /// `self * other`
    pub(crate) fn times(self, other: Number) -> Result<Number, ArithmeticError> {
        self.combine(other, i64::checked_mul, |a, b| a * b)
    }

    /// `self / other`: real division, also of integers.
    pub(crate) fn over(self, other: Number) -> Result<Number, ArithmeticError> {
        if other.to_f64() == 0.0 {
            return Err(ArithmeticError::DivisionByZero);
        }
        finite(self.to_f64() / other.to_f64())
    }

    /// `self % other`: the Euclidean remainder, never negative.
    pub(crate) fn modulo(self, other: Number) -> Result<Number, ArithmeticError> {
        if other.to_f64() == 0.0 {
            return Err(ArithmeticError::DivisionByZero);
        }
        // `i64::MIN % -1` does not overflow mathematically: it is 0.
        self.combine(
            other,
            |a, b| Some(a.checked_rem_euclid(b).unwrap_or(0)),
            f64::rem_euclid,
        )
    }

    /// `-self`
    pub(crate) fn negate(self) -> Result<Number, ArithmeticError> {
        match self {
            Int(n) => n.checked_neg().map(Int).ok_or(ArithmeticError::Overflow),
            Real(x) => Ok(Real(-x)),
        }
    }

    /// `abs(self)`
    pub(crate) fn abs(self) -> Result<Number, ArithmeticError> {
        match self {
            Int(n) => n.checked_abs().map(Int).ok_or(ArithmeticError::Overflow),
            Real(x) => Ok(Real(x.abs())),
        }
    }

    /// How the two compare; exact for two integers.
    pub(crate) fn compare(self, other: Number) -> Ordering {
        match (self, other) {
            (Int(a), Int(b)) => a.cmp(&b),
            // No NaN can get here: every operation above gives a finite number or an error.
            (a, b) => a
                .to_f64()
                .partial_cmp(&b.to_f64())
                .unwrap_or(Ordering::Equal),
        }
    }

    fn combine(
        self,
        other: Number,
        integers: fn(i64, i64) -> Option<i64>,
        reals: fn(f64, f64) -> f64,
    ) -> Result<Number, ArithmeticError> {
        match (self, other) {
            (Int(a), Int(b)) => integers(a, b).map(Int).ok_or(ArithmeticError::Overflow),
            (a, b) => finite(reals(a.to_f64(), b.to_f64())),
        }
    }
}

fn finite(x: f64) -> Result<Number, ArithmeticError> {
    if x.is_finite() {
        Ok(Real(x))
    } else {
        Err(ArithmeticError::Overflow)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int(n) => write!(f, "{n}"),
            Real(x) => write!(f, "{x}"),
        }
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Number {
        Int(n)
    }
}

impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Real(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_never_wrap() {
        let max = Int(i64::MAX);
        assert_eq!(max.plus(Int(1)), Err(ArithmeticError::Overflow));
        assert_eq!(max.times(Int(2)), Err(ArithmeticError::Overflow));
        assert_eq!(Int(i64::MIN).negate(), Err(ArithmeticError::Overflow));
        assert_eq!(Int(i64::MIN).abs(), Err(ArithmeticError::Overflow));
        assert_eq!(Int(i64::MIN).modulo(Int(-1)), Ok(Int(0)));
        assert_eq!(Real(1e308).times(Int(10)), Err(ArithmeticError::Overflow));
    }

    #[test]
    fn division_is_real_and_remainder_euclidean() {
        assert_eq!(Int(7).over(Int(2)), Ok(Real(3.5)));
        assert_eq!(Int(-7).modulo(Int(3)), Ok(Int(2)));
        assert_eq!(Int(-7).modulo(Int(-3)), Ok(Int(2)));
        assert_eq!(Real(-0.5).modulo(Int(2)), Ok(Real(1.5)));
        assert_eq!(Int(1).over(Int(0)), Err(ArithmeticError::DivisionByZero));
        assert_eq!(
            Real(1.0).modulo(Real(0.0)),
            Err(ArithmeticError::DivisionByZero)
        );
    }
}
