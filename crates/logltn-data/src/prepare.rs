//! Raw columns: numbers, categories, dates and missing cells become numbers that networks can learn from.

use std::collections::BTreeMap;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::array::{Array, Values};
use crate::csv::CsvFile;
use crate::date::DateForm;
use crate::missing::{is_missing, is_missing_number};
use crate::problems::{Problems, counted, shown};

/// The most categories of a column that get an input of their own; rarer ones share one.
const MOST_CATEGORIES: usize = 100;
/// How many names a message lists.
const MOST_LISTED: usize = 5;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// One of several texts.
    Category,
    /// Days, perhaps with a time.
    Date,
}

impl ColumnKind {
    /// All kinds, as a manifest names them.
    pub const ALL: [(&'static str, ColumnKind); 3] = [
        ("number", ColumnKind::Number),
        ("category", ColumnKind::Category),
        ("date", ColumnKind::Date),
    ];

    /// The kind that the cells of a column look like; numbers if all are missing.
    ///
    /// ```
    /// use logltn_data::{ColumnKind, CsvFile};
    /// let file = CsvFile::parse(b"age,sex,born\n31,f,1990-05-01\n,m,NA\n", "people.csv")?;
    /// let kinds = [0, 1, 2].map(|column| ColumnKind::of(&file, column));
    /// assert_eq!(kinds, [ColumnKind::Number, ColumnKind::Category, ColumnKind::Date]);
    /// # Ok::<(), logltn_diagnostics::Diagnostics>(())
    /// ```
    pub fn of(file: &CsvFile, column: usize) -> ColumnKind {
        let cells = (0..file.rows())
            .map(|row| file.cell(row, column))
            .filter(|cell| !is_missing_number(cell));
        if cells.clone().all(|cell| cell.parse::<f64>().is_ok()) {
            return ColumnKind::Number;
        }
        match DateForm::of(cells) {
            Some(_) => ColumnKind::Date,
            None => ColumnKind::Category,
        }
    }
}

/// The first cell that is not a number, or not a date, in a column where nearly all others are: perhaps a word for
/// missing values, or a typo. `None` if all cells are of one kind, or if more than a fifth are odd.
///
/// ```
/// use logltn_data::{CsvFile, odd_among_numbers};
/// let file = CsvFile::parse(b"age,zip\n31,1a\n40,2\n22,3b\nunknown,4\n,5c\n51,6\n", "people.csv")?;
/// assert_eq!([0, 1].map(|column| odd_among_numbers(&file, column)), [Some((3, "numbers")), None]);
/// # Ok::<(), logltn_diagnostics::Diagnostics>(())
/// ```
pub fn odd_among_numbers(file: &CsvFile, column: usize) -> Option<(usize, &'static str)> {
    let known: Vec<usize> = (file.whole_rows())
        .filter(|row| !is_missing(file.cell(*row, column)))
        .collect();
    let nearly_all = |fits: &dyn Fn(&str) -> bool| {
        let mut odd = (known.iter().copied()).filter(|row| !fits(file.cell(*row, column)));
        let first = odd.next()?;
        ((odd.count() + 1) * 5 <= known.len()).then_some(first)
    };
    let is_date = |cell: &str| DateForm::of(std::iter::once(cell)).is_some();
    let numbers = nearly_all(&|cell| cell.parse::<f64>().is_ok()).map(|row| (row, "numbers"));
    numbers.or_else(|| nearly_all(&is_date).map(|row| (row, "dates")))
}

/// The warning that [one cell](odd_among_numbers) turns numbers into categories.
pub fn mixed_column(file: &CsvFile, column: usize) -> Option<Diagnostic> {
    let (row, others) = odd_among_numbers(file, column)?;
    let what = format!(
        "{}: {} among {others}: the column is read as categories",
        file.place(row, column),
        shown(file.cell(row, column))
    );
    Some(
        Diagnostic::warning(Code::MixedColumn, what).help(
            "if the value is missing, leave the cell empty; otherwise write it like the others",
        ),
    )
}

/// How the columns of a file become numbers, fitted on the training rows and stored with the model: numbers and dates are
/// centred and scaled to a standard deviation of 1, missing ones become the mean, with an indicator; categories are
/// one-hot.
///
/// ```
/// use logltn_data::{CsvFile, Preparation};
/// let file = CsvFile::parse(b"age,sex\n30,f\n50,m\n,f\n", "people.csv")?;
/// let (prepared, _) = Preparation::fit(&file, &[0, 1], &Default::default(), |_| true)?;
/// assert_eq!(prepared.names(), ["age", "age is missing", "sex = f", "sex = m"]);
/// let (array, _) = prepared.apply(&file, &[])?;
/// assert_eq!(array.to_f64()[..4], [-1.0, 0.0, 1.0, 0.0]);
/// assert_eq!(array.to_f64()[8..], [0.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), logltn_diagnostics::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Column {
    name: String,
    #[serde(flatten)]
    made: Made,
}

