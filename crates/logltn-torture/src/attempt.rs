//! How a try ends.

/// How a try ended: in one of the ways that are right, by name, or with what is wrong.
pub type Attempt = Result<&'static str, String>;
