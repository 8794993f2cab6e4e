//! Complements: log(1 − eˣ) of a member x in log space, for operators that want them.
//!
//! A literal's own negation is its complement, exact where x is next to 0 or so small that eˣ is nothing. Of anything
//! else it is computed here, with x capped at 0.

use crate::vector::Real;

/// False, but finite: what a log is never below.
pub(crate) const FLOOR: f64 = -1e5;

/// Numbers smaller than this count as nothing: so small that 1 − eˣ or eˣ is 1 in either precision, and large enough
/// for the inverse to be a number.
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

/// Adds what the derivatives by complements are by the values.
pub(crate) fn add_slopes<T: Real>(values: &[T], by_complements: &[T], by: &mut [T]) {
    for ((by, &by_complement), &x) in by.iter_mut().zip(by_complements).zip(values) {
        // Where x is capped, or next to it, it is true, whatever becomes of it.
        if x.to_f64() < -NOTHING {
            *by -= by_complement / (-x).exp_m1();
        }
    }
}
