//! The little expressions inside strings of a manifest: `stop(type(x))`, `dist(Point, Point)`.

use logltn::{Code, Diagnostic, Source, Span};

use super::reader::{Item, Problems};
use super::spanned::Spanned;

/// A cursor over the text of a TOML string, which knows where that text stands in the file.
pub(super) struct Phrase<'t> {
    path: String,
    text: &'t str,
    position: usize,
    /// The whole string with its quotes.
    whole: Span,
    /// Where the text starts in the file; `None` if escapes make the offsets differ.
    origin: Option<usize>,
}

impl<'t> Phrase<'t> {
    /// Over `text`, the decoded value of `item`.
    pub(super) fn new(item: &Item<'_>, text: &'t str, source: &Source) -> Phrase<'t> {
        let raw = source.slice(item.span);
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let inner = quotes.iter().find_map(|q| {
            let inner = raw.strip_prefix(q)?.strip_suffix(q)?;
            (inner == text).then_some(q.len())
        });
        Phrase {
            path: item.path.clone(),
            text,
            position: 0,
            whole: item.span,
            origin: inner.map(|quote| item.span.start as usize + quote),
        }
    }

    /// The place in the file of bytes of the text.
    fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            Some(origin) => Span::new(origin + start, origin + end),
            None => self.whole,
        }
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
    }

    /// Consumes `symbol` if it comes next.
    pub(super) fn accept(&mut self, symbol: char) -> bool {
        self.skip_space();
        let found = self.text[self.position..].starts_with(symbol);
        if found {
            self.position += symbol.len_utf8();
        }
        found
    }

    /// Consumes `symbol` or reports that it is missing.
    pub(super) fn expect(&mut self, problems: &mut Problems<'_>, symbol: char) -> Option<()> {
        if self.accept(symbol) {
            return Some(());
        }
        self.unexpected(problems, &format!("`{symbol}`"))
    }

    /// A name: letters, digits and `_`, not starting with a digit.
    pub(super) fn name(
        &mut self,
        problems: &mut Problems<'_>,
        what: &str,
    ) -> Option<Spanned<String>> {
        self.skip_space();
        let rest = &self.text[self.position..];
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let name = &rest[..length];
        if name.is_empty() || name.starts_with(|c: char| c.is_numeric()) {
            return self.unexpected(problems, what);
        }
        let start = self.position;
        self.position += length;
        Some(Spanned::new(
            name.to_owned(),
            self.span(start, self.position),
        ))
    }

    /// Reports anything that is left.
    pub(super) fn end(&mut self, problems: &mut Problems<'_>) -> Option<()> {
        self.skip_space();
        if self.position == self.text.len() {
            return Some(());
        }
        self.unexpected(problems, "nothing more")
    }

    /// Reports what comes next as not what was expected.
    pub(super) fn unexpected<T>(
        &mut self,
        problems: &mut Problems<'_>,
        expected: &str,
    ) -> Option<T> {
        self.skip_space();
        let rest = &self.text[self.position..];
        let token = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(rest.len(), |end| {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                end.max(first)
            });
        let found = match &rest[..token] {
            "" => "the end of the string".to_owned(),
            token if token.len() > 60 => "something else".to_owned(),
            token => format!("`{token}`"),
        };
        problems.push(
            self.span(self.position, self.position + token),
            &format!("expected {expected}"),
            Diagnostic::error(
                Code::MalformedExpression,
                format!("`{}`: expected {expected}, found {found}", self.path),
            ),
        );
        None
    }

    /// From the beginning of the text to here.
    pub(super) fn so_far(&self) -> Span {
        self.span(0, self.position)
    }
}
