//! The root of the mean squared error.

use super::error::{MetricError, numbers};

/// The root of the mean squared error.
///
/// ```
/// # use logltn_learn::metrics::rmse;
/// assert_eq!(rmse(&[1.0, 2.0, 6.0], &[1.0, 3.0, 5.0])?, (2.0_f64 / 3.0).sqrt());
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or a number is NaN.
pub fn rmse(predicted: &[f64], known: &[f64]) -> Result<f64, MetricError> {
    let rows = numbers(predicted, known)?;
    let squares = predicted.iter().zip(known).map(|(p, k)| (p - k) * (p - k));
    Ok((squares.sum::<f64>() / rows as f64).sqrt())
}
