//! The places of a semantics that an operator can fill, by the names that a manifest uses.

use super::space::{Domain, Space};
use super::{ALL, Entry};

/// A place of a semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    And,
    Or,
    Implies,
    Not,
    Forall,
    Exists,
    OverAxioms,
}

impl Key {
    pub const ALL: [Key; 7] = [
        Key::And,
        Key::Or,
        Key::Implies,
        Key::Not,
        Key::Forall,
        Key::Exists,
        Key::OverAxioms,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Key::And => "and",
            Key::Or => "or",
            Key::Implies => "implies",
            Key::Not => "not",
            Key::Forall => "forall",
            Key::Exists => "exists",
            Key::OverAxioms => "over_axioms",
        }
    }

    pub fn named(name: &str) -> Option<Key> {
        Key::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The role that its operator plays, as in the list of operators.
    pub const fn role(self) -> &'static str {
        match self {
            Key::And | Key::Or | Key::Implies | Key::Not => self.name(),
            Key::Forall | Key::Exists | Key::OverAxioms => "aggregator",
        }
    }

    /// In log space both are negation normal form, and nothing else can be chosen.
    pub const fn is_normal_form_of_logs(self) -> bool {
        matches!(self, Key::Implies | Key::Not)
    }

    /// Whether an operator of this domain can be used here.
    pub fn fits(self, space: Space, domain: Domain) -> bool {
        match (space, self) {
            (Space::Log, _) | (Space::Mixed, Key::OverAxioms) => domain.fits(true),
            (Space::Mixed, Key::Forall) => domain == Domain::TruthsToLogs,
            (Space::Truth | Space::Mixed, _) => domain.fits(false),
        }
    }

    /// The operators that can be used here in `space`.
    pub fn allowed(self, space: Space) -> Vec<&'static str> {
        self.operators(|entry| self.fits(space, entry.domain))
    }

    /// The operators that a manifest can put here, in some space.
    pub fn every_name(self) -> Vec<&'static str> {
        self.operators(|entry| !(self.is_normal_form_of_logs() && entry.domain == Domain::Logs))
    }

    fn operators(self, fits: impl Fn(&Entry) -> bool) -> Vec<&'static str> {
        let mut found: Vec<&Entry> = (ALL.iter())
            .filter(|entry| entry.roles.contains(&self.role()) && fits(entry))
            .collect();
        // Connectives of logs first: they are the default's. Aggregators are listed from plain to special.
        if self.role() == self.name() {
            found.sort_by_key(|entry| entry.domain);
        }
        found.iter().map(|entry| entry.name).collect()
    }
}
