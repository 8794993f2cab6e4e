//! Which operations of a closed form are computed for a block, and where its numbers are.

use super::tape::{Op, Shape, Tape};

/// The operations that some results need, if others are known.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(super) ops: Vec<Op>,
    pub(super) shapes: Vec<Shape>,
    /// Where the numbers of each begin in a block's, if there is room for them.
    pub(super) starts: Vec<Option<usize>>,
    /// How many numbers a block has.
    pub(super) numbers: usize,
    /// What is computed, one after the other.
    pub(super) run: Vec<usize>,
    /// The sums that are asked for.
    pub given: Vec<usize>,
    /// The places of all leaves.
    pub(super) leaves: Vec<usize>,
    /// Where the result is.
    pub(super) root: usize,
    /// Where the derivatives by leaves are, unless they are added up elsewhere.
    pub by_leaves: Vec<Option<usize>>,
    /// Which numbers that are learnt are derived by, and where these derivatives are.
    pub by_learnt: Vec<(usize, usize)>,
    /// Where the derivatives by known sums are.
    pub by_known: Vec<Option<usize>>,
}

impl Plan {
    pub(super) fn new(tape: Tape, wanted: &[usize], is_known: impl Fn(usize) -> bool) -> Plan {
        let needed = tape.needed(wanted, &is_known);
        let (mut numbers, mut starts) = (0, Vec::with_capacity(needed.len()));
        for (shape, &needed) in tape.shapes.iter().zip(&needed) {
            starts.push(needed.then_some(numbers));
            numbers += if needed { shape.numbers(tape.rows) } else { 0 };
        }
        let places = (0..needed.len()).filter(|&at| needed[at]);
        let (given, run): (Vec<usize>, Vec<usize>) = places.partition(|&at| is_known(at));
        Plan {
            starts,
            numbers,
            run,
            given,
            leaves: tape.leaves.iter().map(|(_, place)| *place).collect(),
            root: tape.root,
            ops: tape.ops,
            shapes: tape.shapes,
            by_leaves: Vec::new(),
            by_learnt: Vec::new(),
            by_known: Vec::new(),
        }
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty()
    }

    /// Whether it has something to do with a leaf.
    pub fn reads(&self, leaf: usize) -> bool {
        self.starts[self.leaves[leaf]].is_some()
    }
}
