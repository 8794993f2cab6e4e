//! Where the user has data.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_standin::{data_folders, mnist};

/// Where to look for data.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// What `--data` names: it holds `classics/` and `mnist/`. Without it, `LOGLTN_DATA` and the clone's `data/` are
    /// looked at.
    pub data: Option<PathBuf>,
    /// Never look for `classics/`: stand-ins are the same everywhere.
    pub stand_ins: bool,
}

impl Sources {
    /// The content of files of `classics/`, if the user has all of them; and where.
    pub(crate) fn classics<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<Option<([String; N], PathBuf)>, Diagnostics> {
        if self.stand_ins {
            return Ok(None);
        }
        let Some(folder) = data_folders::find(self.data.as_deref(), "classics", &names)? else {
            return match &self.data {
                // If the user names a folder, other data must not be used silently.
                Some(data) if data.join("classics").is_dir() => Err(missing(data, &names)),
                _ => Ok(None),
            };
        };
        let mut texts = names.map(str::to_string);
        for text in &mut texts {
            let path = folder.join(&*text);
            *text = std::fs::read_to_string(&path).map_err(|error| {
                let message = format!("{}: cannot be read: {error}", path.display());
                Diagnostic::error(Code::FileUnreadable, message)
            })?;
        }
        Ok(Some((texts, folder)))
    }

    /// MNIST's images for training and for testing, and where they are.
    pub(crate) fn mnist(&self) -> Result<([mnist::Digits; 2], PathBuf), Diagnostics> {
        let folder = mnist::find(self.data.as_deref())?;
        Ok((mnist::read(&folder)?, folder))
    }
}

/// MNIST is cut short.
pub(crate) fn too_few(what: &str) -> Diagnostic {
    Diagnostic::error(Code::NotEnoughData, format!("MNIST has too few {what}"))
        .help("take its four files as they were published")
}

fn missing(data: &Path, names: &[&str]) -> Diagnostics {
    let folder = data.join("classics");
    let gone: Vec<String> = (names.iter())
        .filter(|name| !folder.join(name).is_file())
        .map(|name| format!("`{name}`"))
        .collect();
    let message = format!("{}: {} missing", folder.display(), gone.join(", "));
    Diagnostic::error(Code::FileNotFound, message)
        .help("put it there, or leave out `--data` for a stand-in")
        .into()
}

/// A row of a text file: which file, which line, and its cells.
pub(crate) struct Row<'a> {
    pub place: (&'a Path, usize),
    pub cells: Vec<&'a str>,
}

/// The rows of a text with one header line, whose names must be these; cells are separated by a comma or by blanks.
pub(crate) fn rows<'a>(
    text: &'a str,
    path: &'a Path,
    header: &[&str],
) -> Result<Vec<Row<'a>>, Diagnostic> {
    let split = |line: &'a str| -> Vec<&'a str> {
        match header.len() > 1 && line.contains(',') {
            true => line.split(',').map(str::trim).collect(),
            false => line.split_whitespace().collect(),
        }
    };
    let mut lines = text.lines().zip(1..);
    let found = lines
        .next()
        .map(|(line, _)| split(line))
        .unwrap_or_default();
    if found != header {
        return Err(Diagnostic::error(
            Code::MalformedCsv,
            format!(
                "{}: the first line is not `{}`",
                path.display(),
                header.join(",")
            ),
        ));
    }
    let mut rows = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        let cells = split(line);
        if cells.len() != header.len() {
            return Err(Diagnostic::error(
                Code::MalformedCsv,
                format!(
                    "{}, line {number}: {} cells, expected {}",
                    path.display(),
                    cells.len(),
                    header.len()
                ),
            ));
        }
        rows.push(Row {
            place: (path, number),
            cells,
        });
    }
    Ok(rows)
}

impl Row<'_> {
    /// The numbers of some cells.
    pub fn numbers(&self, cells: std::ops::Range<usize>) -> Result<Vec<f64>, Diagnostic> {
        let number = |cell: &&str| match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.wrong(&format!("`{cell}` is not a number"))),
        };
        self.cells[cells].iter().map(number).collect()
    }

    /// What is wrong here.
    pub fn wrong(&self, what: &str) -> Diagnostic {
        let (path, line) = self.place;
        let message = format!("{}, line {line}: {what}", path.display());
        Diagnostic::error(Code::MalformedCsv, message)
    }
}
