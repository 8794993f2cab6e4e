//! The elementary functions of one number, without branches: a loop over them becomes vector instructions.
//!
//! A comparison here selects between two values that are both computed; it never jumps. The values computed for a
//! lane but not selected may be nonsense, infinite or NaN; nothing traps.
//!
//! `FUSED` says whether a multiplication and an addition are one instruction. The constants are split so that the
//! functions are accurate either way.

use super::real::Real;

/// A function of one element (or of one element from each of two slices, or with two results).
///
/// Not a closure, because only methods can be `inline(always)`. Out of line it would be compiled for any processor,
/// and every fused multiplication in it would be a library call.
pub trait Function<X, Y>: Copy {
    /// The value at `x`.
    fn of<const FUSED: bool>(self, x: X) -> Y;
}

/// `c[0] + c[1] x + …`
#[inline(always)]
fn polynomial<T: Real, const FUSED: bool>(x: T, coefficients: &[T]) -> T {
    let mut value = T::ZERO;
    for (i, &c) in coefficients.iter().rev().enumerate() {
        value = if i == 0 {
            c
        } else {
            value.multiply_add::<FUSED>(x, c)
        };
    }
    value
}

/// exp(r) for |r| ≤ ½ ln 2.
#[inline(always)]
fn exp_reduced<T: Real, const FUSED: bool>(r: T) -> T {
    let tail = polynomial::<T, FUSED>(r, T::EXP);
    T::ONE + (r * r).multiply_add::<FUSED>(tail, r)
}

/// eˣ within one unit in the last place or so; 0 where it would be subnormal.
#[inline(always)]
fn exp<T: Real, const FUSED: bool>(x: T) -> T {
    // x = n ln 2 + r with an integer n: eˣ = 2ⁿ eʳ.
    let rounded = x.multiply_add::<FUSED>(T::LOG2_E, T::ROUNDER);
    let n = rounded - T::ROUNDER;
    let r = n.multiply_add::<FUSED>(-T::LN2_HIGH, x);
    let r = n.multiply_add::<FUSED>(-T::LN2_LOW, r);
    let value = exp_reduced::<T, FUSED>(r).times_two_to(rounded);
    // Beyond the greatest x is ∞ or NaN, and so is their sum with ∞.
    let value = if x <= T::EXP_MAX {
        value
    } else {
        x + T::INFINITY
    };
    if x < T::EXP_MIN { T::ZERO } else { value }
}

/// eˣ − 1 for x ≤ 0, with relative accuracy even near 0.
#[inline(always)]
fn exp_m1_of_negative<T: Real, const FUSED: bool>(x: T) -> T {
    // As for `exp`, but 2ⁿ eʳ − 1 = 2ⁿ (eʳ − 1) + (2ⁿ − 1), and the one is never added where n = 0.
    let rounded = x.multiply_add::<FUSED>(T::LOG2_E, T::ROUNDER);
    let n = rounded - T::ROUNDER;
    let r = n.multiply_add::<FUSED>(-T::LN2_HIGH, x);
    let r = n.multiply_add::<FUSED>(-T::LN2_LOW, r);
    let of_r = (r * r).multiply_add::<FUSED>(polynomial::<T, FUSED>(r, T::EXP), r);
    let scale = T::ONE.times_two_to(rounded);
    let value = scale.multiply_add::<FUSED>(of_r, scale - T::ONE);
    if x < T::EXP_MIN { -T::ONE } else { value }
}

/// log(2ᵏ (1 + f)) for 1 + f from √½ to √2, with relative accuracy even for k = 0 and small f.
#[inline(always)]
fn ln_reduced<T: Real, const FUSED: bool>(k: T, f: T) -> T {
    // With s = f/(2+f), log(1+f) = 2 atanh s = 2s + s·tail, and 2s = f − s f: the error of s only enters the
    // correction s (f − tail), which is small next to f.
    let s = f / (T::TWO + f);
    let z = s * s;
    let tail = z * polynomial::<T, FUSED>(z, T::LN);
    let correction = k.multiply_add::<FUSED>(-T::LN2_LOW, s * (f - tail));
    k.multiply_add::<FUSED>(T::LN2_HIGH, f - correction)
}

/// k and f with x = 2ᵏ (1 + f) and 1 + f from √½ to √2, for positive x.
#[inline(always)]
fn split<T: Real>(x: T) -> (T, T) {
    let subnormal = x < T::MIN_NORMAL;
    let normal = if subnormal { x * T::TWO_TO_MANTISSA } else { x };
    let shift = if subnormal { T::MANTISSA_BITS } else { T::ZERO };
    let (k, m) = normal.exponent_and_mantissa();
    (k - shift, m - T::ONE)
}

