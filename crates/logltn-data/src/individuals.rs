//! The individuals of a sort, one label per line.

use std::path::Path;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};
use rustc_hash::FxHashMap;

use super::file::read_bytes;
use super::problems::{Problems, counted, fatal, shown};
use super::records::Records;

/// What a header might say, besides the name of the sort.
const HEADERS: [&str; 5] = ["label", "labels", "name", "individual", "individuals"];

/// Reads the labels of the sort `sort_name`.
pub fn read_individuals(path: &Path, sort_name: &str) -> Result<Vec<String>, Diagnostics> {
    parse_individuals(&read_bytes(path)?, &path.display().to_string(), sort_name)
}

/// Reads the bytes of a file of labels; `name` stands for it in messages.
///
/// There is no header: every line is a label. [`header_among_individuals`] warns of a first line that looks like a
/// header.
///
/// ```
/// use logltn_data::parse_individuals;
/// assert_eq!(parse_individuals(b"ann\nbob\n", "people.csv", "Person")?, ["ann", "bob"]);
/// assert_eq!(parse_individuals(b"name\nverb\n", "words.csv", "Word")?, ["name", "verb"]);
/// # Ok::<(), logltn_diagnostics::Diagnostics>(())
/// ```
pub fn parse_individuals(
    bytes: &[u8],
    name: &str,
    sort_name: &str,
) -> Result<Vec<String>, Diagnostics> {
    let records = Records::parse(bytes, name, b',')?;
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
        if label.is_empty() {
            // A line of blanks counts as empty; the reader has already skipped empty lines.
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
                .help("labels must differ: remove one of the lines")
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

/// A warning if the first individual of a file looks like a header.
///
/// ```
/// use logltn_data::header_among_individuals;
/// let labels = ["label", "ann"].map(String::from);
/// let warning = header_among_individuals(&labels, "people.csv", "Person").unwrap();
/// assert!(warning.message().contains("`label`"));
/// assert!(header_among_individuals(&labels[1..], "people.csv", "Person").is_none());
/// ```
pub fn header_among_individuals(
    labels: &[String],
    name: &str,
    sort_name: &str,
) -> Option<Diagnostic> {
    let first = labels.first()?;
    let lower = first.to_lowercase();
    if lower != sort_name.to_lowercase() && !HEADERS.contains(&lower.as_str()) {
        return None;
    }
    let what = format!(
        "{name}, line 1: {} is read as an individual of sort `{sort_name}`",
        shown(first)
    );
    Some(
        Diagnostic::warning(Code::HeaderAmongIndividuals, what)
            .note("a file of individuals has one label per line and no header")
            .help("if it is a header, remove the line"),
    )
}
