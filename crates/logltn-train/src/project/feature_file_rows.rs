//! Rows of the file that has the individuals of a sort: tables, metrics and parts as columns of it.

use logltn::theory::{ArgumentSort, ColumnSort, SortId};
use logltn::{Code, ColumnData, Diagnostic, Diagnostics, Theory, did_you_mean};
use logltn_data::problems::{Problems, counted, shown};
use logltn_data::{CsvFile, is_missing};
use logltn_learn::Spanned;

use super::cells::Cells;
use crate::manifest::{Individuals, Manifest, Split};

/// What to read from the file of a sort: columns after the individual itself, and a part of the individuals.
pub(super) struct OwnRows<'m> {
    pub manifest: &'m Manifest,
    pub theory: &'m Theory,
    /// The owner of the rows, for messages: ``table `labelled` ``.
    pub whose: String,
    pub file: &'m Spanned<std::path::PathBuf>,
    pub columns: Option<&'m Spanned<Vec<Spanned<String>>>>,
    pub part: Option<&'m Spanned<String>>,
}

impl OwnRows<'_> {
    /// The individual of each row, and its cells in the columns, which hold `sorts`. Rows with a missing cell are left
    /// out.
    pub(super) fn read<'c>(
        &self,
        sort: ColumnSort,
        sorts: &[ColumnSort],
        cells: &impl Fn(SortId) -> &'c Cells<'c>,
    ) -> Result<Vec<ColumnData>, Diagnostics> {
        let sort = self.own_sort(sort)?;
        let columns = self.columns.map_or(&[][..], |columns| &columns.value);
        if columns.len() != sorts.len() {
            let what = format!(
                "{} has {} after the individual itself, but {} named here",
                self.whose,
                counted(sorts.len(), "column"),
                match columns.len() {
                    1 => "1 column is".to_string(),
                    n => format!("{n} columns are"),
                }
            );
            let span = self.columns.map_or(self.file.span, |columns| columns.span);
            return Err(Diagnostic::error(Code::WrongNumberOfArguments, what)
                .at(&self.manifest.source, span, "")
                .help("its first column is the individual of the row; name the columns of the file for the others")
                .into());
        }
        let file = CsvFile::read(&self.manifest.resolve(self.file))?;
        let mut wrong = Diagnostics::new();
        let mut places = Vec::new();
        for column in columns {
            match self.manifest.column(&file, column) {
                Ok(place) => places.push(place),
                Err(error) => wrong.push(error),
            }
        }
        wrong.into_result(())?;
        let rows = self.rows(&self.theory[sort].name, &file)?;
        let mut problems = Problems::new();
        let mut individuals = Vec::new();
        let mut read: Vec<ColumnData> = sorts.iter().map(|sort| nothing(*sort)).collect();
        'rows: for row in rows {
            let mut found = Vec::new();
            for (&place, sort) in places.iter().zip(sorts) {
                let cell = file.cell(row, place);
                match value(cell, *sort, cells) {
                    Some(value) => found.push(value),
                    None if is_missing(cell) => continue 'rows,
                    None => {
                        problems.push(|| {
                            let (code, what, help) = explain(cell, *sort, cells);
                            Diagnostic::error(code, format!("{}: {what}", file.place(row, place)))
                                .maybe_help(help)
                        });
                        continue 'rows;
                    }
                }
            }
            individuals.push(row as u32);
            for (column, value) in read.iter_mut().zip(found) {
                match (column, value) {
                    (ColumnData::Int(to), Cell::Int(value)) => to.push(value),
                    (ColumnData::Real(to), Cell::Real(value)) => to.push(value),
                    (ColumnData::Individuals(to), Cell::Individual(value)) => to.push(value),
                    _ => {} // made of the same sorts
                }
            }
        }
        read.insert(0, ColumnData::Individuals(individuals));
        problems.finish(read)
    }

    /// The sort whose individuals are the rows of the file.
    fn own_sort(&self, sort: ColumnSort) -> Result<SortId, Diagnostics> {
        let file = self.manifest.resolve(self.file);
        let (named, found) = match sort {
            ColumnSort::Sort(sort) => {
                let name = &self.theory[sort].name;
                match self.manifest.individuals(name) {
                    Some(Individuals::Features(from))
                        if self.manifest.resolve(&from.file) == file =>
                    {
                        return Ok(sort);
                    }
                    Some(Individuals::Features(from)) => (
                        format!("sort `{name}`"),
                        format!(
                            "whose features are in {}",
                            self.manifest.resolve(&from.file).display()
                        ),
                    ),
                    _ => (
                        format!("sort `{name}`"),
                        "which has no file of features".to_string(),
                    ),
                }
            }
            ColumnSort::Int | ColumnSort::Real => (
                "numbers".to_string(),
                "which are not individuals".to_string(),
            ),
        };
        let what = format!(
            "{}: the first column of {} holds {named}, {found}: its rows cannot come from this file",
            file.display(),
            self.whose
        );
        Err(Diagnostic::error(Code::OtherFile, what)
            .help(
                "`column`, `columns` and `part` apply to the file with the individuals' features; for another file, leave them out and name its columns after the table's",
            )
            .into())
    }

    /// The rows of the part.
    fn rows(&self, sort: &str, file: &CsvFile) -> Result<Vec<usize>, Diagnostics> {
        let Some(part) = self.part else {
            return Ok((0..file.rows()).collect());
        };
        let given = self.manifest.sorts.get(sort).and_then(|s| s.split.as_ref());
        let Some(split) = given else {
            let what = format!("sort `{sort}` is not divided into parts");
            return Err(Diagnostic::error(Code::UnknownPart, what)
                .at(&self.manifest.source, part.span, "no such part")
                .help(format!(
                    "add `split = {{ test = 0.2 }}` to `[sorts.{sort}]`"
                ))
                .into());
        };
        let parts = parts(self.manifest, split, file)?;
        let rows: Vec<usize> = (parts.iter().enumerate())
            .filter(|(_, of)| of.as_deref() == Some(part.as_str()))
            .map(|(row, _)| row)
            .collect();
        let mut known: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        if rows.is_empty() {
            let list: Vec<String> = known.iter().take(10).map(|part| shown(part)).collect();
            let what = format!(
                "no individual of sort `{sort}` is in the part `{}`",
                part.value
            );
            return Err(Diagnostic::error(Code::UnknownPart, what)
                .at(&self.manifest.source, part.span, "no such part")
                .note(format!("its parts are {}", list.join(", ")))
                .maybe_help(did_you_mean(part, known.iter().copied()))
                .into());
        }
        Ok(rows)
    }
}

