//! A closed form as a short program: one operation after the other, each over a block of rows. So is the way back: the
//! derivatives by each result are operations too, on the results before and on the derivatives by those after.
//!
//! The numbers of a row are together, so that loops run over the numbers of a vector, or, where there is one number to a
//! row, over rows. A block is so small that all that is computed of it stays in the cache; what does not depend on a row,
//! such as `exp(rate)`, is computed once for a block.

use rustc_hash::FxHashMap;

use super::sums::{MOST_TERMS, Of, Sum};
use super::syntax::{Binary, Unary};

/// About this many numbers of a block are held at once. Those of arguments that are read where they are count too:
/// they pass through the same cache.
const BLOCK_NUMBERS: usize = 16384;

/// The most rows of a block.
const BLOCK_ROWS: usize = 512;

/// How many numbers something is, and whether each row has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub length: usize,
    pub varying: bool,
}

impl Shape {
    /// How many there are in this many rows.
    #[inline(always)]
    pub(super) fn numbers(self, rows: usize) -> usize {
        self.length * if self.varying { rows } else { 1 }
    }
}

/// Numbers of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub argument: usize,
    pub from: usize,
    pub length: usize,
}

/// One operation on earlier results, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Numbers of an argument: one of the leaves.
    Leaf(usize),
    Learnt(usize),
    /// A number by its bits.
    Number(u64),
    Unary(Unary, usize),
    /// Of two results of the same shape.
    Binary(Binary, usize, usize),
    /// The same in each row, or for each number of a vector.
    Spread(usize),
    /// The greatest number of a vector, or the least.
    Extreme {
        greatest: bool,
        of: usize,
    },
    Sum(Sum),
    /// The derivatives by the result of the closed form, which are given.
    ByRoot,
    /// Derivatives times the slope of a function, which follows from its argument or its result.
    Slope(Unary, [usize; 2]),
    /// Derivatives where the first of two is the lesser or greater, or where the second is; 0 elsewhere.
    Chosen(Binary, bool, [usize; 3]),
    /// Derivatives at the greatest number of a vector, or the least; 0 elsewhere.
    AtExtreme(bool, [usize; 2]),
    /// Added up over all rows; of one number, over all numbers.
    Total(usize),
    /// The derivatives by all terms of a sum, from those by it: those of terms that are read where they are
    /// are added to the derivatives by these, the others are the operations that follow, a `Term` each.
    SumSlopes(Sum, usize),
    Term(usize, usize),
}

impl Op {
    /// The results that it reads.
    pub(super) fn operands(self) -> Vec<usize> {
        match self {
            Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) | Op::ByRoot => Vec::new(),
            Op::Unary(_, x) | Op::Spread(x) | Op::Total(x) | Op::Term(x, _) => vec![x],
            Op::Extreme { of: x, .. } => vec![x],
            Op::Binary(_, x, y) => vec![x, y],
            Op::Slope(_, both) | Op::AtExtreme(_, both) => both.to_vec(),
            Op::Chosen(_, _, all) => all.to_vec(),
            Op::Sum(sum) => sum.terms().to_vec(),
            Op::SumSlopes(sum, by) => [sum.terms(), &[by]].concat(),
        }
    }
}

/// The operations of a closed form, equal ones once. Some may not be needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    pub(super) ops: Vec<Op>,
    pub(super) shapes: Vec<Shape>,
    places: FxHashMap<(Op, Shape), usize>,
    /// The arguments that it reads, each once, with their places among the operations.
    pub(super) leaves: Vec<(Leaf, usize)>,
    /// The result.
    pub(super) root: usize,
    /// How many rows a block has.
    pub rows: usize,
    /// How many numbers a row takes in all.
    pub width: usize,
}

impl Tape {
    /// What passes on this many numbers.
    pub fn of_leaf(length: usize) -> Tape {
        let mut tape = Tape::default();
        let leaf = Leaf {
            argument: 0,
            from: 0,
            length,
        };
        let root = tape.leaf(leaf);
        tape.finish(root)
    }

    /// How many numbers the result is.
    pub fn result_length(&self) -> usize {
        self.shapes[self.root].length
    }

    /// Ends it, with this result.
    pub(super) fn finish(mut self, root: usize) -> Tape {
        self.root = root;
        let needed = self.needed(&[root], |_| false);
        let shapes = self.shapes.iter().zip(needed);
        let varying = shapes.filter(|(shape, needed)| shape.varying && *needed);
        self.width = varying.map(|(shape, _)| shape.length).sum();
        self.rows = (BLOCK_NUMBERS / self.width.max(1)).clamp(4, BLOCK_ROWS);
        self
    }

