//! The list of metrics: their names, what they are of, and what they are measured against.

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

macro_rules! metrics {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $subject:ident, $against:ident, $says:literal;)*) => {
        /// The metrics that are known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MetricKind { $($(#[$doc])* $kind,)* }

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

            /// What it is measured against.
            pub fn against(self) -> Against {
                match self { $(MetricKind::$kind => Against::$against,)* }
            }

            /// What it says, in one line of documentation.
            pub fn says(self) -> &'static str {
                match self { $(MetricKind::$kind => $says,)* }
            }
        }
    };
}

metrics! {
    /// The share of right answers.
    Accuracy = "accuracy", Predicate, TruthsOrClasses,
        "the share of rows that are right";
    /// The mean over classes of the share of right ones.
    BalancedAccuracy = "balanced_accuracy", Predicate, Classes,
        "the mean over the classes that occur of the share of their rows that are right";
    /// Agreement of two clusterings, corrected for chance.
    AdjustedRandIndex = "adjusted_rand_index", Predicate, Classes,
        "how alike two groupings are, whatever the groups are called: 1 if the same, about 0 by chance";
    /// The harmonic mean of precision and recall.
    F1 = "f1", Predicate, TruthsOrClasses,
        "the harmonic mean of precision and recall; of classes, the mean over them";
    /// The share of what is found that is right.
    Precision = "precision", Predicate, TruthsOrClasses,
        "the share of what is called true that is true, 0 if nothing is; of classes, the mean over them";
    /// The share of what is right that is found.
    Recall = "recall", Predicate, TruthsOrClasses,
        "the share of what is true that is called true; of classes, the mean over them";
    /// The area under precision over recall.
    AveragePrecision = "average_precision", Predicate, Truths,
        "the area under precision over recall, as steps";
    /// The area under the receiver operating characteristic.
    RocAuc = "roc_auc", Predicate, Truths,
        "the chance that a true row has a greater truth than a false one, a tie counting half";
    /// The share of rows in which everything is right.
    RowAccuracy = "row_accuracy", Table, Axioms,
        "the share of a table's rows for which its axioms hold, every literal made true or false";
    /// The root of the mean squared error.
    Rmse = "rmse", Function, Values,
        "the root of the mean squared error";
    /// The mean absolute error.
    Mae = "mae", Function, Values,
        "the mean absolute error";
    /// The share of the variance that is explained.
    R2 = "r2", Function, Values,
        "1 − squared error / squared distance from the mean";
    /// The mean reciprocal rank.
    Mrr = "mrr", Predicate, Ranks,
        "the mean of 1 / rank of the right individual among all of its sort";
    /// The share of rows that are among the first k.
    Hits = "hits", Predicate, Ranks,
        "the share of rows whose right individual has rank k or better";
}

impl MetricKind {
    /// Whether a smaller value is a better one.
    pub fn smaller_is_better(self) -> bool {
        matches!(self, MetricKind::Rmse | MetricKind::Mae)
    }
}
