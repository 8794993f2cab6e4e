//! Circuits of implications between single atoms, such as hierarchies: the states of a few connected atoms are
//! enumerated, but only those that the implications allow. A false atom settles all atoms that imply it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::compile::{Budget, Nodes, TooHard};
use super::order::elimination;
use super::{Circuit, Implications, Root};
use crate::recursion::deep;

/// With more connected atoms than this, another method is used.
const MOST_TOGETHER: usize = 63;

struct Sums {
    nodes: Nodes,
    /// By variable: what it implies.
    above: Vec<FxHashSet<u32>>,
    known: Vec<Option<bool>>,
    /// By variable: those that are decided before it and matter to it or to variables decided after it.
    around: Vec<Vec<u32>>,
    /// By variable: those that are decided next.
    below: Vec<Vec<u32>>,
    /// By variable and state of the variables that matter to it.
    compiled: Vec<FxHashMap<u64, Root>>,
    /// Of what is decided.
    value: Vec<bool>,
}

/// `None` if too many are connected.
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
    /// The product over some variables and everything that is decided after them.
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

    /// The sum over the remaining states of a variable.
    fn one(&mut self, var: u32) -> Result<Root, TooHard> {
        let (mut state, mut left) = (0, [true; 2]);
        for (at, other) in self.around[var as usize].iter().enumerate() {
            let is = self.value[*other as usize];
            state |= u64::from(is) << at;
            // Atoms that a true one implies are true, and atoms that imply a false one are false.
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
            // Its state does not matter, and its weights add up to 1.
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
