//! How many worlds make a formula true, exactly.

use super::{Circuit, Node, Root};
use crate::natural::Natural;

impl Circuit {
    /// How many worlds of all its variables make the formula true, in decimal.
    pub fn count(&self) -> String {
        let all: Vec<u32> = (0..self.domains.len() as u32).collect();
        // By node: how many worlds of its own variables, and which these are.
        let mut counts: Vec<(Natural, Vec<u32>)> = Vec::with_capacity(self.nodes.len());
        let widened = |(count, own): &(Natural, Vec<u32>), to: &[u32]| {
            let mut count = count.clone();
            let free = to.iter().filter(|v| own.binary_search(v).is_err());
            free.for_each(|v| count.scale(self.domains[*v as usize]));
            count
        };
        for node in &self.nodes {
            let scope = |from: u32, to: u32, counts: &[(Natural, Vec<u32>)]| {
                let children = self.children_of(from, to).iter();
                let mut scope: Vec<u32> = (children)
                    .flat_map(|c| counts[*c as usize].1.iter().copied())
                    .collect();
                scope.sort_unstable();
                scope.dedup();
                scope
            };
            let own = match *node {
                Node::Leaf { var, from, to } => {
                    let mut states = Natural::one();
                    states.scale(to - from);
                    (states, vec![var])
                }
                Node::Product { from, to } => {
                    let mut product = Natural::one();
                    for child in self.children_of(from, to) {
                        product = product.times(&counts[*child as usize].0);
                    }
                    (product, scope(from, to, &counts))
                }
                Node::Sum { from, to } => {
                    let scope = scope(from, to, &counts);
                    let mut sum = Natural::default();
                    for child in self.children_of(from, to) {
                        sum.add(&widened(&counts[*child as usize], &scope));
                    }
                    (sum, scope)
                }
            };
            counts.push(own);
        }
        let worlds = match self.root {
            Root::False => Natural::default(),
            Root::True => widened(&(Natural::one(), Vec::new()), &all),
            Root::Node(root) => widened(&counts[root as usize], &all),
        };
        worlds.decimal()
    }
}
