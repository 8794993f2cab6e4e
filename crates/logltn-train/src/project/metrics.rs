//! The metrics of a manifest, with the rows that they look at.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logltn::theory::{ArgumentSort, ColumnSort, PredicateId, SortId};
use logltn::{Code, ColumnData, Diagnostic, Diagnostics, did_you_mean};
use logltn_data::CsvFile;
use logltn_data::problems::{Problems, shown};
use logltn_learn::metrics::{Against, Subject};
use logltn_learn::{Known, Measures, Metric, Model, Place, Spanned};

use super::Project;
use super::cells::Cells;
use super::feature_file_rows::{OwnRows, as_column};
use super::tables::{Wanted, quoted, read_rows};
use crate::manifest::{self, MetricTruth};

/// The column that says whether a row is true, and the one that says what a function's value is.
const TRUTH: &str = "truth";
const VALUE: &str = "value";

/// The labels of each sort that has some; `None` where they could not be read, which has been reported.
type Labels = BTreeMap<String, Option<Vec<String>>>;

/// The rows of a metric, by the names in their file's header.
#[derive(Default)]
struct Rows {
    arguments: Vec<ColumnData>,
    truth: Option<Vec<bool>>,
    values: Option<Vec<f64>>,
}

impl Project {
    /// All metrics of the manifest, with whatever can be known of them before anything is measured.
    ///
    /// # Errors
    /// With all that is wrong with their files, or with labels for evaluation; and whatever does not fit, or has no value.
    pub fn metrics(&self) -> Result<Vec<Metric>, Diagnostics> {
        let mut out = Diagnostics::new();
        let labels = self.all_labels(&mut out);
        let mut metrics = Vec::new();
        for metric in self.manifest.evaluate.iter().flat_map(|e| &e.metrics) {
            match self.known(metric, &labels) {
                Ok(Some(known)) => metrics.push(Metric {
                    kind: metric.kind,
                    of: metric.of.value.clone(),
                    known,
                    name: Some(metric.label()),
                    place: Place::new(&self.manifest.source, metric.span),
                }),
                Ok(None) => {}
                Err(errors) => out.extend(errors),
            }
        }
        if let Err(errors) = Measures::new(&self.sketch(), &metrics) {
            out.extend(errors);
        }
        out.into_result(metrics).map(|(metrics, _)| metrics)
    }

    /// The metrics of what does not learn: predicates given by numbers, functions given by data, and closed forms in which
    /// nothing is learnt.
    ///
    /// # Errors
    /// With what is wrong with the metrics, or if one is of something that learns.
    pub fn measure(&self) -> Result<Vec<(String, f64)>, Diagnostics> {
        let metrics = self.metrics()?;
        if metrics.is_empty() {
            return Ok(Vec::new());
        }
        let mut out = Diagnostics::new();
        let sketch = self.sketch();
        for metric in &metrics {
            let learns = match metric.kind.subject() {
                Subject::Predicate => {
                    let predicate = self.theory().predicate(&metric.of);
                    predicate.is_none_or(|id| sketch.learns(id))
                }
                Subject::Function => {
                    let function = self.theory().function(&metric.of);
                    function.is_none_or(|id| self.data.function(id).is_none())
                }
                // The axioms over the table have been evaluated already.
                Subject::Table => false,
            };
            if learns {
                let what = format!("`{}` is known only after training", metric.label());
                let error = Diagnostic::error(Code::NotTrained, what);
                out.push(
                    metric
                        .place
                        .mark(error)
                        .help("give the folder of a run: `--run DIR`; `logltn train` makes one"),
                );
            }
        }
        out.into_result(())?;
        let knowledge = self.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        Measures::new(&knowledge, &metrics)?.measure(&knowledge, &mut model)
    }

    /// The labels of all sorts: what is wrong with them is better known before hours of training.
    fn all_labels(&self, out: &mut Diagnostics) -> Labels {
        let mut all = Labels::default();
        for (name, sort) in &self.manifest.sorts {
            let (Some(id), Some(labels)) = (self.theory().sort(name), &sort.labels) else {
                continue;
            };
            let read = self.labels_of(id);
            let read = placed(read, self, labels.span, "read from here");
            all.insert(
                name.clone(),
                read.unwrap_or_else(|errors| {
                    out.extend(errors);
                    None
                }),
            );
        }
        all
    }

