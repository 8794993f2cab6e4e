//! Logic Tensor Networks in log space.

mod diagnostic;
mod nnf;
mod parser;
mod print;
mod recursion;
mod resolve;
mod same;
mod source;
mod suggest;
mod syntax;
pub mod theory;
mod token;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use nnf::MAX_NNF_NODES;
pub use resolve::Labels;
pub use source::{Source, Span};
pub use suggest::{did_you_mean, nearest};
pub use theory::Theory;
