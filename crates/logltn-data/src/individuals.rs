//! The individuals of a sort, one label per line.

use std::path::Path;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};
use rustc_hash::FxHashMap;

use super::file::read_bytes;
use super::problems::{Problems, counted, fatal, shown};
use super::records::Records;

/// First lines that are a header rather than a label, besides the name of the sort.
const HEADERS: [&str; 5] = ["label", "labels", "name", "individual", "individuals"];

/// Reads the labels of the sort `sort_name`.
pub fn read_individuals(path: &Path, sort_name: &str) -> Result<Vec<String>, Diagnostics> {
    parse_individuals(&read_bytes(path)?, &path.display().to_string(), sort_name)
}

/// Reads the bytes of a file of labels; `name` stands for it in messages.
///
/// A header line is not needed. The first line is taken for one if it is the name of the sort or one of
/// `label`, `labels`, `name`, `individual`, `individuals`, in upper or lower case.
///
/// ```
/// use logltn_data::parse_individuals;
/// assert_eq!(parse_individuals(b"ann\nbob\n", "people.csv", "Person")?, ["ann", "bob"]);
/// assert_eq!(parse_individuals(b"person\nann\nbob\n", "people.csv", "Person")?, ["ann", "bob"]);
/// # Ok::<(), logltn_diagnostics::Diagnostics>(())
/// ```
pub fn parse_individuals(
    bytes: &[u8],
    name: &str,
    sort_name: &str,
) -> Result<Vec<String>, Diagnostics> {
    let records = Records::parse(bytes, name)?;
    let mut problems = Problems::new();
    let mut first_line: FxHashMap<&str, usize> = FxHashMap::default();
    let mut labels = Vec::with_capacity(records.len());
    for record in 0..records.len() {
        let line = records.line(record);
        let width = records.width(record);
        if width != 1 {
            problems.push(|| {
                Diagnostic::error(
                    Code::MalformedCsv,
                    format!(
                        "{name}, line {line}: expected one label, found {}",
                        counted(width, "column")
                    ),
                )
                .help("write one label per line; a label that contains a comma must be in quotes")
            });
            continue;
        }
        let label = records.cell(record, 0);
        if record == 0 && is_header(label, sort_name) {
            continue;
        }
        if label.is_empty() {
            // A line of blanks is as blank as an empty one, which the reader has passed over.
            continue;
        }
        match first_line.get(label) {
            None => {
                first_line.insert(label, line);
                labels.push(label.to_string());
            }
            Some(first) => problems.push(|| {
                Diagnostic::error(
                    Code::DuplicateName,
                    format!(
                        "{name}: the label {} is on line {first} and again on line {line}",
                        shown(label)
                    ),
                )
                .help("every individual needs a label of its own: remove one of the lines")
            }),
        }
    }
    if labels.is_empty() && problems.is_empty() {
        return fatal(Diagnostic::error(
            Code::EmptyFile,
            format!("{name}: the file holds no labels for the sort `{sort_name}`"),
        ));
    }
    problems.finish(labels)
}

fn is_header(label: &str, sort_name: &str) -> bool {
    let label = label.to_lowercase();
    label == sort_name.to_lowercase() || HEADERS.contains(&label.as_str())
}
