//! Checks that the features, and the numbers that are arguments, have a size that networks can learn from.
//!
//! Training is in single precision. A number beyond 3.4e38 is infinite there, and with one of 1e25 the square of a
//! gradient, which Adam keeps, overflows: the weights would be lost some steps later, without a hint at the row.

use std::collections::BTreeMap;

use logltn::theory::{
    ArgumentSort, Binding, FormulaKind, FunctionId, SortKind, TableId, Term, TermKind, VarId,
};
use logltn::{Code, ColumnData, Data, Diagnostic, FunctionData, Theory};
use logltn_data::problems::Problems;
use logltn_data::{Array, CsvFile, Values};
use logltn_learn::metrics::Subject;

use super::description::columns;
use super::features::FeatureFile;
use super::report::Report;
use crate::manifest::{Grounding, Manifest, Predicate};

/// The largest feature for learning: squared gradients of a million rows are still far from the largest number in
/// single precision.
const LARGEST: f64 = 1e12;

/// The first number of an array that is too large to learn from: its row and column, and what it is.
pub(super) fn first_too_large(array: &Array) -> Option<((usize, usize), f64)> {
    let (at, value) = match &array.values {
        Values::U8(_) => None,
        Values::I64(v) => first_large(v.iter().map(|&x| x as f64)),
        Values::F32(v) => first_large(v.iter().map(|&x| x.into())),
        Values::F64(v) => first_large(v.iter().copied()),
    }?;
    let width = array.row_width().max(1);
    Some(((at / width, at % width), value))
}

/// Features of at least this size get a warning: a network begins with weights for numbers of about 1. LTN's crabs, of
/// 7 to 37, are not learnt without scaling; features of up to 8 do no harm.
const UNSCALED: f64 = 10.0;

/// This many rows are enough to look at.
const LOOKED_AT: usize = 10_000;

/// The column of an array with the largest numbers, if they are large, and the root of their mean square. Bytes are
/// scaled when they are read.
pub(super) fn unscaled(array: &Array) -> Option<(usize, f64)> {
    let width = array.row_width().max(1);
    let rows = array.rows().min(LOOKED_AT);
    let largest = |number: &dyn Fn(usize) -> f64| {
        let size = |column: usize| {
            let squares = (0..rows).map(|row| number(row * width + column).powi(2));
            (squares.sum::<f64>() / rows as f64).sqrt()
        };
        let sizes = (0..width).map(|column| (column, size(column)));
        sizes.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let found = match &array.values {
        Values::U8(_) => None,
        Values::I64(v) => largest(&|at| v[at] as f64),
        Values::F32(v) => largest(&|at| v[at].into()),
        Values::F64(v) => largest(&|at| v[at]),
    };
    found.filter(|(_, size)| rows > 0 && size.is_finite() && *size > UNSCALED)
}

/// Warns of features far from 1 that a network is to learn from.
pub(super) fn warn_of_unscaled(
    report: &mut Report<'_>,
    theory: &Theory,
    files: &BTreeMap<String, FeatureFile>,
) {
    let manifest = report.manifest;
    if manifest.train.is_none() {
        return;
    }
    let is_network = |name: &str| {
        let predicate = manifest.predicates.get(name);
        predicate.is_some_and(|p| matches!(p.grounding, Grounding::Network { .. }))
    };
    let read = sorts_read(theory, manifest, is_network);
    for (sort, file) in files
        .iter()
        .filter(|(sort, _)| read.contains(&sort.as_str()))
    {
        let fields = file.fields.iter();
        let Some((field, (column, size))) = fields
            .filter_map(|field| Some((&field.name, field.unscaled?)))
            .next()
        else {
            continue;
        };
        let warning = Diagnostic::warning(
            Code::UnscaledFeatures,
            format!(
                "{}{}, column {}: numbers of about {size:.0} are not of a size that networks learn well from",
                file.path.display(),
                of_field(field),
                column_name(file, column)
            ),
        )
        .help(
            "scale each column in the file, best to a mean of 0 and a standard deviation of 1; `dist` in guards is then \
             of the scaled numbers, too",
        );
        report.push(read_from(manifest, sort), "read from here", warning);
    }
}

/// The sorts whose individuals some predicates read, and those of all functions that read numbers.
fn sorts_read<'t>(
    theory: &'t Theory,
    manifest: &Manifest,
    predicate: impl Fn(&str) -> bool,
) -> Vec<&'t str> {
    let predicates = (theory.predicates.iter())
        .filter(|declared| predicate(&declared.name))
        .map(|declared| &declared.arguments);
    let functions = (theory.functions.iter())
        .filter(|declared| reads_numbers(manifest, Subject::Function, &declared.name))
        .map(|declared| &declared.arguments);
    (predicates.chain(functions).flatten())
        .filter_map(|argument| Some(theory[argument.sort()?].name.as_str()))
        .collect()
}

