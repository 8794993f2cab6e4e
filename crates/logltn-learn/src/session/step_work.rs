//! How much work and memory a step is, before the first one is done.

use std::sync::Arc;
use std::time::Duration;

use logltn::{Code, Diagnostic, Diagnostics, Engine, Parameters, Plan, Request, memory};

use super::Session;
use crate::knowledge::KnowledgeBase;
use crate::model::Model;
use crate::row_view::RowView;
use crate::slow_work::{SLOW, duration, thousands};

/// What a step of a training takes, about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepWork {
    /// How many groundings it goes through: with batches and samples, those of a batch and a sample.
    pub groundings: u128,
    /// How long that takes with the threads there are, in seconds.
    pub seconds: f64,
    /// What networks keep of its rows, in bytes.
    pub network_bytes: u128,
    /// The most memory that training takes, in bytes; 0 if [it is not
    /// counted](logltn::memory::Counting).
    pub memory_bytes: u128,
}

/// The least work of a plan that could make a step slow, in groundings: others need not be measured for a warning.
const MAYBE_SLOW: u128 = 1 << 24;

/// What a learnt number takes while a checkpoint is written: itself and two moments, as numbers and as bytes.
const BYTES_IN_CHECKPOINT: usize = 24;

/// The same for the best numbers that early stopping has seen, which are kept beside.
const BYTES_OF_BEST: usize = 12;

/// Code, stacks, and what the allocator keeps.
const BYTES_OF_PROGRAM: u128 = 24 << 20;

impl StepWork {
    /// A warning, if a step takes a minute or more.
    pub fn warning(&self) -> Option<Diagnostic> {
        (self.seconds >= SLOW).then(|| {
            Diagnostic::warning(
                Code::SlowStep,
                format!(
                    "a step goes through {} groundings, which takes about {}",
                    thousands(self.groundings),
                    duration(self.seconds)
                ),
            )
            .help("a guard, fewer variables under one quantifier, the rows of a table in batches, or a sample of a sort make it quicker")
        })
    }
}

impl Session {
    /// How much a step of the most laborious phase is: real blocks of the plan are measured until the budget is spent,
    /// and the rest is reckoned from them.
    ///
    /// # Errors
    /// If the engine refuses a batch.
    pub fn step_work(&mut self, budget: Duration) -> Result<StepWork, Diagnostics> {
        let mut most = StepWork::default();
        let plans: Vec<Arc<Plan>> = (self.phases.iter())
            .map(|phase| Arc::clone(phase.engine.plan()))
            .collect();
        let budget = budget / plans.len().max(1) as u32;
        for (at, plan) in plans.iter().enumerate() {
            if plans[..at].iter().any(|earlier| Arc::ptr_eq(earlier, plan)) {
                continue;
            }
            // A separate engine: the phase's own must not change.
            let mut engine = Engine::<f32>::new(Arc::clone(plan));
            self.rows.give_first_batches(&mut engine)?;
            self.model.attach(&self.knowledge, &engine)?;
            self.attached = None;
            let parameters: Parameters = self.parameters();
            let (bytes, networks) = self.model.work(&self.knowledge, engine.requests(), true);
            let seconds = networks + engine.estimate_seconds(&parameters, budget, true);
            let work = StepWork {
                groundings: engine.groundings(),
                seconds,
                network_bytes: bytes.iter().sum(),
                memory_bytes: 0,
            };
            if work.seconds > most.seconds {
                most = work;
            }
        }
        most.memory_bytes = self.memory_bytes(most.network_bytes);
        Ok(most)
    }

    /// The most memory that training takes: the most that was taken so far, or what there is now and what comes with
    /// the first step, with a checkpoint, or when all is done and looked at again in double precision, if there is room for that.
    fn memory_bytes(&mut self, networks: u128) -> u128 {
        if memory::used() == 0 {
            return 0;
        }
        let mut learnt = 0;
        (self.model).visit_parameters(&mut |_, values, _| learnt += values.len());
        let bytes = match self.training.early_stop {
            None => BYTES_IN_CHECKPOINT,
            Some(_) => BYTES_IN_CHECKPOINT + BYTES_OF_BEST,
        };
        let checkpoint = (bytes * learnt) as u128;
        let looking = match self.has_room_for_whole() {
            true => self.whole.bytes_to_look_again(),
            false => 0,
        };
        let later = networks + checkpoint.max(looking);
        u128::from(memory::peak()).max(u128::from(memory::used()) + later) + BYTES_OF_PROGRAM
    }

    /// A warning, if a step takes a minute or more; measured only where that may be.
    ///
    /// # Errors
    /// As those of [`Session::step_work`].
    pub fn slow_step(&mut self, budget: Duration) -> Result<Option<Diagnostic>, Diagnostics> {
        // Of a sample, the first one: the others are as large.
        let axioms = self.whole.axioms().iter();
        let groundings = axioms.fold(0_u128, |n, a| n.saturating_add(a.groundings));
        // The tuples of definitions are computed at every depth.
        let definitions = self.whole.definitions();
        let tuples = (definitions.iter()).map(|d| d.tuples as u128 * d.depth as u128);
        match tuples.fold(groundings, u128::saturating_add) < MAYBE_SLOW {
            true => Ok(None),
            false => Ok(self.step_work(budget)?.warning()),
        }
    }
}

/// Refuses a phase whose networks would keep more of a step's rows than memory allows.
pub(crate) fn check_memory(
    knowledge: &KnowledgeBase,
    model: &mut Model,
    engine: &Engine<f32>,
    rows: &RowView,
) -> Result<(), Diagnostics> {
    let limit = u128::from(memory::left());
    let total = |bytes: &[u128]| bytes.iter().sum::<u128>();
    if total(&model.work(knowledge, engine.requests(), false).0) <= limit {
        return Ok(());
    }
    let mut engine = Engine::<f32>::new(Arc::clone(engine.plan()));
    rows.give_first_batches(&mut engine)?;
    let (bytes, _) = model.work(knowledge, engine.requests(), false);
    if total(&bytes) <= limit {
        return Ok(());
    }
    let most = (0..bytes.len()).max_by_key(|&at| bytes[at]).unwrap_or(0);
    let theory = knowledge.theory();
    let error = |request: &Request| {
        let name = &theory[request.predicate].name;
        let axiom = theory.axioms.iter().find(|axiom| {
            let (inner, outer) = (request.span, axiom.formula.span);
            outer.start <= inner.start && inner.end <= outer.end
        });
        let axiom = axiom.map_or(String::new(), |a| format!(" by axiom `{}`", a.name));
        Diagnostic::error(
            Code::TooMuchMemory,
            format!(
                "the network of `{name}` is asked about {} rows in a step{axiom}, of which training stores about {}: more \
                 than the {} of memory that are left",
                thousands(request.rows() as u128),
                memory::shown(total(&bytes)),
                memory::shown(limit)
            ),
        )
        .at(&theory.source, request.span, "for each binding of the quantifiers around it")
        .help(format!(
            "a narrower guard, fewer variables, the rows of a table in batches, or a smaller network; {}",
            memory::allow_more()
        ))
    };
    match engine.requests().get(most) {
        Some(request) => Err(error(request).into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::StepWork;

    #[test]
    fn a_minute_is_slow() {
        let of = |seconds| StepWork {
            seconds,
            ..StepWork::default()
        };
        assert!(of(59.0).warning().is_none());
        assert!(of(60.0).warning().is_some());
    }
}
