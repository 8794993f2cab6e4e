//! `[sorts]`, `[tables]` and `[params]`: which data.

use std::path::PathBuf;

use logltn::{Code, Diagnostic, Number};
use logltn_learn::Spanned;

use super::network::MAX_WIDTH;
use super::phrase::read_distance;
use super::reader::{Item, Problems, at_most_one};
use super::symbols::flatten;

/// The data of a sort.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    /// Who the individuals are; `None` where the theory says it (`sort Digit = 0..9`).
    pub individuals: Option<Individuals>,
    /// `learnable = 8`: a trained vector of that length for each individual.
    pub learnable: Option<Spanned<usize>>,
    /// `sample = 64`: in each training step, quantifiers see so many of the individuals.
    pub sample: Option<Spanned<usize>>,
    /// The true class of each individual, for evaluation only.
    pub labels: Option<Spanned<Labels>>,
}

/// Who the individuals of a sort are.
#[derive(Clone, Debug, PartialEq)]
pub enum Individuals {
    /// `features = "points.csv"`: one row of numbers for each.
    Features(FeatureSource),
    /// `individuals = "classes.csv"`: one label per line.
    LabelFile(Spanned<PathBuf>),
    /// `individuals = ["ann", "bob"]`.
    Names(Spanned<Vec<Spanned<String>>>),
}

/// `features = "points.csv"`, or some columns of a CSV: `{ file = "people.csv", columns = ["age"], names = "name" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureSource {
    /// The file.
    pub file: Spanned<PathBuf>,
    /// The columns that are features, in this order; without, all but that of the names.
    pub columns: Option<Spanned<Vec<Spanned<String>>>>,
    /// The column whose values name the individuals.
    pub names: Option<Spanned<String>>,
}

/// `labels = { file = "labels.csv", column = "Class" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// A CSV, or an array without columns.
    pub file: Spanned<PathBuf>,
    /// The column of a CSV.
    pub column: Option<Spanned<String>>,
}

/// The rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file.
    pub rows: Spanned<PathBuf>,
    /// How many rows each training step draws; `None` is all.
    pub batch: Option<Spanned<usize>>,
}

/// The value of a `param`.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// A number; a TOML integer is an integer in guards.
    Number(Number),
    /// `{ percentile = 2.5, of = "dist(Point, Point)" }`: over all ordered pairs, self included.
    Percentile {
        /// From 0 to 100.
        percentile: Spanned<f64>,
        /// The sorts of the two individuals.
        sorts: [Spanned<String>; 2],
    },
}

impl Sort {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Sort> {
        let mut table = item.table(problems, "a table with `features` or `individuals`")?;
        let (features, individuals) = (table.take("features"), table.take("individuals"));
        let learnable = table.take("learnable");
        let sample = table.take("sample");
        let labels = table
            .take("labels")
            .map(|item| Labels::read(&item, problems));
        table.finish(problems);
        let mut one = at_most_one(problems, &item.path, &[&features, &individuals]);
        if features.is_some() {
            one &= at_most_one(problems, &item.path, &[&features, &learnable]);
        }
        let features =
            features.map(|item| FeatureSource::read(&item, problems).map(Individuals::Features));
        let individuals = individuals.map(|item| read_individuals(&item, problems));
        let learnable = learnable.map(|item| item.size(problems, MAX_WIDTH));
        let sample = sample.map(|item| item.size(problems, u64::from(u32::MAX)));
        let individuals = flatten(features.or(individuals));
        let (learnable, labels) = (flatten(learnable), flatten(labels));
        one.then_some(())?;
        Some(Sort {
            individuals: individuals?,
            learnable: learnable?,
            sample: flatten(sample)?,
            labels: labels?,
        })
    }
}

fn read_individuals(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Individuals> {
    if item.is_string() {
        return item.file(problems).map(Individuals::LabelFile);
    }
    let names = item.names(
        problems,
        "a file of labels, or an array of names such as [\"ann\", \"bob\"]",
    )?;
    if names.is_empty() {
        problems.push(
            item.span,
            "",
            Diagnostic::warning(
                Code::EmptySort,
                format!("`{}` is empty: the sort has no individuals", item.path),
            ),
        );
    }
    Some(Individuals::Names(Spanned::new(names, item.span)))
}

impl FeatureSource {
    fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<FeatureSource> {
        if !item.is_table() {
            return Some(FeatureSource {
                file: item.file(problems)?,
                columns: None,
                names: None,
            });
        }
        let mut table = item.table(problems, "a file, or a table with `file`")?;
        let file = table.require(problems, "file", "\"people.csv\"");
        let columns = table.take("columns");
        let names = table.take("names");
        let known_keys = problems.count();
        table.finish(problems);
        // A misspelt `names` must not make every name in every file a mistake.
        let known_keys = problems.count() == known_keys;
        let file = file.and_then(|item| item.file(problems));
        let columns = columns.map(|item| {
            let what = "an array of columns' names such as [\"age\", \"height\"]";
            let columns = item.names(problems, what)?;
            if columns.is_empty() {
                problems.error(
                    Code::EmptyValue,
                    item.span,
                    format!(
                        "`{}` is empty: an individual would have no features",
                        item.path
                    ),
                );
                return None;
            }
            Some(Spanned::new(columns, item.span))
        });
        let names = names.map(|item| item.string(problems, "a column's name"));
        let (columns, names) = (flatten(columns), flatten(names));
        known_keys.then_some(())?;
        Some(FeatureSource {
            file: file?,
            columns: columns?,
            names: names?,
        })
    }
}

impl Labels {
    fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Spanned<Labels>> {
        let mut table = item.table(
            problems,
            "a table such as { file = \"labels.csv\", column = \"Class\" }",
        )?;
        let file = table.require(problems, "file", "\"labels.csv\"");
        let column = table
            .take("column")
            .map(|item| item.string(problems, "a column's name"));
        table.finish(problems);
        let (file, column) = (file.and_then(|item| item.file(problems)), flatten(column));
        Some(Spanned::new(
            Labels {
                file: file?,
                column: column?,
            },
            item.span,
        ))
    }
}

impl Table {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Table> {
        let mut table = item.table(problems, "a table such as { rows = \"rows.csv\" }")?;
        let rows = table.require(problems, "rows", "\"rows.csv\"");
        let batch = table
            .take("batch")
            .map(|item| item.size(problems, u64::from(u32::MAX)));
        table.finish(problems);
        let (rows, batch) = (rows.and_then(|item| item.file(problems)), flatten(batch));
        Some(Table {
            rows: rows?,
            batch: batch?,
        })
    }
}

impl Param {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Param> {
        if item.is_number() {
            return item.exact_number(problems).map(Param::Number);
        }
        let what = "a number, or { percentile = 2.5, of = \"dist(S, S)\" }";
        let mut table = item.table(problems, what)?;
        let percentile = table.require(problems, "percentile", "2.5");
        let of = table.require(problems, "of", "\"dist(S, S)\"");
        table.finish(problems);
        let percentile = percentile.and_then(|item| {
            item.number_where(problems, "between 0 and 100", |p| {
                (0.0..=100.0).contains(&p)
            })
        });
        let sorts = of.and_then(|item| read_distance(&item, problems));
        Some(Param::Percentile {
            percentile: percentile?,
            sorts: sorts?,
        })
    }
}
