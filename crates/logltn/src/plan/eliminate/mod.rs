//! Variable elimination: `exists V where G. φ₁ and … and φₖ` without going through all bindings of V.
//!
//! In log space `and` is a sum and `exists` a (mean of a) LogSumExp or a maximum, over which a common
//! summand can be moved. So the variables can go one at a time, as in sum-product message passing: the
//! members of the conjunction are factors, the conjuncts of the guard are relations, and each clique of
//! variables becomes one list of combinations. Exact for LogMeanExp, LogSumExp and max; the number of
//! bindings, for the mean, comes from counting along the same lists.
//!
//! [`network`] describes the problem, [`split`] cuts equations into small ones, [`order`] chooses the cliques,
//! [`clique`] lists their combinations, and [`lists`] keeps those that each outer binding uses. Only then is it
//! known whether elimination pays, so the lists are made before that is decided. The bindings around an `exists`
//! are listed by the grounder, which keeps them for the next pass.

mod clique;
mod lists;
mod network;
mod nonempty;
mod order;
mod split;
mod text;

use std::sync::Arc;

use super::Rewrite;
use super::cost::work;
use super::ground::{Bound, Grounder, KeyIds, codes, relevant};
use super::normal::{Kind, Normal};
use super::program::*;
use super::shard::Shards;
use crate::diagnostic::Diagnostic;
use crate::guard::{Scope, conjuncts, term_variables};
use crate::output::Output;
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;

use clique::Cliques;
use lists::Lists;
use network::*;
pub(super) use nonempty::never_empty;
use order::Clique;
use split::Split;

/// How many combinations may be tried before the planner goes back to listing all bindings.
const BUDGET: u64 = 1 << 24;

/// An `exists` by elimination.
#[derive(Clone, Debug)]
pub(crate) struct SumProduct {
    pub factors: Vec<Factor>,
    /// Members of the conjunction without any of the variables.
    pub common: Vec<Normal>,
    /// The outer variables that the guard looks at, and the numbers of the lists.
    pub keys: (Vec<VarId>, KeyIds),
    /// The lists; nodes, levels and slots are not known yet.
    pub elimination: Elimination,
    /// For people.
    pub rewrite: Rewrite,
}

/// The members of the conjunction that read the same variables, for all combinations of these that are used.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub bound: Arc<Bound>,
    pub body: Normal,
}

/// The input of the pass.
pub(super) struct Eliminate<'a> {
    pub scope: Scope<'a>,
    pub outputs: &'a [Output],
    /// The axiom as it was written, for people.
    pub written: &'a Formula,
    /// Whether to rewrite even where it does not pay.
    pub always: bool,
    /// What belongs to this process alone: quantifiers over it stay.
    pub shards: Option<Shards<'a>>,
    pub lists: &'a mut Grounder,
    /// The variables bound around the current formula.
    pub around: Vec<Arc<Bound>>,
}

/// Members that read the same variables.
struct Group<'f> {
    variables: Vec<VarId>,
    members: Vec<&'f Normal>,
}

/// An elimination that is worth it.
struct Found<'f> {
    groups: Vec<Group<'f>>,
    /// By group: the combinations of its variables that some binding uses.
    combinations: Vec<Vec<Vec<u32>>>,
    common: Vec<&'f Normal>,
    keys: (Vec<VarId>, KeyIds),
    elimination: Elimination,
    rewrite: Rewrite,
}

