//! From gradients to better parameters.

use rayon::prelude::*;

use crate::buffer::LANES;
use crate::loops::AdamStep;
use crate::processor::Processor;

/// A table update is sparse if at most one row in this many has a gradient.
const FEW: usize = 8;

/// Parameters are updated in pieces of this length, in parallel if there are several.
const PIECE: usize = 1 << 15;

/// The settings of [`Optimizer::adam`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// How slowly the mean of the gradients forgets.
    pub beta1: f32,
    /// How slowly the mean of their squares forgets.
    pub beta2: f32,
    /// Added to the root of the mean of the squares.
    pub epsilon: f32,
    /// Each step also takes this part of the parameters away, times the learning rate. Not 0: AdamW.
    pub weight_decay: f32,
}

impl Default for AdamSettings {
    /// 0.9, 0.999, 1e-8, no weight decay: those of its authors, and of PyTorch.
    fn default() -> Self {
        Self {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
        }
    }
}

impl AdamSettings {
    /// AdamW: the defaults, and weight decay that is kept apart from the gradients.
    pub fn adamw(weight_decay: f32) -> Self {
        Self {
            weight_decay,
            ..Self::default()
        }
    }
}

/// How parameters are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Adam(AdamSettings),
    Sgd { momentum: f32 },
}

/// An optimizer with what it remembers.
///
/// ```
/// use logltn_nn::{AdamSettings, Optimizer};
/// let mut parameters = [1.0, -1.0];
/// let mut adam = Optimizer::adam(AdamSettings::default(), parameters.len());
/// adam.step(0.1, &mut parameters, &[3.0, -0.01]);
/// // The first step has the length of the learning rate, whatever the gradients.
/// assert!((parameters[0] - 0.9).abs() < 1e-6 && (parameters[1] + 0.9).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    method: Method,
    state: OptimizerState,
}

/// What an optimizer remembers, for checkpoints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizerState {
    /// The number of steps taken.
    pub steps: u64,
    /// One number for each parameter: the mean of the gradients of Adam, the velocity of SGD (empty without momentum).
    pub first: Vec<f32>,
    /// One number for each parameter: the mean of the squares of Adam, empty for SGD.
    pub second: Vec<f32>,
}

impl Optimizer {
    /// Adam or AdamW (Kingma and Ba 2015, Loshchilov and Hutter 2019), as in PyTorch, for this many parameters.
    pub fn adam(settings: AdamSettings, parameters: usize) -> Self {
        Self {
            method: Method::Adam(settings),
            state: OptimizerState {
                steps: 0,
                first: vec![0.0; parameters],
                second: vec![0.0; parameters],
            },
        }
    }

    /// Stochastic gradient descent, with momentum as in PyTorch: v = momentum · v + g, parameters −= learning rate · v. The
    /// momentum is how much of the last step's velocity is kept, from 0 to 1.
    pub fn sgd(momentum: f32, parameters: usize) -> Self {
        let velocities = if momentum == 0.0 { 0 } else { parameters };
        Self {
            method: Method::Sgd { momentum },
            state: OptimizerState {
                steps: 0,
                first: vec![0.0; velocities],
                second: vec![],
            },
        }
    }

    /// Moves the parameters against their gradients.
    ///
    /// # Panics
    /// If there are not as many parameters and gradients as there were said to be.
    pub fn step(&mut self, learning_rate: f32, parameters: &mut [f32], gradients: &[f32]) {
        match self.method {
            Method::Adam(settings) => {
                let step = self.begin(settings, learning_rate, parameters, gradients);
                self.step_pieces(&step, PIECE, parameters, gradients, |_| true);
            }
            Method::Sgd { momentum } => {
                self.descend(momentum, learning_rate, parameters, gradients)
            }
        }
    }

    /// The same for the rows of a table, this many numbers each, that have a gradient. Other rows and their moments stay
    /// unchanged. That is not quite Adam, which keeps moving a row for a while after its last gradient; but it is much less
    /// work if each step reads a few rows of many. If it is known which rows may have a gradient, only those are examined.
    ///
    /// # Panics
    /// As [`Optimizer::step`]; or if a row has no numbers.
    pub fn step_rows(
        &mut self,
        (width, rows): (usize, Option<&[u32]>),
        learning_rate: f32,
        parameters: &mut [f32],
        gradients: &[f32],
    ) {
        let Method::Adam(settings) = self.method else {
            return self.step(learning_rate, parameters, gradients);
        };
        let step = self.begin(settings, learning_rate, parameters, gradients);
        let wanted = |gradients: &[f32]| gradients.iter().any(|g| *g != 0.0);
        let Some(rows) = rows.filter(|rows| rows.len() * width * FEW <= parameters.len()) else {
            return self.step_pieces(&step, width, parameters, gradients, wanted);
        };
        let processor = Processor::fastest();
        let OptimizerState { first, second, .. } = &mut self.state;
        for &row in rows {
            let row = row as usize * width..(row as usize + 1) * width;
            if wanted(&gradients[row.clone()]) {
                let (parameters, gradients) =
                    (&mut parameters[row.clone()], &gradients[row.clone()]);
                let (first, second) = (&mut first[row.clone()], &mut second[row]);
                processor.adam(&step, parameters, gradients, first, second);
            }
        }
    }

