//! Vectors read for each row.

use logltn::vector::{Real, Task};

use super::super::Rows;
use super::super::parameters::Parameters;
use super::super::vectors::SortVectors;

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
