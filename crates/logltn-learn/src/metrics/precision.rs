//! How much of what is said is right.

use super::counts::{mean_over_classes, of_truths};
use super::error::MetricError;
use super::scores::Scores;

/// The share of the rows that are called true that are true; 0 if none is called true.
///
/// ```
/// # use logltn_learn::metrics::{Scores, precision};
/// let said = Scores::truths(vec![0.9, 0.8, 0.1])?;
/// assert_eq!(precision(&said, &[true, false, false])?, 0.5);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or no row is true.
pub fn precision(said: &Scores, known: &[bool]) -> Result<f64, MetricError> {
    Ok(of_truths(&said.are_true(), known)?.precision())
}

/// The mean of it over classes: all that are known or predicted, a rare one counting as much as a common one.
/// That of a class that is never predicted is 0.
///
/// ```
/// # use logltn_learn::metrics::precision_of_classes;
/// assert_eq!(precision_of_classes(&[0, 0, 1, 1], &[0, 0, 0, 1])?, 0.75);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub fn precision_of_classes(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    mean_over_classes(predicted, known, |counts| counts.precision())
}
