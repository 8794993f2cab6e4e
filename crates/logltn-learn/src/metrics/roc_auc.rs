//! The area under the ROC curve.

use super::error::MetricError;
use super::ranking::ties;
use super::scores::Scores;

/// The chance that a positive row has a higher score than a negative one, a tie counting half: the area under the ROC
/// curve. If all scores are tied it is ½.
///
/// ```
/// # use logltn_learn::metrics::{Scores, roc_auc};
/// let said = Scores::truths(vec![0.1, 0.4, 0.35, 0.8])?;
/// assert_eq!(roc_auc(&said, &[false, false, true, true])?, 0.75);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or all rows are positive or all negative.
pub fn roc_auc(scores: &Scores, positive: &[bool]) -> Result<f64, MetricError> {
    let ties = ties(scores, positive)?;
    let positives: u128 = ties.iter().map(|tie| u128::from(tie.positives)).sum();
    let negatives: u128 = ties.iter().map(|tie| u128::from(tie.negatives)).sum();
    if positives == 0 {
        return Err(MetricError::NoPositives);
    }
    if negatives == 0 {
        return Err(MetricError::NoNegatives);
    }
    // Counted in halves, so that the count is exact.
    let mut above = 0;
    let mut halves = 0;
    for tie in ties {
        let (p, n) = (u128::from(tie.positives), u128::from(tie.negatives));
        halves += 2 * above * n + p * n;
        above += p;
    }
    Ok(halves as f64 / (2 * positives * negatives) as f64)
}
