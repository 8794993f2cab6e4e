//! `->` between truth degrees, over blocks.

use super::expressed::Expressed;
use super::for_each::for_each;
use super::polynomial::Polynomial;
use super::settings::Settings;
use crate::vector::Real;

/// The laws of an implication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImplicationLaws {
    /// It is a polynomial of its operands, given ε.
    pub polynomial: Option<fn(f64) -> Polynomial>,
}

/// An implication's computation.
pub(crate) trait Implies {
    const LAWS: ImplicationLaws;

    /// The same for other programs, of `x` and `y`.
    const EXPRESSED: Expressed;

    /// All of this as a value, over blocks.
    fn as_value<T: Real>() -> Implication<T> {
        Implication {
            forward: |s, [x, y], out| {
                for_each(out.iter_mut().zip(x).zip(y), |((out, &x), &y)| {
                    *out = Self::of(s, x, y);
                });
            },
            backward: |s, [x, y], by, [by_x, by_y]| {
                let slopes = by_x.iter_mut().zip(by_y);
                let items = slopes.zip(by).zip(x.iter().zip(y));
                for_each(items, |(((by_x, by_y), &by), (&x, &y))| {
                    let (dx, dy) = Self::slopes(s, x, y);
                    *by_x += by * dx;
                    *by_y += by * dy;
                });
            },
        }
    }

    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T;

    /// The derivatives by both operands.
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T);
}

/// [`Implies`] as a value, over blocks.
#[derive(Clone, Copy)]
#[allow(clippy::type_complexity)] // two operands, values and derivatives
pub(crate) struct Implication<T> {
    /// out = x -> y
    pub forward: fn(Settings<T>, [&[T]; 2], &mut [T]),
    /// Adds, from the derivative by the value, to those by both operands.
    pub backward: fn(Settings<T>, [&[T]; 2], &[T], [&mut [T]; 2]),
}
