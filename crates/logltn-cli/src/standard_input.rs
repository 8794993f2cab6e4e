//! Standard input in the place of a file.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use tempfile::TempDir;

/// Whether a path means standard input.
pub fn is_it(path: &Path) -> bool {
    [Path::new("-"), Path::new("/dev/stdin")].contains(&path)
}

/// What was read from standard input: a temporary file, which is removed with it.
pub struct Kept {
    _folder: TempDir,
    path: PathBuf,
}

impl Kept {
    /// The same messages about standard input, whose file nobody knows.
    pub fn named(&self, messages: &Diagnostics) -> Diagnostics {
        let path = self.path.display().to_string();
        let named = |message: Diagnostic| {
            let of_format = message
                .help_text()
                .is_some_and(|help| help.contains("extension"));
            let message = message.renamed(&path, "standard input");
            match of_format {
                true => message.help("name its format with `--format`"),
                false => message,
            }
        };
        messages.iter().cloned().map(named).collect()
    }
}

/// Reads standard input into a temporary file, whose extension is its format, and replaces the path by it, since
/// readers may read it twice. The format is the given one, or is recognised from the bytes.
///
/// # Errors
/// If it would be read twice, or cannot be read.
pub fn keep(paths: Vec<(&mut PathBuf, Option<&str>)>) -> Result<Option<Kept>, Diagnostics> {
    let mut paths = paths.into_iter();
    let Some((path, format)) = paths.next() else {
        return Ok(None);
    };
    if paths.next().is_some() {
        let what = "standard input can be read once: two files are `-`";
        return Err(Diagnostic::error(Code::ConflictingKeys, what)
            .help("write one of them to a file first")
            .into());
    }
    let failed = |error: io::Error| {
        Diagnostic::error(Code::FileUnreadable, format!("standard input: {error}"))
    };
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let ending = format.unwrap_or_else(|| looks_like(&bytes));
    *path = folder.path().join(format!("stdin.{ending}"));
    std::fs::write(&path, &bytes).map_err(failed)?;
    Ok(Some(Kept {
        path: path.clone(),
        _folder: folder,
    }))
}

/// The file extension that fits the bytes; text if nothing else does.
fn looks_like(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "npy",
        [b'P', b'K', ..] => "npz",
        [0x1f, 0x8b, ..] => "idx.gz",
        [0, 0, 8..=14, ..] => "idx",
        [_, _, _, _, 0, 0, 0, 0, b'{', ..] => "safetensors",
        _ => "csv",
    }
}

#[cfg(test)]
mod tests {
    use super::looks_like;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        assert_eq!(looks_like(b"\x93NUMPY\x01\x00"), "npy");
        assert_eq!(looks_like(b"PK\x03\x04"), "npz");
        assert_eq!(looks_like(b"\x1f\x8b\x08"), "idx.gz");
        assert_eq!(looks_like(b"\x00\x00\x08\x03\x00"), "idx");
        assert_eq!(
            looks_like(b"\x40\x00\x00\x00\x00\x00\x00\x00{\"a\""),
            "safetensors"
        );
        assert_eq!(looks_like(b"x,y\n1,2\n"), "csv");
        assert_eq!(looks_like(b""), "csv");
    }
}
