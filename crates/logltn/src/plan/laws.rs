//! Which rewrites are exact, by the laws of a semantics' operators.

use crate::operators::Space;
use crate::semantics::Semantics;

impl Semantics {
    /// Whether negation is pushed down to the atoms.
    pub(crate) fn in_log_space(&self) -> bool {
        self.space == Space::Log
    }

    /// Whether a quantifier over equal values gives that value, however many there are.
    pub(super) fn is_idempotent(&self, forall: bool) -> bool {
        match forall {
            true => self.forall.laws().idempotent,
            false => self.exists.laws().idempotent,
        }
    }

    /// Whether a quantifier of a quantifier of its kind is one quantifier, if each inner one has as many bindings. An
    /// operator that takes complements has a floor, at which it does not regroup.
    pub(super) fn regroups(&self, forall: bool) -> bool {
        let laws = match forall {
            true => self.forall.laws(),
            false => self.exists.laws(),
        };
        laws.regroups && !laws.wants_complements
    }

    /// Whether a literal as an operand differs from another formula with the same value: some operator takes
    /// complements, and a literal has an exact complement.
    pub(super) fn tells_literals_apart(&self) -> bool {
        self.and.laws().wants_complements
            || self.or.laws().wants_complements
            || self.forall.laws().wants_complements
            || self.exists.laws().wants_complements
    }

    /// `forall V. φ and ψ` is `(forall V. φ) and (forall V. ψ)`.
    pub(super) fn forall_splits_over_and(&self) -> bool {
        self.forall.laws().is_linear() && self.and.laws().adds
    }

    /// `exists V. φ or ψ` is `(exists V. φ) or (exists V. ψ)`.
    pub(super) fn exists_splits_over_or(&self) -> bool {
        let laws = self.exists.laws();
        laws.regroups && laws.or == Some(self.or)
    }

    /// A summand without the variables of an `exists` can be moved out of it. Only logs add up, so that this is log
    /// space.
    pub(super) fn and_distributes_over_exists(&self) -> bool {
        self.and.laws().adds && self.exists.laws().semiring.is_some()
    }
}
