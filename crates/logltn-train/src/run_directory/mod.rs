//! A run on disk: what training leaves behind, and how it is written so that it survives.
//!
//! ```text
//! runs/a/
//!   manifest.toml            the resolved manifest
//!   theory.ltn               the theory
//!   run.json                 seed, versions, command, start, status: RunInfo
//!   metrics.csv              one line per recorded step
//!   metrics.jsonl            the same, as JSON
//!   checkpoint.safetensors   the newest checkpoint
//!   previous.safetensors     the one before it, should the newest be damaged
//!   weights.safetensors      the weights, when the run is finished; with `early_stop` the best ones
//!   last.safetensors         with `early_stop`, those of the last step
//!   report.html, plots/      made from the above by `logltn-report`
//!   run.lock                 held by the process that writes
//! ```
//!
//! Files that are replaced are replaced whole ([`write_atomically`]); files that grow are cut back to the checkpoint
//! when a run is resumed ([`RunDirectory::metrics_log`]). So the run can be continued whenever the process dies. Only a
//! run's own files are ever overwritten: its folder is new, empty or a run's (`folder_owner.rs`).

mod atomic;
mod checkpoint;
mod folder_owner;
mod line_pattern;
mod lock;
mod metrics_log;
mod record;
mod run_info;
mod seal;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::read_bytes;
use logltn_learn::State;

pub(crate) use atomic::explain;
pub use atomic::{may_replace, write_atomically};
pub use checkpoint::{decode, encode};
pub use metrics_log::MetricsLog;
pub(crate) use metrics_log::{Growing, open};
pub use record::{RecordReader, StepRecord};
pub use run_info::{
    AxiomInfo, KeptInfo, RuleInfo, RunInfo, RunStatus, StartInfo, WholeInfo, WholeTruth, utc_time,
};

use lock::Lock;

/// The folder of one run. See the [module](self) for what is in it.
///
/// ```
/// use logltn_learn::State;
/// use logltn_train::run_directory::RunDirectory;
/// let folder = tempfile::tempdir().unwrap();
/// let dir = folder.path().join("a");
/// let run = RunDirectory::create(&dir)?;
/// run.write_theory("sort A\n")?;
/// run.write_manifest("theory = \"theory.ltn\"\n")?;
/// assert!(run.checkpoint()?.is_none());
///
/// let checkpoint = State {
///     tensors: vec![("w".into(), vec![2], vec![1.0, 2.0])],
///     facts: [("step".to_string(), "100".to_string())].into(),
/// };
/// let mut log = run.metrics_log(&["covered".into()], &["ari".into()], None)?;
/// run.write_checkpoint(&mut log, &checkpoint)?;
/// assert_eq!(run.checkpoint()?, Some(checkpoint));
///
/// // Nobody else can write it, and it is not overwritten by accident.
/// drop(run);
/// assert!(RunDirectory::create(&dir).unwrap_err().to_string().contains("--resume"));
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
#[derive(Debug)]
pub struct RunDirectory {
    dir: PathBuf,
    /// Only a writer has one.
    _lock: Option<Lock>,
}

impl RunDirectory {
    /// A new run in `dir`, which is created if it does not exist.
    ///
    /// # Errors
    /// If `dir` holds a run already, is not a folder, cannot be made, or another process writes a run there.
    pub fn create(dir: &Path) -> Result<RunDirectory, Diagnostics> {
        let run = RunDirectory::locked(dir)?;
        if let Some(found) = run.trace() {
            return Err(Diagnostic::error(
                Code::RunExists,
                format!(
                    "{}: the folder holds a run already (`{found}` is there)",
                    dir.display()
                ),
            )
            .help(format!(
                "continue it with `--resume`, choose another folder such as `--out {}`, or remove it and start anew with `--force`",
                free_name(dir).display()
            ))
            .into());
        }
        Ok(run)
    }