    /// One more step of these.
    fn begin(
        &mut self,
        settings: AdamSettings,
        learning_rate: f32,
        parameters: &[f32],
        gradients: &[f32],
    ) -> AdamStep {
        let AdamSettings {
            beta1,
            beta2,
            epsilon,
            weight_decay,
        } = settings;
        let state = &mut self.state;
        let lengths = [gradients.len(), state.first.len()];
        assert_eq!([parameters.len(); 2], lengths, "as many as at first");
        state.steps += 1;
        // In double precision: 1 − 0.999ᵗ would lose three digits.
        let unbias = |beta: f32| 1.0 - f64::from(beta).powf(state.steps as f64);
        AdamStep {
            beta1,
            beta2,
            epsilon,
            keep: 1.0 - learning_rate * weight_decay,
            rate: (f64::from(learning_rate) / unbias(beta1)) as f32,
            unbias_root: (1.0 / unbias(beta2).sqrt()) as f32,
        }
    }

    /// Moves the pieces whose gradients are wanted.
    fn step_pieces(
        &mut self,
        step: &AdamStep,
        piece: usize,
        parameters: &mut [f32],
        gradients: &[f32],
        wanted: impl Fn(&[f32]) -> bool + Sync,
    ) {
        let state = &mut self.state;
        let processor = Processor::fastest();
        let (first, second) = (&mut state.first, &mut state.second);
        // Whole pieces, about as many numbers at a time as before.
        let share = piece * (PIECE / piece).max(1);
        let pieces =
            |parameters: &mut [f32], gradients: &[f32], first: &mut [f32], second: &mut [f32]| {
                let means = first.chunks_mut(piece).zip(second.chunks_mut(piece));
                let moved = parameters.chunks_mut(piece).zip(gradients.chunks(piece));
                for ((parameters, gradients), (first, second)) in moved.zip(means) {
                    if wanted(gradients) {
                        processor.adam(step, parameters, gradients, first, second);
                    }
                }
            };
        if parameters.len() <= share {
            pieces(parameters, gradients, first, second);
            return;
        }
        parameters
            .par_chunks_mut(share)
            .zip(gradients.par_chunks(share))
            .zip(
                first
                    .par_chunks_mut(share)
                    .zip(second.par_chunks_mut(share)),
            )
            .for_each(|((parameters, gradients), (first, second))| {
                pieces(parameters, gradients, first, second);
            });
    }

    fn descend(
        &mut self,
        momentum: f32,
        learning_rate: f32,
        parameters: &mut [f32],
        gradients: &[f32],
    ) {
        assert_eq!(
            parameters.len(),
            gradients.len(),
            "one gradient for each parameter"
        );
        self.state.steps += 1;
        if momentum == 0.0 {
            for (parameter, gradient) in parameters.iter_mut().zip(gradients) {
                *parameter -= learning_rate * gradient;
            }
            return;
        }
        let velocities = &mut self.state.first;
        assert_eq!(
            parameters.len(),
            velocities.len(),
            "as many parameters as at first"
        );
        for ((parameter, gradient), velocity) in
            parameters.iter_mut().zip(gradients).zip(velocities)
        {
            *velocity = momentum * *velocity + gradient;
            *parameter -= learning_rate * *velocity;
        }
    }

    /// What it remembers.
    pub fn state(&self) -> &OptimizerState {
        &self.state
    }

    /// What it remembers, to be replaced by what a checkpoint holds.
    pub fn state_mut(&mut self) -> &mut OptimizerState {
        &mut self.state
    }
}

