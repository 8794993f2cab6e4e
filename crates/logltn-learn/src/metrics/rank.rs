//! What metrics of ranks have in common.

use super::error::MetricError;

/// The mean of a figure over ranks.
pub(super) fn mean(ranks: &[f64], figure: impl Fn(f64) -> f64) -> Result<f64, MetricError> {
    if ranks.is_empty() {
        return Err(MetricError::Empty);
    }
    if let Some(row) = ranks.iter().position(|rank| rank.is_nan()) {
        return Err(MetricError::NotANumber { row });
    }
    Ok(ranks.iter().map(|&rank| figure(rank)).sum::<f64>() / ranks.len() as f64)
}
