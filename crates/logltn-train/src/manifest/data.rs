//! `[sorts]`, `[tables]` and `[params]`: the data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Number};
use logltn_data::ColumnKind;
use logltn_learn::Spanned;

use super::phrase::read_distance;
use super::reader::{self, Item};

/// The data of a sort.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    /// The individuals; `None` if the theory defines them (`sort Digit = 0..9`).
    pub individuals: Option<Individuals>,
    /// `learnable = 8`: a trained vector of that length for each individual.
    pub learnable: Option<Spanned<usize>>,
    /// `sample = 64`: in each training step, quantifiers see this many of the individuals.
    pub sample: Option<Spanned<usize>>,
    /// The true class of each individual, for evaluation only.
    pub labels: Option<Spanned<Labels>>,
    /// Which individuals are for training and which for testing.
    pub split: Option<Spanned<Split>>,
}

/// How the individuals of a sort are divided into parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// `split = { column = "split" }`: the column of the features' file that names the part of each.
    Column(Spanned<String>),
    /// `split = { test = 0.2, by = "species" }`: at random, the rest is `train`.
    Shares {
        /// The parts and their shares: `test`, `valid`.
        shares: Vec<(&'static str, f64)>,
        /// The seed of the choice.
        seed: u64,
        /// The column whose values are spread evenly; individuals without a value are in `train`.
        by: Option<Spanned<String>>,
    },
}

/// The individuals of a sort.
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
    /// The columns that are features, in this order; by default all except that of the names.
    pub columns: Option<Spanned<Vec<Spanned<String>>>>,
    /// The column whose values name the individuals.
    pub names: Option<Spanned<String>>,
    /// The columns that are not features.
    pub except: Option<Spanned<Vec<Spanned<String>>>>,
    /// `prepare = true`, or what some columns are: numbers are scaled, categories and missing cells become numbers.
    pub prepare: Option<Spanned<BTreeMap<String, Spanned<ColumnKind>>>>,
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
    /// The columns of the individuals' own file, in the order of the table's, after the individual itself.
    pub columns: Option<Spanned<Vec<Spanned<String>>>>,
    /// The part of the individuals to use.
    pub part: Option<Spanned<String>>,
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
    pub(super) fn read(item: &Item<'_>) -> Option<Sort> {
        let mut table = item.table()?;
        let (features, individuals) = (table.take("features"), table.take("individuals"));
        if let (Some(split), None) = (table.take("split"), &features) {
            let what = format!("`{}` is for a sort with `features`", split.path);
            split.misplaced("no features", what, "");
        }
        let features = features.map(|item| {
            let features = table.value(&item, FeatureSource::read);
            features.map(Individuals::Features)
        });
        let individuals = individuals.map(|item| table.value(&item, read_individuals));
        let sort = Sort {
            individuals: features.or(individuals).flatten(),
            learnable: table.size("learnable"),
            sample: table.size("sample"),
            labels: table.read("labels", Labels::read),
            split: table.read("split", Split::read),
        };
        table.end()?;
        Some(sort)
    }
}

impl Split {
    fn read(item: &Item<'_>) -> Option<Spanned<Split>> {
        let mut table = item.table()?;
        if let Some(column) = table.text("column") {
            for other in ["test", "valid", "seed", "by"] {
                if let Some(other) = table.take(other) {
                    let path = &other.path;
                    let what = format!(
                        "`{path}` cannot be given: the column already assigns every row to a part"
                    );
                    other.misplaced("not needed", what, "remove it");
                }
            }
            table.end()?;
            return Some(Spanned::new(Split::Column(column), item.span));
        }
        let mut shares = Vec::new();
        for name in ["test", "valid"] {
            shares.extend(table.number(name).map(|share| (name, share)));
        }
        let seed = table.whole("seed").unwrap_or(0);
        let by = table.text("by");
        table.end()?;
        if shares.is_empty() || shares.iter().map(|(_, share)| share).sum::<f64>() >= 1.0 {
            let what = match shares.is_empty() {
                true => format!("`{}` divides nothing", item.path),
                false => format!("`{}` leaves nothing to train on", item.path),
            };
            let error = Diagnostic::error(Code::ValueOutOfRange, what);
            item.wrong("", error.help("write { test = 0.2 }"));
            return None;
        }
        let split = Split::Shares { shares, seed, by };
        Some(Spanned::new(split, item.span))
    }
}

