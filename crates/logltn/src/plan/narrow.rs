//! Narrower quantifiers: each part of a body under only those variables that it reads.
//!
//! - `exists x, y. P(x) or Q(y)` is `(exists x. P(x)) or (exists y. Q(y))`, if `or` and `exists` are the same operator,
//!   which regroups: LogMeanExp or max;
//! - `forall x, y. P(x) and Q(y)` is `(forall x. P(x)) and (forall y. Q(y))`, if `forall` is linear and `and` adds: the
//!   mean;
//! - a quantifier whose variables its body does not read is the body, if it is idempotent: LogMeanExp, mean, max, min.
//!
//! A variable can go only together with those that the guard ties to it, and only if the guard leaves
//! something: then each binding of the others has as many bindings of it.

use super::Rewrite;
use super::build::{Builder, Rewrites};
use super::component::groups;
use super::elimination::{Member, flatten, formula_variables};
use super::program::*;
use crate::diagnostic::Diagnostic;
use crate::guard::{Join, conjuncts, free_variables};
use crate::operators::Space;
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;

/// How many bindings may be counted to see that a guard leaves something.
const MAX_COUNTED: u128 = 1 << 20;

/// The part of a quantifier that some members of its body need.
struct Part<'f> {
    variables: Vec<VarId>,
    guard: Option<Guard>,
    members: Vec<Member<'f>>,
}

