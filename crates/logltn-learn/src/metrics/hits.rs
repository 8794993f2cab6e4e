//! How often the right one is among the first.

use super::error::MetricError;
use super::rank::mean;

/// The share of ranks that are `k` or better.
///
/// ```
/// # use logltn_learn::metrics::hits;
/// assert_eq!(hits(&[1.0, 2.0, 3.5, 4.0], 3)?, 0.5);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no ranks, or one is NaN.
pub fn hits(ranks: &[f64], k: usize) -> Result<f64, MetricError> {
    mean(ranks, |rank| f64::from(u8::from(rank <= k as f64)))
}
