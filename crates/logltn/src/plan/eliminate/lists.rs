//! The lists that the engine will run through: for each combination of outer variables, only those
//! combinations of a clique's variables that some full binding uses. Equal lists are kept once.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::clique::{Cliques, Combinations};
use super::network::{Network, decode};
use super::order::Clique;
use crate::guard::Cell;
use crate::plan::program::{
    Elimination, EliminationInput, EliminationList, EliminationStep, NO_LIST,
};

/// Lists by turn, and which of them each key uses.
#[derive(Default)]
pub(super) struct Lists {
    /// By turn.
    pub lists: Vec<Vec<EliminationList>>,
    known: Vec<FxHashMap<Rc<EliminationList>, u32>>,
    /// By key and turn.
    pub of_key: Vec<u32>,
    /// By key: how many bindings of the `exists` pass its guard, and the logarithm of that number, which may overflow
    /// the integer.
    pub counts: Vec<u128>,
    pub log_counts: Vec<f64>,
    /// By factor: the entries that are used, by code.
    pub entries: Vec<FxHashMap<u64, u32>>,
    /// All combinations of all turns, over all keys.
    pub steps: u128,
    /// The numbers that the lists hold.
    stored: usize,
}

/// The most numbers that the lists of one `exists` may hold.
const MAX_STORED: usize = 1 << 26;

impl Lists {
    pub fn new(turns: usize, factors: usize) -> Lists {
        Lists {
            lists: vec![Vec::new(); turns],
            known: vec![FxHashMap::default(); turns],
            entries: vec![FxHashMap::default(); factors],
            ..Lists::default()
        }
    }

    /// Adds the lists of the next key, for the outer variables as they are bound now; `None` if that is
    /// too much work.
    pub fn add_key(
        &mut self,
        cliques: &mut Cliques,
        conditions: &[usize],
        env: &mut Vec<Cell>,
    ) -> Option<()> {
        let turns = cliques.turns;
        if !conditions.iter().all(|&r| cliques.holds(r, &[], env)) {
            self.add_nothing(turns.len());
            return Some(());
        }
        // From the last turn to the first: keep what later turns need.
        let mut needed: Vec<Vec<u64>> = (turns.iter())
            .map(|t| {
                if t.out.is_empty() {
                    vec![0]
                } else {
                    Vec::new()
                }
            })
            .collect();
        let mut all: Vec<Rc<Combinations>> = Vec::with_capacity(turns.len());
        let mut kept: Vec<Vec<u32>> = vec![Vec::new(); turns.len()];
        for (t, turn) in turns.iter().enumerate().rev() {
            let combinations = cliques.combinations(t, env)?;
            sort_once(&mut needed[t]);
            for &out in &needed[t] {
                kept[t].extend(combinations.of(out).map(|i| i as u32));
            }
            for (&child, codes) in turn.children.iter().zip(&combinations.children) {
                needed[child].extend(kept[t].iter().map(|&i| codes[i as usize]));
            }
            all.push(combinations);
        }
        all.reverse();
        // From the first to the last: keep what earlier turns can provide, and count how often.
        let mut counts: Vec<FxHashMap<u64, (u128, f64)>> = Vec::with_capacity(turns.len());
        for (t, turn) in turns.iter().enumerate() {
            let mut own: FxHashMap<u64, (u128, f64)> = FxHashMap::default();
            kept[t].retain(|&i| {
                let mut times = (1_u128, 1.0);
                for (&child, codes) in turn.children.iter().zip(&all[t].children) {
                    let (n, x) = counts[child]
                        .get(&codes[i as usize])
                        .copied()
                        .unwrap_or((0, 0.0));
                    times = (times.0.saturating_mul(n), times.1 * x);
                }
                if times.0 > 0 {
                    let sum = own.entry(all[t].out[i as usize]).or_insert((0, 0.0));
                    *sum = (sum.0.saturating_add(times.0), sum.1 + times.1);
                }
                times.0 > 0
            });
            counts.push(own);
        }
        let (mut count, mut log_count) = (1_u128, 0.0);
        for (turn, counts) in turns.iter().zip(&counts) {
            if turn.out.is_empty() {
                let (n, x) = counts.get(&0).copied().unwrap_or((0, 0.0));
                count = count.saturating_mul(n);
                log_count += x.ln();
            }
        }
        if count == 0 {
            self.add_nothing(turns.len());
            return Some(());
        }
        // And back once more: remove what is no longer needed.
        for codes in &mut needed {
            codes.clear();
        }
        for (t, turn) in turns.iter().enumerate().rev() {
            if turn.out.is_empty() {
                needed[t].push(0);
            }
            sort_once(&mut needed[t]);
            kept[t].retain(|&i| needed[t].binary_search(&all[t].out[i as usize]).is_ok());
            for (&child, codes) in turn.children.iter().zip(&all[t].children) {
                needed[child].extend(kept[t].iter().map(|&i| codes[i as usize]));
            }
        }
        for (t, turn) in turns.iter().enumerate() {
            let list = self.list(&all[t], &kept[t], &turn.factors, |child, code| {
                needed[turn.children[child]]
                    .binary_search(&code)
                    .unwrap_or(0) as u32
            });
            self.steps += list.len() as u128;
            let id = self.intern(t, list)?;
            self.of_key.push(id);
        }
        self.counts.push(count);
        self.log_counts.push(log_count);
        Some(())
    }

