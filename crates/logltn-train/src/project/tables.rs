//! The rows of tables, from CSV files that name the declared columns.

use logltn::theory::{ColumnSort, SortId, Table};
use logltn::{ColumnData, Data, Diagnostic, Diagnostics, Theory, nearest};

use super::cells::{Cells, read_column};
use super::report::Report;
use crate::data::CsvFile;
use crate::data::problems::Problems;

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
        let rows = CsvFile::read(&manifest.resolve(&given.rows))
            .and_then(|file| read_columns(&file, theory, table, &cells))
            .and_then(|columns| data.set_rows(&table.name, columns));
        if report.read(given.rows.span, rows).is_some() && given.batch.is_some() {
            let batched = data.set_batched(&table.name);
            report.read(given.rows.span, batched);
        }
    }
}

fn read_columns<'c>(
    file: &CsvFile,
    theory: &Theory,
    table: &Table,
    cells: &impl Fn(SortId) -> &'c Cells<'c>,
) -> Result<Vec<ColumnData>, Diagnostics> {
    let positions = find_columns(file, theory, table)?;
    let mut problems = Problems::new();
    let mut columns = Vec::with_capacity(positions.len());
    for (column, position) in table.columns.iter().zip(positions) {
        let read = match column.sort {
            ColumnSort::Int => file.ints(position).map(ColumnData::Int),
            ColumnSort::Real => file.reals(position).map(ColumnData::Real),
            ColumnSort::Sort(sort) => {
                read_column(file, position, cells(sort)).map(ColumnData::Individuals)
            }
        };
        match read {
            Ok(read) => columns.push(read),
            Err(found) => problems.extend(found),
        }
    }
    problems.finish(columns)
}

/// Where each declared column is in the file, which must have these columns and no others.
fn find_columns(file: &CsvFile, theory: &Theory, table: &Table) -> Result<Vec<usize>, Diagnostics> {
    let declared: Vec<String> = (table.columns.iter())
        .map(|c| format!("{}: {}", c.name, theory.column_sort_name(c.sort)))
        .collect();
    let declared = format!(
        "declared is `table {}({})`",
        table.name,
        declared.join(", ")
    );
    let names = || table.columns.iter().map(|c| c.name.as_str());
    let mut missing: Vec<&str> = Vec::new();
    let mut positions = Vec::new();
    for name in names() {
        match file.columns().iter().position(|c| c == name) {
            Some(position) => positions.push(position),
            None => missing.push(name),
        }
    }
    let mut extra: Vec<&str> = (file.columns().iter())
        .map(String::as_str)
        .filter(|c| names().all(|name| name != *c))
        .collect();
    let mut problems = Problems::new();
    for name in &missing {
        let near = nearest(name, extra.iter().copied());
        problems.push(|| {
            let error = match file.column_index(name) {
                Err(error) => error,
                Ok(_) => Diagnostic::error(format!("{}: there is no column `{name}`", file.name())),
            };
            let help = near.map(|near| format!("rename the column `{near}` to `{name}`"));
            error.note(declared.clone()).maybe_help(help)
        });
        // It is spelled wrong, not one too many.
        extra.retain(|c| Some(*c) != near);
    }
    for name in &extra {
        problems.push(|| {
            let column = if name.is_empty() {
                "a column without a name".to_string()
            } else {
                format!("the column `{name}`")
            };
            Diagnostic::error(format!(
                "{}: {column} is not one of table `{}`",
                file.name(),
                table.name
            ))
            .note(declared.clone())
            .help("remove the column, or declare it in the theory")
        });
    }
    problems.finish(positions)
}
