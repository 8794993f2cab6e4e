//! What was said of individuals.

use logltn::theory::SortId;

use crate::degrees::largest;

/// What is known about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// A truth degree.
    Truth,
    /// A truth degree for each individual of the last argument's sort, which the rows leave out.
    Classes(SortId),
    /// The numbers of a function's value.
    Values(usize),
    /// A function's value that is an individual of this sort, by its place.
    Individual(SortId),
}

/// What was said of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// What there is of each row.
    pub answers: Answers,
    /// How many numbers a row has.
    pub width: usize,
    /// All numbers, row by row. Truth degrees are between 0 and 1.
    pub numbers: Vec<f64>,
    /// Of an ensemble, how far its members disagree in each row.
    pub disagreement: Vec<f64>,
}

impl Predictions {
    /// The numbers of each row.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks_exact(self.width.max(1))
    }

    /// The class of each row, the first of the truest ones, and its truth; for a predicate with classes.
    pub fn classes(&self) -> impl Iterator<Item = (usize, f64)> {
        self.rows().map(|row| {
            let class = largest(row);
            (class, row[class])
        })
    }
}
