//! The value of a predicate for rows.

use logltn::{Diagnostics, Output, OutputKind};

use crate::asked_rows::AskedRows;
use crate::degrees::{degree, degrees, largest};
use crate::knowledge::KnowledgeBase;
use crate::metrics::{MetricError, Scores};
use crate::model::Model;
use crate::predict::Asked;
use crate::worlds::Worlds;

/// A predicate and the rows that it is queried at.
pub(super) struct PredicateAtRows {
    pub asked: Asked,
    output: Output,
    /// Without the argument that picks a class.
    rows: AskedRows,
    count: usize,
    /// The last argument of each row, if that picks a class.
    pub classes: Vec<u32>,
}

impl PredicateAtRows {
    /// So many rows of all arguments.
    pub fn new(asked: Asked, all: AskedRows, count: usize) -> PredicateAtRows {
        let arity = asked.arguments().len();
        let output = (asked.predicate()).map_or(Output::truth(), |(_, output)| output);
        let AskedRows { arguments, numbers } = all;
        let whole = arguments.chunks_exact((arity + usize::from(output.per_class)).max(1));
        let own = whole.clone().flat_map(|row| &row[..arity]).copied();
        PredicateAtRows {
            rows: AskedRows {
                arguments: own.collect(),
                numbers,
            },
            classes: whole.flat_map(|row| &row[arity..]).copied().collect(),
            count,
            output,
            asked,
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
        let width = numbers.len() / self.count.max(1);
        let rows = numbers.chunks_exact(width.max(1));
        let class = |row: &[f64]| {
            let class = largest(row);
            let kind = self.output.kind;
            (class, degree(kind, score(row, class, kind)))
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
        let width = numbers.len() / self.count.max(1);
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
        let rows = self.asked.rows(&self.rows, self.count);
        let mut numbers = self.asked.numbers(knowledge, model, rows)?;
        if let Some(worlds) = worlds.filter(|worlds| self.is_in(worlds))
            && let Some(of) = self.asked.at(rows)
        {
            let width = self.asked.width(knowledge);
            let each = numbers.chunks_exact_mut(width.max(1));
            each.for_each(|row| degrees(self.output.kind, row));
            worlds.condition(&of, width, &mut numbers);
        }
        Ok(numbers)
    }

    /// Whether the laws speak of it.
    fn is_in(&self, worlds: &Worlds) -> bool {
        let predicate = self.asked.predicate();
        predicate.is_some_and(|(id, _)| worlds.speak_of(id))
    }

    /// What the numbers mean: given laws, they are probabilities.
    pub fn kind(&self, worlds: Option<&Worlds>) -> OutputKind {
        match worlds.is_some_and(|worlds| self.is_in(worlds)) {
            true => OutputKind::Truth,
            false => self.output.kind,
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
