//! Complements: log(1 − eˣ) of a member x in log space, for operators that want them.
//!
//! The complement of a literal is its negation, which is exact even where x is close to 0 or eˣ underflows. For
//! everything else it is computed here, with x capped at 0.

use crate::vector::Real;

/// False, but finite: the least log.
pub(crate) const FLOOR: f64 = -1e5;

/// Smaller numbers count as 0: they are so small that 1 − eˣ or eˣ is 1 in either precision, and large enough for the
/// inverse to be finite.
pub(crate) const NOTHING: f64 = 1e-30;

/// log(1 − eˣ) for x ≤ 0, above [`FLOOR`].
pub(crate) fn log_not<T: Real>(x: T) -> T {
    let value = if x.to_f64() > -std::f64::consts::LN_2 {
        (-x.exp_m1()).ln()
    } else {
        (-x.exp()).ln_1p()
    };
    value.max(T::from_f64(FLOOR))
}

/// The complements of values.
pub(crate) fn complements<T: Real>(values: &[T], out: &mut [T]) {
    for (out, &x) in out.iter_mut().zip(values) {
        *out = log_not(x.min(T::ZERO));
    }
}

/// Adds the derivatives by complements to those by the values.
pub(crate) fn add_slopes<T: Real>(values: &[T], by_complements: &[T], by: &mut [T]) {
    for ((by, &by_complement), &x) in by.iter_mut().zip(by_complements).zip(values) {
        // Where x is at or near the cap it is true, and has no slope.
        if x.to_f64() < -NOTHING {
            *by -= by_complement / (-x).exp_m1();
        }
    }
}
