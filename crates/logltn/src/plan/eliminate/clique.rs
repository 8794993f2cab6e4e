//! The combinations of a clique's variables that its relations keep, for given outer variables.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::network::*;
use super::order::Clique;
use crate::guard::{Cell, Join, Scope};
use crate::theory::*;

/// The combinations of one clique, ordered by the place of the message that they add to.
#[derive(Clone, Debug, Default)]
pub(super) struct Combinations {
    /// For each, the code of its message's place.
    pub out: Vec<u64>,
    /// By child and combination: the code of the place in the child's message that it reads.
    pub children: Vec<Vec<u64>>,
    /// By factor and combination: the code of the factor's entry.
    pub factors: Vec<Vec<u64>>,
}

impl Combinations {
    /// Those that add to one place.
    pub fn of(&self, out: u64) -> std::ops::Range<usize> {
        let start = self.out.partition_point(|o| *o < out);
        let end = start + self.out[start..].partition_point(|o| *o == out);
        start..end
    }
}

/// How to enumerate the variables of a clique.
enum Step {
    Loop(usize),
    /// The one value that an equation leaves.
    Solve(usize, usize),
    Check(usize),
}

pub(super) struct Cliques<'n, 'g> {
    pub network: &'n Network<'g>,
    pub turns: &'n [Clique],
    scope: Scope<'n>,
    plans: Vec<Vec<Step>>,
    /// By turn: the results so far, by the values of the outer variables.
    found: Vec<FxHashMap<Box<[u64]>, Rc<Combinations>>>,
    /// How many more combinations may be tried before the planner gives up.
    budget: u64,
}

impl<'n, 'g> Cliques<'n, 'g> {
    pub fn new(
        network: &'n Network<'g>,
        turns: &'n [Clique],
        scope: Scope<'n>,
        budget: u64,
    ) -> Cliques<'n, 'g> {
        Cliques {
            network,
            turns,
            scope,
            plans: turns.iter().map(|turn| plan(network, turn)).collect(),
            found: vec![FxHashMap::default(); turns.len()],
            budget,
        }
    }

    /// The combinations of a turn; `None` if that is too much work.
    pub fn combinations(&mut self, turn: usize, env: &mut Vec<Cell>) -> Option<Rc<Combinations>> {
        let mut key = Vec::new();
        for &relation in &self.turns[turn].relations {
            let relation = &self.network.relations[relation];
            match &relation.kind {
                RelationKind::Equation(equation) if !equation.right.outer.is_empty() => {
                    key.push(equation.right.value(&self.scope, env) as u64);
                }
                RelationKind::Equation(_) => {}
                RelationKind::Guard(_) => {
                    key.extend(relation.outer.iter().map(|v| env[v.index()].code()));
                }
            }
        }
        if let Some(known) = self.found[turn].get(key.as_slice()) {
            return Some(known.clone());
        }
        let found = Rc::new(self.enumerate(turn, env)?);
        self.found[turn].insert(key.into(), found.clone());
        Some(found)
    }

    fn enumerate(&mut self, turn: usize, env: &mut Vec<Cell>) -> Option<Combinations> {
        let (network, clique) = (self.network, &self.turns[turn]);
        let variables = &network.variables;
        let mut rows: Vec<(u64, Vec<u64>)> = Vec::new();
        let mut keep = |places: &[u32]| {
            let scopes = (clique.children.iter().map(|&c| &self.turns[c].out))
                .chain(clique.factors.iter().map(|&f| &network.factors[f]));
            let codes = scopes.map(|s| code(variables, s, places)).collect();
            rows.push((code(variables, &clique.out, places), codes));
        };
        let mut places = vec![0; variables.len()];
        let mut budget = self.budget;
        let complete = match self.as_guards(clique) {
            Some((ids, guards)) => {
                let join = Join::over_sorts(self.scope, &ids, &guards);
                let found = join.run(env, &mut |env, _| {
                    for &v in &clique.scope {
                        if let Some(id) = variables[v].id
                            && let Cell::Individual(place) = env[id.index()]
                        {
                            places[v] = place;
                        }
                    }
                    keep(&places);
                    budget = budget.saturating_sub(1);
                    budget > 0
                });
                found.is_ok() && budget > 0
            }
            None => self.step(turn, 0, &mut places, env, &mut budget, &mut keep),
        };
        self.budget = budget;
        if !complete {
            return None;
        }
        rows.sort_unstable();
        let mut combinations = Combinations {
            out: Vec::with_capacity(rows.len()),
            children: vec![Vec::with_capacity(rows.len()); clique.children.len()],
            factors: vec![Vec::with_capacity(rows.len()); clique.factors.len()],
        };
        for (out, codes) in rows {
            combinations.out.push(out);
            let (children, factors) = codes.split_at(clique.children.len());
            for (list, code) in combinations.children.iter_mut().zip(children) {
                list.push(*code);
            }
            for (list, code) in combinations.factors.iter_mut().zip(factors) {
                list.push(*code);
            }
        }
        Some(combinations)
    }

