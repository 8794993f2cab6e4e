//! Bindings about the same individuals, required together.
//!
//! Without labels the true classes that occur are all that an axiom permits. `forall (x, y) in e. forall k: C. not (c(x, k) and
//! c(y, k))` permits no two equal ones, which no single k says. So the bindings of an axiom, or of a family, that differ
//! only in variables whose class nobody asks about are one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::support;
use crate::plan::Plan;
use crate::plan::events::ListedEvent;
use crate::theory::{PredicateId, VarId};

/// What the bindings of an axiom have in common that are about the same individuals.
pub(super) struct Key {
    /// By variable of the axiom: whether the predicate is asked about whoever it is bound to.
    asked: Vec<bool>,
    /// The individuals of a member of a family that it is asked about.
    member: Vec<u32>,
    /// Whether there are other variables.
    joins: bool,
}

impl Key {
    pub fn new(plan: &Plan, program: usize, predicate: PredicateId) -> Key {
        let (theory, member) = (plan.data.theory(), &plan.axioms[program]);
        let axiom = &theory.axioms[member.axiom];
        let asked = support::individuals(theory, axiom, predicate);
        let family = axiom.family.iter().flat_map(|f| &f.variables);
        let (own, others): (Vec<_>, Vec<_>) =
            (family.zip(&member.individuals)).partition(|(v, _)| asked[v.index()]);
        let ranking = plan.programs[program].ranking.as_ref();
        let digits = ranking.iter().flat_map(|r| &r.digits);
        let mut parts = digits.flat_map(|digit| digit.parts(&plan.data));
        let is_other = |variable: VarId| !asked[variable.index()];
        Key {
            joins: !others.is_empty() || parts.any(|(_, variable)| variable.is_some_and(is_other)),
            member: own.into_iter().map(|(_, individual)| *individual).collect(),
            asked,
        }
    }

    /// None if no other binding shares it.
    pub fn of(&self, event: &ListedEvent) -> Option<Vec<u32>> {
        let rest = || event.place(|variable| self.asked[variable.index()]);
        self.joins.then(|| [self.member.clone(), rest()].concat())
    }
}

/// What the bindings of an axiom require, those about the same individuals together.
#[derive(Default)]
pub(super) struct Groups {
    /// By what their bindings have in common.
    groups: FxHashMap<Vec<u32>, Group>,
    /// Bindings that each are a group of their own: by state, how many.
    alone: BTreeMap<u32, u64>,
}

#[derive(Default)]
struct Group {
    individuals: Vec<Vec<u32>>,
    state: u32,
}

/// Which formulas groups have, by state: most groups of an axiom have the same ones, and then the same state.
#[derive(Default)]
pub(super) struct States {
    /// By state, from 1 on: the one before it, and what came to that.
    steps: Vec<(u32, Step)>,
    next: FxHashMap<(u32, Step), u32>,
}

/// A formula by its number, and by variable its place among the individuals of the group.
pub(super) type Step = (u32, Vec<u32>);

impl States {
    /// Everything that a state requires, in order.
    pub fn all(&self, mut state: u32) -> Vec<&Step> {
        let mut steps = Vec::new();
        while state > 0 {
            let (before, step) = &self.steps[state as usize - 1];
            steps.push(step);
            state = *before;
        }
        steps.reverse();
        steps
    }

    fn with(&mut self, state: u32, step: Step) -> u32 {
        if let Some(next) = self.next.get(&(state, step.clone())) {
            return *next;
        }
        let next = match self.all(state).contains(&&step) {
            true => state,
            false => {
                self.steps.push((state, step.clone()));
                self.steps.len() as u32
            }
        };
        self.next.insert((state, step), next);
        next
    }
}

impl Groups {
    /// Takes a binding in: its formula, and who its variables are. Without a key it is a group of its own.
    pub fn add(
        &mut self,
        states: &mut States,
        key: Option<Vec<u32>>,
        formula: u32,
        individuals: &[Vec<u32>],
    ) {
        let Some(key) = key else {
            let all = (0..individuals.len() as u32).collect();
            *self
                .alone
                .entry(states.with(0, (formula, all)))
                .or_default() += 1;
            return;
        };
        let group = self.groups.entry(key).or_default();
        let mut places = Vec::with_capacity(individuals.len());
        for individual in individuals {
            let known = group.individuals.iter().position(|i| i == individual);
            places.push(known.unwrap_or(group.individuals.len()) as u32);
            if known.is_none() {
                group.individuals.push(individual.clone());
            }
        }
        group.state = states.with(group.state, (formula, places));
    }

    /// Takes all bindings of another member of the family in.
    pub fn take(&mut self, states: &mut States, other: Groups) {
        if self.groups.is_empty() && self.alone.is_empty() {
            *self = other;
            return;
        }
        for (state, count) in other.alone {
            *self.alone.entry(state).or_default() += count;
        }
        for (key, group) in other.groups {
            let steps: Vec<Step> = states.all(group.state).into_iter().cloned().collect();
            for (formula, places) in steps {
                let own = places
                    .iter()
                    .map(|p| group.individuals[*p as usize].clone());
                self.add(states, Some(key.clone()), formula, &own.collect::<Vec<_>>());
            }
        }
    }

    /// The states of all groups, and how many groups have each.
    pub fn states(&self) -> BTreeMap<u32, u64> {
        let mut found = self.alone.clone();
        for group in self.groups.values() {
            *found.entry(group.state).or_default() += 1;
        }
        found
    }
}
