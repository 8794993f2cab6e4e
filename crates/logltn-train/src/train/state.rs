//! The whole state of a training as a checkpoint, and back.

use logltn::{Code, Diagnostic, Diagnostics};

use super::Trainer;
use crate::run_directory::Checkpoint;

impl Trainer {
    /// The trained parameters alone. Its bytes depend on the inputs and the seed only.
    pub fn weights(&mut self) -> Checkpoint {
        let mut checkpoint = Checkpoint::default();
        self.model.store(&mut checkpoint);
        checkpoint
    }

    /// Everything that the rest of the training depends on.
    pub fn checkpoint(&mut self) -> Checkpoint {
        let mut checkpoint = Checkpoint::default();
        self.model.store(&mut checkpoint);
        let mut optimiser_steps = Vec::new();
        for (i, state) in self.optimise.states().enumerate() {
            optimiser_steps.push(state.steps.to_string());
            for (what, values) in [("first", &state.first), ("second", &state.second)] {
                if !values.is_empty() {
                    let name = format!("optimiser.{i}.{what}");
                    checkpoint
                        .tensors
                        .push((name, vec![values.len()], values.clone()));
                }
            }
        }
        let batches: Vec<String> = (self.batches.iter())
            .map(|b| format!("{}:{}", b.state().0, b.state().1))
            .collect();
        let mut put = |key: &str, value: String| checkpoint.meta.insert(key.to_string(), value);
        put("step", self.done.to_string());
        put("steps", self.total.to_string());
        put("seed", self.seed.to_string());
        put("semantics", self.semantics.to_string());
        put("optimiser_steps", optimiser_steps.join(","));
        put("batches", batches.join(","));
        put("stopped_early", self.stopped_early.to_string());
        if let Some((value, ago)) = self.best {
            put("best", format!("{}:{ago}", value.to_bits()));
        }
        checkpoint
    }

    /// Takes up a training where its checkpoint was made.
    ///
    /// # Errors
    /// If the checkpoint is of another training: another seed, semantics, number of steps, or other networks.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Diagnostics> {
        let other = |what: String| {
            Diagnostics::from(
                Diagnostic::error(
                    Code::RunDiffers,
                    format!("the checkpoint is of another training: {what}"),
                )
                .help("resume with the same manifest and flags, or start anew in another folder"),
            )
        };
        let meta = |key: &str| checkpoint.meta.get(key).map_or("", String::as_str);
        if meta("seed") != self.seed.to_string() {
            return Err(other(format!(
                "its seed is {}, not {}",
                meta("seed"),
                self.seed
            )));
        }
        if meta("semantics") != self.semantics.to_string() {
            return Err(other(format!(
                "its semantics is {}, not {}",
                meta("semantics"),
                self.semantics
            )));
        }
        // Schedules depend on it.
        if meta("steps") != self.total.to_string() {
            return Err(other(format!(
                "it has {} steps, not {}",
                meta("steps"),
                self.total
            )));
        }
        let damaged = || {
            Diagnostics::from(Diagnostic::error(
                Code::RunDamaged,
                "the checkpoint's record of the training is damaged",
            ))
        };
        let numbers = |key: &str| -> Option<Vec<u64>> {
            let parts = meta(key).split(',').filter(|p| !p.is_empty());
            parts.map(|p| p.parse().ok()).collect()
        };
        let pair = |text: &str| -> Option<(u64, u64)> {
            let (a, b) = text.split_once(':')?;
            Some((a.parse().ok()?, b.parse().ok()?))
        };
        let done: u64 = meta("step").parse().map_err(|_| damaged())?;
        let steps = numbers("optimiser_steps").ok_or_else(damaged)?;
        let batches: Option<Vec<(u64, u64)>> = (meta("batches").split(','))
            .filter(|p| !p.is_empty())
            .map(pair)
            .collect();
        let batches = batches.ok_or_else(damaged)?;
        if batches.len() != self.batches.len() || steps.len() != self.optimise.states().count() {
            return Err(other("it has other tables or other networks".to_string()));
        }
        self.restore_parameters(checkpoint)?;
        for (i, (state, steps)) in self.optimise.states_mut().zip(steps).enumerate() {
            state.steps = steps;
            for (what, values) in [("first", &mut state.first), ("second", &mut state.second)] {
                if values.is_empty() {
                    continue;
                }
                match checkpoint.tensor(&format!("optimiser.{i}.{what}")) {
                    Some((_, stored)) if stored.len() == values.len() => {
                        values.copy_from_slice(stored);
                    }
                    _ => return Err(other("its optimiser is another one".to_string())),
                }
            }
        }
        for (batches, state) in self.batches.iter_mut().zip(batches) {
            batches.resume(self.seed, state);
        }
        self.best = checkpoint.meta.get("best").and_then(|text| {
            let (value, ago) = pair(text)?;
            Some((f64::from_bits(value), ago))
        });
        self.stopped_early = meta("stopped_early") == "true";
        self.done = done;
        self.attached = None;
        Ok(())
    }

    /// Puts trained parameters back.
    ///
    /// # Errors
    /// If they are of other networks.
    pub fn restore_parameters(&mut self, checkpoint: &Checkpoint) -> Result<(), Diagnostics> {
        self.model.restore(checkpoint)?;
        self.attached = None;
        Ok(())
    }
}
