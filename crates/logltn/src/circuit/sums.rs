//! Circuits of implications between single atoms, such as hierarchies. An atom with one neighbour is summed out by itself.
//! Of the others one is decided, what follows from it is settled, and what is left falls into parts that no implication
//! connects. Equal parts are compiled once, whatever has been decided around them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::compile::{Budget, Compiled, Nodes, TooHard};
use super::order::elimination;
use super::{Implications, Root};
use crate::recursion::deep;

/// Atoms with one neighbour are summed out so often; what is left of a long chain is halved again and again instead,
/// which takes fewer levels.
const MOST_DEEP: usize = 12;

/// Implications, without the atoms that are settled whatever else holds.
pub(super) struct Graph {
    /// By atom: those that it implies, and those that imply it.
    lists: [Vec<Vec<u32>>; 2],
    known: Vec<Option<bool>>,
    /// Atoms with one neighbour, or none, in the order in which they are summed out.
    alone: Vec<(u32, Option<Beside>)>,
    /// The neighbours of the others.
    core: Vec<FxHashSet<u32>>,
    vars: Vec<u32>,
}

/// The only neighbour of an atom.
#[derive(Clone, Copy)]
struct Beside {
    other: u32,
    /// By its state: whether that settles the state of the atom.
    settles: [bool; 2],
}

impl Graph {
    /// `None` if the implications contradict each other.
    pub fn of(implications: &Implications, count: usize) -> Option<Graph> {
        let known = implications.settled(count)?;
        let is_open = |v: &u32| known[*v as usize].is_none();
        let mut lists = implications.lists(count);
        let mut core = vec![FxHashSet::default(); count];
        for list in &mut lists {
            for (var, others) in (0..count as u32).zip(list) {
                others.retain(|other| is_open(&var) && is_open(other) && *other != var);
                core[var as usize].extend(others.iter().copied());
            }
        }
        let mut vars: Vec<u32> = (0..count as u32).filter(is_open).collect();
        let mut open = vars.clone();
        let mut gone = vec![false; count];
        let mut alone = Vec::new();
        for _ in 0..MOST_DEEP {
            for var in std::mem::take(&mut open) {
                if gone[var as usize] || core[var as usize].len() > 1 {
                    continue;
                }
                gone[var as usize] = true;
                let other = core[var as usize].drain().next();
                if let Some(other) = &other {
                    core[*other as usize].remove(&var);
                    open.push(*other);
                }
                // A false one makes those false that imply it, a true one those true that it implies.
                let beside = |other: u32| Beside {
                    other,
                    settles: [0, 1].map(|i: usize| lists[i][var as usize].contains(&other)),
                };
                alone.push((var, other.map(beside)));
            }
        }
        vars.retain(|var| !gone[*var as usize]);
        for others in lists.iter_mut().flatten() {
            others.retain(|other| !gone[*other as usize]);
        }
        Some(Graph {
            lists,
            known,
            alone,
            core,
            vars,
        })
    }

    /// How many orders to try.
    pub fn orders(&self) -> u32 {
        match self.vars.is_empty() {
            true => 1,
            false => 6,
        }
    }

    /// By atom: its place in an elimination, the last of which is decided first. Other seeds give other orders. `None` if
    /// that takes too long.
    pub fn order(&self, seed: u32) -> Option<Vec<u32>> {
        let mut place = vec![0; self.core.len()];
        for ((var, _), at) in elimination(&self.core, &self.vars, seed)?
            .into_iter()
            .zip(0..)
        {
            place[var as usize] = at;
        }
        Some(place)
    }

    /// The circuit for an order.
    pub fn compile<'s>(
        &'s self,
        domains: &[u32],
        place: &'s [u32],
        budget: Budget<'s>,
    ) -> Compiled {
        let count = domains.len();
        let mut nodes = Nodes::new(domains, budget);
        let mut beside: Vec<Vec<[Root; 2]>> = vec![Vec::new(); count];
        let mut atoms = vec![Atom::default(); count];
        let mut settled = Vec::new();
        for (var, is) in (0..count as u32).zip(&self.known) {
            settled.extend(is.map(|is| Root::Node(nodes.leaf(var, &[u32::from(is)]))));
        }
        let alone = self.alone.iter().copied();
        for (var, other) in alone.chain(self.vars.iter().map(|var| (*var, None))) {
            let parts = std::mem::take(&mut beside[var as usize]);
            let states = [0, 1].map(|is| {
                let own = [Root::Node(nodes.leaf(var, &[is as u32]))];
                nodes.product(own.into_iter().chain(parts.iter().map(|p| p[is])).collect())
            });
            let either = match parts.is_empty() {
                // Its weights add up to 1.
                true => Root::True,
                false => nodes.sum(states.to_vec()),
            };
            atoms[var as usize] = Atom { states, either };
            if let Some(Beside { other, settles }) = other {
                let part = [0, 1].map(|is| if settles[is] { states[is] } else { either });
                beside[other as usize].push(part);
            }
        }
        let whole = self.alone.iter().filter(|(_, other)| other.is_none());
        settled.extend(whole.map(|(var, _)| atoms[*var as usize].either));
        let mut sums = Sums {
            graph: self,
            nodes,
            atoms,
            place,
            compiled: FxHashMap::default(),
            listed: 0,
            seen: vec![0; count],
            searches: 0,
            work: 0,
            most_work: budget.work,
        };
        let compiled = sums.all(Vec::new(), &self.vars).map(|rest| {
            settled.push(rest);
            let root = sums.nodes.product(settled);
            sums.nodes.finish(root)
        });
        (compiled, sums.work)
    }
}

