//! Random guards, as text.

use logltn::theory::{ColumnSort, SortKind};

use super::random_formula::{Local, Scope, application, term};
use super::rng::Rng;
use crate::reference::Num;

/// A guard over what is in scope; with `written_out`, only over what `for`, `all` and `any` bind.
pub fn guard(rng: &mut Rng, scope: &mut Scope, depth: usize, written_out: bool) -> String {
    // Hidden while the guard is made, if it may not look at them.
    let all = scope.locals.clone();
    if written_out {
        scope.locals.retain(|local| local.written_out);
    }
    let text = condition(rng, scope, depth, written_out);
    scope.locals = all;
    text
}

fn condition(rng: &mut Rng, scope: &mut Scope, depth: usize, written_out: bool) -> String {
    let bracketed = |rng: &mut Rng, scope: &mut Scope| {
        format!("({})", condition(rng, scope, depth - 1, written_out))
    };
    let kind = rng.below(if depth == 0 { 7 } else { 11 });
    let made = match kind {
        0 | 1 => comparison(rng, scope),
        2 => equation(rng, scope),
        3 => identity(rng, scope),
        4 => membership(rng, scope),
        5 => distance(rng, scope),
        6 => equation(rng, scope),
        7 => Some(format!("not {}", bracketed(rng, scope))),
        8 => {
            let (a, b) = (bracketed(rng, scope), bracketed(rng, scope));
            Some(format!("{a} and {b}"))
        }
        9 => {
            let (a, b) = (bracketed(rng, scope), bracketed(rng, scope));
            Some(format!("{a} or {b}"))
        }
        _ => Some(exists(rng, scope, depth, written_out)),
    };
    // With no variables to speak of: a guard that keeps all, or nothing.
    made.unwrap_or_else(|| format!("{} < {}", rng.between(-1, 1), rng.between(0, 3)))
}

/// The numbers in scope, by name.
fn number_names(rng: &mut Rng, scope: &Scope) -> Vec<String> {
    let is_number = |local: &&Local| match local.sort {
        ColumnSort::Int | ColumnSort::Real => true,
        ColumnSort::Sort(sort) => matches!(scope.signature.kind(sort), SortKind::Range(..)),
    };
    let constants = (scope.signature.constants.iter())
        .filter(|(_, sort)| matches!(scope.signature.kind(*sort), SortKind::Range(..)))
        .map(|(name, _)| name.clone());
    let params = scope.signature.params.iter().map(|(name, _)| name.clone());
    let locals = scope
        .locals
        .iter()
        .filter(is_number)
        .map(|l| l.name.clone());
    let says_number = |result: ColumnSort| match result {
        ColumnSort::Sort(sort) => matches!(scope.signature.kind(sort), SortKind::Range(..)),
        _ => true,
    };
    let applied = application(rng, scope, says_number, 2);
    (locals.chain(constants).chain(params).chain(applied)).collect()
}

fn number(rng: &mut Rng, scope: &Scope, depth: usize) -> String {
    let names = number_names(rng, scope);
    if names.is_empty() || rng.chance(0.2) {
        return rng.between(-2, 4).to_string();
    }
    let name = rng.pick(&names).clone();
    if depth == 0 || rng.chance(0.5) {
        return name;
    }
    let other = number(rng, scope, depth - 1);
    match rng.below(9) {
        0 => format!("{name} + {other}"),
        1 => format!("{name} - ({other})"),
        2 => format!("{name} * ({other})"),
        3 => format!("{name} / {}", rng.between(1, 3)),
        4 => format!("{name} % {}", rng.between(2, 3)),
        5 => format!("abs({name} - ({other}))"),
        6 => format!("min({name}, {other}, {})", rng.between(0, 2)),
        7 => format!("max({name}, {other})"),
        _ => format!("-({name})"),
    }
}

fn comparison(rng: &mut Rng, scope: &Scope) -> Option<String> {
    if number_names(rng, scope).is_empty() {
        return None;
    }
    let (a, b) = (number(rng, scope, 2), number(rng, scope, 1));
    let symbol = rng.pick(&["=", "!=", "<", "<=", ">", ">="]);
    Some(format!("{a} {symbol} {b}"))
}

