//! What a predicate says of rows.

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics, Output, OutputKind};

use super::check::Tuples;
use super::largest;
use crate::knowledge::{Ground, KnowledgeBase};
use crate::model::Model;

/// A predicate and the rows that it is asked about.
pub(super) struct Said {
    pub predicate: PredicateId,
    pub output: Output,
    /// How many individuals its rows have: all arguments, or all but the last.
    arity: usize,
    tuples: Vec<u32>,
    /// Those that stand in the rows.
    numbers: Vec<f64>,
    rows: usize,
    /// The last argument of each row, if that picks a class.
    pub classes: Vec<u32>,
}

impl Said {
    /// Rows of all `arguments`.
    pub fn new(predicate: PredicateId, output: Output, arguments: usize, rows: Tuples) -> Said {
        let arity = arguments - usize::from(output.per_class);
        let all = rows.arguments.chunks_exact(arguments.max(1));
        Said {
            predicate,
            output,
            arity,
            rows: rows.rows,
            numbers: rows.numbers,
            tuples: all.clone().flat_map(|row| &row[..arity]).copied().collect(),
            classes: all.flat_map(|row| &row[arity..]).copied().collect(),
        }
    }

    /// The class of the greatest number of each row.
    pub fn classes(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<Vec<usize>, Diagnostics> {
        let numbers = self.numbers(knowledge, model)?;
        let width = numbers.len() / self.rows.max(1);
        Ok(numbers.chunks_exact(width.max(1)).map(largest).collect())
    }

    /// A number for each row, the greater the truer it is; above [`threshold`], its truth is above ½.
    pub fn scores(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<Vec<f64>, Diagnostics> {
        let numbers = self.numbers(knowledge, model)?;
        if !self.output.per_class {
            return Ok(numbers);
        }
        let width = numbers.len() / self.rows.max(1);
        let rows = numbers.chunks_exact(width.max(1)).zip(&self.classes);
        Ok(rows
            .map(|(row, &class)| score(row, class as usize, self.output.kind))
            .collect())
    }

    /// The predicate's numbers, those of a file in their own precision.
    fn numbers(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<Vec<f64>, Diagnostics> {
        let per_row;
        let numbers: Vec<f64> = match &knowledge.predicates[self.predicate.index()] {
            Ground::Numbers(table) => {
                per_row = table.columns;
                let rows = (0..self.rows)
                    .map(|row| &self.tuples[row * self.arity..(row + 1) * self.arity]);
                let places = rows.filter_map(|row| table.row(row));
                places.flat_map(|at| &table.values[at]).copied().collect()
            }
            Ground::ClosedForm(_) => {
                per_row = 1;
                model.of_closed_form(self.predicate, &self.tuples, &self.numbers)?
            }
            _ => {
                let (tuples, known) = (&self.tuples, &self.numbers);
                let numbers =
                    model.predict_rows(knowledge, self.predicate, tuples, self.arity, known)?;
                per_row = self.width(knowledge);
                // Without arguments there is but one row to ask about.
                let times = if self.arity == 0 { self.rows } else { 1 };
                numbers.repeat(times).into_iter().map(f64::from).collect()
            }
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
        Ok(numbers)
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

/// The score of what is just as true as false.
pub(super) fn threshold(kind: OutputKind) -> f64 {
    match kind {
        OutputKind::Sigmoid => 0.0,
        OutputKind::Truth => 0.5,
        OutputKind::Softmax | OutputKind::LogTruth => -std::f64::consts::LN_2,
    }
}
