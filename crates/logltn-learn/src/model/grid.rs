//! Closed forms as products of matrices.
//!
//! `sum(h * r * t)` is a dot product of `h * r` and `t`. Where a request asks about 512 pairs of h and r, each with the same 64
//! t, all of these are one product of two matrices: several times as fast as row by row, and vectors are read once instead of
//! 64 times. So the rows of a request are looked through for such grids, for each argument that may is alone. Not every pair of
//! a grid must be asked for (guards leave some out), but a good part; rows of no grid are computed one by one.

use std::ops::Range;

use logltn_nn::{Floats, dots, weighted_sums};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Rows;
use super::gradients::Gradients;
use super::inputs::Sources;
use super::unit::Piece;
use crate::closed_form::{Plan, Tape};

/// Arguments that are together are looked up by this many numbers at most.
const MOST_TOGETHER: usize = 4;

/// Vectors that are shorter are not worth it.
const SHORTEST: usize = 16;

/// Rows are looked through for vectors of this many numbers: for shorter ones that takes longer than their sums. (It must
/// not depend on whether they were looked through before: a training that is resumed has the same bits.)
const WORTH_LOOKING: usize = 64;

/// A grid has at least this many rows and columns, since all of its vectors are copied.
const LEAST: usize = 8;

/// At least one in this many pairs of a grid must be requested.
const SPARSEST: usize = 4;

/// This many rows tell which way of cutting is likely.
const LOOKED_AT: usize = 512;

/// If of this many rows most have different left sides, they are no grid.
const HOPELESS: usize = 8192;

/// For larger sorts a list of all individuals would take too much memory.
const MOST_INDIVIDUALS: usize = 1 << 24;

/// This many rows of a matrix are a thread's at once.
const ROWS: usize = 48;

/// Vectors are filled up to this many numbers, or a multiple.
const WHOLE: usize = 16;

/// One argument on one side, all others on the other.
pub(super) struct Split {
    /// Where the argument that is alone is in a row.
    pub place: usize,
    /// The sums that are products of the two sides.
    pub sums: Vec<Factors>,
    /// What else there is to compute, there and back.
    pub forward: Plan,
    pub back: Plan,
}

/// A sum that is a product of two sides.
pub(super) struct Factors {
    /// Its place among the results of the program.
    pub at: usize,
    alone: Vector,
    together: Vec<Vector>,
    length: usize,
}

impl Factors {
    /// The numbers of a vector with those that fill it up.
    fn stride(&self) -> usize {
        self.length.next_multiple_of(WHOLE)
    }

    /// The vectors of what is alone.
    pub fn alone(
        &self,
        sources: Sources<'_>,
        individuals: impl Iterator<Item = u32>,
        out: &mut Floats,
    ) {
        let rows = out.chunks_exact_mut(self.stride());
        for (out, individual) in rows.zip(individuals) {
            let (out, filling) = out.split_at_mut(self.length);
            self.alone.read(sources, individual, out);
            filling.fill(0.0);
        }
    }

    /// The products of what stands together, for each of some rows.
    pub fn together(
        &self,
        sources: Sources<'_>,
        rows: &[u32],
        arity: usize,
        (out, factor): (&mut Floats, &mut Vec<f32>),
    ) {
        let stride = self.stride();
        factor.resize(self.length, 0.0);
        for (out, row) in out.chunks_exact_mut(stride).zip(rows.chunks_exact(arity)) {
            let (out, filling) = out.split_at_mut(self.length);
            filling.fill(0.0);
            out.fill(1.0);
            for vector in &self.together {
                vector.read(sources, row[vector.place], factor);
                out.iter_mut().zip(&*factor).for_each(|(x, f)| *x *= f);
            }
        }
    }

    /// Room for this many vectors.
    pub fn room(&self, vectors: usize, floats: &mut Floats) {
        let numbers = vectors * self.stride();
        if floats.len() != numbers {
            floats.reset(numbers);
        }
    }

    /// The sums of all pairs.
    pub fn dots(&self, together: &[f32], alone: &[f32], room: &mut Floats, out: &mut [f32]) {
        dots(together, alone, self.stride(), room, out);
    }
}

/// Where a vector is read.
#[derive(Clone, Copy)]
struct Vector {
    place: usize,
    sort: usize,
    from: usize,
}

impl Vector {
    #[inline(always)]
    fn read(self, sources: Sources<'_>, individual: u32, out: &mut [f32]) {
        sources.vectors[self.sort].read(individual, self.from, out, sources.learnable);
    }
}

