//! Formulas in negation normal form, each stored once, so that equal ones have the same number.

use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::time::Instant;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::cliques::cliques;
use super::compile::Budget;
use super::proposition::Proposition;
use crate::recursion::deep;

pub(super) type Id = u32;

pub(super) const TRUE: Id = 0;
pub(super) const FALSE: Id = 1;

/// A formula; the members of connectives are sorted, each once ([`Store::members`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Formula {
    True,
    False,
    /// The variable is in one of the states of a set.
    In {
        var: u32,
        set: u32,
    },
    And,
    Or,
    /// Of literals of different variables: of every two one is true (`all`), or some two are both true. Written out that
    /// would be the square of the members.
    Pairs {
        all: bool,
    },
}

/// A formula, where its members and its sorted variables are, and another one with the same hash.
#[derive(Clone, Copy, Debug)]
struct Stored {
    formula: Formula,
    members: (usize, usize),
    variables: (usize, usize),
    next: Option<Id>,
}

/// All formulas of a compilation.
#[derive(Debug)]
pub(super) struct Store<'s> {
    pub domains: Vec<u32>,
    formulas: Vec<Stored>,
    /// The members and the variables of all formulas.
    lists: Vec<u32>,
    /// By hash: the first formula with it.
    numbers: FxHashMap<u64, Id>,
    /// By formula: its negation, if it has been needed.
    negations: FxHashMap<Id, Id>,
    sets: Vec<Box<[u32]>>,
    set_numbers: FxHashMap<Box<[u32]>, u32>,
    /// Results of earlier restrictions.
    restricted: FxHashMap<(Id, u32, u32), Id>,
    /// By variable, between uses false.
    seen: Vec<bool>,
    budget: Budget<'s>,
    started: Instant,
    /// Members that were looked at, and when to look at the clock.
    looked: usize,
    look_next: usize,
    over: bool,
}

/// So many members take well below a second.
const BETWEEN_LOOKS: usize = 1 << 18;

/// Beyond this many, results of restrictions are dropped.
const MOST_RESTRICTED: usize = 1 << 21;

