//! Little expressions inside strings: `stop(type(x))`, `dist(Point, Point)`.

use logltn::{Code, Diagnostic, Source, Span};

use crate::spanned::Spanned;

/// Something wrong with an expression, at a place in its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// Which kind.
    pub code: Code,
    /// Where in the text.
    pub span: Span,
    /// What to write beside that place.
    pub label: String,
    /// The whole of it.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Mistake {
    pub(crate) fn new(code: Code, span: Span, label: &str, message: impl Into<String>) -> Mistake {
        Mistake {
            code,
            span,
            label: label.to_string(),
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Mistake {
        let help = Some(help.into());
        Mistake { help, ..self }
    }

    /// As a diagnostic, with the place that its span is in `source`.
    pub(crate) fn shown(self, source: &Source, span: Span) -> Diagnostic {
        Diagnostic::error(self.code, self.message)
            .at(source, span, self.label)
            .maybe_help(self.help)
    }
}

/// A cursor over a text.
pub(crate) struct Phrase<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Phrase<'t> {
    pub fn new(text: &'t str) -> Phrase<'t> {
        Phrase { text, position: 0 }
    }

    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
        &self.text[self.position..]
    }

    /// Consumes `symbol` if it comes next.
    pub fn accept(&mut self, symbol: char) -> bool {
        let found = self.rest().starts_with(symbol);
        if found {
            self.position += symbol.len_utf8();
        }
        found
    }

    /// Consumes `symbol`, which must come next.
    pub fn expect(&mut self, symbol: char) -> Result<(), Mistake> {
        match self.accept(symbol) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{symbol}`"))),
        }
    }

    /// A name: letters, digits and `_`, not starting with a digit.
    pub fn name(&mut self, what: &str) -> Result<Spanned<String>, Mistake> {
        let rest = self.rest();
        let length =
            (rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))).unwrap_or(rest.len());
        let name = &rest[..length];
        if name.is_empty() || name.starts_with(|c: char| c.is_numeric()) {
            return Err(self.unexpected(what));
        }
        let start = self.position;
        self.position += length;
        Ok(Spanned::new(
            name.to_owned(),
            Span::new(start, self.position),
        ))
    }

    /// Where the next thing begins.
    pub fn here(&mut self) -> usize {
        self.rest();
        self.position
    }

    /// Where the last thing ended.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Whether this comes next.
    pub fn starts_with(&mut self, symbol: &str) -> bool {
        self.rest().starts_with(symbol)
    }

    /// A number such as `2`, `.5` or `1e-3`, if one comes next.
    pub fn number(&mut self) -> Result<Option<Spanned<f64>>, Mistake> {
        let rest = self.rest();
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut length = digits(rest);
        if rest[length..].starts_with('.') && (length > 0 || digits(&rest[1..]) > 0) {
            length += 1 + digits(&rest[length + 1..]);
        }
        if length == 0 {
            return Ok(None);
        }
        if let Some(after) = rest[length..].strip_prefix(['e', 'E']) {
            let sign = usize::from(after.starts_with(['+', '-']));
            let exponent = digits(&after[sign..]);
            length += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let span = Span::new(self.position, self.position + length);
        match rest[..length].parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.position += length;
                Ok(Some(Spanned::new(number, span)))
            }
            _ => {
                let what = format!("`{}` is too large a number", &rest[..length.min(60)]);
                Err(Mistake::new(
                    Code::MalformedExpression,
                    span,
                    "too large",
                    what,
                ))
            }
        }
    }

    /// Nothing may be left.
    pub fn end(&mut self) -> Result<(), Mistake> {
        match self.rest() {
            "" => Ok(()),
            _ => Err(self.unexpected("nothing more")),
        }
    }

    /// What comes next is not what was expected.
    pub fn unexpected(&mut self, expected: &str) -> Mistake {
        let rest = self.rest();
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
        let span = Span::new(self.position, self.position + token);
        let label = format!("expected {expected}");
        let what = format!("{label}, found {found}");
        Mistake::new(Code::MalformedExpression, span, &label, what)
    }
}

/// `dist(Point, Point)`: the two sorts.
pub fn parse_distance(text: &str) -> Result<[Spanned<String>; 2], Mistake> {
    let mut phrase = Phrase::new(text);
    let name = phrase.name("`dist(S, S)` for a sort S")?;
    if name.as_str() != "dist" {
        let what = format!("expected `dist(S, S)` for a sort S, found `{}`", name.value);
        let (code, label) = (Code::MalformedExpression, "only `dist` is known");
        return Err(Mistake::new(code, name.span, label, what));
    }
    phrase.expect('(')?;
    let first = phrase.name("the name of a sort")?;
    phrase.expect(',')?;
    let second = phrase.name("the name of a sort")?;
    phrase.expect(')')?;
    phrase.end()?;
    Ok([first, second])
}
