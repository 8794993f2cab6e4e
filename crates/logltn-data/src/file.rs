//! Opening files, with errors that say why it failed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics, nearest};
use logltn_memory as memory;

use super::file_cache::{self, Known};
use super::number_storage::{MAPPED_FROM, Mapped};
use super::problems::fatal;

/// The bytes of a file, mapped if it is large.
pub(super) enum Contents {
    Read(Vec<u8>),
    Mapped(Arc<Mapped>),
}

impl Contents {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Contents::Read(bytes) => bytes,
            Contents::Mapped(map) => map.bytes(),
        }
    }

    pub(super) fn map(&self) -> Option<&Arc<Mapped>> {
        match self {
            Contents::Read(_) => None,
            Contents::Mapped(map) => Some(map),
        }
    }
}

/// Like [`read_bytes`], but a large file is not read before it is used.
pub(super) fn read_or_map(path: &Path) -> Result<Contents, Diagnostics> {
    match fs::metadata(path) {
        Ok(file) if file.is_file() && file.len() >= MAPPED_FROM => {
            Mapped::open(path).map(Contents::Mapped)
        }
        _ => read_bytes(path).map(Contents::Read),
    }
}

/// All bytes of a file.
///
/// A missing file is often a typing error, so the error suggests the nearest name in the folder.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    if path.is_dir() {
        return fatal(
            Diagnostic::error(
                Code::NotAFile,
                format!("{}: expected a file, found a folder", path.display()),
            )
            .maybe_help(a_file_inside(path)),
        );
    }
    if let Some(other) = not_regular(path) {
        return fatal(Diagnostic::error(
            Code::NotAFile,
            format!("{}: expected a file, found {other}", path.display()),
        ));
    }
    memory::doing(format!("reading {}", path.display()));
    let length = fs::metadata(path).map_or(0, |file| file.len());
    ask(length.into(), || format!("reading {}", path.display()))?;
    if let Some(bytes) = file_cache::bytes(path) {
        return Ok(bytes.to_vec());
    }
    let before = file_cache::State::of(path);
    match fs::read(path) {
        Ok(bytes) => {
            file_cache::keep(path, before, &bytes);
            Ok(bytes)
        }
        Err(error) => fatal(explain(path, &error)),
    }
}

/// Whether there is memory for the contents of a file.
pub(super) fn ask(bytes: u128, what: impl Fn() -> String) -> Result<(), Diagnostics> {
    memory::ask(bytes).map_err(|error| {
        let help = "take a part of the file, or store fewer numbers in it";
        (error.refuse(what()))
            .help(format!("{help}; {}", memory::allow_more()))
            .into()
    })
}

/// What a path leads to, if it exists and is neither a file nor a folder: reading a pipe may block forever, and
/// a device may have no end.
///
/// ```
/// # #[cfg(unix)]
/// assert_eq!(logltn_data::not_regular("/dev/zero".as_ref()), Some("a pipe or device"));
/// assert_eq!(logltn_data::not_regular("Cargo.toml".as_ref()), None);
/// ```
pub fn not_regular(path: &Path) -> Option<&'static str> {
    let kind = fs::metadata(path).ok()?;
    (!kind.is_file() && !kind.is_dir()).then_some("a pipe or device")
}

/// Opens a file for reading, but not a pipe, which may block forever, nor a device.
///
/// # Errors
/// If it is one, or cannot be opened.
///
/// ```
/// # #[cfg(unix)]
/// assert!(logltn_data::open_file("/dev/zero".as_ref()).is_err());
/// ```
pub fn open_file(path: &Path) -> io::Result<File> {
    match not_regular(path) {
        None => File::open(path),
        Some(other) => {
            let what = format!("expected a file, found {other}");
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    }
}

/// The first line of a file, up to the given number of bytes.
///
/// # Errors
/// If the file cannot be read.
pub fn first_line(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    match file_cache::bytes(path) {
        Some(bytes) => bytes.take(most).read_until(b'\n', &mut line)?,
        None => BufReader::new(open_file(path)?.take(most)).read_until(b'\n', &mut line)?,
    };
    Ok(line)
}

/// How many bytes a file has, and their CRC-32.
///
/// # Errors
/// If the file cannot be read.
pub fn checksum(path: &Path) -> io::Result<(u64, u32)> {
    match file_cache::known(path) {
        Some(Known::Bytes(bytes)) => Ok((bytes.len() as u64, file_cache::crc(&bytes))),
        Some(Known::Checksum(sum)) => Ok((fs::metadata(path)?.len(), sum)),
        None => {
            let mut file = flate2::CrcReader::new(open_file(path)?);
            let bytes = io::copy(&mut file, &mut io::sink())?;
            Ok((bytes, file.crc().sum()))
        }
    }
}

/// The text of a [file](open_file), if there is memory for it.
///
/// # Errors
/// If there is not, or the file is not UTF-8 text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut file = open_file(path)?;
    let length = file.metadata()?.len();
    memory::ask(length.into()).map_err(|error| io::Error::other(error.refuse("it").message()))?;
    let mut text = String::new();
    file.read_to_string(&mut text).map(|_| text)
}

fn explain(path: &Path, error: &io::Error) -> Diagnostic {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let folder = match path.parent() {
                Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
                Some(parent) => parent,
                None => Path::new("."),
            };
            let error = Diagnostic::error(
                Code::FileNotFound,
                format!("{shown}: there is no such file"),
            );
            if folder.is_dir() {
                error.maybe_help(near_file(folder, path))
            } else {
                error.note(format!("there is no folder `{}` either", folder.display()))
            }
        }
        io::ErrorKind::PermissionDenied => Diagnostic::error(
            Code::FileUnreadable,
            format!("{shown}: the file may not be read: {error}"),
        )
        .help("change its permissions, for example with `chmod +r`"),
        _ => Diagnostic::error(
            Code::FileUnreadable,
            format!("{shown}: the file cannot be read: {error}"),
        ),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable(); // the order of a folder differs between machines
    names
}

fn near_file(folder: &Path, path: &Path) -> Option<String> {
    let wanted = path.file_name().and_then(OsStr::to_str)?;
    let names = names(folder);
    let near = nearest(wanted, names.iter().map(String::as_str));
    // The right name with the wrong extension differs in more than a few letters.
    let near = near.or_else(|| {
        let stem = Path::new(wanted).file_stem();
        names
            .iter()
            .map(String::as_str)
            .find(|name| stem.is_some() && Path::new(name).file_stem() == stem)
    })?;
    Some(format!(
        "did you mean `{}`?",
        path.with_file_name(near).display()
    ))
}

fn a_file_inside(folder: &Path) -> Option<String> {
    let names = names(folder);
    let first = names.first()?;
    Some(format!(
        "name a file in it, for example `{}`",
        folder.join(first).display()
    ))
}
