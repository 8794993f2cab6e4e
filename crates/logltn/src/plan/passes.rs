//! The passes by name, and their results for each axiom, for people.

use std::fmt;

/// A pass of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Negation at the atoms where the semantics needs it; families, `all` and `any` written out.
    Normal,
    /// Quantifiers moved inward.
    Narrow,
    /// Parts that are computed once for all their places.
    Share,
    /// Variables of `exists` eliminated one after another.
    Eliminate,
    /// Guards become lists, atoms become rows of requests.
    Ground,
    /// What the engine runs.
    Lower,
}

impl Pass {
    /// All of them, in their order.
    pub const ALL: [Pass; 6] = [
        Pass::Normal,
        Pass::Narrow,
        Pass::Share,
        Pass::Eliminate,
        Pass::Ground,
        Pass::Lower,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Pass::Normal => "normal",
            Pass::Narrow => "narrow",
            Pass::Share => "share",
            Pass::Eliminate => "eliminate",
            Pass::Ground => "ground",
            Pass::Lower => "lower",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An axiom after each of the passes whose result is a formula.
pub(super) type Forms = Vec<String>;