    fn known(
        &self,
        metric: &manifest::MetricSpec,
        labels: &Labels,
    ) -> Result<Option<Known>, Diagnostics> {
        let theory = self.theory();
        let file = match &metric.truth {
            MetricTruth::Labels(sort) => {
                // Labels that could not be read have been reported.
                let Some(Some(labels)) = labels.get(&sort.value) else {
                    return Ok(None);
                };
                return Ok(Some(Known::Labels {
                    sort: sort.value.clone(),
                    labels: labels.clone(),
                }));
            }
            MetricTruth::OwnRows => return Ok(Some(Known::OwnRows)),
            MetricTruth::Rows(file) => file,
        };
        let name = &metric.of.value;
        let arguments = match metric.kind.subject() {
            Subject::Table => {
                // A missing one has been reported.
                let Some(table) = theory.table(name) else {
                    return Ok(None);
                };
                let cells = self.all_cells();
                let path = self.manifest.resolve(&file.value);
                let rows = read_rows(&path, theory, &theory[table], &|sort: SortId| &cells[sort]);
                let rows = placed(rows, self, file.span, "read from here")?;
                return Ok(Some(Known::Rows(rows)));
            }
            Subject::Predicate => theory.predicate(name).map(|id| &theory[id].arguments),
            Subject::Function => theory.function(name).map(|id| &theory[id].arguments),
        };
        let Some(arguments) = arguments else {
            return Ok(None);
        };
        let names = self.argument_names(name);
        // Whether it fits its predicate at all is checked with the metric, and comes first.
        let has_classes = |id: PredicateId| self.outputs[id].per_class;
        if metric.kind.against() == Against::Classes
            && !theory.predicate(name).is_some_and(has_classes)
        {
            return Ok(Some(Known::Rows(Vec::new())));
        }
        let rows = match metric.columns.is_some() || metric.part.is_some() {
            true => self.own_metric_rows(metric, file, arguments),
            false => self.metric_rows(metric, file, arguments, &names),
        };
        let rows = placed(rows, self, file.span, "read from here")?;
        Ok(Some(match (rows.truth, rows.values, &metric.ranking) {
            (Some(truth), ..) => Known::Truths(rows.arguments, truth),
            (None, Some(values), _) => Known::Values(rows.arguments, values),
            (None, None, Some(ranking)) => Known::Facts {
                rows: rows.arguments,
                of: self.ranked_argument(&ranking.of, &names)?,
                filter: self.filter(metric, &ranking.filter, &names)?,
                k: ranking.k.map_or(0, |k| k.value),
            },
            (None, None, None) => Known::Rows(rows.arguments),
        }))
    }

    /// Rows of the individuals' own file: the only argument is the individual, and a column has the right values.
    fn own_metric_rows(
        &self,
        metric: &manifest::MetricSpec,
        file: &Spanned<PathBuf>,
        arguments: &[ArgumentSort],
    ) -> Result<Rows, Diagnostics> {
        let mut sorts: Vec<ColumnSort> = arguments.iter().map(as_column).collect();
        let has_classes = (self.theory().predicate(&metric.of.value))
            .is_some_and(|id| self.outputs[id].per_class);
        let answer = match metric.kind.against() {
            Against::Values => Some(VALUE),
            Against::Truths => Some(TRUTH),
            Against::TruthsOrClasses if !has_classes => Some(TRUTH),
            _ => None,
        };
        sorts.extend(answer.map(|_| ColumnSort::Real));
        let own = OwnRows {
            manifest: &self.manifest,
            theory: self.theory(),
            whose: format!("`{}`", metric.of.value),
            file,
            columns: metric.columns.as_ref(),
            part: metric.part.as_ref(),
        };
        let nothing = Rows::default();
        let Some((&first, others)) = sorts.split_first() else {
            return Ok(nothing);
        };
        let cells = self.all_cells();
        let mut columns = own.read(first, others, &|sort: SortId| &cells[sort])?;
        let answers = match (answer, columns.len()) {
            (Some(_), 2..) => columns.pop(),
            _ => None,
        };
        let (mut truth, mut values) = (None, None);
        match (answer, answers) {
            (Some(VALUE), Some(ColumnData::Real(found))) => values = Some(found),
            (Some(_), Some(ColumnData::Real(found))) => {
                if let Some(other) = found.iter().find(|x| **x != 0.0 && **x != 1.0) {
                    let what = format!(
                        "{}: expected 1 (true) or 0 (false) in the column that `{}` compares with, found {other}",
                        self.manifest.resolve(file).display(),
                        metric.label()
                    );
                    return Err(Diagnostic::error(Code::ValueOutOfRange, what).into());
                }
                truth = Some(found.iter().map(|x| *x == 1.0).collect());
            }
            _ => {}
        }
        Ok(Rows {
            arguments: columns,
            truth,
            values,
        })
    }

