//! A cache of files read recently: a training run looks at the same files several times, and opens each once.
//!
//! An entry is valid as long as the file has the same inode, length and change time, which users cannot set. That time is
//! coarse, so files changed within the last seconds are not cached.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Crc;

/// The size of the cache in bytes.
const MOST_BYTES: usize = 16 << 20;

/// A change to a file that is older than this many seconds shows in its change time.
const SETTLED: i64 = 3;

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept {
    path: PathBuf,
    state: State,
    known: Known,
}

#[derive(Clone)]
pub(super) enum Known {
    Bytes(Arc<[u8]>),
    /// For a file that is too large.
    Checksum(u32),
}

/// What changes with a file: its device and inode, its length, and its change time.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct State([u64; 3], [i64; 2]);

impl State {
    /// `None` for a file that changed too recently to tell.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<State> {
        use std::os::unix::fs::MetadataExt;
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().ok()?.as_secs() as i64;
        (now - file.ctime() >= SETTLED).then(|| {
            let node = [file.dev(), file.ino(), file.len()];
            State(node, [file.ctime(), file.ctime_nsec()])
        })
    }

    #[cfg(not(unix))]
    pub fn of(_: &Path) -> Option<State> {
        None
    }
}

/// Caches what was read from a file that had this state before reading.
pub(super) fn keep(path: &Path, before: Option<State>, bytes: &[u8]) {
    let Some(state) = before.filter(|before| State::of(path) == Some(*before)) else {
        return;
    };
    let known = match bytes.len() <= MOST_BYTES / 2 {
        true => Known::Bytes(bytes.into()),
        false => Known::Checksum(crc(bytes)),
    };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|one| one.path != path);
    let path = path.to_path_buf();
    kept.push(Kept { path, state, known });
    // The newest entries are at the end.
    let mut left = MOST_BYTES;
    let fit = kept.iter().rev().take_while(|one| {
        let bytes = match &one.known {
            Known::Bytes(bytes) => bytes.len(),
            Known::Checksum(_) => size_of::<Kept>(),
        };
        left.checked_sub(bytes).map(|rest| left = rest).is_some()
    });
    let dropped = kept.len() - fit.count();
    kept.drain(..dropped);
}

/// What is cached about a file.
pub(super) fn known(path: &Path) -> Option<Known> {
    let state = State::of(path)?;
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = kept
        .iter()
        .find(|one| one.path == path && one.state == state);
    found.map(|one| one.known.clone())
}

/// The bytes of a file, if they are cached.
pub(super) fn bytes(path: &Path) -> Option<Arc<[u8]>> {
    match known(path)? {
        Known::Bytes(bytes) => Some(bytes),
        Known::Checksum(_) => None,
    }
}

pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum, first_line, read_bytes};

    fn settle(path: &Path) {
        for _ in 0..100 {
            if State::of(path).is_some() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the clock stands still");
    }

    /// A file that was overwritten, replaced or given other permissions is read again; an unchanged one is not.
    #[test]
    fn what_is_kept_is_what_the_file_holds() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
        fs::write(&path, "x\n1\n").unwrap();
        fs::write(&other, "x\n3\n").unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"x\n1\n");
        assert!(bytes(&path).is_none(), "it was written just now");
        settle(&other);
        let fresh = checksum(&path).unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"x\n1\n");
        assert_eq!(bytes(&path).as_deref(), Some(&b"x\n1\n"[..]));
        assert_eq!(checksum(&path).unwrap(), fresh);
        assert_eq!(first_line(&path, 9).unwrap(), b"x\n");
        fs::write(&path, "x\n2\n").unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"x\n2\n");
        assert_ne!(checksum(&path).unwrap(), fresh);
        assert_eq!(read_bytes(&other).unwrap(), b"x\n3\n");
        fs::rename(&path, &other).unwrap();
        assert_eq!(read_bytes(&other).unwrap(), b"x\n2\n");
    }

    #[test]
    fn of_a_large_file_the_checksum_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let content = vec![7; MOST_BYTES / 2 + 1];
        fs::write(&path, &content).unwrap();
        settle(&path);
        let streamed = checksum(&path).unwrap();
        assert_eq!(read_bytes(&path).unwrap(), content);
        assert!(bytes(&path).is_none());
        assert!(matches!(known(&path), Some(Known::Checksum(_))));
        assert_eq!(checksum(&path).unwrap(), streamed);
    }
}
