//! Elimination for people: the formula that it amounts to.

use super::network::*;
use super::order::Clique;
use super::{Builder, Factor, Member};
use crate::guard::Scope;
use crate::theory::VarId;

impl Builder<'_> {
    /// `exists d1, d3, c1 where d1 + d3 + c1 = n div 10. … and (exists d2, d4 where …)`
    pub(super) fn elimination_text(
        &self,
        network: &Network,
        turns: &[Clique],
        factors: &[Factor],
        common: &[Member],
    ) -> String {
        let member = |(formula, negate): &Member| {
            let text = self.theory().formula_text(self.variables, formula);
            if *negate {
                format!("not ({text})")
            } else {
                text
            }
        };
        let mut texts: Vec<String> = Vec::new();
        for turn in turns {
            let mut text = String::from("exists ");
            let names = turn
                .eliminated
                .iter()
                .map(|&v| network.variables[v].name.as_str());
            text += &names.collect::<Vec<_>>().join(", ");
            let relations: Vec<String> = (turn.relations.iter())
                .map(|&r| self.relation_text(network, &network.relations[r]))
                .collect();
            if !relations.is_empty() {
                text += " where ";
                text += &relations.join(" and ");
            }
            let own = turn
                .factors
                .iter()
                .flat_map(|&f| factors[f].members.iter().map(member));
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

    fn relation_text(&self, network: &Network, relation: &Relation) -> String {
        let equation = match &relation.kind {
            RelationKind::Guard(guard) => return self.theory().guard_text(self.variables, guard),
            RelationKind::Equation(equation) => equation,
        };
        let left = equation.terms.iter();
        let left = sum(
            left.map(|&(v, c)| (network.variables[v].name.as_str(), c)),
            0,
        );
        let right = &equation.right;
        let name = |scope: Scope<'_>, v: VarId| scope.variables[v.index()].name.clone();
        let names: Vec<(String, i64)> = (right.outer.iter())
            .map(|&(v, c)| (name(self.guard_scope(), v), c))
            .collect();
        let mut text = sum(names.iter().map(|(n, c)| (n.as_str(), *c)), right.constant);
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
