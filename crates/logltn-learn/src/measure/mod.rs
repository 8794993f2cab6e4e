//! Metrics: how well predicates, functions and axioms do on rows with known answers.

mod answered;
mod check;
mod predicate_at_rows;
mod ranks;
mod row_check;

use logltn::theory::{ArgumentSort, SymbolKind};
use logltn::{Code, ColumnData, Diagnostic, Diagnostics};

use crate::asked_rows::AskedRows;
use crate::knowledge::KnowledgeBase;
use crate::metrics::{Against, Figure, MetricError, MetricKind, Scores};
use crate::model::Model;
use crate::predict::Asked;
use crate::spanned::Place;
use crate::worlds::Worlds;
pub use answered::{Answered, Compared};
use predicate_at_rows::PredicateAtRows;
use ranks::Ranked;
use row_check::RowCheck;

/// One number that says how good a predicate, a function or a table's axioms are.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Which number.
    pub kind: MetricKind,
    /// What is measured: a predicate, a function or a table, whichever the [kind](MetricKind::subject) is of.
    pub of: String,
    /// What it is measured against.
    pub known: Known,
    /// A name for reports.
    pub name: Option<String>,
    /// Where this is said.
    pub place: Place,
}

/// What a metric compares with. Columns are those of the arguments, in their order.
#[derive(Clone, Debug)]
pub enum Known {
    /// The true class of each individual of a sort.
    Labels {
        /// The sort.
        sort: String,
        /// The names of the predicate's classes. For [`MetricKind::AdjustedRandIndex`] any names will do: which are the
        /// same is all that counts.
        labels: Vec<String>,
    },
    /// Rows of all arguments, the last being the correct class; for [`MetricKind::RowAccuracy`], rows of the table.
    Rows(Vec<ColumnData>),
    /// Rows of all arguments, and whether each is true.
    Truths(Vec<ColumnData>, Vec<bool>),
    /// Rows of all arguments, and the right value of each.
    Values(Vec<ColumnData>, Vec<f64>),
    /// Rows that are true. One argument of each is searched for among all individuals of its sort.
    Facts {
        /// Rows of all arguments.
        rows: Vec<ColumnData>,
        /// Which argument is looked for, counted from 0.
        of: usize,
        /// Tables whose rows are known: other answers among them do not count. For each the places of the arguments among
        /// its columns.
        filter: Vec<(String, Vec<usize>)>,
        /// For [`MetricKind::Hits`]: how many of the first answers are looked at.
        k: usize,
    },
    /// The rows that a table has.
    OwnRows,
}

impl Metric {
    /// A metric without its own name.
    pub fn new(kind: MetricKind, of: impl Into<String>, known: Known) -> Metric {
        Metric {
            kind,
            of: of.into(),
            known,
            name: None,
            place: Place::default(),
        }
    }

    /// What reports call it: its `name`, or else `accuracy(digit)`. A manifest has names for all of them.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}({})", self.kind.name(), self.of),
        }
    }

    fn wrong(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        self.place.mark(Diagnostic::error(code, message))
    }
}

/// Metrics with their rows at hand: all that can be wrong with them was found when they were made.
///
/// ```
/// use logltn::{ColumnData, Output};
/// use logltn_learn::{Known, Metric, MetricKind, Session};
///
/// let rows = vec![ColumnData::Individuals(vec![0, 1, 2])];
/// let mut session = Session::builder("sort P  predicate good(P)  axiom a: forall x: P. good(x)")
///     .sort("P", 3)
///     .numbers("good", vec![0.9, 0.2, 0.6], Output::truth())
///     .metric(Metric::new(MetricKind::Accuracy, "good", Known::Truths(rows, vec![true, false, false])))
///     .steps(1)
///     .build()?;
/// assert_eq!(session.measure()?, [("accuracy(good)".to_string(), 2.0 / 3.0)]);
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
pub struct Measures {
    all: Vec<Measure>,
    /// Predicates are measured as they are predicted, given the laws; made when they are first asked.
    worlds: Option<Worlds>,
}

impl Measures {
    /// Looks at all metrics.
    ///
    /// # Errors
    /// With whatever is wrong with them: one does not fit what it is of, or has no value on its rows.
    pub fn new(knowledge: &KnowledgeBase, metrics: &[Metric]) -> Result<Measures, Diagnostics> {
        let mut out = Diagnostics::new();
        let mut measures = Vec::new();
        for metric in metrics {
            match Measure::new(knowledge, metric) {
                Ok(measure) => measures.push(measure),
                Err(errors) => out.extend(errors),
            }
        }
        let (all, _) = out.into_result(measures)?;
        Ok(Measures { all, worlds: None })
    }

    fn make_worlds(&mut self, knowledge: &KnowledgeBase) -> Result<(), Diagnostics> {
        let laws = knowledge.data.laws();
        if !laws.is_empty() && !self.all.is_empty() && self.worlds.is_none() {
            self.worlds = Some(Worlds::new(knowledge, laws)?);
        }
        Ok(())
    }

