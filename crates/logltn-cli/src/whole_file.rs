//! Files that are written whole or not at all, however long that takes.

use std::io;
use std::path::Path;

use logltn::{Code, Diagnostic};
use logltn_train::run_directory::may_replace;
use tempfile::NamedTempFile;

/// A file beside `path`, to take its place when it is whole.
///
/// # Errors
/// If it cannot be made, or what is there is not a file.
pub fn beside(path: &Path) -> Result<NamedTempFile, Diagnostic> {
    may_replace(path)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any other new file; temporary ones are private by default.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let made = builder.prefix(".logltn-").tempfile_in(folder);
    made.map_err(|error| failed(path, &error))
}

/// That a file cannot be written.
pub fn failed(path: &Path, error: &io::Error) -> Diagnostic {
    let what = format!("{}: cannot be written: {error}", path.display());
    Diagnostic::error(Code::CannotWrite, what)
}
