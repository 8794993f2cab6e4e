//! `not` of truth degrees, over blocks.

use super::expressed::Expressed;
use super::for_each::for_each;
use super::polynomial::Affine;
use crate::vector::Real;

/// The laws of a negation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NegationLaws {
    /// It is a linear function of its operand.
    pub affine: Option<Affine>,
}

/// A negation's computation.
pub(crate) trait Negate {
    const LAWS: NegationLaws;

    /// The same for other programs, of `x`.
    const EXPRESSED: Expressed;

    /// All of this as a value, over blocks.
    fn as_value<T: Real>() -> Negation<T> {
        Negation {
            forward: |x, out| {
                for_each(out.iter_mut().zip(x), |(out, &x)| *out = Self::of(x));
            },
            backward: |x, by, out| {
                for_each(out.iter_mut().zip(x).zip(by), |((out, &x), &by)| {
                    *out = by * Self::slope(x);
                });
            },
        }
    }

    fn of<T: Real>(x: T) -> T;

    fn slope<T: Real>(x: T) -> T;
}

/// [`Negate`] as a value, over blocks.
#[derive(Clone, Copy)]
pub(crate) struct Negation<T> {
    /// out = not x
    pub forward: fn(&[T], &mut [T]),
    /// out = the derivative by x, from that by the value.
    pub backward: fn(&[T], &[T], &mut [T]),
}
