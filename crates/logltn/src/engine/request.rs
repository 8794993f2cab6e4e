//! What predicates are asked.

use std::sync::Arc;

use crate::plan::ArgumentShape;
use crate::source::Span;
use crate::theory::PredicateId;

/// The argument rows on which a predicate is to be evaluated, each once.
#[derive(Clone, Debug)]
pub struct Request {
    /// The predicate.
    pub predicate: PredicateId,
    /// How its arguments are built from individuals, without the last argument if that picks the
    /// class.
    pub shape: Vec<ArgumentShape>,
    /// The number of answers per row: 1, or one per class.
    pub width: usize,
    /// The number of individuals in a row.
    pub arity: usize,
    /// The first place in the theory that uses it.
    pub span: Span,
    pub(super) rows: usize,
    pub(super) individuals: Vec<u32>,
    pub(super) numbers: Arc<[f64]>,
}

impl Request {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The individuals of all rows, one row of [`Request::arity`] after the other.
    pub fn individuals(&self) -> &[u32] {
        &self.individuals
    }

    /// The value of a leaf that is an [`ArgumentShape::Number`].
    ///
    /// # Panics
    /// If the leaf is not such a number.
    pub fn number(&self, leaf: u32) -> f64 {
        self.numbers[leaf as usize]
    }

    /// The values of all leaves that are numbers: [`Request::number`] looks them up here.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The individuals of a row, by their indexes in their sorts; for numbers see [`Request::number`].
    pub fn row(&self, row: usize) -> &[u32] {
        &self.individuals[row * self.arity..(row + 1) * self.arity]
    }
}
