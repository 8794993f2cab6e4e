//! How alike two groupings of the same rows are, whatever the groups are called.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::error::{MetricError, rows};

/// The adjusted Rand index of two groupings: 1 if they are the same up to the names of the groups, about 0 if they have
/// nothing to do with each other, less if they agree less than chance would.
///
/// Two groupings without any information (each a single group, or each with every row on its own) are the same, so their
/// index is 1, as is that of a single row.
///
/// ```
/// # use logltn_learn::metrics::adjusted_rand_index;
/// assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[7, 7, 3, 3])?, 1.0);
/// assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1])?, -0.5);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub fn adjusted_rand_index(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    let rows = rows(predicted.len(), known.len())?;
    let both = pairs_within(predicted.iter().zip(known));
    let within_predicted = pairs_within(predicted);
    let within_known = pairs_within(known);
    let all = pairs(rows as i128);

    // The index is (both − expected) / (mean − expected) with expected = within_predicted · within_known / all. Times
    // 2 · all, everything is an integer, so nothing cancels.
    let expected = 2 * within_predicted * within_known;
    let numerator = 2 * all * both - expected;
    let denominator = all * (within_predicted + within_known) - expected;
    if denominator == 0 {
        return Ok(1.0);
    }
    Ok(numerator as f64 / denominator as f64)
}

/// How many unordered pairs of rows fall into one group.
fn pairs_within<T: Hash + Eq>(groups: impl IntoIterator<Item = T>) -> i128 {
    let mut sizes: FxHashMap<T, i128> = HashMap::default();
    for group in groups {
        *sizes.entry(group).or_default() += 1;
    }
    sizes.into_values().map(pairs).sum()
}

fn pairs(of: i128) -> i128 {
    of * (of - 1) / 2
}
