//! Which operations of a closed form are computed for a block, and where its numbers are.

use std::ops::Range;

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

    /// Where the numbers of a result are in a block of this many rows; nowhere if there is no room for them.
    #[inline(always)]
    pub(super) fn range(&self, at: usize, rows: usize) -> Range<usize> {
        let numbers = self.shapes[at].numbers(rows);
        self.starts[at].map_or(0..0, |start| start..start + numbers)
    }
}

impl Tape {
    /// What computes the result, if some sums are known.
    pub fn forward(&self, known: &[usize]) -> Plan {
        Plan::new(self.clone(), &[self.root], |at| known.contains(&at))
    }

    /// What computes the derivatives by these leaves, by what is learnt and by the sums that are known, at which it ends.
    /// Those by leaves that stay where they are are added up there. It asks for sums over vectors that the way forward has
    /// found, one number each a row, for three vectors that need not be read again; the rest is computed anew, which is
    /// cheaper than reading it from memory.
    pub fn back(&self, learns: &[bool], stays: &[bool], known: &[usize]) -> Plan {
        let mut tape = self.clone();
        let by = tape.derive(known);
        let learning = |at: &usize| match tape.ops[*at] {
            Op::Leaf(leaf) => learns[leaf],
            Op::Learnt(_) => true,
            _ => false,
        };
        let in_place = |at: &usize| match tape.ops[*at] {
            Op::Leaf(leaf) => learns[leaf] && stays[leaf],
            _ => false,
        };
        let by_leaves = self.leaves.iter().map(|(_, at)| {
            let copied = learning(at) && !in_place(at);
            by[*at].filter(|_| copied)
        });
        let by_leaves: Vec<Option<usize>> = by_leaves.collect();
        let by_learnt = (0..by.len()).filter_map(|at| match tape.ops[at] {
            Op::Learnt(number) => Some((number, by[at]?)),
            _ => None,
        });
        let by_learnt: Vec<(usize, usize)> = by_learnt.collect();
        let by_known = known.iter().map(|&at| {
            let mut operands = self.ops[at].operands().into_iter();
            by[at].filter(|_| operands.any(|x| learning(&x)))
        });
        let by_known: Vec<Option<usize>> = by_known.collect();
        let in_tables = (0..tape.ops.len()).filter(|&at| match tape.ops[at] {
            Op::SumSlopes(sum, _) => sum.terms().iter().any(in_place),
            _ => false,
        });
        let copied = by_leaves.iter().chain(&by_known).flatten().copied();
        let learnt = by_learnt.iter().map(|(_, at)| *at);
        let wanted: Vec<usize> = copied.chain(learnt).chain(in_tables).collect();
        let is_kept =
            |at: usize| matches!(self.ops.get(at), Some(Op::Sum(_))) && self.shapes[at].varying;
        Plan {
            by_leaves,
            by_learnt,
            by_known,
            ..Plan::new(tape, &wanted, is_kept)
        }
    }
}