/// log(1 + u) for u from 0 to 1, with relative accuracy even for small u.
#[inline(always)]
fn ln_1p_of_unit<T: Real, const FUSED: bool>(u: T) -> T {
    // 1 + u is never formed, which would lose the low bits of u: below √2 u is f itself, above 1 + u = 2 (1 +
    // (u−1)/2).
    let above = u > T::SQRT2_LESS_ONE;
    let k = if above { T::ONE } else { T::ZERO };
    let f = if above { (u - T::ONE) * T::HALF } else { u };
    ln_reduced::<T, FUSED>(k, f)
}

/// eˣ.
#[derive(Clone, Copy)]
pub struct Exp;

impl<T: Real> Function<T, T> for Exp {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        exp::<T, FUSED>(x)
    }
}

/// exp(alpha (x − c)) for x and c.
#[derive(Clone, Copy)]
pub struct ExpScaledDifference<T> {
    pub alpha: T,
}

impl<T: Real> Function<(T, T), T> for ExpScaledDifference<T> {
    #[inline(always)]
    fn of<const FUSED: bool>(self, (x, c): (T, T)) -> T {
        exp::<T, FUSED>(self.alpha * (x - c))
    }
}

/// exp(alpha (x − c)) for x.
#[derive(Clone, Copy)]
pub struct ExpScaledDifferenceFrom<T> {
    pub alpha: T,
    pub c: T,
}

impl<T: Real> Function<T, T> for ExpScaledDifferenceFrom<T> {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        exp::<T, FUSED>(self.alpha * (x - self.c))
    }
}

/// log x; log 0 = −∞, the logarithm of a negative number is NaN.
#[derive(Clone, Copy)]
pub struct Ln;

impl<T: Real> Function<T, T> for Ln {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        let (k, f) = split(x);
        let value = ln_reduced::<T, FUSED>(k, f);
        let value = if x < T::INFINITY { value } else { x };
        let outside = if x < T::ZERO { T::NAN } else { T::NEG_INFINITY };
        if x <= T::ZERO { outside } else { value }
    }
}

/// log(1 + e⁻ˣ), and also e⁻ˣ if two results are asked for, for x ≥ 0.
#[derive(Clone, Copy)]
pub struct Log1pExpNeg;

impl<T: Real> Function<T, (T, T)> for Log1pExpNeg {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> (T, T) {
        let e = exp::<T, FUSED>(-x);
        (ln_1p_of_unit::<T, FUSED>(e), e)
    }
}

impl<T: Real> Function<T, T> for Log1pExpNeg {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        ln_1p_of_unit::<T, FUSED>(exp::<T, FUSED>(-x))
    }
}

/// log(1 − eˣ) and its slope −eˣ / (1 − eˣ), for x < 0, both with relative accuracy near 0 and far below it.
#[derive(Clone, Copy)]
pub struct LogNot;

impl<T: Real> Function<T, (T, T)> for LogNot {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> (T, T) {
        // As in `exp_m1_of_negative`, whose parts make eˣ as well.
        let rounded = x.multiply_add::<FUSED>(T::LOG2_E, T::ROUNDER);
        let n = rounded - T::ROUNDER;
        let r = n.multiply_add::<FUSED>(-T::LN2_HIGH, x);
        let r = n.multiply_add::<FUSED>(-T::LN2_LOW, r);
        let of_r = (r * r).multiply_add::<FUSED>(polynomial::<T, FUSED>(r, T::EXP), r);
        let scale = T::ONE.times_two_to(rounded);
        let below = x < T::EXP_MIN;
        let e = if below {
            T::ZERO
        } else {
            scale.multiply_add::<FUSED>(of_r, scale)
        };
        let rest = (-scale).multiply_add::<FUSED>(of_r, T::ONE - scale);
        let rest = if below { T::ONE } else { rest };
        let (k, f) = split(rest);
        let log = ln_reduced::<T, FUSED>(k, f);
        // What rounding removed from 1 − eˣ.
        let lost = ((T::ONE - rest) - e) / rest;
        let log = if rest > T::HALF { log + lost } else { log };
        (log, -e / rest)
    }
}

/// log S(z) and log(1 − S(z)), where S is the sigmoid.
#[derive(Clone, Copy)]
pub struct LogSigmoid;

impl<T: Real> Function<T, T> for LogSigmoid {
    /// The first of the two.
    #[inline(always)]
    fn of<const FUSED: bool>(self, z: T) -> T {
        let softplus = ln_1p_of_unit::<T, FUSED>(exp::<T, FUSED>(-z.abs()));
        let negative_part = if z < T::ZERO { z } else { T::ZERO };
        negative_part - softplus
    }
}

