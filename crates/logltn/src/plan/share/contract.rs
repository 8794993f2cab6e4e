//! Contractions. In log space `exists y. φ(x, y) and ψ(y, z)` is a product of two matrices, of exponentials or of greatest sums:
//! both sides become strata, and so does the product, which the engine takes. An `exists` over several variables
//! is first cut into one for each, in the order in which a sum of products is cheapest, if the inner ones then read
//! fewer variables than are bound around them.

use super::key::Keys;
use crate::guard::Scope;
use crate::plan::cost::work;
use crate::plan::eliminate::never_empty;
use crate::plan::normal::{Kind, Normal};
use crate::semantics::Semantics;
use crate::theory::*;

/// About how many operations an addition of a product of matrices is worth, forward and backward.
const PER_PRODUCT: f64 = 0.4;

/// The two sides of a contraction.
pub(super) struct Sides {
    /// For each side: the variables that it reads, with the summed one last; and its formula.
    pub sides: [(Vec<VarId>, Normal); 2],
    /// The total cost.
    pub cost: f64,
}

impl Sides {
    /// The sides of an `exists`, if it is a contraction.
    pub fn of(scope: Scope, semantics: &Semantics, normal: &Normal) -> Option<Sides> {
        let Kind::Quantifier {
            forall: false,
            binding: Binding::Sorts(variables),
            guard: None,
            body,
        } = &normal.kind
        else {
            return None;
        };
        let [inner] = variables[..] else { return None };
        if !semantics.and_distributes_over_exists() || !is_whole(scope, inner) {
            return None;
        }
        let mut groups: Vec<(Vec<VarId>, Vec<&Normal>)> = Vec::new();
        let mut others = Vec::new();
        for member in body.conjuncts() {
            let mut own = free(scope, member);
            own.retain(|v| *v != inner);
            if own.is_empty() {
                others.push(member);
                continue;
            }
            let (tied, rest): (Vec<_>, Vec<_>) = (groups.into_iter())
                .partition(|(variables, _)| variables.iter().any(|v| own.contains(v)));
            groups = rest;
            let mut members = Vec::new();
            for (variables, more) in tied {
                own.extend(variables);
                members.extend(more);
            }
            own.sort_unstable();
            own.dedup();
            members.push(member);
            groups.push((own, members));
        }
        let size = |variables: &[VarId]| -> f64 {
            let sizes = variables.iter().map(|v| f64::from(scope.size_of(*v)));
            sizes.product()
        };
        groups.sort_by(|a, b| size(&b.0).total_cmp(&size(&a.0)));
        let mut sides: [(Vec<VarId>, Vec<&Normal>); 2] = Default::default();
        for (variables, members) in groups {
            let smaller = usize::from(size(&sides[1].0) < size(&sides[0].0));
            let at = usize::from(!sides[0].0.is_empty() && smaller == 1);
            sides[at].0.extend(variables);
            sides[at].1.extend(members);
        }
        let smaller = usize::from(size(&sides[1].0) < size(&sides[0].0));
        sides[smaller].1.extend(others);
        let reads = |m: &&Normal| free(scope, m).contains(&inner);
        let whole = |side: &(Vec<VarId>, Vec<&Normal>)| {
            let (variables, members) = side;
            let all = variables.iter().all(|v| is_whole(scope, *v));
            !variables.is_empty() && all && members.iter().any(reads)
        };
        if !sides.iter().all(whole) {
            return None;
        }
        let terms = size(&[inner]);
        let table = |(variables, members): &(Vec<VarId>, Vec<&Normal>)| {
            let works = members.iter().map(|m| work(&scope, m)).sum::<f64>();
            size(variables) * terms * (1.5 * works + 8.0)
        };
        let places = size(&sides[0].0) * size(&sides[1].0);
        let cost = places * (4.0 + PER_PRODUCT * terms) + sides.iter().map(table).sum::<f64>();
        let sides = sides.map(|(mut variables, members)| {
            variables.push(inner);
            let members = members.into_iter().cloned().collect();
            (variables, Normal::connective(true, members, normal.span))
        });
        Some(Sides { sides, cost })
    }

