//! Where something was written, so that messages can show it.

use std::ops::Deref;

use logltn::{Diagnostic, Source, Span};

/// A value and where it is in a text that is known from elsewhere.
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

impl<T: AsRef<U>, U: ?Sized> AsRef<U> for Spanned<T> {
    fn as_ref(&self) -> &U {
        self.value.as_ref()
    }
}

/// A place in a text, such as the line of a manifest that describes a network; or nowhere, for what a program says.
#[derive(Clone, Debug, Default)]
pub struct Place(Option<(Source, Span)>);

impl Place {
    /// Some part of a text.
    pub fn new(source: &Source, span: Span) -> Place {
        Place(Some((source.clone(), span)))
    }

    /// Shows this place with a message; nowhere leaves the message as it is.
    pub fn mark(&self, diagnostic: Diagnostic) -> Diagnostic {
        match &self.0 {
            Some((source, span)) => diagnostic.at(source, *span, ""),
            None => diagnostic,
        }
    }

    /// This place, or another if it is nowhere.
    pub(crate) fn or<'p>(&'p self, other: &'p Place) -> &'p Place {
        match self.0 {
            Some(_) => self,
            None => other,
        }
    }
}
