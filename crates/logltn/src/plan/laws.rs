//! What the passes want to know of the operators of a semantics: which rewrites are exact.

use crate::operators::{Aggregator, And, Or, Space};
use crate::semantics::Semantics;

impl Semantics {
    /// Whether negation is pushed down to the atoms.
    pub(super) fn in_log_space(&self) -> bool {
        self.space == Space::Log
    }

    /// Whether the members of a conjunction can be added up apart.
    pub(crate) fn and_adds_logs(&self) -> bool {
        self.in_log_space() && self.and == And::Sum
    }

    /// Whether a quantifier gives one value for many equal ones, however many there are.
    pub(super) fn is_idempotent(&self, forall: bool) -> bool {
        matches!(
            self.aggregator(forall),
            Aggregator::Mean | Aggregator::Min | Aggregator::Max | Aggregator::LogMeanExp
        )
    }

    /// `forall V. φ and ψ` is `(forall V. φ) and (forall V. ψ)`, whatever each of them reads of V.
    pub(super) fn forall_splits_over_and(&self) -> bool {
        self.forall == Aggregator::Mean && self.and == And::Sum
    }

    /// `exists V. φ or ψ` is `(exists V. φ) or (exists V. ψ)`, whatever each of them reads of V.
    pub(super) fn exists_splits_over_or(&self) -> bool {
        matches!(
            (self.exists, self.or),
            (Aggregator::LogMeanExp, Or::LogMeanExp) | (Aggregator::Max, Or::Max)
        )
    }

    /// A summand without the variables of an `exists` can be moved out of it.
    pub(super) fn and_distributes_over_exists(&self) -> bool {
        self.and_adds_logs()
            && matches!(
                self.exists,
                Aggregator::LogMeanExp | Aggregator::LogSumExp | Aggregator::Max
            )
    }
}
