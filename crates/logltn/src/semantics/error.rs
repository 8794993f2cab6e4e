//! Why operators cannot be put together.

use std::fmt;

use crate::diagnostic::Code;
use crate::operators::{self, Domain, Key, Space};
use crate::suggest::did_you_mean;

use super::Semantics;

/// Why operators cannot be put together.
#[derive(Clone, Debug, PartialEq)]
pub enum SemanticsError {
    /// There is no operator of this kind to replace.
    UnknownKey {
        /// As given.
        key: String,
    },
    /// No operator of this kind has that name.
    UnknownOperator {
        /// One of [`Semantics::KEYS`].
        key: &'static str,
        /// As given.
        operator: String,
    },
    /// An operator that works in another space than the base.
    Mixed {
        /// The base's name.
        base: &'static str,
        /// The base's space.
        space: Space,
        /// The key of the operator that does not fit.
        key: &'static str,
        /// Its name.
        operator: &'static str,
        /// Key and name of one that it does not mix with.
        partner: (&'static str, &'static str),
    },
    /// `implies` or `not` in log space, where both are negation normal form.
    NegationNormalForm {
        /// `implies` or `not`.
        key: &'static str,
    },
    /// Replacing an operator of a semantics with exact probabilities.
    Exact {
        /// One of [`Semantics::KEYS`].
        key: &'static str,
    },
    /// ε outside [0, 1).
    StableEps {
        /// As given.
        value: f64,
    },
    /// A loss of 1 − sat where sat is a log.
    LossOfLog,
}

impl SemanticsError {
    /// The kind of mistake.
    pub fn code(&self) -> Code {
        match self {
            SemanticsError::UnknownKey { .. } | SemanticsError::UnknownOperator { .. } => {
                Code::UnknownOperator
            }
            SemanticsError::Mixed { .. }
            | SemanticsError::NegationNormalForm { .. }
            | SemanticsError::Exact { .. }
            | SemanticsError::LossOfLog => Code::OperatorsDoNotMix,
            SemanticsError::StableEps { .. } => Code::ValueOutOfRange,
        }
    }

    /// How to fix it, if there is advice.
    pub fn help(&self) -> Option<String> {
        match self {
            SemanticsError::UnknownKey { key } => did_you_mean(key, Semantics::KEYS)
                .or_else(|| Some(format!("the operators are {}", list(&Semantics::KEYS)))),
            SemanticsError::UnknownOperator { key, operator } => {
                let names = Semantics::choices(key);
                let known = format!("`{key}` can be {}", list(&names));
                Some(match did_you_mean(operator, names) {
                    Some(guess) => format!("{guess} {known}"),
                    None => known,
                })
            }
            SemanticsError::Mixed {
                space,
                key,
                base,
                operator,
                ..
            } => {
                let names = Key::named(key).map(|key| key.allowed(*space));
                let names = list(&names.unwrap_or_default());
                let elsewhere =
                    domain(operator).map_or("logltn", |domain| elsewhere(*space, domain));
                Some(format!(
                    "on top of `{base}`, `{key}` can be {names}; or start from another base, such as `{elsewhere}`"
                ))
            }
            SemanticsError::NegationNormalForm { key } => Some(format!(
                "remove `{key}`, or start from a base of truth degrees, such as `stable`"
            )),
            SemanticsError::Exact { key } => Some(format!(
                "remove `{key}`, or start from a base that has operators, such as `logltn`"
            )),
            SemanticsError::StableEps { .. } => Some("0 switches the projections off".into()),
            SemanticsError::LossOfLog => Some("use `Loss::MinusSat`".into()),
        }
    }
}

/// What the operator of that name takes and gives.
fn domain(operator: &str) -> Option<Domain> {
    let found = operators::ALL.iter().find(|entry| entry.name == operator);
    found.map(|entry| entry.domain)
}

/// A base on top of which an operator of this domain would fit, if it does not in `space`.
fn elsewhere(space: Space, domain: Domain) -> &'static str {
    match (domain, space) {
        (Domain::TruthsToLogs, Space::Log | Space::Truth) => "prod",
        (Domain::TruthsToLogs, Space::Mixed) | (Domain::Either | Domain::Truths, _) => "stable",
        (Domain::Logs, _) => "logltn",
    }
}

/// `` `a`, `b` or `c` ``.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

impl fmt::Display for SemanticsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SemanticsError::UnknownKey { key } => write!(f, "a semantics has no operator `{key}`"),
            SemanticsError::UnknownOperator { key, operator } => {
                write!(f, "there is no operator `{operator}` for `{key}`")
            }
            SemanticsError::Mixed {
                base,
                key,
                operator,
                partner: (partner_key, partner),
                ..
            } => write!(
                f,
                "`{key} = {operator}` {}, but `{partner_key} = {partner}` of `{base}` {}: they do not mix",
                domain(operator).map_or(String::new(), |domain| domain.to_string()),
                domain(partner).map_or(String::new(), |domain| domain.to_string()),
            ),
            SemanticsError::NegationNormalForm { key } => write!(
                f,
                "`{key}` cannot be replaced in log space, where negation is pushed to the atoms and \
                 `a -> b` means `not a or b`"
            ),
            SemanticsError::Exact { key } => write!(
                f,
                "`{key}` cannot be replaced in `probability`, where formulas have exact probabilities and no operators"
            ),
            SemanticsError::StableEps { value } => {
                write!(
                    f,
                    "`stable_eps` must be at least 0 and less than 1, not {value}"
                )
            }
            SemanticsError::LossOfLog => {
                write!(f, "a loss of 1 − sat needs truth degrees, but sat is a log")
            }
        }
    }
}

impl std::error::Error for SemanticsError {}
