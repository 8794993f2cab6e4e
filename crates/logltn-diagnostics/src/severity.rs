//! Errors and warnings.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input is wrong; nothing can be run.
    Error,
    /// The input can be run, but is probably not what was intended.
    Warning,
}
