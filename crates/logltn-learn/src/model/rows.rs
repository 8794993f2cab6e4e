//! Rows that predicates and functions are asked about.

use logltn::Request;

/// The arguments of each row: individuals, and numbers by their place among `numbers`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub individuals: &'a [u32],
    /// How many of them name a row.
    pub arity: usize,
    pub count: usize,
    pub numbers: &'a [f64],
}

impl<'a> Rows<'a> {
    /// All rows that these individuals make; without arguments there is one.
    pub fn new(individuals: &'a [u32], arity: usize, numbers: &'a [f64]) -> Rows<'a> {
        Rows {
            individuals,
            arity,
            count: individuals.len().checked_div(arity).unwrap_or(1),
            numbers,
        }
    }

    pub fn row(self, row: usize) -> &'a [u32] {
        &self.individuals[row * self.arity..(row + 1) * self.arity]
    }

    pub fn iter(self) -> impl Iterator<Item = &'a [u32]> + Clone {
        (0..self.count).map(move |row| self.row(row))
    }

    /// Some of them.
    pub fn some(self, first: usize, count: usize) -> Rows<'a> {
        Rows {
            individuals: &self.individuals[first * self.arity..(first + count) * self.arity],
            count,
            ..self
        }
    }
}

impl<'a> From<&'a Request> for Rows<'a> {
    fn from(request: &'a Request) -> Rows<'a> {
        Rows {
            individuals: request.individuals(),
            arity: request.arity,
            count: request.rows(),
            numbers: request.numbers(),
        }
    }
}