/// An atom with those that were summed out beside it.
#[derive(Clone, Copy, Default)]
struct Atom {
    states: [Root; 2],
    either: Root,
}

struct Sums<'a> {
    graph: &'a Graph,
    nodes: Nodes<'a>,
    atoms: Vec<Atom>,
    place: &'a [u32],
    /// By what is decided first in a part and by the settled atoms around it, which tell what the part is.
    compiled: FxHashMap<(u32, Vec<u32>), Root>,
    /// The length of all these lists.
    listed: usize,
    /// By atom: where the search that is going on has seen it.
    seen: Vec<u32>,
    searches: u32,
    /// How many atoms were looked at.
    work: usize,
    most_work: usize,
}

/// Atoms that implications connect, and the settled atoms beside them.
struct Part {
    members: Vec<u32>,
    around: Vec<u32>,
}

impl Sums<'_> {
    /// The product of what is settled and the sums over what is left.
    fn all(&mut self, settled: Vec<(u32, bool)>, left: &[u32]) -> Result<Root, TooHard> {
        let states = settled.into_iter().map(|(var, is)| {
            let state = self.atoms[var as usize].states[usize::from(is)];
            (var, state)
        });
        let mut factors = self.nodes.grouped(states.collect());
        for part in self.parts(left) {
            factors.push(match part.members.as_slice() {
                [only] => self.atoms[*only as usize].either,
                _ => deep(|| self.one(part))?,
            });
        }
        Ok(self.nodes.product(factors))
    }

    /// The parts that implications connect.
    fn parts(&mut self, left: &[u32]) -> Vec<Part> {
        let [open, taken, beside] = [1, 2, 3].map(|i| self.searches + i);
        self.searches += 3;
        for var in left {
            self.seen[*var as usize] = open;
        }
        let mut parts = Vec::new();
        for var in left {
            if self.seen[*var as usize] != open {
                continue;
            }
            self.seen[*var as usize] = taken;
            let (mut members, mut around, mut at) = (vec![*var], Vec::new(), 0);
            while let Some(var) = members.get(at).copied() {
                at += 1;
                for next in self.graph.lists.iter().flat_map(|list| &list[var as usize]) {
                    let seen = &mut self.seen[*next as usize];
                    if *seen == open {
                        *seen = taken;
                        members.push(*next);
                    } else if *seen != taken && *seen != beside {
                        *seen = beside;
                        around.push(*next);
                    }
                }
            }
            // They may be beside another part, too.
            around.iter().for_each(|v| self.seen[*v as usize] = 0);
            around.sort_unstable();
            parts.push(Part { members, around });
        }
        parts
    }

    /// The sum over the states of a part.
    fn one(&mut self, part: Part) -> Result<Root, TooHard> {
        let places = part.members.iter().map(|v| (self.place[*v as usize], *v));
        let (_, first) = places.max().unwrap_or_default();
        let key = (first, part.around);
        if let Some(known) = self.compiled.get(&key) {
            return Ok(*known);
        }
        self.listed += key.1.len();
        let own = 64 * self.compiled.len() + 4 * self.listed;
        self.work += part.members.len();
        let over = self.work > self.most_work;
        self.nodes.go_on(own / Budget::BYTES_PER_EDGE, over)?;
        let mut summands = Vec::with_capacity(2);
        for is in [false, true] {
            let (settled, left) = self.follow(&part.members, first, is);
            summands.push(self.all(settled, &left)?);
        }
        let sum = self.nodes.sum(summands);
        self.compiled.insert(key, sum);
        Ok(sum)
    }

    /// What follows within a part from the state of an atom, and the atoms that are left: what a true one implies is
    /// true, and what implies a false one is false.
    fn follow(&mut self, members: &[u32], first: u32, is: bool) -> (Vec<(u32, bool)>, Vec<u32>) {
        self.searches += 1;
        let open = self.searches;
        for var in members {
            self.seen[*var as usize] = open;
        }
        self.seen[first as usize] = 0;
        let (mut settled, mut at) = (vec![(first, is)], 0);
        while let Some((var, _)) = settled.get(at).copied() {
            at += 1;
            for next in &self.graph.lists[usize::from(!is)][var as usize] {
                if self.seen[*next as usize] == open {
                    self.seen[*next as usize] = 0;
                    settled.push((*next, is));
                }
            }
        }
        let left = members.iter().copied();
        let left = left.filter(|v| self.seen[*v as usize] == open).collect();
        (settled, left)
    }
}
