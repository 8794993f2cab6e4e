//! The operators that a [`Semantics`](crate::Semantics) chooses from, and which of them go together.

use std::fmt;

/// Where the values of formulas live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Every value is the log of a truth degree, in (−∞, 0].
    Log,
    /// Every value is a truth degree, in [0, 1].
    Truth,
    /// Truth degrees inside, logs outside: an outermost `forall` is Σ log x, and the axioms are combined
    /// as logs. This is `prod`.
    Mixed,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Log => "log space",
            Space::Truth => "truth space",
            Space::Mixed => "truth space, with logs outside",
        })
    }
}

/// Declares an operator enum together with the names the manifest gives to its members.
macro_rules! operators {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$vdoc])* $variant),+ }

        impl $type {
            /// Every operator of this kind.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The name in a manifest and in messages.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

operators! {
    /// `and`, and the n-ary `all`.
    And {
        /// Sum of logs: the product, in log space.
        Sum = "sum",
        /// The least. Since the log is monotone, the same in both spaces.
        Min = "min",
        /// x·y, truth space.
        Product = "product",
        /// max(x + y − 1, 0), truth space.
        Lukasiewicz = "lukasiewicz",
    }
}

operators! {
    /// `or`, and the n-ary `any`.
    Or {
        /// 1/α · log mean exp(α·v), log space.
        LogMeanExp = "log_mean_exp",
        /// 1/α · log Σ exp(α·v), log space.
        LogSumExp = "log_sum_exp",
        /// The greatest. Since the log is monotone, the same in both spaces.
        Max = "max",
        /// x + y − x·y, truth space.
        ProbabilisticSum = "probabilistic_sum",
        /// min(x + y, 1), truth space.
        Lukasiewicz = "lukasiewicz",
    }
}

operators! {
    /// `->`.
    Implies {
        /// `a -> b` is rewritten to `¬a ∨ b` before anything is evaluated; log space.
        Nnf = "nnf",
        /// 1 − x + x·y.
        Reichenbach = "reichenbach",
        /// max(1 − x, y).
        KleeneDienes = "kleene_dienes",
        /// 1 if x ≤ y else y.
        Godel = "godel",
        /// 1 if x ≤ y else y / x.
        Goguen = "goguen",
        /// min(1 − x + y, 1).
        Lukasiewicz = "lukasiewicz",
    }
}

operators! {
    /// `not`.
    Not {
        /// Pushed down to the atoms, which know the log of their own negation; log space.
        Nnf = "nnf",
        /// 1 − x.
        Standard = "standard",
        /// 1 if x = 0 else 0.
        Godel = "godel",
    }
}

operators! {
    /// What `forall`, `exists` and the combination of axioms do with many values.
    ///
    /// Over axioms, a weight w counts as w copies of the axiom: in [`Mean`](Aggregator::Mean),
    /// [`Sum`](Aggregator::Sum), [`LogMeanExp`](Aggregator::LogMeanExp), [`LogSumExp`](Aggregator::LogSumExp),
    /// [`PMean`](Aggregator::PMean) and [`PMeanError`](Aggregator::PMeanError) it multiplies the term, in
    /// [`Product`](Aggregator::Product) it is an exponent. `Min` and `Max` ignore weights.
    Aggregator {
        /// The mean: of logs in log space (a geometric mean of truth degrees), of truth degrees in truth space.
        Mean = "mean",
        /// The sum of logs; log space.
        Sum = "sum",
        /// The least, both spaces.
        Min = "min",
        /// The greatest, both spaces.
        Max = "max",
        /// The product of truth degrees; truth space.
        Product = "product",
        /// Σ log x: takes truth degrees and gives a log. Only as the outermost `forall`, only in `prod`.
        LogProduct = "log_product",
        /// 1/α · log mean exp(α·v), log space.
        LogMeanExp = "log_mean_exp",
        /// 1/α · log Σ exp(α·v), log space.
        LogSumExp = "log_sum_exp",
        /// (mean xᵖ)^(1/p), truth space.
        PMean = "p_mean",
        /// 1 − (mean (1 − x)ᵖ)^(1/p) with p = `p_forall`, truth space.
        PMeanError = "p_mean_error",
    }
}

/// What training minimises, given the satisfaction of all axioms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// −sat, where sat is a log.
    MinusSat,
    /// 1 − sat, where sat is a truth degree.
    OneMinusSat,
}

/// What an operator takes and gives.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Domain {
    Logs,
    Truths,
    TruthsToLogs,
    Either,
}

pub(crate) fn domain(operator: &str) -> Domain {
    match operator {
        "sum" | "log_mean_exp" | "log_sum_exp" | "nnf" => Domain::Logs,
        "min" | "max" | "mean" => Domain::Either,
        "log_product" => Domain::TruthsToLogs,
        _ => Domain::Truths,
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Domain::Logs => "works on logs",
            Domain::Truths => "works on truth degrees",
            Domain::TruthsToLogs => "turns truth degrees into logs",
            Domain::Either => "does not change between truth degrees and logs",
        })
    }
}

/// The operators that `key` may have in `space`: the table in the docs of [`Semantics`].
pub(crate) fn allowed(space: Space, key: &str) -> &'static [&'static str] {
    const LOG: &[&str] = &["mean", "sum", "min", "max", "log_mean_exp", "log_sum_exp"];
    const TRUTH: &[&str] = &["mean", "min", "max", "product", "p_mean", "p_mean_error"];
    match (key, space) {
        ("and", Space::Log) => &["sum", "min"],
        ("and", _) => &["min", "product", "lukasiewicz"],
        ("or", Space::Log) => &["log_mean_exp", "log_sum_exp", "max"],
        ("or", _) => &["max", "probabilistic_sum", "lukasiewicz"],
        ("implies" | "not", Space::Log) => &["nnf"],
        ("implies", _) => &[
            "reichenbach",
            "kleene_dienes",
            "godel",
            "goguen",
            "lukasiewicz",
        ],
        ("not", _) => &["standard", "godel"],
        ("forall", Space::Mixed) => &["log_product"],
        ("over_axioms", Space::Mixed) | (_, Space::Log) => LOG,
        _ => TRUTH,
    }
}

/// The names of all operators that `key` has in some space.
pub(crate) fn every_name(key: &str) -> Vec<&'static str> {
    match key {
        "and" => And::ALL.iter().map(|op| op.name()).collect(),
        "or" => Or::ALL.iter().map(|op| op.name()).collect(),
        "implies" | "not" => allowed(Space::Truth, key).to_vec(),
        _ => Aggregator::ALL.iter().map(|op| op.name()).collect(),
    }
}
