//! The value of a predicate for rows.

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics, Output, OutputKind};

use super::check::Tuples;
use crate::degrees::{degrees, largest};
use crate::knowledge::{Ground, KnowledgeBase};
use crate::metrics::{MetricError, Scores};
use crate::model::{Model, Rows};
use crate::worlds::{RowsOf, Worlds};

/// A predicate and the rows that it is queried at.
pub(super) struct Answers {
    pub predicate: PredicateId,
    pub output: Output,
    /// How many individuals its rows have: all arguments, or all but the last.
    arity: usize,
    tuples: Vec<u32>,
    /// Those that is in the rows.
    numbers: Vec<f64>,
    rows: usize,
    /// The last argument of each row, if that picks a class.
    pub classes: Vec<u32>,
}

impl Answers {
    /// Rows of all `arguments`.
    pub fn new(predicate: PredicateId, output: Output, arguments: usize, rows: Tuples) -> Answers {
        let arity = arguments - usize::from(output.per_class);
        let all = rows.arguments.chunks_exact(arguments.max(1));
        Answers {
            predicate,
            output,
            arity,
            rows: rows.rows,
            numbers: rows.numbers,
            tuples: all.clone().flat_map(|row| &row[..arity]).copied().collect(),
            classes: all.flat_map(|row| &row[arity..]).copied().collect(),
        }
    }

    /// The class of the greatest number of each row, and its truth degree.
    pub fn classes(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<(Vec<usize>, Vec<f64>), Diagnostics> {
        let numbers = self.numbers(knowledge, model, worlds)?;
        let width = numbers.len() / self.rows.max(1);
        let rows = numbers.chunks_exact(width.max(1));
        let class = |row: &[f64]| {
            let class = largest(row);
            let score = score(row, class, self.output.kind);
            let degree = match self.output.kind {
                OutputKind::Softmax | OutputKind::LogTruth => score.exp(),
                OutputKind::Sigmoid => 1.0 / (1.0 + (-score).exp()),
                OutputKind::Truth => score,
            };
            (class, degree)
        };
        Ok(rows.map(class).unzip())
    }

    /// What it says of each row.
    pub fn said(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<Result<Scores, MetricError>, Diagnostics> {
        let numbers = self.scores(knowledge, model, worlds)?;
        Ok(Scores::of(self.kind(worlds), numbers))
    }

    /// A number for each row, the greater the truer it is.
    pub fn scores(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let numbers = self.numbers(knowledge, model, worlds)?;
        if !self.output.per_class {
            return Ok(numbers);
        }
        let width = numbers.len() / self.rows.max(1);
        let rows = numbers.chunks_exact(width.max(1)).zip(&self.classes);
        Ok(rows
            .map(|(row, &class)| score(row, class as usize, self.kind(worlds)))
            .collect())
    }

    /// The predicate's numbers; those from a file keep their precision.
    pub fn numbers(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let rows = Rows {
            individuals: &self.tuples,
            arity: self.arity,
            count: self.rows,
            numbers: &self.numbers,
        };
        let mut numbers = model.numbers_at(knowledge, self.predicate, rows)?;
        let per_row = match &knowledge.predicates[self.predicate] {
            Ground::ClosedForm(_) if self.output.kind != OutputKind::Softmax => 1,
            _ => self.width(knowledge),
        };
        if numbers.len() != self.rows * per_row {
            let name = &knowledge.theory()[self.predicate].name;
            let what = format!(
                "`{name}` has {} numbers for {} rows",
                numbers.len(),
                self.rows
            );
            return Err(Diagnostic::error(Code::CannotPredict, what).into());
        }
        if let Some(worlds) = worlds.filter(|worlds| worlds.speak_of(self.predicate)) {
            let rows = numbers.chunks_exact_mut(per_row.max(1));
            rows.for_each(|row| degrees(self.output.kind, row));
            let of = RowsOf {
                predicate: self.predicate,
                output: self.output,
                arguments: &knowledge.theory()[self.predicate].arguments[..self.arity],
                rows: &self.tuples,
                known: &self.numbers,
            };
            worlds.condition(&of, per_row, &mut numbers);
        }
        Ok(numbers)
    }

    /// What the numbers mean: given laws, they are probabilities.
    pub fn kind(&self, worlds: Option<&Worlds>) -> OutputKind {
        match worlds.is_some_and(|worlds| worlds.speak_of(self.predicate)) {
            true => OutputKind::Truth,
            false => self.output.kind,
        }
    }

    fn width(&self, knowledge: &KnowledgeBase) -> usize {
        use logltn::theory::ArgumentSort;
        let arguments = &knowledge.theory()[self.predicate].arguments;
        match (self.output.per_class, arguments.last()) {
            (true, Some(ArgumentSort::Sort(sort))) => knowledge.data.size(*sort),
            _ => 1,
        }
    }
}

/// The score of one class among the numbers of all.
fn score(row: &[f64], class: usize, kind: OutputKind) -> f64 {
    match kind {
        // The log of its probability.
        OutputKind::Softmax => {
            let most = row[largest(row)];
            let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
            (row[class] - most) - sum.ln()
        }
        OutputKind::Sigmoid | OutputKind::Truth | OutputKind::LogTruth => row[class],
    }
}
