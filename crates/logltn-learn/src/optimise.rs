//! One optimiser over all blocks of a model's parameters.

use logltn_nn::{Adam, AdamSettings, OptimiserState, Sgd, SgdSettings, sum_of_squares};

use crate::manifest::Optimizer;
use crate::model::Model;

/// The optimiser of every block, in the model's order.
#[derive(Debug)]
pub(super) struct Optimise {
    kind: Optimizer,
    blocks: Vec<Block>,
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
        let mut blocks = Vec::new();
        model.visit_parameters(&mut |_, values, _| blocks.push(Block::new(kind, values.len())));
        Optimise {
            kind,
            blocks,
            twice: None,
        }
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
            if at == blocks.len() {
                // Parameters of a host, put behind a predicate since: they are the last.
                blocks.push(Block::new(kind, values.len()));
            }
            let times = if twice == Some(name) { 2 } else { 1 };
            for _ in 0..times {
                match &mut blocks[at] {
                    Block::Adam(adam) => adam.step(rate, values, gradients),
                    Block::Sgd(sgd) => sgd.step(rate, values, gradients),
                }
            }
            at += 1;
        });
    }

    /// What each block's optimiser remembers.
    pub fn states(&self) -> impl Iterator<Item = &OptimiserState> {
        self.blocks.iter().map(|block| match block {
            Block::Adam(adam) => adam.state(),
            Block::Sgd(sgd) => sgd.state(),
        })
    }

    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut OptimiserState> {
        self.blocks.iter_mut().map(|block| match block {
            Block::Adam(adam) => adam.state_mut(),
            Block::Sgd(sgd) => sgd.state_mut(),
        })
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use logltn::Diagnostics;

    use crate::project::Project;
    use crate::train::{TrainOptions, Trainer};

    /// How far the first step moves the parameter that it moves farthest.
    fn first_step(twice: Option<&str>) -> f32 {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../theories/clustering.toml");
        let mut found = Diagnostics::new();
        let project = Project::load(&manifest, &mut found).expect("the project");
        let mut trainer = Trainer::new(project, &TrainOptions::default()).expect("a trainer");
        if let Some(predicate) = twice {
            trainer.move_twice(predicate);
        }
        let parameters = |trainer: &mut Trainer| {
            let mut all = Vec::new();
            (trainer.model_mut())
                .visit_parameters(&mut |_, values, _| all.extend_from_slice(values));
            all
        };
        let before = parameters(&mut trainer);
        trainer.step().expect("a step");
        let moved = (before.iter().zip(parameters(&mut trainer))).map(|(a, b)| (a - b).abs());
        moved.fold(0.0, f32::max)
    }

    #[test]
    fn a_network_that_is_moved_twice_goes_twice_as_far() {
        let once = first_step(None);
        // Adam's first steps are as long as the learning rate.
        assert!((once - 0.002).abs() < 1e-5, "{once}");
        assert!((first_step(Some("C")) - 2.0 * once).abs() < 1e-5);
        assert_eq!(first_step(Some("another")), once);
    }
}