/// What a column becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Made {
    Number {
        #[serde(flatten)]
        scale: Scale,
    },
    Date {
        form: DateForm,
        #[serde(flatten)]
        scale: Scale,
    },
    Category {
        values: Vec<String>,
        /// Whether the rare categories share an input.
        other: bool,
        /// Whether missing values have an input.
        missing: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Scale {
    #[serde(with = "exact")]
    mean: f64,
    #[serde(with = "exact")]
    scale: f64,
    /// Whether there is an indicator of missing values.
    missing: bool,
}

/// Numbers as text that reads back to the same bits.
mod exact {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&number.to_string())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
        let text = String::deserialize(from)?;
        let number: f64 = text.parse().map_err(D::Error::custom)?;
        match number.is_finite() {
            true => Ok(number),
            false => Err(D::Error::custom("a number that is not finite")),
        }
    }
}

impl Preparation {
    /// Fits some columns of a file on the training rows. Columns that `kinds` does not name are what they [look
    /// like](ColumnKind::of). The preparation comes with warnings.
    ///
    /// # Errors
    /// If a cell does not fit the kind of its column.
    pub fn fit(
        file: &CsvFile,
        columns: &[usize],
        kinds: &BTreeMap<String, ColumnKind>,
        learnt: impl Fn(usize) -> bool,
    ) -> Result<(Preparation, Diagnostics), Diagnostics> {
        let rows: Vec<usize> = (0..file.rows()).filter(|row| learnt(*row)).collect();
        let mut problems = Problems::new();
        let mut warnings = Diagnostics::new();
        let mut made = Vec::new();
        for &column in columns {
            let name = file.columns()[column].clone();
            let kind = kinds.get(&name).copied().unwrap_or_else(|| {
                let kind = ColumnKind::of(file, column);
                if let (ColumnKind::Category, Some(mixed)) = (kind, mixed_column(file, column)) {
                    warnings.push(mixed);
                }
                kind
            });
            made.push(Column {
                made: match kind {
                    ColumnKind::Number => Made::Number {
                        scale: scale(file, column, &rows, &mut problems, &mut warnings, number),
                    },
                    ColumnKind::Date => {
                        let form = date_form(file, column, &mut problems, &mut warnings);
                        let days =
                            |cell: &str| form.days(cell).ok_or_else(|| wrong_date(form, cell));
                        Made::Date {
                            form,
                            scale: scale(file, column, &rows, &mut problems, &mut warnings, days),
                        }
                    }
                    ColumnKind::Category => categories(file, column, &rows, &mut warnings),
                },
                name,
            });
        }
        problems.finish(())?;
        Ok((Preparation { columns: made }, warnings))
    }

