//! Predicates given by numbers: `logits`, `truth` or `log_truth`, one for every possible atom.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use logltn::theory::{ArgumentSort, Predicate, SortId};
use logltn::{Code, Data, Diagnostic, Diagnostics, Output, OutputKind, Theory};
use logltn_data::problems::{Problems, counted, shown};
use logltn_data::{CsvFile, is_table, read_bytes, read_fields};

use super::report::Report;
use crate::manifest::Grounding;

/// The numbers of a predicate as its file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberTable {
    /// The names of the columns; those of a file without a header are made up.
    pub header: Vec<String>,
    /// The numbers, shared with their evaluators.
    pub numbers: Arc<logltn_learn::Numbers>,
}

impl Deref for NumberTable {
    type Target = logltn_learn::Numbers;
    fn deref(&self) -> &logltn_learn::Numbers {
        &self.numbers
    }
}

/// The contents of a file, before it is known whether they fit the predicate.
pub(super) struct Numbers {
    pub name: String,
    header: Option<Vec<String>>,
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
    pub csv: Option<CsvFile>,
}

impl Numbers {
    pub fn read(path: &Path) -> Result<Numbers, Diagnostics> {
        let name = path.display().to_string();
        if is_table(path) {
            let (csv, array) = CsvFile::parse_matrix(&read_bytes(path)?, &name)?;
            let values = array.to_f64();
            return Ok(Numbers {
                name,
                header: Some(csv.columns().to_vec()),
                rows: csv.rows(),
                columns: csv.columns().len(),
                values,
                csv: Some(csv),
            });
        }
        let fields = read_fields(path)?;
        let [field] = fields.as_slice() else {
            let names: Vec<_> = (fields.iter())
                .map(|f| format!("`{}`", f.name.as_deref().unwrap_or_default()))
                .collect();
            return Err(Diagnostic::error(
                Code::AmbiguousColumn,
                format!(
                    "{name}: one array is expected, but the file holds {}: {}",
                    fields.len(),
                    names.join(", ")
                ),
            )
            .help("write a file with that array alone")
            .into());
        };
        // As many rows as all dimensions but the last have together.
        let shape = &field.array.shape;
        let columns = if shape.len() < 2 {
            1
        } else {
            shape.last().copied().unwrap_or(1)
        };
        let values = field.array.to_f64();
        Ok(Numbers {
            name,
            header: None,
            rows: values.len() / columns.max(1),
            columns,
            values,
            csv: None,
        })
    }

    fn place(&self, name: &str, index: usize) -> String {
        let (row, column) = (index / self.columns, index % self.columns);
        match &self.csv {
            Some(csv) => csv.place(row, column),
            None => format!("{name}, row {row}, column {column}"),
        }
    }

    fn check_range(&self, name: &str, kind: OutputKind) -> Result<(), Diagnostics> {
        let mut problems = Problems::new();
        for (index, &value) in self.values.iter().enumerate() {
            let (fits, what, help) = match kind {
                OutputKind::Softmax | OutputKind::Sigmoid => (
                    value.abs() <= f64::from(f32::MAX),
                    "a logit of at most 3.4e38 in size, the largest number that training computes with",
                    "logits beyond 100 or so mean certainty already",
                ),
                OutputKind::Truth => (
                    (0.0..=1.0).contains(&value),
                    "a degree of truth from 0 to 1",
                    "give logits as `logits`, logs of truth degrees as `log_truth`",
                ),
                OutputKind::LogTruth if value < f64::from(f32::MIN) => (
                    false,
                    "a log of at least -3.4e38, the least number that training computes with",
                    "logs below -16 or so mean falsehood already",
                ),
                OutputKind::LogTruth => (
                    value <= 0.0,
                    "the log of a degree of truth, at most 0",
                    "give truth degrees as `truth`, logits as `logits`",
                ),
            };
            if !fits {
                problems.push(|| {
                    let place = self.place(name, index);
                    Diagnostic::error(
                        Code::ValueOutOfRange,
                        format!("{place}: expected {what}, found {value}"),
                    )
                    .help(help)
                });
            }
        }
        problems.finish(())
    }
}

/// Reads the numbers of a predicate, if it has any, and their meaning. `None` after an error that has been reported.
pub(super) fn read(
    report: &mut Report<'_>,
    theory: &Theory,
    predicate: &Predicate,
    grounding: &Grounding,
    data: &Data,
    known: &impl Fn(SortId) -> bool,
) -> Option<(Output, NumberTable)> {
    let (file, output, output_place) = grounding.numbers()?;
    let path = report.manifest.resolve(file);
    let name = path.display().to_string();
    let Some(sorts) = sorts_of(&predicate.arguments) else {
        let what = format!(
            "predicate `{}` cannot be given by numbers: it has an argument that is a vector, not one of finitely many \
             individuals",
            predicate.name
        );
        let error = Diagnostic::error(Code::VectorArgument, what);
        report.push(file.span, "", error.help("give it a `network`"));
        return None;
    };
    let numbers = report.read(file.span, Numbers::read(&path))?;
    let checked = numbers.check_range(&name, output.kind);
    report.read(file.span, checked)?;
    if !sorts.iter().all(|&sort| known(sort)) {
        return None;
    }
    if output.kind == OutputKind::Softmax
        && !super::outputs::softmax_fits(
            report,
            theory,
            predicate,
            data,
            output_place.unwrap_or(file.span),
        )
    {
        return None;
    }
    let sizes: Vec<usize> = sorts.iter().map(|&sort| data.size(sort)).collect();
    let shape = Shape {
        theory,
        predicate,
        sorts: &sorts,
        sizes: &sizes,
        softmax: output.kind == OutputKind::Softmax,
    };
    let fitted = match &numbers.csv {
        // None are needed where a sort has no individuals.
        Some(csv) if numbers.rows == 0 && !sizes.contains(&0) => Err(csv.no_rows().into()),
        _ => shape.check(&name, &numbers),
    };
    let per_class = report.read(file.span, fitted)?;
    let row_sizes = if per_class {
        sizes.iter().copied().take(sizes.len() - 1).collect()
    } else {
        sizes
    };
    if let (Some(&last), true, Some(header)) = (sorts.last(), per_class, &numbers.header) {
        warn_of_order(report, theory, last, header, &name, file.span);
    }
    let header = numbers.header.unwrap_or_else(|| match sorts.last() {
        Some(&last) if per_class => (0..numbers.columns)
            .map(|i| theory[last].individual_name(i))
            .collect(),
        _ => vec![predicate.name.clone()],
    });
    let output = if per_class {
        output.per_class()
    } else {
        output
    };
    let numbers = Arc::new(logltn_learn::Numbers {
        columns: numbers.columns,
        values: numbers.values,
        sizes: row_sizes,
    });
    let table = NumberTable { header, numbers };
    Some((output, table))
}

