//! Training: batches, schedules, phases, an optimiser, and everything needed to stop and go on.
//!
//! [`Trainer`] does one step at a time and knows nothing of files; [`run`] drives it, keeps a run
//! directory, and can be interrupted at any moment.

mod batches;
mod classified;
mod data_files;
mod evaluate_run;
mod measure;
mod optimise;
mod resolved;
mod run;
mod state;
mod unchanged;

use logltn::{Code, Diagnostic, Diagnostics, Engine, Parameters, Plan, Semantics};

use crate::manifest::{By, Length, Phase as PhaseSpec, Train};
use crate::model::{Grounding, Model};
use crate::project::Project;
use batches::TableBatches;
pub use classified::Classified;
pub use evaluate_run::evaluate_run;
use measure::Measure;
use optimise::Optimise;
pub use run::{Outcome, RunOptions, Watch, run};

/// What may be said on a command line instead of in the manifest.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrainOptions {
    /// Where all randomness comes from.
    pub seed: Option<u64>,
    /// How many steps, in a single phase of all axioms.
    pub steps: Option<u64>,
    /// The semantics.
    pub semantics: Option<Semantics>,
}

/// A training that goes on step by step.
///
/// ```no_run
/// use std::path::Path;
/// use logltn::Diagnostics;
/// use logltn_train::project::Project;
/// use logltn_train::train::{TrainOptions, Trainer};
///
/// let mut found = Diagnostics::new();
/// let project = Project::load(Path::new("theories/clustering.toml"), &mut found).ok_or(found)?;
/// let mut trainer = Trainer::new(project, &TrainOptions::default())?;
/// while !trainer.is_done() {
///     let step = trainer.step()?;
///     println!("{} {}", step.step, step.loss);
/// }
/// println!("{:?}", trainer.measure()?);
/// # Ok::<(), Diagnostics>(())
/// ```
pub struct Trainer {
    project: Project,
    model: Model,
    phases: Vec<Phase>,
    /// The phase that the model is attached to.
    attached: Option<usize>,
    batches: Vec<TableBatches>,
    optimise: Optimise,
    train: Train,
    seed: u64,
    semantics: Semantics,
    /// Steps done.
    done: u64,
    total: u64,
    steps_per_epoch: u64,
    measures: Vec<Measure>,
    axioms: Vec<(String, f64)>,
    /// α, p and p_forall of the last step.
    last_parameters: Parameters,
    /// For early stopping: the best value so far and how many evaluations ago it was.
    best: Option<(f64, u64)>,
    stopped_early: bool,
}

struct Phase {
    engine: Engine<f32>,
    /// The first step after it.
    end: u64,
    /// Its axioms' places among all.
    axioms: Vec<usize>,
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
    /// The truth of each axiom of the project; NaN for those that the phase leaves out.
    pub axioms: Vec<f64>,
    /// The norm of the gradient by all parameters, before clipping.
    pub gradient_norm: f64,
    /// α, p and p_forall.
    pub parameters: Parameters,
}

impl Trainer {
    /// Plans a project's training and draws the initial weights.
    pub fn new(project: Project, options: &TrainOptions) -> Result<Trainer, Diagnostics> {
        let mut train = match &project.manifest.train {
            Some(train) => train.value.clone(),
            None => Train::default(),
        };
        if let Some(steps) = options.steps {
            train.phases = vec![PhaseSpec {
                span: logltn::Span::default(),
                length: Length::Steps(steps),
                axioms: None,
            }];
        }
        if train.phases.is_empty() {
            return Err(Diagnostic::error(
                Code::NoTrainingLength,
                "the manifest does not say how long to train",
            )
            .help("write `steps = 1000` or `epochs = 20` under `[train]`, or give `--steps`")
            .into());
        }
        let seed = options.seed.unwrap_or(train.seed);
        let semantics = options.semantics.unwrap_or(project.manifest.semantics);
        let batches = batches::of(&project, seed);
        let steps_per_epoch = (batches.iter().map(TableBatches::steps_per_pass))
            .max()
            .unwrap_or(1);
        let all = Plan::new(&project.data, &project.outputs, &semantics)?;
        let axioms: Vec<(String, f64)> = (all.axioms().iter())
            .map(|a| (a.name.clone(), a.weight))
            .collect();
        let mut phases = Vec::new();
        let mut end: u64 = 0;
        for spec in &train.phases {
            let steps = match spec.length {
                Length::Steps(steps) => steps,
                Length::Epochs(epochs) => epochs.saturating_mul(steps_per_epoch),
            };
            end = end.saturating_add(steps);
            phases.push(phase(&project, &semantics, spec, &axioms, end)?);
        }
        let mut model = Model::new(&project, seed)?;
        // Shapes that only a later phase asks for get their networks now: the parameters never change.
        for phase in &phases {
            model.attach(&project, &phase.engine)?;
        }
        Ok(Trainer {
            optimise: Optimise::new(train.optimizer, &mut model),
            measures: measure::read(&project)?,
            project,
            model,
            phases,
            attached: None,
            batches,
            train,
            seed,
            semantics,
            done: 0,
            total: end,
            steps_per_epoch,
            axioms,
            last_parameters: Parameters::default(),
            best: None,
            stopped_early: false,
        })
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The model as it is.
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
        let theory = self.project.theory();
        let Some(id) = theory.predicate(predicate) else {
            let names = theory.predicates.iter().map(|p| p.name.as_str());
            return Err(Diagnostic::error(
                Code::UnknownPredicate,
                format!("the theory has no predicate `{predicate}`"),
            )
            .maybe_help(logltn::did_you_mean(predicate, names))
            .into());
        };
        if self.done > 0 {
            return Err(Diagnostic::error(
                Code::TrainingHasBegun,
                format!("`{predicate}` cannot be grounded in the middle of a training"),
            )
            .help("call `ground` before the first step")
            .into());
        }
        self.model.ground(id, grounding);
        self.optimise = Optimise::new(self.train.optimizer, &mut self.model);
        Ok(())
    }

