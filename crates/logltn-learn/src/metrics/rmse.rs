//! The root of the mean squared error.

use super::error::{MetricError, numbers};

/// The root of the mean squared error.
///
/// # Errors
/// If there are no rows, the lengths differ, or a number is NaN.
pub(super) fn rmse(predicted: &[f64], known: &[f64]) -> Result<f64, MetricError> {
    let rows = numbers(predicted, known)?;
    let squares = predicted.iter().zip(known).map(|(p, k)| (p - k) * (p - k));
    Ok((squares.sum::<f64>() / rows as f64).sqrt())
}
