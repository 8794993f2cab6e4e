//! Metrics: how well predicates do on rows with known answers.

use logltn::theory::{ArgumentSort, PredicateId, SortKind, TableId};
use logltn::{
    Code, ColumnData, Data, Diagnostic, Diagnostics, Engine, Output, OutputKind, Parameters, Plan,
    Semantics,
};
use rustc_hash::FxHashMap;

use crate::knowledge::KnowledgeBase;
use crate::metrics::{
    MetricError, accuracy, adjusted_rand_index, average_precision, balanced_accuracy, roc_auc,
};
use crate::model::Model;
use crate::place::Place;

/// One number that says how good a predicate is.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Which number.
    pub kind: MetricKind,
    /// The predicate that is measured.
    pub predicate: String,
    /// What it is measured against.
    pub known: Known,
    /// A name for reports.
    pub name: Option<String>,
    /// Where this is said.
    pub place: Place,
}

/// What a predicate is measured against.
#[derive(Clone, Debug)]
pub enum Known {
    /// The true class of each individual of a sort.
    Labels {
        /// The sort.
        sort: String,
        /// By the names of the predicate's classes where they are such names; else which are the same is all that
        /// counts.
        labels: Vec<String>,
    },
    /// Rows of the predicate's arguments, column by column. The last argument is the right class; a ranking metric has
    /// a column of integers after them, 1 for what is true and 0 for what is not.
    Rows(Vec<ColumnData>),
    /// The rows that a table has for training.
    Table(String),
    /// Other rows of a table than those for training.
    RowsOf {
        /// The table.
        table: String,
        /// Its columns.
        columns: Vec<ColumnData>,
    },
}

/// The metrics that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// The share of right classes.
    Accuracy,
    /// The mean over classes of the share of right ones.
    BalancedAccuracy,
    /// Agreement of two clusterings, corrected for chance.
    AdjustedRandIndex,
    /// The area under precision over recall.
    AveragePrecision,
    /// The area under the receiver operating characteristic.
    RocAuc,
    /// The share of rows in which everything is right.
    RowAccuracy,
}

impl MetricKind {
    /// All of them, with the names that manifests use.
    pub const ALL: [(&'static str, MetricKind); 6] = [
        ("accuracy", MetricKind::Accuracy),
        ("balanced_accuracy", MetricKind::BalancedAccuracy),
        ("adjusted_rand_index", MetricKind::AdjustedRandIndex),
        ("average_precision", MetricKind::AveragePrecision),
        ("roc_auc", MetricKind::RocAuc),
        ("row_accuracy", MetricKind::RowAccuracy),
    ];

    /// The name in a manifest.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| name)
    }

    /// Whether it looks at an order of rows, and not at classes.
    pub fn ranks(self) -> bool {
        matches!(self, MetricKind::AveragePrecision | MetricKind::RocAuc)
    }
}

impl Metric {
    /// A metric without a name of its own.
    pub fn new(kind: MetricKind, predicate: impl Into<String>, known: Known) -> Metric {
        Metric {
            kind,
            predicate: predicate.into(),
            known,
            name: None,
            place: Place::default(),
        }
    }

    /// What reports call it: its `name`, or else `accuracy(digit)`.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}({})", self.kind.name(), self.predicate),
        }
    }
}

/// One metric, with its rows at hand.
pub(crate) struct Measure {
    pub label: String,
    kind: MetricKind,
    predicate: PredicateId,
    arity: usize,
    tuples: Vec<u32>,
    answer: Answer,
}

