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
mod lists;
mod network;
mod nonempty;
mod order;
mod split;
mod text;

use rustc_hash::FxHashMap;

use super::Rewrite;
use super::build::{Builder, Rewrites};
use super::component::{InScope, KeyIds};
use super::program::*;
use crate::diagnostic::Diagnostic;
use crate::guard::{Linear, conjuncts, free_variables, term_variables};
use crate::operators::{Aggregator, And, Space};
use crate::recursion::deep;
use crate::theory::*;

use clique::Cliques;
use lists::Lists;
use network::*;
use order::Clique;
use split::Split;

/// How many combinations may be tried before the planner goes back to listing all bindings.
const BUDGET: u64 = 1 << 24;

/// A member of the conjunction, negated or not.
pub(super) type Member<'f> = (&'f Formula, bool);

/// What to eliminate, found to be worth it; nothing of it refers to the builder.
struct Found<'f> {
    /// By factor: the variables that it reads, its members, and its combinations.
    factors: Vec<(Vec<VarId>, Vec<Member<'f>>, Vec<Vec<u32>>)>,
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
        let exact = self.semantics.space == Space::Log
            && self.semantics.and == And::Sum
            && matches!(
                self.semantics.exists,
                Aggregator::LogMeanExp | Aggregator::LogSumExp | Aggregator::Max
            );
        let Binding::Sorts(variables) = binding else {
            return Ok(None);
        };
        if !exact || self.rewrites == Rewrites::Never {
            return Ok(None);
        }
        match self.find(variables, guard, body, negate) {
            Some(mut found) => {
                let before = self.theory().formula_text(self.variables, formula);
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
        let (mut common, mut factors) = (Vec::new(), Vec::<(Vec<VarId>, Vec<Member>)>::new());
        for member in members {
            let mut read = Vec::new();
            formula_variables(member.0, &mut read);
            read.retain(|v| variables.contains(v));
            read.sort_unstable();
            read.dedup();
            match factors.iter_mut().find(|(known, _)| *known == read) {
                _ if read.is_empty() => common.push(member),
                Some((_, members)) => members.push(member),
                None => factors.push((read, vec![member])),
            }
        }
        let always = self.rewrites == Rewrites::Always;
        let whole = |(read, _): &(Vec<VarId>, _)| read.len() == variables.len();
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
        let in_factors: f64 = factors.iter().map(|(_, m)| weight(m)).sum();
        let cost_before = bindings * (in_factors + weight(&common) + 2.0);
        let inputs = turns
            .iter()
            .map(|t| (t.factors.len() + t.children.len()) as f64);
        let widths = inputs.sum::<f64>() / turns.len().max(1) as f64;
        let tabled = factors.iter().zip(&tables);
        let cost_after = lists.steps as f64 * per_key * (widths + 3.0)
            + tabled
                .map(|((_, m), t)| t.len() as f64 * (weight(m) + 1.0))
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
        let factors = factors.into_iter().zip(tables);
        Some(Found {
            factors: factors.map(|((v, m), t)| (v, m, t)).collect(),
            common,
            keys,
            elimination,
        })
    }

    /// The network of an `exists`, and the variables that neither the guard nor the formula reads.
    fn network<'g>(
        &self,
        variables: &[VarId],
        conditions: &[&'g Guard],
        factors: &[(Vec<VarId>, Vec<Member>)],
    ) -> Option<(Network<'g>, Vec<VarId>)> {
        let scope = self.guard_scope();
        let frees: Vec<Vec<VarId>> = conditions.iter().map(|g| free_variables(g)).collect();
        let is_read = |v: &VarId| {
            frees.iter().any(|f| f.contains(v)) || factors.iter().any(|(f, _)| f.contains(v))
        };
        let (read, unread): (Vec<VarId>, Vec<VarId>) = variables.iter().partition(|v| is_read(v));
        let place = |v: &VarId| read.iter().position(|r| r == v);
        let all: Vec<Unknown> = (read.iter())
            .map(|v| {
                let low = match self.variables[v.index()].sort {
                    ColumnSort::Sort(sort) => match self.theory()[sort].kind {
                        SortKind::Range(low, _) => low,
                        _ => 0,
                    },
                    _ => 0,
                };
                Unknown {
                    id: Some(*v),
                    domain: Domain::Individuals {
                        size: scope.size_of(*v),
                        low,
                    },
                    name: self.variables[v.index()].name.clone(),
                }
            })
            .collect();
        let mut relations = Vec::new();
        for (&guard, free) in conditions.iter().zip(&frees) {
            let in_scope = |v: &&VarId| self.scope.iter().any(|s| s.variables.contains(v));
            let outer: Vec<VarId> = (free.iter())
                .filter(|v| !read.contains(v))
                .filter(in_scope)
                .copied()
                .collect();
            let mut own: Vec<usize> = free.iter().filter_map(place).collect();
            own.sort_unstable();
            let product: f64 = own.iter().map(|&v| all[v].size() as f64).product();
            let mut kind = RelationKind::Guard(guard);
            let mut kept = match &guard.kind {
                GuardKind::Same { negated: false, .. } => product.sqrt() / product,
                GuardKind::Member(table, _) => {
                    let rows = self.data.table(*table).map_or(0, |t| t.rows) as f64;
                    (rows / product).min(1.0)
                }
                _ => 0.5,
            };
            let linear = Linear::of(&scope, guard).filter(|l| l.op == Comparison::Equal);
            if let Some(linear) = linear {
                let mut equation = Equation {
                    terms: Vec::new(),
                    right: Right::nothing(),
                };
                equation.right.constant = -linear.constant;
                for (id, coefficient, _) in linear.terms {
                    match place(&id) {
                        Some(v) => equation.terms.push((v, coefficient)),
                        None => equation.right.outer.push((id, -coefficient)),
                    }
                }
                // A variable that cancels out is still one that the guard mentions.
                if equation.terms.len() == own.len() {
                    kept = equation.kept(&all);
                    kind = RelationKind::Equation(equation);
                }
            }
            relations.push(Relation {
                kind,
                scope: own,
                outer,
                kept,
            });
        }
        let factors = factors.iter().map(|(read, _)| {
            let mut scope: Vec<usize> = read.iter().filter_map(place).collect();
            scope.sort_unstable();
            scope
        });
        Some((
            Network {
                factors: factors.collect(),
                variables: all,
                relations,
            },
            unread,
        ))
    }

    /// Whether a predicate would be asked about rows that the guard leaves out: its row is named by
    /// variables inside and outside, which the guard ties together.
    fn asks_more(&self, factors: &[(Vec<VarId>, Vec<Member>)], keys: &KeyIds) -> bool {
        let tied = |read: &[VarId], member: &Member| {
            let mut all = Vec::new();
            self.row_variables(member.0, &mut all);
            all.iter().any(|v| read.contains(v)) && all.iter().any(|v| keys.variables.contains(v))
        };
        (factors.iter()).any(|(read, members)| members.iter().any(|m| tied(read, m)))
    }

    /// The variables of the arguments that name rows.
    fn row_variables(&self, formula: &Formula, found: &mut Vec<VarId>) {
        deep(|| match &formula.kind {
            FormulaKind::Atom {
                predicate,
                arguments,
            } => {
                let rows = match self.outputs[predicate.index()].per_class {
                    true => &arguments[..arguments.len().saturating_sub(1)],
                    false => arguments.as_slice(),
                };
                rows.iter().for_each(|a| term_variables(a, found));
            }
            FormulaKind::Not(inner) => self.row_variables(inner, found),
            FormulaKind::And(members) | FormulaKind::Or(members) => {
                members.iter().for_each(|m| self.row_variables(m, found));
            }
            FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
                self.row_variables(a, found);
                self.row_variables(b, found);
            }
            FormulaKind::Quantified { body, .. } => self.row_variables(body, found),
        });
    }

    /// About how much work a formula is for one binding.
    pub(super) fn weight(&self, formula: &Formula) -> f64 {
        deep(|| match &formula.kind {
            FormulaKind::Atom { .. } => 2.0,
            FormulaKind::Not(inner) => self.weight(inner),
            FormulaKind::And(members) => members.iter().map(|m| self.weight(m)).sum(),
            FormulaKind::Or(members) => members.iter().map(|m| 3.0 + self.weight(m)).sum(),
            FormulaKind::Implies(a, b) => 6.0 + self.weight(a) + self.weight(b),
            FormulaKind::Iff(a, b) => 12.0 + 2.0 * (self.weight(a) + self.weight(b)),
            FormulaKind::Quantified {
                binding,
                body,
                guard,
                ..
            } => {
                let size = match binding {
                    Binding::Rows(table, _) => {
                        self.data.table(*table).map_or(0.0, |t| t.rows as f64)
                    }
                    Binding::Sorts(variables) => {
                        let scope = self.guard_scope();
                        variables
                            .iter()
                            .map(|v| f64::from(scope.size_of(*v)))
                            .product()
                    }
                };
                // Nobody knows yet what a guard will leave.
                let kept = if guard.is_some() { size.sqrt() } else { size };
                kept * (self.weight(body) + 2.0)
            }
        })
    }

    fn lower_elimination(&mut self, found: Found, formula: &Formula) -> Result<usize, Diagnostic> {
        let Found {
            factors,
            common,
            keys,
            mut elimination,
        } = found;
        let key_slot = (!keys.variables.is_empty()).then(|| self.key_slot(&keys));
        elimination.key_slot = key_slot;
        for (member, negate) in common {
            let node = self.formula(member, negate)?;
            elimination.common.push(node);
        }
        for (variables, members, combinations) in factors {
            elimination
                .factors
                .push(self.factor(variables, members, combinations, formula)?);
        }
        let index = self.program.eliminations.len();
        self.program.eliminations.push(elimination);
        // Inner ones have been numbered before.
        self.elimination_keys.push(keys);
        Ok(self.node(NodeKind::Elimination(index), formula))
    }

    /// A level that runs through the combinations of a factor, and the factor's formula there.
    fn factor(
        &mut self,
        variables: Vec<VarId>,
        members: Vec<Member>,
        combinations: Vec<Vec<u32>>,
        formula: &Formula,
    ) -> Result<EliminationFactor, Diagnostic> {
        let size = combinations.len();
        let sizes: Vec<u32> = variables
            .iter()
            .map(|v| self.guard_scope().size_of(*v))
            .collect();
        let component = match variables.as_slice() {
            [only] if size == sizes[0] as usize => self.all_individuals(*only),
            _ => {
                self.components.push(Component {
                    source: ComponentSource::Guarded {
                        variables: variables.clone(),
                        rows_of: None,
                    },
                    offsets: vec![0, size as u32],
                    tuples: combinations.into_iter().flatten().collect(),
                    arity: variables.len(),
                    candidates: sizes.iter().map(|s| u128::from(*s)).product(),
                    method: "those that some binding uses".to_string(),
                    batched: None,
                });
                self.key_ids.push(KeyIds::default());
                self.components.len() - 1
            }
        };
        let outer = self.level;
        let level = self.program.levels.len();
        let names = variables
            .iter()
            .map(|v| self.variables[v.index()].name.as_str());
        self.program.levels.push(Level {
            parent: outer,
            components: vec![ComponentUse {
                component,
                key_slot: None,
                names: names.collect::<Vec<_>>().join(", "),
                key_names: String::new(),
            }],
            ..Level::default()
        });
        let in_scope = InScope {
            component,
            level,
            position: 0,
            variables,
        };
        self.level_scopes.push(vec![in_scope.clone()]);
        self.scope.push(in_scope);
        self.level = level;
        let nodes: Result<Vec<usize>, Diagnostic> = (members.into_iter())
            .map(|(member, negate)| self.formula(member, negate))
            .collect();
        let body = nodes.map(|nodes| match nodes.as_slice() {
            [only] => *only,
            _ => self.node(NodeKind::And(nodes), formula),
        });
        self.level = outer;
        self.scope.pop();
        Ok(EliminationFactor {
            level,
            body: body?,
            size,
        })
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
    turn.scope.iter().map(size).product::<f64>() < 1e18
}

/// The members of a conjunction, nested ones too: a sum of sums is a sum.
pub(super) fn flatten<'f>(formula: &'f Formula, negate: bool, found: &mut Vec<Member<'f>>) {
    deep(|| match &formula.kind {
        FormulaKind::Not(inner) => flatten(inner, !negate, found),
        FormulaKind::And(members) if !negate => {
            members.iter().for_each(|m| flatten(m, false, found));
        }
        FormulaKind::Or(members) if negate => members.iter().for_each(|m| flatten(m, true, found)),
        FormulaKind::Implies(a, b) if negate => {
            flatten(a, false, found);
            flatten(b, true, found);
        }
        _ => found.push((formula, negate)),
    });
}

/// Every variable that a formula mentions; each binder has variables of its own.
pub(super) fn formula_variables(formula: &Formula, found: &mut Vec<VarId>) {
    deep(|| match &formula.kind {
        FormulaKind::Atom { arguments, .. } => {
            arguments.iter().for_each(|a| term_variables(a, found));
        }
        FormulaKind::Not(inner) => formula_variables(inner, found),
        FormulaKind::And(members) | FormulaKind::Or(members) => {
            members.iter().for_each(|m| formula_variables(m, found));
        }
        FormulaKind::Implies(a, b) | FormulaKind::Iff(a, b) => {
            formula_variables(a, found);
            formula_variables(b, found);
        }
        FormulaKind::Quantified { guard, body, .. } => {
            guard.iter().for_each(|g| found.extend(free_variables(g)));
            formula_variables(body, found);
        }
    });
}