/// The ways to cut a closed form's arguments in two.
pub(super) fn splits(
    tape: &Tape,
    pieces: &[Piece],
    arity: usize,
    (learns, stays): (&[bool], &[bool]),
) -> Vec<Split> {
    // Other networks' outputs are found by a row's number, which is another in a grid.
    let by_row = |piece: &Piece| matches!(piece, Piece::Unit { .. });
    if !(2..=MOST_TOGETHER + 1).contains(&arity) || pieces.iter().any(by_row) {
        return Vec::new();
    }
    let mut splits = Vec::new();
    for place in 0..arity {
        let mut sums = Vec::new();
        for (at, leaves, length) in tape.factored().filter(|sum| sum.2 >= SHORTEST) {
            let vector = |leaf: &usize| match pieces[*leaf] {
                Piece::Vector {
                    place, sort, from, ..
                } => Some(Vector { place, sort, from }),
                _ => None,
            };
            let Some(vectors) = leaves.iter().map(vector).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let (alone, together): (Vec<Vector>, Vec<Vector>) = vectors
                .into_iter()
                .partition(|vector| vector.place == place);
            if let [alone] = alone[..] {
                sums.push(Factors {
                    at,
                    alone,
                    together,
                    length,
                });
            }
        }
        if !sums.is_empty() {
            let known: Vec<usize> = sums.iter().map(|sum: &Factors| sum.at).collect();
            splits.push(Split {
                place,
                sums,
                forward: tape.forward(&known),
                back: tape.back(learns, stays, &known),
            });
        }
    }
    splits
}

/// The grids of a request, and its rows in their order.
#[derive(Default)]
pub(super) struct Grids {
    all: Vec<Grid>,
    /// How many of them are in use.
    count: usize,
    /// Which row of the request each is: those of the grids, then all others.
    order: Vec<u32>,
    individuals: Vec<u32>,
    /// The sums of each row of a grid.
    sums: Vec<f32>,
    /// The derivatives by them; there is room for those of all rows.
    pub by_sums: Vec<f32>,
    /// This many for each row.
    pub per_row: usize,
    /// Results in this order.
    pub numbers: Vec<f32>,
    products: Vec<f32>,
    by_vectors: Floats,
    /// Room to compute in: for each part of a product, and for single vectors.
    rooms: Vec<Floats>,
    single: [Vec<f32>; 2],
    look: Look,
}

/// Some rows of a request that are a good part of all pairs of two lists.
#[derive(Default)]
struct Grid {
    split: usize,
    rows: Range<usize>,
    /// Rows of the request, of which the place that is alone does not count.
    together: Vec<u32>,
    alone: Vec<u32>,
    /// For each row the place of its pair.
    cells: Vec<u32>,
    /// The vectors of both sides, of each sum.
    vectors: Vec<[Floats; 2]>,
}

/// What is needed to look for grids.
#[derive(Default)]
struct Look {
    left: FxHashMap<[u32; MOST_TOGETHER], u32>,
    /// The number of each individual, by its place.
    right: Vec<u32>,
    individuals: Vec<u32>,
    /// How many rows each has; then its number in the grid.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    remaining: Vec<u32>,
    others: Vec<u32>,
    /// How the splits are tried, with how often each is likely to be one.
    splits: Vec<(usize, usize)>,
}

const NONE: u32 = u32::MAX;

impl Grids {
    /// Finds them.
    pub fn find(&mut self, rows: &[u32], arity: usize, splits: &[Split]) {
        self.count = 0;
        let is_long = |sum: &Factors| sum.length >= WORTH_LOOKING;
        let is_worth = |split: &Split| split.sums.iter().any(is_long);
        if !splits.iter().any(is_worth) {
            return;
        }
        self.order.clear();
        let count = (rows.len() / arity) as u32;
        self.per_row = splits
            .iter()
            .map(|split| split.sums.len())
            .max()
            .unwrap_or(0);
        self.look.remaining.clear();
        self.look.remaining.extend(0..count);
        self.look.in_order(rows, arity, splits);
        for tried in 0..splits.len() {
            let at = self.look.splits[tried].1;
            let split = &splits[at];
            if self.look.remaining.len() < LEAST * LEAST || !is_worth(split) {
                continue;
            }
            if self.all.len() == self.count {
                self.all.push(Grid::default());
            }
            let grid = &mut self.all[self.count];
            grid.split = at;
            if self
                .look
                .grid(grid, rows, arity, split.place, &mut self.order)
            {
                self.count += 1;
            }
        }
        if self.count == 0 {
            return;
        }
        self.order.extend_from_slice(&self.look.remaining);
        self.individuals.clear();
        for &row in &self.order {
            let start = row as usize * arity;
            self.individuals
                .extend_from_slice(&rows[start..start + arity]);
        }
    }

