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
        let start = place(&self.sizes, individuals.iter().copied())? * self.columns;
        Some(start..start + self.columns)
    }
}

/// The place of a tuple among those of all individuals of sorts of these sizes, the last changing fastest; `None` if one of
/// them is not among these.
#[inline]
pub(crate) fn place(sizes: &[usize], tuple: impl Iterator<Item = u32>) -> Option<usize> {
    let mut digits = tuple.map(|individual| individual as usize).zip(sizes);
    digits.try_fold(0, |place, (individual, &size)| {
        (individual < size).then(|| place * size + individual)
    })
}
