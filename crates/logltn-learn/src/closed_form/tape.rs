//! A closed form as a short program: one operation after the other, each over a block of rows.
//!
//! The numbers of a row are together, so that loops run over the numbers of a vector, or, where there is one number to a
//! row, over rows. A block is so small that all that is computed of it stays in the cache; what does not depend on a row,
//! such as `exp(rate)`, is computed once for a block.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::lengths::{Shape, Typed};
use super::sums::{MOST_TERMS, Of, Sum};
use super::syntax::{Binary, Unary};

/// About this many numbers of a block are held at once. Those of arguments that are read where they are count too:
/// they pass through the same cache.
const BLOCK_NUMBERS: usize = 16384;

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
    Binary(Binary, usize, usize),
    /// The greatest number of a vector, or the least.
    Extreme {
        greatest: bool,
        of: usize,
    },
    Sum(Sum),
}

impl Op {
    /// The results that it reads.
    pub(super) fn operands(self) -> impl Iterator<Item = usize> {
        let all: [Option<usize>; MOST_TERMS] = match self {
            Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) => [None; MOST_TERMS],
            Op::Unary(_, x) | Op::Extreme { of: x, .. } => [Some(x), None, None],
            Op::Binary(_, x, y) => [Some(x), Some(y), None],
            Op::Sum(sum) => std::array::from_fn(|i| sum.terms().get(i).copied()),
        };
        all.into_iter().flatten()
    }

    /// The same of results that stand elsewhere.
    fn moved(self, to: impl Fn(usize) -> usize) -> Op {
        match self {
            Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) => self,
            Op::Unary(f, x) => Op::Unary(f, to(x)),
            Op::Binary(f, x, y) => Op::Binary(f, to(x), to(y)),
            Op::Extreme { greatest, of } => Op::Extreme {
                greatest,
                of: to(of),
            },
            Op::Sum(sum) => Op::Sum(sum.moved(to)),
        }
    }

    /// Which of its operands the way back looks at, and whether at its own result.
    fn looked_at(self) -> (bool, bool) {
        match self {
            Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) => (false, false),
            Op::Unary(Unary::Negate, _) => (false, false),
            Op::Unary(Unary::Sqrt | Unary::Exp | Unary::Tanh, _) => (false, true),
            Op::Unary(..) | Op::Extreme { .. } => (true, false),
            Op::Binary(Binary::Add | Binary::Subtract, ..) => (false, false),
            Op::Binary(f, ..) => (true, f == Binary::Divide),
            Op::Sum(sum) => (
                sum.of != Of::Product || sum.terms().len() > 1,
                sum.of == Of::Norm,
            ),
        }
    }
}

/// Which parts of a block are available on the way back: kept or recomputed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// The sums over vectors whose results are kept: one number each a row, for three vectors that need not be read again.
    pub kept: Vec<usize>,
    /// What is computed again, or read.
    pub(super) computed: Vec<bool>,
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
    /// The place of each leaf among the leaves.
    pub(super) leaf_numbers: Vec<Option<usize>>,
    /// The arguments that it reads, with their places among the operations.
    leaves: Vec<(Leaf, usize)>,
    /// How the derivatives by each come about.
    pub(super) flows: Vec<Flow>,
}