    /// Whether there are none.
    pub fn are_none(&self) -> bool {
        self.count == 0
    }

    /// The rows of the request in the order of the grids.
    pub fn in_order<'a>(&'a self, rows: Rows<'a>) -> Rows<'a> {
        Rows {
            individuals: &self.individuals,
            ..rows
        }
    }

    /// How many rows are in grids: the first ones.
    pub fn rows(&self) -> usize {
        self.all[..self.count]
            .last()
            .map_or(0, |grid| grid.rows.end)
    }

    /// Cuts a range of rows where another grid begins, or none: the parts, each with its split.
    pub fn cut(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Option<usize>)> {
        let of_grids = self.all[..self.count]
            .iter()
            .map(|grid| (grid.rows.clone(), Some(grid.split)));
        let all = of_grids.chain([(self.rows()..usize::MAX, None)]);
        all.filter_map(move |(rows, split)| {
            let part = rows.start.max(range.start)..rows.end.min(range.end);
            (!part.is_empty()).then_some((part, split))
        })
    }

    /// The known sums of a row and of those after it.
    pub fn sums(&self, row: usize, which: usize) -> impl Iterator<Item = &f32> {
        self.sums[row * self.per_row + which..]
            .iter()
            .step_by(self.per_row)
    }

    /// Results in the order of the request.
    pub fn hand_out(&self, out: &mut [f32]) {
        let pairs = self.order.iter().zip(&self.numbers);
        pairs.for_each(|(&row, &number)| out[row as usize] = number);
    }

    /// Derivatives by the rows of the request, in the order of the grids.
    pub fn take_in(&mut self, by: &[f32]) {
        self.numbers.clear();
        self.numbers
            .extend(self.order.iter().map(|&row| by[row as usize]));
        self.by_sums.clear();
        self.by_sums.resize(by.len() * self.per_row, 0.0);
    }

    /// Finds the sums of all rows of grids.
    pub fn multiply(&mut self, splits: &[Split], sources: Sources<'_>, arity: usize) {
        self.sums.resize(self.rows() * self.per_row, 0.0);
        for grid in &mut self.all[..self.count] {
            let split = &splits[grid.split];
            grid.vectors.resize_with(split.sums.len(), Default::default);
            let (m, n) = (grid.together.len() / arity, grid.alone.len());
            for (at, (factors, [together, alone])) in
                (split.sums.iter().zip(&mut grid.vectors)).enumerate()
            {
                if sources.are_stopped() {
                    return;
                }
                factors.room(m, together);
                factors.room(n, alone);
                let room = (&mut *together, &mut self.single[0]);
                factors.together(sources, &grid.together, arity, room);
                factors.alone(sources, grid.alone.iter().copied(), alone);
                self.products.resize(m * n, 0.0);
                if self.rooms.len() < m.div_ceil(ROWS) {
                    self.rooms.resize_with(m.div_ceil(ROWS), Floats::default);
                }
                let parts = self.products.par_chunks_mut(ROWS * n);
                let parts = parts.zip(together.par_chunks(ROWS * factors.stride()));
                let parts = parts.zip(&mut self.rooms);
                parts.for_each(|((out, together), room)| {
                    factors.dots(together, alone, room, out);
                });
                let sums = &mut self.sums[grid.rows.start * self.per_row + at..];
                let sums = sums.iter_mut().step_by(self.per_row).zip(&grid.cells);
                sums.for_each(|(sum, &cell)| *sum = self.products[cell as usize]);
            }
        }
    }

