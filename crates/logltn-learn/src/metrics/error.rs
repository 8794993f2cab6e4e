//! Why a metric has no value.

use std::fmt;

use logltn::{Code, Diagnostic, Diagnostics};

/// Why a metric has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricError {
    /// There is nothing to compare.
    Empty,
    /// The two slices do not describe the same rows.
    LengthsDiffer {
        /// The length of the model's slice.
        predicted: usize,
        /// The length of the known one.
        known: usize,
    },
    /// A score is NaN, so the rows cannot be ranked.
    NotANumber {
        /// The 0-based row of the first such score.
        row: usize,
    },
    /// No row is positive: there is no precision-recall curve, and nothing to be found.
    NoPositives,
    /// No row is negative: there is no ROC curve.
    NoNegatives,
    /// All known numbers are equal: there is nothing to explain.
    AllEqual,
    /// It is not measured against what is known here.
    DoesNotFit,
}

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricError::Empty => f.write_str("there are no rows to compare"),
            MetricError::LengthsDiffer { predicted, known } => write!(
                f,
                "the model predicts {predicted} rows, but {known} are known"
            ),
            MetricError::NotANumber { row } => {
                write!(f, "the score of row {row} is not a number (NaN)")
            }
            MetricError::NoPositives => f.write_str("no row is positive"),
            MetricError::NoNegatives => f.write_str("no row is negative"),
            MetricError::AllEqual => f.write_str("all known numbers are equal"),
            MetricError::DoesNotFit => f.write_str("it is measured against something else"),
        }
    }
}

impl std::error::Error for MetricError {}

impl From<MetricError> for Diagnostic {
    fn from(error: MetricError) -> Diagnostic {
        Diagnostic::error(
            Code::MetricUndefined,
            format!("the metric has no value: {error}"),
        )
    }
}

impl From<MetricError> for Diagnostics {
    fn from(error: MetricError) -> Diagnostics {
        Diagnostic::from(error).into()
    }
}

/// The number of rows, if there are any and both slices agree on it.
pub(super) fn rows(predicted: usize, known: usize) -> Result<usize, MetricError> {
    match (predicted, known) {
        (0, 0) => Err(MetricError::Empty),
        (a, b) if a == b => Ok(a),
        _ => Err(MetricError::LengthsDiffer { predicted, known }),
    }
}

/// The same for numbers, which may not include NaN.
pub(super) fn numbers(predicted: &[f64], known: &[f64]) -> Result<usize, MetricError> {
    let rows = rows(predicted.len(), known.len())?;
    let mut pairs = predicted.iter().zip(known);
    match pairs.position(|(p, k)| p.is_nan() || k.is_nan()) {
        Some(row) => Err(MetricError::NotANumber { row }),
        None => Ok(rows),
    }
}
