//! Predictions for the rows of metrics beside the known values, for plots.

use logltn::Diagnostics;

use super::{Answer, Measures};
use crate::degrees::{degree, degrees};
use crate::knowledge::KnowledgeBase;
use crate::model::Model;

/// A predicate's or a function's answers to rows whose answer is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The predicate or the function.
    pub of: String,
    /// The metric that has the rows.
    pub metric: String,
    /// The prediction and the correct value.
    pub answers: Compared,
}

/// The predictions for rows and the correct values.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// The truth of each class of each row, row by row, and the right class of each row.
    Classes {
        /// How many classes there are.
        classes: usize,
        /// Between 0 and 1.
        said: Vec<f64>,
        /// Places among the classes.
        known: Vec<usize>,
    },
    /// The truth of each row, and whether it is true.
    Truths {
        /// Between 0 and 1.
        said: Vec<f64>,
        /// What is right.
        known: Vec<bool>,
    },
    /// The value of each row, and the right one.
    Values {
        /// What the function says.
        said: Vec<f64>,
        /// What is right.
        known: Vec<f64>,
    },
}

impl Measures {
    /// The values of a model for the rows of the first metric of each predicate and function.
    ///
    /// # Errors
    /// If the model cannot be asked.
    pub fn answered(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<Vec<Answered>, Diagnostics> {
        self.make_worlds(knowledge)?;
        if let Some(worlds) = &mut self.worlds {
            worlds.look(knowledge, model)?;
            worlds.sum_up()?;
        }
        let worlds = self.worlds.as_ref();
        let mut found: Vec<Answered> = Vec::new();
        for measure in &self.all {
            if found.iter().any(|one| one.of == measure.of) {
                continue;
            }
            let answers = match &measure.answer {
                Answer::Classes { said, known } => {
                    let mut numbers = said.numbers(knowledge, model, worlds)?;
                    let classes = numbers.len() / known.len().max(1);
                    let rows = numbers.chunks_exact_mut(classes.max(1));
                    rows.for_each(|row| degrees(said.kind(worlds), row));
                    Compared::Classes {
                        classes,
                        said: numbers,
                        known: known.clone(),
                    }
                }
                Answer::Truths { said, known } => Compared::Truths {
                    said: (said.scores(knowledge, model, worlds)?.into_iter())
                        .map(|score| degree(said.kind(worlds), score))
                        .collect(),
                    known: known.clone(),
                },
                Answer::Values { asked, rows, known } => Compared::Values {
                    said: asked.numbers(knowledge, model, asked.rows(rows, known.len()))?,
                    known: known.clone(),
                },
                Answer::Ranks(_) | Answer::Rows(_) => continue,
            };
            found.push(Answered {
                of: measure.of.clone(),
                metric: measure.label.clone(),
                answers,
            });
        }
        Ok(found)
    }
}
