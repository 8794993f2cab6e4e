//! The state of a session, taken and put back.

use logltn::{Code, Diagnostic, Diagnostics};

use super::{Best, Session};
use crate::state::{NamedTensor, State};
use logltn_nn::OptimizerState;

/// What the names of the best parameters that early stopping has seen begin with.
const BEST: &str = "early_stop.best.";

impl Session {
    /// The trained parameters alone. They depend on the inputs and the seed only.
    pub fn weights(&mut self) -> State {
        let mut state = State::default();
        self.model.store(&mut state);
        state
    }

    /// Everything that the rest of the training depends on.
    pub fn state(&mut self) -> State {
        let mut state = self.weights();
        let mut facts: Vec<(String, String)> = Vec::new();
        for (name, optimizer) in self.optimizers.states() {
            facts.push((
                format!("optimiser.{name}.steps"),
                optimizer.steps.to_string(),
            ));
            for (what, values) in [("first", &optimizer.first), ("second", &optimizer.second)] {
                if !values.is_empty() {
                    let name = format!("optimiser.{name}.{what}");
                    state
                        .tensors
                        .push((name, vec![values.len()], values.clone()));
                }
            }
        }
        for (table, (drawn, at)) in self.rows.states() {
            let name = &self.knowledge.theory()[table].name;
            facts.push((format!("batches.{name}"), format!("{drawn}:{at}")));
        }
        let mut put = |key: &str, value: String| facts.push((key.to_string(), value));
        put("step", self.done.to_string());
        put("steps", self.total.to_string());
        put("seed", self.training.seed.to_string());
        put("semantics", self.training.semantics.to_string());
        let stopped = self.best.as_ref().is_some_and(|best| best.stopped);
        put("stopped_early", stopped.to_string());
        if let Some(best) = &self.best {
            let Best {
                value, step, ago, ..
            } = best;
            put("best", format!("{}:{ago}:{step}", value.to_bits()));
            let tensors = best.weights.tensors.iter().cloned();
            let named = |(name, shape, values)| (format!("{BEST}{name}"), shape, values);
            state.tensors.extend(tensors.map(named));
        }
        state.facts = facts.into_iter().collect();
        state
    }

    /// Takes up a training where its state was taken: it continues with the same bits.
    ///
    /// # Errors
    /// If the state is of another training: another seed, semantics, number of steps, or other networks. The session
    /// is then as it was.
    pub fn restore(&mut self, state: &State) -> Result<(), Diagnostics> {
        self.check_training(state)?;
        let pair = |text: &str| -> Option<(u64, u64)> {
            let (a, b) = text.split_once(':')?;
            Some((a.parse().ok()?, b.parse().ok()?))
        };
        let done: u64 = state.fact("step").parse().map_err(|_| damaged())?;
        let count = |what: &str| state.facts.keys().filter(|f| f.starts_with(what)).count();
        if count("batches.") != self.rows.states().len()
            || count("optimiser.") != self.optimizers.states().count()
        {
            return Err(other("it has other tables or other networks".to_string()));
        }
        let mut batches = Vec::new();
        for (table, _) in self.rows.states() {
            let name = &self.knowledge.theory()[table].name;
            let at = fact(state, &format!("batches.{name}"))?;
            batches.push(pair(at).ok_or_else(damaged)?);
        }
        let optimizers = self.stored_optimizers(state)?;
        let best = match state.facts.get("best") {
            None => None,
            Some(fact) => Some(best(state, fact).ok_or_else(damaged)?),
        };
        self.restore_weights(state)?;
        for (now, then) in self.optimizers.states_mut().zip(optimizers) {
            *now = then;
        }
        self.rows.resume(&batches);
        self.best = best;
        self.done = done;
        Ok(())
    }

    /// Refuses a state of another training.
    fn check_training(&self, state: &State) -> Result<(), Diagnostics> {
        let training = &self.training;
        for (name, what, now) in [
            ("seed", "its seed is", training.seed.to_string()),
            (
                "semantics",
                "its semantics is",
                training.semantics.to_string(),
            ),
        ] {
            if state.fact(name) != now {
                return Err(other(format!("{what} {}, not {now}", state.fact(name))));
            }
        }
        // Schedules depend on it.
        if state.fact("steps") != self.total.to_string() {
            let (steps, total) = (state.fact("steps"), self.total);
            return Err(other(format!("it has {steps} steps, not {total}")));
        }
        Ok(())
    }

    /// What the optimizers knew of each block of parameters.
    fn stored_optimizers(&self, state: &State) -> Result<Vec<OptimizerState>, Diagnostics> {
        let mut optimizers = Vec::new();
        for (name, now) in self.optimizers.states() {
            let steps = fact(state, &format!("optimiser.{name}.steps"))?;
            let mut then = now.clone();
            then.steps = steps.parse().map_err(|_| damaged())?;
            for (what, values) in [("first", &mut then.first), ("second", &mut then.second)] {
                if values.is_empty() {
                    continue;
                }
                match state.tensor(&format!("optimiser.{name}.{what}")) {
                    Some((_, stored)) if stored.len() == values.len() => {
                        values.copy_from_slice(stored);
                    }
                    _ => return Err(other("its optimizer differs".to_string())),
                }
            }
            optimizers.push(then);
        }
        Ok(optimizers)
    }

    /// Restores trained parameters and nothing else.
    ///
    /// # Errors
    /// If they belong to other networks. The parameters are then unchanged.
    pub fn restore_weights(&mut self, weights: &State) -> Result<(), Diagnostics> {
        self.model.restore(weights)?;
        self.attached = None;
        Ok(())
    }
}

fn other(what: String) -> Diagnostics {
    let what = format!("the checkpoint belongs to another training: {what}");
    let help = "resume with the same manifest and flags, or start again in another folder";
    (Diagnostic::error(Code::RunDiffers, what).help(help)).into()
}

fn damaged() -> Diagnostics {
    let what = "the checkpoint's record of the training is damaged";
    Diagnostic::error(Code::RunDamaged, what).into()
}

fn fact<'s>(state: &'s State, name: &str) -> Result<&'s String, Diagnostics> {
    let other = || other("it has other tables or other networks".to_string());
    state.facts.get(name).ok_or_else(other)
}

/// The best state that early stopping had seen. It must be complete: without its parameters the run would end
/// with others.
fn best(state: &State, fact: &str) -> Option<Best> {
    let mut numbers = fact.split(':').map(str::parse::<u64>);
    let mut number = || numbers.next()?.ok();
    let (value, ago, step) = (f64::from_bits(number()?), number()?, number()?);
    let tensors: Vec<NamedTensor> = (state.tensors.iter())
        .filter_map(|(name, shape, values)| {
            let name = name.strip_prefix(BEST)?;
            Some((name.to_string(), shape.clone(), values.clone()))
        })
        .collect();
    (!tensors.is_empty()).then_some(Best {
        value,
        step,
        ago,
        stopped: state.fact("stopped_early") == "true",
        weights: State {
            tensors,
            ..State::default()
        },
    })
}
