//! Narrower quantifiers: each part of a body under only those variables that it reads.
//!
//! - `exists x, y. P(x) or Q(y)` is `(exists x. P(x)) or (exists y. Q(y))`, if `or` and `exists` are the same operator,
//!   which regroups: LogMeanExp or max;
//! - `forall x, y. P(x) and Q(y)` is `(forall x. P(x)) and (forall y. Q(y))`, if `forall` is linear and `and` adds: the
//!   mean;
//! - `exists x, y. P(x) and Q(y) and R` is `(exists x. P(x)) and (exists y. Q(y)) and R`, in log space, where sums
//!   distribute over LogMeanExp, LogSumExp and max;
//! - a quantifier whose variables its body does not read is the body, if it is idempotent: LogMeanExp, mean, max, min;
//! - `forall V where G. φ and ψ` under the mean or the sum is `(forall V where G. φ) and (forall V where G. ψ)`, and so is
//!   `exists` over an `or` that is the same operator: where a part reads few of the variables, its bindings are counted;
//! - `forall x. forall y. φ` is first made `forall x, y. φ`, which is one loop, if the operator regroups.
//!
//! A variable can be removed only together with those that the guard ties to it, and only if the
//! guard keeps something: then each binding of the other variables has the same number of bindings of
//! these.

use std::sync::Arc;

use super::Rewrite;
use super::cost::work;
use super::eliminate::never_empty;
use super::ground::groups;
use super::normal::{Bindings, Kind, Normal};
use super::shard::Shards;
use crate::guard::{Join, Scope, conjuncts, free_variables};
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::*;

/// The most bindings of a quantifier that was two.
const MOST_MERGED: f64 = 1e15;

/// The greatest share of the work that may be left when a quantifier is split for the sake of counts.
const WORTH_SPLITTING: f64 = 0.7;

/// How many bindings may be counted to see that a guard keeps something.
const MAX_COUNTED: u128 = 1 << 20;

/// The input of the pass, and what it has done.
pub(super) struct Narrow<'a> {
    pub scope: Scope<'a>,
    pub semantics: &'a Semantics,
    /// The axiom as it was written, for people.
    pub written: &'a Formula,
    /// Whether to rewrite even where it does not pay.
    pub always: bool,
    /// Whether bindings that a part does not tell apart will be counted.
    pub counts: bool,
    /// What belongs to this process alone: quantifiers over it stay.
    pub shards: Option<Shards<'a>>,
    pub rewrites: &'a mut Vec<Rewrite>,
}

/// The part of a quantifier that some members of its body need.
struct Part {
    variables: Vec<VarId>,
    guard: Option<Guard>,
    members: Vec<Normal>,
}

