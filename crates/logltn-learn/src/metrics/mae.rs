//! The mean absolute error.

use super::error::{MetricError, numbers};

/// The mean absolute error.
///
/// # Errors
/// If there are no rows, the lengths differ, or a number is NaN.
pub(super) fn mae(predicted: &[f64], known: &[f64]) -> Result<f64, MetricError> {
    let rows = numbers(predicted, known)?;
    let errors = predicted.iter().zip(known).map(|(p, k)| (p - k).abs());
    Ok(errors.sum::<f64>() / rows as f64)
}
