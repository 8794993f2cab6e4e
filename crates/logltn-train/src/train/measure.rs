//! Metrics during training: how well predicates do on rows with known answers.

use logltn::theory::{ArgumentSort, ColumnSort, PredicateId, SortKind, TableId};
use logltn::{
    Code, ColumnData, Data, Diagnostic, Diagnostics, Engine, Output, OutputKind, Parameters, Plan,
    Semantics,
};
use logltn_data::CsvFile;

use crate::manifest::{Metric, MetricKind, MetricTruth};
use crate::metrics::{
    MetricError, accuracy, adjusted_rand_index, average_precision, balanced_accuracy, roc_auc,
};
use crate::model::Model;
use crate::project::Project;

/// One metric, with its rows read.
pub(super) struct Measure {
    pub label: String,
    kind: MetricKind,
    predicate: PredicateId,
    arity: usize,
    tuples: Vec<u32>,
    known: Known,
}

enum Known {
    /// The right class of each row.
    Classes(Vec<usize>),
    /// Whether each row is true.
    Truths(Vec<bool>),
    /// Whole rows of a table must come out right.
    Rows(Box<RowCheck>),
}

/// Axioms over a table, evaluated row by row with every predicate made crisp.
struct RowCheck {
    engine: Engine<f64>,
    table: TableId,
    rows: usize,
}

/// All metrics of a project's manifest.
pub(super) fn read(project: &Project) -> Result<Vec<Measure>, Diagnostics> {
    let mut out = Diagnostics::new();
    let mut measures = Vec::new();
    for metric in project.manifest.evaluate.iter().flat_map(|e| &e.metrics) {
        match Measure::read(project, metric) {
            Ok(measure) => measures.push(measure),
            Err(errors) => out.extend(errors),
        }
    }
    out.into_result(measures).map(|(measures, _)| measures)
}

impl Measure {
    fn read(project: &Project, metric: &Metric) -> Result<Measure, Diagnostics> {
        let source = &project.manifest.source;
        let wrong = |code, message: String| {
            Diagnostics::from(Diagnostic::error(code, message).at(source, metric.span, ""))
        };
        let theory = project.theory();
        let predicate = theory.predicate(&metric.predicate).ok_or_else(|| {
            wrong(
                Code::UnknownPredicate,
                format!("the theory has no predicate `{}`", metric.predicate.value),
            )
        })?;
        let output = project.outputs[predicate.index()];
        let arguments = &theory[predicate].arguments;
        let arity = arguments.len() - usize::from(output.per_class);
        let mut measure = Measure {
            label: metric.label(),
            kind: metric.kind,
            predicate,
            arity,
            tuples: Vec::new(),
            known: Known::Classes(Vec::new()),
        };
        if metric.kind == MetricKind::RowAccuracy {
            measure.known = Known::Rows(Box::new(RowCheck::read(project, metric)?));
            return Ok(measure);
        }
        let ranks = matches!(
            metric.kind,
            MetricKind::AveragePrecision | MetricKind::RocAuc
        );
        if !ranks && !output.per_class {
            return Err(wrong(
                Code::MetricDoesNotFit,
                format!(
                    "`{}` needs a predicate that picks one of several classes, which `{}` does not",
                    metric.kind.name(),
                    theory[predicate].name
                ),
            ));
        }
        match &metric.truth {
            MetricTruth::Labels(sort) => {
                let id = theory.sort(&sort.value).ok_or_else(|| {
                    wrong(
                        Code::UnknownSort,
                        format!("the theory has no sort `{}`", sort.value),
                    )
                })?;
                let labels = project.labels_of(id)?.ok_or_else(|| {
                    wrong(
                        Code::NoLabels,
                        format!("sort `{}` has no `labels` in the manifest", sort.value),
                    )
                })?;
                if arity != 1 || arguments[0] != ArgumentSort::Sort(id) || ranks {
                    return Err(wrong(
                        Code::MetricDoesNotFit,
                        format!(
                            "labels of sort `{}` can be compared with a predicate `P({0}, class)` only",
                            sort.value
                        ),
                    ));
                }
                measure.tuples = (0..labels.len() as u32).collect();
                measure.known =
                    Known::Classes(classes_of_labels(project, arguments.last(), &labels));
            }
            MetricTruth::Rows { file, .. } => {
                let file = CsvFile::read(&project.manifest.resolve(&file.value))?;
                measure.read_rows(project, &file, arguments)?;
            }
            MetricTruth::Table(table) => {
                let id = theory.table(&table.value).ok_or_else(|| {
                    wrong(
                        Code::UnknownTable,
                        format!("the theory has no table `{}`", table.value),
                    )
                })?;
                let rows = project
                    .data
                    .table(id)
                    .ok_or_else(|| wrong(Code::MissingData, "no rows".into()))?;
                measure.take_columns(&rows.columns, &table.value)?;
            }
        }
        Ok(measure)
    }

