//! The mean absolute error.

use super::error::{MetricError, numbers};

/// The mean absolute error.
///
/// ```
/// # use logltn_learn::metrics::mae;
/// assert_eq!(mae(&[1.0, 2.0, 6.0], &[1.0, 3.0, 5.0])?, 2.0 / 3.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or a number is NaN.
pub fn mae(predicted: &[f64], known: &[f64]) -> Result<f64, MetricError> {
    let rows = numbers(predicted, known)?;
    let errors = predicted.iter().zip(known).map(|(p, k)| (p - k).abs());
    Ok(errors.sum::<f64>() / rows as f64)
}
