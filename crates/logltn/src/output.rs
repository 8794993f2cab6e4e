//! What the numbers behind a predicate mean.

/// How the numbers that ground a predicate become degrees of truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Logits over the individuals of the last argument's sort, of which one is true.
    Softmax,
    /// A logit per atom.
    Sigmoid,
    /// A degree of truth per atom, in [0, 1].
    Truth,
    /// The log of a degree of truth per atom, at most 0.
    LogTruth,
}

impl OutputKind {
    /// Its name in documents and exported plans.
    pub fn name(self) -> &'static str {
        match self {
            OutputKind::Softmax => "softmax",
            OutputKind::Sigmoid => "sigmoid",
            OutputKind::Truth => "truth",
            OutputKind::LogTruth => "log_truth",
        }
    }
}

/// What a predicate is asked for, and what it answers.
///
/// ```
/// use logltn::{Output, OutputKind};
/// assert!(Output::softmax().per_class);
/// assert_eq!(Output::sigmoid().kind, OutputKind::Sigmoid);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// What the numbers mean.
    pub kind: OutputKind,
    /// Whether one request for all arguments but the last answers for every individual of the last
    /// one's sort at once, as a softmax always does.
    pub per_class: bool,
}

impl Output {
    /// Logits over the last argument.
    pub fn softmax() -> Output {
        Output {
            kind: OutputKind::Softmax,
            per_class: true,
        }
    }

    /// One logit per tuple of arguments.
    pub fn sigmoid() -> Output {
        Output {
            kind: OutputKind::Sigmoid,
            per_class: false,
        }
    }

    /// One degree of truth per tuple of arguments.
    pub fn truth() -> Output {
        Output {
            kind: OutputKind::Truth,
            per_class: false,
        }
    }

    /// One log of a degree of truth per tuple of arguments.
    pub fn log_truth() -> Output {
        Output {
            kind: OutputKind::LogTruth,
            per_class: false,
        }
    }

    /// The same, answering for every individual of the last argument's sort at once.
    pub fn per_class(self) -> Output {
        Output {
            per_class: true,
            ..self
        }
    }
}
