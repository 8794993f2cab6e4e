//! How individuals are written in CSV files: row numbers, integers, labels.

use logltn::theory::{Sort, SortKind};
use logltn::{Code, Diagnostic, did_you_mean};
use logltn_data::CsvFile;
use logltn_data::problems::{Problems, shown};
use rustc_hash::FxHashMap;

/// How the individuals of a sort are written.
pub(super) enum Cells<'t> {
    /// Rows of features: by number, from 0.
    Rows { sort: &'t Sort, size: usize },
    /// Integers: as themselves.
    Integers { sort: &'t Sort, low: i64, high: i64 },
    /// Labels: by name.
    Labels {
        sort: &'t Sort,
        index: FxHashMap<&'t str, u32>,
    },
    /// The individuals could not be read, which has been reported; their uses are not checked.
    Unknown,
}

impl<'t> Cells<'t> {
    /// `size` is the number of individuals, if it is known.
    pub(super) fn of(sort: &'t Sort, size: Option<usize>) -> Cells<'t> {
        match (sort.kind, size) {
            (SortKind::Range(low, high), _) => Cells::Integers { sort, low, high },
            _ if !sort.labels.is_empty() || sort.kind == SortKind::Labels => Cells::Labels {
                sort,
                index: (sort.labels.iter().enumerate())
                    .map(|(i, label)| (label.as_str(), i as u32))
                    .collect(),
            },
            (_, Some(size)) => Cells::Rows { sort, size },
            (_, None) => Cells::Unknown,
        }
    }

    /// The index of the individual that a cell names, if it names one.
    pub(super) fn read(&self, cell: &str) -> Option<u32> {
        match self {
            Cells::Unknown => Some(0),
            Cells::Rows { size, .. } => {
                let row = cell.parse::<i64>().ok()?;
                (row >= 0 && (row as u64) < *size as u64).then_some(row as u32)
            }
            Cells::Integers { low, high, .. } => {
                let value = cell.parse::<i64>().ok()?;
                (*low..=*high)
                    .contains(&value)
                    .then(|| (value - low) as u32)
            }
            Cells::Labels { index, .. } => index.get(cell).copied(),
        }
    }

    /// The error for a cell that names no individual, and how to fix it. Finding the nearest of many labels is slow,
    /// so this is used only for the few cells that are shown.
    pub(super) fn explain(&self, cell: &str) -> (Code, String, Option<String>) {
        match self {
            Cells::Unknown => (Code::UnknownIndividual, String::new(), None),
            Cells::Rows { sort, size } => no_row(cell, &sort.name, *size),
            Cells::Integers { sort, low, high } => {
                let (code, what) = match cell.parse::<i64>() {
                    Ok(value) => (
                        Code::UnknownIndividual,
                        format!(
                            "{value} is not in sort `{}`, the integers {low} to {high}",
                            sort.name
                        ),
                    ),
                    Err(_) => (
                        Code::MalformedNumber,
                        format!(
                            "expected an integer of sort `{}`, from {low} to {high}, found {}",
                            sort.name,
                            shown(cell)
                        ),
                    ),
                };
                (code, what, None)
            }
            Cells::Labels { sort, .. } => {
                let known = sort.labels.iter().map(String::as_str);
                let help = did_you_mean(cell, known).or_else(|| Some(listed(sort)));
                let what = if cell.is_empty() {
                    format!(
                        "expected a label of sort `{}`, found an empty cell",
                        sort.name
                    )
                } else {
                    format!("sort `{}` has no individual {}", sort.name, shown(cell))
                };
                (Code::UnknownIndividual, what, help)
            }
        }
    }
}

fn no_row(cell: &str, sort: &str, size: usize) -> (Code, String, Option<String>) {
    let range = match size.checked_sub(1) {
        Some(last) => format!("its rows are 0 to {last}"),
        None => "it has none".to_string(),
    };
    match cell.parse::<i64>() {
        Ok(value) => (
            Code::UnknownIndividual,
            format!("there is no individual {value} of sort `{sort}`: {range}"),
            (value == size as i64).then(|| "rows are counted from 0".to_string()),
        ),
        Err(_) => (
            Code::MalformedNumber,
            format!(
                "expected the row number of an individual of sort `{sort}` ({range}), found {}",
                shown(cell)
            ),
            None,
        ),
    }
}

fn listed(sort: &Sort) -> String {
    const MOST_LISTED: usize = 10;
    let mut names: Vec<String> = (sort.labels.iter().take(MOST_LISTED))
        .map(|label| shown(label))
        .collect();
    if sort.labels.len() > MOST_LISTED {
        names.push(format!("… ({} in all)", sort.labels.len()));
    }
    format!("its individuals are {}", names.join(", "))
}

/// A column of individuals.
pub(super) fn read_column(
    file: &CsvFile,
    column: usize,
    cells: &Cells<'_>,
    problems: &mut Problems,
) -> Vec<u32> {
    let mut individuals = Vec::with_capacity(file.rows());
    for row in file.whole_rows() {
        let cell = file.cell(row, column);
        match cells.read(cell) {
            Some(individual) => individuals.push(individual),
            None => problems.push(|| {
                let (code, what, help) = cells.explain(cell);
                Diagnostic::error(code, format!("{}: {what}", file.place(row, column)))
                    .maybe_help(help)
            }),
        }
    }
    individuals
}
