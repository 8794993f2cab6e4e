//! Members of a conjunction that read fewer variables than the others, as a conjunction of their own, which can then be computed
//! once for each binding of these. A sum of sums is a sum.

use super::contract::free;
use crate::guard::Scope;
use crate::plan::cost::work;
use crate::plan::normal::{Kind, Normal};
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::theory::*;

/// The least work of members that are worth a table, and how many times the bindings must be more than those of the members.
const LEAST_WORK: f64 = 6.0;
const LEAST_TIMES: f64 = 4.0;

/// A conjunction with those of its members grouped that read few variables and take the most work.
pub(super) fn grouped(scope: Scope, semantics: &Semantics, normal: &Normal) -> Option<Normal> {
    let members = summands(semantics, normal)?;
    if members.len() < 3 {
        return None;
    }
    let read: Vec<Vec<VarId>> = members.iter().map(|m| free(scope, m)).collect();
    let mut all = read.concat();
    all.sort_unstable();
    all.dedup();
    let size = |variables: &[VarId]| -> f64 {
        let sizes = variables.iter().map(|v| f64::from(scope.size_of(*v)));
        sizes.product()
    };
    let inside = |own: &[VarId], of: &[VarId]| own.iter().all(|v| of.contains(v));
    let of = |variables: &[VarId]| -> f64 {
        let own = members.iter().zip(&read);
        let own = own.filter(|(_, read)| inside(read, variables));
        own.map(|(m, _)| work(&scope, m)).sum()
    };
    let few = |variables: &&Vec<VarId>| LEAST_TIMES * size(variables) <= size(&all);
    let best = (read.iter().filter(few)).max_by(|a, b| of(a).total_cmp(&of(b)))?;
    if of(best) < LEAST_WORK {
        return None;
    }
    let (own, others): (Vec<_>, Vec<_>) =
        (members.iter().zip(&read)).partition(|(_, read)| inside(read, best));
    if own.len() < 2 {
        return None;
    }
    let clones = |of: Vec<(&Normal, &Vec<VarId>)>| of.into_iter().map(|(m, _)| m.clone()).collect();
    let mut members: Vec<Normal> = clones(others);
    members.push(Normal::connective(true, clones(own), normal.span));
    Some(Normal::connective(true, members, normal.span))
}

/// A conjunction in a conjunction, or a disjunction in a disjunction, becomes part of it, where that is the same.
pub(super) fn flatten(semantics: &Semantics, normal: &mut Normal) {
    deep(|| normal.children_mut().for_each(|c| flatten(semantics, c)));
    let joins = |normal: &Normal| match normal.kind {
        _ if normal.equivalence || normal.groundings.is_some() => None,
        Kind::And(_) => semantics.and.laws().adds.then_some(true),
        Kind::Or(_) => semantics.or.laws().associative.then_some(false),
        _ => None,
    };
    let Some(own) = joins(normal) else { return };
    if let Kind::And(members) | Kind::Or(members) = &mut normal.kind {
        let mut joined = false;
        for member in std::mem::take(members) {
            let same = joins(&member) == Some(own);
            match member.kind {
                Kind::And(inner) | Kind::Or(inner) if same => {
                    members.extend(inner);
                    joined = true;
                }
                kind => members.push(Normal { kind, ..member }),
            }
        }
        if joined {
            // In the order of the text again: of several empty `exists` the first is named.
            members.sort_by_key(|member| member.span.start);
        }
    }
}

/// The members of a conjunction whose value is their sum.
fn summands<'n>(semantics: &Semantics, normal: &'n Normal) -> Option<&'n [Normal]> {
    match &normal.kind {
        Kind::And(members)
            if semantics.and.laws().adds && !normal.equivalence && normal.groundings.is_none() =>
        {
            Some(members)
        }
        _ => None,
    }
}
