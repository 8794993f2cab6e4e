//! What the columns of a CSV file are for: which one to learn, which are features, and which carry no information.

use std::collections::BTreeMap;

use logltn::{Code, Diagnostic};
use logltn_data::problems::{counted, shown};
use logltn_data::{ColumnKind, CsvFile, is_missing, odd_among_numbers};

/// A column with more different values than this cannot be classes.
const MOST_CLASSES: usize = 1000;
/// More different integers than these are numbers, not classes.
const MOST_INTEGER_CLASSES: usize = 20;
/// Columns with this many different texts are examined more closely.
const MANY_TEXTS: usize = 20;

/// The kind of the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// One of these classes, in their order.
    Classes(Vec<String>),
    /// A number with this mean and standard deviation.
    Number { mean: f64, deviation: f64 },
}

/// How the task was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// One of several classes.
    Classes,
    /// A number.
    Number,
}

/// The kind of the column `target`.
///
/// # Errors
/// If there is nothing to learn, with the reason.
pub fn task(file: &CsvFile, target: usize, wanted: Option<Wanted>) -> Result<Task, Diagnostic> {
    let name = shown(&file.columns()[target]);
    if file.columns()[target].is_empty() {
        let what = format!(
            "column {} has no name, but it is the column to predict",
            target + 1
        );
        return Err(refuse(file, Code::UnknownColumn, what).help("give it a name in the header"));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in 0..file.rows() {
        let cell = file.cell(row, target);
        if !is_missing(cell) {
            *counts.entry(cell).or_default() += 1;
        }
    }
    let known: usize = counts.values().sum();
    if known < 2 {
        let what = match known {
            0 => format!("column {name} is missing in every row: there is nothing to learn from"),
            _ => format!(
                "column {name} has a value in one row only; at least two are needed, one to learn from and one to test"
            ),
        };
        return Err(refuse(file, Code::NothingToTrain, what));
    }
    let numbers: Option<Vec<f64>> = (counts.keys())
        .map(|cell| cell.parse::<f64>().ok().filter(|x| x.is_finite()))
        .collect();
    let as_number = match (wanted, &numbers) {
        (Some(Wanted::Number), None) => {
            let wrong = counts.keys().find(|cell| cell.parse::<f64>().is_err());
            let what = format!(
                "column {name} should hold numbers, but holds {}",
                shown(wrong.unwrap_or(&"inf"))
            );
            return Err(refuse(file, Code::MalformedNumber, what));
        }
        (Some(Wanted::Number), Some(_)) => true,
        (Some(Wanted::Classes), _) | (None, None) => false,
        (None, Some(numbers)) => {
            let integers = numbers.iter().all(|x| x.fract() == 0.0);
            let few = counts.len() <= MOST_INTEGER_CLASSES && counts.len() * 3 <= known;
            !integers || !(counts.len() <= 2 || few)
        }
    };
    if counts.len() == 1 {
        let only = counts.keys().next().copied().unwrap_or_default();
        let what = format!(
            "column {name} is {} in every row: there is nothing to tell apart",
            shown(only)
        );
        return Err(refuse(file, Code::NothingToTrain, what));
    }
    match as_number {
        true => number(file, target),
        false => classes(file, target, &counts, numbers.is_some()),
    }
}

fn refuse(file: &CsvFile, code: Code, what: String) -> Diagnostic {
    Diagnostic::error(code, format!("{}: {what}", file.name()))
}

/// A number to predict.
fn number(file: &CsvFile, target: usize) -> Result<Task, Diagnostic> {
    let name = shown(&file.columns()[target]);
    let cells = (0..file.rows()).map(|row| file.cell(row, target));
    let values: Vec<f64> = cells
        .filter_map(|cell| cell.parse().ok())
        .filter(|x: &f64| x.is_finite())
        .collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let deviation = (squares / values.len() as f64).sqrt();
    let fits = |x: f64| x.abs() < 1e30;
    if !fits(mean) || !fits(deviation) || deviation < 1e-30 {
        let what = format!("the numbers of column {name} are too large or too small to be learnt");
        return Err(refuse(file, Code::NumberTooLarge, what).help("give them in other units"));
    }
    Ok(Task::Number { mean, deviation })
}

/// Classes to predict, from how often each is there.
fn classes(
    file: &CsvFile,
    target: usize,
    counts: &BTreeMap<&str, usize>,
    are_numbers: bool,
) -> Result<Task, Diagnostic> {
    let name = shown(&file.columns()[target]);
    let known: usize = counts.values().sum();
    if counts.len() > MOST_CLASSES || (counts.len() == known && known > 2) {
        let what = format!(
            "column {name} has {} in {}: too many for classes",
            counted(counts.len(), "different value"),
            counted(known, "row")
        );
        let error = refuse(file, Code::TooManyClasses, what)
            .help("choose another column with `--target`; a column of names is `--names`");
        return Err(match odd_among_numbers(file, target) {
            Some((row, others)) => error.note(format!(
                "it holds {others}, except {}",
                odd(file, row, target)
            )),
            None => error,
        });
    }
    let control = |cell: &&&str| cell.chars().any(char::is_control);
    if let Some(odd) = counts.keys().find(control) {
        let what = format!(
            "column {name} has the class {}, which no theory can name",
            shown(odd)
        );
        return Err(refuse(file, Code::MalformedLabel, what)
            .help("classes are on one line, without control characters"));
    }
    let mut classes: Vec<(Option<f64>, String)> = (counts.keys())
        .map(|cell| (cell.parse().ok().filter(|_| are_numbers), cell.to_string()))
        .collect();
    // Numbers in their order, and `1` before `01`.
    classes.sort_by(|a, b| match (a.0, b.0) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.1.cmp(&b.1)),
        _ => a.1.cmp(&b.1),
    });
    Ok(Task::Classes(
        classes.into_iter().map(|(_, class)| class).collect(),
    ))
}

