//! How good a model is: numbers that compare what it says with what is known.
//!
//! Every metric is a pure function on slices. What has no answer (no rows, a score that is not a number, a curve over
//! one class) is a [`MetricError`] and never a number that looks like one.
//!
//! ```
//! use logltn_learn::metrics::{Scores, balanced_accuracy, roc_auc};
//! assert_eq!(balanced_accuracy(&[0, 1, 2, 2], &[0, 1, 2, 2])?, 1.0);
//! assert_eq!(roc_auc(&Scores::truths(vec![0.9, 0.1, 0.8])?, &[true, false, true])?, 1.0);
//! # Ok::<(), logltn_learn::metrics::MetricError>(())
//! ```

mod accuracy;
mod adjusted_rand_index;
mod average_precision;
mod calibration_error;
mod collapse;
mod counts;
mod error;
mod hits;
mod kind;
mod mae;
mod matched_accuracy;
mod mrr;
mod r2;
mod rank;
mod ranking;
mod rmse;
mod roc_auc;
mod scores;

#[cfg(test)]
mod tests;

pub use accuracy::balanced_accuracy;
pub use adjusted_rand_index::adjusted_rand_index;
pub use average_precision::average_precision;
pub use calibration_error::calibration_error;
pub use collapse::collapse;
pub use error::MetricError;
pub use hits::hits;
pub(crate) use kind::Figure;
pub use kind::{Against, Better, MetricKind, Subject};
pub use mrr::mrr;
pub use roc_auc::roc_auc;
pub use scores::Scores;
pub(crate) use scores::half;
