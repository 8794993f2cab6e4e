//! Precision and recall in one number.

use super::counts::{mean_over_classes, of_truths};
use super::error::MetricError;
use super::scores::Scores;

/// The harmonic mean of precision and recall: twice what is said and right, by all that is said and all that is right.
///
/// ```
/// # use logltn_learn::metrics::{Scores, f1};
/// let said = Scores::truths(vec![0.9, 0.8, 0.1])?;
/// assert_eq!(f1(&said, &[true, false, false])?, 2.0 / 3.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or no row is true.
pub fn f1(said: &Scores, known: &[bool]) -> Result<f64, MetricError> {
    Ok(of_truths(&said.are_true(), known)?.f1())
}

/// The mean of it over classes: all that are known or predicted, a rare one counting as much as a common one.
/// That of a class that is never right is 0.
///
/// ```
/// # use logltn_learn::metrics::f1_of_classes;
/// assert_eq!(f1_of_classes(&[0, 0, 1, 1], &[0, 0, 0, 1])?, (0.8 + 2.0 / 3.0) / 2.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub fn f1_of_classes(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    mean_over_classes(predicted, known, |counts| counts.f1())
}
