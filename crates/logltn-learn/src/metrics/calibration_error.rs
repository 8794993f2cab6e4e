//! Whether predictions made with 80 % certainty are right in 80 % of cases.

use super::error::{MetricError, rows};

/// How many groups of certainties there are.
const GROUPS: usize = 15;

/// The expected calibration error: rows in 15 groups of like certainty, and the mean over all rows of how far the share of
/// right ones in a row's group is from the group's mean certainty. 0 is best.
///
/// ```
/// # use logltn_learn::metrics::calibration_error;
/// // Sure of everything, and wrong half of the time.
/// assert_eq!(calibration_error(&[1.0, 1.0], &[true, false])?, 0.5);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
///
/// # Errors
/// If there are no rows, the lengths differ, or a certainty is NaN.
pub fn calibration_error(certain: &[f64], right: &[bool]) -> Result<f64, MetricError> {
    let rows = rows(certain.len(), right.len())?;
    if let Some(row) = certain.iter().position(|c| c.is_nan()) {
        return Err(MetricError::NotANumber { row });
    }
    // By group: the sum of (right − certainty).
    let mut groups = [0.0_f64; GROUPS];
    for (certain, right) in certain.iter().zip(right) {
        let group = ((certain * GROUPS as f64).ceil() as usize).clamp(1, GROUPS) - 1;
        groups[group] += f64::from(u8::from(*right)) - certain;
    }
    Ok(groups.iter().map(|g| g.abs()).sum::<f64>() / rows as f64)
}
