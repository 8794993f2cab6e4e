//! Functions given by data between variables of several components and what they name together: a row of a request, or a
//! class.
//!
//! Each component adds its part to a code that names the variables; this turns it into the code of the functions'
//! values. So a predicate is evaluated on distinct arguments, however many bindings lead to each.

use std::sync::Arc;

use crate::data::FunctionData;

/// From the code of variables to the code of arguments.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// Each argument, and its stride in the code.
    pub arguments: Vec<(Tree, u64)>,
}

/// How an argument is built from the digits of a code.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Digit {
        stride: u64,
        extent: u64,
    },
    Fixed(u32),
    Function {
        values: Values,
        /// The arguments, and how many individuals each can be.
        arguments: Vec<(Tree, u64)>,
    },
}

/// The value of a function for a tuple.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Individuals.
    Given(Arc<FunctionData>),
    /// Numbers, by their places in the pool.
    Numbered(Arc<[u32]>),
    /// A vector, named by the tuple's number.
    Row,
}

impl Applied {
    pub fn code(&self, of_variables: u64) -> u64 {
        let parts = self.arguments.iter();
        parts
            .map(|(tree, stride)| tree.index(of_variables) * stride)
            .sum()
    }
}

impl Tree {
    fn index(&self, code: u64) -> u64 {
        match self {
            Tree::Digit { stride, extent } => code / stride % extent,
            Tree::Fixed(index) => u64::from(*index),
            Tree::Function { values, arguments } => {
                let digits = arguments.iter();
                let row = digits.fold(0, |row, (tree, size)| row * size + tree.index(code));
                match values {
                    Values::Row => row,
                    Values::Numbered(places) => u64::from(places[row as usize]),
                    Values::Given(values) => match values.as_ref() {
                        FunctionData::Individuals(values) => u64::from(values[row as usize]),
                        FunctionData::Reals(_) => row,
                    },
                }
            }
        }
    }
}