fn read_individuals(item: &Item<'_>) -> Option<Individuals> {
    if item.is_string() {
        return item.file().map(Individuals::LabelFile);
    }
    let names = item.names()?;
    if names.is_empty() {
        let what = format!("`{}` is empty: the sort has no individuals", item.path);
        item.wrong("", Diagnostic::warning(Code::EmptySort, what));
    }
    Some(Individuals::Names(names))
}

impl FeatureSource {
    fn read(item: &Item<'_>) -> Option<FeatureSource> {
        if !item.is_table() {
            return Some(FeatureSource {
                file: item.file()?,
                columns: None,
                names: None,
                except: None,
                prepare: None,
            });
        }
        let mut table = item.table()?;
        let file = table.require("file", "\"people.csv\"");
        let file = file.and_then(|file| table.value(&file, Item::file));
        let columns = table.read("columns", |item| {
            let columns = item.names()?;
            if columns.is_empty() {
                item.refuse_empty("an individual would have no features");
                return None;
            }
            Some(columns)
        });
        let names = table.text("names");
        if let (Some(chosen), Some(except)) = (&columns, table.take("except")) {
            let what = format!(
                "`{}` cannot be given: `columns` names all features",
                except.path
            );
            let error = Diagnostic::error(Code::ConflictingKeys, what).mark(chosen.span, "");
            let error = error.help("remove one of the two");
            item.problems.push(except.key, "not needed", error);
        }
        // An index that a data frame wrote has no name.
        let except = table.read("except", Item::names_or_empty);
        let prepare = table.read("prepare", read_prepare).flatten();
        let before = item.problems.count();
        table.end()?;
        // A misspelt `names` must not turn every name in every file into an error.
        (item.problems.count() == before).then_some(FeatureSource {
            file: file?,
            columns,
            names,
            except,
            prepare,
        })
    }
}

/// `true`, or the kinds of some columns. The outer `None` is a mistake, the inner one `false`.
#[allow(clippy::type_complexity, reason = "said once")]
fn read_prepare(item: &Item<'_>) -> Option<Option<Spanned<BTreeMap<String, Spanned<ColumnKind>>>>> {
    if !item.is_table() {
        let prepare = item.boolean()?;
        let found = Spanned::new(BTreeMap::new(), item.span);
        return Some(prepare.value.then_some(found));
    }
    let mut wrong = BTreeSet::new();
    let read = |item: &Item<'_>| item.one_of(&ColumnKind::ALL).map(|kind| kind.value);
    let kinds = item.section(&mut wrong, read)?;
    wrong
        .is_empty()
        .then(|| Some(Spanned::new(kinds, item.span)))
}

/// `column = "species"` or `columns = ["a", "b"]`, of the file that has the individuals; and `part`.
pub(super) type OwnColumns = (
    Option<Spanned<Vec<Spanned<String>>>>,
    Option<Spanned<String>>,
);

/// Reads the two.
pub(super) fn read_own_columns(table: &mut reader::Table<'_>) -> OwnColumns {
    let column = table.text("column").map(|name| {
        let span = name.span;
        Spanned::new(vec![name], span)
    });
    let columns = table.names("columns");
    (column.or(columns), table.text("part"))
}

impl Labels {
    fn read(item: &Item<'_>) -> Option<Spanned<Labels>> {
        let mut table = item.table()?;
        let file = table.require("file", "\"labels.csv\"");
        let column = table.text("column");
        let file = file.and_then(|file| file.file());
        table.end()?;
        let labels = Labels {
            file: file?,
            column,
        };
        Some(Spanned::new(labels, item.span))
    }
}

impl Table {
    pub(super) fn read(item: &Item<'_>) -> Option<Table> {
        let mut table = item.table()?;
        let rows = table.require("rows", "\"rows.csv\"");
        let rows = rows.and_then(|rows| rows.file());
        let (columns, part) = read_own_columns(&mut table);
        let batch = table.size("batch");
        table.end()?;
        Some(Table {
            rows: rows?,
            columns,
            part,
            batch,
        })
    }
}

impl Param {
    pub(super) fn read(item: &Item<'_>) -> Option<Param> {
        if item.is_number() {
            return item.exact_number().map(Param::Number);
        }
        let mut table = item.table()?;
        let percentile = table.require("percentile", "2.5");
        let of = table.require("of", "\"dist(S, S)\"");
        table.end();
        let percentile = percentile.and_then(|item| item.number());
        let sorts = of.and_then(|item| read_distance(&item));
        Some(Param::Percentile {
            percentile: percentile?,
            sorts: sorts?,
        })
    }
}
