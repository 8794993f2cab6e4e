//! Training step by step, in memory.

mod balance;
mod builder;
mod collapsed;
mod early_stop;
mod phases;
mod predictions;
mod rules;
mod saved;
mod start;
mod step_work;
mod whole_theory;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use logltn::theory::{PredicateId, SymbolKind};
use logltn::{Code, Diagnostic, Diagnostics, Engine, Parameters, Plan, Request, Source};

use crate::axioms::{self, AxiomNow};
use crate::evaluate::Evaluated;
use crate::knowledge::{Ground, KnowledgeBase};
use crate::large_tables::{self, LargeTables};
use crate::measure::{Answered, Measures};
use crate::model::{Grounding, Model};
use crate::optimizers::{Frozen, Optimizers};
use crate::part_names;
use crate::predict::Asked;
use crate::row_view::RowView;
use crate::sample::seen_in_steps_from;
use crate::schedule::Moment;
use crate::spread::{Apart, Spread};
use crate::training::Training;

pub use builder::{Builder, Constant, Param};
pub use early_stop::Best;
pub(crate) use phases::Phase;
use phases::plan_phases;
pub use start::Begun;
pub use step_work::StepWork;

/// A theory with its data, its networks and its training, one step at a time; and the questions that it can be asked
/// at any moment. The crate's page has an example.
pub struct Session {
    pub(crate) knowledge: KnowledgeBase,
    pub(crate) training: Training,
    pub(crate) model: Model,
    pub(crate) phases: Vec<Phase>,
    /// The plan of all axioms, as the first step sees them.
    pub(crate) whole: Arc<Plan>,
    pub(crate) warnings: Diagnostics,
    /// The phase that the model is attached to.
    pub(crate) attached: Option<usize>,
    pub(crate) rows: RowView,
    pub(crate) optimizers: Optimizers,
    spread: Spread,
    /// Steps done.
    pub(crate) done: u64,
    pub(crate) total: u64,
    steps_per_epoch: u64,
    measures: Measures,
    pub(crate) axioms: Vec<AxiomNow>,
    /// α, p and p_forall of the last step.
    last_parameters: Parameters,
    /// For early stopping.
    pub(crate) best: Option<Best>,
    /// The places of the axioms that had no gradient when [`Session::balance`] last looked, and of those it has warned of.
    flat: BTreeSet<usize>,
    called_flat: BTreeSet<usize>,
    /// By axiom: how many observations of all steps were impossible, until that is said.
    impossible: Vec<u64>,
    called_impossible: BTreeSet<usize>,
    /// The same of the one that outweighed all others.
    heavy: Option<usize>,
    called_heavy: BTreeSet<usize>,
}

/// What one step found, before it changed the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How many steps have been done, this one included.
    pub step: u64,
    /// What training minimises.
    pub loss: f64,
    /// All axioms together.
    pub sat: f64,
    /// The truth of each axiom of the theory; NaN for those that the phase leaves out, or of which the step's sample or batch has
    /// nothing.
    pub axioms: Vec<f64>,
    /// How many `exists` were left out because the step's samples have nobody for them, by axiom; only those of which some
    /// were.
    pub left_out: Vec<(String, u64)>,
    /// The norm of the gradient by all parameters, before clipping.
    pub gradient_norm: f64,
    /// α, p and p_forall.
    pub parameters: Parameters,
}

impl Session {
    /// Begins to put a session together, from the text of a theory.
    pub fn builder(theory: impl Into<String>) -> Builder {
        Builder::new(Source::new("theory", theory.into()))
    }

    /// Plans a training and draws the initial weights.
    ///
    /// # Errors
    /// If something is missing, or does not fit.
    pub(crate) fn new(
        knowledge: KnowledgeBase,
        training: Training,
    ) -> Result<Session, Diagnostics> {
        let KnowledgeBase { data, outputs, .. } = &knowledge;
        let Training {
            samples,
            axioms,
            large_from,
            semantics,
            ..
        } = &training;
        let whole = seen_in_steps_from(data, samples, axioms, *large_from, semantics)
            .and_then(|data| Plan::new(&data, outputs, semantics));
        Session::planned(knowledge, training, whole.map(Arc::new))
    }