impl Narrow<'_> {
    /// Splits every quantifier into narrower parts where that is exact and cheaper.
    pub fn apply(&mut self, normal: &mut Normal) {
        self.merge(normal);
        match self.quantifier(normal).or_else(|| self.split(normal)) {
            Some(narrower) => *normal = narrower,
            None => deep(|| normal.children_mut().for_each(|inner| self.apply(inner))),
        }
    }

    /// Quantifiers of one kind right under each other, as one.
    fn merge(&mut self, normal: &mut Normal) {
        let cost_before = work(&self.scope, normal);
        let mut merges = 0;
        while let Some(merged) = self.merged(normal) {
            *normal = merged;
            merges += 1;
        }
        if merges > 0 {
            let (theory, variables) = (self.scope.theory(), self.scope.variables);
            self.rewrites.push(Rewrite {
                before: theory.written_text(variables, self.written, normal.span),
                after: theory.normal_text(variables, normal),
                cost_before,
                cost_after: work(&self.scope, normal),
            });
        }
    }

    /// Two of them as one. Where what is inside does not read all that is outside, it is better computed by itself.
    fn merged(&self, normal: &Normal) -> Option<Normal> {
        let Kind::Quantifier {
            forall,
            binding: outer @ Binding::Sorts(variables),
            guard,
            body,
        } = &normal.kind
        else {
            return None;
        };
        let Kind::Quantifier {
            forall: same,
            binding: inner @ Binding::Sorts(more),
            guard: None,
            body: inside,
        } = &body.kind
        else {
            return None;
        };
        let sizes = [variables.as_slice(), more].concat().into_iter();
        let bindings: f64 = sizes.map(|v| f64::from(self.scope.size_of(v))).product();
        let bound = |s: Shards| s.bound(outer) + s.bound(inner) > 0;
        if forall != same
            || !self.semantics.regroups(*forall)
            || body.groundings.is_some()
            || more.iter().any(|v| self.scope.size_of(*v) == 0)
            // One loop numbers its bindings.
            || bindings > MOST_MERGED
            || self.shards.is_some_and(bound)
        {
            return None;
        }
        let mut read = Vec::new();
        inside.variables(&mut read);
        if !variables.iter().all(|v| read.contains(v)) {
            return None;
        }
        let kind = Kind::Quantifier {
            forall: *forall,
            binding: Binding::Sorts([variables.as_slice(), more].concat()),
            guard: guard.clone(),
            body: inside.clone(),
        };
        let mut merged = Normal::new(kind, normal.span);
        merged.groundings.clone_from(&normal.groundings);
        Some(merged)
    }

    fn quantifier(&mut self, normal: &Normal) -> Option<Normal> {
        let Kind::Quantifier {
            forall,
            binding: binding @ Binding::Sorts(variables),
            guard,
            body,
        } = &normal.kind
        else {
            return None;
        };
        if self.shards.is_some_and(|s| s.bound(binding) > 0) {
            return None;
        }
        let (forall, span) = (*forall, normal.span);
        let guard = guard.as_deref();
        let factors = match (forall, guard) {
            (false, None) => self.factors(variables, body),
            _ => None,
        };
        let conjunction = forall || factors.is_some();
        let (parts, bindings, mut rewrite) = match factors {
            Some((parts, rewrite)) => (parts, None, rewrite),
            None => {
                let (parts, bindings, rewrite) = self.parts(forall, variables, guard, body)?;
                (parts, Some(bindings), rewrite)
            }
        };
        let joined = parts.iter().map(|part| self.part_text(forall, part));
        let joined = joined.collect::<Vec<_>>();
        rewrite.after = joined.join(if conjunction { " and " } else { " or " });
        rewrite.before =
            (self.scope.theory()).written_text(self.scope.variables, self.written, span);
        let parts = parts.into_iter().map(|part| {
            let mut body = Normal::connective(true, part.members, span);
            if part.variables.is_empty() {
                deep(|| self.apply(&mut body));
                return body;
            }
            let kind = Kind::Quantifier {
                forall,
                binding: Binding::Sorts(part.variables),
                guard: part.guard.map(Arc::new),
                body: Box::new(body),
            };
            let mut part = Normal::new(kind, span);
            self.apply(&mut part);
            part
        });
        let parts = parts.collect();
        self.rewrites.push(rewrite);
        let mut narrower = Normal::connective(conjunction, parts, span);
        narrower.groundings = bindings.map(u128::into);
        Some(narrower)
    }

    /// Parts of a quantifier whose guard ties all variables together, where some read few of them.
    fn split(&mut self, normal: &Normal) -> Option<Normal> {
        let Kind::Quantifier {
            forall,
            binding,
            guard: Some(guard),
            body,
        } = &normal.kind
        else {
            return None;
        };
        let (scope, forall, own) = (self.scope, *forall, binding.variables());
        let (splits, members) = match forall {
            true => (self.semantics.forall_splits_over_and(), body.conjuncts()),
            false => (self.semantics.exists_splits_over_or(), body.disjuncts()),
        };
        if !self.counts
            || !splits
            || members.len() < 2
            || body.has_quantifier()
            || normal.groundings.is_some()
            || !forall && !never_empty(scope, normal)
        {
            return None;
        }
        let (all, table) = match binding {
            Binding::Sorts(variables) => {
                let sizes = variables.iter().map(|v| f64::from(scope.size_of(*v)));
                (sizes.product::<f64>(), None)
            }
            Binding::Rows(table, _) => {
                let table = scope.data.table(*table)?;
                (table.rows as f64, Some(table))
            }
        };
        if table.is_some_and(|t| t.batched) {
            return None;
        }
        // Those that read the same variables together; for `exists` each member alone.
        let mut parts: Vec<(Vec<VarId>, Vec<&Normal>)> = Vec::new();
        for member in members {
            let mut read = Vec::new();
            member.variables(&mut read);
            read.retain(|v| own.contains(v));
            read.sort_unstable();
            read.dedup();
            match parts.iter_mut().find(|(known, _)| forall && *known == read) {
                Some((_, members)) => members.push(member),
                None => parts.push((read, vec![member])),
            }
        }
        let each = |members: &[&Normal]| -> f64 {
            2.0 + members.iter().map(|m| work(&scope, m)).sum::<f64>()
        };
        let size = |v: &VarId| match scope.variables[v.index()].sort {
            ColumnSort::Sort(_) => f64::from(scope.size_of(*v)),
            ColumnSort::Int | ColumnSort::Real => f64::INFINITY,
        };
        let bindings = |read: &[VarId]| read.iter().map(size).product::<f64>().min(all);
        let own = parts.iter().map(|(_, members)| all * each(members));
        let after = parts.iter().map(|(read, m)| bindings(read) * each(m));
        let (cost_before, cost_after) = (own.sum::<f64>(), after.sum::<f64>());
        if parts.len() < 2 || !self.always && cost_after > WORTH_SPLITTING * cost_before {
            return None;
        }
        let parts = parts.into_iter().map(|(_, members)| {
            let members = members.into_iter().cloned().collect();
            let kind = Kind::Quantifier {
                forall,
                binding: binding.clone(),
                guard: Some(guard.clone()),
                body: Box::new(Normal::connective(true, members, normal.span)),
            };
            Normal::new(kind, normal.span)
        });
        let mut split = Normal::connective(forall, parts.collect(), normal.span);
        split.groundings = Some(Bindings {
            times: 1,
            kept: vec![(binding.clone(), guard.clone())],
        });
        let (theory, variables) = (scope.theory(), scope.variables);
        self.rewrites.push(Rewrite {
            before: theory.written_text(variables, self.written, normal.span),
            after: theory.whole_normal_text(variables, &split),
            cost_before,
            cost_after,
        });
        Some(split)
    }

    /// The factors of an `exists` over a conjunction: those members together that its variables tie, and what the
    /// rewrite costs.
    fn factors(&self, variables: &[VarId], body: &Normal) -> Option<(Vec<Part>, Rewrite)> {
        let size = |v: &VarId| f64::from(self.scope.size_of(*v));
        if !self.semantics.and_distributes_over_exists()
            || variables.iter().any(|v| size(v) == 0.0)
            // Empty ones inside are counted for each binding around them.
            || body.has_quantifier() && !never_empty(self.scope, body)
        {
            return None;
        }
        let mut factors: Vec<Part> = Vec::new();
        for member in body.conjuncts() {
            let mut read = Vec::new();
            member.variables(&mut read);
            read.retain(|v| variables.contains(v));
            let ties = |f: &Part| match read.is_empty() {
                true => f.variables.is_empty(),
                false => f.variables.iter().any(|v| read.contains(v)),
            };
            let (tied, others): (Vec<Part>, Vec<Part>) = factors.into_iter().partition(ties);
            factors = others;
            let mut factor = Part {
                variables: read,
                guard: None,
                members: Vec::new(),
            };
            for one in tied {
                factor.variables.extend(one.variables);
                factor.members.extend(one.members);
            }
            factor.variables.sort_unstable();
            factor.variables.dedup();
            factor.members.push(member.clone());
            factors.push(factor);
        }
        // In the order of the text: of several empty `exists` the first is named.
        let start = |normal: &Normal| normal.span.start;
        for factor in &mut factors {
            factor.members.sort_by_key(start);
        }
        factors.sort_by_key(|f| f.members.first().map(start));
        let read: usize = factors.iter().map(|f| f.variables.len()).sum();
        if factors.len() < 2 || read < variables.len() {
            return None;
        }
        let bindings = |of: &[VarId]| of.iter().map(size).product::<f64>();
        let each = |f: &Part| 2.0 + f.members.iter().map(|m| work(&self.scope, m)).sum::<f64>();
        let rewrite = Rewrite {
            cost_before: bindings(variables) * factors.iter().map(each).sum::<f64>(),
            cost_after: (factors.iter())
                .map(|f| bindings(&f.variables) * each(f))
                .sum(),
            ..Rewrite::default()
        };
        (self.always || rewrite.cost_after < rewrite.cost_before).then_some((factors, rewrite))
    }

    /// The parts, how many bindings the quantifier has as it is written, and what the rewrite costs.
    fn parts(
        &self,
        forall: bool,
        variables: &[VarId],
        guard: Option<&Guard>,
        body: &Normal,
    ) -> Option<(Vec<Part>, u128, Rewrite)> {
        // The bindings of inner quantifiers are counted once per binding around them, and that
        // number would change.
        if !self.semantics.is_idempotent(forall) || body.has_quantifier() {
            return None;
        }
        let conditions = guard.map(conjuncts).unwrap_or_default();
        let looks_outside = |g: &&Guard| free_variables(g).iter().any(|v| !variables.contains(v));
        let may_fail = |g: &&Guard| self.scope.may_fail(g);
        if conditions.iter().any(|g| may_fail(g) || looks_outside(g)) {
            return None;
        }
        let members = match forall {
            true if self.semantics.forall_splits_over_and() => body.conjuncts(),
            false if self.semantics.exists_splits_over_or() => body.disjuncts(),
            _ => vec![body],
        };
        let groups = groups(variables, conditions);
        // The members that read the same groups of variables; for `exists` each member alone.
        let mut parts: Vec<(Vec<bool>, Vec<&Normal>)> = Vec::new();
        for member in members {
            let mut read = Vec::new();
            member.variables(&mut read);
            let touched: Vec<bool> = (groups.iter())
                .map(|(own, _)| own.iter().any(|v| read.contains(v)))
                .collect();
            match parts.iter_mut().find(|(t, _)| forall && *t == touched) {
                Some((_, members)) => members.push(member),
                None => parts.push((touched, vec![member])),
            }
        }
        if parts.iter().all(|(touched, _)| touched.iter().all(|t| *t)) {
            return None;
        }
        // A quantifier must not become a literal where an operator distinguishes the two.
        let bare = parts.len() == 1 && parts[0].0.iter().all(|t| !t) && body.is_literal();
        if bare && self.semantics.tells_literals_apart() {
            return None;
        }
        let sizes = groups.iter().map(|(own, g)| self.count_group(own, g));
        let sizes: Vec<u128> = sizes.collect::<Option<_>>()?;
        let bindings = sizes.iter().copied().fold(1, u128::saturating_mul);
        if bindings == 0 {
            return None;
        }
        let mut rewrite = Rewrite::default();
        let mut narrowed = Vec::new();
        for (touched, members) in parts {
            let each: f64 = 2.0 + members.iter().map(|m| work(&self.scope, m)).sum::<f64>();
            let (mut variables, mut conditions) = (Vec::new(), Vec::new());
            let mut size = 1.0;
            for ((_, (own, guards)), n) in
                (touched.iter().zip(&groups).zip(&sizes)).filter(|((t, _), _)| **t)
            {
                variables.extend_from_slice(own);
                conditions.extend(guards.iter().copied().cloned());
                size *= *n as f64;
            }
            rewrite.cost_before += bindings as f64 * each;
            rewrite.cost_after += size * each;
            variables.sort_unstable();
            narrowed.push(Part {
                variables,
                guard: conjunction(conditions),
                members: members.into_iter().cloned().collect(),
            });
        }
        let pays = rewrite.cost_after < rewrite.cost_before;
        (self.always || pays).then_some((narrowed, bindings, rewrite))
    }

    /// How many bindings a group of variables has; `None` if there are too many to count.
    fn count_group(&self, variables: &[VarId], conditions: &[&Guard]) -> Option<u128> {
        let scope = self.scope;
        if conditions.is_empty() {
            let sizes = variables.iter().map(|v| u128::from(scope.size_of(*v)));
            return Some(sizes.product());
        }
        let mut count = 0;
        Join::over_sorts(scope, variables, conditions)
            .run(&mut scope.environment(), &mut |_, _| {
                count += 1;
                count <= MAX_COUNTED
            })
            .ok()?;
        (count <= MAX_COUNTED).then_some(count)
    }

    fn part_text(&self, forall: bool, part: &Part) -> String {
        let (theory, variables) = (self.scope.theory(), self.scope.variables);
        let members = part.members.iter();
        let members = members.map(|member| theory.normal_text(variables, member));
        let body = members.collect::<Vec<_>>().join(" and ");
        if part.variables.is_empty() {
            return body;
        }
        let word = if forall { "forall" } else { "exists" };
        let names = self.scope.names(&part.variables).join(", ");
        let guard = match &part.guard {
            Some(guard) => format!(" where {}", theory.guard_text(variables, guard)),
            None => String::new(),
        };
        format!("({word} {names}{guard}. {body})")
    }
}

/// All of them, in the order of the text.
fn conjunction(mut conditions: Vec<Guard>) -> Option<Guard> {
    conditions.sort_by_key(|g| g.span.start);
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => {
            let span = (conditions.iter()).fold(conditions[0].span, |s: Span, g| s.to(g.span));
            Some(Guard::new(GuardKind::And(conditions), span))
        }
    }
}