impl<'s> Store<'s> {
    pub fn new(domains: Vec<u32>, budget: Budget<'s>) -> Store<'s> {
        let mut store = Store {
            seen: vec![false; domains.len()],
            domains,
            formulas: Vec::new(),
            lists: Vec::new(),
            numbers: FxHashMap::default(),
            negations: FxHashMap::default(),
            sets: Vec::new(),
            set_numbers: FxHashMap::default(),
            restricted: FxHashMap::default(),
            budget,
            started: Instant::now(),
            looked: 0,
            look_next: BETWEEN_LOOKS,
            over: false,
        };
        store.intern(Formula::True, &[]);
        store.intern(Formula::False, &[]);
        store
    }

    /// About the memory of all formulas, and of what was restricted.
    pub fn bytes(&self) -> usize {
        96 * self.formulas.len() + 4 * self.lists.len() + 32 * self.restricted.len()
    }

    /// Whether the budget is used up. Then formulas are no longer what they should be.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Forgets all but the first so many formulas, and begins with a new budget.
    pub fn rewind(&mut self, count: usize, budget: Budget<'s>) {
        self.formulas.truncate(count);
        for entry in &mut self.formulas {
            entry.next = entry.next.filter(|id| (*id as usize) < count);
        }
        let end = self.formulas[count - 1].variables.1;
        self.lists.truncate(end);
        self.numbers.retain(|_, id| (*id as usize) < count);
        self.negations.clear();
        self.restricted.clear();
        (self.budget, self.started, self.over) = (budget, Instant::now(), false);
        (self.looked, self.look_next) = (0, BETWEEN_LOOKS);
    }

    /// How many formulas there are.
    pub fn len(&self) -> usize {
        self.formulas.len()
    }

    /// How many members were looked at: the same in every run, unlike the time it took.
    pub fn work(&self) -> usize {
        self.looked
    }

    /// Counts members that are looked at. From time to time, looks whether the budget is used up.
    pub fn look(&mut self, members: usize) -> bool {
        self.looked += members + 1;
        if self.looked > self.look_next {
            self.look_next = self.looked + BETWEEN_LOOKS;
            self.over |= self.budget.is_used_up(self.started, self.bytes());
        }
        self.over |= self.looked > self.budget.work;
        self.over
    }

    pub fn formula(&self, id: Id) -> Formula {
        self.formulas[id as usize].formula
    }

    /// The members of a connective, or of pairs.
    pub fn members(&self, id: Id) -> &[Id] {
        let (from, to) = self.formulas[id as usize].members;
        &self.lists[from..to]
    }

    pub fn variables(&self, id: Id) -> &[u32] {
        let (from, to) = self.formulas[id as usize].variables;
        &self.lists[from..to]
    }

    pub fn states(&self, set: u32) -> &[u32] {
        &self.sets[set as usize]
    }

    fn intern(&mut self, formula: Formula, members: &[Id]) -> Id {
        let id = self.formulas.len() as Id;
        let first = match self
            .numbers
            .entry(FxBuildHasher.hash_one((formula, members)))
        {
            Entry::Vacant(free) => {
                free.insert(id);
                None
            }
            Entry::Occupied(first) => Some(*first.get()),
        };
        let (mut at, mut last) = (first, None);
        while let Some(other) = at {
            if self.formula(other) == formula && self.members(other) == members {
                return other;
            }
            last = at;
            at = self.formulas[other as usize].next;
        }
        if let Some(last) = last {
            self.formulas[last as usize].next = Some(id);
        }
        let from = self.lists.len();
        self.lists.extend_from_slice(members);
        let to = self.lists.len();
        if let Formula::In { var, .. } = formula {
            self.lists.push(var);
        }
        for member in members {
            let (from, to) = self.formulas[*member as usize].variables;
            for at in from..to {
                let var = self.lists[at];
                if !std::mem::replace(&mut self.seen[var as usize], true) {
                    self.lists.push(var);
                }
            }
        }
        let variables = &mut self.lists[to..];
        (variables.iter()).for_each(|var| self.seen[*var as usize] = false);
        variables.sort_unstable();
        self.formulas.push(Stored {
            formula,
            members: (from, to),
            variables: (to, self.lists.len()),
            next: None,
        });
        id
    }

    fn set(&mut self, states: Vec<u32>) -> u32 {
        let states: Box<[u32]> = states.into();
        if let Some(number) = self.set_numbers.get(&states) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(states.clone());
        self.set_numbers.insert(states, number);
        number
    }

    /// The variable is in one of these states, which are sorted.
    pub fn is_in(&mut self, var: u32, states: Vec<u32>) -> Id {
        if states.is_empty() {
            return FALSE;
        }
        if states.len() == self.domains[var as usize] as usize {
            return TRUE;
        }
        let set = self.set(states);
        self.intern(Formula::In { var, set }, &[])
    }

    fn complement(&self, var: u32, set: u32) -> Vec<u32> {
        let states = self.states(set);
        (0..self.domains[var as usize])
            .filter(|s| states.binary_search(s).is_err())
            .collect()
    }

    pub fn negation(&mut self, id: Id) -> Id {
        if let Some(known) = self.negations.get(&id) {
            return *known;
        }
        let formula = self.formula(id);
        let members = self.members(id).to_vec();
        let members = deep(|| members.into_iter().map(|m| self.negation(m)).collect());
        let negation = match formula {
            Formula::True => FALSE,
            Formula::False => TRUE,
            Formula::In { var, set } => {
                let states = self.complement(var, set);
                self.is_in(var, states)
            }
            Formula::And => self.connective(false, members),
            Formula::Or => self.connective(true, members),
            Formula::Pairs { all } => self.pairs(!all, members),
        };
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        negation
    }

    /// Some members of a conjunction, in their order; they need no further simplification.
    pub fn part_of_and(&mut self, members: Vec<Id>) -> Id {
        match members.as_slice() {
            [only] => *only,
            _ => self.intern(Formula::And, &members),
        }
    }

    /// `and` or `or`, simplified: constants and nested connectives of the same kind go, literals of one variable are
    /// merged, and the other members are simplified by each literal (for `and` this is unit propagation).
    pub fn connective(&mut self, and: bool, members: Vec<Id>) -> Id {
        let (neutral, absorbing) = if and { (TRUE, FALSE) } else { (FALSE, TRUE) };
        if self.look(members.len()) {
            return absorbing;
        }
        let mut open = members;
        // Variables, formulas and sets of states.
        let mut literals: Vec<(u32, Id, u32)> = Vec::new();
        let mut place: FxHashMap<u32, usize> = FxHashMap::default();
        let mut others: Vec<Id> = Vec::new();
        // Literals by which the other members have not been restricted yet.
        let mut news: Vec<usize> = Vec::new();
        loop {
            while let Some(member) = open.pop() {
                if member == absorbing {
                    return absorbing;
                }
                if member == neutral {
                    continue;
                }
                match self.formula(member) {
                    Formula::And if and => open.extend_from_slice(self.members(member)),
                    Formula::Or if !and => open.extend_from_slice(self.members(member)),
                    Formula::In { var, set } => {
                        let at = *place.entry(var).or_insert(literals.len());
                        if at == literals.len() {
                            literals.push((var, member, set));
                            news.push(at);
                            continue;
                        }
                        let known = literals[at].2;
                        if known == set {
                            continue;
                        }
                        let joined = join(and, self.states(known), self.states(set));
                        let both = self.is_in(var, joined);
                        let Formula::In { set, .. } = self.formula(both) else {
                            return absorbing;
                        };
                        if set != known {
                            literals[at] = (var, both, set);
                            news.push(at);
                        }
                    }
                    _ => others.push(member),
                }
            }
            if news.is_empty() {
                break;
            }
            let mut by: FxHashMap<u32, u32> = FxHashMap::default();
            for at in news.drain(..) {
                let (var, _, set) = literals[at];
                // Where the literal does not make an `or` true, it is false.
                let allowed = match and {
                    true => set,
                    false => {
                        let others = self.complement(var, set);
                        self.set(others)
                    }
                };
                by.insert(var, allowed);
            }
            let mut at = 0;
            while at < others.len() {
                let mut member = others[at];
                let touched = |v: &&u32| by.contains_key(*v);
                let vars: Vec<u32> = (self.variables(member).iter().filter(touched))
                    .copied()
                    .collect();
                if vars.is_empty() {
                    at += 1;
                    continue;
                }
                others.swap_remove(at);
                for var in vars {
                    member = deep(|| self.restrict(member, var, by[&var]));
                }
                open.push(member);
            }
        }
        others.sort_unstable();
        others.dedup();
        let mut all = others;
        all.extend(literals.iter().map(|(_, literal, _)| *literal));
        all.sort_unstable();
        let contradicts =
            |id: &Id| (self.negations.get(id)).is_some_and(|n| all.binary_search(n).is_ok());
        if !self.negations.is_empty() && all.iter().any(contradicts) {
            return absorbing;
        }
        match (all.as_slice(), and) {
            ([], _) => neutral,
            ([only], _) => *only,
            (_, true) => self.intern(Formula::And, &all),
            (_, false) => self.intern(Formula::Or, &all),
        }
    }

    /// Of every two members one is true (`all`), or some two are both true.
    fn pairs(&mut self, all: bool, mut members: Vec<Id>) -> Id {
        let (neutral, decisive) = if all { (TRUE, FALSE) } else { (FALSE, TRUE) };
        if self.look(members.len()) {
            return decisive;
        }
        members.retain(|m| *m != neutral);
        if let Some(at) = members.iter().position(|m| *m == decisive) {
            members.swap_remove(at);
            return self.connective(all, members);
        }
        match members.len() {
            0 | 1 => neutral,
            2 => self.connective(!all, members),
            _ => {
                members.sort_unstable();
                self.intern(Formula::Pairs { all }, &members)
            }
        }
    }

    /// Members of a conjunction (`all`) or a disjunction in which what is said of every two of some literals is one
    /// member.
    fn paired(&mut self, all: bool, members: Vec<Id>) -> Vec<Id> {
        let of_two = |id: &Id| match (self.formula(*id), self.members(*id)) {
            (Formula::Or, &[a, b]) if all => Some((a, b)),
            (Formula::And, &[a, b]) if !all => Some((a, b)),
            _ => None,
        };
        let is_literal = |id: Id| matches!(self.formula(id), Formula::In { .. });
        let mut pairs: Vec<(Id, Id)> = (members.iter().filter_map(of_two))
            .filter(|(a, b)| is_literal(*a) && is_literal(*b))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let (cliques, covered) = cliques(&pairs);
        if cliques.is_empty() {
            return members;
        }
        let is_left = |id: &Id| match of_two(id).map(|pair| pairs.binary_search(&pair)) {
            Some(Ok(at)) => !covered[at],
            _ => true,
        };
        let mut left: Vec<Id> = members.into_iter().filter(is_left).collect();
        left.extend(cliques.into_iter().map(|of| self.pairs(all, of)));
        left
    }

    /// The formula given that a variable is in one of some states.
    pub fn restrict(&mut self, id: Id, var: u32, allowed: u32) -> Id {
        if self.variables(id).binary_search(&var).is_err() {
            return id;
        }
        if let Some(known) = self.restricted.get(&(id, var, allowed)) {
            return *known;
        }
        let formula = self.formula(id);
        let members = self.members(id).to_vec();
        let members = deep(|| self.restrict_all(&members, var, allowed));
        let result = match formula {
            Formula::True | Formula::False => id,
            Formula::In { set, .. } => {
                let both = join(true, self.states(set), self.states(allowed));
                match both.len() {
                    0 => FALSE,
                    n if n == self.states(allowed).len() => TRUE,
                    _ => self.is_in(var, both),
                }
            }
            Formula::And => self.connective(true, members),
            Formula::Or => self.connective(false, members),
            Formula::Pairs { all } => self.pairs(all, members),
        };
        if self.restricted.len() > MOST_RESTRICTED {
            self.restricted.clear();
        }
        self.restricted.insert((id, var, allowed), result);
        result
    }

    fn restrict_all(&mut self, members: &[Id], var: u32, allowed: u32) -> Vec<Id> {
        let members = members.iter();
        members.map(|m| self.restrict(*m, var, allowed)).collect()
    }

    /// The states of a variable, grouped where no literal of the formula tells them apart.
    pub fn classes(&self, id: Id, var: u32) -> Vec<Vec<u32>> {
        if self.domains[var as usize] == 2 {
            return vec![vec![0], vec![1]];
        }
        let mut sets = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if self.variables(id).binary_search(&var).is_err() || !seen.insert(id) {
                continue;
            }
            if let Formula::In { set, .. } = self.formula(id) {
                sets.push(set);
            }
            open.extend_from_slice(self.members(id));
        }
        sets.sort_unstable();
        sets.dedup();
        let domain = self.domains[var as usize];
        let mut class_of = vec![0_u32; domain as usize];
        let mut count = 1_u32;
        for set in sets {
            // A set that has only some states of a group splits it in two.
            let mut inside: FxHashMap<u32, u32> = FxHashMap::default();
            for &state in self.states(set) {
                let class = &mut class_of[state as usize];
                *class = *inside.entry(*class).or_insert_with(|| {
                    count += 1;
                    count - 1
                });
            }
        }
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut place: FxHashMap<u32, usize> = FxHashMap::default();
        for (state, class) in class_of.into_iter().enumerate() {
            let at = *place.entry(class).or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[at].push(state as u32);
        }
        classes
    }

