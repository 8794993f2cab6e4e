//! Where data may lie, and where files go.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_train::run_directory::write_atomically;

/// Names the folder of the data where `--data` does not.
const VARIABLE: &str = "LOGLTN_DATA";

/// The folder `name` of data, such as `tcga`: in the folder that `--data` or the environment variable `LOGLTN_DATA` names; else in `data` of the
/// current folder, of those above it, or of those above the program, where a clone has what it ships.
///
/// # Errors
/// If the named folder does not exist.
pub fn find(
    given: Option<&Path>,
    name: &str,
    files: &[&str],
) -> Result<Option<PathBuf>, Diagnostic> {
    find_where(given, name, |folder| {
        files.iter().all(|file| folder.join(file).is_file())
    })
}

/// The same for a folder that is `whole`.
///
/// # Errors
/// If the named folder does not exist.
pub fn find_where(
    given: Option<&Path>,
    name: &str,
    whole: impl Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, Diagnostic> {
    let variable = std::env::var_os(VARIABLE).map(PathBuf::from);
    let (named, by) = match given {
        Some(given) => (Some(given), "--data"),
        None => (variable.as_deref(), VARIABLE),
    };
    if let Some(named) = named
        && !named.is_dir()
    {
        let message = format!("{}: there is no such folder", named.display());
        return Err(Diagnostic::error(Code::FileNotFound, message).help(format!(
            "`{by}` names the folder that holds the folder `{name}`"
        )));
    }
    let above = |path: PathBuf| -> Vec<PathBuf> {
        let folders = path.ancestors().map(|a| a.join("data").join(name));
        folders.collect()
    };
    let mut candidates: Vec<PathBuf> = named.map(|n| n.join(name)).into_iter().collect();
    candidates.extend(std::env::current_dir().map(above).unwrap_or_default());
    candidates.extend(std::env::current_exe().map(above).unwrap_or_default());
    Ok(candidates.into_iter().find(|folder| whole(folder)))
}

/// Makes a folder and those above it.
///
/// # Errors
/// If that cannot be done.
pub fn make_folder(path: &Path) -> Result<(), Diagnostics> {
    std::fs::create_dir_all(path).map_err(|error| {
        let message = format!("{}: the folder cannot be made: {error}", path.display());
        Diagnostic::error(Code::CannotWrite, message)
            .help("choose another folder with `--out`")
            .into()
    })
}

/// Writes files into a folder.
///
/// # Errors
/// If that cannot be done.
pub fn write_files<N: AsRef<Path>, B: AsRef<[u8]>>(
    folder: &Path,
    files: &[(N, B)],
) -> Result<(), Diagnostics> {
    for (name, bytes) in files {
        write_atomically(&folder.join(name), bytes.as_ref())?;
    }
    Ok(())
}
