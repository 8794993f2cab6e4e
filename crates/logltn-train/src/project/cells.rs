//! How individuals are written in CSV files: row numbers, integers, labels.

use logltn::theory::{Sort, SortKind};
use logltn::{Diagnostic, Diagnostics, did_you_mean};
use rustc_hash::FxHashMap;

use crate::data::CsvFile;
use crate::data::problems::{Problems, shown};

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
    /// The individuals could not be read, which has been reported: nothing is said about their uses.
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

    /// The index of the individual that a cell names, or what is wrong and how to fix it.
    fn read(&self, cell: &str) -> Result<u32, (String, Option<String>)> {
        match self {
            Cells::Unknown => Ok(0),
            Cells::Rows { sort, size } => row(cell, &sort.name, *size),
            Cells::Integers { sort, low, high } => match cell.parse::<i64>() {
                Ok(value) if (*low..=*high).contains(&value) => Ok((value - low) as u32),
                Ok(value) => Err((
                    format!(
                        "{value} is not in sort `{}`, the integers {low} to {high}",
                        sort.name
                    ),
                    None,
                )),
                Err(_) => Err((
                    format!(
                        "expected an integer of sort `{}`, from {low} to {high}, found {}",
                        sort.name,
                        shown(cell)
                    ),
                    None,
                )),
            },
            Cells::Labels { sort, index } => index.get(cell).copied().ok_or_else(|| {
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
                (what, help)
            }),
        }
    }
}

fn row(cell: &str, sort: &str, size: usize) -> Result<u32, (String, Option<String>)> {
    let range = match size.checked_sub(1) {
        Some(last) => format!("its rows are 0 to {last}"),
        None => "it has none".to_string(),
    };
    match cell.parse::<i64>() {
        Ok(value) if value >= 0 && (value as u64) < size as u64 => Ok(value as u32),
        Ok(value) => Err((
            format!("there is no individual {value} of sort `{sort}`: {range}"),
            (value == size as i64).then(|| "rows are counted from 0".to_string()),
        )),
        Err(_) => Err((
            format!(
                "expected the row number of an individual of sort `{sort}` ({range}), found {}",
                shown(cell)
            ),
            None,
        )),
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
) -> Result<Vec<u32>, Diagnostics> {
    let mut problems = Problems::new();
    let mut individuals = Vec::with_capacity(file.rows());
    for row in 0..file.rows() {
        match cells.read(file.cell(row, column)) {
            Ok(individual) => individuals.push(individual),
            Err((what, help)) => problems.push(|| {
                Diagnostic::error(format!("{}: {what}", file.place(row, column))).maybe_help(help)
            }),
        }
    }
    problems.finish(individuals)
}