    /// Columns are the predicate's arguments in order; a ranking metric has the truth (1 or 0) after them.
    fn read_rows(
        &mut self,
        project: &Project,
        file: &CsvFile,
        arguments: &[ArgumentSort],
    ) -> Result<(), Diagnostics> {
        let ranks = matches!(self.kind, MetricKind::AveragePrecision | MetricKind::RocAuc);
        let count = arguments.len() + usize::from(ranks);
        if file.columns().len() != count {
            let what = if ranks {
                "its predicate's arguments and the truth, 1 or 0"
            } else {
                "its predicate's arguments, the last of which is the right class"
            };
            return Err(Diagnostic::error(
                Code::WrongShape,
                format!(
                    "{}: expected {count} columns, {what}, found {}",
                    file.name(),
                    file.columns().len()
                ),
            )
            .into());
        }
        let mut columns = Vec::new();
        for (i, argument) in arguments.iter().enumerate() {
            let ArgumentSort::Sort(sort) = argument else {
                return Err(Diagnostic::error(
                    Code::VectorArgument,
                    format!(
                        "{}: a predicate of vectors cannot be measured on rows",
                        file.name()
                    ),
                )
                .into());
            };
            columns.push(project.read_column(file, i, ColumnSort::Sort(*sort))?);
        }
        if ranks {
            columns.push(project.read_column(file, arguments.len(), ColumnSort::Int)?);
        }
        self.take_columns(&columns, file.name())
    }

    fn take_columns(&mut self, columns: &[ColumnData], name: &str) -> Result<(), Diagnostics> {
        let wrong = || {
            Diagnostics::from(Diagnostic::error(
                Code::WrongSort,
                format!(
                    "{name}: its columns are not the arguments of the predicate that `{}` measures",
                    self.label
                ),
            ))
        };
        let (arguments, answer) = columns.split_at(self.arity.min(columns.len()));
        let rows = columns.first().map_or(0, ColumnData::len);
        for row in 0..rows {
            for column in arguments {
                match column {
                    ColumnData::Individuals(cells) => self.tuples.push(cells[row]),
                    ColumnData::Int(_) | ColumnData::Real(_) => return Err(wrong()),
                }
            }
        }
        self.known = match answer.last() {
            Some(ColumnData::Individuals(classes)) => {
                Known::Classes(classes.iter().map(|&c| c as usize).collect())
            }
            Some(ColumnData::Int(truths)) => {
                Known::Truths(truths.iter().map(|&t| t != 0).collect())
            }
            Some(ColumnData::Real(_)) | None => return Err(wrong()),
        };
        Ok(())
    }

    /// The metric's value for a model as it is.
    pub fn measure(&mut self, project: &Project, model: &mut Model) -> Result<f64, Diagnostics> {
        if let Known::Rows(check) = &mut self.known {
            return check.measure(project, model);
        }
        let numbers = model.predict(self.predicate, &self.tuples, self.arity)?;
        let value = match &self.known {
            Known::Classes(known) => {
                let width = numbers.len() / known.len().max(1);
                let predicted: Vec<usize> =
                    numbers.chunks_exact(width.max(1)).map(largest).collect();
                match self.kind {
                    MetricKind::Accuracy => accuracy(&predicted, known),
                    MetricKind::BalancedAccuracy => balanced_accuracy(&predicted, known),
                    _ => adjusted_rand_index(&predicted, known),
                }
            }
            Known::Truths(truths) => {
                let scores: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
                match self.kind {
                    MetricKind::AveragePrecision => average_precision(&scores, truths),
                    _ => roc_auc(&scores, truths),
                }
            }
            Known::Rows(_) => Ok(f64::NAN),
        };
        value.map_err(|error: MetricError| {
            Diagnostic::error(
                Code::MetricUndefined,
                format!("`{}` cannot be computed: {error}", self.label),
            )
            .into()
        })
    }
}

pub(super) fn largest(numbers: &[f32]) -> usize {
    let better = |best: usize, k: usize| if numbers[k] > numbers[best] { k } else { best };
    (1..numbers.len()).fold(0, better)
}

/// Labels as classes: by the names of the predicate's classes where they are such names, else numbered.
fn classes_of_labels(
    project: &Project,
    last: Option<&ArgumentSort>,
    labels: &[String],
) -> Vec<usize> {
    let theory = project.theory();
    let names: Vec<String> = match last {
        Some(ArgumentSort::Sort(sort)) => {
            let sort_of = &theory[*sort];
            match sort_of.kind {
                SortKind::Range(..) => (0..project.data.size(*sort))
                    .map(|i| sort_of.individual_name(i))
                    .collect(),
                _ => sort_of.labels.clone(),
            }
        }
        _ => Vec::new(),
    };
    let mut known = if labels.iter().all(|l| names.contains(l)) {
        names
    } else {
        Vec::new()
    };
    let mut class = |label: &String| match known.iter().position(|k| k == label) {
        Some(at) => at,
        None => {
            known.push(label.clone());
            known.len() - 1
        }
    };
    labels.iter().map(&mut class).collect()
}

