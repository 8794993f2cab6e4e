//! Predictions for the rows of metrics beside the known values, for plots.

use logltn::{Diagnostics, OutputKind};

use super::{Answer, Measures};
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
                    let numbers = said.numbers(knowledge, model, worlds)?;
                    let classes = numbers.len() / known.len().max(1);
                    let rows = numbers.chunks_exact(classes.max(1));
                    Compared::Classes {
                        classes,
                        said: rows
                            .flat_map(|row| degrees(row, said.kind(worlds)))
                            .collect(),
                        known: known.clone(),
                    }
                }
                Answer::Truths { said, known } => Compared::Truths {
                    said: (said.scores(knowledge, model, worlds)?.into_iter())
                        .map(|score| degree(score, said.kind(worlds)))
                        .collect(),
                    known: known.clone(),
                },
                Answer::Values { known, .. } => Compared::Values {
                    said: measure.values(knowledge, model)?,
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

/// A score as a truth degree. The scores of a softmax are logs of probabilities.
fn degree(score: f64, kind: OutputKind) -> f64 {
    match kind {
        OutputKind::Sigmoid => 1.0 / (1.0 + (-score).exp()),
        OutputKind::Truth => score,
        OutputKind::Softmax | OutputKind::LogTruth => score.exp().min(1.0),
    }
}

/// The numbers of a row's classes as truth degrees.
fn degrees(row: &[f64], kind: OutputKind) -> Vec<f64> {
    match kind {
        OutputKind::Softmax => {
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shares: Vec<f64> = row.iter().map(|x| (x - most).exp()).collect();
            let sum: f64 = shares.iter().sum();
            shares.into_iter().map(|share| share / sum).collect()
        }
        kind => row.iter().map(|x| degree(*x, kind)).collect(),
    }
}