/// The columns are positional. A header with the names of the classes in another order shows that this was not
/// intended.
fn warn_of_order(
    report: &mut Report<'_>,
    theory: &Theory,
    sort: SortId,
    header: &[String],
    name: &str,
    span: logltn::Span,
) {
    let expected: Vec<String> = (0..header.len())
        .map(|i| theory[sort].individual_name(i))
        .collect();
    let Some(first) = header.iter().zip(&expected).position(|(h, e)| h != e) else {
        return;
    };
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    if sorted(header) != sorted(&expected) {
        return;
    }
    let (found, meant) = (shown(&header[first]), shown(&expected[first]));
    report.push(
        span,
        "read from here",
        Diagnostic::warning(
            Code::SuspiciousColumn,
            format!(
                "{name}: column {} is named {found}, but it is read as {meant}",
                first + 1
            ),
        )
        .note(format!(
            "the columns are read in the order of the individuals of `{}`; the header does not change it",
            theory[sort].name
        ))
        .help("put the columns into that order"),
    );
}

/// The layout that a file must have for a predicate.
struct Shape<'a> {
    theory: &'a Theory,
    predicate: &'a Predicate,
    sorts: &'a [SortId],
    sizes: &'a [usize],
    softmax: bool,
}

impl Shape<'_> {
    /// Whether the file fits, and if so whether its columns are the individuals of the last sort.
    fn check(&self, name: &str, numbers: &Numbers) -> Result<bool, Diagnostics> {
        let (rows, columns) = (numbers.rows, numbers.columns);
        let classes = self.sizes.last().copied();
        let per_class = self.softmax || columns > 1;
        let (row_sorts, expected_columns) = match classes {
            Some(classes) if per_class => (self.sorts.len() - 1, classes),
            _ => (self.sorts.len(), 1),
        };
        let expected_rows = product(&self.sizes[..row_sorts]);
        if expected_rows == Some(rows) && columns == expected_columns {
            return Ok(per_class);
        }
        let found = format!(
            "found {} of {}",
            counted(rows, "row"),
            counted(columns, "column")
        );
        let mut error = Diagnostic::error(
            Code::WrongShape,
            format!(
                "{name}: expected {} of {} for predicate `{}`, {found}",
                counted_or_many(expected_rows, "row"),
                counted(expected_columns, "column"),
                self.predicate.name
            ),
        )
        .note(self.reason(row_sorts, per_class));
        // The other layout, if the file nearly has it.
        let all = product(self.sizes);
        if per_class && !self.softmax && all == Some(rows) {
            error = error.help("there is a row for every tuple of individuals: give it one column");
        } else if let (false, Some((&last, first))) = (per_class, self.sizes.split_last())
            && product(first) == Some(rows)
        {
            error = error.help(format!(
                "or, with one row for all individuals of the last argument, {}",
                counted(last, "column")
            ));
        }
        Err(error.into())
    }

    fn reason(&self, row_sorts: usize, per_class: bool) -> String {
        let sort = |i: usize| format!("{} of `{}`", self.sizes[i], self.theory[self.sorts[i]].name);
        let rows = tuples(self.theory, &self.sorts[..row_sorts], self.sizes);
        if per_class && row_sorts < self.sorts.len() {
            let why = if self.softmax {
                " (a softmax always has this form)"
            } else {
                ""
            };
            format!(
                "{rows}, one column for each class ({}){why}",
                sort(row_sorts)
            )
        } else {
            format!("{rows}, in one column")
        }
    }
}

/// The sorts of arguments that are all individuals.
pub(super) fn sorts_of(arguments: &[ArgumentSort]) -> Option<Vec<SortId>> {
    arguments.iter().map(|argument| argument.sort()).collect()
}

/// What each row stands for.
pub(super) fn tuples(theory: &Theory, sorts: &[SortId], sizes: &[usize]) -> String {
    let tuples: Vec<String> = (sorts.iter().zip(sizes))
        .map(|(&sort, size)| format!("{size} of `{}`", theory[sort].name))
        .collect();
    match tuples.as_slice() {
        [] => "one row".to_string(),
        [one] => format!("one row for each individual ({one})"),
        several => format!(
            "one row for each tuple of individuals ({}), the last changing fastest",
            several.join(" × ")
        ),
    }
}

pub(super) fn product(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1_usize, |p, &n| p.checked_mul(n))
}

pub(super) fn counted_or_many(count: Option<usize>, noun: &str) -> String {
    match count {
        Some(count) => counted(count, noun),
        None => format!("more {noun}s than any file can hold"),
    }
}