impl RowCheck {
    fn read(project: &Project, metric: &Metric) -> Result<RowCheck, Diagnostics> {
        let theory = project.theory();
        let source = &project.manifest.source;
        let wrong = |code, message: &str| {
            Diagnostics::from(Diagnostic::error(code, message).at(source, metric.span, "").help(
                "write `table = \"…\"`, and `rows = \"…\"` for other rows than the table's own",
            ))
        };
        let (table, file) = match &metric.truth {
            MetricTruth::Table(table) => (table, None),
            MetricTruth::Rows {
                file,
                table: Some(table),
            } => (table, Some(file)),
            _ => {
                return Err(wrong(
                    Code::MissingKey,
                    "`row_accuracy` needs a table whose rows are to be right",
                ));
            }
        };
        let id = theory
            .table(&table.value)
            .ok_or_else(|| wrong(Code::UnknownTable, "the theory has no such table"))?;
        // Only axioms that say something of each of its rows.
        let mut data: Data = project.data.with_axioms(|axiom| {
            use logltn::theory::{Binding, FormulaKind, Quantifier};
            matches!(
                &axiom.formula.kind,
                FormulaKind::Quantified {
                    quantifier: Quantifier::Forall,
                    binding: Binding::Rows(over, _),
                    ..
                } if *over == id
            )
        });
        if let Some(file) = file {
            let file = CsvFile::read(&project.manifest.resolve(&file.value))?;
            let mut columns = Vec::new();
            for column in &theory[id].columns {
                let at = file.column_index(&column.name)?;
                columns.push(project.read_column(&file, at, column.sort)?);
            }
            data.set_rows(&table.value, columns)?;
        }
        data.set_batched(&table.value)?;
        let outputs: Vec<Output> = (project.outputs.iter())
            .map(|o| Output {
                kind: OutputKind::Truth,
                per_class: o.per_class,
            })
            .collect();
        // Of 0 and 1 the Gödel operators make 0 and 1: logic as usual.
        let semantics = Semantics::named("godel").unwrap_or_default();
        let plan = Plan::new(&data, &outputs, &semantics)?;
        Ok(RowCheck {
            rows: data.table(id).map_or(0, |t| t.rows),
            engine: Engine::new(plan),
            table: id,
        })
    }

    fn measure(&mut self, project: &Project, model: &mut Model) -> Result<f64, Diagnostics> {
        let all: Vec<u32> = (0..self.rows as u32).collect();
        self.engine.set_batch(self.table, &all)?;
        model.attach(project, &self.engine)?;
        model.evaluate(&mut self.engine)?;
        // Every answer once, made crisp: the largest class, or the likelier of true and false.
        let mut crisp: Vec<rustc_hash::FxHashMap<Vec<u32>, Vec<f64>>> = Vec::new();
        for index in 0..self.engine.requests().len() {
            let numbers = self.engine.numbers_mut(index).to_vec();
            let request = &self.engine.requests()[index];
            let output = project.outputs[request.predicate.index()];
            let answers = (numbers.chunks_exact(request.width)).map(|row| made_crisp(row, output));
            let keys = (0..request.rows()).map(|row| request.row(row).to_vec());
            crisp.push(keys.zip(answers).collect());
        }
        let mut right = 0;
        for row in all {
            self.engine.set_batch(self.table, &[row])?;
            for (i, known) in crisp.iter().enumerate() {
                let request = &self.engine.requests()[i];
                let values: Vec<f64> = (0..request.rows())
                    .flat_map(|r| known.get(request.row(r)).cloned().unwrap_or_default())
                    .collect();
                self.engine.numbers_mut(i).copy_from_slice(&values);
            }
            let value = self.engine.evaluate(&Parameters::default())?;
            right += usize::from(value.sat == 1.0);
        }
        Ok(right as f64 / self.rows.max(1) as f64)
    }
}

/// The truth of each class, 0 or 1. Of several classes the likeliest is true, as in `accuracy`; a single
/// truth is rounded.
fn made_crisp(row: &[f64], output: Output) -> Vec<f64> {
    let best = (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best });
    let holds = |(k, &x): (usize, &f64)| match output.kind {
        _ if row.len() > 1 => k == best,
        OutputKind::Softmax => true,
        OutputKind::Sigmoid => x > 0.0,
        OutputKind::Truth => x > 0.5,
        OutputKind::LogTruth => x > -std::f64::consts::LN_2,
    };
    let truths = row.iter().enumerate().map(holds);
    truths.map(|holds| f64::from(u8::from(holds))).collect()
}
