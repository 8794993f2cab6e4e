//! Why operators cannot be put together.

use super::Semantics;
use crate::diagnostic::{Code, Diagnostic};
use crate::operators::{Domain, Key, Space};
use crate::suggest::did_you_mean;

pub(super) fn unknown_key(key: &str) -> Diagnostic {
    let what = format!("a semantics has no operator `{key}`");
    let known = || format!("the operators are {}", list(&Semantics::KEYS));
    let help = did_you_mean(key, Semantics::KEYS).unwrap_or_else(known);
    Diagnostic::error(Code::UnknownOperator, what).help(help)
}

pub(super) fn unknown_operator(key: Key, operator: &str) -> Diagnostic {
    let (names, key) = (key.every_name(), key.name());
    let what = format!("there is no operator `{operator}` for `{key}`");
    let known = format!("`{key}` can be {}", list(&names));
    Diagnostic::error(Code::UnknownOperator, what).help(match did_you_mean(operator, names) {
        Some(guess) => format!("{guess} {known}"),
        None => known,
    })
}

/// An operator that works in another space than the base. The partner is one that it does not mix with.
pub(super) fn mixed(semantics: &Semantics, key: Key, partner: Key) -> Diagnostic {
    let (base, space) = (semantics.name, semantics.space);
    let (operator, domain) = semantics.operator(key);
    let (other, other_domain) = semantics.operator(partner);
    let (names, key, partner) = (list(&key.allowed(space)), key.name(), partner.name());
    let what = format!(
        "`{key} = {operator}` {domain}, but `{partner} = {other}` of `{base}` {other_domain}: they do not mix"
    );
    let elsewhere = elsewhere(space, domain);
    Diagnostic::error(Code::OperatorsDoNotMix, what).help(format!(
        "on top of `{base}`, `{key}` can be {names}; or start from another base, such as `{elsewhere}`"
    ))
}

/// `implies` or `not` in log space, where both are negation normal form.
pub(super) fn normal_form(key: &str) -> Diagnostic {
    let what = format!(
        "`{key}` cannot be replaced in log space, where negation is pushed to the atoms and `a -> b` means `not a or b`"
    );
    Diagnostic::error(Code::OperatorsDoNotMix, what).help(format!(
        "remove `{key}`, or start from a base of truth degrees, such as `stable`"
    ))
}

/// Replacing an operator of a semantics with exact probabilities.
pub(super) fn exact(key: &str) -> Diagnostic {
    let what = format!(
        "`{key}` cannot be replaced in `probability`, where formulas have exact probabilities and no operators"
    );
    Diagnostic::error(Code::OperatorsDoNotMix, what).help(format!(
        "remove `{key}`, or start from a base that has operators, such as `logltn`"
    ))
}

/// ε outside [0, 1).
pub(super) fn stable_eps(value: f64) -> Diagnostic {
    let what = format!("`stable_eps` must be at least 0 and less than 1, not {value}");
    Diagnostic::error(Code::ValueOutOfRange, what).help("0 switches the projections off")
}

/// A loss of 1 − sat where sat is a log.
pub(super) fn loss_of_log() -> Diagnostic {
    let what = "a loss of 1 − sat needs truth degrees, but sat is a log";
    Diagnostic::error(Code::OperatorsDoNotMix, what).help("use `Loss::MinusSat`")
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