enum Cell {
    Int(i64),
    Real(f64),
    Individual(u32),
}

fn nothing(sort: ColumnSort) -> ColumnData {
    match sort {
        ColumnSort::Int => ColumnData::Int(Vec::new()),
        ColumnSort::Real => ColumnData::Real(Vec::new()),
        ColumnSort::Sort(_) => ColumnData::Individuals(Vec::new()),
    }
}

fn value<'c>(
    cell: &str,
    sort: ColumnSort,
    cells: &impl Fn(SortId) -> &'c Cells<'c>,
) -> Option<Cell> {
    match sort {
        ColumnSort::Int => cell.parse().ok().map(Cell::Int),
        ColumnSort::Real => (cell.parse().ok())
            .filter(|x: &f64| x.is_finite())
            .map(Cell::Real),
        ColumnSort::Sort(sort) => cells(sort).read(cell).map(Cell::Individual),
    }
}

fn explain<'c>(
    cell: &str,
    sort: ColumnSort,
    cells: &impl Fn(SortId) -> &'c Cells<'c>,
) -> (Code, String, Option<String>) {
    let expected = |what: &str| {
        (
            Code::MalformedNumber,
            format!("expected {what}, found {}", shown(cell)),
            None,
        )
    };
    match sort {
        ColumnSort::Int => expected("an integer"),
        ColumnSort::Real => expected("a finite number"),
        ColumnSort::Sort(sort) => cells(sort).explain(cell),
    }
}

/// The part of each row of the file of a sort; `None` where its column is empty.
pub(super) fn parts(
    manifest: &Manifest,
    split: &Spanned<Split>,
    file: &CsvFile,
) -> Result<Vec<Option<String>>, Diagnostics> {
    let place = |column: &Spanned<String>| manifest.column(file, column);
    match &split.value {
        Split::Column(column) => {
            let place = place(column)?;
            let part = |row| match file.cell(row, place) {
                cell if is_missing(cell) => None,
                cell => Some(cell.to_string()),
            };
            Ok((0..file.rows()).map(part).collect())
        }
        Split::Shares { shares, seed, by } => {
            let by = by.as_ref().map(place).transpose()?;
            let known = |row: &usize| by.is_none_or(|by| !is_missing(file.cell(*row, by)));
            let rows: Vec<usize> = (0..file.rows()).filter(known).collect();
            let mut parts = vec![Some("train".to_string()); file.rows()];
            let value = |row: usize| by.map_or("", |by| file.cell(row, by));
            for (name, rows) in chosen(rows, shares, *seed, value) {
                for row in rows {
                    parts[row] = Some(name.to_string());
                }
            }
            Ok(parts)
        }
    }
}