    /// The columns of the file that it uses.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// What each of the resulting numbers means.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().flat_map(Column::names).collect()
    }

    /// How many numbers each of its columns becomes.
    pub fn widths(&self) -> impl Iterator<Item = (&str, usize)> {
        (self.columns.iter()).map(|column| (column.name.as_str(), column.names().count()))
    }

    /// The numbers of another file with these columns, in any order, with warnings about unseen categories, about
    /// missing cells in columns that had none, and about columns that are neither used nor `ignored`.
    ///
    /// # Errors
    /// If a column is missing, or a cell does not fit the kind of its column.
    pub fn apply(
        &self,
        file: &CsvFile,
        ignored: &[&str],
    ) -> Result<(Array, Diagnostics), Diagnostics> {
        let places = self.places(file)?;
        let mut problems = Problems::new();
        let mut warnings = Diagnostics::new();
        let unknown: Vec<&str> = (file.columns().iter().map(String::as_str))
            .filter(|c| !ignored.contains(c) && !self.columns().any(|known| known == *c))
            .collect();
        if !unknown.is_empty() {
            warnings.push(Diagnostic::warning(
                Code::ColumnNotRead,
                format!(
                    "{}: {} not there when the columns were prepared, and {} ignored",
                    file.name(),
                    listed("column", &unknown, "was", "were"),
                    if unknown.len() == 1 { "is" } else { "are" }
                ),
            ));
        }
        let width = self.names().len();
        let mut values = vec![0.0; file.rows() * width];
        let mut first = 0;
        for (column, &place) in self.columns.iter().zip(&places) {
            let to = Target {
                values: &mut values,
                width,
                first,
            };
            column.apply(file, place, to, &mut problems, &mut warnings);
            first += column.names().count();
        }
        if file.rows() == 0 {
            problems.push(|| file.no_rows());
        }
        problems.finish(())?;
        let array = Array {
            shape: vec![file.rows(), width],
            values: Values::F64(values.into()),
        };
        Ok((array, warnings))
    }

    /// Where its columns are in a file.
    fn places(&self, file: &CsvFile) -> Result<Vec<usize>, Diagnostics> {
        let position = |name: &str| file.columns().iter().position(|c| c == name);
        let missing: Vec<&str> = self.columns().filter(|c| position(c).is_none()).collect();
        let Some(first) = missing.first() else {
            return Ok(self.columns().filter_map(position).collect());
        };
        let what = format!(
            "{}: {} missing, which the networks read",
            file.name(),
            listed("column", &missing, "is", "are")
        );
        let others = file.columns().iter().map(String::as_str);
        let others = others.filter(|c| !self.columns().any(|known| known == *c));
        Err(Diagnostic::error(Code::MissingColumn, what)
            .maybe_help(did_you_mean(first, others))
            .note("columns are matched by name, in any order")
            .into())
    }
}

/// Where the numbers of a column go: `first` in each row of `width`.
struct Target<'v> {
    values: &'v mut [f64],
    width: usize,
    first: usize,
}

impl Target<'_> {
    fn put(&mut self, row: usize, at: usize, value: f64) {
        self.values[row * self.width + self.first + at] = value;
    }
}

impl Column {
    fn names(&self) -> impl Iterator<Item = String> {
        let name = &self.name;
        let names = match &self.made {
            Made::Number { scale } | Made::Date { scale, .. } => {
                let indicator = scale.missing.then(|| format!("{name} is missing"));
                std::iter::once(name.clone()).chain(indicator).collect()
            }
            Made::Category {
                values,
                other,
                missing,
            } => {
                let mut names: Vec<String> = values
                    .iter()
                    .map(|value| format!("{name} = {value}"))
                    .collect();
                names.extend(other.then(|| format!("{name} is another")));
                names.extend(missing.then(|| format!("{name} is missing")));
                names
            }
        };
        names.into_iter()
    }

    fn apply(
        &self,
        file: &CsvFile,
        place: usize,
        to: Target<'_>,
        problems: &mut Problems,
        warnings: &mut Diagnostics,
    ) {
        match &self.made {
            Made::Number { scale } => scale.apply((file, place), to, problems, warnings, number),
            Made::Date { form, scale } => {
                let days = |cell: &str| form.days(cell).ok_or_else(|| wrong_date(*form, cell));
                scale.apply((file, place), to, problems, warnings, days);
            }
            Made::Category {
                values,
                other,
                missing,
            } => self.categories((file, place), to, (values, *other, *missing), warnings),
        }
    }

