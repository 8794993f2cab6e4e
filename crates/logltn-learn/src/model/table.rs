//! Numbers for tuples of individuals: given by data, or learnt.

use std::sync::Arc;

use logltn::FunctionData;

use crate::given_numbers::Numbers;

/// Where a table is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Table {
    /// Among what is given.
    Given(usize),
    /// Among the model's learnable tables.
    Learnt(usize),
}

/// Numbers that are given, shared with the knowledge base, in double precision.
#[derive(Clone, Default)]
pub(super) enum Given {
    #[default]
    Nothing,
    Function(Arc<FunctionData>),
    Predicate(Arc<Numbers>),
}

impl Given {
    pub fn values(&self) -> &[f64] {
        match self {
            Given::Function(values) => match &**values {
                FunctionData::Reals(values) => values,
                FunctionData::Individuals(_) => &[],
            },
            Given::Predicate(numbers) => &numbers.values,
            Given::Nothing => &[],
        }
    }
}
