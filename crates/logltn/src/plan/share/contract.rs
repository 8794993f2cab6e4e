//! Contractions. In log space `exists y. φ(x, y) and ψ(y, z)` is a product of two matrices, of exponentials or of greatest sums:
//! both sides become strata, and so does the product, which the engine takes. A guard whose conditions belong to one side or
//! the other leaves out some of its tuples; a side may be nothing but conditions. Under a linear operator `forall y where G(x, y).
//! φ(y, z)` is a product with the matrix of the guard. An `exists` over several variables
//! is first cut into one for each, in the order in which a sum of products is cheapest, if the inner ones then read
//! fewer variables than are bound around them.

use super::key::Keys;
use crate::guard::{Scope, conjuncts, free_variables};
use crate::operators::Space;
use crate::plan::cost::work;
use crate::plan::eliminate::never_empty;
use crate::plan::normal::{Kind, Normal};
use crate::semantics::Semantics;
use crate::theory::*;

/// About how many operations an addition of a product of matrices is worth, forward and backward.
const PER_PRODUCT: f64 = 0.4;

/// The two sides of a contraction.
pub(super) struct Sides {
    pub sides: [Side; 2],
    /// Whether it is a linear `forall`, whose second side is its guard.
    pub linear: bool,
    /// The total cost.
    pub cost: f64,
}

pub(super) struct Side {
    /// The variables that it reads, with the summed one last.
    pub variables: Vec<VarId>,
    pub formula: Normal,
    /// Which of their individuals take part.
    pub guard: Option<Guard>,
}

/// Members of a conjunction, and conditions of its guard, that outer variables tie together.
#[derive(Default)]
struct Tied<'n> {
    outer: Vec<VarId>,
    members: Vec<&'n Normal>,
    conditions: Vec<&'n Guard>,
}

impl<'n> Tied<'n> {
    fn join(&mut self, other: Tied<'n>) {
        self.outer.extend(other.outer);
        self.outer.sort_unstable();
        self.outer.dedup();
        self.members.extend(other.members);
        self.conditions.extend(other.conditions);
    }
}

