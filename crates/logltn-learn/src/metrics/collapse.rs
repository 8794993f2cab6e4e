//! Classes that are never predicted.

use std::collections::BTreeSet;

use super::error::{MetricError, rows};

/// How many of the classes that occur are never predicted: concepts that have fallen into others.
///
/// ```
/// # use logltn_learn::metrics::collapse;
/// assert_eq!(collapse(&[0, 0, 2, 2], &[0, 1, 2, 3])?, 2.0);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub fn collapse(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    rows(predicted.len(), known.len())?;
    let said: BTreeSet<usize> = predicted.iter().copied().collect();
    let occur: BTreeSet<usize> = known.iter().copied().collect();
    Ok(occur.difference(&said).count() as f64)
}