    /// From now on each step moves the parameters of this predicate's network twice, by the same gradient.
    ///
    /// That is what an optimiser does that was given them twice, as the paper's authors' released code does.
    pub fn move_twice(&mut self, predicate: &str) {
        self.optimise.move_twice(predicate);
    }

    /// Where all randomness comes from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The semantics that is trained with.
    pub fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// The names and weights of all axioms, families written out.
    pub fn axioms(&self) -> &[(String, f64)] {
        &self.axioms
    }

    /// The names of the metrics.
    pub fn metrics(&self) -> Vec<String> {
        self.measures.iter().map(|m| m.label.clone()).collect()
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
        self.done >= self.total || self.stopped_early
    }

    /// How many steps make a pass over the largest batched table.
    pub fn steps_per_epoch(&self) -> u64 {
        self.steps_per_epoch
    }

    /// α, p and p_forall of the next step.
    pub fn parameters(&self) -> Parameters {
        let (by_step, by_epoch) = self.progress();
        self.project.manifest.schedule.at(by_step, by_epoch)
    }

    /// From 0 at the first step to 1 at the last; the same by epochs.
    fn progress(&self) -> (f64, f64) {
        let share = |at: u64, of: u64| match of {
            0 | 1 => 0.0,
            _ => (at.min(of - 1)) as f64 / (of - 1) as f64,
        };
        let epochs = self.total.div_ceil(self.steps_per_epoch);
        (
            share(self.done, self.total),
            share(self.done / self.steps_per_epoch, epochs),
        )
    }

    /// Does one step.
    ///
    /// # Errors
    /// If a loss or a gradient is not finite: the parameters are then still those before the step.
    pub fn step(&mut self) -> Result<Step, Diagnostics> {
        // Once into the pool of threads, and not again for every part of the work: coming from outside takes sleeping
        // and waking each time.
        rayon::scope(|_| self.step_in_pool())
    }

    fn step_in_pool(&mut self) -> Result<Step, Diagnostics> {
        let parameters = self.parameters();
        let (by_step, by_epoch) = self.progress();
        let learning_rate = self
            .train
            .learning_rate
            .at(match self.train.learning_rate.by {
                By::Step => by_step,
                By::Epoch => by_epoch,
            });
        let at = (self.phases.iter())
            .position(|p| self.done < p.end)
            .unwrap_or(self.phases.len() - 1);
        let phase = &mut self.phases[at];
        let moved = self.attached != Some(at);
        if moved {
            self.model.attach(&self.project, &phase.engine)?;
            self.attached = Some(at);
        }
        let batches = self.batches.iter_mut().map(|b| (b.table, b.next()));
        phase.engine.set_batches(batches)?;
        let changed = moved || !self.batches.is_empty();
        self.model.set_step(self.done);
        self.model.forward(&mut phase.engine, changed)?;
        let step = self.done + 1;
        let value = (phase.engine.evaluate_with_gradients(&parameters))
            .map_err(|errors| at_step(errors, step))?;
        let mut axioms = vec![f64::NAN; self.axioms.len()];
        for (place, value) in phase.axioms.iter().zip(&value.axioms) {
            axioms[*place] = value.truth;
        }
        let (loss, sat) = (value.loss, value.sat);
        if let Some(bad) = axioms.iter().position(|a| a.is_infinite()) {
            return Err(Diagnostic::error(
                Code::TrainingDiverged,
                format!(
                    "step {step}: axiom `{}` has the truth {}",
                    self.axioms[bad].0, axioms[bad]
                ),
            )
            .into());
        }
        self.model.backward(&phase.engine);
        let gradient_norm = Optimise::clip(&mut self.model, self.train.clip_norm);
        if !gradient_norm.is_finite() || !loss.is_finite() {
            return Err(self.not_finite(step, loss, at, &parameters));
        }
        self.optimise.step(&mut self.model, learning_rate);
        self.done = step;
        self.last_parameters = parameters;
        Ok(Step {
            step,
            loss,
            sat,
            axioms,
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
            if culprit.is_none() && gradients.iter().any(|g| !g.is_finite()) {
                culprit = Some(name.to_string());
            }
        });
        let what = match culprit {
            Some(name) => {
                // A block of the host's goes by its predicate's number.
                let predicates = &self.project.theory().predicates;
                let number = name.strip_prefix("host.").and_then(|n| n.split('.').next());
                let predicate = number.and_then(|n| predicates.get(n.parse::<usize>().ok()?));
                let name = predicate.map_or(name.as_str(), |p| p.name.as_str());
                format!("the gradient of the network of `{name}` is not finite")
            }
            None => format!("the loss is {loss}"),
        };
        Diagnostic::error(Code::TrainingDiverged, format!("step {step}: {what}{axiom}"))
            .help("a smaller `learning_rate`, or `clip_norm` under `[train]`, keeps networks from running away")
            .into()
    }

