//! The mean reciprocal rank.

use super::error::MetricError;
use super::rank::mean;

/// The mean of 1 / rank.
///
/// ```
/// # use logltn_learn::metrics::mrr;
/// assert_eq!(mrr(&[1.0, 2.0, 4.0])?, 1.75 / 3.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no ranks, or one is NaN.
pub fn mrr(ranks: &[f64]) -> Result<f64, MetricError> {
    mean(ranks, |rank| 1.0 / rank)
}
