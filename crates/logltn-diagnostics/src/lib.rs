//! What is wrong with a text or a file, as data for programs and messages for people.
//!
//! A [`Diagnostic`] has a [`Code`], which names the kind of mistake for programs, a message for people, and a
//! place in a [`Source`]. [`Diagnostics`] is everything that one run has found. This crate knows neither
//! logic nor files, so that every other crate can use it.
//!
//! ```
//! use logltn_diagnostics::{Code, Diagnostic, Source, Span};
//! let source = Source::new("a.ltn", "sort Point\nsort Point\n");
//! let error = Diagnostic::error(Code::DuplicateName, "`Point` is declared twice")
//!     .at(&source, Span::new(16, 21), "second time");
//! assert_eq!(error.code().name(), "duplicate-name");
//! assert_eq!((error.line(), error.column()), (Some(2), Some(6)));
//! ```

mod code;
mod describe;
mod diagnostic;
pub mod early;
mod example;
mod harmless;
mod severity;
mod source;
mod suggest;

pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, shortened};
pub use example::{Example, Mistake, SURROUNDINGS, Text};
pub use harmless::{harmless, is_obeyed, turns_direction};
pub use severity::Severity;
pub use source::{Source, Span};
pub use suggest::{did_you_mean, nearest};