    /// Adds the derivatives by all vectors of grids, from those by the sums.
    pub fn backward(
        &mut self,
        (splits, arity): (&[Split], usize),
        sources: Sources<'_>,
        gradients: &mut Gradients,
    ) {
        for grid in &self.all[..self.count] {
            let split = &splits[grid.split];
            let (m, n) = (grid.together.len() / arity, grid.alone.len());
            for (at, (factors, [together, alone])) in
                (split.sums.iter().zip(&grid.vectors)).enumerate()
            {
                if sources.are_stopped() || split.back.by_known[at].is_none() {
                    continue;
                }
                let (stride, length) = (factors.stride(), factors.length);
                self.products.clear();
                self.products.resize(m * n, 0.0);
                let by = &self.by_sums[grid.rows.start * self.per_row + at..];
                let by = by.iter().step_by(self.per_row).zip(&grid.cells);
                by.for_each(|(by, &cell)| self.products[cell as usize] += by);
                let (weights, by) = (&self.products, &mut self.by_vectors);
                factors.room(n, by);
                let parts = by.par_chunks_mut(ROWS * stride).enumerate();
                parts.for_each(|(i, out)| {
                    weighted_sums(&weights[i * ROWS..], [1, n], together, stride, out);
                });
                let Vector { sort, from, .. } = factors.alone;
                let vectors = &sources.vectors[sort];
                for (by, &individual) in by.chunks_exact(stride).zip(&grid.alone) {
                    let sums = gradients.of_vector(vectors, individual, (from, length));
                    let pairs = sums.into_iter().flatten().zip(by);
                    pairs.for_each(|(sum, by)| *sum += by);
                }
                factors.room(m, by);
                let parts = by.par_chunks_mut(ROWS * stride).enumerate();
                parts.for_each(|(i, out)| {
                    weighted_sums(&weights[i * ROWS * n..], [n, 1], alone, stride, out);
                });
                let room = &mut self.single;
                let rows = (&grid.together[..], arity);
                factors.hand_on(sources, rows, by, (gradients, room));
            }
        }
    }
}

impl Factors {
    /// From derivatives by products of what stands together those by each factor.
    fn hand_on(
        &self,
        sources: Sources<'_>,
        (rows, arity): (&[u32], usize),
        by: &[f32],
        (gradients, [factor, slope]): (&mut Gradients, &mut [Vec<f32>; 2]),
    ) {
        factor.resize(self.length, 0.0);
        slope.resize(self.length, 0.0);
        for (by, row) in by.chunks_exact(self.stride()).zip(rows.chunks_exact(arity)) {
            for (at, vector) in self.together.iter().enumerate() {
                let vectors = &sources.vectors[vector.sort];
                let numbers = (vector.from, self.length);
                let Some(sums) = gradients.of_vector(vectors, row[vector.place], numbers) else {
                    continue;
                };
                slope.copy_from_slice(&by[..self.length]);
                for other in self.together[..at].iter().chain(&self.together[at + 1..]) {
                    other.read(sources, row[other.place], factor);
                    slope.iter_mut().zip(&*factor).for_each(|(s, f)| *s *= f);
                }
                sums.iter_mut().zip(&*slope).for_each(|(sum, s)| *sum += s);
            }
        }
    }
}

impl Look {
    /// Looks for a grid among the remaining rows, of which its own are then taken: appended to `order`.
    fn grid(
        &mut self,
        grid: &mut Grid,
        rows: &[u32],
        arity: usize,
        place: usize,
        order: &mut Vec<u32>,
    ) -> bool {
        let tuple = |row: u32| &rows[row as usize * arity..][..arity];
        if !self.number(tuple, arity, place) {
            return false;
        }
        // Few rows of one left side, or of one right side among these, are no part of a grid.
        for [left, right] in &mut self.pairs {
            if (self.lefts[*left as usize] as usize) < LEAST {
                *left = NONE;
            } else {
                self.rights[*right as usize] += 1;
            }
        }
        let lefts = self
            .lefts
            .iter()
            .filter(|&&rows| rows as usize >= LEAST)
            .count();
        let common = |rows: u32| rows > 0 && rows as usize * SPARSEST >= lefts;
        let alone = self.rights.iter().filter(|&&rows| common(rows)).count();
        // (As each right side has this many, there are at least `lefts * alone / SPARSEST` rows.)
        if lefts < LEAST || alone < LEAST || u32::try_from(lefts * alone).is_err() {
            return false;
        }
        grid.alone.clear();
        for (number, &individual) in self.rights.iter_mut().zip(&self.individuals) {
            let is_common = common(*number);
            *number = if is_common {
                grid.alone.len() as u32
            } else {
                NONE
            };
            if is_common {
                grid.alone.push(individual);
            }
        }
        self.lefts.fill(NONE);
        grid.together.clear();
        grid.cells.clear();
        self.others.clear();
        let start = order.len();
        for (&row, &[left, right]) in self.remaining.iter().zip(&self.pairs) {
            let right = self.rights[right as usize];
            if left == NONE || right == NONE {
                self.others.push(row);
                continue;
            }
            let left = &mut self.lefts[left as usize];
            if *left == NONE {
                *left = (grid.together.len() / arity) as u32;
                grid.together.extend_from_slice(tuple(row));
            }
            grid.cells.push(*left * alone as u32 + right);
            order.push(row);
        }
        grid.rows = start..order.len();
        std::mem::swap(&mut self.remaining, &mut self.others);
        true
    }

