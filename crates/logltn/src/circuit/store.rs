//! Formulas in negation normal form, each stored once, so that equal ones have the same number.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::cliques::cliques;
use super::compile::Budget;
use super::proposition::Proposition;
use crate::recursion::deep;

pub(super) type Id = u32;

pub(super) const TRUE: Id = 0;
pub(super) const FALSE: Id = 1;

/// A formula; the members of connectives are sorted, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Formula {
    True,
    False,
    /// The variable is in one of the states of a set.
    In {
        var: u32,
        set: u32,
    },
    And(Box<[Id]>),
    Or(Box<[Id]>),
    /// Of literals of different variables: of every two one is true (`all`), or some two are both true. Written out that
    /// would be the square of the members.
    Pairs {
        all: bool,
        members: Box<[Id]>,
    },
}

/// All formulas of a compilation.
#[derive(Debug)]
pub(super) struct Store<'s> {
    pub domains: Vec<u32>,
    formulas: Vec<Formula>,
    numbers: FxHashMap<Formula, Id>,
    /// By formula: its variables, sorted.
    variables: Vec<Box<[u32]>>,
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
    bytes: usize,
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
            numbers: FxHashMap::default(),
            variables: Vec::new(),
            negations: FxHashMap::default(),
            sets: Vec::new(),
            set_numbers: FxHashMap::default(),
            restricted: FxHashMap::default(),
            budget,
            started: Instant::now(),
            looked: 0,
            look_next: BETWEEN_LOOKS,
            over: false,
            bytes: 0,
        };
        store.intern(Formula::True);
        store.intern(Formula::False);
        store
    }

    /// About the memory of all formulas.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the budget is used up. Then formulas are no longer what they should be.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Forgets all but the first so many formulas, and begins with a new budget.
    pub fn rewind(&mut self, count: usize, budget: Budget<'s>) {
        for id in count..self.formulas.len() {
            self.bytes -= self.bytes_of(id as Id);
        }
        self.formulas.truncate(count);
        self.variables.truncate(count);
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

    /// About the memory of a formula, which is stored twice.
    fn bytes_of(&self, id: Id) -> usize {
        128 + 8 * self.members(id).len() + 4 * self.variables(id).len()
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
            self.over |= self.budget.is_used_up(self.started, self.bytes);
        }
        self.over |= self.looked > self.budget.work;
        self.over
    }

    pub fn formula(&self, id: Id) -> &Formula {
        &self.formulas[id as usize]
    }

    /// The members of a connective, or of pairs.
    pub fn members(&self, id: Id) -> &[Id] {
        match self.formula(id) {
            Formula::True | Formula::False | Formula::In { .. } => &[],
            Formula::And(members) | Formula::Or(members) | Formula::Pairs { members, .. } => members,
        }
    }

    pub fn variables(&self, id: Id) -> &[u32] {
        &self.variables[id as usize]
    }

    pub fn states(&self, set: u32) -> &[u32] {
        &self.sets[set as usize]
    }

    fn intern(&mut self, formula: Formula) -> Id {
        if let Some(id) = self.numbers.get(&formula) {
            return *id;
        }
        let variables: Box<[u32]> = match &formula {
            Formula::True | Formula::False => Box::default(),
            Formula::In { var, .. } => Box::new([*var]),
            Formula::And(members) | Formula::Or(members) | Formula::Pairs { members, .. } => {
                let mut all = Vec::new();
                for member in members {
                    for var in &self.variables[*member as usize] {
                        if !std::mem::replace(&mut self.seen[*var as usize], true) {
                            all.push(*var);
                        }
                    }
                }
                all.iter().for_each(|var| self.seen[*var as usize] = false);
                all.sort_unstable();
                all.into()
            }
        };
        let id = self.formulas.len() as Id;
        self.formulas.push(formula.clone());
        self.numbers.insert(formula, id);
        self.variables.push(variables);
        self.bytes += self.bytes_of(id);
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
        self.intern(Formula::In { var, set })
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
        let negation = match self.formula(id).clone() {
            Formula::True => FALSE,
            Formula::False => TRUE,
            Formula::In { var, set } => {
                let states = self.complement(var, set);
                self.is_in(var, states)
            }
            Formula::And(members) => {
                let members = deep(|| members.iter().map(|m| self.negation(*m)).collect());
                self.connective(false, members)
            }
            Formula::Or(members) => {
                let members = deep(|| members.iter().map(|m| self.negation(*m)).collect());
                self.connective(true, members)
            }
            Formula::Pairs { all, members } => {
                let members = members.iter().map(|m| self.negation(*m)).collect();
                self.pairs(!all, members)
            }
        };
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        negation
    }

    /// Some members of a conjunction, in their order; they need no further simplification.
    pub fn part_of_and(&mut self, members: Vec<Id>) -> Id {
        match members.as_slice() {
            [only] => *only,
            _ => self.intern(Formula::And(members.into())),
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
        let mut literals: Vec<(u32, Vec<u32>)> = Vec::new();
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
                match &self.formulas[member as usize] {
                    Formula::And(inner) if and => open.extend_from_slice(inner),
                    Formula::Or(inner) if !and => open.extend_from_slice(inner),
                    Formula::In { var, set } => {
                        let states = &self.sets[*set as usize];
                        let at = *place.entry(*var).or_insert(literals.len());
                        if at == literals.len() {
                            literals.push((*var, states.to_vec()));
                            news.push(at);
                            continue;
                        }
                        let joined = join(and, &literals[at].1, states);
                        let all = self.domains[*var as usize] as usize;
                        if joined.len() == if and { 0 } else { all } {
                            return absorbing;
                        }
                        if joined != literals[at].1 {
                            literals[at].1 = joined;
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
                let (var, states) = &literals[at];
                // Where the literal does not make an `or` true, it is false.
                let allowed = match and {
                    true => states.clone(),
                    false => (0..self.domains[*var as usize])
                        .filter(|s| states.binary_search(s).is_err())
                        .collect(),
                };
                let var = *var;
                by.insert(var, self.set(allowed));
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
        for (var, states) in literals {
            let literal = self.is_in(var, states);
            all.push(literal);
        }
        all.sort_unstable();
        let contradicts =
            |id: &Id| (self.negations.get(id)).is_some_and(|n| all.binary_search(n).is_ok());
        if !self.negations.is_empty() && all.iter().any(contradicts) {
            return absorbing;
        }
        match (all.as_slice(), and) {
            ([], _) => neutral,
            ([only], _) => *only,
            (_, true) => self.intern(Formula::And(all.into())),
            (_, false) => self.intern(Formula::Or(all.into())),
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
                let members = members.into();
                self.intern(Formula::Pairs { all, members })
            }
        }
    }

    /// Members of a conjunction (`all`) or a disjunction in which what is said of every two of some literals is one
    /// member.
    fn paired(&mut self, all: bool, members: Vec<Id>) -> Vec<Id> {
        let of_two = |id: &Id| match (self.formula(*id), self.members(*id)) {
            (Formula::Or(_), &[a, b]) if all => Some((a, b)),
            (Formula::And(_), &[a, b]) if !all => Some((a, b)),
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
        let result = match self.formula(id).clone() {
            Formula::True | Formula::False => id,
            Formula::In { set, .. } => {
                let both = join(true, self.states(set), self.states(allowed));
                match both.len() {
                    0 => FALSE,
                    n if n == self.states(allowed).len() => TRUE,
                    _ => self.is_in(var, both),
                }
            }
            Formula::And(members) => {
                let members = deep(|| self.restrict_all(&members, var, allowed));
                self.connective(true, members)
            }
            Formula::Or(members) => {
                let members = deep(|| self.restrict_all(&members, var, allowed));
                self.connective(false, members)
            }
            Formula::Pairs { all, members } => {
                let members = self.restrict_all(&members, var, allowed);
                self.pairs(all, members)
            }
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
                sets.push(*set);
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
                    Formula::And(inner) if and => all.extend_from_slice(inner),
                    Formula::Or(inner) if !and => all.extend_from_slice(inner),
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
