//! Variable elimination: `exists V where G. φ₁ and … and φₖ` without going through all bindings of V.
//!
//! In log space `and` is a sum and `exists` a (mean of a) LogSumExp or a maximum, over which a common
//! summand can be moved. So the variables can go one at a time, as in sum-product message passing: the
//! members of the conjunction are factors, the conjuncts of the guard are relations, and each clique of
//! variables becomes one list of combinations. Exact for LogMeanExp, LogSumExp and max; the number of
//! bindings, for the mean, comes from counting along the same lists.
//!
//! [`network`] says what there is, [`split`] cuts equations into small ones, [`order`] chooses the cliques,
//! [`clique`] lists their combinations, and [`lists`] keeps of them what each outer binding uses.

mod clique;
mod formulas;
mod lists;
mod lower;
mod network;
mod nonempty;
mod order;
mod split;
mod text;

use rustc_hash::FxHashMap;

use super::Rewrite;
use super::build::{Builder, Rewrites};
use super::component::KeyIds;
use super::program::*;
use crate::diagnostic::Diagnostic;
use crate::guard::conjuncts;
use crate::theory::*;

use clique::Cliques;
pub(super) use formulas::{flatten, formula_variables};
use lists::Lists;
use network::*;
use order::Clique;
use split::Split;

/// How many combinations may be tried before the planner goes back to listing all bindings.
const BUDGET: u64 = 1 << 24;

/// A member of the conjunction, negated or not.
pub(super) type Member<'f> = (&'f Formula, bool);

/// The members of the conjunction that read the same variables.
struct Factor<'f> {
    variables: Vec<VarId>,
    members: Vec<Member<'f>>,
}

/// What to eliminate, found to be worth it; nothing of it refers to the builder.
struct Found<'f> {
    factors: Vec<Factor<'f>>,
    /// By factor: the combinations of its variables that some binding uses.
    combinations: Vec<Vec<Vec<u32>>>,
    common: Vec<Member<'f>>,
    keys: KeyIds,
    elimination: Elimination,
}