    /// Makes sure that a model has all that will be asked of it. Its parameters do not change after that.
    ///
    /// # Errors
    /// If the network of a function, or of a predicate of numbers, cannot be built.
    pub fn prepare(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<(), Diagnostics> {
        self.make_worlds(knowledge)?;
        if let Some(worlds) = &self.worlds {
            worlds.prepare(knowledge, model)?;
        }
        for measure in &self.all {
            let asked = match &measure.answer {
                Answer::Values { asked, .. } => asked,
                Answer::Classes { said, .. } | Answer::Truths { said, .. } => &said.asked,
                Answer::Ranks(ranked) => &ranked.asked,
                Answer::Rows(_) => continue,
            };
            asked.prepare(knowledge, model)?;
        }
        Ok(())
    }

    /// The value of each for a model as it is, by name.
    ///
    /// # Errors
    /// If a number of the model is not a number.
    pub fn measure(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<Vec<(String, f64)>, Diagnostics> {
        self.make_worlds(knowledge)?;
        if let Some(worlds) = &mut self.worlds {
            worlds.look(knowledge, model)?;
            worlds.sum_up()?;
        }
        let mut values = Vec::with_capacity(self.all.len());
        for measure in &mut self.all {
            let value = measure.measure(knowledge, model, self.worlds.as_ref())?;
            values.push((measure.label.clone(), value));
        }
        Ok(values)
    }

    /// What reports call them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.all.iter().map(|m| m.label.clone()).collect()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A metric by its name, or by that of its kind.
    pub(crate) fn find(&self, name: &str) -> Option<(&str, MetricKind)> {
        let mut all = self.all.iter();
        let found = all.find(|m| m.label == name || m.kind.name() == name)?;
        Some((&found.label, found.kind))
    }
}

/// One metric, with its rows at hand.
struct Measure {
    label: String,
    /// The predicate, function or table.
    of: String,
    kind: MetricKind,
    place: Place,
    answer: Answer,
}

enum Answer {
    /// The right class of each row.
    Classes {
        said: PredicateAtRows,
        known: Vec<usize>,
    },
    /// Whether each row is true.
    Truths {
        said: PredicateAtRows,
        known: Vec<bool>,
    },
    /// Each row is true, and is searched for.
    Ranks(Ranked),
    /// The right value of each row.
    Values {
        asked: Asked,
        rows: AskedRows,
        known: Vec<f64>,
    },
    /// Whole rows of a table must come out right.
    Rows(Box<RowCheck>),
}

impl Measure {
    fn new(knowledge: &KnowledgeBase, metric: &Metric) -> Result<Measure, Diagnostics> {
        let answer = match metric.kind.against() {
            Against::Axioms => Answer::Rows(Box::new(RowCheck::new(knowledge, metric)?)),
            Against::Values => values(knowledge, metric)?,
            Against::Ranks => Answer::Ranks(Ranked::new(knowledge, metric)?),
            Against::Classes | Against::TruthsOrClasses | Against::Truths => {
                classes_or_truths(knowledge, metric)?
            }
        };
        let measure = Measure {
            label: metric.label(),
            of: metric.of.clone(),
            kind: metric.kind,
            place: metric.place.clone(),
            answer,
        };
        measure.has_a_value()?;
        Ok(measure)
    }

    /// Whether a metric can be computed depends on the known values, not on the predictions: any will do to find out.
    fn has_a_value(&self) -> Result<(), Diagnostics> {
        let value = match &self.answer {
            Answer::Classes { known, .. } => {
                self.of_classes(&vec![0; known.len()], &vec![0.0; known.len()], known)
            }
            Answer::Truths { known, .. } => Scores::truths(vec![0.0; known.len()])
                .and_then(|scores| self.of_truths(&scores, known)),
            Answer::Values { known, .. } => self.of_values(&vec![0.0; known.len()], known),
            Answer::Ranks(ranked) => ranked.value(&vec![1.0; ranked.rows()]),
            Answer::Rows(check) if check.rows() == 0 => Err(MetricError::Empty),
            Answer::Rows(_) => Ok(0.0),
        };
        self.told(value).map(drop)
    }

    fn told(&self, value: Result<f64, MetricError>) -> Result<f64, Diagnostics> {
        value.map_err(|error| {
            let what = format!("`{}` cannot be computed: {error}", self.label);
            let error = Diagnostic::error(Code::MetricUndefined, what);
            self.place.mark(error).into()
        })
    }

    /// The metric's value for a model as it is.
    fn measure(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<f64, Diagnostics> {
        if let Answer::Rows(check) = &mut self.answer {
            return check.measure(knowledge, model, worlds);
        }
        let value = match &self.answer {
            Answer::Classes { said, known } => {
                let (classes, certain) = said.classes(knowledge, model, worlds)?;
                self.of_classes(&classes, &certain, known)
            }
            Answer::Truths { said, known } => {
                let scores = said.said(knowledge, model, worlds)?;
                scores.and_then(|scores| self.of_truths(&scores, known))
            }
            Answer::Ranks(ranked) => {
                let ranks = ranked.ranks(knowledge, model, worlds)?;
                ranked.value(&ranks)
            }
            Answer::Values { asked, rows, known } => {
                let said = asked.numbers(knowledge, model, asked.rows(rows, known.len()))?;
                self.of_values(&said, known)
            }
            Answer::Rows(_) => Err(MetricError::Empty),
        };
        self.told(value)
    }

    fn of_classes(
        &self,
        predicted: &[usize],
        certain: &[f64],
        known: &[usize],
    ) -> Result<f64, MetricError> {
        match self.kind.figure() {
            Figure::Certainties(figure) => {
                let right: Vec<bool> = predicted.iter().zip(known).map(|(p, k)| p == k).collect();
                figure(certain, &right)
            }
            Figure::Classes(figure) | Figure::TruthsOrClasses(_, figure) => {
                figure(predicted, known)
            }
            _ => Err(MetricError::DoesNotFit),
        }
    }

    fn of_truths(&self, scores: &Scores, known: &[bool]) -> Result<f64, MetricError> {
        match self.kind.figure() {
            Figure::Truths(figure) | Figure::TruthsOrClasses(figure, _) => figure(scores, known),
            _ => Err(MetricError::DoesNotFit),
        }
    }

    fn of_values(&self, predicted: &[f64], known: &[f64]) -> Result<f64, MetricError> {
        match self.kind.figure() {
            Figure::Values(figure) => figure(predicted, known),
            _ => Err(MetricError::DoesNotFit),
        }
    }
}

fn classes_or_truths(knowledge: &KnowledgeBase, metric: &Metric) -> Result<Answer, Diagnostics> {
    let theory = knowledge.theory();
    let predicate = check::predicate(knowledge, metric)?;
    let output = knowledge.outputs[predicate];
    let arguments = &theory[predicate].arguments;
    let asked = Asked::new(knowledge, &metric.of)?;
    let against = metric.kind.against();
    let name = metric.kind.name();
    match &metric.known {
        Known::Truths(rows, known) if against != Against::Classes => {
            let tuples = check::tuples(knowledge, metric, arguments, rows, known.len())?;
            let said = PredicateAtRows::new(asked, tuples, known.len());
            let known = known.clone();
            Ok(Answer::Truths { said, known })
        }
        Known::Labels { .. } | Known::Rows(_) if against != Against::Truths => {
            if !output.per_class {
                let error = metric.wrong(
                    Code::MetricDoesNotFit,
                    format!(
                        "`{name}` needs a predicate that picks one of several classes, which `{}` does not",
                        metric.of
                    ),
                );
                return Err(match against {
                    Against::TruthsOrClasses => error.help(
                        "or rows with a column `truth`, 1 for what is true and 0 for what is not",
                    ),
                    _ => error,
                }
                .into());
            }
            let tuples = match &metric.known {
                Known::Labels { sort, labels } => {
                    check::labels(knowledge, metric, predicate, sort, labels)?
                }
                Known::Rows(rows) => {
                    let count = rows.first().map_or(0, ColumnData::len);
                    check::tuples(knowledge, metric, arguments, rows, count)?
                }
                _ => AskedRows::default(),
            };
            let count = tuples.arguments.len() / arguments.len().max(1);
            let said = PredicateAtRows::new(asked, tuples, count);
            let known = said.classes.iter().map(|&c| c as usize).collect();
            Ok(Answer::Classes { said, known })
        }
        _ => {
            let needs = match against {
                Against::Truths => "rows with their truth",
                Against::Classes => "the right class of each row",
                _ => "rows with their truth, or the right class of each row",
            };
            let what = format!("`{name}` needs {needs}");
            Err(metric.wrong(Code::MetricDoesNotFit, what).into())
        }
    }
}

fn values(knowledge: &KnowledgeBase, metric: &Metric) -> Result<Answer, Diagnostics> {
    let theory = knowledge.theory();
    let unknown = || (metric.place).mark(theory.unknown(SymbolKind::Function, &metric.of));
    let function = theory.function(&metric.of).ok_or_else(unknown)?;
    let declared = &theory[function];
    if declared.result != ArgumentSort::Vector(1) {
        let what = format!(
            "`{}` needs a function whose value is a number, which `{}` is not",
            metric.kind.name(),
            metric.of
        );
        let help = format!("`function {}(…): Real`", metric.of);
        return Err(metric.wrong(Code::MetricDoesNotFit, what).help(help).into());
    }
    if knowledge.functions[function].is_none() && knowledge.data.function(function).is_none() {
        let what = format!(
            "`{}` cannot be measured: its values come from host code",
            metric.of
        );
        return Err(metric.wrong(Code::CannotPredict, what).into());
    }
    let Known::Values(rows, known) = &metric.known else {
        let what = format!("`{}` needs rows with their value", metric.kind.name());
        return Err(metric.wrong(Code::MetricDoesNotFit, what).into());
    };
    let rows = check::tuples(knowledge, metric, &declared.arguments, rows, known.len())?;
    Ok(Answer::Values {
        asked: Asked::new(knowledge, &metric.of)?,
        rows,
        known: known.clone(),
    })
}
