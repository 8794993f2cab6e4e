//! The type of a file, guessed from its first bytes, so that a "wrong format" message can say which
//! format it is.

use logltn_diagnostics::{Code, Diagnostic};

/// Magic bytes, the type that has them, and what to do about it.
const SIGNATURES: &[(&[u8], &str, &str)] = &[
    (
        b"\x1f\x8b",
        "gzip",
        "unpack it with `gunzip`; only IDX files may stay gzipped",
    ),
    (
        b"\x93NUMPY",
        "a NumPy array",
        "give the file the extension `.npy`",
    ),
    (
        b"PK\x03\x04",
        "a zip archive",
        "if it was written by `numpy.savez`, give it the extension `.npz`",
    ),
    (
        b"PK\x05\x06",
        "an empty zip archive",
        "write the file again: it holds nothing",
    ),
    (
        b"\x89PNG\r\n\x1a\n",
        "a PNG picture",
        "convert the pictures to one array, for example an `.npy` file",
    ),
    (
        b"\xff\xd8\xff",
        "a JPEG picture",
        "convert the pictures to one array, for example an `.npy` file",
    ),
    (
        b"\x89HDF\r\n\x1a\n",
        "HDF5",
        "convert it to `.npz` or `.safetensors`",
    ),
    (
        b"PAR1",
        "Apache Parquet",
        "convert it to `.csv`, `.npz` or `.safetensors`",
    ),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "unpack it with `unzstd`"),
    (b"BZh", "bzip2", "unpack it with `bunzip2`"),
    (b"\xfd7zXZ\x00", "xz", "unpack it with `unxz`"),
    (b"%PDF-", "a PDF document", "point to the data itself"),
    (
        b"version https://git-lfs",
        "a Git LFS pointer",
        "fetch the data itself with `git lfs pull`",
    ),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
];

/// A guess at the type of a file.
pub(super) struct Guess {
    /// Fits after "this looks like".
    pub(super) what: &'static str,
    /// What to do next.
    pub(super) help: &'static str,
}

/// The likely type of the file, if its first bytes tell.
pub(super) fn guess(bytes: &[u8]) -> Option<Guess> {
    let signature = SIGNATURES.iter().find(|s| bytes.starts_with(s.0));
    if let Some(&(_, what, help)) = signature {
        return Some(Guess { what, help });
    }
    if let [_, _, _, _, _, _, 0, 0, b'{', ..] = bytes {
        return Some(Guess {
            what: "safetensors",
            help: "give the file the extension `.safetensors`",
        });
    }
    if let [0, 0, 0x08..=0x0e, 1..=8, ..] = bytes {
        return Some(Guess {
            what: "IDX",
            help: "give the file the extension `.idx`",
        });
    }
    if let [0x80, 2..=5, ..] = bytes {
        return Some(Guess {
            what: "a Python pickle",
            help: "save the array with `numpy.save` or as safetensors",
        });
    }
    let start = &bytes[..bytes.len().min(512)];
    let start = start.trim_ascii_start();
    let lower = start[..start.len().min(14)].to_ascii_lowercase();
    if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") {
        return Some(Guess {
            what: "a web page",
            help: "the download went wrong: fetch the file itself",
        });
    }
    let is_text = !start.is_empty()
        && start
            .iter()
            .all(|&b| b >= b' ' || matches!(b, b'\t' | b'\r' | b'\n'));
    if is_text && start.contains(&b',') {
        return Some(Guess {
            what: "CSV",
            help: "give the file the extension `.csv`",
        });
    }
    is_text.then_some(Guess {
        what: "plain text",
        help: "point to the data itself",
    })
}

/// That a file is not of its format, but perhaps of another.
pub(super) fn not_of_format(name: &str, format: &str, bytes: &[u8], count: usize) -> Diagnostic {
    let (found, help) = found(bytes, count);
    let what = format!("{name}: not {format}: {found}");
    Diagnostic::error(Code::WrongFormat, what).maybe_help(help)
}

/// `, but this looks like CSV`, or the bytes themselves if they tell nothing.
pub(super) fn found(bytes: &[u8], count: usize) -> (String, Option<String>) {
    match guess(bytes) {
        Some(guess) => (
            format!("this looks like {}", guess.what),
            Some(guess.help.to_string()),
        ),
        None if bytes.is_empty() => ("the file is empty".to_string(), None),
        None => {
            let hex: Vec<String> = bytes
                .iter()
                .take(count)
                .map(|b| format!("{b:02x}"))
                .collect();
            (format!("found {}", hex.join(" ")), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_usual_suspects() {
        let what = |bytes: &[u8]| guess(bytes).map(|g| g.what);
        assert_eq!(what(b"\x1f\x8b\x08"), Some("gzip"));
        assert_eq!(what(b"\x89PNG\r\n\x1a\n...."), Some("a PNG picture"));
        assert_eq!(what(b"\x89HDF\r\n\x1a\n"), Some("HDF5"));
        assert_eq!(what(b"x,y\n1,2\n"), Some("CSV"));
        assert_eq!(what(b"hello"), Some("plain text"));
        assert_eq!(what(b"  <!DOCTYPE html><p>"), Some("a web page"));
        assert_eq!(what(b"\x80\x04abc"), Some("a Python pickle"));
        assert_eq!(what(b"\0\0\x08\x03abc"), Some("IDX"));
        assert_eq!(what(b"\x40\0\0\0\0\0\0\0{\"a\""), Some("safetensors"));
        assert_eq!(what(b"\x01\x02\x03"), None);
        assert_eq!(what(b""), None);
    }
}
