//! A closed form as a short program: one operation after the other, each over a block of rows.
//!
//! The numbers of a row stand together, so that loops run over the numbers of a vector, or, where there is one number to a
//! row, over rows. A block is so small that all that is computed of it stays in the cache; what does not depend on a row,
//! such as `exp(rate)`, is computed once for a block.

use rustc_hash::FxHashMap;

use super::lengths::{Shape, Typed};
use super::syntax::{Binary, Fold, Pair, Unary};

/// About so many numbers of a block are held at once: twice that in single precision is a first-level cache.
const BLOCK_NUMBERS: usize = 8192;

/// The most rows of a block.
const BLOCK_ROWS: usize = 512;

/// Numbers of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leaf {
    pub argument: usize,
    pub from: usize,
    pub length: usize,
}

/// One operation on earlier results, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Leaf(Leaf),
    Learnt(usize),
    /// A number by its bits.
    Number(u64),
    Unary(Unary, usize),
    Fold(Fold, usize),
    Binary(Binary, usize, usize),
    Pair(Pair, usize, usize),
}

/// The operations of a closed form, equal ones once.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    pub(super) ops: Vec<Op>,
    pub(super) shapes: Vec<Shape>,
    /// Where the numbers of each begin in a block's.
    pub(super) starts: Vec<usize>,
    /// The result.
    pub(super) root: usize,
    /// How many rows a block has.
    pub rows: usize,
    /// How many numbers a block has.
    pub(super) numbers: usize,
    /// The numbers of the longest operand.
    pub(super) longest: usize,
    /// The arguments that it reads, with their places among the operations.
    leaves: Vec<(Leaf, usize)>,
}

impl Tape {
    pub(super) fn new(nodes: &[Typed]) -> Tape {
        let mut tape = Tape {
            ops: Vec::new(),
            shapes: Vec::new(),
            starts: Vec::new(),
            root: 0,
            rows: 1,
            numbers: 0,
            longest: 0,
            leaves: Vec::new(),
        };
        let mut known: FxHashMap<Op, usize> = FxHashMap::default();
        let mut places: Vec<usize> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let place = tape.simplified(node, &places, &mut known);
            places.push(place);
        }
        tape.root = places.last().copied().unwrap_or(0);
        let shapes = tape.shapes.iter();
        let width: usize = shapes.filter(|s| s.varying).map(|s| s.length).sum();
        tape.rows = (BLOCK_NUMBERS / width.max(1)).clamp(4, BLOCK_ROWS);
        for shape in &tape.shapes {
            tape.starts.push(tape.numbers);
            let numbers = shape.length * if shape.varying { tape.rows } else { 1 };
            tape.numbers += numbers;
            tape.longest = tape.longest.max(numbers);
        }
        let ops = tape.ops.iter().enumerate();
        tape.leaves = ops
            .filter_map(|(place, op)| match op {
                Op::Leaf(leaf) => Some((*leaf, place)),
                _ => None,
            })
            .collect();
        tape
    }

    /// The place of a node's result. Of one number, sums and means are itself, a norm is its absolute value, and so on:
    /// then the loop runs over rows.
    fn simplified(
        &mut self,
        node: &Typed,
        places: &[usize],
        known: &mut FxHashMap<Op, usize>,
    ) -> usize {
        let shape = node.shape;
        match node.op {
            Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) => self.push(node.op, shape, known),
            Op::Unary(f, x) => self.push(Op::Unary(f, places[x]), shape, known),
            Op::Binary(f, x, y) => self.push(Op::Binary(f, places[x], places[y]), shape, known),
            Op::Fold(f, x) => {
                let x = places[x];
                match (f, self.shapes[x].length) {
                    (Fold::Norm, 1) => self.push(Op::Unary(Unary::Abs, x), shape, known),
                    (_, 1) => x,
                    _ => self.push(Op::Fold(f, x), shape, known),
                }
            }
            Op::Pair(f, x, y) => {
                let (x, y) = (places[x], places[y]);
                match (f, self.shapes[x].length) {
                    (Pair::Dot, 1) => self.push(Op::Binary(Binary::Multiply, x, y), shape, known),
                    (Pair::Dist, 1) => {
                        let between = self.push(Op::Binary(Binary::Subtract, x, y), shape, known);
                        self.push(Op::Unary(Unary::Abs, between), shape, known)
                    }
                    _ => self.push(Op::Pair(f, x, y), shape, known),
                }
            }
        }
    }

    fn push(&mut self, op: Op, shape: Shape, known: &mut FxHashMap<Op, usize>) -> usize {
        *known.entry(op).or_insert_with(|| {
            self.ops.push(op);
            self.shapes.push(shape);
            self.ops.len() - 1
        })
    }

    /// The arguments that it reads, each once.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = &Leaf> {
        self.leaves.iter().map(|(leaf, _)| leaf)
    }

    /// How many numbers a row takes in all.
    pub fn width(&self) -> usize {
        self.numbers / self.rows.max(1)
    }

    /// Which results pass a gradient on, if these leaves do.
    pub fn active(&self, leaves: &[bool]) -> Vec<bool> {
        let mut active: Vec<bool> = Vec::with_capacity(self.ops.len());
        let mut learns = leaves.iter();
        for op in &self.ops {
            active.push(match *op {
                Op::Leaf(_) => *learns.next().unwrap_or(&false),
                Op::Learnt(_) => true,
                Op::Number(_) => false,
                Op::Unary(_, x) | Op::Fold(_, x) => active[x],
                Op::Binary(_, x, y) | Op::Pair(_, x, y) => active[x] || active[y],
            });
        }
        active
    }

    /// Where the numbers of a leaf stand in a block of so many rows.
    pub(super) fn leaf_range(&self, leaf: usize, rows: usize) -> std::ops::Range<usize> {
        let (numbers, place) = self.leaves[leaf];
        let start = self.starts[place];
        start..start + rows * numbers.length
    }
}
