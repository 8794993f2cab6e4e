//! Circuits of conjunctions whose members connect few variables at a time, such as chains, trees and strips of a grid.
//! Variables are decided along the tree of an elimination. What is left below one is told by what has become of the members
//! that reach it from above, however much there is below: a long chain is compiled in the time of its length.

use rustc_hash::FxHashMap;

use super::compile::{Budget, Nodes, TooHard};
use super::order::Eliminated;
use super::store::{FALSE, Id, Store};
use super::{Circuit, Root};
use crate::recursion::deep;

/// The tree of an elimination with the members of a conjunction.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// By variable: those that are decided after it, in parts that nothing connects.
    below: Vec<Vec<Below>>,
    roots: Vec<u32>,
    /// By variable: the members of which it is the first to be decided.
    starts: Vec<Vec<Id>>,
}

#[derive(Clone, Debug)]
struct Below {
    var: u32,
    /// Which members reach it, among those that reach its parent and those that start there.
    members: Vec<u32>,
}

impl Tree {
    /// In which variables are decided one after the other as they are numbered.
    pub fn in_line(store: &Store, members: &[Id]) -> Tree {
        let vars = 0..store.domains.len() as u32;
        let before = |var: u32| var.checked_sub(1).into_iter().collect();
        Tree::new(
            store,
            members,
            &vars.rev().map(|var| (var, before(var))).collect(),
        )
    }

    /// Of some members whose variables are neighbours in the graph of the elimination.
    pub fn new(store: &Store, members: &[Id], eliminated: &Eliminated) -> Tree {
        let count = store.domains.len();
        let mut place = vec![0; count];
        let mut parent = vec![None; count];
        for (at, (var, around)) in eliminated.iter().enumerate() {
            place[*var as usize] = at;
            // The one that is eliminated first.
            parent[*var as usize] = around.first().copied();
        }
        // By variable: the members of which it is decided first, and those that reach it from above.
        let mut starts = vec![Vec::new(); count];
        let mut reach: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut first = Vec::with_capacity(members.len());
        for (member, id) in (0..).zip(members) {
            let vars = store.variables(*id).iter().copied();
            let [start, end] = [
                vars.clone().max_by_key(|v| place[*v as usize]),
                vars.min_by_key(|v| place[*v as usize]),
            ]
            .map(Option::unwrap_or_default);
            first.push(start);
            starts[start as usize].push(member);
            reach[end as usize].push(member);
        }
        let mut roots = Vec::new();
        let mut children = vec![Vec::new(); count];
        for (var, _) in eliminated {
            let mut own = std::mem::take(&mut reach[*var as usize]);
            own.retain(|member| first[*member as usize] != *var);
            own.sort_unstable();
            match parent[*var as usize] {
                None => roots.push(*var),
                Some(parent) => {
                    reach[parent as usize].extend_from_slice(&own);
                    children[parent as usize].push(*var);
                }
            }
            reach[*var as usize] = own;
        }
        let mut number = vec![0; members.len()];
        let below = (0..count).map(|var| {
            for (member, at) in reach[var].iter().chain(&starts[var]).zip(0..) {
                number[*member as usize] = at;
            }
            let of = |var: &u32| {
                let reach = reach[*var as usize].iter();
                Below {
                    var: *var,
                    members: reach.map(|m| number[*m as usize]).collect(),
                }
            };
            children[var].iter().map(of).collect()
        });
        let below = below.collect();
        let ids = |of: &Vec<u32>| of.iter().map(|m| members[*m as usize]).collect();
        let starts = starts.iter().map(ids).collect();
        Tree {
            below,
            roots,
            starts,
        }
    }
}

/// Compiles a conjunction along its tree.
pub(super) fn compile<'s>(
    tree: &Tree,
    store: &mut Store<'s>,
    nodes: Nodes<'s>,
) -> Result<Circuit, TooHard> {
    let mut compiler = Compiler {
        tree,
        store,
        nodes,
        compiled: FxHashMap::default(),
        bytes: 0,
    };
    let root = compiler.all()?;
    Ok(compiler.nodes.finish(root))
}

struct Compiler<'a, 's> {
    tree: &'a Tree,
    store: &'a mut Store<'s>,
    nodes: Nodes<'s>,
    /// By variable and what its members have become.
    compiled: FxHashMap<(u32, Box<[Id]>), Root>,
    bytes: usize,
}

impl Compiler<'_, '_> {
    fn all(&mut self) -> Result<Root, TooHard> {
        let mut parts = Vec::new();
        for root in &self.tree.roots {
            parts.push(self.below(*root, Box::default())?);
        }
        // What the last steps made of the formulas may be cut short.
        self.nodes.go_on(0, self.store.is_over())?;
        Ok(self.nodes.product(parts))
    }

    /// The sum over the states of a variable, given what the members that reach it have become.
    fn below(&mut self, var: u32, reached: Box<[Id]>) -> Result<Root, TooHard> {
        let key = (var, reached);
        if let Some(known) = self.compiled.get(&key) {
            return Ok(*known);
        }
        let others = (self.store.bytes() + self.bytes) / Budget::BYTES_PER_EDGE;
        self.nodes.go_on(others, self.store.is_over())?;
        let tree = self.tree;
        let mut active = key.1.to_vec();
        active.extend_from_slice(&tree.starts[var as usize]);
        // States that leave the same are grouped.
        let domain = self.store.domains[var as usize];
        let mut branches: Vec<(Vec<Id>, Vec<u32>)> = Vec::new();
        let mut places: FxHashMap<Vec<Id>, usize> = FxHashMap::default();
        for state in 0..domain {
            let left = self.store.all_given(&active, var, state);
            if left.contains(&FALSE) {
                continue;
            }
            match places.get(&left) {
                Some(at) => branches[*at].1.push(state),
                None => {
                    places.insert(left.clone(), branches.len());
                    branches.push((left, vec![state]));
                }
            }
        }
        let mut summands = Vec::with_capacity(branches.len());
        for (left, states) in branches {
            let mut factors = Vec::with_capacity(1 + tree.below[var as usize].len());
            if states.len() < domain as usize {
                factors.push(Root::Node(self.nodes.leaf(var, &states)));
            }
            for below in &tree.below[var as usize] {
                let reached = below.members.iter().map(|m| left[*m as usize]).collect();
                let part = deep(|| self.below(below.var, reached))?;
                factors.push(part);
                if part == Root::False {
                    break;
                }
            }
            summands.push(self.nodes.product(factors));
        }
        let sum = self.nodes.sum(summands);
        self.bytes += 48 + 4 * key.1.len();
        self.compiled.insert(key, sum);
        Ok(sum)
    }
}
