//! NumPy's `.npz`: a zip archive of npy files, one per named array.

use std::io::{Cursor, Read};

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};
use rustc_hash::FxHashSet;
use zip::ZipArchive;

use super::array::{Array, Field};
use super::npy;
use super::problems::{Problems, fatal, shown};
use super::sniff;

/// Reads the bytes of an `.npz` file, the arrays in the order of the archive; `name` stands for the
/// file in messages.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Vec<Field>, Diagnostics> {
    if !bytes.starts_with(b"PK") {
        return fatal(sniff::not_of_format(name, "an npz archive", bytes, 4));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        Diagnostic::error(
            Code::FileDamaged,
            format!("{name}: the zip archive cannot be read: {error}"),
        )
        .help("copy or download the file again")
    })?;
    if archive.is_empty() {
        return fatal(Diagnostic::error(
            Code::EmptyFile,
            format!("{name}: the archive is empty"),
        ));
    }
    if let Some(twice) = named_twice(bytes, archive.central_directory_start()) {
        return fatal(
            Diagnostic::error(
                Code::DuplicateName,
                format!("{name}: the archive holds {} twice", shown(&twice)),
            )
            .help("it is unclear which one is meant: write the file again"),
        );
    }
    let mut problems = Problems::new();
    let mut fields = Vec::new();
    for index in 0..archive.len() {
        match member(&mut archive, index, bytes.len(), name) {
            Ok(field) => fields.push(field),
            Err(found) => problems.extend(found),
        }
    }
    problems.finish(fields)
}

/// A member that the directory of an archive lists twice. The zip reader silently keeps the last one.
fn named_twice(bytes: &[u8], list: u64) -> Option<String> {
    let mut rest = bytes.get(usize::try_from(list).ok()?..)?;
    let mut seen = FxHashSet::default();
    while rest.starts_with(b"PK\x01\x02") {
        let length = |at: usize| {
            let bytes = rest.get(at..at + 2)?;
            Some(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
        };
        let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
        let listed = rest.get(46..46 + name)?;
        if !seen.insert(listed) {
            return Some(String::from_utf8_lossy(listed).into_owned());
        }
        rest = rest.get(46 + name + extra + comment..)?;
    }
    None
}

fn member(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    archive_bytes: usize,
    name: &str,
) -> Result<Field, Diagnostics> {
    let listed = match archive.name_for_index(index) {
        Some(Ok(listed)) => listed.into_owned(),
        _ => format!("number {}", index + 1),
    };
    let Some(field) = listed.strip_suffix(".npy") else {
        return fatal(
            Diagnostic::error(
                Code::UnsupportedElements,
                format!(
                    "{name}: the archive holds {}, which is not an npy array",
                    shown(&listed)
                ),
            )
            .help("an npz archive holds `.npy` files only"),
        );
    };
    let place = format!("{name}, field {}", shown(field));
    let mut file = archive
        .by_index(index)
        .map_err(|error| damaged(&place, &error))?;
    let array = member_array(&mut file, archive_bytes, &place)?;
    Ok(Field {
        name: Some(field.to_string()),
        array,
    })
}

fn damaged(place: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(
        Code::FileDamaged,
        format!("{place}: the archive is damaged here: {error}"),
    )
    .help("copy or download the file again")
}

/// Unpacks no more than the npy header promises: a small archive can unpack to any size.
fn member_array(
    file: &mut impl Read,
    archive_bytes: usize,
    place: &str,
) -> Result<Array, Diagnostics> {
    let mut read = |most: usize, into: &mut Vec<u8>| {
        file.take(most as u64)
            .read_to_end(into)
            .map_err(|error| damaged(place, &error))
    };
    let mut start = Vec::new();
    read(npy::PREAMBLE, &mut start)?;
    if let Some(length) = npy::header_length(&start) {
        let length = length.min(npy::LONGEST_HEADER);
        read(length.saturating_sub(start.len()), &mut start)?;
    }
    let header = npy::header(&start, place)?;
    let expected = header.layout.bytes(place)?;
    header.layout.check_packed(expected, archive_bytes, place)?;
    header.layout.ask(expected, place)?;
    // The preamble may reach into the numbers behind a very short header.
    let mut numbers = start.split_off(header.end);
    let wanted = expected.saturating_add(1).saturating_sub(numbers.len());
    read(wanted, &mut numbers)?;
    header.layout.decode(&numbers, place)
}
