//! One optimizer over all blocks of a model's parameters.

use std::ops::Range;

use logltn_nn::{AdamSettings, OptimizerState, sum_of_squares};

use crate::model::Model;
use crate::part_names::belongs;
use crate::training::Optimizer;

/// The optimizer of every block, in the model's order.
#[derive(Debug)]
pub(crate) struct Optimizers {
    kind: Optimizer,
    blocks: Vec<OptimizedBlock>,
    /// Blocks of this name are moved twice in a step.
    twice: Option<String>,
    frozen: Frozen,
}

/// What does not move.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frozen {
    /// Predicates, functions, networks and sorts by name.
    pub names: Vec<String>,
    /// Learnable constants: the block that they are in, and which of its numbers.
    pub constants: Vec<(String, Range<usize>)>,
}

#[derive(Debug)]
struct OptimizedBlock {
    name: String,
    optimizer: logltn_nn::Optimizer,
    /// How many numbers a row has, if rows without a gradient stay unchanged.
    row: Option<usize>,
    /// The numbers that stay unchanged.
    frozen: Vec<Range<usize>>,
    /// What they are.
    held: Vec<f32>,
}

/// The square of more is infinite in single precision; with a margin, as several steps add up.
const LARGEST_SQUARED: f64 = 1e19;

impl Optimizers {
    pub fn new(kind: Optimizer, frozen: Frozen, model: &mut Model) -> Optimizers {
        model.set_sparse(kind == Optimizer::SparseAdam);
        let mut optimizers = Optimizers {
            kind,
            blocks: Vec::new(),
            twice: None,
            frozen,
        };
        optimizers.cover(model);
        optimizers
    }

    /// The same anew, for a model that has got other blocks.
    pub fn anew(&mut self, model: &mut Model) {
        *self = Optimizers::new(self.kind, self.frozen.clone(), model);
    }

    /// Every block of the model, also new ones.
    pub fn cover(&mut self, model: &mut Model) {
        let (mut at, kind, blocks) = (0, self.kind, &mut self.blocks);
        let frozen = &self.frozen;
        model.visit_parameters(&mut |name, values, _| {
            cover(blocks, at, (kind, frozen), name, values.len());
            at += 1;
        });
        if self.kind == Optimizer::SparseAdam {
            for block in &mut self.blocks {
                block.row = match model.shape(&block.name) {
                    Some([_, width]) => Some(*width).filter(|w| *w > 0),
                    _ => None,
                };
            }
        }
    }

    /// Forgets the gradients of what does not move: they count for nothing.
    pub fn hold(&mut self, model: &mut Model) {
        if self.frozen.names.is_empty() && self.frozen.constants.is_empty() {
            return;
        }
        self.cover(model);
        let mut blocks = self.blocks.iter();
        model.visit_gradients(&mut |gradients| {
            for range in blocks.next().iter().flat_map(|block| &block.frozen) {
                gradients[range.clone()].fill(0.0);
            }
        });
    }

    /// Whether something is learnt and not held.
    pub fn moves_something(&mut self, model: &mut Model) -> bool {
        self.cover(model);
        let (mut blocks, mut any) = (self.blocks.iter(), false);
        model.visit_parameters(&mut |_, values, _| {
            let frozen = blocks.next().into_iter().flat_map(|block| &block.frozen);
            any |= frozen.map(|range| range.len()).sum::<usize>() < values.len();
        });
        any
    }

    /// Moves the parameters of one predicate's network twice in each step, by the same gradient.
    pub fn move_twice(&mut self, predicate: &str) {
        self.twice = Some(predicate.to_string());
    }

    /// Clips the gradient to a norm, if one is given; returns the norm it had.
    pub fn clip(model: &mut Model, largest: Option<f64>) -> f64 {
        let mut squares = 0.0;
        model.visit_pieces(&mut |gradients| {
            squares += sum_of_squares(gradients);
        });
        let norm = squares.sqrt();
        if let Some(largest) = largest.filter(|l| norm > *l) {
            let scale = (largest / norm) as f32;
            model.visit_pieces(&mut |gradients| {
                gradients.iter_mut().for_each(|g| *g *= scale);
            });
        }
        norm
    }

