//! ARFF, the format of Weka's data sets: attributes, then rows of comma-separated values.

use std::path::Path;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics};

use crate::file::read_bytes;
use crate::idx::unpacked;

/// A data set: attributes by name, and the cells of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Arff {
    /// Name and type as written: `numeric`, `{a, b}`, `hierarchical 1,1/2`.
    pub attributes: Vec<(String, String)>,
    /// Each row has one cell per attribute; `?` marks a missing value.
    pub rows: Vec<Vec<String>>,
}

impl Arff {
    /// Reads a file, gzipped or not.
    ///
    /// # Errors
    /// If it cannot be read, or with the lines that are not ARFF.
    pub fn read(path: &Path) -> Result<Arff, Diagnostics> {
        let name = path.display().to_string();
        let bytes = unpacked(read_bytes(path)?, &name)?;
        Arff::parse(&String::from_utf8_lossy(&bytes), &name)
    }

    /// Reads a text; messages call it `name`.
    ///
    /// ```
    /// use logltn_data::Arff;
    /// let data = Arff::parse("@relation r\n@attribute x numeric\n@attribute 'a b' {u,v}\n@data\n0.5,u\n?,'v'\n", "r.arff")?;
    /// assert_eq!(data.attributes[1], ("a b".to_string(), "{u,v}".to_string()));
    /// assert_eq!(data.rows, [["0.5", "u"], ["?", "v"]]);
    /// assert_eq!(data.numbers(0, "r.arff")?, [Some(0.5), None]);
    /// # Ok::<(), logltn_diagnostics::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// With the lines that are not ARFF.
    pub fn parse(text: &str, name: &str) -> Result<Arff, Diagnostics> {
        let mut out = Arff {
            attributes: Vec::new(),
            rows: Vec::new(),
        };
        let mut wrong = Diagnostics::new();
        let mut in_data = false;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('%') {
                continue;
            }
            let mut push = |what: String| {
                let what = format!("{name}, line {}: {what}", at + 1);
                wrong.push(Diagnostic::error(Code::MalformedCsv, what));
            };
            if in_data {
                let cells = cells(line);
                match cells.len() == out.attributes.len() {
                    true => out.rows.push(cells),
                    false => push(format!(
                        "{} values, but there are {} attributes",
                        cells.len(),
                        out.attributes.len()
                    )),
                }
                continue;
            }
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match word.to_ascii_lowercase().as_str() {
                "@relation" => {}
                "@attribute" => match attribute(rest.trim()) {
                    Some(attribute) => out.attributes.push(attribute),
                    None => push("an attribute needs a name and a type".to_string()),
                },
                "@data" => in_data = true,
                _ => push(format!("expected `@attribute` or `@data`, not `{word}`")),
            }
        }
        if !in_data {
            let what = format!("{name}: there is no `@data`");
            wrong.push(Diagnostic::error(Code::MalformedCsv, what));
        }
        wrong.into_result(out).map(|(out, _)| out)
    }

    /// The values of an attribute, `None` where they are missing. Messages call the file `name`.
    ///
    /// # Errors
    /// With the first cell that is not a finite number.
    pub fn numbers(&self, attribute: usize, name: &str) -> Result<Vec<Option<f64>>, Diagnostics> {
        let cells = self
            .rows
            .iter()
            .map(|row| row[attribute].as_str())
            .enumerate();
        let number = |(row, cell): (usize, &str)| match cell {
            "?" => Ok(None),
            cell => match cell.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => {
                    let of = &self.attributes[attribute].0;
                    let what =
                        format!("{name}: attribute `{of}` of row {row} is `{cell}`, not a number");
                    Err(Diagnostic::error(Code::MalformedNumber, what).into())
                }
            },
        };
        cells.map(number).collect()
    }
}

/// A name, maybe in quotes, and a type.
fn attribute(text: &str) -> Option<(String, String)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let (name, kind) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_once(char::is_whitespace)?,
    };
    match kind.trim() {
        "" => None,
        kind => Some((name.to_string(), kind.to_string())),
    }
}

/// Cells between commas, without the quotes around them; a comma in quotes is part of a cell.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quote) = (vec![String::new()], None);
    for c in line.chars() {
        let cell = cells.last_mut();
        match (c, quote, cell) {
            (',', None, _) => cells.push(String::new()),
            ('\'' | '"', None, Some(cell)) if cell.trim().is_empty() => quote = Some(c),
            (c, Some(open), _) if c == open => quote = None,
            (c, _, Some(cell)) => cell.push(c),
            (_, _, None) => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_string()).collect()
}