    /// The outer variables of both, in their order.
    pub fn parameters(&self) -> Vec<VarId> {
        let outer =
            |(variables, _): &(Vec<VarId>, Normal)| variables[..variables.len() - 1].to_vec();
        self.sides.iter().flat_map(outer).collect()
    }
}

/// Whether a variable's individuals are all that its sort can name.
fn is_whole(scope: Scope, variable: VarId) -> bool {
    match scope.variables[variable.index()].sort {
        ColumnSort::Sort(sort) => {
            let size = scope.data.size(sort);
            size > 0 && scope.data.extent(sort) == size
        }
        ColumnSort::Int | ColumnSort::Real => false,
    }
}

pub(super) fn free(scope: Scope, normal: &Normal) -> Vec<VarId> {
    let mut keys = Keys::new(scope);
    keys.normal(normal);
    keys.free()
}

/// The fewest additions that a product of matrices is worth.
const LEAST_PRODUCT: f64 = 40_000.0;

/// Rewrites an `exists` over several variables as one over fewer, with an `exists` over the first eliminated variable
/// inside. `outside` are the variables bound around it; the inner formula must leave out at least one of them, or be a
/// product of matrices.
pub(super) fn nested(
    scope: Scope,
    semantics: &Semantics,
    outside: &[VarId],
    normal: &Normal,
    always: bool,
) -> Option<Normal> {
    let Kind::Quantifier {
        forall: false,
        binding: Binding::Sorts(variables),
        guard: None,
        body,
    } = &normal.kind
    else {
        return None;
    };
    let size = |v: &VarId| f64::from(scope.size_of(*v));
    if variables.len() < 2
        || !semantics.and_distributes_over_exists()
        || variables.iter().any(|v| size(v) == 0.0)
        // An empty `exists` inside is counted for each binding around it.
        || !never_empty(scope, body)
    {
        return None;
    }
    let members: Vec<(Vec<VarId>, &Normal)> = (body.conjuncts().into_iter())
        .map(|member| (free(scope, member), member))
        .collect();
    // The variables that are read together with one that is eliminated.
    let read = |gone: &VarId| {
        let mut read = Vec::new();
        for (own, _) in members.iter().filter(|(own, _)| own.contains(gone)) {
            read.extend(own);
        }
        read.sort_unstable();
        read.dedup();
        read
    };
    let cost = |v: &VarId| read(v).iter().map(size).product::<f64>();
    let first = (variables.iter()).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let read = read(first);
    let touches = |(own, _): &&(Vec<VarId>, &Normal)| own.contains(first);
    let touched = members.iter().filter(touches).count();
    if touched == 0 || touched == members.len() {
        return None;
    }
    let quantifier = |variables: Vec<VarId>, members: Vec<Normal>| {
        let kind = Kind::Quantifier {
            forall: false,
            binding: Binding::Sorts(variables),
            guard: None,
            body: Box::new(Normal::connective(true, members, normal.span)),
        };
        Normal::new(kind, normal.span)
    };
    let of = |inside: bool| {
        let own = (members.iter()).filter(|m| touches(m) == inside);
        own.map(|(_, m)| (*m).clone()).collect::<Vec<_>>()
    };
    let inner = quantifier(vec![*first], of(true));
    let large = always || cost(first) >= LEAST_PRODUCT;
    let is_product = || large && Sides::of(scope, semantics, &inner).is_some();
    if outside.iter().all(|v| read.contains(v)) && !is_product() {
        return None;
    }
    let mut rest = of(false);
    rest.push(inner);
    let left = variables.iter().copied().filter(|v| v != first).collect();
    let mut outer = quantifier(left, rest);
    outer.groundings = normal.groundings;
    Some(outer)
}
