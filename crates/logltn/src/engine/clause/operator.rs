//! How a small clause computes value and derivatives from one number of each literal, without branches, so that a loop
//! over it becomes vector instructions.
//!
//! The derivative of the loss by a literal leaves out the factors that are the same for all bindings or for all uses
//! of the literal: they are multiplied in once per literal at the end (`super::finish`).

use crate::operators::Bilinear;
use crate::vector::{Function, Ln, Power, Real};

/// A total over many bindings.
#[derive(Clone, Copy)]
pub(super) struct Total<T> {
    pub sum: T,
    /// A product of numbers from √½ to √2, where logarithms are added up: one logarithm is enough for all of them.
    pub product: T,
    /// The least argument of a logarithm.
    pub least: T,
}

impl<T: Real> Total<T> {
    pub const ZERO: Total<T> = Total {
        sum: T::ZERO,
        product: T::ONE,
        least: T::ONE,
    };

    /// Adds log x, for a positive normal number.
    #[inline(always)]
    fn add_log(&mut self, x: T) {
        let (exponent, mantissa) = x.exponent_and_mantissa();
        self.sum += exponent;
        self.product *= mantissa;
    }

    #[inline(always)]
    fn of_logs<const FUSED: bool>(self) -> T {
        Ln.of::<FUSED>(self.product) + self.sum * T::LN2
    }
}

/// How many mantissas a product may have: √2 to this power is far from the end of either range.
pub(super) const MOST_FACTORS: usize = 64;

/// A clause of `N` literals.
pub(super) trait Operator<T: Real, const N: usize>: Copy {
    /// Adds the value to `total`, and returns the derivative by each literal without its common factors.
    fn of<const FUSED: bool>(self, x: [T; N], total: &mut Total<T>) -> [T; N];

    /// The sum of the values.
    fn finish<const FUSED: bool>(self, total: Total<T>) -> T;

    /// If [`Total::least`] is below this, some value was left out and has to be computed in another
    /// way.
    fn lowest(self) -> T;
}

/// log Σ x, where x = exp(α·literal). The derivative by a literal is its x over the sum: without the x, 1 / Σ x.
#[derive(Clone, Copy)]
pub(super) struct LogSum<T> {
    /// A summand of a sum below this may have underflowed; the inverses of greater sums can be added up by the
    /// million.
    pub least: T,
}

impl<T: Real> LogSum<T> {
    pub fn new() -> LogSum<T> {
        LogSum {
            least: T::MIN_NORMAL * T::TWO_TO_MANTISSA * T::from_f64(4096.0),
        }
    }
}

impl<T: Real, const N: usize> Operator<T, N> for LogSum<T> {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: [T; N], total: &mut Total<T>) -> [T; N] {
        let mut sum = x[0];
        for &x in &x[1..] {
            sum += x;
        }
        let enough = sum >= self.least;
        total.least = if sum < total.least { sum } else { total.least };
        // Left out: 1 in its place adds a logarithm of 0 and can be divided by.
        let sum = if enough { sum } else { T::ONE };
        total.add_log(sum);
        let inverse = T::ONE / sum;
        let inverse = if enough { inverse } else { T::ZERO };
        [inverse; N]
    }

    #[inline(always)]
    fn finish<const FUSED: bool>(self, total: Total<T>) -> T {
        total.of_logs::<FUSED>()
    }

    #[inline(always)]
    fn lowest(self) -> T {
        self.least
    }
}

/// The greatest; the first of those that are equal has the derivative.
#[derive(Clone, Copy)]
pub(super) struct Greatest;

impl<T: Real, const N: usize> Operator<T, N> for Greatest {
    #[inline(always)]
    fn of<const FUSED: bool>(self, x: [T; N], total: &mut Total<T>) -> [T; N] {
        let mut greatest = x[0];
        for &x in &x[1..] {
            greatest = if greatest >= x { greatest } else { x };
        }
        total.sum += greatest;
        let mut slopes = [T::ZERO; N];
        let mut left = T::ONE;
        for (slope, &x) in slopes.iter_mut().zip(&x) {
            *slope = if x == greatest { left } else { T::ZERO };
            left -= *slope;
        }
        slopes
    }

    #[inline(always)]
    fn finish<const FUSED: bool>(self, total: Total<T>) -> T {
        total.sum
    }

    #[inline(always)]
    fn lowest(self) -> T {
        T::NEG_INFINITY
    }
}

/// A bilinear form q of two truth degrees, and what is added up of it.
#[derive(Clone, Copy)]
pub(super) struct Product<T, P> {
    constant: T,
    first: T,
    second: T,
    both: T,
    power: P,
}

impl<T: Real, P> Product<T, P> {
    pub fn new(of: Bilinear, power: P) -> Product<T, P> {
        Product {
            constant: T::from_f64(of.constant),
            first: T::from_f64(of.first),
            second: T::from_f64(of.second),
            both: T::from_f64(of.both),
            power,
        }
    }
}

/// A sum over q, with the derivative of its summands, except for a factor.
pub(super) trait Summand<T: Real>: Copy {
    /// Adds what belongs to q; gives the derivative.
    fn add<const FUSED: bool>(self, q: T, total: &mut Total<T>) -> T;

    #[inline(always)]
    fn finish<const FUSED: bool>(self, total: Total<T>) -> T {
        total.sum
    }
}

/// Σ q
#[derive(Clone, Copy)]
pub(super) struct Itself;

impl<T: Real> Summand<T> for Itself {
    #[inline(always)]
    fn add<const FUSED: bool>(self, q: T, total: &mut Total<T>) -> T {
        total.sum += q;
        T::ONE
    }
}

/// Σ q², whose derivative is q without the 2.
#[derive(Clone, Copy)]
pub(super) struct Squared;

impl<T: Real> Summand<T> for Squared {
    #[inline(always)]
    fn add<const FUSED: bool>(self, q: T, total: &mut Total<T>) -> T {
        total.sum += q * q;
        q
    }
}

/// Σ qᵖ, whose derivative is qᵖ⁻¹ without the p: p − 1 is given.
impl<T: Real> Summand<T> for Power<T> {
    #[inline(always)]
    fn add<const FUSED: bool>(self, q: T, total: &mut Total<T>) -> T {
        let slope = self.of::<FUSED>(q);
        total.sum += slope * q;
        slope
    }
}

/// Σ log q
#[derive(Clone, Copy)]
pub(super) struct Log;

impl<T: Real> Summand<T> for Log {
    #[inline(always)]
    fn add<const FUSED: bool>(self, q: T, total: &mut Total<T>) -> T {
        total.add_log(q);
        T::ONE / q
    }

    #[inline(always)]
    fn finish<const FUSED: bool>(self, total: Total<T>) -> T {
        total.of_logs::<FUSED>()
    }
}

impl<T: Real, P: Summand<T>> Operator<T, 2> for Product<T, P> {
    #[inline(always)]
    fn of<const FUSED: bool>(self, [x, y]: [T; 2], total: &mut Total<T>) -> [T; 2] {
        let by_x = y.multiply_add::<FUSED>(self.both, self.first);
        let by_y = x.multiply_add::<FUSED>(self.both, self.second);
        let q = y.multiply_add::<FUSED>(by_y, x.multiply_add::<FUSED>(self.first, self.constant));
        let slope = self.power.add::<FUSED>(q, total);
        [slope * by_x, slope * by_y]
    }

    #[inline(always)]
    fn finish<const FUSED: bool>(self, total: Total<T>) -> T {
        self.power.finish::<FUSED>(total)
    }

    #[inline(always)]
    fn lowest(self) -> T {
        T::NEG_INFINITY
    }
}
