//! Truth degrees and their logs: which of them a semantics computes with, and which an operator takes and gives.

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

/// What training minimises, given the satisfaction of all axioms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// −sat, where sat is a log.
    MinusSat,
    /// 1 − sat, where sat is a truth degree.
    OneMinusSat,
}

impl Loss {
    /// The loss, given sat.
    pub(crate) fn of(self, sat: f64) -> f64 {
        match self {
            Loss::MinusSat => -sat,
            Loss::OneMinusSat => 1.0 - sat,
        }
    }

    /// Its derivative by sat: both fall as sat rises.
    pub(crate) fn slope(self) -> f64 {
        match self {
            Loss::MinusSat | Loss::OneMinusSat => -1.0,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::MinusSat => "−sat",
            Loss::OneMinusSat => "1 − sat",
        })
    }
}

/// What an operator takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Domain {
    Logs,
    /// Commutes with the log, or means something in each.
    Either,
    Truths,
    TruthsToLogs,
}

impl Domain {
    /// Whether it fits where formulas' values are logs, and where they are truth degrees.
    pub fn fits(self, logs: bool) -> bool {
        match self {
            Domain::Logs => logs,
            Domain::Either => true,
            Domain::Truths => !logs,
            Domain::TruthsToLogs => false,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Domain::Logs => "works on logs",
            Domain::Either => "does not change between truth degrees and logs",
            Domain::Truths => "works on truth degrees",
            Domain::TruthsToLogs => "turns truth degrees into logs",
        })
    }
}