    /// How much each axiom of the current phase pulls on the predicates: warnings if one does not pull at
    /// all, or one more than a hundred times as much as all others together. Call it after a step.
    pub fn balance(&mut self) -> Diagnostics {
        let mut out = Diagnostics::new();
        let parameters = self.last_parameters;
        let Some(at) = self.attached else {
            return out;
        };
        let phase = &mut self.phases[at];
        let norms = phase.engine.axiom_gradient_norms(&parameters);
        let total: f64 = norms.iter().sum();
        let theory = self.project.theory();
        for (norm, axiom) in norms.iter().zip(phase.engine.plan().axioms()) {
            let warning = if *norm == 0.0 && axiom.weight > 0.0 && axiom.groundings > 0 {
                Diagnostic::warning(
                    Code::VanishingGradient,
                    format!(
                        "step {}: the gradient of axiom `{}` vanishes",
                        self.done, axiom.name
                    ),
                )
                .help("it is satisfied for good, or its operators let nothing through")
            } else if norms.len() > 1 && *norm > 100.0 * (total - norm) {
                Diagnostic::warning(Code::DominatingGradient, format!(
                    "step {}: the gradient of axiom `{}` is more than 100 times that of all others together",
                    self.done, axiom.name
                ))
                .help("give it a smaller weight, or the others a larger one")
            } else {
                continue;
            };
            out.push(warning.at(&theory.source, axiom.span, ""));
        }
        out
    }

    /// The metrics of the model as it is, by name.
    pub fn measure(&mut self) -> Result<Vec<(String, f64)>, Diagnostics> {
        let mut values = Vec::new();
        for measure in &mut self.measures {
            values.push((
                measure.label.clone(),
                measure.measure(&self.project, &mut self.model)?,
            ));
        }
        // Measuring has used the networks' rows.
        self.attached = None;
        Ok(values)
    }

    /// Whether the metrics are due after the step just done.
    pub fn measure_is_due(&self) -> bool {
        let every = (self.project.manifest.evaluate.as_ref()).and_then(|e| e.every);
        !self.measures.is_empty()
            && (self.is_done() || every.is_some_and(|n| self.done.is_multiple_of(n.max(1))))
    }

    /// Takes note of metrics for early stopping.
    pub fn note_metrics(&mut self, values: &[(String, f64)]) {
        let Some(early) = &self.train.early_stop else {
            return;
        };
        let wanted = &early.metric.value;
        let is_it = |name: &str| name == wanted || name.split('(').next() == Some(wanted.as_str());
        let Some((_, value)) = values.iter().find(|(name, _)| is_it(name)) else {
            return;
        };
        self.best = match self.best {
            Some((best, ago)) if *value <= best => Some((best, ago + 1)),
            _ => Some((*value, 0)),
        };
        if let Some((_, ago)) = self.best {
            self.stopped_early = ago >= early.patience;
        }
    }

    /// How many steps lie between two checkpoints.
    pub fn checkpoint_every(&self) -> u64 {
        self.train.checkpoint_every.unwrap_or(100).max(1)
    }
}

fn phase(
    project: &Project,
    semantics: &Semantics,
    spec: &PhaseSpec,
    axioms: &[(String, f64)],
    end: u64,
) -> Result<Phase, Diagnostics> {
    let named = |name: &str| match &spec.axioms {
        None => true,
        Some(names) => names.iter().any(|n| n.value == name),
    };
    let family = |name: &str| name.split('[').next().unwrap_or(name).to_string();
    let member_named = |axiom: &str| match &spec.axioms {
        None => true,
        Some(names) => names.iter().any(|n| family(&n.value) == axiom),
    };
    let data = project.data.with_axioms(|axiom| member_named(&axiom.name));
    let mut plan = Plan::new(&data, &project.outputs, semantics)?;
    plan.retain_axioms(|axiom| named(&axiom.name) || named(&family(&axiom.name)));
    let places = (plan.axioms().iter())
        .filter_map(|a| axioms.iter().position(|(name, _)| *name == a.name))
        .collect();
    Ok(Phase {
        engine: Engine::new(plan),
        end,
        axioms: places,
    })
}

fn at_step(errors: Diagnostics, step: u64) -> Diagnostics {
    let mut out = Diagnostics::new();
    for error in errors {
        let error = match error.code() {
            // They were finite when training began.
            Code::NotFinite => error.with_code(Code::TrainingDiverged),
            _ => error,
        };
        out.push(error.note(format!("at step {step}")));
    }
    out
}