/// `2*v1 + v2 - v3 = v4`: the guards that are worth an index.
fn equation(rng: &mut Rng, scope: &Scope) -> Option<String> {
    let names = number_names(rng, scope);
    if names.len() < 2 {
        return None;
    }
    let mut sum = rng.pick(&names).clone();
    for _ in 0..1 + rng.below(3) {
        let sign = rng.pick(&["+", "-"]);
        let name = rng.pick(&names);
        sum += &match rng.below(3) {
            0 => format!(" {sign} {}*{name}", rng.between(2, 3)),
            _ => format!(" {sign} {name}"),
        };
    }
    let right = if rng.chance(0.6) {
        rng.pick(&names).clone()
    } else {
        rng.between(-1, 5).to_string()
    };
    Some(format!("{sum} = {right}"))
}

/// `v1 = v2`, `v1 != label` of a sort that has no numbers.
fn identity(rng: &mut Rng, scope: &Scope) -> Option<String> {
    let individuals: Vec<(&str, _)> = (scope.locals.iter())
        .filter_map(|local| match local.sort {
            ColumnSort::Sort(sort) => Some((local.name.as_str(), sort)),
            _ => None,
        })
        .filter(|(_, sort)| !matches!(scope.signature.kind(*sort), SortKind::Range(..)))
        .collect();
    if individuals.is_empty() {
        return None;
    }
    let (_, sort) = *rng.pick(&individuals);
    let (one, other) = (term(rng, scope, sort, 2)?, term(rng, scope, sort, 2)?);
    Some(format!("{one} {} {other}", rng.pick(&["=", "!="])))
}

fn membership(rng: &mut Rng, scope: &Scope) -> Option<String> {
    if scope.signature.tables.is_empty() {
        return None;
    }
    let (table, columns) = rng.pick(&scope.signature.tables);
    let mut cells = Vec::new();
    for column in columns {
        cells.push(match column {
            ColumnSort::Int | ColumnSort::Real => number(rng, scope, 1),
            ColumnSort::Sort(sort) => term(rng, scope, *sort, 2)?,
        });
    }
    Some(format!("{table}({})", cells.join(", ")))
}

fn distance(rng: &mut Rng, scope: &Scope) -> Option<String> {
    let featured: Vec<String> = (scope.locals.iter())
        .map(|local| (local.name.clone(), local.sort))
        .chain((scope.signature.constants.iter()).map(|(n, s)| (n.clone(), ColumnSort::Sort(*s))))
        .filter(|(_, sort)| match sort {
            ColumnSort::Sort(sort) => scope.signature.kind(*sort) == SortKind::Data,
            _ => false,
        })
        .map(|(name, _)| name)
        .collect();
    let has_features = |result: ColumnSort| match result {
        ColumnSort::Sort(sort) => scope.signature.kind(sort) == SortKind::Data,
        _ => false,
    };
    let applied = application(rng, scope, has_features, 1);
    let featured: Vec<String> = featured.into_iter().chain(applied).collect();
    if featured.is_empty() {
        return None;
    }
    let (a, b) = (rng.pick(&featured).clone(), rng.pick(&featured).clone());
    let bound = match scope.signature.params.first() {
        Some((name, Num::Real(_))) if rng.chance(0.5) => name.clone(),
        _ => rng.pick(&["1", "1.5", "0.5"]).to_string(),
    };
    Some(format!(
        "dist({a}, {b}) {} {bound}",
        rng.pick(&["<", "<=", ">="])
    ))
}

fn exists(rng: &mut Rng, scope: &mut Scope, depth: usize, written_out: bool) -> String {
    let outer = scope.locals.len();
    let signature = scope.signature;
    let head = if !signature.tables.is_empty() && rng.chance(0.4) {
        let (table, columns) = rng.pick(&signature.tables);
        let variables: Vec<Local> = columns.iter().map(|&c| scope.fresh(c, true)).collect();
        let names: Vec<&str> = variables.iter().map(|v| v.name.as_str()).collect();
        let head = format!("({}) in {table}", names.join(", "));
        scope.locals.extend(variables);
        head
    } else {
        let sort = signature.any_sort(rng);
        let variable = scope.fresh(ColumnSort::Sort(sort), true);
        let head = format!("{}: {}", variable.name, signature.sorts[sort].0);
        scope.locals.push(variable);
        head
    };
    let inner = if rng.chance(0.3) {
        format!(" where {}", condition(rng, scope, 0, written_out))
    } else {
        String::new()
    };
    let body = condition(rng, scope, depth - 1, written_out);
    scope.locals.truncate(outer);
    format!("exists {head}{inner}. ({body})")
}