    fn all_cells(&self) -> Vec<Cells<'_>> {
        let sorts = self.theory().sorts.iter().enumerate();
        sorts
            .map(|(i, sort)| Cells::of(sort, Some(self.data.size(SortId(i as u32)))))
            .collect()
    }

    /// The columns of a file, by the names in its header: the arguments, and `truth` or `value`.
    fn metric_rows(
        &self,
        metric: &manifest::MetricSpec,
        file: &Spanned<PathBuf>,
        arguments: &[ArgumentSort],
        names: &[String],
    ) -> Result<Rows, Diagnostics> {
        let mut problems = Problems::new();
        let nothing = Rows::default();
        let path = self.manifest.resolve(&file.value);
        let Some(file) = CsvFile::read_as_far_as_possible(&path, &mut problems) else {
            return problems.finish(nothing);
        };
        // Reported where the metric is checked.
        let vector = |argument: &ArgumentSort| matches!(argument, ArgumentSort::Vector(2..));
        if arguments.iter().any(vector) {
            return Ok(nothing);
        }
        let has = |column: &str| file.columns().iter().any(|c| c == column);
        let free = |column: &str| !names.iter().any(|name| name == column);
        let answer = match metric.kind.against() {
            Against::Truths => Some(TRUTH),
            Against::TruthsOrClasses => (has(TRUTH) && free(TRUTH)).then_some(TRUTH),
            Against::Values => Some(VALUE),
            Against::Classes | Against::Ranks | Against::Axioms => None,
        };
        if let Some(taken) = answer.filter(|answer| !free(answer)) {
            problems.push(|| {
                Diagnostic::error(
                    Code::DuplicateName,
                    format!(
                        "`{}` has an argument `{taken}`, as the column is called that `{}` compares with",
                        metric.of.value,
                        metric.kind.name()
                    ),
                )
                .help("give the argument another name in `args`")
            });
            return problems.finish(nothing);
        }
        let unnamed = (self.given_names(&metric.of.value).is_none()).then_some(arguments.len());
        let wanted = wanted_columns(metric, &file, names, answer, unnamed);
        let positions = match wanted.find(&file) {
            Ok(positions) => positions,
            Err(error) => {
                problems.push(|| error);
                return problems.finish(nothing);
            }
        };
        let answers = positions.get(arguments.len()).copied();
        let of = (metric.kind.subject(), &metric.of.value[..], arguments);
        let arguments = self.read_arguments(&file, of, &positions, &mut problems);
        let (mut truth, mut values) = (None, None);
        match (answer, answers) {
            (Some(TRUTH), Some(column)) => truth = Some(truths(&file, column, &mut problems)),
            (Some(_), Some(column)) => values = Some(file.reals_into(column, &mut problems)),
            _ => {}
        }
        problems.finish(Rows {
            arguments,
            truth,
            values,
        })
    }

    /// The argument that `of` names.
    fn ranked_argument(
        &self,
        of: &Spanned<String>,
        names: &[String],
    ) -> Result<usize, Diagnostics> {
        let place = names.iter().position(|name| *name == of.value);
        place.ok_or_else(|| {
            let known = quoted(names.iter().map(String::as_str));
            let what = format!("there is no argument `{}`: they are {known}", of.value);
            let guess = did_you_mean(&of.value, names.iter().map(String::as_str));
            Diagnostic::error(Code::UnknownColumn, what)
                .at(&self.manifest.source, of.span, "no such argument")
                .maybe_help(guess)
                .into()
        })
    }

    /// Where the arguments are in the tables of `filter`: in the columns of their names; if none of a table's columns has
    /// an argument's name, in their order.
    fn filter(
        &self,
        metric: &manifest::MetricSpec,
        tables: &[Spanned<String>],
        names: &[String],
    ) -> Result<Vec<(String, Vec<usize>)>, Diagnostics> {
        let theory = self.theory();
        let mut filter = Vec::new();
        for table in tables {
            // A missing one has been reported.
            let Some(id) = theory.table(&table.value) else {
                continue;
            };
            let columns = &theory[id].columns;
            let place = |name: &String| columns.iter().position(|c| c.name == *name);
            let places: Vec<Option<usize>> = names.iter().map(place).collect();
            let places = if places.iter().all(Option::is_none) {
                (0..names.len()).collect()
            } else {
                let missing = names.iter().zip(&places).find(|(_, place)| place.is_none());
                if let Some((name, _)) = missing {
                    let what = format!(
                        "table `{}` has no column `{name}`, an argument of `{}`",
                        table.value, metric.of.value
                    );
                    let declared = quoted(columns.iter().map(|c| c.name.as_str()));
                    return Err(Diagnostic::error(Code::MissingColumn, what)
                        .at(&self.manifest.source, table.span, "")
                        .note(format!("its columns are {declared}"))
                        .help("name all columns after the arguments (`args`), or none of them to match by order")
                        .into());
                }
                places.into_iter().flatten().collect()
            };
            filter.push((table.value.clone(), places));
        }
        Ok(filter)
    }
}