/// The use of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    /// A network reads it.
    Feature(ColumnKind),
    /// It carries no information, for this reason.
    LeftOut(String),
}

/// The use of a column other than that of the target and of names.
pub fn feature(file: &CsvFile, column: usize) -> Use {
    let cells = || (0..file.rows()).map(|row| file.cell(row, column));
    let mut different: Vec<&str> = cells().filter(|cell| !is_missing(cell)).collect();
    let known = different.len();
    different.sort_unstable();
    different.dedup();
    let left_out = |why: String| Use::LeftOut(why);
    if known == 0 {
        return left_out("it is missing in every row".to_string());
    }
    if different.len() == 1 && known == file.rows() {
        return left_out(format!("it is {} in every row", shown(different[0])));
    }
    let kind = ColumnKind::of(file, column);
    let with_comma =
        |cell: &&str| cell.contains(',') && cell.replace(',', "").parse::<f64>().is_ok();
    if let (ColumnKind::Category, Some(example)) = (kind, different.iter().find(|c| with_comma(c)))
        && (different.iter()).all(|cell| with_comma(cell) || cell.parse::<f64>().is_ok())
    {
        let example = shown(example);
        return left_out(format!(
            "its numbers have commas ({example}), which may be decimal or stand between thousands; write them as `1234.5`"
        ));
    }
    match kind {
        ColumnKind::Number if is_index(file, column) => {
            left_out("it counts the rows; `--names` makes it their names".to_string())
        }
        ColumnKind::Category if different.len() > MANY_TEXTS && different.len() * 2 > known => {
            let (texts, rows) = (
                counted(different.len(), "different text"),
                counted(known, "row"),
            );
            left_out(match odd_among_numbers(file, column) {
                Some((row, others)) => {
                    format!("it holds {others}, except {}", odd(file, row, column))
                }
                None => format!(
                    "it has {texts} in {rows}; `--names` makes a column the names of the rows"
                ),
            })
        }
        ColumnKind::Number | ColumnKind::Category | ColumnKind::Date => Use::Feature(kind),
    }
}

/// A cell that is not like the others of its column, and its row.
fn odd(file: &CsvFile, row: usize, column: usize) -> String {
    format!("{} in row {row}", shown(file.cell(row, column)))
}

/// Whether the cells of a column could name the rows: all are known and different, and they are texts or a count.
pub fn could_be_names(file: &CsvFile, column: usize) -> bool {
    let known = (0..file.rows()).all(|row| !is_missing(file.cell(row, column)));
    let texts = ColumnKind::of(file, column) == ColumnKind::Category || is_index(file, column);
    known && texts && file.rows() > 0 && file.names(column).is_ok()
}

/// Whether a column counts the rows, from 0 or from 1, as the index of a data frame does.
fn is_index(file: &CsvFile, column: usize) -> bool {
    let counts = |start: i64| {
        (0..file.rows()).all(|row| file.cell(row, column).parse() == Ok(start + row as i64))
    };
    // With fewer rows it may as well be something else.
    file.rows() >= 5 && (counts(0) || counts(1))
}

/// The column `split`, if it says which rows are for training and which for testing.
///
/// # Errors
/// If it seems to say so, and some cell is nothing of the kind: as a feature it would tell the network what to forget.
pub fn split(file: &CsvFile) -> Result<Option<usize>, Diagnostic> {
    let Some(column) = file.columns().iter().position(|name| name == "split") else {
        return Ok(None);
    };
    let cells = || (0..file.rows()).map(|row| file.cell(row, column));
    let like = |cell: &str| {
        let cell = cell.to_lowercase();
        cell.starts_with("train") || cell.starts_with("test")
    };
    if !cells().any(like) {
        return Ok(None);
    }
    let known = |cell: &str| is_missing(cell) || ["train", "test", "valid"].contains(&cell);
    let refuse = |what: String| {
        Diagnostic::error(Code::UnknownPart, what).help(
            "write `train`, `test` or `valid`, or nothing for rows of no part; \
             a column that is something else needs another name",
        )
    };
    if let Some(row) = cells().position(|cell| !known(cell)) {
        let (place, odd) = (file.place(row, column), shown(file.cell(row, column)));
        return Err(refuse(format!("{place}: {odd} is not a part of a split")));
    }
    for part in ["train", "test"] {
        if !cells().any(|cell| cell == part) {
            let what = format!("{}: column `split` has no row with `{part}`", file.name());
            return Err(refuse(what));
        }
    }
    Ok(Some(column))
}
