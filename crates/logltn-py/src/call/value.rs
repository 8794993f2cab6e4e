//! The values of a call, as Python gives them.

use logltn::theory::PredicateId;
use pyo3::prelude::*;

use crate::array::View;

/// Which numbers an array holds, as Python says it.
#[pyclass(frozen, eq, hash, from_py_object, module = "logltn._native")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holds {
    /// One for each tuple of individuals of a predicate.
    #[pyo3(name = "GRID")]
    Grid,
    /// One for each row that a predicate is queried at.
    #[pyo3(name = "ROWS")]
    AtRows,
    /// One for each row of a request.
    #[pyo3(name = "REQUEST")]
    Request,
}

/// The same, and of which predicate or request.
#[derive(Clone, Copy)]
pub enum Target {
    Grid(PredicateId),
    AtRows(PredicateId),
    Request(usize),
}

impl Target {
    pub fn new(which: usize, holds: Holds) -> Target {
        match holds {
            Holds::Grid => Target::Grid(PredicateId(which as u32)),
            Holds::AtRows => Target::AtRows(PredicateId(which as u32)),
            Holds::Request => Target::Request(which),
        }
    }
}

pub struct Value {
    pub target: Target,
    pub values: View,
    pub gradient: Option<View>,
}

/// Predicate (or request), which of its numbers, shape: of values that are elsewhere.
pub type GivenShape = (usize, Holds, Vec<usize>);

impl Value {
    /// One of this shape, which cannot be read.
    pub fn elsewhere((which, holds, shape): &GivenShape) -> Value {
        Value {
            target: Target::new(*which, *holds),
            values: View::elsewhere(shape.clone()),
            gradient: None,
        }
    }
}

/// The predicates that are given at rows.
pub fn at_rows(given: &[Value]) -> Vec<PredicateId> {
    let at_rows = |value: &Value| match value.target {
        Target::AtRows(predicate) => Some(predicate),
        _ => None,
    };
    given.iter().filter_map(at_rows).collect()
}