    /// The same with the plan of all axioms on [what steps see](crate::seen_in_steps), or what is wrong with it, at hand.
    ///
    /// # Errors
    /// If something is missing, or does not fit.
    pub fn planned(
        knowledge: KnowledgeBase,
        training: Training,
        whole: Result<Arc<Plan>, Diagnostics>,
    ) -> Result<Session, Diagnostics> {
        if training.phases.is_empty() {
            let error = Diagnostic::error(Code::NoTrainingLength, "the training has no steps");
            return Err(error.help("say how many steps, epochs or phases").into());
        }
        // All mistakes at once.
        let mut found = Diagnostics::new();
        let mut checked = |errors: Diagnostics| found.extend(errors);
        // One plan for all phases that have all axioms; as a rule there is one phase, and it does.
        let whole = whole.map_err(&mut checked);
        let model = Model::new(&knowledge, training.seed).map_err(&mut checked);
        let measures = Measures::new(&knowledge, &training.metrics).map_err(&mut checked);
        let (Ok(whole), Ok(mut model), Ok(mut measures)) = (whole, model, measures) else {
            return Err(found);
        };
        let axioms: Vec<AxiomNow> = whole.axioms().iter().map(AxiomNow::planned).collect();
        let mut rows = RowView::new(&knowledge, &training)?;
        let (seen, steps_per_epoch) = (rows.data(&knowledge.data), rows.steps_per_pass());
        let steps = (&axioms[..], steps_per_epoch);
        let (mut phases, end) = plan_phases(&knowledge, &training, seen, &whole, steps)?;
        let mut whole = whole;
        if !rows.is_whole() {
            let mut engine = Engine::<f32>::new(Arc::clone(&whole));
            rows.give_first_samples(&mut engine)?;
            whole = Arc::clone(engine.plan());
            for phase in &mut phases {
                rows.give_first_samples(&mut phase.engine)?;
            }
        }
        // Shapes that only a later phase asks for, or an evaluation, get their networks now: the parameters never
        // change.
        for phase in &mut phases {
            model.attach(&knowledge, &phase.engine)?;
            step_work::check_memory(&knowledge, &mut model, &phase.engine, &rows)?;
            model.check_closed_forms(&mut phase.engine)?;
        }
        if training.phases.iter().all(|phase| phase.axioms.is_some()) {
            model.attach(&knowledge, &Engine::<f32>::new(Arc::clone(&whole)))?;
        }
        measures.prepare(&knowledge, &mut model)?;
        let frozen = frozen(&knowledge, &training, &mut model)?;
        let mut session = Session {
            optimizers: Optimizers::new(training.optimizer, frozen, &mut model),
            spread: Spread::new(&knowledge, training.entropy, &training.crisp),
            measures,
            warnings: whole.warnings().clone(),
            whole,
            knowledge,
            training,
            model,
            phases,
            attached: None,
            rows,
            done: 0,
            total: end,
            steps_per_epoch,
            impossible: vec![0; axioms.len()],
            axioms,
            last_parameters: Parameters::default(),
            best: None,
            flat: BTreeSet::new(),
            called_flat: BTreeSet::new(),
            called_impossible: BTreeSet::new(),
            heavy: None,
            called_heavy: BTreeSet::new(),
        };
        let theory = session.knowledge.theory();
        axioms::give(theory, &mut session.axioms, &session.training.axioms)?;
        for phase in &mut session.phases {
            axioms::apply(&mut phase.engine, &phase.axioms, &session.axioms)?;
        }
        // What a caller grounds himself is not known yet.
        let grounds = session.knowledge.predicates.iter();
        let hosts = grounds.filter(|g| matches!(g, Ground::Host)).count() > 0;
        let frozen = !session.training.freeze.is_empty();
        if frozen && !hosts && !session.optimizers.moves_something(&mut session.model) {
            let what = "there is nothing to train: all that could be learnt is frozen";
            return Err(Diagnostic::error(Code::NothingToTrain, what)
                .help("leave something out of `freeze`; evaluating shows how true the axioms are")
                .into());
        }
        Ok(session)
    }

