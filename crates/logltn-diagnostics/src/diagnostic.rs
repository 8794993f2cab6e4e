//! Errors and warnings as data, and how a person reads them.
//!
//! Every stage (parser, resolver, manifest, readers, planner) reports into one [`Diagnostics`], so that
//! one run reports every mistake, each with its place.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::code::Code;
use crate::harmless::{harmless, harmless_in_place};
use crate::severity::Severity;
use crate::source::{Source, Span};

/// A marked place in the source with a few words about it.
#[derive(Clone, Debug)]
struct Label {
    span: Span,
    text: String,
}

/// One error or warning: what is wrong, where, and how to fix it.
///
/// ```
/// use logltn_diagnostics::{Code, Diagnostic, Source, Span};
/// let source = Source::new("a.ltn", "sort Point\nsort Point\n");
/// let error = Diagnostic::error(Code::DuplicateName, "sort `Point` is declared twice")
///     .at(&source, Span::new(16, 21), "second declaration")
///     .mark(Span::new(5, 10), "first declared here")
///     .help("remove one of the two");
/// let text = error.to_string();
/// assert!(text.contains("a.ltn:2:6"));
/// assert!(text.contains("help: remove one of the two"));
/// ```
///
/// A program tells mistakes apart by their [`Code`], which stays when messages change:
///
/// ```
/// use logltn_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
///
/// fn read(name: &str) -> Result<String, Diagnostics> {
///     let message = format!("{name}: there is no such file");
///     Err(Diagnostic::error(Code::FileNotFound, message).help("did you mean `a.ltn`?").into())
/// }
///
/// let found = read("b.ltn").unwrap_err();
/// for error in found.iter().filter(|d| d.severity() == Severity::Error) {
///     match error.code() {
///         Code::FileNotFound | Code::EmptyFile => println!("nothing to read; {:?}", error.help_text()),
///         other => panic!("{other}: {}", error.message()),
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Diagnostic {
    severity: Severity,
    code: Code,
    message: String,
    source: Option<Source>,
    /// The first is where the problem is; the others give context.
    labels: Vec<Label>,
    notes: Vec<String>,
    help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            source: None,
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, message)
        }
    }

    /// The place of the problem, with a few words that are printed under it (may be empty).
    pub fn at(mut self, source: &Source, span: Span, text: impl Into<String>) -> Diagnostic {
        self.source = Some(source.clone());
        self.labels.insert(
            0,
            Label {
                span,
                text: text.into(),
            },
        );
        self
    }

    /// Another place in the same source that helps to understand the problem.
    pub fn mark(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// A fact worth knowing.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// How to fix it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// [`Diagnostic::help`], if there is something to say.
    pub fn maybe_help(mut self, text: Option<String>) -> Diagnostic {
        self.help = text.or(self.help);
        self
    }

    /// The same as a warning, where the mistake matters only to later steps.
    ///
    /// ```
    /// use logltn_diagnostics::{Code, Diagnostic};
    /// let mild = Diagnostic::error(Code::EmptyFile, "nothing to read").into_warning();
    /// assert_eq!(mild.to_string(), "warning: nothing to read");
    /// ```
    pub fn into_warning(mut self) -> Diagnostic {
        self.severity = Severity::Warning;
        self
    }

    /// The same under another code, for callers that know more about the context.
    pub fn with_code(mut self, code: Code) -> Diagnostic {
        self.code = code;
        self
    }

    /// The same, with another name for a file that messages name.
    pub fn renamed(mut self, file: &str, name: &str) -> Diagnostic {
        self.message = self.message.replace(file, name);
        self
    }

    /// Error or warning.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The kind of mistake.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What is wrong, in one line, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The notes, in order.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How to fix it, if known.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The name of the text that the problem is in.
    pub fn file(&self) -> Option<&str> {
        self.place().map(|(file, ..)| file)
    }

    /// The line of its place, from 1.
    pub fn line(&self) -> Option<usize> {
        self.place().map(|(_, line, _)| line)
    }

    /// The column of its place in characters, from 1.
    pub fn column(&self) -> Option<usize> {
        self.place().map(|(.., column)| column)
    }

    /// File name, 1-based line and column, where the problem has a place in a text.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        let source = self.source.as_ref()?;
        let (line, column) = source.line_column(self.labels.first()?.span.start);
        Some((source.name(), line, column))
    }

    /// The source and the span of the problem, if it has a place.
    pub fn span(&self) -> Option<(&Source, Span)> {
        Some((self.source.as_ref()?, self.labels.first()?.span))
    }

    /// The text at its place, where the problem has one.
    pub fn marked(&self) -> Option<&str> {
        let source = self.source.as_ref()?;
        Some(source.slice(self.labels.first()?.span))
    }

    /// The message with the source lines it is about, in colour if asked for; [harmless](crate::harmless()) whatever
    /// it quotes.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(harmless(&self.message)));
        let excerpt = self.excerpt();
        if let Some((source, text, first_line, start)) = &excerpt {
            let mut snippet = Snippet::source(harmless_in_place(text))
                .path(harmless(source.name()))
                .line_start(*first_line);
            for (i, label) in self.labels.iter().enumerate() {
                let kind = if i == 0 {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                };
                let range = clamp_to_characters(text, label.span, *start);
                snippet = snippet.annotation(kind.span(range).label(harmless(&label.text)));
            }
            group = group.element(snippet);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(harmless(note)));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(harmless(help)));
        }
        renderer.render(&[group])
    }

    /// The lines from the first label to the last. Only these are handed to the renderer, which would
    /// otherwise index the whole text again for every message.
    fn excerpt(&self) -> Option<(&Source, &str, usize, usize)> {
        let source = self.source.as_ref()?;
        let first = self.labels.iter().map(|l| l.span.start).min()?;
        let last = self.labels.iter().map(|l| l.span.end).max()?;
        let first_line = source.line(first);
        let (start, _) = source.line_bounds(first_line);
        let (_, end) = source.line_bounds(source.line(last));
        Some((
            source,
            &source.text()[start..end.max(start)],
            first_line,
            start,
        ))
    }
}

