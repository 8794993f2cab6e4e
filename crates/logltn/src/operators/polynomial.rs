//! Connectives of truth degrees that are polynomials of degree one in each operand: small clauses compute all of them
//! in one pass.

use super::for_each::for_each;
use crate::vector::Real;

/// constant + first·x + second·y + both·x·y
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bilinear {
    pub constant: f64,
    pub first: f64,
    pub second: f64,
    pub both: f64,
}

/// slope·x + start
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Affine {
    pub slope: f64,
    pub start: f64,
}

/// A connective of two truth degrees: a bilinear form of their projections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Polynomial {
    pub projections: [Affine; 2],
    pub value: Bilinear,
}

impl Affine {
    pub const IDENTITY: Affine = Affine {
        slope: 1.0,
        start: 0.0,
    };

    /// π0(x) = (1 − ε)x + ε
    pub fn away_from_zero(eps: f64) -> Affine {
        Affine {
            slope: 1.0 - eps,
            start: eps,
        }
    }

    /// π1(x) = (1 − ε)x
    pub fn away_from_one(eps: f64) -> Affine {
        Affine {
            slope: 1.0 - eps,
            start: 0.0,
        }
    }

    /// Of many numbers.
    pub fn apply<T: Real>(self, values: &[T], out: &mut [T]) {
        let (slope, start) = (T::from_f64(self.slope), T::from_f64(self.start));
        for_each(out.iter_mut().zip(values), |(out, &x)| {
            *out = slope * x + start;
        });
    }

    /// This one after `inner`.
    pub fn after(self, inner: Affine) -> Affine {
        Affine {
            slope: self.slope * inner.slope,
            start: self.slope * inner.start + self.start,
        }
    }
}

impl Bilinear {
    /// This form of `x` and `y` instead of x and y.
    pub fn of(self, x: Affine, y: Affine) -> Bilinear {
        Bilinear {
            constant: self.constant
                + self.first * x.start
                + self.second * y.start
                + self.both * x.start * y.start,
            first: (self.first + self.both * y.start) * x.slope,
            second: (self.second + self.both * x.start) * y.slope,
            both: self.both * x.slope * y.slope,
        }
    }

    pub fn then(self, outer: Affine) -> Bilinear {
        Bilinear {
            constant: outer.slope * self.constant + outer.start,
            first: outer.slope * self.first,
            second: outer.slope * self.second,
            both: outer.slope * self.both,
        }
    }

    /// With x and y exchanged.
    pub fn exchanged(self) -> Bilinear {
        Bilinear {
            first: self.second,
            second: self.first,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_forms() {
        let value =
            |b: Bilinear, x: f64, y: f64| b.constant + b.first * x + b.second * y + b.both * x * y;
        let reichenbach = Bilinear {
            constant: 1.0,
            first: -1.0,
            second: 0.0,
            both: 1.0,
        };
        let affine = |slope, start| Affine { slope, start };
        let (p, q, r) = (affine(0.9, 0.1), affine(-0.8, 0.7), affine(-2.0, 1.0));
        let composed = reichenbach.of(p, q).then(r);
        for (x, y) in [(0.0, 0.0), (0.3, 0.9), (1.0, 0.2)] {
            let (u, v) = (0.9 * x + 0.1, -0.8 * y + 0.7);
            let expected = -2.0 * (1.0 - u + u * v) + 1.0;
            assert!((value(composed, x, y) - expected).abs() < 1e-12);
            assert!((value(composed.exchanged(), y, x) - expected).abs() < 1e-12);
        }
        let twice = q.after(p);
        assert!((twice.slope * 0.5 + twice.start - (-0.8 * (0.9 * 0.5 + 0.1) + 0.7)).abs() < 1e-12);
    }
}
