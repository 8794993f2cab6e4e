//! Predicates given by numbers, one for every atom there can be.

use std::ops::Range;

/// The numbers of a predicate that does not learn.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// How many numbers a row has: one, or one for each class.
    pub columns: usize,
    /// Row-major, the last argument changing fastest.
    pub values: Vec<f64>,
    /// The sizes of the argument sorts that a row stands for: all, or all but the last.
    pub sizes: Vec<usize>,
}

impl Numbers {
    /// Where in `values` the row of these individuals is; `None` if there is nothing about one of them.
    pub fn row(&self, individuals: &[u32]) -> Option<Range<usize>> {
        let mut row = 0;
        for (&individual, &size) in individuals.iter().zip(&self.sizes) {
            let individual = individual as usize;
            if individual >= size {
                return None;
            }
            row = row * size + individual;
        }
        let start = row * self.columns;
        Some(start..start + self.columns)
    }
}