    /// A clique without variables made by the planner, expressed by the theory's own guards: tables can
    /// then be joined.
    fn as_guards(&self, clique: &Clique) -> Option<(Vec<VarId>, Vec<&'g Guard>)> {
        let ids = clique.scope.iter().map(|&v| self.network.variables[v].id);
        let guards = clique
            .relations
            .iter()
            .map(|&r| match self.network.relations[r].kind {
                RelationKind::Guard(guard) => Some(guard),
                RelationKind::Equation(_) => None,
            });
        Some((ids.collect::<Option<_>>()?, guards.collect::<Option<_>>()?))
    }

    /// False if the budget ran out.
    fn step(
        &self,
        turn: usize,
        at: usize,
        places: &mut Vec<u32>,
        env: &mut Vec<Cell>,
        budget: &mut u64,
        keep: &mut dyn FnMut(&[u32]),
    ) -> bool {
        *budget = budget.saturating_sub(1);
        if *budget == 0 {
            return false;
        }
        let variables = &self.network.variables;
        let Some(step) = self.plans[turn].get(at) else {
            keep(places);
            return true;
        };
        match step {
            Step::Loop(v) => {
                for place in 0..variables[*v].size() as u32 {
                    bind(&variables[*v], *v, place, places, env);
                    if !self.step(turn, at + 1, places, env, budget, keep) {
                        return false;
                    }
                }
                true
            }
            Step::Solve(v, relation) => {
                let RelationKind::Equation(equation) = &self.network.relations[*relation].kind
                else {
                    return true;
                };
                let mut rest = equation.right.value(&self.scope, env);
                let mut coefficient = 0;
                for &(w, c) in &equation.terms {
                    if w == *v {
                        coefficient = c;
                    } else {
                        rest -= c * variables[w].value(places[w]);
                    }
                }
                if coefficient == 0 || rest % coefficient != 0 {
                    return true;
                }
                match variables[*v].place(rest / coefficient) {
                    Some(place) => {
                        bind(&variables[*v], *v, place, places, env);
                        self.step(turn, at + 1, places, env, budget, keep)
                    }
                    None => true,
                }
            }
            Step::Check(relation) => match self.holds(*relation, places, env) {
                true => self.step(turn, at + 1, places, env, budget, keep),
                false => true,
            },
        }
    }

    /// Whether a relation holds for variables that are all bound.
    pub fn holds(&self, relation: usize, places: &[u32], env: &mut Vec<Cell>) -> bool {
        match &self.network.relations[relation].kind {
            // Guards that can fail are not eliminated.
            RelationKind::Guard(guard) => self.scope.holds(guard, env).unwrap_or(false),
            RelationKind::Equation(equation) => {
                let terms = equation.terms.iter();
                let left: i64 = terms
                    .map(|&(v, c)| c * self.network.variables[v].value(places[v]))
                    .sum();
                left == equation.right.value(&self.scope, env)
            }
        }
    }
}

fn bind(variable: &Unknown, v: usize, place: u32, places: &mut [u32], env: &mut [Cell]) {
    places[v] = place;
    if let Some(id) = variable.id {
        env[id.index()] = Cell::Individual(place);
    }
}

/// Solves what can be solved, checks what is bound, and loops over the smallest domain otherwise.
fn plan(network: &Network, turn: &Clique) -> Vec<Step> {
    let mut unbound = turn.scope.clone();
    let mut open = turn.relations.clone();
    let mut steps = Vec::new();
    loop {
        let missing = |r: usize, unbound: &[usize]| {
            let scope = network.relations[r].scope.iter();
            scope
                .filter(|v| unbound.contains(v))
                .copied()
                .collect::<Vec<_>>()
        };
        if let Some(at) = open.iter().position(|r| missing(*r, &unbound).is_empty()) {
            steps.push(Step::Check(open.remove(at)));
            continue;
        }
        let solvable = open.iter().position(|r| {
            matches!(network.relations[*r].kind, RelationKind::Equation(_))
                && missing(*r, &unbound).len() == 1
        });
        if let Some(at) = solvable {
            let relation = open.remove(at);
            let v = missing(relation, &unbound)[0];
            steps.push(Step::Solve(v, relation));
            unbound.retain(|u| *u != v);
            continue;
        }
        let smallest = (unbound.iter().copied()).min_by_key(|v| network.variables[*v].size());
        let Some(v) = smallest else {
            return steps;
        };
        steps.push(Step::Loop(v));
        unbound.retain(|u| *u != v);
    }
}