fn of_field(field: &Option<String>) -> String {
    match field {
        Some(name) => format!(", field `{name}`"),
        None => String::new(),
    }
}

/// By its name in the file, where it has one: columns may have been left out before it.
fn column_name(file: &FeatureFile, column: usize) -> String {
    let named = columns(&file.path, &file.chosen).ok().flatten();
    match named.as_ref().and_then(|names| names.get(column)) {
        Some(name) => format!("`{name}`"),
        None => (column + 1).to_string(),
    }
}

/// Where the manifest names the file of a sort's features.
fn read_from(manifest: &Manifest, sort: &str) -> logltn::Span {
    (manifest.features(sort)).map_or(logltn::Span::default(), |from| from.file.span)
}

/// Reports features that are too large, of sorts whose individuals networks or closed forms read.
pub(super) fn check(
    report: &mut Report<'_>,
    theory: &Theory,
    files: &BTreeMap<String, FeatureFile>,
) {
    let manifest = report.manifest;
    let read = sorts_read(theory, manifest, |name| {
        reads_numbers(manifest, Subject::Predicate, name)
    });
    for (sort, file) in files
        .iter()
        .filter(|(sort, _)| read.contains(&sort.as_str()))
    {
        let Some((field, ((row, column), value))) =
            (file.fields.iter()).find_map(|field| Some((&field.name, field.too_large?)))
        else {
            continue;
        };
        let (field, column) = (of_field(field), column_name(file, column));
        let place = format!("{}{field}, row {row}, column {column}", file.path.display());
        report.push(
            read_from(manifest, sort),
            "read from here",
            too_large(&place, value),
        );
    }
}

fn too_large(place: &str, value: f64) -> Diagnostic {
    Diagnostic::error(
        Code::ValueOutOfRange,
        format!("{place}: {value:e} is too large to learn from"),
    )
    .note(format!(
        "networks and closed forms compute in single precision, so what they read may be at most {LARGEST:e} in size"
    ))
    .help("scale the column in the file: best to numbers of about 1")
}

/// Whether a predicate has a network or a closed form, or a function a network.
pub(super) fn reads_numbers(manifest: &Manifest, subject: Subject, name: &str) -> bool {
    let predicate = |p: &Predicate| {
        matches!(
            p.grounding,
            Grounding::Network { .. } | Grounding::ClosedForm(_)
        )
    };
    let (predicates, functions) = (&manifest.predicates, &manifest.functions);
    match subject {
        Subject::Predicate => predicates.get(name).is_some_and(|p| predicate(p)),
        Subject::Function => functions.get(name).is_some_and(|f| f.network.is_some()),
        Subject::Table => false,
    }
}

/// Reports the numbers of a file's column that are too large to learn from.
pub(super) fn check_column(
    file: &CsvFile,
    column: usize,
    numbers: &[f64],
    problems: &mut Problems,
) {
    // Rows of another length are left out of the numbers, and have been reported.
    for (row, &value) in file.whole_rows().zip(numbers) {
        if value.abs() > LARGEST {
            problems.push(|| too_large(&file.place(row, column), value));
        }
    }
}

/// The numbers that axioms pass to networks and closed forms as arguments.
#[derive(Default)]
struct Given<'t> {
    /// Columns of tables, by their numbers.
    cells: Vec<(TableId, usize)>,
    functions: Vec<FunctionId>,
    literals: Vec<(&'t Term, f64)>,
}

