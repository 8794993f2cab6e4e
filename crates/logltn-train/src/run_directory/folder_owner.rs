//! Who owns a folder: a run, or a user who would miss its contents.

use std::fs;
use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics};

use super::atomic::explain;

/// The files that tell a run's folder from any other.
const MARKS: [&str; 2] = ["run.json", "run.lock"];

/// Whether a run may be written to a folder: if it is empty (hidden files aside) or a run's, and holds files and folders
/// only, no link that leads elsewhere.
///
/// # Errors
/// With the file that is in the way.
pub(super) fn check(dir: &Path) -> Result<(), Diagnostics> {
    let is_run = MARKS.iter().any(|name| dir.join(name).exists());
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let unreadable = |error| explain(&folder, "cannot be read", &error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            // Not that of a link's target.
            let kind =
                fs::symlink_metadata(&path).map_err(|e| explain(&path, "cannot be read", &e))?;
            let other = match (kind.is_symlink(), kind.is_file() || kind.is_dir()) {
                (true, _) => Some("it is a link, and a run does not write through links"),
                // Opening a pipe blocks until the other end is open.
                (_, false) => Some("it is a pipe or device, and a run writes files only"),
                (_, true) => None,
            };
            if let Some(other) = other {
                return Err(Diagnostic::error(
                    Code::LinkInRun,
                    format!("{}: {other}", path.display()),
                )
                .help("remove it, or choose another folder with `--out`")
                .into());
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !is_run && !name.starts_with('.') {
                return Err(Diagnostic::error(
                    Code::FolderTaken,
                    format!(
                        "{}: the folder is not empty and holds no run (`{name}` is there)",
                        dir.display()
                    ),
                )
                .note("a run writes files such as `manifest.toml` and `report.html`, which could overwrite yours")
                .help("choose a new or empty folder with `--out`")
                .into());
            }
            if kind.is_dir() && is_run {
                folders.push(path);
            }
        }
    }
    Ok(())
}