impl Eliminate<'_> {
    /// Eliminates the variables of every `exists` where that is exact and cheaper.
    pub fn apply(&mut self, normal: &mut Normal) -> Result<(), Diagnostic> {
        let Kind::Quantifier {
            forall,
            binding,
            guard,
            body,
        } = &normal.kind
        else {
            return deep(|| {
                normal
                    .children_mut()
                    .try_for_each(|inner| self.apply(inner))
            });
        };
        let stays = self.shards.is_some_and(|s| s.bound(binding) > 0);
        if let (false, Binding::Sorts(variables)) = (*forall || stays, binding)
            && let Some(found) = self.find(variables, guard.as_deref(), body)
        {
            let sum = self.sum_product(found, normal.span)?;
            normal.kind = Kind::SumProduct(Box::new(sum));
            return Ok(());
        }
        let bound = (self.lists).quantifier(self.scope, &self.around, binding, guard.as_deref())?;
        self.under(bound, |this| {
            deep(|| {
                normal
                    .children_mut()
                    .try_for_each(|inner| this.apply(inner))
            })
        })
    }

    fn under<T>(&mut self, bound: Vec<Arc<Bound>>, inside: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.around.len();
        self.around.extend(bound);
        let found = inside(self);
        self.around.truncate(depth);
        found
    }

    fn sum_product(&mut self, found: Found, span: Span) -> Result<SumProduct, Diagnostic> {
        let mut common: Vec<Normal> = found.common.into_iter().cloned().collect();
        common.iter_mut().try_for_each(|m| self.apply(m))?;
        let mut factors = Vec::with_capacity(found.groups.len());
        for (group, combinations) in found.groups.into_iter().zip(found.combinations) {
            let members = group.members.into_iter().cloned().collect();
            let mut body = Normal::connective(true, members, span);
            let bound = (self.lists).combinations(self.scope, group.variables, combinations)?;
            self.under(vec![bound.clone()], |this| this.apply(&mut body))?;
            factors.push(Factor { bound, body });
        }
        let mut rewrite = found.rewrite;
        let theory = self.scope.theory();
        rewrite.before = theory.written_text(self.scope.variables, self.written, span);
        Ok(SumProduct {
            factors,
            common,
            keys: found.keys,
            elimination: found.elimination,
            rewrite,
        })
    }

    fn find<'f>(
        &self,
        variables: &[VarId],
        guard: Option<&Guard>,
        body: &'f Normal,
    ) -> Option<Found<'f>> {
        let conditions = guard.map(conjuncts).unwrap_or_default();
        let scope = self.scope;
        let small = |v: &VarId| (1..1 << 24).contains(&scope.size_of(*v));
        if !variables.iter().all(small) || conditions.iter().any(|g| scope.may_fail(g)) {
            return None;
        }
        let members = body.conjuncts();
        if !members.iter().all(|member| never_empty(scope, member)) {
            return None;
        }
        let (mut common, mut groups) = (Vec::new(), Vec::<Group>::new());
        for member in members {
            let mut read = Vec::new();
            member.variables(&mut read);
            read.retain(|v| variables.contains(v));
            read.sort_unstable();
            read.dedup();
            match groups.iter_mut().find(|f| f.variables == read) {
                _ if read.is_empty() => common.push(member),
                Some(group) => group.members.push(member),
                None => groups.push(Group {
                    variables: read,
                    members: vec![member],
                }),
            }
        }
        let whole = |f: &Group| f.variables.len() == variables.len();
        if !self.always && groups.iter().any(whole) && common.is_empty() {
            return None; // every binding has a value of its own
        }
        let reads: Vec<&[VarId]> = groups.iter().map(|f| f.variables.as_slice()).collect();
        let (network, unread) = Network::new(scope, variables, &conditions, &reads);
        let (network, turns) = cheapest(network);
        let widest = turns.iter().map(|t| t.scope.len()).max().unwrap_or(0);
        if !self.always
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

        let outer = network.relations.iter().flat_map(|r| r.outer.clone());
        let mut outer: Vec<VarId> = outer.collect();
        outer.sort_unstable();
        outer.dedup();
        let mut keys = KeyIds::default();
        let mut cliques = Cliques::new(&network, &turns, scope, BUDGET);
        let conditions: Vec<usize> = (0..network.relations.len())
            .filter(|&r| network.relations[r].scope.is_empty())
            .collect();
        let mut lists = Lists::new(turns.len(), groups.len());
        let mut too_much = false;
        let around = relevant(&self.around, &outer);
        let had_room = (self.lists).walk(scope, &around, &outer, &mut |env| {
            let key = codes(&outer, env);
            if !keys.contains_key(&key) {
                too_much = lists.add_key(&mut cliques, &conditions, env).is_none();
                keys.insert(key, keys.len() as u32);
            }
            !too_much
        });
        if too_much || !had_room || keys.is_empty() {
            return None;
        }
        let combinations = lists.finish(&network, &turns);

        // The cost of one outer binding, as written and by elimination.
        let per_key = 1.0 / keys.len() as f64;
        let sizes = unread.iter().map(|v| f64::from(scope.size_of(*v)));
        let unread: f64 = sizes.product();
        let bindings = lists.counts.iter().map(|n| *n as f64).sum::<f64>() * per_key * unread;
        let weight = |members: &[&Normal]| -> f64 { members.iter().map(|m| work(&scope, m)).sum() };
        let in_factors: f64 = groups.iter().map(|f| weight(&f.members)).sum();
        let cost_before = bindings * (in_factors + weight(&common) + 2.0);
        let inputs = turns
            .iter()
            .map(|t| (t.factors.len() + t.children.len()) as f64);
        let widths = inputs.sum::<f64>() / turns.len().max(1) as f64;
        let tabled = groups.iter().zip(&combinations);
        let cost_after = lists.steps as f64 * per_key * (widths + 3.0)
            + tabled
                .map(|(f, t)| t.len() as f64 * (weight(&f.members) + 1.0))
                .sum::<f64>()
            + weight(&common);
        let asks_more = self.asks_more(&groups, &outer);
        let asks_strata = |m: &&Normal| m.uses().next().is_some();
        // A stratum is computed for the tuples that are asked for, and may be in a cycle with its
        // user.
        if asks_more && groups.iter().flat_map(|g| &g.members).any(asks_strata) {
            return None;
        }
        let enough = if asks_more { 0.01 } else { 0.8 };
        if !self.always && cost_after > enough * cost_before {
            return None;
        }
        let rewrite = Rewrite {
            before: String::new(),
            after: text::text(scope, &network, &turns, &groups, &common),
            cost_before,
            cost_after,
        };
        Some(Found {
            groups,
            combinations,
            common,
            keys: (outer, keys),
            elimination: lists.elimination(&turns, unread),
            rewrite,
        })
    }

    /// Whether a predicate would be evaluated on rows that the guard rules out: its row depends on
    /// inner and outer variables, which the guard ties together.
    fn asks_more(&self, groups: &[Group], outer: &[VarId]) -> bool {
        let tied = |read: &[VarId], member: &Normal| {
            let mut all = Vec::new();
            self.row_variables(member, &mut all);
            all.iter().any(|v| read.contains(v)) && all.iter().any(|v| outer.contains(v))
        };
        (groups.iter()).any(|f| f.members.iter().any(|m| tied(&f.variables, m)))
    }

    /// The variables of the arguments that name rows.
    fn row_variables(&self, normal: &Normal, found: &mut Vec<VarId>) {
        for part in normal.parts() {
            let arguments: &[Term] = match &part.kind {
                Kind::Use { arguments, .. } => arguments,
                Kind::Literal {
                    predicate,
                    arguments,
                    ..
                } if self.outputs[predicate.index()].per_class => {
                    &arguments[..arguments.len().saturating_sub(1)]
                }
                Kind::Literal { arguments, .. } => arguments,
                _ => &[],
            };
            arguments.iter().for_each(|a| term_variables(a, found));
        }
    }
}

/// The way to split the equations that has the cheapest order.
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

/// Whether the combinations of a clique can be numbered, and enumerating them may be feasible.
fn fits(network: &Network, turn: &Clique) -> bool {
    let size = |v: &usize| network.variables[*v].size() as f64;
    let all = turn.scope.iter().map(size).product::<f64>();
    // Equations are solved within the budget and tables are joined; anything else is tried on all
    // combinations.
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
