//! Elimination as text: the equivalent formula.

use super::network::*;
use super::order::Clique;
use super::{Group, Normal};
use crate::guard::Scope;

/// `exists d1, d3, c1 where d1 + d3 + c1 = n div 10. … and (exists d2, d4 where …)`
pub(super) fn text(
    scope: Scope,
    network: &Network,
    turns: &[Clique],
    groups: &[Group],
    common: &[&Normal],
) -> String {
    let member = |m: &&Normal| scope.theory().normal_text(scope.variables, m);
    let mut texts: Vec<String> = Vec::new();
    for turn in turns {
        let mut text = String::from("exists ");
        let names = turn
            .eliminated
            .iter()
            .map(|&v| network.variables[v].name.as_str());
        text += &names.collect::<Vec<_>>().join(", ");
        let relations: Vec<String> = (turn.relations.iter())
            .map(|&r| relation_text(scope, network, &network.relations[r]))
            .collect();
        if !relations.is_empty() {
            text += " where ";
            text += &relations.join(" and ");
        }
        let own = turn
            .factors
            .iter()
            .flat_map(|&f| groups[f].members.iter().map(member));
        let children = turn.children.iter().map(|&c| format!("({})", texts[c]));
        let parts: Vec<String> = own.chain(children).collect();
        text += ". ";
        text += if parts.is_empty() { "true" } else { "" };
        text += &parts.join(" and ");
        texts.push(text);
    }
    let roots: Vec<&String> = (turns.iter().zip(&texts))
        .filter(|(turn, _)| turn.out.is_empty())
        .map(|(_, text)| text)
        .collect();
    let mut parts: Vec<String> = common.iter().map(member).collect();
    match (roots.as_slice(), parts.is_empty()) {
        ([only], true) => return (*only).clone(),
        _ => parts.extend(roots.iter().map(|r| format!("({r})"))),
    }
    parts.join(" and ")
}

fn relation_text(scope: Scope, network: &Network, relation: &Relation) -> String {
    let equation = match &relation.kind {
        RelationKind::Guard(guard) => return scope.theory().guard_text(scope.variables, guard),
        RelationKind::Equation(equation) => equation,
    };
    let left = equation.terms.iter();
    let left = sum(
        left.map(|&(v, c)| (network.variables[v].name.as_str(), c)),
        0,
    );
    let right = &equation.right;
    let names = right.outer.iter();
    let names = names.map(|&(v, c)| (scope.variables[v.index()].name.as_str(), c));
    let mut text = sum(names.clone(), right.constant);
    if names.len() + usize::from(right.constant != 0) > 1
        && (right.over > 1 || right.modulus.is_some())
    {
        text = format!("({text})");
    }
    if right.over > 1 {
        text += &format!(" div {}", right.over);
    }
    if let Some(modulus) = right.modulus {
        text += &format!(" mod {modulus}");
    }
    format!("{left} = {text}")
}

/// `10*a + b - 3`
fn sum<'n>(terms: impl Iterator<Item = (&'n str, i64)>, constant: i64) -> String {
    let mut out = String::new();
    let parts = terms.map(|(name, c)| match c.unsigned_abs() {
        1 => (name.to_string(), c < 0),
        n => (format!("{n}*{name}"), c < 0),
    });
    let constant = (constant != 0).then(|| (constant.unsigned_abs().to_string(), constant < 0));
    for (i, (part, negative)) in parts.chain(constant).enumerate() {
        out += match (i, negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        out += &part;
    }
    match out.is_empty() {
        true => "0".to_string(),
        false => out,
    }
}