/// A column of zeros and ones.
fn truths(file: &CsvFile, column: usize, problems: &mut Problems) -> Vec<bool> {
    let mut truths = Vec::with_capacity(file.rows());
    for row in file.whole_rows() {
        let cell = file.cell(row, column);
        match cell.parse::<f64>() {
            Ok(0.0) => truths.push(false),
            Ok(1.0) => truths.push(true),
            _ => problems.push(|| {
                let place = file.place(row, column);
                let what = format!(
                    "{place}: expected 1 (true) or 0 (false), found {}",
                    shown(cell)
                );
                Diagnostic::error(Code::ValueOutOfRange, what)
            }),
        }
    }
    truths
}

/// How to fix columns that are not arguments if there is no `args`: by naming the arguments after them.
fn args_help(file: &CsvFile, of: &str, subject: &str, arity: usize) -> Option<String> {
    let names: Vec<&str> = (file.columns().iter().map(String::as_str))
        .filter(|c| ![TRUTH, VALUE, ""].contains(c))
        .collect();
    let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // One that is right already says that the others are to be renamed.
    let default = |name: &&str| (1..=arity).any(|i| *name == format!("a{i}"));
    if names.len() != arity || !names.iter().all(is_name) || names.iter().any(default) {
        return None;
    }
    Some(format!(
        "name the arguments: `args = {names:?}` under `[{subject}s.{of}]`, in the order of the theory"
    ))
}

/// The columns that a file of a metric is to have; `unnamed` is how many arguments there are without names.
fn wanted_columns<'n>(
    metric: &manifest::MetricSpec,
    file: &CsvFile,
    names: &'n [String],
    answer: Option<&'n str>,
    unnamed: Option<usize>,
) -> Wanted<'n> {
    let subject = metric.kind.subject().key();
    let others = match metric.kind.against() {
        Against::Truths => ", and `truth`: 1 for what is true, 0 for what is not",
        Against::TruthsOrClasses => {
            "; and either `truth` (1 for what is true, 0 for what is not), or the last of them is the right class"
        }
        Against::Values => ", and `value`",
        Against::Classes => "; the last of them is the right class",
        Against::Ranks | Against::Axioms => "",
    };
    let listed = quoted(names.iter().map(String::as_str));
    Wanted {
        columns: names.iter().map(String::as_str).chain(answer).collect(),
        missing: format!("missing for `{}`", metric.label()),
        extra: format!("no argument of `{}`", metric.of.value),
        mend_extra: extra_help(file, names, metric.kind.against()),
        mend_missing: unnamed.and_then(|arity| args_help(file, &metric.of.value, subject, arity)),
        note: format!(
            "its columns are the arguments of `{}`, {listed}{others}",
            metric.of.value
        ),
    }
}

fn extra_help(file: &CsvFile, names: &[String], against: Against) -> String {
    let takes_truth = matches!(against, Against::Truths | Against::TruthsOrClasses);
    let extra = (file.columns().iter()).find(|c| !names.contains(c));
    match extra {
        Some(extra) if takes_truth && extra.eq_ignore_ascii_case(TRUTH) => {
            "did you mean `truth`?".to_string()
        }
        Some(extra) => did_you_mean(extra, [TRUTH].into_iter().filter(|_| takes_truth))
            .unwrap_or_else(|| "remove it from the file".to_string()),
        None => "remove it from the file".to_string(),
    }
}

/// Errors without a place are shown where the manifest names the file.
fn placed<T>(
    result: Result<T, Diagnostics>,
    project: &Project,
    span: logltn::Span,
    label: &str,
) -> Result<T, Diagnostics> {
    result.map_err(|errors| errors.placed(&project.manifest.source, span, label))
}