impl<'t> Given<'t> {
    fn by(manifest: &Manifest, theory: &'t Theory) -> Given<'t> {
        let mut given = Given::default();
        for axiom in theory.formulas() {
            let (mut columns, mut terms) = (BTreeMap::new(), Vec::new());
            for formula in axiom.formula.parts() {
                match &formula.kind {
                    FormulaKind::Atom {
                        predicate,
                        arguments,
                    } => {
                        let name = &theory[*predicate].name;
                        let reads = reads_numbers(manifest, Subject::Predicate, name);
                        terms.extend(arguments.iter().map(|term| (term, reads)));
                    }
                    FormulaKind::Use { arguments, .. } => {
                        terms.extend(arguments.iter().map(|term| (term, false)));
                    }
                    FormulaKind::Quantified {
                        binding: Binding::Rows(table, variables),
                        ..
                    } => {
                        let places = variables.iter().enumerate();
                        columns.extend(places.map(|(at, v)| (*v, (*table, at))));
                    }
                    _ => {}
                }
            }
            given.take(manifest, theory, &columns, terms);
        }
        given
    }

    /// Terms, each with whether what it is an argument of reads it.
    fn take(
        &mut self,
        manifest: &Manifest,
        theory: &Theory,
        columns: &BTreeMap<VarId, (TableId, usize)>,
        mut terms: Vec<(&'t Term, bool)>,
    ) {
        while let Some((term, reads)) = terms.pop() {
            match &term.kind {
                TermKind::Variable(v) if reads => self.cells.extend(columns.get(v)),
                TermKind::Number(number) if reads => self.literals.push((term, number.0)),
                TermKind::Apply(function, arguments) => {
                    let name = &theory[*function].name;
                    let inside = reads_numbers(manifest, Subject::Function, name);
                    terms.extend(arguments.iter().map(|term| (term, inside)));
                    self.functions.extend(reads.then_some(*function));
                }
                TermKind::Variable(_)
                | TermKind::Number(_)
                | TermKind::Individual(..)
                | TermKind::Constant(_) => {}
            }
        }
    }
}

/// Reports numbers that are too large, of the columns of tables, functions given by data, integer sorts and literals
/// that networks or closed forms have as arguments. Numbers that only guards read are in double precision.
pub(super) fn check_arguments(report: &mut Report<'_>, theory: &Theory, data: &Data) {
    let manifest = report.manifest;
    let Given {
        mut cells,
        mut functions,
        literals,
    } = Given::by(manifest, theory);
    cells.sort_unstable();
    cells.dedup();
    for (table, column) in cells {
        let declared = &theory[table];
        let (Some(rows), Some(given)) = (data.table(table), manifest.tables.get(&declared.name))
        else {
            continue;
        };
        let found = match rows.columns.get(column) {
            Some(ColumnData::Real(cells)) => first_large(cells.iter().copied()),
            Some(ColumnData::Int(cells)) => first_large(cells.iter().map(|&n| n as f64)),
            Some(ColumnData::Individuals(_)) | None => None,
        };
        if let Some((row, value)) = found {
            let path = manifest.resolve(&given.rows);
            let name = &declared.columns[column].name;
            let place = format!("{}, row {row}, column `{name}`", path.display());
            report.push(given.rows.span, "read from here", too_large(&place, value));
        }
    }
    functions.sort_unstable();
    functions.dedup();
    for function in functions {
        let declared = &theory[function];
        let given = manifest.functions.get(&declared.name);
        let (Some(FunctionData::Reals(values)), Some(file)) = (
            data.function(function).map(AsRef::as_ref),
            given.and_then(|g| g.values.as_ref()),
        ) else {
            continue;
        };
        let width = match declared.result {
            ArgumentSort::Vector(width) => width.max(1),
            ArgumentSort::Sort(_) => 1,
        };
        if let Some((at, value)) = first_large(values.iter().copied()) {
            let path = manifest.resolve(file);
            let (row, column) = (at / width, at % width);
            let place = format!("{}, row {row}, column {column}", path.display());
            report.push(file.span, "read from here", too_large(&place, value));
        }
    }
    for (term, value) in literals.iter().filter(|(_, x)| x.abs() > LARGEST) {
        let error = too_large("a number", *value).at(&theory.source, term.span, "given here");
        report.out.push(error);
    }
    // An individual of an integer sort is its number, for a closed form.
    for predicate in &theory.predicates {
        let given = manifest.predicates.get(&predicate.name);
        if !given.is_some_and(|p| matches!(p.grounding, Grounding::ClosedForm(_))) {
            continue;
        }
        for argument in &predicate.arguments {
            if let ArgumentSort::Sort(sort) = argument
                && let SortKind::Range(first, last) = theory[*sort].kind
                && let Some((_, value)) = first_large([first as f64, last as f64].into_iter())
                && manifest
                    .sorts
                    .get(&theory[*sort].name)
                    .is_none_or(|s| s.learnable.is_none())
            {
                let what = format!(
                    "sort `{}`, an argument of `{}`",
                    theory[*sort].name, predicate.name
                );
                let error = too_large(&what, value);
                report
                    .out
                    .push(error.at(&theory.source, theory[*sort].span, "declared here"));
            }
        }
    }
}

fn first_large(numbers: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    numbers.enumerate().find(|(_, x)| x.abs() > LARGEST)
}
