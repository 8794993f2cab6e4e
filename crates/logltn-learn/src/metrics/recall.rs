//! How much of what is right is said.

use super::counts::{mean_over_classes, of_truths};
use super::error::MetricError;
use super::scores::Scores;

/// The share of the true rows that are called true.
///
/// ```
/// # use logltn_learn::metrics::{Scores, recall};
/// let said = Scores::truths(vec![0.9, 0.8, 0.1])?;
/// assert_eq!(recall(&said, &[true, false, false])?, 1.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or no row is true.
pub fn recall(said: &Scores, known: &[bool]) -> Result<f64, MetricError> {
    Ok(of_truths(&said.are_true(), known)?.recall())
}

/// The mean of it over classes: all that are known or predicted, a rare one counting as much as a common one.
/// That of a class that is predicted but never right is 0.
///
/// ```
/// # use logltn_learn::metrics::recall_of_classes;
/// assert_eq!(recall_of_classes(&[0, 0, 1, 1], &[0, 0, 0, 1])?, (2.0 / 3.0 + 1.0) / 2.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub fn recall_of_classes(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    mean_over_classes(predicted, known, |counts| counts.recall())
}