impl Sides {
    /// The sides of an `exists`, if it is a contraction.
    pub fn of(scope: Scope, semantics: &Semantics, normal: &Normal) -> Option<Sides> {
        let Kind::Quantifier {
            forall,
            binding: Binding::Sorts(variables),
            guard,
            body,
        } = &normal.kind
        else {
            return None;
        };
        let [inner] = variables[..] else { return None };
        let conditions = guard.as_deref().map(conjuncts).unwrap_or_default();
        if !is_whole(scope, inner) || conditions.iter().any(|g| scope.may_fail(g)) {
            return None;
        }
        if *forall {
            let guard = guard.as_deref()?;
            return Sides::linear(scope, semantics, normal, (inner, body, guard));
        }
        if !semantics.and_distributes_over_exists() {
            return None;
        }
        let members = body.conjuncts().into_iter().map(|member| Tied {
            outer: free(scope, member),
            members: vec![member],
            ..Tied::default()
        });
        let conditions = conditions.into_iter().map(|condition| Tied {
            outer: free_variables(condition),
            conditions: vec![condition],
            ..Tied::default()
        });
        let (mut groups, mut others): (Vec<Tied>, Tied) = Default::default();
        for mut own in members.chain(conditions) {
            own.outer.retain(|v| *v != inner);
            if own.outer.is_empty() {
                others.join(own);
                continue;
            }
            let (tied, rest): (Vec<_>, Vec<_>) = (groups.into_iter())
                .partition(|group| group.outer.iter().any(|v| own.outer.contains(v)));
            groups = rest;
            let mut all = Tied::default();
            tied.into_iter().for_each(|group| all.join(group));
            all.join(own);
            groups.push(all);
        }
        let size = |variables: &[VarId]| -> f64 {
            let sizes = variables.iter().map(|v| f64::from(scope.size_of(*v)));
            sizes.product()
        };
        groups.sort_by(|a, b| size(&b.outer).total_cmp(&size(&a.outer)));
        let mut sides: [Tied; 2] = Default::default();
        for group in groups {
            let smaller = usize::from(size(&sides[1].outer) < size(&sides[0].outer));
            let at = usize::from(!sides[0].outer.is_empty() && smaller == 1);
            sides[at].join(group);
        }
        let smaller = usize::from(size(&sides[1].outer) < size(&sides[0].outer));
        sides[smaller].join(others);
        let reads = |m: &&Normal| free(scope, m).contains(&inner);
        let asks = |g: &&Guard| free_variables(g).contains(&inner);
        let whole = |side: &Tied| {
            let all = side.outer.iter().all(|v| is_whole(scope, *v));
            let ties = side.members.iter().any(reads) || side.conditions.iter().any(asks);
            !side.outer.is_empty() && all && ties
        };
        let formula = |side: &Tied| side.members.iter().any(reads);
        if !sides.iter().all(whole) || !sides.iter().any(formula) {
            return None;
        }
        let terms = size(&[inner]);
        let table = |side: &Tied| {
            let works = side.members.iter().map(|m| work(&scope, m)).sum::<f64>();
            size(&side.outer) * terms * (1.5 * works + 8.0)
        };
        let places = size(&sides[0].outer) * size(&sides[1].outer);
        let cost = places * (4.0 + PER_PRODUCT * terms) + sides.iter().map(table).sum::<f64>();
        let sides = sides.map(|side| {
            let mut variables = side.outer;
            variables.push(inner);
            let members = side.members.into_iter().cloned().collect();
            let conditions: Vec<Guard> = side.conditions.into_iter().cloned().collect();
            Side {
                variables,
                formula: Normal::connective(true, members, normal.span),
                guard: (!conditions.is_empty()).then_some(Guard {
                    kind: GuardKind::And(conditions),
                    span: normal.span,
                }),
            }
        });
        let linear = false;
        Some(Sides {
            sides,
            linear,
            cost,
        })
    }

    /// A `forall` under which the formula and the guard read different outer variables.
    fn linear(
        scope: Scope,
        semantics: &Semantics,
        normal: &Normal,
        (inner, body, guard): (VarId, &Normal, &Guard),
    ) -> Option<Sides> {
        let of = [free(scope, body), free_variables(guard)];
        let [left, right] = of.each_ref().map(|read| {
            let outer = read.iter().copied().filter(|v| *v != inner);
            let mut outer: Vec<VarId> = outer.collect();
            outer.sort_unstable();
            outer.dedup();
            outer
        });
        let whole = |v: &VarId| is_whole(scope, *v);
        if !semantics.forall.laws().is_linear()
            || semantics.space == Space::Mixed
            || !of.iter().all(|read| read.contains(&inner))
            || left.is_empty()
            || right.is_empty()
            || left.iter().any(|v| right.contains(v))
            || !left.iter().chain(&right).all(whole)
        {
            return None;
        }
        let size = |variables: &[VarId]| -> f64 {
            let sizes = variables.iter().map(|v| f64::from(scope.size_of(*v)));
            sizes.product()
        };
        let (rows, columns, terms) = (size(&left), size(&right), size(&[inner]));
        let table = rows * terms * (1.5 * work(&scope, body) + 8.0) + columns * terms;
        let side = |outer: &[VarId], formula: Normal, guard: Option<Guard>| Side {
            variables: [outer, &[inner]].concat(),
            formula,
            guard,
        };
        let kept = Normal::new(Kind::Constant(true), normal.span);
        Some(Sides {
            sides: [
                side(&left, body.clone(), None),
                side(&right, kept, Some(guard.clone())),
            ],
            linear: true,
            cost: rows * columns * (4.0 + PER_PRODUCT * terms) + table,
        })
    }

    /// The outer variables of both, in their order.
    pub fn parameters(&self) -> Vec<VarId> {
        let outer = |side: &Side| side.variables[..side.variables.len() - 1].to_vec();
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
    outer.groundings.clone_from(&normal.groundings);
    Some(outer)
}