/// The training rows of the file at `path`: those of `train`, or all if there is no such part.
pub(super) fn learnt_from(
    manifest: &Manifest,
    sort: &str,
    file: &CsvFile,
) -> Result<Vec<bool>, Diagnostics> {
    let split = manifest.sorts.get(sort).and_then(|s| s.split.as_ref());
    let Some(split) = split else {
        return Ok(vec![true; file.rows()]);
    };
    let parts = parts(manifest, split, file)?;
    let train: Vec<bool> = parts
        .iter()
        .map(|part| part.as_deref() == Some("train"))
        .collect();
    Ok(match train.contains(&true) {
        true => train,
        false => vec![true; file.rows()],
    })
}

/// Rows at random for each part, spread evenly over the values: rows of equal values are shuffled, and every so-many-th of
/// all, in the order of the values, is taken. Each row is as likely as any other.
fn chosen<'v>(
    mut rows: Vec<usize>,
    shares: &[(&'static str, f64)],
    seed: u64,
    value: impl Fn(usize) -> &'v str,
) -> Vec<(&'static str, Vec<usize>)> {
    let mut state = seed;
    let mut random = move || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let all = rows.len();
    for i in (1..rows.len()).rev() {
        rows.swap(i, (random() * (i + 1) as f64) as usize);
    }
    let numbers: Option<Vec<f64>> = rows.iter().map(|&row| value(row).parse().ok()).collect();
    match numbers {
        Some(numbers) => {
            let mut sorted: Vec<(f64, usize)> = numbers.into_iter().zip(rows).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows = sorted.into_iter().map(|(_, row)| row).collect();
        }
        None => rows.sort_by_key(|&row| value(row)),
    }
    let mut out = Vec::new();
    for (name, share) in shares {
        let wanted = ((share * all as f64).round() as usize).max(1);
        let wanted = wanted.min(rows.len().saturating_sub(1));
        let start = random();
        let before = |k: usize| (k as f64 * wanted as f64 / rows.len() as f64 + start).floor();
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for (k, &row) in rows.iter().enumerate() {
            match taken.len() < wanted && before(k + 1) > before(k) {
                true => taken.push(row),
                false => left.push(row),
            }
        }
        out.push((*name, taken));
        rows = left;
    }
    out
}

/// What a table's column must hold to be an argument.
pub(super) fn as_column(argument: &ArgumentSort) -> ColumnSort {
    match argument {
        ArgumentSort::Sort(sort) => ColumnSort::Sort(*sort),
        ArgumentSort::Vector(_) => ColumnSort::Real,
    }
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn shares_are_exact_and_spread() {
        for rows in 0..40 {
            for seed in 0..5 {
                let value = |row: usize| ["a", "b"][row % 2];
                let all: Vec<usize> = (0..rows).collect();
                let found = chosen(all, &[("test", 0.25), ("valid", 0.1)], seed, value);
                let [(_, test), (_, valid)] = &found[..] else {
                    panic!()
                };
                assert!(test.iter().all(|row| !valid.contains(row)));
                let wanted = ((0.25 * rows as f64).round() as usize)
                    .max(1)
                    .min(rows.saturating_sub(1));
                assert_eq!(test.len(), wanted, "of {rows}");
                let of_a = test.iter().filter(|row| *row % 2 == 0).count();
                assert!(of_a.abs_diff(test.len() - of_a) <= 2, "{test:?}");
            }
        }
    }

    #[test]
    fn every_row_is_as_likely() {
        let mut counts = [0; 20];
        for seed in 0..4000 {
            let value = |row: usize| ["1", "2", "2", "3", "3", "3", "10"][row % 7];
            for row in &chosen((0..20).collect(), &[("test", 0.2)], seed, value)[0].1 {
                counts[*row] += 1;
            }
        }
        assert!(
            counts.iter().all(|n: &i32| (n - 800).abs() < 120),
            "{counts:?}"
        );
    }
}
