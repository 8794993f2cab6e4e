//! How often the predicted class is the known one, over all rows and class by class.

use std::collections::BTreeMap;

use super::error::{MetricError, rows};
use super::scores::Scores;

/// The share of rows whose predicted class is the known one.
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub(super) fn accuracy(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    let rows = rows(predicted.len(), known.len())?;
    let right = predicted.iter().zip(known).filter(|(p, k)| p == k).count();
    Ok(right as f64 / rows as f64)
}

/// The share of rows of which what is truer than ½ is true, and all else is not.
pub(super) fn accuracy_of_truths(said: &Scores, known: &[bool]) -> Result<f64, MetricError> {
    let said = said.are_true();
    let rows = rows(said.len(), known.len())?;
    let right = said.iter().zip(known).filter(|(s, k)| s == k).count();
    Ok(right as f64 / rows as f64)
}

/// The mean over classes of the share of the class's rows that are predicted right, so that a rare class counts as much
/// as a common one.
///
/// Only classes that occur among the known ones count: a class that is merely predicted has no rows of its own. With one
/// class this is the accuracy.
///
/// ```
/// # use logltn_learn::metrics::balanced_accuracy;
/// // Always saying 0 is right in three rows of four, but for one class of two.
/// assert_eq!(balanced_accuracy(&[0, 0, 0, 0], &[0, 0, 0, 1])?, 0.5);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub fn balanced_accuracy(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    rows(predicted.len(), known.len())?;
    // In order of class, so that the sum below always rounds alike.
    let mut classes: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for (p, k) in predicted.iter().zip(known) {
        let (right, all) = classes.entry(*k).or_default();
        *right += u64::from(p == k);
        *all += 1;
    }
    let recalls: f64 = classes
        .values()
        .map(|&(right, all)| right as f64 / all as f64)
        .sum();
    Ok(recalls / classes.len() as f64)
}
