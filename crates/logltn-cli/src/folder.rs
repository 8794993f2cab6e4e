//! Folders for what a command makes.

use std::path::{Path, PathBuf};

/// `DIR`, or `DIR-2`, `DIR-3`, … if it is taken: nothing is ever overwritten.
pub fn free_folder(wanted: &Path) -> PathBuf {
    let numbered = |n: u32| match n {
        1 => wanted.to_path_buf(),
        n => PathBuf::from(format!("{}-{n}", wanted.display())),
    };
    let free = (1..).map(numbered).find(|folder| !folder.exists());
    free.unwrap_or_else(|| wanted.to_path_buf())
}
