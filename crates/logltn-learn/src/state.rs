//! The whole state of a training, by name.

use std::collections::BTreeMap;

use logltn::{Code, Diagnostic, Diagnostics};

use crate::axioms::{self, AxiomNow};
use crate::session::Session;

/// A tensor's name, its shape, and its numbers in row-major order.
pub type NamedTensor = (String, Vec<usize>, Vec<f32>);

/// What a training has learnt and where it stands: numbers and facts by name, to be kept wherever the program likes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Parameters, and what the optimiser remembers of them.
    pub tensors: Vec<NamedTensor>,
    /// The rest: how many steps are done, where each table's batches are.
    pub facts: BTreeMap<String, String>,
}

impl State {
    /// The tensor of a name: its shape and its numbers.
    pub fn tensor(&self, name: &str) -> Option<(&[usize], &[f32])> {
        (self.tensors.iter())
            .find(|(known, _, _)| known == name)
            .map(|(_, shape, values)| (shape.as_slice(), values.as_slice()))
    }

    fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }
}

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
        for (name, optimiser) in self.optimise.states() {
            facts.push((
                format!("optimiser.{name}.steps"),
                optimiser.steps.to_string(),
            ));
            for (what, values) in [("first", &optimiser.first), ("second", &optimiser.second)] {
                if !values.is_empty() {
                    let name = format!("optimiser.{name}.{what}");
                    state
                        .tensors
                        .push((name, vec![values.len()], values.clone()));
                }
            }
        }
        for batches in &self.batches {
            let (drawn, at) = batches.state();
            let name = &self.knowledge.theory()[batches.table].name;
            facts.push((format!("batches.{name}"), format!("{drawn}:{at}")));
        }
        for (now, planned) in self.axioms.iter().zip(self.whole.axioms()) {
            if now.fact() != AxiomNow::planned(planned).fact() {
                facts.push((format!("axiom.{}", now.name), now.fact()));
            }
        }
        let mut put = |key: &str, value: String| facts.push((key.to_string(), value));
        put("step", self.done.to_string());
        put("steps", self.total.to_string());
        put("seed", self.training.seed.to_string());
        put("semantics", self.training.semantics.to_string());
        put("stopped_early", self.stopped_early.to_string());
        if let Some((value, ago)) = self.best {
            put("best", format!("{}:{ago}", value.to_bits()));
        }
        state.facts = facts.into_iter().collect();
        state
    }

    /// Takes up a training where its state was taken: it goes on with the same bits.
    ///
    /// # Errors
    /// If the state is of another training: another seed, semantics, number of steps, or other networks. The session
    /// is then as it was.
    pub fn restore(&mut self, state: &State) -> Result<(), Diagnostics> {
        let other = |what: String| {
            Diagnostics::from(
                Diagnostic::error(
                    Code::RunDiffers,
                    format!("the checkpoint is of another training: {what}"),
                )
                .help("resume with the same manifest and flags, or start anew in another folder"),
            )
        };
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
        let damaged = || {
            Diagnostics::from(Diagnostic::error(
                Code::RunDamaged,
                "the checkpoint's record of the training is damaged",
            ))
        };
        let pair = |text: &str| -> Option<(u64, u64)> {
            let (a, b) = text.split_once(':')?;
            Some((a.parse().ok()?, b.parse().ok()?))
        };
        let done: u64 = state.fact("step").parse().map_err(|_| damaged())?;
        let fact = |name: String| {
            let found = state.facts.get(&name);
            found.ok_or_else(|| other("it has other tables or other networks".to_string()))
        };
        let count = |what: &str| state.facts.keys().filter(|f| f.starts_with(what)).count();
        if count("batches.") != self.batches.len()
            || count("optimiser.") != self.optimise.states().count()
        {
            return Err(other("it has other tables or other networks".to_string()));
        }
        let mut batches = Vec::new();
        for table in &self.batches {
            let name = &self.knowledge.theory()[table.table].name;
            let at = fact(format!("batches.{name}"))?;
            batches.push(pair(at).ok_or_else(damaged)?);
        }
        let mut optimisers = Vec::new();
        for (name, now) in self.optimise.states() {
            let steps = fact(format!("optimiser.{name}.steps"))?;
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
                    _ => return Err(other("its optimiser is another one".to_string())),
                }
            }
            optimisers.push(then);
        }
        let planned = || self.whole.axioms().iter().map(AxiomNow::planned);
        let (mut axioms, mut given): (Vec<_>, Vec<_>) = (planned().collect(), planned().collect());
        axioms::give(self.knowledge.theory(), &mut given, &self.training.axioms)?;
        for (axiom, given) in axioms.iter_mut().zip(&given) {
            if let Some(fact) = state.facts.get(&format!("axiom.{}", axiom.name)) {
                axiom.take_fact(fact, given).ok_or_else(damaged)?;
            }
        }
        let before = self.axioms.clone();
        self.use_axioms(axioms)?;
        if let Err(errors) = self.restore_weights(state) {
            self.use_axioms(before)?;
            return Err(errors);
        }
        for (now, then) in self.optimise.states_mut().zip(optimisers) {
            *now = then;
        }
        for (batches, state) in self.batches.iter_mut().zip(batches) {
            batches.resume(self.training.seed, state);
        }
        self.best = pair(state.fact("best")).map(|(value, ago)| (f64::from_bits(value), ago));
        self.stopped_early = state.fact("stopped_early") == "true";
        self.done = done;
        Ok(())
    }

    /// Puts trained parameters back, and leaves all else as it is.
    ///
    /// # Errors
    /// If they are of other networks. The parameters are then as they were.
    pub fn restore_weights(&mut self, weights: &State) -> Result<(), Diagnostics> {
        self.model.restore(weights)?;
        self.attached = None;
        Ok(())
    }
}
