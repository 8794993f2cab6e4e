//! What a small clause does with one number of each of its literals: value and derivatives, without branches, so that a
//! loop over it becomes vector instructions.
//!
//! The derivative of the loss by a literal is left without the factors that are the same for all bindings or for all
//! uses of the literal: they are multiplied in once per literal in the end (`super::finish`).

use crate::operators::Bilinear;
use crate::vector::{Function, Ln, Power, Real};

/// What is added up over many bindings, `W` of them side by side: each in a vector of its own, so that these stay in
/// registers.
#[derive(Clone, Copy)]
pub(super) struct Totals<T, const W: usize> {
    pub sum: [T; W],
    /// Products of numbers from √½ to √2, where logarithms are added up: one logarithm is enough for all of them.
    pub product: [T; W],
    /// The least arguments of logarithms.
    pub least: [T; W],
}

impl<T: Real, const W: usize> Totals<T, W> {
    pub const ZERO: Totals<T, W> = Totals {
        sum: [T::ZERO; W],
        product: [T::ONE; W],
        least: [T::ONE; W],
    };

    /// Adds log x, for a positive normal number.
    #[inline(always)]
    fn add_log(&mut self, i: usize, x: T) {
        let (exponent, mantissa) = x.exponent_and_mantissa();
        self.sum[i] += exponent;
        self.product[i] *= mantissa;
    }

    /// From the `some`-th on they are as they were before.
    #[inline(always)]
    pub fn forget(&mut self, some: usize, before: &Totals<T, W>) {
        for i in some..W {
            self.sum[i] = before.sum[i];
            self.product[i] = before.product[i];
            self.least[i] = before.least[i];
        }
    }

    #[inline(always)]
    fn of_logs<const FUSED: bool>(&self, i: usize) -> T {
        Ln.of::<FUSED>(self.product[i]) + self.sum[i] * T::LN2
    }
}

/// How many mantissas a product may have: √2 to this power is far from the end of either range.
pub(super) const MOST_FACTORS: usize = 64;

/// A clause of `N` literals.
pub(super) trait Operator<T: Real, const N: usize>: Copy {
    /// Adds the value to the `i`-th total, and gives the derivative by each literal except for its common factors.
    fn of<const FUSED: bool, const W: usize>(
        self,
        x: [T; N],
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> [T; N];

    /// The sum of the values.
    fn finish<const FUSED: bool, const W: usize>(self, i: usize, totals: &Totals<T, W>) -> T;

    /// Below this, [`Totals::least`] says that some value was left out, to be computed in another way.
    fn lowest(self) -> T;
}

/// log Σ x, where x = exp(α·literal). The derivative by a literal is its x over the sum: without the x, 1 / Σ x.
#[derive(Clone, Copy)]
pub(super) struct LogSum<T> {
    /// Of sums smaller than this some summand may have been too small for a number of its own; and inverses of greater
    /// ones can be added up by the million.
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
    fn of<const FUSED: bool, const W: usize>(
        self,
        x: [T; N],
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> [T; N] {
        let mut sum = x[0];
        for &x in &x[1..] {
            sum += x;
        }
        let enough = sum >= self.least;
        let least = totals.least[i];
        totals.least[i] = if sum < least { sum } else { least };
        // Left out: 1 has no logarithm, and is divided by without harm.
        let sum = if enough { sum } else { T::ONE };
        totals.add_log(i, sum);
        let inverse = T::ONE / sum;
        let inverse = if enough { inverse } else { T::ZERO };
        [inverse; N]
    }

    #[inline(always)]
    fn finish<const FUSED: bool, const W: usize>(self, i: usize, totals: &Totals<T, W>) -> T {
        totals.of_logs::<FUSED>(i)
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
    fn of<const FUSED: bool, const W: usize>(
        self,
        x: [T; N],
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> [T; N] {
        let mut greatest = x[0];
        for &x in &x[1..] {
            greatest = if greatest >= x { greatest } else { x };
        }
        totals.sum[i] += greatest;
        let mut slopes = [T::ZERO; N];
        let mut left = T::ONE;
        for (slope, &x) in slopes.iter_mut().zip(&x) {
            *slope = if x == greatest { left } else { T::ZERO };
            left -= *slope;
        }
        slopes
    }

    #[inline(always)]
    fn finish<const FUSED: bool, const W: usize>(self, i: usize, totals: &Totals<T, W>) -> T {
        totals.sum[i]
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
    fn add<const FUSED: bool, const W: usize>(self, q: T, i: usize, totals: &mut Totals<T, W>)
    -> T;

    #[inline(always)]
    fn finish<const FUSED: bool, const W: usize>(self, i: usize, totals: &Totals<T, W>) -> T {
        totals.sum[i]
    }
}

/// Σ q
#[derive(Clone, Copy)]
pub(super) struct Itself;

impl<T: Real> Summand<T> for Itself {
    #[inline(always)]
    fn add<const FUSED: bool, const W: usize>(
        self,
        q: T,
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> T {
        totals.sum[i] += q;
        T::ONE
    }
}

/// Σ q², whose derivative is q without the 2.
#[derive(Clone, Copy)]
pub(super) struct Squared;

impl<T: Real> Summand<T> for Squared {
    #[inline(always)]
    fn add<const FUSED: bool, const W: usize>(
        self,
        q: T,
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> T {
        totals.sum[i] += q * q;
        q
    }
}

/// Σ qᵖ, whose derivative is qᵖ⁻¹ without the p: p − 1 is given.
impl<T: Real> Summand<T> for Power<T> {
    #[inline(always)]
    fn add<const FUSED: bool, const W: usize>(
        self,
        q: T,
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> T {
        let slope = self.of::<FUSED>(q);
        totals.sum[i] += slope * q;
        slope
    }
}

/// Σ log q
#[derive(Clone, Copy)]
pub(super) struct Log;

impl<T: Real> Summand<T> for Log {
    #[inline(always)]
    fn add<const FUSED: bool, const W: usize>(
        self,
        q: T,
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> T {
        totals.add_log(i, q);
        T::ONE / q
    }

    #[inline(always)]
    fn finish<const FUSED: bool, const W: usize>(self, i: usize, totals: &Totals<T, W>) -> T {
        totals.of_logs::<FUSED>(i)
    }
}

impl<T: Real, P: Summand<T>> Operator<T, 2> for Product<T, P> {
    #[inline(always)]
    fn of<const FUSED: bool, const W: usize>(
        self,
        [x, y]: [T; 2],
        i: usize,
        totals: &mut Totals<T, W>,
    ) -> [T; 2] {
        let by_x = y.multiply_add::<FUSED>(self.both, self.first);
        let by_y = x.multiply_add::<FUSED>(self.both, self.second);
        let q = y.multiply_add::<FUSED>(by_y, x.multiply_add::<FUSED>(self.first, self.constant));
        let slope = self.power.add::<FUSED, W>(q, i, totals);
        [slope * by_x, slope * by_y]
    }

    #[inline(always)]
    fn finish<const FUSED: bool, const W: usize>(self, i: usize, totals: &Totals<T, W>) -> T {
        self.power.finish::<FUSED, W>(i, totals)
    }

    #[inline(always)]
    fn lowest(self) -> T {
        T::NEG_INFINITY
    }
}
