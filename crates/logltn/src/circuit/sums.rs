//! Circuits of implications between single atoms, such as hierarchies: the states of a few atoms that go together are gone
//! through, but only those that the implications leave. An atom that is false settles all that imply it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::compile::{Budget, Nodes, TooHard};
use super::order::elimination;
use super::{Circuit, Implications, Root};
use crate::recursion::deep;

/// More atoms than these that go together are left to others.
const MOST_TOGETHER: usize = 63;

struct Sums {
    nodes: Nodes,
    /// By variable: what it implies.
    above: Vec<FxHashSet<u32>>,
    known: Vec<Option<bool>>,
    /// By variable: those that are decided before and matter to it and to all that is decided after it.
    around: Vec<Vec<u32>>,
    /// By variable: those that are decided next.
    below: Vec<Vec<u32>>,
    /// By variable and state of those around it.
    compiled: Vec<FxHashMap<u64, Root>>,
    /// Of what is decided.
    value: Vec<bool>,
}

/// None if too many go together.
pub(super) fn compile(
    implications: &Implications,
    domains: &[u32],
    budget: Budget,
) -> Option<Result<Circuit, TooHard>> {
    let count = domains.len();
    let nodes = Nodes::new(domains, budget);
    let Some(known) = implications.settled(count) else {
        return Some(Ok(nodes.finish(Root::False)));
    };
    let vars: Vec<u32> = (0..count as u32).collect();
    let order = elimination(implications.neighbours(count), &vars)?;
    let mut sums = Sums {
        nodes,
        above: implications.above(count),
        known,
        around: vec![Vec::new(); count],
        below: vec![Vec::new(); count],
        compiled: vec![FxHashMap::default(); count],
        value: vec![false; count],
    };
    let mut first = Vec::new();
    for (var, around) in order {
        match around.first() {
            Some(next) => sums.below[*next as usize].push(var),
            None => first.push(var),
        }
        if around.len() > MOST_TOGETHER {
            return None;
        }
        sums.around[var as usize] = around;
    }
    let root = sums.all(&first);
    Some(root.map(|root| sums.nodes.finish(root)))
}

impl Sums {
    /// The product over some variables and all that is decided after them.
    fn all(&mut self, vars: &[u32]) -> Result<Root, TooHard> {
        let mut parts = Vec::with_capacity(vars.len() + 1);
        for var in vars {
            match deep(|| self.one(*var))? {
                Root::False => return Ok(Root::False),
                part => parts.push(part),
            }
        }
        Ok(self.nodes.product(parts))
    }

    /// The sum over the states of a variable that are left to it.
    fn one(&mut self, var: u32) -> Result<Root, TooHard> {
        let (mut state, mut left) = (0, [true; 2]);
        for (at, other) in self.around[var as usize].iter().enumerate() {
            let is = self.value[*other as usize];
            state |= u64::from(is) << at;
            // What a true one implies is true, and what implies a false one is false.
            left[0] &= !(is && self.above[*other as usize].contains(&var));
            left[1] &= is || !self.above[var as usize].contains(other);
        }
        if let Some(known) = self.compiled[var as usize].get(&state) {
            return Ok(*known);
        }
        self.nodes.go_on(0)?;
        if let Some(known) = self.known[var as usize] {
            left[usize::from(!known)] = false;
        }
        let below = std::mem::take(&mut self.below[var as usize]);
        let mut rest = [Root::False; 2];
        for is in [false, true] {
            if left[usize::from(is)] {
                self.value[var as usize] = is;
                rest[usize::from(is)] = self.all(&below)?;
            }
        }
        self.below[var as usize] = below;
        let found = match rest {
            // It does not matter, and its weights add up to 1.
            [no, yes] if no == yes => no,
            [no, yes] => {
                let mut parts = Vec::with_capacity(2);
                for (rest, is) in [(no, 0), (yes, 1)] {
                    if rest != Root::False {
                        let leaf = Root::Node(self.nodes.leaf(var, &[is]));
                        parts.push(self.nodes.product(vec![leaf, rest]));
                    }
                }
                self.nodes.sum(parts)
            }
        };
        self.compiled[var as usize].insert(state, found);
        Ok(found)
    }
}