    fn categories(
        &self,
        (file, place): (&CsvFile, usize),
        mut to: Target<'_>,
        (values, other, missing): (&[String], bool, bool),
        warnings: &mut Diagnostics,
    ) {
        let index: FxHashMap<&str, usize> = (values.iter().enumerate())
            .map(|(i, value)| (value.as_str(), i))
            .collect();
        let (mut new, mut seen, mut rows, mut empty) = (Vec::new(), FxHashSet::default(), 0, 0);
        for row in file.whole_rows() {
            let cell = file.cell(row, place);
            match index.get(cell) {
                Some(&i) => to.put(row, i, 1.0),
                None if is_missing(cell) && missing => {
                    to.put(row, values.len() + usize::from(other), 1.0)
                }
                None if is_missing(cell) => empty += 1,
                None if other => to.put(row, values.len(), 1.0),
                None => {
                    rows += 1;
                    if seen.insert(cell) && new.len() <= MOST_LISTED {
                        new.push(cell);
                    }
                }
            }
        }
        if rows > 0 {
            let (are, none) = match seen.len() {
                1 => ("is a new category", "it is unknown"),
                _ => ("are new categories", "they are unknown"),
            };
            warnings.push(Diagnostic::warning(
                Code::NewCategory,
                format!(
                    "{}, column {}: {} {are} in {}; for the networks {none}",
                    file.name(),
                    shown(&self.name),
                    quoted(&new, seen.len()),
                    counted(rows, "row"),
                ),
            ));
        }
        if empty > 0 {
            warnings.push(never_missing(
                file,
                &self.name,
                empty,
                "none of its categories",
            ));
        }
    }
}

fn never_missing(file: &CsvFile, column: &str, cells: usize, taken: &str) -> Diagnostic {
    let what = format!(
        "{}, column {}: {} missing, but none was missing when the columns were prepared: read as {taken}",
        file.name(),
        shown(column),
        if cells == 1 {
            "1 cell is".to_string()
        } else {
            format!("{cells} cells are")
        }
    );
    Diagnostic::warning(Code::NewCategory, what)
}

impl Scale {
    fn apply(
        &self,
        (file, place): (&CsvFile, usize),
        mut to: Target<'_>,
        problems: &mut Problems,
        warnings: &mut Diagnostics,
        read: impl Fn(&str) -> Result<f64, (Code, String)>,
    ) {
        let mut empty = 0;
        for row in file.whole_rows() {
            let cell = file.cell(row, place);
            if is_missing_number(cell) {
                match self.missing {
                    true => to.put(row, 1, 1.0),
                    false => empty += 1,
                }
                continue;
            }
            match read(cell) {
                Ok(value) => to.put(row, 0, value / self.scale - self.mean / self.scale),
                Err(wrong) => problems.push(|| wrong_cell(file, row, place, wrong)),
            }
        }
        if empty > 0 {
            let name = &file.columns()[place];
            warnings.push(never_missing(file, name, empty, "the mean"));
        }
    }
}

fn wrong_cell(
    file: &CsvFile,
    row: usize,
    column: usize,
    (code, what): (Code, String),
) -> Diagnostic {
    Diagnostic::error(code, format!("{}: {what}", file.place(row, column)))
}

fn number(cell: &str) -> Result<f64, (Code, String)> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err((
            Code::NotFinite,
            format!("expected a finite number, found {}", shown(cell)),
        )),
        Err(_) => Err((
            Code::MalformedNumber,
            format!("expected a number, found {}", shown(cell)),
        )),
    }
}

fn wrong_date(form: DateForm, cell: &str) -> (Code, String) {
    (
        Code::MalformedDate,
        format!("expected a date ({}), found {}", form.name(), shown(cell)),
    )
}

fn scale(
    file: &CsvFile,
    column: usize,
    rows: &[usize],
    problems: &mut Problems,
    warnings: &mut Diagnostics,
    read: impl Fn(&str) -> Result<f64, (Code, String)>,
) -> Scale {
    let mut values = Vec::with_capacity(rows.len());
    let mut missing = false;
    for &row in rows {
        let cell = file.cell(row, column);
        if is_missing_number(cell) {
            missing = true;
            continue;
        }
        match read(cell) {
            Ok(value) => values.push(value),
            Err(wrong) => problems.push(|| wrong_cell(file, row, column, wrong)),
        }
    }
    if values.is_empty() && problems.is_empty() {
        warnings.push(says_nothing(file, column));
    }
    let (mean, scale) = mean_and_deviation(&values);
    Scale {
        mean,
        scale,
        // If a column is always missing, an indicator carries no information.
        missing: missing && !values.is_empty(),
    }
}

