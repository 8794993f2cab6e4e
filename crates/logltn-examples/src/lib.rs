//! LTN's examples and more: theory, manifest and data of each, and what to show when it is trained.
//!
//! Theories and manifests are separate files (`projects/`), made to be copied. Third-party data are read from where the user
//! has them; otherwise a stand-in is made from their statistics, and [`Written::data`] says which. An axiom of weight 0 is a question: its truth is watched, and nothing is learnt from it.
//!
//! ```
//! use logltn_examples::{EXAMPLES, Sources, example};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let smokes = example("smokes")?;
//! let written = smokes.write(&Sources::default(), folder.path())?;
//! assert!(written.manifest.ends_with("smokes.toml"));
//! assert!(EXAMPLES.iter().any(|e| e.name == "smokes"));
//! # Ok::<(), logltn::Diagnostics>(())
//! ```

mod figure;
mod file;
mod presentation;
mod sources;
mod standardise;
mod trained_example;

mod ancestors;
mod binary;
mod clustering;
mod crabs;
mod embeddings;
mod hierarchy;
mod iris;
mod mnist_add;
mod propositions;
mod real_estate;
mod smokes;
pub mod stories;
mod sudoku;

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, did_you_mean};
use logltn_standin::data_folders::{make_folder, write_files};

pub use figure::{Figure, Of};
pub use file::File;
pub use presentation::{Shown, Table};
pub use sources::Sources;
pub use trained_example::Learnt;

/// All examples, the simplest first.
pub const EXAMPLES: [&Example; 14] = [
    &binary::EXAMPLE,
    &iris::EXAMPLE,
    &crabs::EXAMPLE,
    &real_estate::EXAMPLE,
    &clustering::EXAMPLE,
    &smokes::EXAMPLE,
    &ancestors::EXAMPLE,
    &propositions::EXAMPLE,
    &hierarchy::EXAMPLE,
    &embeddings::EXAMPLE,
    &stories::EXAMPLE,
    &mnist_add::EXAMPLE,
    &sudoku::FOUR,
    &sudoku::NINE,
];

/// A theory that is worth trying.
#[derive(Debug)]
pub struct Example {
    /// As on the command line.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    theory: &'static str,
    manifest: &'static str,
    data: fn(&Sources) -> Result<Made, Diagnostics>,
    /// What LTN's notebooks have figures of, where there is something of the kind.
    pub figures: &'static [Figure],
    show: fn(&mut Learnt, &mut Shown) -> Result<(), Diagnostics>,
}

/// The data of an example, made or read.
struct Made {
    /// What data these are, in words.
    what: String,
    files: Vec<File>,
}

/// An example's files.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where the manifest is.
    pub manifest: PathBuf,
    /// What data these are, in words.
    pub data: String,
}

impl Example {
    /// Writes theory, manifest and data into a folder, which is made if need be.
    ///
    /// # Errors
    /// If data that the user named are broken, data that have no stand-in are missing, or a file cannot be written.
    pub fn write(&self, sources: &Sources, folder: &Path) -> Result<Written, Diagnostics> {
        let made = (self.data)(sources)?;
        make_folder(folder)?;
        let [theory, manifest] = ["ltn", "toml"].map(|ending| format!("{}.{ending}", self.name));
        let mut files: Vec<(&str, &[u8])> = (made.files.iter())
            .map(|f| (f.name, &f.bytes[..]))
            .collect();
        files.push((&theory, self.theory.as_bytes()));
        // Last, so that a folder with a manifest is whole.
        files.push((&manifest, self.manifest.as_bytes()));
        write_files(folder, &files)?;
        Ok(Written {
            manifest: folder.join(manifest),
            data: made.what,
        })
    }

    /// What was learnt: tables, and pictures in the run's folder.
    ///
    /// # Errors
    /// If the run is not one of this example, or a picture cannot be written.
    pub fn show(&self, manifest: &Path, run: &Path) -> Result<Shown, Diagnostics> {
        let mut learnt = Learnt::load(manifest, run)?;
        let mut shown = Shown::default();
        (self.show)(&mut learnt, &mut shown)?;
        if !self.figures.is_empty() {
            shown.tables.push(figure::table(self.figures, &learnt)?);
        }
        Ok(shown)
    }
}

/// The example of this name.
///
/// # Errors
/// If there is none; with the name that was probably intended.
pub fn example(name: &str) -> Result<&'static Example, Diagnostic> {
    let found = EXAMPLES.into_iter().find(|e| e.name == name);
    found.ok_or_else(|| {
        let names = EXAMPLES.map(|e| e.name);
        let error = Diagnostic::error(
            Code::UnknownExample,
            format!("there is no example `{name}`"),
        );
        error
            .note(format!(
                "there are {}",
                names.map(|n| format!("`{n}`")).join(", ")
            ))
            .maybe_help(did_you_mean(name, names))
    })
}
