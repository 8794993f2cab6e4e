//! The numbers of the engine: `f32` or `f64`.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};
use std::sync::OnceLock;

use super::kernels::Kernels;
use super::lane::Lane;

/// A floating point number, `f32` or `f64`, and its [`Kernels`].
///
/// The functions here take one number and are those of the standard library, for places that do not need a
/// kernel.
pub trait Real:
    Lane
    + PartialOrd
    + Default
    + Debug
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The least finite number.
    const MIN_VALUE: Self;
    /// The greatest finite number.
    const MAX_VALUE: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// The distance from one to the next number.
    const EPSILON: Self;

    /// The nearest number to `x`.
    fn from_f64(x: f64) -> Self;
    /// This number, exactly.
    fn to_f64(self) -> f64;
    /// e to this power.
    fn exp(self) -> Self;
    /// e to this power, less one.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The natural logarithm of one more than this number.
    fn ln_1p(self) -> Self;
    /// This number to the power `p`.
    fn powf(self, p: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The greater of two numbers; the other one if one is NaN.
    fn max(self, other: Self) -> Self;
    /// The lesser of two numbers; the other one if one is NaN.
    fn min(self, other: Self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;

    /// The slice itself if this type is `f32`.
    fn of_single(numbers: &[f32]) -> Option<&[Self]>;
    /// Likewise, to be changed.
    fn of_single_mut(numbers: &mut [f32]) -> Option<&mut [Self]>;

    /// The fastest kernels that this machine can run.
    fn kernels() -> &'static Kernels<Self>;
}

macro_rules! real {
    ($float:ident, $of_single:expr, $of_single_mut:expr) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const MIN_VALUE: Self = $float::MIN;
            const MAX_VALUE: Self = $float::MAX;
            const INFINITY: Self = $float::INFINITY;
            const NEG_INFINITY: Self = $float::NEG_INFINITY;
            const NAN: Self = $float::NAN;
            const EPSILON: Self = $float::EPSILON;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            fn exp(self) -> Self {
                $float::exp(self)
            }
            fn exp_m1(self) -> Self {
                $float::exp_m1(self)
            }
            fn ln(self) -> Self {
                $float::ln(self)
            }
            fn ln_1p(self) -> Self {
                $float::ln_1p(self)
            }
            fn powf(self, p: Self) -> Self {
                $float::powf(self, p)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $float::max(self, other)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $float::min(self, other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }

            #[inline(always)]
            fn of_single(numbers: &[f32]) -> Option<&[Self]> {
                let of_single: fn(&[f32]) -> Option<&[Self]> = $of_single;
                of_single(numbers)
            }

            #[inline(always)]
            fn of_single_mut(numbers: &mut [f32]) -> Option<&mut [Self]> {
                let of_single_mut: fn(&mut [f32]) -> Option<&mut [Self]> = $of_single_mut;
                of_single_mut(numbers)
            }

            fn kernels() -> &'static Kernels<Self> {
                static FASTEST: OnceLock<Kernels<$float>> = OnceLock::new();
                FASTEST.get_or_init(Kernels::fastest)
            }
        }
    };
}

real!(f32, |numbers| Some(numbers), |numbers| Some(numbers));
real!(f64, |_| None, |_| None);