enum Answer {
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

/// All metrics of a training.
pub(crate) fn of(
    knowledge: &KnowledgeBase,
    metrics: &[Metric],
) -> Result<Vec<Measure>, Diagnostics> {
    let mut out = Diagnostics::new();
    let mut measures = Vec::new();
    for metric in metrics {
        match Measure::new(knowledge, metric) {
            Ok(measure) => measures.push(measure),
            Err(errors) => out.extend(errors),
        }
    }
    out.into_result(measures).map(|(measures, _)| measures)
}

impl Measure {
    fn new(knowledge: &KnowledgeBase, metric: &Metric) -> Result<Measure, Diagnostics> {
        let wrong = |code, message: String| {
            Diagnostics::from(metric.place.mark(Diagnostic::error(code, message)))
        };
        let theory = knowledge.theory();
        let predicate = theory.predicate(&metric.predicate).ok_or_else(|| {
            let what = format!("the theory has no predicate `{}`", metric.predicate);
            wrong(Code::UnknownPredicate, what)
        })?;
        let output = knowledge.outputs[predicate.index()];
        let arguments = &theory[predicate].arguments;
        let mut measure = Measure {
            label: metric.label(),
            kind: metric.kind,
            predicate,
            arity: arguments.len() - usize::from(output.per_class),
            tuples: Vec::new(),
            answer: Answer::Classes(Vec::new()),
        };
        if metric.kind == MetricKind::RowAccuracy {
            measure.answer = Answer::Rows(Box::new(RowCheck::new(knowledge, metric)?));
            return Ok(measure);
        }
        let ranks = metric.kind.ranks();
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
        match &metric.known {
            Known::Labels { sort, labels } => {
                let id = theory.sort(sort).ok_or_else(|| {
                    wrong(
                        Code::UnknownSort,
                        format!("the theory has no sort `{sort}`"),
                    )
                })?;
                if measure.arity != 1 || arguments[0] != ArgumentSort::Sort(id) || ranks {
                    return Err(wrong(
                        Code::MetricDoesNotFit,
                        format!(
                            "labels of sort `{sort}` can be compared with a predicate `P({sort}, class)` only"
                        ),
                    ));
                }
                let size = knowledge.data.size(id);
                if labels.len() != size {
                    return Err(wrong(
                        Code::SizesDisagree,
                        format!(
                            "expected {size} labels, one for each individual of sort `{sort}`, found {}",
                            labels.len()
                        ),
                    ));
                }
                measure.tuples = (0..labels.len() as u32).collect();
                let classes = classes_of_labels(knowledge, arguments.last(), labels);
                measure.answer = Answer::Classes(classes);
            }
            Known::Rows(columns) | Known::RowsOf { columns, .. } => {
                let name = format!("the rows of `{}`", measure.label);
                measure.take_columns(knowledge, columns, &name)?;
            }
            Known::Table(table) => {
                let rows = (theory.table(table)).and_then(|id| knowledge.data.table(id));
                let rows = rows.ok_or_else(|| {
                    wrong(
                        Code::UnknownTable,
                        format!("the theory has no table `{table}`"),
                    )
                })?;
                measure.take_columns(knowledge, &rows.columns, table)?;
            }
        }
        Ok(measure)
    }

    fn take_columns(
        &mut self,
        knowledge: &KnowledgeBase,
        columns: &[ColumnData],
        name: &str,
    ) -> Result<(), Diagnostics> {
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
        let sorts = &knowledge.theory()[self.predicate].arguments;
        if arguments.len() < self.arity || columns.iter().any(|c| c.len() != rows) {
            return Err(wrong());
        }
        // Those of the data are known to be there.
        let within = |individuals: &[u32], sort: &ArgumentSort| match sort {
            ArgumentSort::Sort(sort) => {
                let size = knowledge.data.size(*sort);
                individuals.iter().all(|&i| (i as usize) < size)
            }
            ArgumentSort::Vector(_) => false,
        };
        for (column, sort) in columns.iter().zip(sorts) {
            if let ColumnData::Individuals(cells) = column
                && !within(cells, sort)
            {
                return Err(wrong());
            }
        }
        for row in 0..rows {
            for column in arguments {
                match column {
                    ColumnData::Individuals(cells) => self.tuples.push(cells[row]),
                    ColumnData::Int(_) | ColumnData::Real(_) => return Err(wrong()),
                }
            }
        }
        self.answer = match answer.last() {
            Some(ColumnData::Individuals(classes)) => {
                Answer::Classes(classes.iter().map(|&c| c as usize).collect())
            }
            Some(ColumnData::Int(truths)) => {
                Answer::Truths(truths.iter().map(|&t| t != 0).collect())
            }
            Some(ColumnData::Real(_)) | None => return Err(wrong()),
        };
        Ok(())
    }