    fn add_nothing(&mut self, turns: usize) {
        self.of_key.extend(std::iter::repeat_n(NO_LIST, turns));
        self.counts.push(0);
        self.log_counts.push(f64::NEG_INFINITY);
    }

    fn list(
        &mut self,
        all: &Combinations,
        kept: &[u32],
        factors: &[usize],
        place_of_message: impl Fn(usize, u64) -> u32,
    ) -> EliminationList {
        let mut list = EliminationList::default();
        for (k, &i) in kept.iter().enumerate() {
            if k > 0 && all.out[i as usize] != all.out[kept[k - 1] as usize] {
                list.ends.push(k as u32);
            }
        }
        list.ends.push(kept.len() as u32);
        for (child, codes) in all.children.iter().enumerate() {
            let places = kept
                .iter()
                .map(|&i| place_of_message(child, codes[i as usize]));
            list.places.extend(places);
        }
        for (&factor, codes) in factors.iter().zip(&all.factors) {
            let entries = &mut self.entries[factor];
            list.places.extend(kept.iter().map(|&i| {
                let next = entries.len() as u32;
                *entries.entry(codes[i as usize]).or_insert(next)
            }));
        }
        list
    }

    fn intern(&mut self, turn: usize, list: EliminationList) -> Option<u32> {
        if let Some(&id) = self.known[turn].get(&list) {
            return Some(id);
        }
        self.stored += list.ends.len() + list.places.len();
        if self.stored > MAX_STORED {
            return None;
        }
        let id = self.lists[turn].len() as u32;
        self.lists[turn].push(list.clone());
        self.known[turn].insert(Rc::new(list), id);
        Some(id)
    }
}

fn sort_once(codes: &mut Vec<u64>) {
    codes.sort_unstable();
    codes.dedup();
}

impl Lists {
    /// Numbers the entries of the factors in order, and gives for each factor the places of its
    /// variables.
    pub fn finish(&mut self, network: &Network, turns: &[Clique]) -> Vec<Vec<Vec<u32>>> {
        let mut tables = Vec::with_capacity(self.entries.len());
        let mut renumbered: Vec<Vec<u32>> = Vec::with_capacity(self.entries.len());
        for (entries, scope) in self.entries.iter().zip(&network.factors) {
            let mut codes: Vec<(u64, u32)> = entries.iter().map(|(c, n)| (*c, *n)).collect();
            codes.sort_unstable();
            let mut numbers = vec![0; codes.len()];
            for (new, (_, old)) in codes.iter().enumerate() {
                numbers[*old as usize] = new as u32;
            }
            renumbered.push(numbers);
            let places = codes
                .iter()
                .map(|(c, _)| decode(&network.variables, scope, *c));
            tables.push(places.collect());
        }
        for (turn, lists) in turns.iter().zip(&mut self.lists) {
            for list in lists {
                let len = list.len();
                for (at, &factor) in turn.factors.iter().enumerate() {
                    let start = (turn.children.len() + at) * len;
                    for place in &mut list.places[start..start + len] {
                        *place = renumbered[factor][*place as usize];
                    }
                }
            }
        }
        tables
    }

    /// What the engine runs, once the factors have nodes. `unread` is the number of bindings of the variables that
    /// nothing reads.
    pub fn elimination(self, turns: &[Clique], unread: f64) -> Elimination {
        let step = |(turn, lists): (&Clique, Vec<EliminationList>)| EliminationStep {
            inputs: (turn.children.iter().map(|&c| EliminationInput::Message(c)))
                .chain(turn.factors.iter().map(|&f| EliminationInput::Factor(f)))
                .collect(),
            longest: lists.iter().map(EliminationList::len).max().unwrap_or(0),
            widest: lists.iter().map(|l| l.ends.len()).max().unwrap_or(0),
            lists,
        };
        let times = |n: &u128| n.saturating_mul(unread as u128);
        Elimination {
            steps: turns.iter().zip(self.lists).map(step).collect(),
            last: turns.iter().map(|t| t.out.is_empty()).collect(),
            lists_of_key: self.of_key,
            counts: self.counts.iter().map(times).collect(),
            unread: unread as u128,
            log_counts: self.log_counts,
            log_unread: unread.ln(),
            combinations: self.steps,
            ..Elimination::default()
        }
    }
}
