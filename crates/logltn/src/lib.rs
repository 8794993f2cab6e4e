//! Logic Tensor Networks in log space.

mod diagnostic;
mod source;
mod suggest;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use source::{Source, Span};
pub use suggest::{did_you_mean, nearest};
