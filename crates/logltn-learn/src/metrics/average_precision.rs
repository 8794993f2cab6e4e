//! The area under the precision-recall curve.

use super::error::MetricError;
use super::ranking::ties;
use super::scores::Scores;

/// The average precision: the sum over thresholds of precision × gain in recall, from the highest score down.
///
/// This is the step rule of scikit-learn's `average_precision_score`, not the trapezoid, which would promise precisions
/// between two thresholds that no threshold has. Rows of equal scores are taken in together. If all are tied, or all are
/// positive, it is the share of positives.
///
/// ```
/// # use logltn_learn::metrics::{Scores, average_precision};
/// // Recall ½ at precision 1, then recall 1 at precision ⅔.
/// let said = Scores::truths(vec![0.1, 0.4, 0.35, 0.8])?;
/// let score = average_precision(&said, &[false, false, true, true])?;
/// assert_eq!(score, 0.5 + 0.5 * (2.0 / 3.0));
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or no row is positive.
pub fn average_precision(scores: &Scores, positive: &[bool]) -> Result<f64, MetricError> {
    let ties = ties(scores, positive)?;
    let positives: u64 = ties.iter().map(|tie| tie.positives).sum();
    if positives == 0 {
        return Err(MetricError::NoPositives);
    }
    let (mut found, mut taken) = (0, 0);
    let mut area = 0.0;
    for tie in ties {
        found += tie.positives;
        taken += tie.positives + tie.negatives;
        area += found as f64 / taken as f64 * (tie.positives as f64 / positives as f64);
    }
    Ok(area)
}