    /// A new run in `dir` that replaces an existing one: everything that a run writes is removed, and nothing else.
    ///
    /// # Errors
    /// As those of [`RunDirectory::resume`], or if something cannot be removed.
    pub fn replace(dir: &Path) -> Result<RunDirectory, Diagnostics> {
        let run = RunDirectory::resume(dir)?;
        // The files that mark a run come last, so an interrupted removal still leaves a run.
        for name in OWN {
            let path = run.file(name);
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(atomic::explain(&path, "cannot be removed", &error).into());
                }
                _ => {}
            }
        }
        Ok(run)
    }

    /// The run in `dir`, to be continued; a new one if there is none. Remains of an interrupted write are removed.
    ///
    /// # Errors
    /// If `dir` is not a folder, cannot be made, or another process writes a run there.
    pub fn resume(dir: &Path) -> Result<RunDirectory, Diagnostics> {
        let run = RunDirectory::locked(dir)?;
        for folder in ["", "plots", "pictures"] {
            atomic::remove_leftovers(&dir.join(folder));
        }
        Ok(run)
    }

    /// The run in `dir`, for reading, perhaps while another process still writes it.
    ///
    /// # Errors
    /// If `dir` holds no run.
    pub fn open(dir: &Path) -> Result<RunDirectory, Diagnostics> {
        let run = RunDirectory {
            dir: dir.to_path_buf(),
            _lock: None,
        };
        if run.trace().is_some() {
            return Ok(run);
        }
        let shown = dir.display();
        Err(if dir.is_dir() {
            Diagnostic::error(
                Code::RunNotFound,
                format!("{shown}: the folder holds no run"),
            )
            .help("make one with `logltn train … --out DIR`")
        } else if dir.exists() {
            Diagnostic::error(
                Code::NotAFolder,
                format!("{shown}: expected the folder of a run, found a file"),
            )
        } else {
            Diagnostic::error(
                Code::FileNotFound,
                format!("{shown}: there is no such folder"),
            )
        }
        .into())
    }

    fn locked(dir: &Path) -> Result<RunDirectory, Diagnostics> {
        if dir.exists() && !dir.is_dir() {
            return Err(Diagnostic::error(
                Code::NotAFolder,
                format!(
                    "{}: expected a folder for the run, found a file",
                    dir.display()
                ),
            )
            .help("choose another folder with `--out`")
            .into());
        }
        fs::create_dir_all(dir).map_err(|error| match error.kind() {
            // The path is wrong, not the disk.
            io::ErrorKind::NotADirectory | io::ErrorKind::NotFound => Diagnostic::error(
                Code::NotAFolder,
                format!("{}: it cannot be made: {error}", dir.display()),
            )
            .help("choose another folder with `--out`"),
            _ => atomic::explain(dir, "cannot be made", &error),
        })?;
        folder_owner::check(dir)?;
        let lock = Lock::take(&dir.join("run.lock"), dir)?;
        Ok(RunDirectory {
            dir: dir.to_path_buf(),
            _lock: Some(lock),
        })
    }

    /// A file that only a run leaves.
    fn trace(&self) -> Option<&'static str> {
        [
            "run.json",
            "checkpoint.safetensors",
            "weights.safetensors",
            "metrics.jsonl",
            "metrics.csv",
        ]
        .into_iter()
        // A folder that cannot be read may well be one.
        .find(|name| exists(&self.file(name)).unwrap_or(true))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Whether a file is in the folder.
    ///
    /// # Errors
    /// If that cannot be known: a disk that fails must not look like a run without records.
    pub fn holds(&self, name: &str) -> Result<bool, Diagnostics> {
        Ok(is_there(&self.file(name))?)
    }

    /// Writes `manifest.toml`: the manifest with all flags and defaults filled in.
    pub fn write_manifest(&self, text: &str) -> Result<(), Diagnostic> {
        write_atomically(&self.file("manifest.toml"), text.as_bytes())
    }

    /// Writes `theory.ltn`.
    pub fn write_theory(&self, text: &str) -> Result<(), Diagnostic> {
        write_atomically(&self.file("theory.ltn"), text.as_bytes())
    }

    /// Writes `run.json`.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), Diagnostic> {
        write_atomically(&self.file("run.json"), info.to_json().as_bytes())
    }

    /// Reads `run.json`.
    pub fn info(&self) -> Result<RunInfo, Diagnostics> {
        let path = self.file("run.json");
        RunInfo::parse(&read_bytes(&path)?, &path.display().to_string())
    }

    /// Replaces the checkpoint. The records so far are written to disk first, so that the metrics contain every step of
    /// a checkpoint.
    pub fn write_checkpoint(
        &self,
        log: &mut MetricsLog,
        checkpoint: &State,
    ) -> Result<(), Diagnostics> {
        let bytes = encode(checkpoint)?;
        log.sync()?;
        let [newest, previous] = [NEWEST, PREVIOUS].map(|name| self.file(name));
        if is_there(&newest)? {
            // A second name for the same file costs nothing, and the first name exists at every moment.
            let _ = fs::remove_file(&previous);
            if fs::hard_link(&newest, &previous).is_err() {
                // Not overwritten: it may be the second name of the same file, and writing to one would write to
                // both.
                let copy = read_bytes(&newest)?;
                write_atomically(&previous, &copy)?;
            }
        }
        write_atomically(&newest, &bytes)?;
        Ok(())
    }

    /// The newest checkpoint, if one was written; if it was removed, the one before it.
    ///
    /// # Errors
    /// If it is damaged; the error says whether the one before it is whole.
    pub fn checkpoint(&self) -> Result<Option<State>, Diagnostics> {
        let newest = read_if_there(&self.file(NEWEST));
        let previous = || read_if_there(&self.file(PREVIOUS));
        match newest {
            Ok(Some(state)) => Ok(Some(state)),
            Ok(None) => previous(),
            Err(errors) => match previous() {
                Ok(Some(state)) => Err((errors.into_iter())
                    .map(|error| error.help(self.offer(&state)))
                    .collect()),
                _ => Err(errors),
            },
        }
    }

    /// The help: how to continue from the checkpoint before the newest.
    fn offer(&self, previous: &State) -> String {
        let step = previous.facts.get("step").map_or("?", String::as_str);
        format!(
            "remove it and `--resume`: the checkpoint before it, of step {step}, is whole (`{}`)",
            self.file(PREVIOUS).display()
        )
    }

    /// Writes the final weights. The file's bytes depend on `weights` only, so its `meta` should not depend on the
    /// time or the machine.
    pub fn write_weights(&self, weights: &State) -> Result<(), Diagnostics> {
        write_atomically(&self.file("weights.safetensors"), &encode(weights)?)?;
        Ok(())
    }

    /// Writes the weights of the last step, if they differ from the [final ones](RunDirectory::write_weights).
    pub fn write_last_weights(&self, weights: &State) -> Result<(), Diagnostics> {
        write_atomically(&self.file("last.safetensors"), &encode(weights)?)?;
        Ok(())
    }

    /// The final weights, if the run is finished.
    pub fn weights(&self) -> Result<Option<State>, Diagnostics> {
        read_if_there(&self.file("weights.safetensors"))
    }

    /// The two files of metrics, to be continued after step `after` (records of later steps are removed); `None` starts
    /// them afresh.
    pub fn metrics_log(
        &self,
        axioms: &[String],
        metrics: &[String],
        after: Option<u64>,
    ) -> Result<MetricsLog, Diagnostics> {
        MetricsLog::open(&self.dir, axioms, metrics, after)
    }

    /// Refuses a finished run whose records, the last of which is of step `last`, do not reach its end.
    pub fn check_end(&self, info: &RunInfo, last: u64) -> Result<(), Diagnostics> {
        if info.status != RunStatus::Finished || info.steps.is_none_or(|done| done == last) {
            return Ok(());
        }
        let what = format!(
            "{}: the run is finished, but its records end at step {last}",
            self.file("metrics.jsonl").display()
        );
        Err(Diagnostic::error(Code::RunDamaged, what)
            .help("restore the file from a copy, or train again")
            .into())
    }

    /// The records of `metrics.jsonl`, one at a time: there may be more than fit into memory.
    pub fn records(&self) -> Result<RecordReader, Diagnostics> {
        RecordReader::open(&self.file("metrics.jsonl"))
    }
}

