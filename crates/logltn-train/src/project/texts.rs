//! A manifest and a theory as texts, for editors: no data is read but the names of individuals.

use logltn::{Diagnostics, Source, Theory};

use super::report::Report;
use super::{read_theory, sorts};
use crate::manifest::Manifest;

/// The theory of a manifest, as far as it can be read. Its errors, and mismatches with the manifest, go to `out`.
pub fn check_texts(manifest: &Manifest, theory: Source, out: &mut Diagnostics) -> Theory {
    let mut report = Report { manifest, out };
    let labels = sorts::read_labels(&mut report);
    read_theory(&mut report, theory, &labels, None).0
}
