//! The text of the theory that a manifest names.

use std::collections::BTreeSet;
use std::path::Path;

use logltn::{Diagnostics, Source, memory};
use logltn_data::read_bytes;

use crate::manifest::{Manifest, utf8_source};

/// How much more memory a theory takes than its text: tokens, formulas, programs.
const TIMES_TEXT: u128 = 120;

/// Reads it, or returns the reason for the failure.
pub(super) fn read(manifest: &Manifest, out: &mut Diagnostics) -> Option<Source> {
    match read_theory_file(&manifest.resolve(&manifest.theory)) {
        Ok(source) => Some(source),
        Err(errors) => {
            out.extend(errors.placed(&manifest.source, manifest.theory.span, "the theory"));
            None
        }
    }
}

/// The text of a theory.
///
/// # Errors
/// If it cannot be read, is too large for the memory that may be used, or is not UTF-8.
pub fn read_theory_file(path: &Path) -> Result<Source, Diagnostics> {
    let name = path.display().to_string();
    let bytes = read_bytes(path)?;
    if let Err(error) = memory::ask(TIMES_TEXT * bytes.len() as u128) {
        let error = error.refuse(format_args!("the theory in {name}, read and planned,"));
        return Err(error.into());
    }
    Ok(utf8_source(name, bytes, "the theory")?)
}

/// The names that a theory seems to declare, if some of its declarations could not be understood.
pub(super) fn declared_names(source: &Source) -> BTreeSet<String> {
    let mut words = logltn::words(source);
    words.retain(|word| word.declares);
    words.dedup_by_key(|word| word.declaration);
    words.into_iter().map(|word| word.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_broken_declarations() {
        let text = "sort A # sort B\nsort C = 3..\nsort E = {f, g}\npredicate P(A, D)\naxiom a (weight x: P";
        let names = declared_names(&Source::new("t.ltn", text));
        assert_eq!(names, ["A", "C", "E", "P", "a"].map(str::to_string).into());
    }
}