    /// The formula given that a variable is in one of these states.
    pub fn given(&mut self, id: Id, var: u32, states: &[u32]) -> Id {
        let set = self.set(states.to_vec());
        self.restrict(id, var, set)
    }

    /// Formulas given that a variable is in one state.
    pub fn all_given(&mut self, ids: &[Id], var: u32, state: u32) -> Vec<Id> {
        let set = self.set(vec![state]);
        self.look(ids.len());
        self.restrict_all(ids, var, set)
    }

    pub fn insert(&mut self, proposition: &Proposition) -> Id {
        match proposition {
            Proposition::True => TRUE,
            Proposition::False => FALSE,
            Proposition::Is {
                var,
                state,
                positive,
            } => {
                let domain = self.domains[*var as usize];
                let states = match positive {
                    true => vec![*state],
                    false => (0..domain).filter(|s| s != state).collect(),
                };
                self.is_in(*var, states)
            }
            Proposition::And(members) => self.insert_all(true, members),
            Proposition::Or(members) => self.insert_all(false, members),
        }
    }

    fn insert_all(&mut self, and: bool, members: &[Proposition]) -> Id {
        let mut all = Vec::with_capacity(members.len());
        deep(|| {
            for member in members {
                let id = self.insert(member);
                match self.formula(id) {
                    Formula::And if and => all.extend_from_slice(self.members(id)),
                    Formula::Or if !and => all.extend_from_slice(self.members(id)),
                    _ => all.push(id),
                }
            }
        });
        let all = self.paired(and, all);
        self.connective(and, all)
    }
}

/// States that are in both sets (`and`), or in either.
fn join(and: bool, a: &[u32], b: &[u32]) -> Vec<u32> {
    if and {
        return a
            .iter()
            .copied()
            .filter(|s| b.binary_search(s).is_ok())
            .collect();
    }
    let mut all: Vec<u32> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
