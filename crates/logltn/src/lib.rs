//! Logic Tensor Networks in log space.

mod data;
mod diagnostic;
mod engine;
mod guard;
mod nnf;
mod number;
mod operators;
mod output;
mod parameters;
mod parser;
pub(crate) mod plan;
mod print;
mod recursion;
mod resolve;
mod same;
mod semantics;
mod semantics_error;
mod source;
mod suggest;
mod syntax;
pub mod theory;
mod token;

#[doc(hidden)]
pub use logltn_vector as vector;

pub use data::{ColumnData, ConstantData, Data, TableData, euclidean};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use engine::{AxiomValue, Engine, Evaluation, Request};
pub use nnf::MAX_NNF_NODES;
pub use number::{ArithmeticError, Number};
pub use operators::{Aggregator, And, Implies, Loss, Not, Or, Space};
pub use output::{Output, OutputKind};
pub use parameters::{ParameterError, Parameters};
pub use plan::{ArgumentShape, Plan, PlannedAxiom};
pub use resolve::Labels;
pub use semantics::Semantics;
pub use semantics_error::SemanticsError;
pub use source::{Source, Span};
pub use suggest::{did_you_mean, nearest};
pub use theory::Theory;
