//! The messages of a project, with the line of the manifest that they belong to.

use logltn::{Diagnostic, Diagnostics, Span};

use crate::manifest::Manifest;

/// A manifest, and the errors found while its data are read.
pub(super) struct Report<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) out: &'a mut Diagnostics,
}

impl Report<'_> {
    /// Reports at a place of the manifest; flags have no place.
    pub(super) fn push(&mut self, span: Span, label: &str, diagnostic: Diagnostic) {
        self.out.push(match span == Span::default() {
            true => diagnostic,
            false => diagnostic.at(&self.manifest.source, span, label),
        });
    }

    /// Reports what is wrong with a file. Only the first message shows the line of the manifest that names the file.
    pub(super) fn file(&mut self, span: Span, found: Diagnostics) {
        for (i, diagnostic) in found.into_iter().enumerate() {
            if i == 0 {
                self.push(span, "read from here", diagnostic);
            } else {
                self.out.push(diagnostic);
            }
        }
    }

    /// The value of a reader, or `None` and its messages at the file's place in the manifest.
    pub(super) fn read<T>(&mut self, span: Span, result: Result<T, Diagnostics>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(found) => {
                self.file(span, found);
                None
            }
        }
    }
}