impl<T: Real> Function<T, (T, T)> for LogSigmoid {
    #[inline(always)]
    fn of<const FUSED: bool>(self, z: T) -> (T, T) {
        let softplus = ln_1p_of_unit::<T, FUSED>(exp::<T, FUSED>(-z.abs()));
        let negative_part = if z < T::ZERO { z } else { T::ZERO };
        let positive_part = if z > T::ZERO { z } else { T::ZERO };
        (negative_part - softplus, -positive_part - softplus)
    }
}

/// S(z) = 1 / (1 + e⁻ᶻ), with relative accuracy even near 0.
#[derive(Clone, Copy)]
pub struct Sigmoid;

impl<T: Real> Function<T, T> for Sigmoid {
    #[inline(always)]
    fn of<const FUSED: bool>(self, z: T) -> T {
        let e = exp::<T, FUSED>(-z.abs());
        let numerator = if z < T::ZERO { e } else { T::ONE };
        numerator / (T::ONE + e)
    }
}

impl<T: Real> Function<T, (T, T)> for Sigmoid {
    /// S(z) and S(−z) = 1 − S(z), both with relative accuracy.
    #[inline(always)]
    fn of<const FUSED: bool>(self, z: T) -> (T, T) {
        let e = exp::<T, FUSED>(-z.abs());
        let large = T::ONE / (T::ONE + e);
        let small = e * large;
        match z < T::ZERO {
            true => (small, large),
            false => (large, small),
        }
    }
}

/// x for x > 0, eˣ − 1 otherwise.
#[derive(Clone, Copy)]
pub struct Elu;

impl<T: Real> Function<T, T> for Elu {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        let below = exp_m1_of_negative::<T, FUSED>(x);
        if x > T::ZERO { x } else { below }
    }
}

/// The hyperbolic tangent, with relative accuracy even near 0.
#[derive(Clone, Copy)]
pub struct Tanh;

impl<T: Real> Function<T, T> for Tanh {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        // tanh |x| = −t / (t + 2) with t = e^(−2|x|) − 1.
        let t = exp_m1_of_negative::<T, FUSED>(-(T::TWO * x.abs()));
        let below = t / (t + T::TWO);
        if x < T::ZERO { below } else { -below }
    }
}

/// A power, prepared for many bases.
#[derive(Clone, Copy)]
pub struct Power<T> {
    /// All of it.
    whole: T,
    /// Its leading bits: exact when multiplied with an exponent.
    high: T,
    /// The rest.
    low: T,
    /// 0 to this power.
    of_zero: T,
    /// ∞ to this power.
    of_infinity: T,
}

impl<T: Real> Power<T> {
    /// The power `p`, finite and not 0.
    #[inline(always)]
    pub fn new(p: T) -> Self {
        let high = p.leading_bits();
        let positive = p > T::ZERO;
        Self {
            whole: p,
            high,
            low: p - high,
            of_zero: if positive { T::ZERO } else { T::INFINITY },
            of_infinity: if positive { T::INFINITY } else { T::ZERO },
        }
    }
}

impl<T: Real> Function<T, T> for Power<T> {
    /// xᵖ for x ≥ 0.
    ///
    /// exp(p log x) as it stands loses a digit or two: p log x may be near 100, and its rounding is a relative error
    /// of the result. So the whole powers of two in x are kept apart, and what is rounded is less than p in size.
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: T) -> T {
        let (k, f) = split(x);
        let exact = k * self.high;
        let mantissa = ln_reduced::<T, FUSED>(T::ZERO, f) * T::LOG2_E;
        let rest = self.whole.multiply_add::<FUSED>(mantissa, k * self.low);
        let log2 = exact + rest;
        let rounded = log2 + T::ROUNDER;
        let n = rounded - T::ROUNDER;
        let r = ((exact - n) + rest) * T::LN2;
        let value = exp_reduced::<T, FUSED>(r).times_two_to(rounded);
        let value = if log2 < T::EXPONENT_MAX {
            value
        } else {
            log2 + T::INFINITY
        };
        let value = if log2 < T::EXPONENT_MIN {
            T::ZERO
        } else {
            value
        };
        let value = if x == T::INFINITY {
            self.of_infinity
        } else {
            value
        };
        // Comparisons with NaN are false, so this holds for NaN as well as for negative numbers.
        let value = if x >= T::ZERO { value } else { T::NAN };
        if x == T::ZERO { self.of_zero } else { value }
    }
}
