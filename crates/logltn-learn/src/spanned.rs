//! A value together with its place in the manifest.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use logltn::Span;

/// A value and where it stands in the manifest, so that a later stage (a reader of data, the planner) can
/// still point at the line that asked for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value; `*spanned` reaches it too.
    pub value: T,
    /// Its place.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value at a place.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl AsRef<Path> for Spanned<PathBuf> {
    fn as_ref(&self) -> &Path {
        &self.value
    }
}

/// The named entries of a section, such as the sorts of `[sorts]`; the place of each is its name.
///
/// Ordered by name, so that nothing that is derived from it depends on the order in the file.
pub type Section<T> = BTreeMap<String, Spanned<T>>;