/// How the derivatives by a result come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// They are those by another result, such as those by x and y in x + y, which need no copy.
    Same(usize),
    /// Likewise, with the other sign; only of leaves.
    Opposite(usize),
    /// One operation finds each of them, which is then written.
    Once,
    /// Several may, so they are added up from 0.
    AddedUp,
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
            leaf_numbers: Vec::new(),
            leaves: Vec::new(),
            flows: Vec::new(),
        };
        let mut known: FxHashMap<Op, usize> = FxHashMap::default();
        let mut places: Vec<usize> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let place = tape.simplified(node, &places, &mut known);
            places.push(place);
        }
        tape.root = places.last().copied().unwrap_or(0);
        tape.drop_unused();
        let shapes = tape.shapes.iter();
        let width: usize = shapes.filter(|s| s.varying).map(|s| s.length).sum();
        tape.rows = (BLOCK_NUMBERS / width.max(1)).clamp(4, BLOCK_ROWS);
        for shape in &tape.shapes {
            tape.starts.push(tape.numbers);
            let numbers = shape.length * if shape.varying { tape.rows } else { 1 };
            tape.numbers += numbers;
            tape.longest = tape.longest.max(numbers);
        }
        for (place, op) in tape.ops.iter().enumerate() {
            let number = match op {
                Op::Leaf(leaf) => {
                    tape.leaves.push((*leaf, place));
                    Some(tape.leaves.len() - 1)
                }
                _ => None,
            };
            tape.leaf_numbers.push(number);
        }
        tape.flows = tape.flows();
        tape
    }

    fn flows(&self) -> Vec<Flow> {
        let mut uses = vec![0; self.ops.len()];
        for op in &self.ops {
            // A sum adds to what is there, row by row.
            let by = if matches!(op, Op::Sum(_)) { 2 } else { 1 };
            op.operands().for_each(|at| uses[at] += by);
        }
        let written = (uses.iter().zip(&self.shapes)).map(|(&uses, shape)| match uses {
            0 | 1 if shape.varying => Flow::Once,
            _ => Flow::AddedUp,
        });
        let mut flows: Vec<Flow> = written.collect();
        // Results come after their operands, so what they share in is known.
        for (at, op) in self.ops.iter().enumerate().rev() {
            let Op::Binary(f @ (Binary::Add | Binary::Subtract), x, y) = *op else {
                continue;
            };
            let source = match flows[at] {
                Flow::Same(source) => source,
                _ => at,
            };
            for (operand, opposite) in [(x, false), (y, f == Binary::Subtract)] {
                if uses[operand] != 1 || self.shapes[operand] != self.shapes[at] {
                    continue;
                }
                match (opposite, self.ops[operand]) {
                    (false, _) => flows[operand] = Flow::Same(source),
                    (true, Op::Leaf(_)) => flows[operand] = Flow::Opposite(source),
                    _ => {}
                }
            }
        }
        flows
    }

    /// Where the derivatives by a result stand, and whether with the other sign.
    pub(super) fn derivatives(&self, at: usize) -> (usize, bool) {
        match self.flows[at] {
            Flow::Same(source) => (source, false),
            Flow::Opposite(source) => (source, true),
            Flow::Once | Flow::AddedUp => (at, false),
        }
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
        let op = node.op.moved(|at| places[at]);
        match op {
            Op::Extreme { of: x, .. } if self.shapes[x].length == 1 => x,
            Op::Sum(sum) => match (sum.of, sum.terms()) {
                (_, terms) if self.shapes[terms[0]].length > 1 => {
                    let sum = self.widened(sum);
                    self.push(Op::Sum(sum), shape, known)
                }
                (Of::Norm, &[x, y, ..]) => {
                    let between = self.push(Op::Binary(Binary::Subtract, x, y), shape, known);
                    self.push(Op::Unary(Unary::Abs, between), shape, known)
                }
                (Of::Norm, terms) => self.push(Op::Unary(Unary::Abs, terms[0]), shape, known),
                (_, &[x, y, ..]) => self.push(Op::Binary(Binary::Multiply, x, y), shape, known),
                (_, terms) => terms[0],
            },
            _ => self.push(op, shape, known),
        }
    }

    /// A sum that goes through more at once: `sum(h * r * t)` and `norm(h + r - t)` read three vectors and make none.
    fn widened(&self, sum: Sum) -> Sum {
        let length = self.shapes[sum.terms()[0]].length;
        // The two sides of an operation number by number.
        let sides = |at: usize, wanted: &[Binary]| match self.ops[at] {
            Op::Binary(f, x, y) if wanted.contains(&f) => {
                let whole = [x, y].iter().all(|&at| self.shapes[at].length == length);
                whole.then_some((f, x, y))
            }
            _ => None,
        };
        if sum.of == Of::Product {
            let mut factors = sum.terms().to_vec();
            let product = |at: &usize| sides(*at, &[Binary::Multiply]);
            while factors.len() < MOST_TERMS
                && let Some((at, (_, x, y))) =
                    (factors.iter().enumerate()).find_map(|(i, at)| Some((i, product(at)?)))
            {
                factors.splice(at..=at, [x, y]);
            }
            match factors[..] {
                [a, b] if a == b => return self.widened(Sum::new(Of::Squares, &[a], sum.mean)),
                [x] => {
                    if let Op::Unary(Unary::Abs, x) = self.ops[x] {
                        return self.widened(Sum::new(Of::Magnitudes, &[x], sum.mean));
                    }
                }
                _ => {}
            }
            return Sum::new(Of::Product, &factors, sum.mean);
        }
        let signs = |at: usize| sum.last_is_minus && at + 1 == sum.terms().len();
        let terms = sum.terms().iter().enumerate();
        let mut terms: Vec<(usize, bool)> = terms.map(|(i, &at)| (at, signs(i))).collect();
        let mut at = 0;
        while at < terms.len() {
            let (term, minus) = terms[at];
            if let Op::Unary(Unary::Negate, x) = self.ops[term] {
                terms[at] = (x, !minus);
            } else if terms.len() < MOST_TERMS
                && let Some((f, x, y)) = sides(term, &[Binary::Add, Binary::Subtract])
            {
                let other = minus != (f == Binary::Subtract);
                terms.splice(at..=at, [(x, minus), (y, other)]);
            } else {
                at += 1;
            }
        }
        // What is summed is the same of −x, so at most one term has a minus, and it may come last.
        let minus = terms.iter().filter(|(_, minus)| *minus).count();
        let turned = 2 * minus > terms.len();
        terms.sort_by_key(|(_, minus)| *minus != turned);
        let places: Vec<usize> = terms.iter().map(|(at, _)| *at).collect();
        let mut sum = Sum::new(sum.of, &places, sum.mean);
        sum.last_is_minus = terms.last().is_some_and(|(_, minus)| *minus != turned);
        sum
    }

    /// Drops results that are no longer needed.
    fn drop_unused(&mut self) {
        let mut used = vec![false; self.ops.len()];
        used[self.root] = true;
        for at in (0..self.ops.len()).rev() {
            if used[at] {
                self.ops[at].operands().for_each(|x| used[x] = true);
            }
        }
        let mut places = vec![0; self.ops.len()];
        let (mut ops, mut shapes) = (Vec::new(), Vec::new());
        for (at, op) in self.ops.iter().enumerate() {
            if used[at] {
                places[at] = ops.len();
                ops.push(op.moved(|x| places[x]));
                shapes.push(self.shapes[at]);
            }
        }
        (self.ops, self.shapes, self.root) = (ops, shapes, places[self.root]);
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

    /// Whether the result at this place is that of the closed form.
    pub fn is_result(&self, at: usize) -> bool {
        self.root == at
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
                _ => op.operands().any(|at| active[at]),
            });
        }
        active
    }

    /// What the way back needs of a block, if these results pass a gradient on, and those `known` to no other.
    pub fn again(&self, active: &[bool], known: &[usize]) -> Again {
        let mut again = Again {
            kept: Vec::new(),
            computed: vec![false; self.ops.len()],
        };
        for (at, op) in self.ops.iter().enumerate() {
            let (operands, own) = if active[at] {
                op.looked_at()
            } else {
                (false, false)
            };
            again.computed[at] |= own;
            if operands && !known.contains(&at) {
                op.operands().for_each(|x| again.computed[x] = true);
            }
        }
        for (at, op) in self.ops.iter().enumerate().rev() {
            match op {
                Op::Sum(_) if again.computed[at] && self.shapes[at].varying => {
                    again.computed[at] = false;
                    again.kept.push(at);
                }
                _ if again.computed[at] => {
                    op.operands().for_each(|x| again.computed[x] = true);
                }
                _ => {}
            }
        }
        again
    }

    /// Whether the way back reads the numbers of a leaf.
    pub fn needs(&self, again: &Again, leaf: usize) -> bool {
        again.computed[self.leaves[leaf].1]
    }

    /// Whether only sums read a leaf, so that it may stay where it is.
    pub fn may_stay(&self, leaf: usize) -> bool {
        let (_, place) = self.leaves[leaf];
        let reads = |op: &Op| op.operands().any(|at| at == place);
        place != self.root && (self.ops.iter()).all(|op| matches!(op, Op::Sum(_)) || !reads(op))
    }

    /// The position of a leaf among the results.
    pub fn leaf_place(&self, leaf: usize) -> usize {
        self.leaves[leaf].1
    }

    /// Where the numbers of a leaf are in a block of this many rows.
    pub(super) fn leaf_range(&self, leaf: usize, rows: usize) -> Range<usize> {
        let (numbers, place) = self.leaves[leaf];
        let start = self.starts[place];
        start..start + rows * numbers.length
    }

    /// Where the derivatives by them stand, and whether with the other sign.
    pub(super) fn by_leaf_range(&self, leaf: usize, rows: usize) -> (Range<usize>, bool) {
        let (numbers, place) = self.leaves[leaf];
        let (place, opposite) = self.derivatives(place);
        let start = self.starts[place];
        (start..start + rows * numbers.length, opposite)
    }
}