impl Builder<'_> {
    /// The node of an `exists` whose variables are eliminated, if that is exact and cheaper.
    pub(super) fn eliminate(
        &mut self,
        binding: &Binding,
        guard: Option<&Guard>,
        body: &Formula,
        negate: bool,
        formula: &Formula,
    ) -> Result<Option<usize>, Diagnostic> {
        // Only logs add up, so that this is log space.
        let exact =
            self.semantics.and.laws().adds && self.semantics.exists.laws().semiring.is_some();
        let Binding::Sorts(variables) = binding else {
            return Ok(None);
        };
        if !exact || self.rewrites == Rewrites::Never {
            return Ok(None);
        }
        match self.find(variables, guard, body, negate) {
            Some(mut found) => {
                let before = self.theory().sentence_text(self.variables, formula);
                found.elimination.rewrite.before = before;
                self.lower_elimination(found, formula).map(Some)
            }
            None => Ok(None),
        }
    }

    fn find<'f>(
        &self,
        variables: &[VarId],
        guard: Option<&Guard>,
        body: &'f Formula,
        negate: bool,
    ) -> Option<Found<'f>> {
        let conditions = guard.map(conjuncts).unwrap_or_default();
        let scope = self.guard_scope();
        let small = |v: &VarId| (1..1 << 24).contains(&scope.size_of(*v));
        if !variables.iter().all(small) || conditions.iter().any(|g| scope.may_fail(g)) {
            return None;
        }
        let mut members = Vec::new();
        flatten(body, negate, &mut members);
        if !members
            .iter()
            .all(|(member, negate)| self.never_empty(member, *negate))
        {
            return None;
        }
        let (mut common, mut factors) = (Vec::new(), Vec::<Factor>::new());
        for member in members {
            let mut read = Vec::new();
            formula_variables(member.0, &mut read);
            read.retain(|v| variables.contains(v));
            read.sort_unstable();
            read.dedup();
            match factors.iter_mut().find(|f| f.variables == read) {
                _ if read.is_empty() => common.push(member),
                Some(factor) => factor.members.push(member),
                None => factors.push(Factor {
                    variables: read,
                    members: vec![member],
                }),
            }
        }
        let always = self.rewrites == Rewrites::Always;
        let whole = |f: &Factor| f.variables.len() == variables.len();
        if !always && factors.iter().any(whole) && common.is_empty() {
            return None; // every binding has a value of its own
        }
        let (network, unread) = self.network(variables, &conditions, &factors)?;
        let (network, turns) = cheapest(network);
        let widest = turns.iter().map(|t| t.scope.len()).max().unwrap_or(0);
        if !always
            && turns.len() <= 1
            && common.is_empty()
            && unread.is_empty()
            && widest == variables.len()
        {
            return None;
        }
        if turns.iter().any(|t| !fits(&network, t)) {
            return None;
        }

        let mut keys = KeyIds {
            variables: (network.relations.iter())
                .flat_map(|r| r.outer.clone())
                .collect(),
            ids: FxHashMap::default(),
        };
        keys.variables.sort_unstable();
        keys.variables.dedup();
        let mut cliques = Cliques::new(&network, &turns, scope, BUDGET);
        let conditions: Vec<usize> = (0..network.relations.len())
            .filter(|&r| network.relations[r].scope.is_empty())
            .collect();
        let mut lists = Lists::new(turns.len(), factors.len());
        let mut too_much = false;
        let mut env = self.env.clone();
        self.walk(&keys.variables, &mut env, &mut |env| {
            let key: Box<[u64]> = keys
                .variables
                .iter()
                .map(|v| env[v.index()].code())
                .collect();
            if too_much || keys.ids.contains_key(&key) {
                return;
            }
            too_much = lists.add_key(&mut cliques, &conditions, env).is_none();
            keys.ids.insert(key, keys.ids.len() as u32);
        });
        if too_much || keys.ids.is_empty() {
            return None;
        }
        let tables = lists.finish(&network, &turns);

        // What one outer binding costs, both ways.
        let per_key = 1.0 / keys.ids.len() as f64;
        let unread: f64 = unread
            .iter()
            .map(|v| f64::from(scope.size_of(*v)))
            .product();
        let bindings = lists.counts.iter().map(|n| *n as f64).sum::<f64>() * per_key * unread;
        let weight = |members: &[Member]| -> f64 { members.iter().map(|m| self.weight(m.0)).sum() };
        let in_factors: f64 = factors.iter().map(|f| weight(&f.members)).sum();
        let cost_before = bindings * (in_factors + weight(&common) + 2.0);
        let inputs = turns
            .iter()
            .map(|t| (t.factors.len() + t.children.len()) as f64);
        let widths = inputs.sum::<f64>() / turns.len().max(1) as f64;
        let tabled = factors.iter().zip(&tables);
        let cost_after = lists.steps as f64 * per_key * (widths + 3.0)
            + tabled
                .map(|(f, t)| t.len() as f64 * (weight(&f.members) + 1.0))
                .sum::<f64>()
            + weight(&common);
        let asks_more = self.asks_more(&factors, &keys);
        let enough = if asks_more { 0.01 } else { 0.8 };
        if !always && cost_after > enough * cost_before {
            return None;
        }
        let elimination = Elimination {
            steps: (turns.iter().zip(lists.lists))
                .map(|(turn, lists)| EliminationStep {
                    inputs: (turn.children.iter().map(|&c| EliminationInput::Message(c)))
                        .chain(turn.factors.iter().map(|&f| EliminationInput::Factor(f)))
                        .collect(),
                    longest: lists.iter().map(EliminationList::len).max().unwrap_or(0),
                    widest: lists.iter().map(|l| l.ends.len()).max().unwrap_or(0),
                    lists,
                })
                .collect(),
            last: turns.iter().map(|t| t.out.is_empty()).collect(),
            lists_of_key: lists.of_key,
            counts: lists
                .counts
                .iter()
                .map(|n| n.saturating_mul(unread as u128))
                .collect(),
            unread: unread as u128,
            log_counts: lists.log_counts,
            log_unread: unread.ln(),
            combinations: lists.steps,
            rewrite: Rewrite {
                before: String::new(),
                after: self.elimination_text(&network, &turns, &factors, &common),
                cost_before,
                cost_after,
            },
            ..Elimination::default()
        };
        Some(Found {
            factors,
            combinations: tables,
            common,
            keys,
            elimination,
        })
    }

    /// Whether a predicate would be asked about rows that the guard leaves out: its row is named by
    /// variables inside and outside, which the guard ties together.
    fn asks_more(&self, factors: &[Factor], keys: &KeyIds) -> bool {
        let tied = |read: &[VarId], member: &Member| {
            let mut all = Vec::new();
            self.row_variables(member.0, &mut all);
            all.iter().any(|v| read.contains(v)) && all.iter().any(|v| keys.variables.contains(v))
        };
        (factors.iter()).any(|f| f.members.iter().any(|m| tied(&f.variables, m)))
    }
}

/// Of all ways to split the equations the one with the cheapest order.
fn cheapest(network: Network) -> (Network, Vec<Clique>) {
    let (turns, cost) = order::order(&network);
    let mut best = (network.clone(), turns, cost);
    for how in Split::ALL {
        let Some(finer) = split::split(&network, how) else {
            continue;
        };
        let (turns, cost) = order::order(&finer);
        if cost < best.2 {
            best = (finer, turns, cost);
        }
    }
    (best.0, best.1)
}

/// Whether the combinations of a clique can be numbered, and there is a chance of going through them.
fn fits(network: &Network, turn: &Clique) -> bool {
    let size = |v: &usize| network.variables[*v].size() as f64;
    let all = turn.scope.iter().map(size).product::<f64>();
    // Equations are solved within the budget, tables are joined; anything else is tried on all.
    let is_joined = |r: &usize| match network.relations[*r].kind {
        RelationKind::Equation(_) => true,
        RelationKind::Guard(guard) => matches!(
            guard.kind,
            GuardKind::Member(..) | GuardKind::Same { negated: false, .. }
        ),
    };
    let joined = turn.relations.is_empty() || turn.relations.iter().any(is_joined);
    all < if joined { 1e18 } else { 1e8 }
}
