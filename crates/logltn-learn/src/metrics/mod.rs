//! How good a model is: numbers that compare what it says with what is known.
//!
//! Every metric is a pure function on slices. What has no answer (no rows, a score that is not a number, a curve over
//! one class) is a [`MetricError`] and never a number that looks like one. A metric is its file, its `mod` and `use`, and its entry
//! in the list below.
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
use accuracy::{accuracy, accuracy_of_truths};
pub use adjusted_rand_index::adjusted_rand_index;
pub use average_precision::average_precision;
pub use calibration_error::calibration_error;
pub use collapse::collapse;
use counts::{f1, f1_of_classes, precision, precision_of_classes, recall, recall_of_classes};
pub use error::MetricError;
pub use hits::hits;
use mae::mae;
use matched_accuracy::matched_accuracy;
pub use mrr::mrr;
use r2::r2;
use rmse::rmse;
pub use roc_auc::roc_auc;
pub use scores::Scores;
pub(crate) use scores::half;

/// What a metric is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A predicate.
    Predicate,
    /// A function whose value is a number.
    Function,
    /// A table, and the axioms over its rows.
    Table,
}

impl Subject {
    /// The key of a manifest that names it.
    pub fn key(self) -> &'static str {
        match self {
            Subject::Predicate => "predicate",
            Subject::Function => "function",
            Subject::Table => "table",
        }
    }
}

/// What a metric compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The right class.
    Classes,
    /// Whether each row is true; without that, the right class.
    TruthsOrClasses,
    /// Whether each row is true.
    Truths,
    /// Rows that are true, each to be found among all individuals in one of its places.
    Ranks,
    /// A number for each row.
    Values,
    /// The axioms over the rows of a table.
    Axioms,
}

/// Which of two values of a metric is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The larger one.
    Larger,
    /// The smaller one, as of an error.
    Smaller,
}

impl Better {
    /// Whether `value` is better than `other`.
    pub fn is_better(self, value: f64, other: f64) -> bool {
        match self {
            Better::Larger => value > other,
            Better::Smaller => value < other,
        }
    }
}

type Value = Result<f64, MetricError>;

/// How a metric is computed. Its type says what it is computed from, so a metric cannot be given anything else.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Figure {
    Classes(fn(&[usize], &[usize]) -> Value),
    TruthsOrClasses(
        fn(&Scores, &[bool]) -> Value,
        fn(&[usize], &[usize]) -> Value,
    ),
    /// How certain each class is, and whether it is right.
    Certainties(fn(&[f64], &[bool]) -> Value),
    Truths(fn(&Scores, &[bool]) -> Value),
    Ranks(fn(&[f64]) -> Value),
    /// With the `k` of the manifest.
    FirstRanks(fn(&[f64], usize) -> Value),
    Values(fn(&[f64], &[f64]) -> Value),
    Axioms,
}

impl Figure {
    fn against(self) -> Against {
        match self {
            Figure::Classes(_) | Figure::Certainties(_) => Against::Classes,
            Figure::TruthsOrClasses(..) => Against::TruthsOrClasses,
            Figure::Truths(_) => Against::Truths,
            Figure::Ranks(_) | Figure::FirstRanks(_) => Against::Ranks,
            Figure::Values(_) => Against::Values,
            Figure::Axioms => Against::Axioms,
        }
    }
}

macro_rules! metrics {
    ($($kind:ident = $name:literal, $subject:ident, $better:ident, $figure:expr, $says:literal;)*) => {
        /// The metrics that are known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MetricKind { $(#[doc = $says] $kind,)* }

        impl MetricKind {
            /// All of them, with the names that manifests use.
            pub const ALL: &'static [(&'static str, MetricKind)] = &[$(($name, MetricKind::$kind),)*];

            /// The name in a manifest.
            pub fn name(self) -> &'static str {
                match self { $(MetricKind::$kind => $name,)* }
            }

            /// What it is of.
            pub fn subject(self) -> Subject {
                match self { $(MetricKind::$kind => Subject::$subject,)* }
            }

            /// Which values are better.
            pub fn better(self) -> Better {
                match self { $(MetricKind::$kind => Better::$better,)* }
            }

            /// How it is computed.
            pub(crate) fn figure(self) -> Figure {
                match self { $(MetricKind::$kind => $figure,)* }
            }

            /// What it says, in one line of documentation.
            pub fn says(self) -> &'static str {
                match self { $(MetricKind::$kind => $says,)* }
            }
        }
    };
}

metrics! {
    Accuracy = "accuracy", Predicate, Larger, Figure::TruthsOrClasses(accuracy_of_truths, accuracy),
        "the share of rows that are right";
    BalancedAccuracy = "balanced_accuracy", Predicate, Larger, Figure::Classes(balanced_accuracy),
        "the accuracy of each class that occurs, averaged over the classes";
    AdjustedRandIndex = "adjusted_rand_index", Predicate, Larger, Figure::Classes(adjusted_rand_index),
        "how alike two groupings are, whatever their names: 1 if the same, about 0 by chance";
    MatchedAccuracy = "matched_accuracy", Predicate, Larger, Figure::Classes(matched_accuracy),
        "the accuracy under the best one-to-one renaming of the classes: high if concepts are learnt but mixed up";
    Collapse = "collapse", Predicate, Smaller, Figure::Classes(collapse),
        "how many of the classes that occur are never predicted";
    CalibrationError = "calibration_error", Predicate, Smaller, Figure::Certainties(calibration_error),
        "the expected calibration error, in 15 groups: how far confidence is from accuracy";
    F1 = "f1", Predicate, Larger, Figure::TruthsOrClasses(f1, f1_of_classes),
        "the harmonic mean of precision and recall; for classes, the mean over them";
    Precision = "precision", Predicate, Larger, Figure::TruthsOrClasses(precision, precision_of_classes),
        "the share of rows predicted true that are true, 0 if none is predicted; for classes, the mean over them";
    Recall = "recall", Predicate, Larger, Figure::TruthsOrClasses(recall, recall_of_classes),
        "the share of true rows that are predicted true; for classes, the mean over them";
    AveragePrecision = "average_precision", Predicate, Larger, Figure::Truths(average_precision),
        "the area under precision over recall, as steps";
    RocAuc = "roc_auc", Predicate, Larger, Figure::Truths(roc_auc),
        "the chance that a true row has a greater truth than a false one, a tie counting half";
    RowAccuracy = "row_accuracy", Table, Larger, Figure::Axioms,
        "the share of a table's rows for which its axioms hold, every literal made true or false";
    Rmse = "rmse", Function, Smaller, Figure::Values(rmse),
        "the root of the mean squared error";
    Mae = "mae", Function, Smaller, Figure::Values(mae),
        "the mean absolute error";
    R2 = "r2", Function, Larger, Figure::Values(r2),
        "1 − squared error / squared distance from the mean";
    Mrr = "mrr", Predicate, Larger, Figure::Ranks(mrr),
        "the mean of 1 / rank of the right individual among all of its sort";
    Hits = "hits", Predicate, Larger, Figure::FirstRanks(hits),
        "the share of rows whose right individual has rank k or better";
}

impl MetricKind {
    /// What it is measured against.
    pub fn against(self) -> Against {
        self.figure().against()
    }

    /// Whether it looks at the first `k` answers only.
    pub fn takes_k(self) -> bool {
        matches!(self.figure(), Figure::FirstRanks(_))
    }
}