fn says_nothing(file: &CsvFile, column: usize) -> Diagnostic {
    let name = &file.columns()[column];
    let what = format!(
        "{}: column {} has no value in any training row",
        file.name(),
        shown(name)
    );
    Diagnostic::warning(Code::EmptyColumn, what).help(format!(
        "leave it out of the features: `except = [{name:?}]`"
    ))
}

/// The mean, and the number to divide by: the deviation, or the largest size if the column is constant. Numbers may
/// have any size.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return (0.0, 1.0);
    }
    let count = values.len() as f64;
    // Squares of large numbers may overflow.
    let mean = values.iter().map(|x| x / largest).sum::<f64>() / count;
    let squares = values.iter().map(|x| (x / largest - mean).powi(2));
    let deviation = (squares.sum::<f64>() / count).sqrt();
    let scale = match deviation > 1e-12 {
        true => deviation * largest,
        false => largest,
    };
    (mean * largest, scale)
}

fn date_form(
    file: &CsvFile,
    column: usize,
    problems: &mut Problems,
    warnings: &mut Diagnostics,
) -> DateForm {
    let cells = (file.whole_rows())
        .map(|row| file.cell(row, column))
        .filter(|cell| !is_missing_number(cell));
    let cells: Vec<&str> = cells.collect();
    match DateForm::of(cells.iter().copied()) {
        Some((form, another)) => {
            if another && !cells.is_empty() {
                let what = format!(
                    "{}: the dates of column {} are ambiguous (month or day first), such as {}; they are read as {}",
                    file.name(),
                    shown(&file.columns()[column]),
                    shown(cells[0]),
                    form.name()
                );
                let help = "write them as year-month-day";
                warnings.push(Diagnostic::warning(Code::AmbiguousDate, what).help(help));
            }
            form
        }
        None => {
            // The most frequent form wins.
            let forms = [
                DateForm::YearMonthDay,
                DateForm::DayMonthYear,
                DateForm::MonthDayYear,
            ];
            let read = |form: &DateForm| cells.iter().filter(|c| form.days(c).is_some()).count();
            let form = forms
                .into_iter()
                .max_by_key(read)
                .unwrap_or(DateForm::YearMonthDay);
            for row in file.whole_rows() {
                let cell = file.cell(row, column);
                if !is_missing_number(cell) && form.days(cell).is_none() {
                    problems.push(|| wrong_cell(file, row, column, wrong_date(form, cell)));
                }
            }
            form
        }
    }
}

fn categories(file: &CsvFile, column: usize, rows: &[usize], warnings: &mut Diagnostics) -> Made {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    let mut missing = false;
    for &row in rows {
        match file.cell(row, column) {
            cell if is_missing(cell) => missing = true,
            cell => *counts.entry(cell).or_default() += 1,
        }
    }
    if counts.is_empty() {
        warnings.push(says_nothing(file, column));
    }
    let mut values: Vec<(&str, usize)> = counts.into_iter().collect();
    values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let other = values.len() > MOST_CATEGORIES;
    values.truncate(MOST_CATEGORIES);
    let mut values: Vec<String> = values
        .into_iter()
        .map(|(value, _)| value.to_string())
        .collect();
    values.sort_unstable();
    Made::Category {
        values,
        other,
        missing,
    }
}

/// ``column `a` is`` or ``columns `a`, `b` are``.
fn listed(noun: &str, names: &[&str], one: &str, many: &str) -> String {
    let list = quoted(names, names.len());
    match names.len() {
        1 => format!("{noun} {list} {one}"),
        _ => format!("{noun}s {list} {many}"),
    }
}

fn quoted(names: &[&str], all: usize) -> String {
    let mut list: Vec<String> = names.iter().take(MOST_LISTED).map(|n| shown(n)).collect();
    if all > MOST_LISTED {
        list.push(format!("… ({all} in all)"));
    }
    list.join(", ")
}
