//! How much of what varies is explained.

use super::error::{MetricError, numbers};

/// One minus the squared error by that of always saying the mean: 1 if all is right, 0 if the mean would do as well, and
/// less if it would do better.
///
/// # Errors
/// If there are no rows, the lengths differ, or a number is NaN, or all known numbers are equal.
pub(super) fn r2(predicted: &[f64], known: &[f64]) -> Result<f64, MetricError> {
    let rows = numbers(predicted, known)?;
    let mean = known.iter().sum::<f64>() / rows as f64;
    let varies: f64 = known.iter().map(|k| (k - mean) * (k - mean)).sum();
    // The mean of equal numbers may be rounded.
    if varies == 0.0 || known.iter().all(|k| *k == known[0]) {
        return Err(MetricError::AllEqual);
    }
    let squares = predicted.iter().zip(known).map(|(p, k)| (p - k) * (p - k));
    Ok(1.0 - squares.sum::<f64>() / varies)
}
