//! Columns of features in guards: `where x.age > 40`, with the numbers of the file, not those that networks read.

use std::collections::BTreeSet;
use std::path::Path;

use logltn::theory::{ArgumentSort, Function, SortId};
use logltn::{Code, Data, Diagnostic, Diagnostics, FunctionData, Source, Theory};
use logltn_data::problems::{Problems, counted, shown};
use logltn_data::{CsvFile, is_missing, is_table, read_fields};
use logltn_learn::{distances, distances_of};

use super::Project;
use super::features::Features;
use super::report::Report;
use crate::manifest::Manifest;

/// Reads the columns that the guards of axioms use.
pub(super) fn read(report: &mut Report<'_>, theory: &Theory, data: &mut Data) {
    for function in &theory.functions {
        let (Some(field), [ArgumentSort::Sort(sort)]) = (function.field(), &function.arguments[..])
        else {
            continue;
        };
        let found = column(report.manifest, &theory[*sort].name, field);
        let set =
            found.and_then(|values| data.set_function(&function.name, FunctionData::Reals(values)));
        if let Err(errors) = set {
            (report.out).extend(errors.placed(&theory.source, function.span, "read here"));
        }
    }
}

/// The numbers of a column of the file that has the features of a sort.
fn column(manifest: &Manifest, sort: &str, field: &str) -> Result<Vec<f64>, Diagnostics> {
    let Some(from) = manifest.features(sort) else {
        let what = format!("sort `{sort}` has no features, so no column `{field}`");
        return Err(Diagnostic::error(Code::NoFeatures, what).into());
    };
    let path = manifest.resolve(&from.file);
    match is_table(&path) {
        true => column_of_csv(&path, field),
        false => field_of(&path, field),
    }
}

fn column_of_csv(path: &Path, field: &str) -> Result<Vec<f64>, Diagnostics> {
    let file = CsvFile::read(path)?;
    let place = file.column_index(field)?;
    let missing = (0..file.rows()).filter(|row| is_missing(file.cell(*row, place)));
    let rows: Vec<usize> = missing.collect();
    if let Some(first) = rows.first() {
        let what = format!(
            "{}: column {} is missing in {}, first in row {}, and a guard compares it",
            file.name(),
            shown(field),
            counted(rows.len(), "row"),
            first
        );
        return Err(Diagnostic::error(Code::EmptyValue, what)
            .help("fill in the cells, or move these rows to another file: a guard must be true or false for every row")
            .into());
    }
    let mut problems = Problems::new();
    let values = file.reals_into(place, &mut problems);
    problems.finish(values)
}

/// A field of an array file with one number for each individual.
fn field_of(path: &Path, field: &str) -> Result<Vec<f64>, Diagnostics> {
    let fields = read_fields(path)?;
    let found = fields.iter().find(|f| f.name.as_deref() == Some(field));
    match found {
        Some(found) if found.array.row_width() == 1 => Ok(found.array.to_f64()),
        Some(found) => {
            let what = format!(
                "{}: field `{field}` is {} numbers, where one is expected",
                path.display(),
                found.array.row_width()
            );
            Err(Diagnostic::error(Code::ExpectedNumber, what).into())
        }
        None => {
            let what = format!("{}: there is no field `{field}`", path.display());
            Err(Diagnostic::error(Code::UnknownColumn, what).into())
        }
    }
}

fn distances_of_axioms(theory: &Theory) -> BTreeSet<SortId> {
    distances(theory)
        .into_iter()
        .flat_map(|d| d.sorts)
        .collect()
}

impl Project {
    /// The data with the columns that a question uses, `x.age`, and the features that it measures, besides those of the
    /// axioms. What is missing is reported where the question is read.
    pub(crate) fn data_for_question(&self, formula: &str) -> Data {
        let mut data = self.data.clone();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        for (at, _) in formula.match_indices('.') {
            let after = &formula[at + 1..];
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            let field = &after[..end];
            let bound =
                formula[..at].ends_with(is_name) && !field.starts_with(|c: char| c.is_numeric());
            if field.is_empty() || !bound || after[end..].starts_with('(') {
                continue;
            }
            for sort in &self.theory().sorts {
                let known = |function: &Function| function.name == format!("{}.{field}", sort.name);
                if data.theory().functions.iter().any(known) {
                    continue;
                }
                if let Ok(values) = column(&self.manifest, &sort.name, field)
                    && let Ok(with) = data.with_field(&sort.name, field, values)
                {
                    data = with;
                }
            }
        }
        self.measure_for_question(formula, &mut data);
        data
    }

    fn measure_for_question(&self, formula: &str, data: &mut Data) {
        let Ok(query) = (data.theory()).parse_query(Source::new("query", formula)) else {
            return;
        };
        let distances = distances_of(data.theory(), &query.axiom);
        let known = distances_of_axioms(self.theory());
        let sorts: BTreeSet<SortId> = distances.into_iter().flat_map(|d| d.sorts).collect();
        for sort in sorts.difference(&known) {
            let name = self.theory()[*sort].name.clone();
            if let Some(file) = self.features.get(&name)
                && let Ok(fields) = file.chosen.read(&file.path)
            {
                let features = Features::of(&fields);
                // Numbers that are not finite have been reported, since networks read them too.
                let _ = data.set_features(&name, features.width, features.values);
            }
        }
    }
}