    /// The metric's value for a model as it is.
    pub fn measure(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<f64, Diagnostics> {
        if let Answer::Rows(check) = &mut self.answer {
            return check.measure(knowledge, model);
        }
        let numbers = model.predict(self.predicate, &self.tuples, self.arity)?;
        let value = match &self.answer {
            Answer::Classes(known) => {
                let width = numbers.len() / known.len().max(1);
                let predicted: Vec<usize> =
                    numbers.chunks_exact(width.max(1)).map(largest).collect();
                match self.kind {
                    MetricKind::Accuracy => accuracy(&predicted, known),
                    MetricKind::BalancedAccuracy => balanced_accuracy(&predicted, known),
                    _ => adjusted_rand_index(&predicted, known),
                }
            }
            Answer::Truths(truths) => {
                let scores: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
                match self.kind {
                    MetricKind::AveragePrecision => average_precision(&scores, truths),
                    _ => roc_auc(&scores, truths),
                }
            }
            Answer::Rows(_) => Ok(f64::NAN),
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

/// The place of the largest number.
pub fn largest(numbers: &[f32]) -> usize {
    let better = |best: usize, k: usize| if numbers[k] > numbers[best] { k } else { best };
    (1..numbers.len()).fold(0, better)
}

/// Labels as classes: by the names of the predicate's classes where they are such names, else numbered.
fn classes_of_labels(
    knowledge: &KnowledgeBase,
    last: Option<&ArgumentSort>,
    labels: &[String],
) -> Vec<usize> {
    let theory = knowledge.theory();
    let names: Vec<String> = match last {
        Some(ArgumentSort::Sort(sort)) => {
            let sort_of = &theory[*sort];
            match sort_of.kind {
                SortKind::Range(..) => (0..knowledge.data.size(*sort))
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
    fn new(knowledge: &KnowledgeBase, metric: &Metric) -> Result<RowCheck, Diagnostics> {
        let theory = knowledge.theory();
        let wrong = |code, message: &str| {
            Diagnostics::from(metric.place.mark(Diagnostic::error(code, message).help(
                "write `table = \"…\"`, and `rows = \"…\"` for other rows than the table's own",
            )))
        };
        let (table, columns) = match &metric.known {
            Known::Table(table) => (table, None),
            Known::RowsOf { table, columns } => (table, Some(columns)),
            Known::Labels { .. } | Known::Rows(_) => {
                return Err(wrong(
                    Code::MissingKey,
                    "`row_accuracy` needs a table whose rows are to be right",
                ));
            }
        };
        let id = theory
            .table(table)
            .ok_or_else(|| wrong(Code::UnknownTable, "the theory has no such table"))?;
        // Only axioms that say something of each of its rows.
        let mut data: Data = knowledge.data.with_axioms(|axiom| {
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
        if let Some(columns) = columns {
            data.set_rows(table, columns.clone())?;
        }
        data.set_batched(table)?;
        let outputs: Vec<Output> = (knowledge.outputs.iter())
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

    fn measure(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<f64, Diagnostics> {
        let all: Vec<u32> = (0..self.rows as u32).collect();
        self.engine.set_batch(self.table, &all)?;
        model.attach(knowledge, &self.engine)?;
        model.evaluate(&mut self.engine)?;
        // Every answer once, made crisp: the largest class, or the likelier of true and false.
        let mut crisp: Vec<FxHashMap<Vec<u32>, Vec<f64>>> = Vec::new();
        for index in 0..self.engine.requests().len() {
            let numbers = self.engine.numbers_mut(index).to_vec();
            let request = &self.engine.requests()[index];
            let output = knowledge.outputs[request.predicate.index()];
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
