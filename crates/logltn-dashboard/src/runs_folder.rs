//! The folder of all runs: nothing outside it is opened.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use logltn::{Code, Diagnostic};

/// The largest text of a run that is read whole.
const LARGEST_TEXT: u64 = 64 << 20;

/// Tries again what a disk of another machine may refuse for a moment: a file that was replaced there while it was open here, a
/// network that stumbled.
pub fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const EIO: i32 = 5;
    let passes = |error: &io::Error| {
        use io::ErrorKind::{Interrupted, StaleNetworkFileHandle, TimedOut};
        [Interrupted, StaleNetworkFileHandle, TimedOut].contains(&error.kind())
            || error.raw_os_error() == Some(EIO)
    };
    for pause in [1, 10, 40] {
        match attempt() {
            Err(error) if passes(&error) => thread::sleep(Duration::from_millis(pause)),
            result => return result,
        }
    }
    attempt()
}

/// The folder of all runs, without links on the way to it.
#[derive(Clone, Debug)]
pub struct RunsFolder {
    root: PathBuf,
}

impl RunsFolder {
    /// Opens a folder.
    ///
    /// # Errors
    /// If it is not a folder.
    pub fn new(dir: &Path) -> Result<RunsFolder, Diagnostic> {
        let shown = dir.display();
        let root = fs::canonicalize(dir).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let what = format!("{shown}: there is no such folder");
                Diagnostic::error(Code::FileNotFound, what)
                    .help("give the folder that holds the folders of runs")
            }
            _ => Diagnostic::error(Code::FileUnreadable, format!("{shown}: {error}")),
        })?;
        if !root.is_dir() {
            let what = format!("{shown}: expected a folder that holds runs, found a file");
            return Err(Diagnostic::error(Code::NotAFolder, what));
        }
        Ok(RunsFolder { root })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens a file; `None` if it does not exist.
    ///
    /// It must lie in the folder without a link on the way, and be a file: not a pipe, which would never end.
    pub fn open(&self, path: &Path) -> io::Result<Option<File>> {
        match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(real) if real != path || !path.starts_with(&self.root) => {
                return refused(path, "a link leads to it, which is not followed");
            }
            Ok(_) => {}
        }
        self.open_walked(path)
    }

    /// The same in a folder that was reached from the folder of all without following a link just now.
    pub fn open_walked(&self, path: &Path) -> io::Result<Option<File>> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(kind) if kind.is_symlink() => {
                return refused(path, "it is a link, which is not followed");
            }
            Ok(kind) if !kind.is_file() => return refused(path, "it is not a file"),
            Ok(_) => {}
        }
        // Opening makes a network's file system look at what is there now, which asking for its length does not.
        let file = File::open(path)?;
        match file.metadata()?.is_file() {
            true => Ok(Some(file)),
            false => refused(path, "it is not a file"),
        }
    }

    /// The text of a file, empty if it does not exist.
    pub fn text(&self, path: &Path) -> io::Result<String> {
        patiently(|| self.text_now(path))
    }

    fn text_now(&self, path: &Path) -> io::Result<String> {
        let Some(file) = self.open(path)? else {
            return Ok(String::new());
        };
        let mut text = String::new();
        if file.take(LARGEST_TEXT + 1).read_to_string(&mut text)? as u64 > LARGEST_TEXT {
            return Err(io::Error::other(format!(
                "{}: it is too large",
                path.display()
            )));
        }
        Ok(text)
    }

    /// Whether a run's folder is as training leaves it: folders and files, no links. What is read of it by its path is then
    /// inside.
    pub fn check(&self, folder: &Path) -> Result<(), Diagnostic> {
        match patiently(|| self.odd(folder)) {
            Ok(None) => Ok(()),
            Ok(Some(path)) => Err(link(&path)),
            Err(error) => {
                let what = format!("{}: it cannot be read: {error}", folder.display());
                Err(Diagnostic::error(Code::FileUnreadable, what))
            }
        }
    }

    /// The first thing that is neither a folder nor a file.
    fn odd(&self, folder: &Path) -> io::Result<Option<PathBuf>> {
        if fs::canonicalize(folder)? != folder || !folder.starts_with(&self.root) {
            return Ok(Some(folder.to_path_buf()));
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if !kind.is_file() && !kind.is_dir() {
                return Ok(Some(entry.path()));
            }
        }
        Ok(None)
    }
}

fn refused<T>(path: &Path, what: &str) -> io::Result<T> {
    let what = format!("{}: {what}", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

fn link(path: &Path) -> Diagnostic {
    let what = format!(
        "{}: it is a link or not a file, and is not read",
        path.display()
    );
    Diagnostic::error(Code::LinkInRun, what)
        .help("remove it from the run, or train again in another folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let (root, out) = (base.join("runs"), base.join("out"));
        for dir in [&root, &out] {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join("secret.txt"), "secret").unwrap();
        }
        let place = RunsFolder::new(&root).unwrap();
        assert_eq!(place.text(&root.join("secret.txt")).unwrap(), "secret");
        assert_eq!(place.text(&root.join("none.txt")).unwrap(), "");
        symlink(out.join("secret.txt"), root.join("a.txt")).unwrap();
        symlink(&out, root.join("b")).unwrap();
        symlink(root.join("secret.txt"), root.join("c.txt")).unwrap();
        for path in ["a.txt", "b/secret.txt", "c.txt", "../out/secret.txt", "."] {
            assert!(place.text(&root.join(path)).is_err(), "{path}");
        }
        assert!(place.check(&root).is_err(), "it holds links");
        assert!(place.check(&out).is_err(), "it is outside");
        for name in ["a.txt", "b", "c.txt"] {
            fs::remove_file(root.join(name)).unwrap();
        }
        place.check(&root).unwrap();
    }
}
