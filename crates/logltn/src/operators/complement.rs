//! Complements: log(1 − eˣ) of a member x in log space, for operators that want them.
//!
//! A literal's own negation is its complement, exact where x is next to 0 or so small that eˣ is nothing. Of anything
//! else it is computed here, with x capped at 0.

use crate::vector::{Function, LogNot, Real, Task, run_task};

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
    run_task(LogNots { values, out });
    if T::kernels().max(values).to_f64() > -NOTHING {
        for (out, &x) in out.iter_mut().zip(values) {
            if x.to_f64() > -NOTHING {
                *out = log_not(x.min(T::ZERO));
            }
        }
    }
}

/// Adds what the derivatives by complements are by the values.
pub(crate) fn add_slopes<T: Real>(values: &[T], by_complements: &[T], by: &mut [T]) {
    run_task(AddSlopes {
        values,
        by_complements,
        by,
    });
}

/// Of values that are more than next to nothing below 0.
struct LogNots<'a, T> {
    values: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Task for LogNots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (floor, most) = (T::from_f64(FLOOR), T::from_f64(-NOTHING));
        for (out, &x) in self.out.iter_mut().zip(self.values) {
            let (log, _): (T, T) = LogNot.of::<FUSED>(if x > most { most } else { x });
            *out = if log < floor { floor } else { log };
        }
    }
}

struct AddSlopes<'a, T> {
    values: &'a [T],
    by_complements: &'a [T],
    by: &'a mut [T],
}

impl<T: Real> Task for AddSlopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let most = T::from_f64(-NOTHING);
        let pairs = self.by_complements.iter().zip(self.values);
        for (by, (&by_complement, &x)) in self.by.iter_mut().zip(pairs) {
            let (_, slope): (T, T) = LogNot.of::<FUSED>(if x > most { most } else { x });
            // Where x is capped, or next to it, it is true, whatever becomes of it.
            let slope = if x < most { slope } else { T::ZERO };
            *by += by_complement * slope;
        }
    }
}
