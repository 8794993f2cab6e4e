//! Logic Tensor Networks in log space.

mod diagnostic;
mod operators;
mod parameters;
mod semantics;
mod semantics_error;
mod source;
mod suggest;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use operators::{Aggregator, And, Implies, Loss, Not, Or, Space};
pub use parameters::{ParameterError, Parameters};
pub use semantics::Semantics;
pub use semantics_error::SemanticsError;
pub use source::{Source, Span};
pub use suggest::{did_you_mean, nearest};