impl Builder<'_> {
    /// The node of a quantifier in narrower parts, if that is exact and cheaper.
    pub(super) fn narrow(
        &mut self,
        forall: bool,
        binding: &Binding,
        guard: Option<&Guard>,
        body: &Formula,
        negate: bool,
        formula: &Formula,
    ) -> Result<Option<usize>, Diagnostic> {
        let Some((parts, bindings, rewrite)) =
            self.parts(forall, binding, guard, body, negate, formula)
        else {
            return Ok(None);
        };
        let mut nodes = Vec::with_capacity(parts.len());
        for part in &parts {
            nodes.push(self.part(forall, part, formula)?);
        }
        let node = match nodes.as_slice() {
            [only] => *only,
            _ if forall => self.node(NodeKind::And(nodes), formula),
            _ => self.node(NodeKind::Or(nodes), formula),
        };
        self.program.nodes[node].groundings = Some(bindings);
        self.program.narrowed.push(rewrite);
        Ok(Some(node))
    }

    fn part(&mut self, forall: bool, part: &Part, formula: &Formula) -> Result<usize, Diagnostic> {
        let conjunction = |this: &mut Self| {
            let nodes: Result<Vec<usize>, Diagnostic> = (part.members.iter())
                .map(|(member, negate)| this.formula(member, *negate))
                .collect();
            nodes.map(|nodes| match nodes.as_slice() {
                [only] => *only,
                _ => this.node(NodeKind::And(nodes), formula),
            })
        };
        let binding = Binding::Sorts(part.variables.clone());
        match part.members.as_slice() {
            _ if part.variables.is_empty() => conjunction(self),
            [(member, negate)] if !forall => {
                self.exists(&binding, part.guard.as_ref(), member, *negate, formula)
            }
            _ => self.quantifier(forall, &binding, part.guard.as_ref(), formula, conjunction),
        }
    }

    /// The parts, how many bindings the quantifier has as it is written, and the rewrite for people.
    fn parts<'f>(
        &self,
        forall: bool,
        binding: &Binding,
        guard: Option<&Guard>,
        body: &'f Formula,
        negate: bool,
        formula: &Formula,
    ) -> Option<(Vec<Part<'f>>, u128, Rewrite)> {
        let semantics = self.semantics;
        let aggregator = if forall {
            semantics.forall
        } else {
            semantics.exists
        };
        let laws = aggregator.laws();
        let Binding::Sorts(variables) = binding else {
            return None;
        };
        let wanted = self.rewrites != Rewrites::Never && semantics.space == Space::Log;
        // Inner quantifiers are counted per binding around them, which would change.
        if !wanted || !laws.idempotent || has_quantifier(body) {
            return None;
        }
        let conditions = guard.map(conjuncts).unwrap_or_default();
        let scope = self.guard_scope();
        let is_outer = |v: &VarId| self.scope.iter().any(|s| s.variables.contains(v));
        let looks_outside = |g: &&Guard| free_variables(g).iter().any(is_outer);
        if conditions.iter().any(|g| scope.may_fail(g)) || conditions.iter().any(looks_outside) {
            return None;
        }
        let same_as_or = semantics.or.name() == aggregator.name();
        let members = if forall && laws.is_linear() && semantics.and.laws().adds {
            let mut members = Vec::new();
            flatten(body, negate, &mut members);
            members
        } else if !forall && laws.regroups && same_as_or {
            disjuncts(body, negate)
        } else {
            vec![(body, negate)]
        };
        let groups = groups(variables, conditions);
        let mut parts: Vec<(Vec<bool>, Vec<Member>)> = Vec::new();
        for member in members {
            let mut read = Vec::new();
            formula_variables(member.0, &mut read);
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
        let sizes = groups.iter().map(|(own, g)| self.count_group(own, g));
        let sizes: Vec<u128> = sizes.collect::<Option<_>>()?;
        let bindings = sizes.iter().copied().fold(1, u128::saturating_mul);
        if bindings == 0 {
            return None;
        }
        let mut rewrite = Rewrite::default();
        let mut texts = Vec::new();
        let mut narrowed = Vec::new();
        for (touched, members) in parts {
            let weight: f64 = members.iter().map(|(m, _)| self.weight(m)).sum();
            let own = || {
                touched
                    .iter()
                    .zip(&groups)
                    .filter(|(t, _)| **t)
                    .map(|(_, g)| g)
            };
            let size = touched
                .iter()
                .zip(&sizes)
                .filter(|(t, _)| **t)
                .map(|(_, n)| *n as f64);
            rewrite.cost_before += bindings as f64 * (weight + 2.0);
            rewrite.cost_after += size.product::<f64>() * (weight + 2.0);
            let mut variables: Vec<VarId> = own().flat_map(|(v, _)| v.iter().copied()).collect();
            variables.sort_unstable();
            let mut conditions: Vec<Guard> = own()
                .flat_map(|(_, g)| g.iter().copied().cloned())
                .collect();
            conditions.sort_by_key(|g| g.span.start);
            let guard = match conditions.len() {
                0 => None,
                1 => conditions.pop(),
                _ => Some(Guard {
                    span: conditions
                        .iter()
                        .fold(conditions[0].span, |s: Span, g| s.to(g.span)),
                    kind: GuardKind::And(conditions),
                }),
            };
            let part = Part {
                variables,
                guard,
                members,
            };
            texts.push(self.part_text(forall, &part));
            narrowed.push(part);
        }
        if self.rewrites == Rewrites::WhereCheaper && rewrite.cost_after >= rewrite.cost_before {
            return None;
        }
        rewrite.before = self.theory().sentence_text(self.variables, formula);
        rewrite.after = texts.join(if forall { " and " } else { " or " });
        Some((narrowed, bindings, rewrite))
    }

    /// How many bindings a group of variables has; `None` if there are too many to count.
    fn count_group(&self, variables: &[VarId], conditions: &[&Guard]) -> Option<u128> {
        let scope = self.guard_scope();
        if conditions.is_empty() {
            return Some(
                variables
                    .iter()
                    .map(|v| u128::from(scope.size_of(*v)))
                    .product(),
            );
        }
        let mut count = 0;
        let mut env = self.env.clone();
        Join::over_sorts(scope, variables, conditions)
            .run(&mut env, &mut |_, _| {
                count += 1;
                count <= MAX_COUNTED
            })
            .ok()?;
        (count <= MAX_COUNTED).then_some(count)
    }

    fn part_text(&self, forall: bool, part: &Part) -> String {
        let theory = self.theory();
        let members: Vec<String> = (part.members.iter())
            .map(|(member, negate)| {
                let text = theory.formula_text(self.variables, member);
                if *negate { format!("not {text}") } else { text }
            })
            .collect();
        let body = members.join(" and ");
        if part.variables.is_empty() {
            return body;
        }
        let word = if forall { "forall" } else { "exists" };
        let names = part
            .variables
            .iter()
            .map(|v| self.variables[v.index()].name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        let guard = match &part.guard {
            Some(guard) => format!(" where {}", theory.guard_text(self.variables, guard)),
            None => String::new(),
        };
        format!("({word} {names}{guard}. {body})")
    }
}

/// The members of a disjunction. Nested ones stay: a mean of means is not a mean.
fn disjuncts(formula: &Formula, negate: bool) -> Vec<Member<'_>> {
    deep(|| match &formula.kind {
        FormulaKind::Not(inner) => disjuncts(inner, !negate),
        FormulaKind::Or(members) if !negate => members.iter().map(|m| (m, false)).collect(),
        FormulaKind::And(members) if negate => members.iter().map(|m| (m, true)).collect(),
        FormulaKind::Implies(a, b) if !negate => vec![(a.as_ref(), true), (b.as_ref(), false)],
        _ => vec![(formula, negate)],
    })
}

fn has_quantifier(formula: &Formula) -> bool {
    deep(|| match &formula.kind {
        FormulaKind::Atom { .. } => false,
        FormulaKind::Not(inner) => has_quantifier(inner),
        FormulaKind::And(members) | FormulaKind::Or(members) => members.iter().any(has_quantifier),
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
            has_quantifier(a) || has_quantifier(b)
        }
        FormulaKind::Quantified {
            quantifier, body, ..
        } => !quantifier.is_big_connective() || has_quantifier(body),
    })
}
