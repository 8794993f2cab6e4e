//! How many worlds make a formula true, exactly.

use super::{Circuit, Part, Root};
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
        for (_, part) in self.parts() {
            let scope = |children: &[u32], counts: &[(Natural, Vec<u32>)]| {
                let mut scope: Vec<u32> = (children.iter())
                    .flat_map(|c| counts[*c as usize].1.iter().copied())
                    .collect();
                scope.sort_unstable();
                scope.dedup();
                scope
            };
            let own = match part {
                Part::Leaf(var, own) => {
                    let mut states = Natural::one();
                    states.scale(own.len() as u32);
                    (states, vec![var])
                }
                Part::Product(children) => {
                    let mut product = Natural::one();
                    for child in children {
                        product = product.times(&counts[*child as usize].0);
                    }
                    (product, scope(children, &counts))
                }
                Part::Sum(children) => {
                    let scope = scope(children, &counts);
                    let mut sum = Natural::default();
                    for child in children {
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