/// The sum of the squares of all these numbers, in double precision: the same bits on any number of threads.
pub fn sum_of_squares(x: &[f32]) -> f64 {
    if x.len() <= PIECE {
        let mut sums = [0.0; LANES];
        Processor::fastest().add_squares(x, &mut sums);
        return sums.into_iter().sum();
    }
    // Halves and halves of halves, at places that depend on the length alone.
    let (one, other) = x.split_at(x.len().div_ceil(PIECE) / 2 * PIECE);
    let (one, other) = rayon::join(|| sum_of_squares(one), || sum_of_squares(other));
    one + other
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of the papers, in double precision.
    fn adam_by_the_book(settings: AdamSettings, steps: &[(f32, f32)], mut parameter: f64) -> f64 {
        let (b1, b2) = (f64::from(settings.beta1), f64::from(settings.beta2));
        let (mut m, mut v) = (0.0, 0.0);
        for (t, &(rate, gradient)) in (1..).zip(steps) {
            let (rate, g) = (f64::from(rate), f64::from(gradient));
            m = b1 * m + (1.0 - b1) * g;
            v = b2 * v + (1.0 - b2) * g * g;
            let (m_hat, v_hat) = (m / (1.0 - b1.powi(t)), v / (1.0 - b2.powi(t)));
            let decay = f64::from(settings.weight_decay) * parameter;
            parameter -= rate * (m_hat / (v_hat.sqrt() + f64::from(settings.epsilon)) + decay);
        }
        parameter
    }

    #[test]
    fn rows_without_a_gradient_stay_and_are_remembered() {
        let settings = AdamSettings::default();
        let (mut sparse, mut dense) = (Optimizer::adam(settings, 6), Optimizer::adam(settings, 6));
        let (mut a, mut b) = ([1.0; 6], [1.0; 6]);
        let all = [0.5, 0.0, -1.0, 2.0, 0.1, 0.3];
        sparse.step_rows((2, None), 0.1, &mut a, &all);
        dense.step(0.1, &mut b, &all);
        assert_eq!(a, b);
        let (before, kept) = (a, sparse.state().clone());
        sparse.step_rows((2, None), 0.1, &mut a, &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
        dense.step(0.1, &mut b, &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
        for i in [0, 1, 4, 5] {
            assert_eq!(a[i], before[i]);
            assert_eq!(sparse.state().first[i], kept.first[i]);
            assert_eq!(sparse.state().second[i], kept.second[i]);
        }
        assert_eq!(a[2..4], b[2..4]);
        assert_ne!(a[0], b[0]);
    }

    #[test]
    fn rows_that_are_listed_move_as_if_all_were_looked_at() {
        let rows = 64;
        let mut gradients = vec![0.0; 2 * rows];
        gradients[20..24].copy_from_slice(&[1.0, -2.0, 0.5, 0.0]);
        let (mut a, mut b) = (vec![1.0; 2 * rows], vec![1.0; 2 * rows]);
        let mut both = [a.len(); 2].map(|n| Optimizer::adam(AdamSettings::default(), n));
        for _ in 0..3 {
            let [one, other] = &mut both;
            one.step_rows((2, None), 0.1, &mut a, &gradients);
            other.step_rows((2, Some(&[3, 10, 11])), 0.1, &mut b, &gradients);
        }
        assert_eq!(a, b);
        assert_eq!(both[0].state(), both[1].state());
        assert_ne!(a[20], 1.0);
    }

    #[test]
    fn adam_is_by_the_book() {
        let steps: Vec<(f32, f32)> = (0..200)
            .map(|i| (0.01 + 0.0001 * i as f32, (i as f32 * 0.7).sin() + 0.3))
            .collect();
        for settings in [
            AdamSettings::default(),
            AdamSettings::adamw(0.1),
            AdamSettings {
                beta1: 0.5,
                beta2: 0.9,
                epsilon: 0.1,
                weight_decay: 0.0,
            },
        ] {
            // Enough parameters for several pieces, not a whole number of them.
            let length = 2 * PIECE + 5;
            let mut parameters = vec![0.5; length];
            let mut adam = Optimizer::adam(settings, length);
            for &(rate, gradient) in &steps {
                adam.step(rate, &mut parameters, &vec![gradient; length]);
            }
            let truth = adam_by_the_book(settings, &steps, 0.5);
            assert!(
                parameters
                    .iter()
                    .all(|&p| (f64::from(p) - truth).abs() < 2e-5)
            );
            assert_eq!(adam.state().steps, 200);
        }
    }

    #[test]
    fn adam_goes_on_from_its_state() {
        let (mut parameters, gradients) = ([0.1, 0.2, 0.3], [0.5, -0.1, 0.0]);
        let mut adam = Optimizer::adam(AdamSettings::default(), 3);
        adam.step(0.1, &mut parameters, &gradients);
        let (mut again, mut of_again) = (Optimizer::adam(AdamSettings::default(), 3), parameters);
        *again.state_mut() = adam.state().clone();
        adam.step(0.1, &mut parameters, &gradients);
        again.step(0.1, &mut of_again, &gradients);
        assert_eq!(parameters, of_again);
    }

    #[test]
    fn sgd_with_and_without_momentum() {
        let mut parameters = [1.0, 2.0];
        let mut plain = Optimizer::sgd(0.0, 2);
        plain.step(0.5, &mut parameters, &[1.0, -1.0]);
        assert_eq!(parameters, [0.5, 2.5]);
        let mut heavy = Optimizer::sgd(0.5, 2);
        heavy.step(1.0, &mut parameters, &[1.0, 0.0]);
        heavy.step(1.0, &mut parameters, &[1.0, 0.0]);
        assert_eq!(parameters, [-2.0, 2.5]);
        assert_eq!(heavy.state().first, [1.5, 0.0]);
    }
}
