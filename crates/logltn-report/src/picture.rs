//! Pictures, and how a page holds them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::read_bytes;
use serde::{Serialize, Serializer};

/// A picture for the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// The bytes of an SVG, or of a PNG.
    #[serde(rename = "source", serialize_with = "as_url")]
    pub bytes: Vec<u8>,
}

/// The page needs no other file.
fn as_url<S: Serializer>(picture: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&data_url(picture))
}

/// The pictures in a folder, in the order of their names.
///
/// # Errors
/// If one cannot be read.
pub fn pictures(folder: &Path) -> Result<Vec<Picture>, Diagnostics> {
    let unreadable = |error: io::Error| {
        let what = format!("{}: it cannot be read: {error}", folder.display());
        Diagnostic::error(Code::FileUnreadable, what)
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        entries => {
            for entry in entries.map_err(unreadable)? {
                paths.push(entry.map_err(unreadable)?.path());
            }
        }
    }
    // Older versions drew PNG.
    paths
        .retain(|path| (path.extension()).is_some_and(|ending| ending == "svg" || ending == "png"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            Ok(Picture {
                title: path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .replace('_', " "),
                bytes: read_bytes(&path)?,
            })
        })
        .collect()
}

/// A PNG or an SVG as a URL that holds it.
pub fn data_url(picture: &[u8]) -> String {
    let kind = match picture.starts_with(b"\x89PNG") {
        true => "png",
        false => "svg+xml",
    };
    format!("data:image/{kind};base64,{}", base64(picture))
}

/// The bytes in base64, padded.
pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
