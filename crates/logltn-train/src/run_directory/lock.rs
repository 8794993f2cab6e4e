//! One writer per run.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use logltn::{Code, Diagnostic};

use super::atomic::explain;

/// Held as long as this lives. The operating system releases it when the process ends, in whatever way.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file is not enough: a child process that is being started has it open, too, until it becomes another program.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock at `path` for the run in `dir`.
    pub(super) fn take(path: &Path, dir: &Path) -> Result<Lock, Diagnostic> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| explain(path, "cannot be written", &error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(Diagnostic::error(
                Code::RunInUse,
                format!("{}: another process is writing a run there", dir.display()),
            )
            .help("wait for it to end, stop it, or choose another folder with `--out`")),
            // Some network file systems have no locks; runs there are not locked.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock { file }),
        }
    }
}