    /// The place of an operation's result; it is appended if it is new.
    pub(super) fn push(&mut self, op: Op, shape: Shape) -> usize {
        *self.places.entry((op, shape)).or_insert_with(|| {
            self.ops.push(op);
            self.shapes.push(shape);
            self.ops.len() - 1
        })
    }

    pub(super) fn leaf(&mut self, leaf: Leaf) -> usize {
        let known = self.leaves.iter().find(|(known, _)| *known == leaf);
        known.map(|(_, place)| *place).unwrap_or_else(|| {
            let shape = Shape {
                length: leaf.length,
                varying: true,
            };
            let place = self.push(Op::Leaf(self.leaves.len()), shape);
            self.leaves.push((leaf, place));
            place
        })
    }

    /// A function of each number.
    pub(super) fn unary(&mut self, f: Unary, x: usize) -> usize {
        self.push(Op::Unary(f, x), self.shapes[x])
    }

    /// A function number by number; one number goes with any vector.
    pub(super) fn binary(&mut self, f: Binary, x: usize, y: usize) -> usize {
        let (a, b) = (self.shapes[x], self.shapes[y]);
        let shape = Shape {
            length: a.length.max(b.length),
            varying: a.varying || b.varying,
        };
        let [x, y] = [x, y].map(|at| match self.shapes[at] == shape {
            true => at,
            false => self.push(Op::Spread(at), shape),
        });
        self.push(Op::Binary(f, x, y), shape)
    }

    pub(super) fn number(&mut self, x: f64) -> usize {
        let length = 1;
        let varying = false;
        self.push(Op::Number(x.to_bits()), Shape { length, varying })
    }

    pub(super) fn extreme(&mut self, greatest: bool, of: usize) -> usize {
        let Shape { length, varying } = self.shapes[of];
        match length {
            2.. => self.push(Op::Extreme { greatest, of }, Shape { length: 1, varying }),
            _ => of,
        }
    }

    /// The sum over the products of one vector or two. Of one number it is itself: then the loop runs over rows.
    pub(super) fn sum(&mut self, factors: &[usize]) -> usize {
        match (self.shapes[factors[0]].length, factors) {
            (2.., _) => self.widest(Sum::new(Of::Product, factors)),
            (_, &[x, y, ..]) => self.binary(Binary::Multiply, x, y),
            (_, factors) => factors[0],
        }
    }

    pub(super) fn mean(&mut self, x: usize) -> usize {
        let (sum, length) = (self.sum(&[x]), self.shapes[x].length);
        match length {
            2.. => {
                let length = self.number(length as f64);
                self.binary(Binary::Divide, sum, length)
            }
            _ => sum,
        }
    }

    /// The length of a vector, or of what is between two.
    pub(super) fn norm(&mut self, x: usize, other: Option<usize>) -> usize {
        if self.shapes[x].length > 1 {
            let terms: Vec<usize> = [x].into_iter().chain(other).collect();
            let mut sum = Sum::new(Of::Squares, &terms);
            sum.last_is_minus = other.is_some();
            let squares = self.widest(sum);
            return self.unary(Unary::Sqrt, squares);
        }
        let between = other.map_or(x, |y| self.binary(Binary::Subtract, x, y));
        self.unary(Unary::Abs, between)
    }

    fn widest(&mut self, sum: Sum) -> usize {
        let sum = self.widened(sum);
        let varying = sum.terms().iter().any(|&at| self.shapes[at].varying);
        self.push(Op::Sum(sum), Shape { length: 1, varying })
    }

    /// A sum that goes through more at once: `sum(h * r * t)` and `norm(h + r - t)` read three vectors and make none.
    fn widened(&self, sum: Sum) -> Sum {
        // What is the same in each row is read where it is.
        let unspread = |at: usize| match self.ops[at] {
            Op::Spread(x) if self.shapes[x].length == self.shapes[at].length => x,
            _ => at,
        };
        // The two sides of an operation number by number.
        let sides = |at: usize, wanted: &[Binary]| match self.ops[at] {
            Op::Binary(f, x, y) if wanted.contains(&f) => Some((f, unspread(x), unspread(y))),
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
                [a, b] if a == b => return self.widened(Sum::new(Of::Squares, &[a])),
                [x] => {
                    if let Op::Unary(Unary::Abs, x) = self.ops[x] {
                        return self.widened(Sum::new(Of::Magnitudes, &[x]));
                    }
                }
                _ => {}
            }
            return Sum::new(Of::Product, &factors);
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
        let mut sum = Sum::new(sum.of, &places);
        sum.last_is_minus = terms.last().is_some_and(|(_, minus)| *minus != turned);
        sum
    }

