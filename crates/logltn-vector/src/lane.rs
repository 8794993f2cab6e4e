//! What the elementary functions need to know about a floating point format.

use super::coefficients::{for_f32, for_f64};

/// One lane of a vector: a float whose exponent can be taken apart and put together without branches.
///
/// Every function here becomes one to three vector instructions, even on machines that cannot convert 64-bit integers
/// to floats or shift them arithmetically (AVX2): integers are read from and written to the low bits of a float.
pub trait Lane: Copy + 'static {
    /// exp(r) = 1 + r + r²·(c₀ + c₁ r + …).
    const EXP: &'static [Self];
    /// log(1 + f) = 2s + s³·(c₀ + c₁ s² + …) with s = f/(2 + f).
    const LN: &'static [Self];
    /// The leading bits of ln 2, few enough that the product with an exponent is exact.
    const LN2_HIGH: Self;
    /// The remainder of ln 2.
    const LN2_LOW: Self;
    /// ln 2.
    const LN2: Self;
    /// log₂ e.
    const LOG2_E: Self;
    /// √2 − 1.
    const SQRT2_LESS_ONE: Self;
    /// The greatest number whose exponential is finite.
    const EXP_MAX: Self;
    /// The logarithm of the least normal number; the exponential of anything less becomes 0.
    const EXP_MIN: Self;
    /// The least normal number.
    const MIN_NORMAL: Self;
    /// The least power of two that is too great.
    const EXPONENT_MAX: Self;
    /// The least power of two that is a normal number.
    const EXPONENT_MIN: Self;
    /// Adding this rounds a small number to an integer and leaves that integer in the low bits.
    const ROUNDER: Self;
    /// The number of bits of the mantissa.
    const MANTISSA_BITS: Self;
    /// Two to the number of bits of the mantissa: makes subnormal numbers normal.
    const TWO_TO_MANTISSA: Self;
    /// ½.
    const HALF: Self;
    /// 2.
    const TWO: Self;

    /// `self·b + c`, rounded once if `FUSED`, twice if not: without hardware for it, rounding once is a slow call.
    fn multiply_add<const FUSED: bool>(self, b: Self, c: Self) -> Self;

    /// `self·2ⁿ`, where `rounded` is n + `ROUNDER` and both `self` (near 1) and the result are normal.
    fn times_two_to(self, rounded: Self) -> Self;

    /// k and m with `self` = 2ᵏ·m and m from √½ to √2, for `self` positive and normal.
    fn exponent_and_mantissa(self) -> (Self, Self);

    /// The leading bits, few enough that the product with an exponent is exact.
    fn leading_bits(self) -> Self;
}

macro_rules! lane {
    ($float:ident, $bits:ident, $numbers:ident, $dropped_bits:literal) => {
        impl Lane for $float {
            const EXP: &'static [Self] = &$numbers::EXP;
            const LN: &'static [Self] = &$numbers::LN;
            const LN2_HIGH: Self = $numbers::LN2_HIGH;
            const LN2_LOW: Self = $numbers::LN2_LOW;
            const LN2: Self = std::$float::consts::LN_2;
            const LOG2_E: Self = std::$float::consts::LOG2_E;
            const SQRT2_LESS_ONE: Self = std::$float::consts::SQRT_2 - 1.0;
            const EXP_MAX: Self = $numbers::EXP_MAX;
            const EXP_MIN: Self = $numbers::EXP_MIN;
            const MIN_NORMAL: Self = $float::MIN_POSITIVE;
            const EXPONENT_MAX: Self = $float::MAX_EXP as $float;
            const EXPONENT_MIN: Self = ($float::MIN_EXP - 1) as $float;
            const ROUNDER: Self = 1.5 * Self::TWO_TO_MANTISSA;
            const MANTISSA_BITS: Self = ($float::MANTISSA_DIGITS - 1) as $float;
            const TWO_TO_MANTISSA: Self = ((1 as $bits) << ($float::MANTISSA_DIGITS - 1)) as $float;
            const HALF: Self = 0.5;
            const TWO: Self = 2.0;

            #[inline(always)]
            fn multiply_add<const FUSED: bool>(self, b: Self, c: Self) -> Self {
                if FUSED {
                    self.mul_add(b, c)
                } else {
                    self * b + c
                }
            }

            #[inline(always)]
            fn times_two_to(self, rounded: Self) -> Self {
                // The shift pushes everything out of `rounded` but n, which lands on the exponent.
                let exponent = rounded.to_bits() << ($float::MANTISSA_DIGITS - 1);
                $float::from_bits(self.to_bits().wrapping_add(exponent))
            }

            #[inline(always)]
            fn exponent_and_mantissa(self) -> (Self, Self) {
                const SHIFT: u32 = $float::MANTISSA_DIGITS - 1;
                const BIAS: $float = ($float::MAX_EXP - 1) as $float;
                let sqrt_half = std::$float::consts::FRAC_1_SQRT_2.to_bits();
                let one = (1.0 as $float).to_bits();
                // Moves √½ to where powers of two are, so that the exponent field counts from √½ to √2.
                let moved = self.to_bits().wrapping_add(one - sqrt_half);
                let mantissa = (moved & (((1 as $bits) << SHIFT) - 1)) + sqrt_half;
                let biased = (moved >> SHIFT) | Self::TWO_TO_MANTISSA.to_bits();
                (
                    $float::from_bits(biased) - (Self::TWO_TO_MANTISSA + BIAS),
                    $float::from_bits(mantissa),
                )
            }

            #[inline(always)]
            fn leading_bits(self) -> Self {
                $float::from_bits(self.to_bits() & ($bits::MAX << $dropped_bits))
            }
        }
    };
}

// Exponents, those of subnormal numbers included, have 8 bits in `f32` and 11 in `f64`.
lane!(f32, u32, for_f32, 9);
lane!(f64, u64, for_f64, 12);
