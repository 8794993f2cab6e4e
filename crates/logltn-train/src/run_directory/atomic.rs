//! Replacing a file whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use logltn::{Code, Diagnostic};

/// The suffix of unfinished files.
const UNFINISHED: &str = ".unfinished";

/// Whether a file may take the place of what is at `path`: nothing, or another file. A pipe or a device, such as
/// `/dev/stdout`, would be destroyed.
///
/// # Errors
/// If it is something else.
pub fn may_replace(path: &Path) -> Result<(), Diagnostic> {
    let way = match fs::metadata(path) {
        Ok(there) if there.is_dir() => "a folder of that name exists",
        Ok(there) if !there.is_file() => "it is a pipe or device, not a file",
        // Errors of the folder are reported when writing.
        _ => return Ok(()),
    };
    Err(Diagnostic::error(
        Code::CannotWrite,
        format!("{}: the file cannot be written: {way}", path.display()),
    ))
}

/// Replaces the file at `path` by one that holds `bytes`.
///
/// The bytes go to a file beside it, which takes its place when they are safely on disk. Whatever happens (the process is
/// killed, the disk is full, the power fails), afterwards `path` is either the old file or the new one, whole.
///
/// ```
/// use logltn_train::run_directory::write_atomically;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.txt");
/// write_atomically(&path, b"old")?;
/// write_atomically(&path, b"new")?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"new");
/// let error = write_atomically(&folder.path().join("missing/a.txt"), b"").unwrap_err();
/// assert!(error.to_string().contains("there is no folder"));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If it cannot be written, with the path and the operating system's reason; the old file is still there then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    let folder = folder_of(path);
    may_replace(path)?;
    if !folder.is_dir() {
        return Err(Diagnostic::error(
            Code::CannotWrite,
            format!(
                "{}: the file cannot be written: there is no folder `{}`",
                path.display(),
                folder.display()
            ),
        )
        .help("make the folder, or choose another one"));
    }
    let unfinished = unfinished_name(path);
    replace(path, folder, &unfinished, bytes).map_err(|error| {
        // It may never have been created, and on a broken disk it cannot be removed; the first error has the reason.
        let _ = fs::remove_file(&unfinished);
        let explained = explain(path, "cannot be written", &error);
        if path.exists() {
            explained.note("the file that was there before is unchanged")
        } else {
            explained
        }
    })
}

fn replace(path: &Path, folder: &Path, unfinished: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(unfinished)?;
    file.write_all(bytes)?;
    // A rename may reach the disk before the bytes do: a power cut would leave the new name with no content.
    file.sync_all()?;
    drop(file);
    fs::rename(unfinished, path)?;
    sync_folder(folder)
}

/// Makes a rename durable. Only Unix can open folders; elsewhere this is left to the file system.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A hidden name in the same folder (a rename works only within one file system) that no other write uses.
fn unfinished_name(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder_of(path).join(format!(
        ".{name}.{}-{}{UNFINISHED}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    ))
}

/// Removes the unfinished files of a killed process. No other process may be writing to the folder.
pub(super) fn remove_leftovers(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(UNFINISHED) {
            // If it stays, it only takes space.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The error for a file, with the path, the reason and the remedy.
pub(crate) fn explain(path: &Path, what: &str, error: &io::Error) -> Diagnostic {
    let code = match what {
        "cannot be read" => Code::FileUnreadable,
        _ => Code::CannotWrite,
    };
    let diagnostic = Diagnostic::error(code, format!("{}: it {what}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            diagnostic.help("make room on the disk, then continue the run with `--resume`")
        }
        io::ErrorKind::PermissionDenied => {
            diagnostic.help("change the permissions of the folder, or choose another one")
        }
        io::ErrorKind::ReadOnlyFilesystem => diagnostic.help("choose a folder on another disk"),
        _ => diagnostic,
    }
}
