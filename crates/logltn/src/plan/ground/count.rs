//! How many bindings an axiom has, and which of them leave an `exists` empty.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Bound, Grounder, codes};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{Cell, Scope};
use crate::plan::program::*;
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;

#[derive(Default)]
pub(in crate::plan) struct Counts {
    pub groundings: u128,
    pub empty_exists: u128,
    /// The first binding that leaves an `exists` empty, and that `exists`.
    example: Option<(Span, Vec<(VarId, Cell)>)>,
}

/// Bindings, and empty `exists`, below one node for one binding of the variables around it.
type Count = (u128, u128);

/// Counts along a program.
struct Counter<'a> {
    scope: Scope<'a>,
    lists: &'a Grounder,
    program: &'a Program,
    /// For each node: the variables around it on which its count depends.
    reads: Vec<Vec<VarId>>,
    /// The counts of quantifiers by the values that they read. Outer bindings that agree in these have the same
    /// counts, so a chain of guards is counted link by link, not path by path.
    known: FxHashMap<(usize, Box<[u64]>), Count>,
    counts: Counts,
}

/// The most counts that are kept.
const MOST_KNOWN: usize = 1 << 20;

pub(in crate::plan) fn count(scope: Scope, lists: &Grounder, program: &Program) -> Counts {
    let mut counter = Counter {
        scope,
        lists,
        program,
        reads: reads(program),
        known: FxHashMap::default(),
        counts: Counts::default(),
    };
    let (groundings, empty) = counter.node(program.root, &mut scope.environment());
    Counts {
        groundings,
        empty_exists: empty,
        ..counter.counts
    }
}

/// For each node: the variables around it that some list below it depends on.
fn reads(program: &Program) -> Vec<Vec<VarId>> {
    let mut reads: Vec<Vec<VarId>> = Vec::with_capacity(program.nodes.len());
    // Children come before their parents.
    for node in &program.nodes {
        let mut own: Vec<VarId> = Vec::new();
        let mut bound: Vec<VarId> = Vec::new();
        let binds = |level: usize, bound: &mut Vec<VarId>, own: &mut Vec<VarId>| {
            for b in &program.levels[level].bound {
                bound.extend(&b.variables);
                own.extend(&b.keys);
            }
        };
        match &node.kind {
            _ if node.groundings.is_some() => {
                let lists = node.groundings.iter().flat_map(|counted| &counted.lists);
                own.extend(lists.flat_map(|list| &list.keys));
            }
            kind => {
                let children = kind.children(&program.eliminations).into_iter();
                own.extend(children.flat_map(|child| &reads[child]));
                match kind {
                    NodeKind::Quantifier { level, .. } => binds(*level, &mut bound, &mut own),
                    NodeKind::Elimination(index) => {
                        for factor in &program.eliminations[*index].factors {
                            binds(factor.level, &mut bound, &mut own);
                        }
                        own.extend(&program.elimination_keys[*index].0);
                    }
                    _ => {}
                }
            }
        }
        own.retain(|v| !bound.contains(v));
        own.sort_unstable();
        own.dedup();
        reads.push(own);
    }
    reads
}

