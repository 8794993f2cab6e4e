//! The place of the right one among many.

use super::error::MetricError;

/// The rank of one score among others, the greatest first: 1 if it is greater than all of them. Among equal scores it is
/// the mean of their places, so that saying the same of all is no perfect rank.
///
/// ```
/// # use logltn_learn::metrics::rank;
/// assert_eq!(rank(0.5, [0.9, 0.1]), Some(2.0));
/// assert_eq!(rank(0.5, [0.5, 0.5]), Some(2.0));
/// ```
///
/// A score that is not a number has no rank.
pub fn rank(score: f64, others: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut greater, mut equal) = (0_u64, 0_u64);
    let mut numbers = !score.is_nan();
    for other in others {
        numbers &= !other.is_nan();
        greater += u64::from(other > score);
        equal += u64::from(other == score);
    }
    numbers.then(|| 1.0 + greater as f64 + equal as f64 / 2.0)
}

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