/// The files that a run writes, except for its lock.
const OWN: [&str; 13] = [
    "weights.safetensors",
    "last.safetensors",
    "checkpoint.safetensors",
    "previous.safetensors",
    "metrics.csv",
    "metrics.jsonl",
    "report.html",
    "plots",
    "pictures",
    "tensorboard",
    "theory.ltn",
    "manifest.toml",
    "run.json",
];

/// The first free folder name beside a folder: `runs/a-2`.
fn free_name(dir: &Path) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let beside = |n: u32| dir.with_file_name(format!("{name}-{n}"));
    (2..1000)
        .map(beside)
        .find(|path| !path.exists())
        .unwrap_or_else(|| beside(1000))
}

const NEWEST: &str = "checkpoint.safetensors";
const PREVIOUS: &str = "previous.safetensors";

/// If an error looked like a missing file, it would be read as a run without a checkpoint.
fn is_there(path: &Path) -> Result<bool, Diagnostic> {
    exists(path).map_err(|error| atomic::explain(path, "cannot be read", &error))
}

/// If a file is used as a folder, the folder is what is missing.
fn exists(path: &Path) -> io::Result<bool> {
    match path.try_exists() {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        found => found,
    }
}

fn read_if_there(path: &Path) -> Result<Option<State>, Diagnostics> {
    if !is_there(path)? {
        return Ok(None);
    }
    let bytes = read_bytes(path)?;
    decode(&bytes, &path.display().to_string()).map(Some)
}