    /// Whether a gradient of such a norm may be more than the optimizer can remember: Adam keeps squares.
    pub fn loses(&self, norm: f64) -> bool {
        match self.kind {
            Optimizer::Adam | Optimizer::SparseAdam | Optimizer::AdamW { .. } => {
                norm > LARGEST_SQUARED
            }
            Optimizer::Sgd { .. } => false,
        }
    }

    /// Moves the parameters against their gradients.
    pub fn step(&mut self, model: &mut Model, learning_rate: f64) {
        if self.kind == Optimizer::SparseAdam {
            self.cover(model);
        }
        let (mut at, kind, blocks) = (0, self.kind, &mut self.blocks);
        let (twice, frozen) = (self.twice.as_deref(), &self.frozen);
        let rate = learning_rate as f32;
        let decay = match self.kind {
            Optimizer::Sgd { weight_decay, .. } => (1.0 - learning_rate * weight_decay) as f32,
            // AdamW's own.
            Optimizer::Adam | Optimizer::SparseAdam | Optimizer::AdamW { .. } => 1.0,
        };
        model.visit_rows(&mut |name, values, gradients, rows| {
            cover(blocks, at, (kind, frozen), name, values.len());
            let OptimizedBlock {
                optimizer,
                row,
                frozen,
                held,
                ..
            } = &mut blocks[at];
            at += 1;
            if frozen.iter().any(|range| range.len() == values.len()) {
                return;
            }
            held.clear();
            let still = frozen.iter().flat_map(|range| &values[range.clone()]);
            held.extend(still);
            if decay != 1.0 {
                values.iter_mut().for_each(|v| *v *= decay);
            }
            let times = if twice == Some(name) { 2 } else { 1 };
            for _ in 0..times {
                match *row {
                    Some(width) => optimizer.step_rows((width, rows), rate, values, gradients),
                    None => optimizer.step(rate, values, gradients),
                }
            }
            let mut held = held.iter();
            for range in frozen {
                let still = values[range.clone()].iter_mut().zip(&mut held);
                still.for_each(|(value, held)| *value = *held);
            }
        });
    }

    /// What the optimizer of each block remembers, by the block's name.
    pub fn states(&self) -> impl Iterator<Item = (&str, &OptimizerState)> {
        let blocks = self.blocks.iter();
        blocks.map(|block| (block.name.as_str(), block.optimizer.state()))
    }

    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut OptimizerState> {
        let blocks = self.blocks.iter_mut();
        blocks.map(|block| block.optimizer.state_mut())
    }
}

/// Puts in the optimizer of a block that is new: a host's, or that of a network which only a question asks about.
fn cover(
    blocks: &mut Vec<OptimizedBlock>,
    at: usize,
    (kind, frozen): (Optimizer, &Frozen),
    name: &str,
    length: usize,
) {
    if blocks.get(at).is_some_and(|known| known.name == name) {
        return;
    }
    let whole = frozen.names.iter().any(|part| belongs(name, part));
    let constants = frozen.constants.iter().filter(|(block, _)| block == name);
    let block = OptimizedBlock {
        name: name.to_string(),
        optimizer: optimizer(kind, length),
        row: None,
        frozen: match whole {
            true => vec![Range {
                start: 0,
                end: length,
            }],
            false => constants.map(|(_, range)| range.clone()).collect(),
        },
        held: Vec::new(),
    };
    blocks.insert(at, block);
}

/// The optimizer of a block of this many numbers.
fn optimizer(kind: Optimizer, length: usize) -> logltn_nn::Optimizer {
    let settings = match kind {
        Optimizer::Adam | Optimizer::SparseAdam => AdamSettings::default(),
        Optimizer::AdamW { weight_decay } => AdamSettings::adamw(weight_decay as f32),
        Optimizer::Sgd { momentum, .. } => {
            return logltn_nn::Optimizer::sgd(momentum as f32, length);
        }
    };
    logltn_nn::Optimizer::adam(settings, length)
}
