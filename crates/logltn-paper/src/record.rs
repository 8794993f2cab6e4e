//! What is kept of a finished run: one small JSON file, from which an interrupted table continues.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_train::run_directory::write_atomically;
use serde::{Deserialize, Serialize};

use super::Configuration;

/// How much of the data a run has, or which part of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Portion {
    /// How much, where the task has several sizes.
    pub samples: Option<usize>,
    /// How many digits the numbers have, in the task of adding such.
    pub digits: Option<usize>,
    /// What it is of, in a task of several parts.
    pub part: Option<&'static str>,
}

impl Portion {
    /// One that its size alone tells from others.
    pub(super) fn of(samples: usize) -> Portion {
        Portion {
            samples: Some(samples),
            ..Portion::default()
        }
    }

    pub(super) fn in_words(self) -> Option<String> {
        match (self.samples, self.digits, self.part) {
            (_, _, Some(part)) => Some(part.into()),
            (_, Some(1), _) => Some("1 digit".into()),
            (_, Some(n), _) => Some(format!("{n} digits")),
            (Some(n), None, _) => Some(format!("{n} samples")),
            (None, None, _) => None,
        }
    }
}

/// A run to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// How.
    pub configuration: Configuration,
    /// On what.
    pub portion: Portion,
    /// From 0.
    pub run: usize,
    /// Where all its randomness comes from: the same for each configuration, so that differences between
    /// configurations are not those of initial weights or batches.
    pub seed: u64,
}

/// A run that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The configuration's name.
    pub config: String,
    /// See [`Portion::samples`].
    pub samples: Option<usize>,
    /// See [`Job::run`].
    pub run: usize,
    /// See [`Job::seed`].
    pub seed: u64,
    /// All else that the result depends on; runs with other settings do not belong into the same table.
    pub settings: BTreeMap<String, String>,
    /// The metrics at the end, in the units of the paper.
    pub metrics: BTreeMap<String, f64>,
    /// Satisfaction of the theory at the last step; a logarithm in the log semantics and `prod`.
    pub sat: f64,
    /// Metrics over training: steps or epochs, and the value.
    pub curves: BTreeMap<String, Vec<(f64, f64)>>,
    /// The class given to each individual, where the task draws them.
    pub classes: Vec<usize>,
    /// How long it took.
    pub seconds: f64,
}

impl Job {
    /// The run's file in the folder of runs.
    fn file(&self, folder: &Path) -> PathBuf {
        let samples = self
            .portion
            .samples
            .map_or(String::new(), |n| format!("-{n}"));
        let name = self.configuration.name;
        folder.join(format!("{name}{samples}-run{}.json", self.run))
    }

    /// `logltn, 1500 samples, run 3`: counted from 1.
    pub fn title(&self) -> String {
        let portion = self.portion.in_words();
        let portion = portion.map_or(String::new(), |portion| format!(", {portion}"));
        format!("{}{portion}, run {}", self.configuration.name, self.run + 1)
    }

    /// The record that an earlier session left, if any.
    ///
    /// # Errors
    /// If the file is of no use, or of a run with other settings.
    pub(super) fn find(
        &self,
        folder: &Path,
        settings: &BTreeMap<String, String>,
    ) -> Result<Option<RunRecord>, Diagnostics> {
        let path = self.file(folder);
        let text = match logltn_data::read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let message = format!("{}: cannot be read: {error}", path.display());
                return Err(Diagnostic::error(Code::FileUnreadable, message).into());
            }
        };
        let record: RunRecord = serde_json::from_str(&text).map_err(|error| {
            Diagnostic::error(
                Code::RunDamaged,
                format!("{}: not a finished run: {error}", path.display()),
            )
            .help("remove the file, and the run is done again")
        })?;
        let mut differences: Vec<String> = (settings.iter())
            .filter(|(key, value)| record.settings.get(*key) != Some(*value))
            .map(|(key, value)| {
                let there = record.settings.get(key).map_or("nothing", String::as_str);
                format!("`{key}` was {there} there and is {value} now")
            })
            .collect();
        if record.seed != self.seed {
            differences.push(format!(
                "the seed was {} there and is {} now",
                record.seed, self.seed
            ));
        }
        if differences.is_empty() {
            return Ok(Some(record));
        }
        let message = format!("{}: a run of another table", path.display());
        let error = (differences.into_iter()).fold(
            Diagnostic::error(Code::RunDiffers, message),
            Diagnostic::note,
        );
        Err(error
            .help("choose another folder with `--out`, or remove this one")
            .into())
    }

    /// Keeps a record.
    pub(super) fn keep(&self, folder: &Path, record: &RunRecord) -> Result<(), Diagnostics> {
        let text = serde_json::to_string(record).map_err(|error| {
            Diagnostic::error(Code::CannotWrite, format!("{}: {error}", self.title()))
        })?;
        Ok(write_atomically(&self.file(folder), text.as_bytes())?)
    }
}
