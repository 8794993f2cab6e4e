//! The part of a closed form that remains once some of its sums are known from a matrix product.

use super::sums::Of;
use super::tape::{Again, Op, Tape};

/// A sum of products of arguments only, such as `sum(h * r * t)`.
#[derive(Clone, Debug)]
pub(crate) struct Factored {
    /// Its place among the results.
    pub at: usize,
    /// The arguments, by their places among the leaves.
    pub leaves: Vec<usize>,
    /// How many numbers each has.
    pub length: usize,
    /// It is divided by that.
    pub mean: bool,
}

/// The rest of a closed form.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// The results that are known.
    pub known: Vec<usize>,
    /// What is computed from them on the way forward.
    pub forward: Again,
    /// What is computed again on the way back, which ends at them.
    pub again: Again,
    /// The leaves that something else than they reads.
    pub leaves: Vec<bool>,
    /// Which results still pass a gradient on.
    pub active: Vec<bool>,
}

impl Tape {
    /// The sums of products of at least two arguments.
    pub fn factored(&self) -> impl Iterator<Item = Factored> {
        self.ops.iter().enumerate().filter_map(|(at, op)| {
            let Op::Sum(sum) = op else {
                return None;
            };
            let terms = sum.terms();
            let leaves: Option<Vec<usize>> = terms.iter().map(|&x| self.leaf_numbers[x]).collect();
            let leaves = leaves.filter(|all| all.len() > 1 && sum.of == Of::Product)?;
            Some(Factored {
                at,
                leaves,
                length: self.shapes[terms[0]].length,
                mean: sum.mean,
            })
        })
    }

    /// What is left, if these results are known and these pass a gradient on.
    pub fn rest(&self, known: Vec<usize>, active: &[bool]) -> Rest {
        let mut needed = vec![false; self.ops.len()];
        needed[self.root] = true;
        for at in (0..self.ops.len()).rev() {
            if needed[at] && !known.contains(&at) {
                self.ops[at].operands().for_each(|x| needed[x] = true);
            }
        }
        let mut computed = needed.clone();
        known.iter().for_each(|&at| computed[at] = false);
        let leaves = self.leaf_numbers.iter().zip(&needed);
        Rest {
            forward: Again {
                kept: Vec::new(),
                computed,
            },
            again: self.again(active, &known),
            leaves: leaves.filter_map(|(leaf, &on)| leaf.map(|_| on)).collect(),
            active: (active.iter().zip(&needed))
                .map(|(a, n)| *a && *n)
                .collect(),
            known,
        }
    }
}
