//! One optimiser over all blocks of a model's parameters.

use logltn_nn::{Adam, AdamSettings, OptimiserState, Sgd, SgdSettings, sum_of_squares};

use crate::model::Model;
use crate::training::Optimizer;

/// The optimiser of every block, in the model's order.
#[derive(Debug)]
pub(crate) struct Optimise {
    kind: Optimizer,
    blocks: Vec<(String, Block)>,
    /// Blocks of this name are moved twice in a step.
    twice: Option<String>,
}

#[derive(Debug)]
enum Block {
    Adam(Adam),
    Sgd(Sgd),
}

impl Optimise {
    pub fn new(kind: Optimizer, model: &mut Model) -> Optimise {
        let mut optimise = Optimise {
            kind,
            blocks: Vec::new(),
            twice: None,
        };
        optimise.cover(model);
        optimise
    }

    /// Every block of the model, also new ones.
    pub fn cover(&mut self, model: &mut Model) {
        let (mut at, kind, blocks) = (0, self.kind, &mut self.blocks);
        model.visit_parameters(&mut |name, values, _| {
            cover(blocks, at, kind, name, values.len());
            at += 1;
        });
    }

    /// Moves the parameters of one predicate's network twice in each step, by the same gradient.
    pub fn move_twice(&mut self, predicate: &str) {
        self.twice = Some(predicate.to_string());
    }

    /// Clips the gradient to a norm, if one is given; returns the norm it had.
    pub fn clip(model: &mut Model, largest: Option<f64>) -> f64 {
        let mut squares = 0.0;
        model.visit_gradients(&mut |gradients| {
            squares += sum_of_squares(gradients);
        });
        let norm = squares.sqrt();
        if let Some(largest) = largest.filter(|l| norm > *l) {
            let scale = (largest / norm) as f32;
            model.visit_gradients(&mut |gradients| {
                gradients.iter_mut().for_each(|g| *g *= scale);
            });
        }
        norm
    }

    /// Moves the parameters against their gradients.
    pub fn step(&mut self, model: &mut Model, learning_rate: f64) {
        let (mut at, kind, blocks) = (0, self.kind, &mut self.blocks);
        let twice = self.twice.as_deref();
        let rate = learning_rate as f32;
        let decay = match self.kind {
            Optimizer::Sgd { weight_decay, .. } => (1.0 - learning_rate * weight_decay) as f32,
            // AdamW's own.
            Optimizer::Adam | Optimizer::AdamW { .. } => 1.0,
        };
        model.visit_parameters(&mut |name, values, gradients| {
            if decay != 1.0 {
                values.iter_mut().for_each(|v| *v *= decay);
            }
            cover(blocks, at, kind, name, values.len());
            let times = if twice == Some(name) { 2 } else { 1 };
            for _ in 0..times {
                match &mut blocks[at].1 {
                    Block::Adam(adam) => adam.step(rate, values, gradients),
                    Block::Sgd(sgd) => sgd.step(rate, values, gradients),
                }
            }
            at += 1;
        });
    }

    /// What the optimiser of each block remembers, by the block's name.
    pub fn states(&self) -> impl Iterator<Item = (&str, &OptimiserState)> {
        self.blocks.iter().map(|(name, block)| match block {
            Block::Adam(adam) => (name.as_str(), adam.state()),
            Block::Sgd(sgd) => (name.as_str(), sgd.state()),
        })
    }

    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut OptimiserState> {
        self.blocks.iter_mut().map(|(_, block)| match block {
            Block::Adam(adam) => adam.state_mut(),
            Block::Sgd(sgd) => sgd.state_mut(),
        })
    }
}

/// Puts in the optimiser of a block that is new: a host's, or that of a network which is asked about arguments that
/// only rows which came with a call have.
fn cover(blocks: &mut Vec<(String, Block)>, at: usize, kind: Optimizer, name: &str, length: usize) {
    if blocks.get(at).is_none_or(|(known, _)| known != name) {
        blocks.insert(at, (name.to_string(), Block::new(kind, length)));
    }
}

impl Block {
    fn new(kind: Optimizer, length: usize) -> Block {
        match kind {
            Optimizer::Adam => Block::Adam(Adam::new(AdamSettings::default(), length)),
            Optimizer::AdamW { weight_decay } => {
                Block::Adam(Adam::new(AdamSettings::adamw(weight_decay as f32), length))
            }
            Optimizer::Sgd { momentum, .. } => {
                let settings = SgdSettings {
                    momentum: momentum as f32,
                };
                Block::Sgd(Sgd::new(settings, length))
            }
        }
    }
}
