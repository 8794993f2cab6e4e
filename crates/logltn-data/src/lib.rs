//! Reading data: every format yields [`Field`]s of numbers, or the text of a [`CsvFile`].
//!
//! The readers check what they read: numbers are finite and shapes are right, or the file is refused with its name, the
//! place in it, and what was expected there. Each reader also takes bytes from memory.
//!
//! ```
//! use logltn_data::{CsvFile, Values, parse_fields};
//!
//! let fields = parse_fields(b"x,y\n1,2\n3,4\n5,6\n", "points.csv")?;
//! assert_eq!(fields[0].array.shape, [3, 2]);
//! assert_eq!(fields[0].array.values, Values::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0].into()));
//!
//! // Columns of text and numbers, by name.
//! let people = CsvFile::parse(b"name,age\nann,30\nbob,3o\n", "people.csv")?;
//! assert_eq!(people.labels(people.column_index("name")?)?, ["ann", "bob"]);
//!
//! // What is wrong, and where.
//! let wrong = people.ints(people.column_index("age")?).unwrap_err();
//! assert!(wrong.to_string().contains("people.csv, row 1 (line 3), column `age`"), "{wrong}");
//! # Ok::<(), logltn_diagnostics::Diagnostics>(())
//! ```

mod arff;
mod array;
mod csv;
mod date;
mod decimal_comma;
mod elements;
mod file;
mod file_cache;
mod idx;
mod index_column;
mod individuals;
mod missing;
mod npy;
mod npz;
mod number_storage;
mod prepare;
pub mod problems;
mod records;
mod safetensors;
mod sniff;
mod truncated_file;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

pub use arff::Arff;
pub use array::{Array, Field, Values};
pub use csv::CsvFile;
pub use file::{checksum, first_line, not_regular, open_file, read_bytes, read_text};
pub use idx::{read_idx, read_unpacked};
pub use index_column::index_column;
pub use individuals::{header_among_individuals, parse_individuals, read_individuals};
pub use missing::is_missing;
pub use number_storage::{Plain, Stored};
pub use prepare::{ColumnKind, Preparation, mixed_column, odd_among_numbers};
pub use safetensors::parse_safetensors;
pub use truncated_file::say_what_was_cut;

use file::{Contents, read_or_map};
use number_storage::Mapped;

/// The formats that hold numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Npy,
    Npz,
    Safetensors,
    Idx,
}

/// Whether a file is a table of text, by its name.
///
/// ```
/// assert!(logltn_data::is_table("people.csv".as_ref()) && !logltn_data::is_table("people.npy".as_ref()));
/// ```
pub fn is_table(path: &Path) -> bool {
    matches!(Format::of(&path.display().to_string()), Ok(Format::Csv))
}

/// Reads the numbers of a file. Its name tells the format: `.csv` (or `.tsv`), `.npy`, `.npz`, `.safetensors`,
/// `.idx`, and for IDX also `.gz` or a name that ends in `-ubyte`, as in MNIST.
///
/// There is at least one field, and all have the same number of rows.
///
/// ```
/// use std::path::Path;
/// let wrong = logltn_data::read_fields(Path::new("no-such-file.csv")).unwrap_err();
/// assert!(wrong.to_string().contains("there is no such file"));
/// ```
pub fn read_fields(path: &Path) -> Result<Vec<Field>, Diagnostics> {
    let name = path.display().to_string();
    let format = match Format::of(&name) {
        Ok(format) => format,
        // Whether the file exists matters more than what it is called.
        Err(unknown) => return read_bytes(path).and(Err(unknown.into())),
    };
    let file = match format {
        Format::Npy | Format::Safetensors => read_or_map(path)?,
        Format::Csv | Format::Npz | Format::Idx => Contents::Read(read_bytes(path)?),
    };
    parse((file.bytes(), file.map()), &name, format)
}

/// Reads the bytes of a file in any format; `name` tells the format, as in [`read_fields`].
///
/// ```
/// use logltn_data::parse_fields;
/// let fields = parse_fields(b"x,y\n1,2\n3,4\n5,6\n", "points.csv")?;
/// assert_eq!(fields[0].array.shape, [3, 2]);
/// let wrong = parse_fields(b"", "features.mat").unwrap_err();
/// assert!(wrong.to_string().contains("the formats are"));
/// # Ok::<(), logltn_diagnostics::Diagnostics>(())
/// ```
pub fn parse_fields(bytes: &[u8], name: &str) -> Result<Vec<Field>, Diagnostics> {
    parse((bytes, None), name, Format::of(name)?)
}

fn parse(
    (bytes, map): (&[u8], Option<&Arc<Mapped>>),
    name: &str,
    format: Format,
) -> Result<Vec<Field>, Diagnostics> {
    let unnamed = |array| vec![Field { name: None, array }];
    let fields = match format {
        Format::Csv => match CsvFile::parse_matrix(bytes, name)? {
            (file, _) if file.rows() == 0 => return Err(file.no_rows().into()),
            (_, array) => unnamed(array),
        },
        Format::Npy => unnamed(npy::parse(bytes, map, name)?),
        Format::Idx => unnamed(idx::parse_idx(bytes, name)?),
        Format::Npz => npz::parse(bytes, name)?,
        Format::Safetensors => safetensors::parse(bytes, map, name)?,
    };
    let named = fields
        .iter()
        .map(|field| (field.name.as_deref().unwrap_or_default(), &field.array));
    elements::check_same_rows(name, named)?;
    Ok(fields)
}

impl Format {
    fn of(name: &str) -> Result<Format, Diagnostic> {
        let lower = name.to_lowercase();
        let unpacked = lower.strip_suffix(".gz");
        let stem = unpacked.unwrap_or(&lower);
        let format = [
            (".csv", Format::Csv),
            (".tsv", Format::Csv),
            (".npy", Format::Npy),
            (".npz", Format::Npz),
            (".safetensors", Format::Safetensors),
            (".idx", Format::Idx),
            ("-ubyte", Format::Idx),
        ]
        .into_iter()
        .find(|(ending, _)| stem.ends_with(ending))
        .map(|(_, format)| format);
        match (format, unpacked) {
            (Some(Format::Idx), _) | (None, Some(_)) => Ok(Format::Idx),
            (Some(format), None) => Ok(format),
            (Some(_), Some(_)) => Err(Diagnostic::error(Code::UnknownFormat, format!(
                "{name}: only IDX files may be gzipped"
            ))
            .help("unpack it with `gunzip`")),
            (None, None) => Err(Diagnostic::error(Code::UnknownFormat, format!(
                "{name}: unknown file extension"
            ))
            .note(
                "the formats are `.csv` (or `.tsv`), `.npy`, `.npz`, `.safetensors`, `.idx`, and `.idx.gz`, `.gz`, \
                 `-ubyte` or `-ubyte.gz` for IDX",
            )),
        }
    }
}