/// A span relative to `start`, clamped to `text` and moved to character boundaries.
fn clamp_to_characters(text: &str, span: Span, start: usize) -> std::ops::Range<usize> {
    let mut from = (span.start as usize).saturating_sub(start).min(text.len());
    let mut to = (span.end as usize).saturating_sub(start).min(text.len());
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    while !text.is_char_boundary(to) {
        to += 1;
    }
    from..to.max(from)
}

/// Text quoted in a message: on one line, and shortened.
///
/// A message is read on a terminal, and the whole text is in the excerpt below it anyway.
pub fn shortened(text: &str) -> String {
    const LIMIT: usize = 60;
    // Only the part that is needed is examined: the text may be a megabyte.
    let text = text.trim_start();
    let cut = text
        .char_indices()
        .nth(2 * LIMIT)
        .map_or(text.len(), |(i, _)| i);
    let mut words = text[..cut].split_whitespace().collect::<Vec<_>>().join(" ");
    if cut < text.len() || words.chars().count() > LIMIT {
        let end = words
            .char_indices()
            .nth(LIMIT - 1)
            .map_or(words.len(), |(i, _)| i);
        words.truncate(end);
        words.push('…');
    }
    words
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// Everything found wrong so far. As an `Err` it holds at least one error.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
}

impl Diagnostics {
    /// Nothing found yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.push(diagnostic);
    }

    /// Adds all of `others`.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Diagnostic>) {
        others.into_iter().for_each(|one| self.push(one));
    }

    /// The same; those without a place get this one.
    pub fn placed(self, source: &Source, span: Span, label: &str) -> Diagnostics {
        let placed = |one: Diagnostic| match one.place() {
            Some(_) => one,
            None => one.at(source, span, label),
        };
        self.into_iter().map(placed).collect()
    }

    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors there are.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Errors before warnings, each from the top of the file to the bottom; those without a place
    /// first.
    pub fn sort_by_place(&mut self) {
        self.list.sort_by_key(|d| {
            let place = d.labels.first().map(|l| l.span.start);
            (d.severity == Severity::Warning, place)
        });
    }

    /// `value` if there are no errors so far, else all diagnostics as the error.
    pub fn into_result<T>(self, value: T) -> Result<(T, Diagnostics), Diagnostics> {
        if self.has_errors() {
            Err(self)
        } else {
            Ok((value, self))
        }
    }

    /// All messages, separated by blank lines, at most `limit` of them. Warnings are left out first, so
    /// that no error is hidden by them.
    pub fn render(&self, colour: bool, limit: usize) -> String {
        let mut shown: Vec<&Diagnostic> = self.list.iter().collect();
        if shown.len() > limit {
            shown.sort_by_key(|d| d.severity == Severity::Warning);
            shown.truncate(limit);
        }
        let mut out = String::new();
        for diagnostic in shown {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(diagnostic.render(colour).trim_end());
            out.push('\n');
        }
        if self.list.len() > limit {
            out.push_str(&format!("\n… and {} more\n", self.list.len() - limit));
        }
        out
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics::from_iter([diagnostic])
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(list: I) -> Diagnostics {
        let mut all = Diagnostics::new();
        all.extend(list);
        all
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false, 50))
    }
}

impl std::error::Error for Diagnostics {}
impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_is_lost_behind_warnings() {
        let mut found = Diagnostics::new();
        for i in 0..5 {
            found.push(Diagnostic::warning(Code::NoEffect, format!("warning {i}")));
        }
        found.push(Diagnostic::error(Code::EmptyFile, "the error"));
        let text = found.render(false, 2);
        assert!(text.starts_with("error: the error"), "{text}");
        assert!(text.contains("warning 0") && text.contains("… and 4 more"));
        // If there is room for all, they stay in the order in which they were found.
        assert!(found.render(false, 6).starts_with("warning: warning 0"));
    }
}
