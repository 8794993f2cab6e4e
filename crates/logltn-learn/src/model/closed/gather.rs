//! Vectors read for each row, and derivatives added to what they were read from.

use logltn::vector::{Real, Task, run_task};
use logltn_nn::Floats;

use super::super::Rows;
use super::super::parameters::Parameters;
use super::super::vectors::SortVectors;

/// This many numbers of a vector are added up at once.
const PIECE: usize = 16;

/// Reads a vector for each row. (A closure would be compiled apart, for any processor.)
pub(super) struct Gather<'a, T> {
    pub out: &'a mut [T],
    pub width: usize,
    pub rows: Rows<'a>,
    pub arity: usize,
    pub place: usize,
    pub from: usize,
    pub vectors: &'a SortVectors,
    pub learnable: &'a [Parameters],
}

impl<T: Real> Task for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let tuples = self.rows.individuals.chunks_exact(self.arity);
        for (tuple, out) in tuples.zip(self.out.chunks_exact_mut(self.width)) {
            let individual = tuple[self.place];
            (self.vectors).read(individual, self.from, out, self.learnable);
        }
    }
}

/// Adds the vectors of a block to those of what each row names, at the table and place that `to` says.
pub(super) fn scatter(
    by: &[f32],
    width: usize,
    tables: &mut [Floats],
    name: impl Fn(usize) -> u32,
    to: impl Fn(u32) -> Option<(usize, usize)>,
) {
    run_task(Scatter {
        by,
        width,
        tables,
        name,
        to,
    });
}

struct Scatter<'a, N, F> {
    by: &'a [f32],
    width: usize,
    tables: &'a mut [Floats],
    name: N,
    to: F,
}

impl<N: Fn(usize) -> u32, F: Fn(u32) -> Option<(usize, usize)>> Task for Scatter<'_, N, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let rows = self.by.len() / self.width;
        let mut first = 0;
        while first < rows {
            // Rows that follow each other often name the same, such as a relation: then one sum waits for the next, and
            // should not go through memory.
            let name = (self.name)(first);
            let mut end = first + 1;
            while end < rows && (self.name)(end) == name {
                end += 1;
            }
            let by = &self.by[first * self.width..end * self.width];
            first = end;
            let Some((table, start)) = (self.to)(name) else {
                continue;
            };
            let sums = &mut self.tables[table][start..start + self.width];
            let (pieces, rest) = sums.as_chunks_mut::<PIECE>();
            let done = pieces.len() * PIECE;
            for (at, piece) in pieces.iter_mut().enumerate() {
                let mut sum = *piece;
                for by in by.chunks_exact(self.width) {
                    let by = &by[at * PIECE..][..PIECE];
                    for k in 0..PIECE {
                        sum[k] += by[k];
                    }
                }
                *piece = sum;
            }
            if !rest.is_empty() {
                for by in by.chunks_exact(self.width) {
                    let pairs = rest.iter_mut().zip(&by[done..]);
                    pairs.for_each(|(sum, by)| *sum += by);
                }
            }
        }
    }
}

/// Adds the numbers, and sets them to 0 for the next time.
pub(super) fn add(to: &mut [f32], x: &mut [f32]) {
    to.iter_mut()
        .zip(x)
        .for_each(|(to, x)| *to += std::mem::take(x));
}
