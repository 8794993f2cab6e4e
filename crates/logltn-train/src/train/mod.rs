//! Training a manifest: a session, with a run directory that can be interrupted at any moment.

mod advise;
mod ask;
mod classified;
mod compare;
mod data_files;
mod declarations;
mod document;
mod ensemble;
mod evaluate_run;
mod feature_effects;
mod learnt_map;
mod predictor;
mod resolved;
mod run;
mod run_weights;
mod start;
mod sweep;
mod unchanged;
mod worker_threads;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use logltn::{Code, Diagnostic, Diagnostics, PlanOptions, Semantics};
use logltn_learn::{EarlyStop, Length, Model, Phase, Session, Training};

use crate::in_manifest::{all_in_manifest, in_manifest};
use crate::manifest::Train;
use crate::project::Project;
pub use advise::{Advice, AdviseOptions, Trial, advise};
pub use ask::Questions;
pub use classified::Classified;
pub use compare::{ComparedRun, Comparison, Spread, told_by_key};
pub use data_files::check_noted;
pub use ensemble::{apart_from, member, members, note_ensemble};
pub use evaluate_run::evaluate_run;
pub use feature_effects::{Moved, Seen};
pub use learnt_map::{Concepts, LearntMap, learnt_map};
pub use predictor::{Asking, MOST_TUPLES, Predictor};
pub use run::{Outcome, RunOptions, Watch, run};
pub use run_weights::RunWeights;
pub use start::Beginning;
use start::check_parts;
pub use sweep::{Setting, Sweep, WatchSweep};
pub use worker_threads::each_at_once;

/// The settings that a command line can override.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrainOptions {
    /// The seed of all random numbers.
    pub seed: Option<u64>,
    /// How many steps, in a single phase of all axioms.
    pub steps: Option<u64>,
    /// The semantics.
    pub semantics: Option<Semantics>,
}

/// The [`Session`] of a manifest, which it can be used as.
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
    session: Session,
    options: TrainOptions,
    beginning: Option<Beginning>,
}

impl Trainer {
    /// Plans a project's training and draws the initial weights.
    ///
    /// # Errors
    /// With all errors that can be found before the first step.
    pub fn new(project: Project, options: &TrainOptions) -> Result<Trainer, Diagnostics> {
        Trainer::new_with(project, options, &PlanOptions::default())
    }

    /// The same with options for the planner.
    ///
    /// # Errors
    /// As those of [`Trainer::new`].
    pub fn new_with(
        project: Project,
        options: &TrainOptions,
        plan: &PlanOptions,
    ) -> Result<Trainer, Diagnostics> {
        // All mistakes at once.
        let mut found = check_parts(&project);
        let train = project.manifest.train.as_ref();
        if train.is_some_and(|train| !train.phases.is_empty())
            && let Some(error) = project.nothing_to_train()
        {
            found.push(error);
        }
        let semantics = options.semantics.unwrap_or(project.manifest.semantics);
        let plan = project.plan_of_steps(&semantics, plan).map(Arc::new);
        let training = match (training(&project, options), found.has_errors()) {
            (Ok(training), false) => training,
            (training, _) => {
                found.extend(training.err().unwrap_or_default());
                found.extend(plan.err().unwrap_or_default());
                let networks = Model::new(&project.sketch(), 0);
                found.extend(all_in_manifest(networks.err().unwrap_or_default()));
                return Err(found);
            }
        };
        let session = Session::planned(project.knowledge()?, training, plan);
        let mut session = session.map_err(|errors| frozen_here(&project, errors))?;
        let beginning = start::begin(&project, &mut session)?;
        Ok(Trainer {
            project,
            session,
            options: *options,
            beginning,
        })
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The weights that it started from, if they were not random.
    pub fn beginning(&self) -> Option<&Beginning> {
        self.beginning.as_ref()
    }

    /// The number of steps between two checkpoints.
    pub fn checkpoint_every(&self) -> u64 {
        let train = self.project.manifest.train.as_ref();
        train.and_then(|t| t.checkpoint_every).unwrap_or(100).max(1)
    }
}

impl Deref for Trainer {
    type Target = Session;
    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Trainer {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// The place of `freeze`, if everything is frozen.
fn frozen_here(project: &Project, errors: Diagnostics) -> Diagnostics {
    let manifest = &project.manifest;
    let freeze = (manifest.train.as_ref()).and_then(|train| train.freeze.first());
    let placed = |error: Diagnostic| match (error.code(), freeze) {
        (Code::NothingToTrain, Some(first)) => {
            error.at(&manifest.source, first.span, "this, and all else")
        }
        _ => error,
    };
    errors.into_iter().map(placed).map(in_manifest).collect()
}

/// The training settings of the manifest and the options.
fn training(project: &Project, options: &TrainOptions) -> Result<Training, Diagnostics> {
    let manifest = &project.manifest;
    let train = match &manifest.train {
        Some(train) => train.value.clone(),
        None => Train::default(),
    };
    let phases: Vec<Phase> = match options.steps {
        Some(steps) => vec![Phase {
            length: Length::Steps(steps),
            axioms: None,
        }],
        None => (train.phases.iter())
            .map(|phase| Phase {
                length: phase.length,
                axioms: (phase.axioms.as_ref())
                    .map(|axioms| axioms.iter().map(|a| a.value.clone()).collect()),
            })
            .collect(),
    };
    if phases.is_empty() {
        return Err(Diagnostic::error(
            Code::NoTrainingLength,
            "the manifest does not say how long to train",
        )
        .help("write `steps = 1000` or `epochs = 20` under `[train]`, or give `--steps`")
        .into());
    }
    let tables = manifest.tables.iter();
    Ok(Training {
        semantics: options.semantics.unwrap_or(manifest.semantics),
        schedule: manifest.schedule.training(),
        axioms: manifest.axiom_settings(),
        freeze: train.freeze.iter().map(|name| name.value.clone()).collect(),
        phases,
        crisp: (manifest.predicates.iter())
            .filter(|(_, predicate)| predicate.crisp > 0.0)
            .map(|(name, predicate)| (name.clone(), predicate.crisp))
            .collect(),
        seed: options.seed.unwrap_or(train.settings.seed),
        batches: tables
            .filter_map(|(name, table)| Some((name.clone(), table.batch?.value)))
            .collect(),
        samples: project.samples(),
        metrics: project.metrics()?,
        measure_every: manifest.evaluate.as_ref().and_then(|e| e.every),
        early_stop: train.early_stop.map(|early| EarlyStop {
            metric: early.metric.value,
            patience: early.patience,
        }),
        ..train.settings
    })
}
