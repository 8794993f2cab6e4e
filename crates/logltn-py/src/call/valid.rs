//! Which numbers are valid for the kind of a predicate.

use logltn::{Code, Diagnostic, OutputKind, Precision as Real};

use super::join;

/// Truths slightly outside their range are rounding errors and are clamped.
const ROUNDING: f64 = 1e-6;
/// The log of a masked truth: the floor of log space.
const MASKED: f64 = -1e5;

/// What is wrong with a value, at these indexes of its array.
pub fn wrong_value(name: &str, kind: OutputKind, index: &[usize], number: f64) -> Diagnostic {
    let place = match index {
        [] => String::new(),
        index => format!(" at [{}]", join(index)),
    };
    let message = format!("predicate `{name}`: the value{place} is {number}");
    if !number.is_finite() {
        return Diagnostic::error(Code::NotFinite, message);
    }
    let help = match kind {
        OutputKind::Truth => {
            "a truth is between 0 and 1; the output of logits is \"sigmoid\" or \"softmax\""
        }
        _ => "the log of a truth is at most 0",
    };
    Diagnostic::error(Code::ValueOutOfRange, message).help(help)
}

/// Whether no number has to be clamped to its range. The engine finds non-finite ones.
pub fn in_range<T: Real>(kind: OutputKind, numbers: &[T]) -> bool {
    match kind {
        OutputKind::Softmax | OutputKind::Sigmoid => true,
        OutputKind::Truth => numbers.iter().all(|&x| T::ZERO <= x && x <= T::ONE),
        OutputKind::LogTruth => numbers.iter().all(|&x| x <= T::ZERO),
    }
}

/// Replaces logits of −∞, which mask a class or an atom, by an equivalent finite value, and returns their positions. A softmax must have a
/// class left.
pub fn unmask<T: Real>(kind: OutputKind, numbers: &mut [T], width: usize) -> Vec<usize> {
    let softmax = match kind {
        OutputKind::Softmax => true,
        OutputKind::Sigmoid => false,
        OutputKind::Truth | OutputKind::LogTruth => return Vec::new(),
    };
    let is_masked = |x: &T| *x == T::from_f64(f64::NEG_INFINITY);
    if T::kernels().sum(numbers).is_finite() || !numbers.iter().any(is_masked) {
        return Vec::new();
    }
    let mut masked = Vec::new();
    for (row, numbers) in numbers.chunks_mut(width.max(1)).enumerate() {
        let left = numbers.iter().copied().filter(|x| !is_masked(x));
        let top = left.fold(None, |top: Option<T>, x| {
            Some(top.map_or(x, |top| if x > top { x } else { top }))
        });
        let floor = T::from_f64(MASKED);
        let instead = match (softmax, top) {
            (true, Some(top)) if top.is_finite() => top + floor,
            (true, _) => continue,
            (false, _) => floor,
        };
        for (class, x) in numbers.iter_mut().enumerate().filter(|(_, x)| is_masked(x)) {
            *x = instead;
            masked.push(row * width + class);
        }
    }
    masked
}

/// The first number that is not valid for its kind. Rounding errors are allowed.
pub fn wrong_number<T: Real>(kind: OutputKind, numbers: &mut [T]) -> Option<usize> {
    // The sum of finite numbers may overflow, but with a NaN or an infinity it is never finite.
    if !T::kernels().sum(numbers).is_finite()
        && let Some(at) = numbers.iter().position(|x| !x.is_finite())
    {
        return Some(at);
    }
    let (low, high) = match kind {
        OutputKind::Softmax | OutputKind::Sigmoid => return None,
        OutputKind::Truth => (T::ZERO, T::ONE),
        OutputKind::LogTruth => (T::MIN_VALUE, T::ZERO),
    };
    let slack = T::from_f64(ROUNDING);
    for (at, x) in numbers.iter_mut().enumerate() {
        if *x < low {
            if low - *x > slack {
                return Some(at);
            }
            *x = low;
        } else if *x > high {
            if *x - high > slack {
                return Some(at);
            }
            *x = high;
        }
    }
    None
}