    /// First those whose argument alone is another from one row to the next, most often: grids are found at once then.
    fn in_order(&mut self, rows: &[u32], arity: usize, splits: &[Split]) {
        self.splits.clear();
        self.splits.extend((0..splits.len()).map(|at| (0, at)));
        let step = (rows.len() / arity).div_ceil(LOOKED_AT) * arity;
        for two in rows.windows(2 * arity).step_by(step.max(arity)) {
            let (one, next) = two.split_at(arity);
            for (often, at) in &mut self.splits {
                let place = splits[*at].place;
                let same = |other: usize| one[other] == next[other];
                *often += usize::from((0..arity).all(|other| (other == place) != same(other)));
            }
        }
        self.splits
            .sort_by_key(|(often, at)| (std::cmp::Reverse(*often), *at));
    }

    /// Numbers the two sides of each remaining row, counting how many each left one has. Whether that can be a grid.
    fn number<'r>(&mut self, tuple: impl Fn(u32) -> &'r [u32], arity: usize, place: usize) -> bool {
        for &individual in &self.individuals {
            self.right[individual as usize] = NONE;
        }
        self.individuals.clear();
        self.left.clear();
        self.lefts.clear();
        self.rights.clear();
        self.pairs.clear();
        // Rows that follow each other often differ in one place only.
        let mut last = ([NONE; MOST_TOGETHER], NONE);
        let enough = HOPELESS.max(self.remaining.len() / 4);
        for &row in &self.remaining {
            let tuple = tuple(row);
            let mut all = [NONE; MOST_TOGETHER + 1];
            for (to, from) in all.iter_mut().zip(&tuple[..arity]) {
                *to = *from;
            }
            let mut key = [NONE; MOST_TOGETHER];
            for (i, key) in key.iter_mut().enumerate() {
                *key = all[i + usize::from(i >= place)];
            }
            if last.1 == NONE || key != last.0 {
                let next = self.left.len() as u32;
                let number = *self.left.entry(key).or_insert(next);
                if number == next {
                    self.lefts.push(0);
                }
                last = (key, number);
            }
            self.lefts[last.1 as usize] += 1;
            let individual = tuple[place] as usize;
            if individual >= self.right.len() {
                if individual >= MOST_INDIVIDUALS {
                    return false;
                }
                self.right.resize(individual + 1, NONE);
            }
            if self.right[individual] == NONE {
                self.right[individual] = self.individuals.len() as u32;
                self.individuals.push(individual as u32);
                self.rights.push(0);
            }
            self.pairs.push([last.1, self.right[individual]]);
            if self.pairs.len() == enough && 2 * self.lefts.len() > enough {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are looked through for pairs of what is at a place and the rest.
    fn look(rows: &[[u32; 3]], place: usize) -> (Option<Grid>, Vec<u32>, Vec<u32>) {
        let (mut look, mut grid, mut order) = (Look::default(), Grid::default(), Vec::new());
        look.remaining = (0..rows.len() as u32).collect();
        let found = look.grid(&mut grid, rows.as_flattened(), 3, place, &mut order);
        (found.then_some(grid), order, look.remaining)
    }

    #[test]
    fn finds_all_pairs_among_others() {
        // Twelve pairs with the same ten each, all but a few of them; and one more each that no other has.
        let mut rows = Vec::new();
        for i in 0..12 {
            rows.push([i, i % 3, 500 + i]);
            let asked = (0..10).filter(|j| (i + j) % 7 > 0);
            rows.extend(asked.map(|j| [i, i % 3, 100 + j]));
        }
        let (grid, order, remaining) = look(&rows, 2);
        let grid = grid.expect("a grid");
        assert_eq!((grid.together.len() / 3, grid.alone.len()), (12, 10));
        assert_eq!((order.len(), remaining.len()), (rows.len() - 12, 12));
        for (&row, &cell) in order.iter().zip(&grid.cells) {
            let (together, alone) = (cell as usize / 10, cell as usize % 10);
            let [h, r, t] = rows[row as usize];
            assert_eq!(grid.together[3 * together..][..2], [h, r]);
            assert_eq!(grid.alone[alone], t);
        }
        assert!(remaining.iter().all(|&row| rows[row as usize][2] >= 500));
        let mut all = [order, remaining].concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..rows.len() as u32));
    }

    #[test]
    fn finds_none_where_there_is_none() {
        let rows: Vec<[u32; 3]> = (0..500).map(|i| [i, i % 5, 7 * i % 499]).collect();
        for place in 0..3 {
            let (grid, order, remaining) = look(&rows, place);
            assert!(grid.is_none() && order.is_empty() && remaining.len() == 500);
        }
    }
}
