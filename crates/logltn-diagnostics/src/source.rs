//! Source text and places in it.

use std::fmt;
use std::sync::Arc;

/// A range of bytes in a [`Source`]. Every part of a theory carries one, through to planning and
/// grounding, so that a late error can still point at the line that caused it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The empty place just after this span: where something is missing.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            end: self.end,
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A named text: a theory or a manifest. Cheap to clone, so diagnostics can own the text that they
/// point into.
///
/// ```
/// use logltn_diagnostics::Source;
/// let source = Source::new("a.ltn", "sort A\nsort B\n");
/// assert_eq!(source.line_column(12), (2, 6));
/// ```
#[derive(Clone)]
pub struct Source {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

impl Source {
    /// The largest text that spans can address. Longer ones are refused by the parser.
    pub const MAX_BYTES: usize = u32::MAX as usize - 1;

    /// A source whose `name` (usually a path) is shown in messages. A leading byte-order mark is
    /// dropped.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(i, _)| i as u32 + 1))
            .collect();
        Source {
            inner: Arc::new(Inner {
                name: name.into(),
                text,
                line_starts,
            }),
        }
    }

    /// The name given to [`Source::new`].
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text()
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// The 1-based line of a byte offset.
    pub fn line(&self, offset: u32) -> usize {
        self.inner.line_starts.partition_point(|&s| s <= offset)
    }

    /// The 1-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.inner.line_starts[line - 1] as usize;
        let end = (offset as usize).clamp(start, self.text().len());
        (line, self.text()[start..end].chars().count() + 1)
    }

    /// The byte offsets where 1-based line `line` starts and ends, its line break left out.
    pub(crate) fn line_bounds(&self, line: usize) -> (usize, usize) {
        let starts = &self.inner.line_starts;
        let start = starts[line - 1] as usize;
        let end = starts.get(line).map_or(self.text().len(), |&s| s as usize);
        let text = self.text()[start..end].trim_end_matches(['\n', '\r']);
        (start, start + text.len())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?})", self.name())
    }
}
