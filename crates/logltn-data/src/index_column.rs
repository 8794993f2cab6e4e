//! The index of a data frame, which ends up as the first column of its CSV file and looks like any other number.

use std::path::Path;

use logltn_diagnostics::{Code, Diagnostic};

use super::array::{Array, Values};
use super::file::first_line;
use super::problems::shown;
use super::records::Records;

/// With fewer rows, a column that counts them may just as well hold truth values.
const ROWS_TO_COUNT: usize = 3;
/// Longer headers are not examined.
const LONGEST_HEADER: u64 = 1 << 20;
/// How many of the other columns are named.
const NAMED: usize = 6;

/// A warning if the first column of a CSV file looks like the index of a data frame: it has no name, or it counts the
/// rows. `array` is what was read from it, all columns as numbers. A single column is never an index.
///
/// ```
/// use logltn_data::{index_column, read_fields};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("points.csv");
/// std::fs::write(&path, ",height,width\n0,1.5,2\n1,0.5,3\n")?;
/// let array = &read_fields(&path).unwrap()[0].array;
/// let warning = index_column(&path, array).unwrap();
/// assert!(warning.message().contains("has no name"));
/// assert!(warning.help_text().unwrap().contains(r#"columns = ["height", "width"]"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn index_column(path: &Path, array: &Array) -> Option<Diagnostic> {
    let is_csv = |ending: &std::ffi::OsStr| ending.eq_ignore_ascii_case("csv");
    let (&[rows, width], true) = (array.shape.as_slice(), path.extension().is_some_and(is_csv))
    else {
        return None;
    };
    let Values::F64(values) = &array.values else {
        return None;
    };
    let names = header(path)?;
    if let Some(warning) = no_header(path, &names) {
        return Some(warning);
    }
    if width < 2 {
        return None;
    }
    let first = names.first()?;
    let counts_from = |start: f64| {
        let column = values.iter().step_by(width).enumerate();
        column
            .into_iter()
            .all(|(i, value)| *value == start + i as f64)
    };
    // The name pandas gives such a column when it reads one.
    let unnamed = first.is_empty() || first.starts_with("Unnamed: 0");
    let start = [0.0, 1.0].into_iter().find(|start| counts_from(*start));
    let file = path.display();
    let message = match (unnamed, start) {
        (true, _) if first.is_empty() => {
            format!("{file}, header (line 1): column 1 has no name and is read as a feature")
        }
        (true, _) => format!(
            "{file}, header (line 1): column 1 is {}, and is read as a feature",
            shown(first)
        ),
        (false, Some(start)) if rows >= ROWS_TO_COUNT => format!(
            "{file}: column {} counts the rows, from {start} to {}, and is read as a feature",
            shown(first),
            start + rows as f64 - 1.0
        ),
        _ => return None,
    };
    let mut others: Vec<String> = (names.iter().skip(1).take(NAMED))
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > NAMED + 1 {
        others.push("…".to_string());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Some(
        Diagnostic::warning(Code::IndexColumn, message)
            .note("it looks like the index of a data frame, which says nothing about an individual")
            .help(format!(
                "remove it from the file (in pandas: `to_csv(…, index=False)`), or list the others: \
                 `features = {{ file = {name:?}, columns = [{}] }}`; a column that is listed gets no warning",
                others.join(", ")
            )),
    )
}

/// A header of numbers may be the first row, which would be lost. A header that counts the columns is how pandas writes
/// an array.
fn no_header(path: &Path, names: &[String]) -> Option<Diagnostic> {
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.trim().parse().ok()).collect();
    let numbers = numbers?;
    let counts = |start: f64| (numbers.iter().enumerate()).all(|(i, x)| *x == start + i as f64);
    if counts(0.0) || counts(1.0) {
        return None;
    }
    let message = format!(
        "{}, header (line 1): it holds only numbers and is not read as an individual",
        path.display()
    );
    Some(
        Diagnostic::warning(Code::NoHeader, message)
            .help("if it is the first row, write a line with the names of the columns above it"),
    )
}

/// The cells of the first line.
fn header(path: &Path) -> Option<Vec<String>> {
    let line = first_line(path, LONGEST_HEADER).ok()?;
    let (records, _) = Records::table(&line, "").ok()?;
    let cells = (0..records.width(0)).map(|c| records.cell(0, c).to_string());
    Some(cells.collect())
}

#[cfg(test)]
mod tests {
    use super::super::read_fields;
    use super::*;

    fn said(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        std::fs::write(&path, text).unwrap();
        let fields = read_fields(&path).unwrap_or_else(|e| panic!("{e}"));
        index_column(&path, &fields[0].array).map_or(String::new(), |w| w.to_string())
    }

    #[test]
    fn an_index_is_pointed_out() {
        for index in ["", "\"\"", "Unnamed: 0"] {
            assert!(said(&format!("{index},a\n7,1\n9,2\n")).contains("read as a feature"));
        }
        let counting = said("id,a\n1,5\n2,5\n3,5\n4,5\n5,5\n");
        assert!(
            counting.contains("column `id` counts the rows, from 1 to 5"),
            "{counting}"
        );
        assert!(counting.contains(r#"columns = ["a"]"#), "{counting}");
        assert!(said("a,b\n0,1\n1,0\n2,2\n").contains("counts the rows, from 0 to 2"));
    }

    #[test]
    fn other_columns_are_not() {
        // A single column that counts is data, not an index.
        assert_eq!(said("n\n0\n1\n2\n3\n4\n5\n"), "");
        assert_eq!(said("a,b\n0,1\n1,0\n"), "");
        assert_eq!(said("a,b\n0,1\n1,0\n2,2\n3,1\n5,1\n"), "");
        assert_eq!(said("a,b\n9,0\n8,1\n7,2\n6,3\n5,4\n"), "");
    }
}