    /// The theory, its data, and the groundings of its symbols.
    pub fn knowledge(&self) -> &KnowledgeBase {
        &self.knowledge
    }

    /// The plan of all axioms; where steps see samples, as the first one does.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.whole
    }

    /// The networks and learnable vectors in their current state.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Puts a network of the caller's own behind a predicate. Its parameters are trained with the others.
    ///
    /// # Errors
    /// If the theory has no such predicate, or training has begun.
    pub fn ground(
        &mut self,
        predicate: &str,
        grounding: Box<dyn Grounding>,
    ) -> Result<(), Diagnostics> {
        let id = self.predicate(predicate)?;
        if self.done > 0 {
            return Err(Diagnostic::error(
                Code::TrainingHasBegun,
                format!("`{predicate}` cannot be grounded in the middle of a training"),
            )
            .help("call `ground` before the first step")
            .into());
        }
        self.model.ground(id, grounding);
        self.attached = None;
        self.optimizers.anew(&mut self.model);
        Ok(())
    }

    fn predicate(&self, name: &str) -> Result<PredicateId, Diagnostics> {
        let theory = self.knowledge.theory();
        let unknown = || theory.unknown(SymbolKind::Predicate, name).into();
        theory.predicate(name).ok_or_else(unknown)
    }

    /// From now on each step moves the parameters of this predicate's network twice, by the same gradient.
    ///
    /// That is what an optimizer does that was given them twice, as the paper's authors' released code does.
    pub fn move_twice(&mut self, predicate: &str) {
        self.optimizers.move_twice(predicate);
    }

    /// What it was made to do.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The names and weights of all axioms, families written out.
    pub fn axioms(&self) -> Vec<(String, f64)> {
        let axioms = self.axioms.iter();
        axioms.map(|a| (a.name.clone(), a.weight)).collect()
    }

    /// The names of the metrics.
    pub fn metrics(&self) -> Vec<String> {
        self.measures.names()
    }

    /// How many steps have been done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// How many steps there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether there is nothing left to do.
    pub fn is_done(&self) -> bool {
        self.done >= self.total || self.best.as_ref().is_some_and(|best| best.stopped)
    }

    /// Whether steps can leave out an `exists` because their samples have no individual for it.
    pub fn can_leave_out(&self) -> bool {
        (self.rows.samples()).is_some_and(|samples| samples.left_out().next().is_some())
    }

    /// Whether steps see only some of what an axiom of the theory, by its place there, is about.
    pub fn sees_samples(&self, axiom: usize) -> bool {
        self.rows.concerns(axiom)
    }

    /// How many steps make a pass over the largest batched table.
    pub fn steps_per_epoch(&self) -> u64 {
        self.steps_per_epoch
    }

    /// α, p and p_forall of the next step.
    pub(crate) fn parameters(&self) -> Parameters {
        self.training.schedule.now(self.moment())
    }

    /// The phase that the next step is in.
    pub(crate) fn phase(&self) -> usize {
        let now = self.phases.iter().position(|p| self.done < p.end);
        now.unwrap_or(self.phases.len() - 1)
    }

    /// Gives the axioms of a phase that have their own schedules the parameters of the next step.
    fn move_axioms(&mut self, phase: usize, moment: Moment) -> Result<(), Diagnostics> {
        let phase = &mut self.phases[phase];
        for (axiom, &place) in phase.axioms.iter().enumerate() {
            if let Some(parameters) = self.axioms[place].at(moment) {
                phase.engine.set_axiom_parameters(axiom, parameters)?;
                self.axioms[place].parameters = parameters;
            }
        }
        Ok(())
    }

    /// Where the training is.
    fn moment(&self) -> Moment {
        Moment {
            step: self.done,
            steps: self.total,
            epoch: self.done / self.steps_per_epoch,
            epochs: self.total.div_ceil(self.steps_per_epoch),
        }
    }

    /// A step, or the metrics after it, end soon after this flag is set, with an error of the code
    /// [`Code::Interrupted`], and nothing has happened: the same can be done later.
    pub fn set_stop(&mut self, flag: Arc<AtomicBool>) {
        for phase in &mut self.phases {
            phase.engine.set_stop(Arc::clone(&flag));
        }
        self.model.set_stop(&flag);
    }

    /// Lets it say something else than the members of an ensemble before it, where the theory permits that.
    pub fn set_apart(&mut self, apart: Apart) {
        self.spread.set_apart(apart);
    }

    /// Does one step.
    ///
    /// # Errors
    /// If a loss or a gradient is not finite, or it [was stopped](Session::set_stop): the parameters are then still those
    /// before the step.
    pub fn step(&mut self) -> Result<Step, Diagnostics> {
        self.rows.mark();
        // Once into the pool of threads, and not again for every part of the work: coming from outside takes sleeping
        // and waking each time.
        let step = rayon::scope(|_| self.step_in_pool());
        if step.is_err() {
            let stopped = self.model.unless_stopped();
            self.rows.back();
            // An interrupted step may hold NaN.
            stopped?;
        }
        step
    }

    fn step_in_pool(&mut self) -> Result<Step, Diagnostics> {
        let parameters = self.parameters();
        let moment = self.moment();
        let learning_rate = self.training.learning_rate.now(moment);
        let at = self.phase();
        self.move_axioms(at, moment)?;
        let phase = &mut self.phases[at];
        let moved = self.attached != Some(at);
        if moved {
            self.model.attach(&self.knowledge, &phase.engine)?;
            self.attached = Some(at);
        }
        self.rows.give_next(&mut phase.engine, self.done)?;
        if !self.rows.is_whole() {
            self.model.attach(&self.knowledge, &phase.engine)?;
        }
        let changed = moved || self.rows.changes();
        self.model.set_step(self.done);
        let step = self.done + 1;
        (self.model.forward(&mut phase.engine, changed)).map_err(|errors| at_step(errors, step))?;
        let value = (phase.engine.evaluate_with_gradients(&parameters))
            .map_err(|errors| at_step(errors, step))?;
        let mut axioms = vec![f64::NAN; self.axioms.len()];
        for (place, value) in phase.axioms.iter().zip(&value.axioms) {
            axioms[*place] = value.truth;
            self.impossible[*place] += value.impossible;
        }
        let (mut loss, sat) = (value.loss, value.sat);
        // Of nothing nothing is known; that it counts as true is no truth of the axiom.
        for (i, (place, seen)) in
            (phase.axioms.iter().zip(phase.engine.plan().axioms())).enumerate()
        {
            let nothing = match self.rows.concerns(seen.axiom) {
                true => seen.groundings == 0 && seen.empty_exists == 0,
                false => phase.engine.saw_nothing(i),
            };
            if nothing {
                axioms[*place] = f64::NAN;
            }
        }
        let mut left_out: Vec<(String, u64)> = Vec::new();
        if let Some(samples) = self.rows.samples() {
            for (name, count) in samples.left_out().filter(|(_, count)| *count > 0) {
                let mut phase = phase.axioms.iter();
                match left_out.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known += count,
                    None if phase.any(|&place| self.axioms[place].name == name) => {
                        left_out.push((name.to_string(), count));
                    }
                    None => {}
                }
            }
        }
        if let Some(bad) = axioms.iter().position(|a| a.is_infinite()) {
            return Err(Diagnostic::error(
                Code::TrainingDiverged,
                format!(
                    "step {step}: axiom `{}` has the truth {}",
                    self.axioms[bad].name, axioms[bad]
                ),
            )
            .into());
        }
        loss += self.spread.add(&self.knowledge, &mut phase.engine);
        self.model.backward(&phase.engine);
        self.model.unless_stopped()?;
        self.optimizers.hold(&mut self.model);
        let gradient_norm = Optimizers::clip(&mut self.model, self.training.clip_norm);
        // As clipping leaves it.
        let largest = gradient_norm.min(self.training.clip_norm.unwrap_or(f64::INFINITY));
        if !gradient_norm.is_finite() || !loss.is_finite() || self.optimizers.loses(largest) {
            return Err(self.not_finite(step, loss, at, &parameters));
        }
        self.optimizers.step(&mut self.model, learning_rate);
        self.done = step;
        self.last_parameters = parameters;
        Ok(Step {
            step,
            loss,
            sat,
            axioms,
            left_out,
            gradient_norm,
            parameters,
        })
    }

    /// Which network's gradient is not finite, and which axiom pulls hardest.
    fn not_finite(
        &mut self,
        step: u64,
        loss: f64,
        phase: usize,
        parameters: &Parameters,
    ) -> Diagnostics {
        let engine = &mut self.phases[phase].engine;
        let norms = engine.axiom_gradient_norms(parameters);
        let pull = |norm: f64| {
            if norm.is_finite() {
                norm
            } else {
                f64::INFINITY
            }
        };
        let axiom = (norms.iter().zip(engine.plan().axioms()))
            .max_by(|a, b| pull(*a.0).total_cmp(&pull(*b.0)))
            .map_or(String::new(), |(_, axiom)| {
                format!("; axiom `{}` has the largest gradient", axiom.name)
            });
        let mut culprit = None;
        self.model.visit_parameters(&mut |name, _, gradients| {
            let largest = gradients.iter().fold(0.0_f32, |most, g| match g.is_nan() {
                true => f32::INFINITY,
                false => most.max(g.abs()),
            });
            if culprit.as_ref().is_none_or(|(_, most)| largest > *most) {
                culprit = Some((name.to_string(), largest));
            }
        });
        let what = match culprit {
            Some((name, largest)) if loss.is_finite() || !largest.is_finite() => {
                let host = name.strip_prefix("host.").and_then(|n| n.split('.').next());
                let name = host.unwrap_or(&name);
                match largest.is_finite() {
                    true => format!(
                        "the gradient of the network of `{name}` has a number of {largest:e}, whose square is more than single \
                         precision can hold"
                    ),
                    false => format!("the gradient of the network of `{name}` is not finite"),
                }
            }
            _ => format!("the loss is {loss}"),
        };
        Diagnostic::error(
            Code::TrainingDiverged,
            format!("step {step}: {what}{axiom}"),
        )
        .help("a smaller `learning_rate`, or `clip_norm`, keeps networks from running away")
        .into()
    }

    /// The metrics of the model as it is, by name.
    ///
    /// # Errors
    /// If a number of the model is not a number, or it [was stopped](Session::set_stop): it can be measured later.
    pub fn measure(&mut self) -> Result<Vec<(String, f64)>, Diagnostics> {
        let values = self.measures.measure(&self.knowledge, &mut self.model);
        // Measuring has used the networks' rows.
        self.attached = None;
        // An interrupted metric would be wrong, and its errors meaningless.
        self.model.unless_stopped()?;
        values
    }

    /// The current model's predictions for the rows of metrics, beside the known values.
    ///
    /// # Errors
    /// As those of [`Session::measure`].
    pub fn answered(&mut self) -> Result<Vec<Answered>, Diagnostics> {
        let found = self.measures.answered(&self.knowledge, &mut self.model);
        self.attached = None;
        self.model.unless_stopped()?;
        found
    }

    /// The truth of each axiom and of all together as they are now, in double precision, tables with batches looked at
    /// whole; [large](crate::LargeTables) ones part by part, and then without derivatives.
    ///
    /// # Errors
    /// If a predicate has nothing behind it.
    pub fn evaluate(&mut self, parameters: &Parameters) -> Result<Evaluated, Diagnostics> {
        let KnowledgeBase { data, outputs, .. } = &self.knowledge;
        let large = large_tables::tables(data, self.training.large_from);
        if !large.is_empty() && !self.training.semantics.exact {
            let (data, outputs) = (data.clone(), outputs.clone());
            let (axioms, semantics) = (self.axioms.clone(), self.training.semantics);
            let all: Vec<usize> = (0..axioms.len()).collect();
            let mut parts = LargeTables::new(&data, &outputs, &semantics, large)?;
            axioms::apply(&mut parts.engine, &all, &axioms)?;
            let evaluated = parts.evaluate(parameters, |engine| self.fill_in(engine));
            self.attached = None;
            return evaluated;
        }
        let mut engine = Engine::<f64>::new(self.plan_of_everything()?);
        self.model.attach(&self.knowledge, &engine)?;
        self.attached = None;
        let all: Vec<usize> = (0..self.axioms.len()).collect();
        axioms::apply(&mut engine, &all, &self.axioms)?;
        self.model.evaluate(&mut engine)?;
        let numbers = self.knowledge.predicates.iter().map(|ground| match ground {
            Ground::Numbers(numbers) => Some(&**numbers),
            Ground::Network(_)
            | Ground::Learnable { .. }
            | Ground::ClosedForm(_)
            | Ground::Host => None,
        });
        Evaluated::of(&mut engine, parameters, Some(numbers))
    }

    /// All axioms with all individuals.
    pub(crate) fn plan_of_everything(&self) -> Result<Arc<Plan>, Diagnostics> {
        if self.rows.is_whole() {
            return Ok(Arc::clone(&self.whole));
        }
        let KnowledgeBase { data, outputs, .. } = &self.knowledge;
        Plan::new(data, outputs, &self.training.semantics).map(Arc::new)
    }

    /// The value of a predicate for some rows of individuals, `arity` of them to a row: its numbers (logits of a
    /// network), for each row one, or one for each class. The argument that picks the class is left out.
    ///
    /// # Errors
    /// If there is no such predicate or individual, or if it can only be queried at the rows of the axioms.
    pub fn predict(&mut self, predicate: &str, rows: &[u32]) -> Result<Vec<f32>, Diagnostics> {
        let id = self.predicate(predicate)?;
        let asked = Asked::new(&self.knowledge, predicate)?;
        asked.check(&self.knowledge, rows, &[])?;
        let arity = asked.arguments().len();
        self.model.predict(id, rows, arity)
    }

    /// What the axioms of the current phase ask for, in the current batch: for each request the rows of individuals
    /// that a predicate is needed at, each once.
    pub fn requests(&self) -> &[Request] {
        self.phases[self.phase()].engine.requests()
    }
}

/// What does not move.
fn frozen(
    knowledge: &KnowledgeBase,
    training: &Training,
    model: &mut Model,
) -> Result<Frozen, Diagnostics> {
    let (mut frozen, mut found) = (Frozen::default(), Diagnostics::new());
    for name in &training.freeze {
        match model.check_part(knowledge, name) {
            Ok(()) => match part_names::constant(knowledge, name) {
                Some(constant) => frozen.constants.push(constant),
                None => frozen.names.push(name.clone()),
            },
            Err(error) => found.push(error),
        }
    }
    found.into_result(frozen).map(|(frozen, _)| frozen)
}

fn at_step(errors: Diagnostics, step: u64) -> Diagnostics {
    let noted = |error: Diagnostic| {
        let error = match error.code() {
            // They were finite when training began.
            Code::NotFinite => error.with_code(Code::TrainingDiverged),
            _ => error,
        };
        error.note(format!("at step {step}"))
    };
    errors.into_iter().map(noted).collect()
}