impl Counter<'_> {
    fn node(&mut self, node: usize, env: &mut Vec<Cell>) -> Count {
        let program = self.program;
        if let Some(counted) = &program.nodes[node].groundings {
            let lengths = counted.lists.iter().map(|l| self.lists.list(l, env).len());
            let times = |all: u128, length| all.saturating_mul(length as u128);
            return (lengths.fold(counted.times, times), 0);
        }
        let binds = matches!(
            program.nodes[node].kind,
            NodeKind::Quantifier { .. } | NodeKind::Elimination(_)
        );
        if !binds || node == program.root {
            return self.count(node, env);
        }
        let key = (node, codes(&self.reads[node], env));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let count = self.count(node, env);
        if self.known.len() < MOST_KNOWN {
            self.known.insert(key, count);
        }
        count
    }

    fn count(&mut self, node: usize, env: &mut Vec<Cell>) -> Count {
        let program = self.program;
        deep(|| match &program.nodes[node].kind {
            NodeKind::Constant(_) | NodeKind::Literal { .. } | NodeKind::Use { .. } => (1, 0),
            NodeKind::Not(a) | NodeKind::Log(a) => self.node(*a, env),
            NodeKind::And(members) | NodeKind::Or(members) => {
                let mut total: Count = (1, 0);
                for (i, member) in members.iter().enumerate() {
                    let (n, empty) = self.node(*member, env);
                    // The second half of an equivalence binds the same variables again.
                    if i == 0 || !program.nodes[node].equivalence {
                        total.0 = total.0.saturating_mul(n);
                    }
                    total.1 = total.1.saturating_add(empty);
                }
                total
            }
            NodeKind::Implies(a, b) | NodeKind::Iff(a, b) => {
                let (n, x) = self.node(*a, env);
                let (m, y) = self.node(*b, env);
                (n.saturating_mul(m), x.saturating_add(y))
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => {
                let Level { bound, parent, .. } = &program.levels[*level];
                let ranges: Vec<_> = bound.iter().map(|b| self.lists.list(b, env)).collect();
                let lists = bound.iter().zip(&ranges);
                let sizes = lists
                    .map(|(b, range)| self.lists.components[b.component].bindings(range.clone()));
                let bindings = sizes.fold(1, u128::saturating_mul);
                if bindings == 0 {
                    if !forall {
                        self.note_example(node, *parent, env);
                    }
                    return (0, u128::from(!forall));
                }
                if self.reads[*body].is_empty() {
                    // The first of them stands for all, also as an example.
                    for (b, range) in bound.iter().zip(&ranges) {
                        self.lists.bind(self.scope, b, range.start as usize, env);
                    }
                    let (n, empty) = self.node(*body, env);
                    return (bindings.saturating_mul(n), bindings.saturating_mul(empty));
                }
                let mut total = (0, 0);
                self.each_binding(bound, &ranges, 1, env, &mut |this, times, env| {
                    let (n, empty) = this.node(*body, env);
                    total.0 = u128::saturating_add(total.0, n.saturating_mul(times));
                    total.1 = u128::saturating_add(total.1, empty.saturating_mul(times));
                });
                total
            }
            NodeKind::Elimination(index) => self.elimination(node, *index, env),
        })
    }

    /// The bindings of an `exists` by elimination, each counted as often as the members of its body have bindings:
    /// sums of products, along the lists that the engine uses.
    fn elimination(&mut self, node: usize, index: usize, env: &mut Vec<Cell>) -> Count {
        let program = self.program;
        let elimination = &program.eliminations[index];
        let (variables, keys) = &program.elimination_keys[index];
        let key = keys.get(&codes(variables, env)).map_or(0, |k| *k as usize);
        let bindings = elimination.counts[key];
        if bindings == 0 {
            self.note_example(node, program.nodes[node].level, env);
            return (0, 1);
        }
        // Members in which an `exists` could be empty are not moved.
        let mut times = 1_u128;
        let mut weights: Vec<Option<Vec<u128>>> = vec![None; elimination.factors.len()];
        for &member in &elimination.common {
            times = times.saturating_mul(self.node(member, env).0);
        }
        for (factor, weights) in elimination.factors.iter().zip(&mut weights) {
            if self.reads[factor.body].is_empty() {
                let (n, _) = self.node(factor.body, env);
                times = times.saturating_mul(n);
                continue;
            }
            let mut own = Vec::with_capacity(factor.size);
            let bound = &program.levels[factor.level].bound;
            let range = 0..factor.size as u32;
            let all = std::slice::from_ref(&range);
            self.each_binding(bound, all, 1, env, &mut |this, _, env| {
                own.push(this.node(factor.body, env).0);
            });
            *weights = Some(own);
        }
        let total = match weights.iter().any(Option::is_some) {
            true => {
                let sum = elimination.sum_of_products(key, &weights);
                sum.saturating_mul(elimination.unread)
            }
            false => bindings,
        };
        (total.saturating_mul(times), 0)
    }

    fn each_binding(
        &mut self,
        bound: &[Arc<Bound>],
        ranges: &[std::ops::Range<u32>],
        times: u128,
        env: &mut Vec<Cell>,
        visit: &mut dyn FnMut(&mut Self, u128, &mut Vec<Cell>),
    ) {
        match (bound.split_first(), ranges.split_first()) {
            (Some((first, bound)), Some((range, ranges))) => {
                for tuple in range.clone() {
                    self.lists.bind(self.scope, first, tuple as usize, env);
                    let own = self.lists.components[first.component].weight(tuple);
                    self.each_binding(bound, ranges, times.saturating_mul(own), env, visit);
                }
            }
            _ => visit(self, times, env),
        }
    }

    /// Records the first empty `exists`, with the variables bound at its level and around it.
    fn note_example(&mut self, node: usize, level: usize, env: &[Cell]) {
        if self.counts.example.is_some() {
            return;
        }
        let mut variables: Vec<VarId> = Vec::new();
        let mut at = level;
        while at != 0 {
            let level = &self.program.levels[at];
            variables.extend(level.bound.iter().flat_map(|b| &b.variables));
            at = level.parent;
        }
        variables.sort_unstable();
        let binding = variables.into_iter().map(|v| (v, env[v.index()]));
        self.counts.example = Some((self.program.nodes[node].span, binding.collect()));
    }
}

/// How many bindings there would be without guards.
pub(in crate::plan) fn groundings_before(scope: &Scope, formula: &Formula) -> u128 {
    let inside = |f: &Formula| groundings_before(scope, f);
    deep(|| match &formula.kind {
        FormulaKind::Quantified {
            quantifier,
            binding,
            body,
            ..
        } if !quantifier.is_big_connective() => {
            let own = match binding {
                Binding::Rows(table, _) => scope.data.table(*table).map_or(0, |t| t.rows as u128),
                Binding::Sorts(variables) => variables
                    .iter()
                    .map(|v| u128::from(scope.size_of(*v)))
                    .fold(1, u128::saturating_mul),
            };
            own.saturating_mul(inside(body))
        }
        _ => (formula.children().into_iter())
            .map(inside)
            .fold(1, u128::saturating_mul),
    })
}

impl Counts {
    /// Warns that some `exists` is empty.
    pub fn warning(
        &self,
        scope: &Scope,
        name: &str,
        normal_form_differs: bool,
    ) -> Option<Diagnostic> {
        let (span, binding) = self.example.as_ref()?;
        let times = match self.empty_exists {
            1 => "once".to_string(),
            n => format!("{n} times"),
        };
        let mut warning = Diagnostic::warning(Code::NothingToRangeOver, format!(
            "in axiom `{name}` an `exists` has nothing to choose from, {times}: it counts as false"
        ))
        .at(&scope.theory().source, *span, "no binding passes its guard");
        if !binding.is_empty() {
            warning = warning.note(format!("for example for {}", scope.show_binding(binding)));
        }
        if normal_form_differs {
            warning = warning.note("`exists` and `forall` as in the negation normal form");
        }
        if !binding.is_empty() {
            warning = warning.help(
                "guard the enclosing quantifier as well, so that it leaves such bindings out",
            );
        }
        Some(warning)
    }
}
