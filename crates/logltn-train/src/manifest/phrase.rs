//! Expressions inside strings of a manifest: `stop(type(x))`, `dist(Point, Point)`.

use logltn::{Diagnostic, Span};
use logltn_learn::{InputExpr, Mistake, Spanned, parse_distance};

use super::reader::Item;

/// The text of a TOML string, and where it is in the file.
pub(super) struct Phrase<'i> {
    item: &'i Item<'i>,
    pub text: String,
    /// Where the text starts in the file; `None` if escapes make the offsets differ.
    pub origin: Option<usize>,
}

impl<'i> Phrase<'i> {
    pub fn read(item: &'i Item<'i>, what: &str) -> Option<Phrase<'i>> {
        let text = item.string(what)?.value;
        let raw = item.problems.source.slice(item.span);
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let inner = quotes.iter().find_map(|q| {
            let inner = raw.strip_prefix(q)?.strip_suffix(q)?;
            (inner == text).then_some(q.len())
        });
        let origin = inner.map(|quote| item.span.start as usize + quote);
        Some(Phrase { item, text, origin })
    }

    /// The place in the file of bytes of the text.
    pub fn place(&self, span: Span) -> Span {
        match self.origin {
            Some(origin) => Span::new(origin + span.start as usize, origin + span.end as usize),
            None => self.item.span,
        }
    }

    /// The place of the whole text.
    pub fn whole(&self) -> Span {
        self.place(Span::new(0, self.text.len()))
    }

    /// What was read of the text, or `None` after saying what is wrong with it.
    pub fn check<T>(&self, read: Result<T, Mistake>) -> Option<T> {
        read.map_err(|wrong| {
            let message = format!("`{}`: {}", self.item.path, wrong.message);
            let error = Diagnostic::error(wrong.code, message).maybe_help(wrong.help);
            let place = self.place(wrong.span);
            self.item.problems.push(place, &wrong.label, error);
        })
        .ok()
    }
}

/// One string of `inputs`.
pub(super) fn read_input(item: &Item<'_>) -> Option<Spanned<InputExpr>> {
    let what = "an input such as \"x\" or \"x.position\", as a string";
    let phrase = Phrase::read(item, what)?;
    let mut expr = phrase.check(InputExpr::parse(&phrase.text))?;
    expr.move_spans(&|span| phrase.place(span));
    Some(Spanned::new(expr, phrase.whole()))
}

/// `dist(Point, Point)`: the two sorts.
pub(super) fn read_distance(item: &Item<'_>) -> Option<[Spanned<String>; 2]> {
    let phrase = Phrase::read(item, "\"dist(S, S)\" for a sort S, as a string")?;
    let sorts = phrase.check(parse_distance(&phrase.text))?;
    Some(sorts.map(|sort| Spanned::new(sort.value, phrase.place(sort.span))))
}
