//! What is known of a run as a whole, for the page.

use std::fs;
use std::io;
use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_report::{details, pictures};
use logltn_train::run_directory::RunInfo;
use logltn_train::train::told_by_key;
use serde_json::Value;

use crate::runs_folder::RunsFolder;

/// More bytes of pictures than these are not read.
const MOST_OF_PICTURES: u64 = 32 << 20;

/// Manifest by key, theory, axioms with their formulas, pictures.
///
/// # Errors
/// If something of it cannot be read.
pub fn of_run(place: &RunsFolder, folder: &Path) -> Result<Value, Diagnostics> {
    let unreadable = |error: io::Error| {
        Diagnostics::from(Diagnostic::error(Code::FileUnreadable, error.to_string()))
    };
    let text = |name: &str| place.text(&folder.join(name)).map_err(unreadable);
    let info = match &text("run.json")?[..] {
        "" => RunInfo::default(),
        text => RunInfo::parse(text.as_bytes(), "run.json")?,
    };
    place.check(folder)?;
    let of_pictures = folder.join("pictures");
    let may_be_read =
        || place.check(&of_pictures).is_ok() && size(&of_pictures) <= MOST_OF_PICTURES;
    let pictures = match of_pictures.is_dir() && may_be_read() {
        true => pictures(&of_pictures)?,
        false => Vec::new(),
    };
    let theory = text("theory.ltn")?;
    // A run that has lost its manifest still has its curves.
    let told = told_by_key(folder).unwrap_or_default();
    Ok(details(&info, &theory, &told, &pictures))
}

/// How many bytes the files in a folder have.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .fold(0, u64::saturating_add)
}
