//! The value of a predicate for rows: numbers that know what they are.

use logltn::OutputKind;

use super::error::MetricError;

/// The number of what is as true as false, among the numbers that stand for an output.
pub(crate) fn half(kind: OutputKind) -> f64 {
    match kind {
        OutputKind::Sigmoid => 0.0,
        OutputKind::Truth => 0.5,
        // Of a softmax, the logs of its probabilities.
        OutputKind::Softmax | OutputKind::LogTruth => -std::f64::consts::LN_2,
    }
}

/// A number for each row, the greater the truer, and the number of what is as true as false.
///
/// Logits, truth degrees and their logs order rows alike, but ½ is another number in each. Whoever makes scores says which
/// they are, once; metrics need not be told.
///
/// ```
/// # use logltn_learn::metrics::{Scores, roc_auc};
/// let (logits, truths) = (Scores::logits(vec![0.3, -0.1])?, Scores::truths(vec![0.6, 0.4])?);
/// assert_eq!(roc_auc(&logits, &[true, false])?, roc_auc(&truths, &[true, false])?);
/// # Ok::<(), logltn_learn::metrics::MetricError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    numbers: Vec<f64>,
    half: f64,
}

impl Scores {
    /// Logits.
    ///
    /// # Errors
    /// If one is NaN, as for the others.
    pub fn logits(numbers: Vec<f64>) -> Result<Scores, MetricError> {
        Scores::of(OutputKind::Sigmoid, numbers)
    }

    /// Truth degrees.
    ///
    /// # Errors
    /// If one is NaN.
    pub fn truths(numbers: Vec<f64>) -> Result<Scores, MetricError> {
        Scores::of(OutputKind::Truth, numbers)
    }

    /// What stands for an output of this kind.
    pub(crate) fn of(kind: OutputKind, numbers: Vec<f64>) -> Result<Scores, MetricError> {
        let half = half(kind);
        match numbers.iter().position(|x| x.is_nan()) {
            Some(row) => Err(MetricError::NotANumber { row }),
            None => Ok(Scores { numbers, half }),
        }
    }

    /// The numbers, by which rows can be ranked.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Whether each row is truer than ½.
    pub(crate) fn are_true(&self) -> Vec<bool> {
        self.numbers.iter().map(|&x| x > self.half).collect()
    }
}
