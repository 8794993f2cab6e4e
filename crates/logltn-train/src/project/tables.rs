//! The rows of tables, from CSV files that name the declared columns.

use std::path::Path;

use logltn::theory::{ColumnSort, SortId, Table};
use logltn::{Code, ColumnData, Data, Diagnostic, Diagnostics, Theory, nearest};
use logltn_data::CsvFile;
use logltn_data::problems::{Problems, shown};

use super::cells::{Cells, read_column};
use super::feature_file_rows::OwnRows;
use super::report::Report;

/// Reads the rows of all tables that the manifest gives into `data`. `cells` says how the individuals of a
/// sort are written.
pub(super) fn read<'c>(
    report: &mut Report<'_>,
    theory: &Theory,
    data: &mut Data,
    cells: impl Fn(SortId) -> &'c Cells<'c>,
) {
    let manifest = report.manifest;
    for table in &theory.tables {
        let Some(given) = manifest.tables.get(&table.name) else {
            continue;
        };
        let read = match given.columns.is_some() || given.part.is_some() {
            false => read_rows(&manifest.resolve(&given.rows), theory, table, &cells),
            true => {
                let own = OwnRows {
                    manifest,
                    theory,
                    whose: format!("table `{}`", table.name),
                    file: &given.rows,
                    columns: given.columns.as_ref(),
                    part: given.part.as_ref(),
                };
                let mut sorts = table.columns.iter().map(|column| column.sort);
                match sorts.next() {
                    Some(first) => own.read(first, &sorts.collect::<Vec<_>>(), &cells),
                    None => Ok(Vec::new()), // which no theory declares
                }
            }
        };
        let rows = read.and_then(|columns| data.set_rows(&table.name, columns));
        if report.read(given.rows.span, rows).is_some() && given.batch.is_some() {
            let batched = data.set_batched(&table.name);
            report.read(given.rows.span, batched);
        }
    }
}

/// All that is wrong with the file: a row of the wrong length does not hide a wrong cell in another.
pub(super) fn read_rows<'c>(
    path: &Path,
    theory: &Theory,
    table: &Table,
    cells: &impl Fn(SortId) -> &'c Cells<'c>,
) -> Result<Vec<ColumnData>, Diagnostics> {
    let mut problems = Problems::new();
    let Some(file) = CsvFile::read_as_far_as_possible(path, &mut problems) else {
        return problems.finish(Vec::new());
    };
    let declared: Vec<String> = (table.columns.iter())
        .map(|c| format!("{}: {}", c.name, theory.column_sort_name(c.sort)))
        .collect();
    let wanted = Wanted {
        columns: table.columns.iter().map(|c| c.name.as_str()).collect(),
        missing: format!("missing for table `{}`", table.name),
        extra: format!("not declared in table `{}`", table.name),
        mend_extra: "remove it from the file, or declare it in the theory".to_string(),
        mend_missing: None,
        note: format!("declared: `table {}({})`", table.name, declared.join(", ")),
    };
    let positions = match wanted.find(&file) {
        Ok(positions) => positions,
        Err(error) => {
            problems.push(|| error);
            return problems.finish(Vec::new());
        }
    };
    let mut columns = Vec::with_capacity(positions.len());
    for (column, position) in table.columns.iter().zip(positions) {
        columns.push(match column.sort {
            ColumnSort::Int => ColumnData::Int(file.ints_into(position, &mut problems)),
            ColumnSort::Real => ColumnData::Real(file.reals_into(position, &mut problems)),
            ColumnSort::Sort(sort) => {
                let individuals = read_column(&file, position, cells(sort), &mut problems);
                ColumnData::Individuals(individuals)
            }
        });
    }
    problems.finish(columns)
}

/// The columns that a file must have, exactly these in any order, and the words for messages.
pub(super) struct Wanted<'w> {
    pub columns: Vec<&'w str>,
    /// What a missing column is: ``missing for table `T` ``.
    pub missing: String,
    /// What a column too many is: ``not declared in table `T` ``.
    pub extra: String,
    pub mend_extra: String,
    /// Help to show instead of the likely cause.
    pub mend_missing: Option<String>,
    /// The wanted columns.
    pub note: String,
}

impl Wanted<'_> {
    /// Where each column is in the file.
    pub(super) fn find(&self, file: &CsvFile) -> Result<Vec<usize>, Diagnostic> {
        let mut missing: Vec<&str> = Vec::new();
        let mut positions = Vec::new();
        for column in &self.columns {
            match file.columns().iter().position(|c| c == column) {
                Some(position) => positions.push(position),
                None => missing.push(column),
            }
        }
        let extra: Vec<&str> = (file.columns().iter())
            .map(String::as_str)
            .filter(|c| !self.columns.contains(c))
            .collect();
        if missing.is_empty() && extra.is_empty() {
            return Ok(positions);
        }
        let name = file.name();
        let error = if missing.is_empty() {
            Diagnostic::error(
                Code::UnknownColumn,
                format!("{name}: {} {}", columns(&extra, "is", "are"), self.extra),
            )
            .help(&*self.mend_extra)
        } else {
            let cause = likely_cause(&missing, &extra, positions.is_empty());
            Diagnostic::error(
                Code::MissingColumn,
                format!(
                    "{name}: {} {}",
                    columns(&missing, "is", "are"),
                    self.missing
                ),
            )
            .maybe_help(self.mend_missing.clone().or(cause))
        };
        let found = quoted(file.columns().iter().map(String::as_str));
        Err(error
            .note(&*self.note)
            .note(format!("the header line of the file: {found}")))
    }
}

/// The likely cause of missing columns, if there is one.
fn likely_cause(missing: &[&str], extra: &[&str], all: bool) -> Option<String> {
    if let ([wanted], [found]) = (missing, extra) {
        return Some(format!("rename {} to `{wanted}`", quoted([*found])));
    }
    let near =
        (missing.iter()).find_map(|wanted| Some((wanted, nearest(wanted, extra.iter().copied())?)));
    match near {
        Some((wanted, found)) => Some(format!("rename `{found}` to `{wanted}`")),
        None if all => Some("is the header line, which names the columns, missing?".to_string()),
        None => None,
    }
}

/// ``the column `x` is`` or ``the columns `x`, `y` are``.
fn columns(names: &[&str], singular: &str, plural: &str) -> String {
    let list = quoted(names.iter().copied());
    if names.len() == 1 {
        format!("the column {list} {singular}")
    } else {
        format!("the columns {list} {plural}")
    }
}

pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST_LISTED: usize = 20;
    let mut names = names.into_iter();
    let mut list: Vec<String> = (names.by_ref().take(MOST_LISTED))
        .map(|name| match name {
            "" => "(no name)".to_string(),
            name => shown(name),
        })
        .collect();
    if names.next().is_some() {
        list.push("…".to_string());
    }
    list.join(", ")
}