    /// The arguments that it reads, each once.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = &Leaf> {
        self.leaves.iter().map(|(leaf, _)| leaf)
    }

    /// Whether the result at this place is that of the closed form.
    pub fn is_result(&self, at: usize) -> bool {
        self.root == at
    }

    /// Whether only sums read a leaf, so that it may stay where it is.
    pub fn may_stay(&self, leaf: usize) -> bool {
        let place = self.leaves[leaf].1;
        let needed = self.needed(&[self.root], |_| false);
        let ops = self.ops.iter().zip(needed).filter(|(_, needed)| *needed);
        let mut others = ops.filter(|(op, _)| !matches!(op, Op::Sum(_)));
        place != self.root && !others.any(|(op, _)| op.operands().contains(&place))
    }

    /// The sums of products of at least two arguments, such as `sum(h * r * t)`: the place of each, its arguments, by their
    /// places among the leaves, and how many numbers these have.
    pub fn factored(&self) -> impl Iterator<Item = (usize, Vec<usize>, usize)> {
        let leaf = |at: &usize| match self.ops[*at] {
            Op::Leaf(leaf) => Some(leaf),
            _ => None,
        };
        self.ops.iter().enumerate().filter_map(move |(at, op)| {
            let Op::Sum(sum) = op else { return None };
            let terms = sum.terms();
            let leaves: Vec<usize> = terms.iter().map(leaf).collect::<Option<_>>()?;
            let found = leaves.len() > 1 && sum.of == Of::Product;
            found.then(|| (at, leaves, self.shapes[terms[0]].length))
        })
    }

    /// The results that these follow from, and they themselves; those that something is known of follow from nothing.
    pub(super) fn needed(&self, wanted: &[usize], is_known: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut needed = vec![false; self.ops.len()];
        wanted.iter().for_each(|&at| needed[at] = true);
        for at in (0..self.ops.len()).rev() {
            if needed[at] && !is_known(at) {
                let operands = self.ops[at].operands().into_iter();
                operands.for_each(|x| needed[x] = true);
            }
        }
        needed
    }

    /// Appends the derivatives by all results, of which there are these; those that are known pass none on.
    pub(super) fn derive(&mut self, known: &[usize]) -> Vec<Option<usize>> {
        let mut by = vec![None; self.ops.len()];
        by[self.root] = Some(self.push(Op::ByRoot, self.shapes[self.root]));
        for at in (0..by.len()).rev() {
            let Some(g) = by[at].filter(|_| !known.contains(&at)) else {
                continue;
            };
            let shape = self.shapes[at];
            for (operand, found) in self.derivatives(at, g, shape) {
                by[operand] = Some(match by[operand] {
                    None => found,
                    Some(sum) => self.binary(Binary::Add, sum, found),
                });
            }
        }
        by
    }

    /// The derivatives by the operands of a result, from those by it.
    fn derivatives(&mut self, at: usize, g: usize, shape: Shape) -> Vec<(usize, usize)> {
        match self.ops[at] {
            Op::Unary(Unary::Negate, x) => vec![(x, self.unary(Unary::Negate, g))],
            Op::Unary(f, x) => {
                let from = match f {
                    Unary::Sqrt | Unary::Exp | Unary::Tanh => at,
                    _ => x,
                };
                vec![(x, self.push(Op::Slope(f, [g, from]), shape))]
            }
            Op::Binary(f, x, y) => {
                let [by_x, by_y] = match f {
                    Binary::Add => [g, g],
                    Binary::Subtract => [g, self.unary(Unary::Negate, g)],
                    Binary::Multiply => [y, x].map(|other| self.binary(f, g, other)),
                    Binary::Divide => {
                        let product = self.binary(Binary::Multiply, g, at);
                        let [by_x, minus] = [g, product].map(|by| self.binary(f, by, y));
                        [by_x, self.unary(Unary::Negate, minus)]
                    }
                    Binary::Min | Binary::Max => [false, true]
                        .map(|second| self.push(Op::Chosen(f, second, [g, x, y]), shape)),
                };
                vec![(x, by_x), (y, by_y)]
            }
            Op::Spread(x) => {
                let sum = match self.shapes[x] {
                    Shape { varying: true, .. } => self.sum(&[g]),
                    shape => self.push(Op::Total(g), shape),
                };
                vec![(x, sum)]
            }
            Op::Extreme { greatest, of } => {
                let found = self.push(Op::AtExtreme(greatest, [g, of]), self.shapes[of]);
                vec![(of, found)]
            }
            Op::Sum(sum) => {
                let none = Shape {
                    length: 0,
                    varying: false,
                };
                let all = self.push(Op::SumSlopes(sum, g), none);
                let terms = sum.terms().iter().enumerate();
                terms
                    .map(|(i, &term)| (term, self.push(Op::Term(all, i), self.shapes[term])))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}
