//! A training with a run directory: records, checkpoints, metrics, resuming, and a report at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use logltn::{Code, Diagnostic, Diagnostics};

use super::{Trainer, data_files, unchanged};
use crate::run_directory::{
    AxiomInfo, MetricsLog, RunDirectory, RunInfo, RunStatus, StartInfo, StepRecord, utc_time,
};
use crate::tensorboard::EventWriter;

/// Someone who follows a run: a progress bar, a test, nobody.
pub trait Watch {
    /// After each step.
    fn step(&mut self, record: &StepRecord, total: u64) {
        let _ = (record, total);
    }

    /// Something worth saying.
    fn warning(&mut self, warning: &Diagnostic) {
        let _ = warning;
    }
}

impl Watch for () {}

/// What a run is called, and how it was started.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Usually the manifest's name.
    pub title: String,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// Go on from a checkpoint, if there is one.
    pub resume: bool,
    /// Write TensorBoard event files as well, to `tensorboard/`.
    pub tensorboard: bool,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All steps are done.
    Finished {
        /// The last record.
        last: Option<StepRecord>,
        /// The last value of each metric.
        metrics: Vec<(String, f64)>,
        /// What to say if no weight has moved, because not one step had a gradient.
        nothing_moved: Option<Box<Diagnostic>>,
    },
    /// It had been finished before; nothing was done.
    AlreadyFinished,
    /// It was asked to stop, and can be resumed.
    Interrupted {
        /// How many steps are done.
        done: u64,
    },
}

/// Trains to the end, or until `stop` is set. Given to [`Session::set_stop`](logltn_learn::Session::set_stop) too, it also
/// ends the step at hand, which is done again when the run is resumed.
///
/// # Errors
/// What the training or the disk has to say. The last checkpoint stays whole.
pub fn run(
    trainer: &mut Trainer,
    directory: &RunDirectory,
    options: &RunOptions,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Outcome, Diagnostics> {
    let mut after = None;
    let began = match options.resume {
        true => (directory.weights()?.is_some(), directory.checkpoint()?),
        false => (false, None),
    };
    let (finished, checkpoint) = began;
    if finished || checkpoint.is_some() {
        unchanged::check(trainer, directory)?;
    }
    if finished {
        // Killed between its weights and its last words, a run is finished all the same.
        if let Ok(mut info) = directory.info()
            && info.status != RunStatus::Finished
        {
            info.status = RunStatus::Finished;
            info.reason.clear();
            // The last checkpoint was written before the weights.
            let step = checkpoint.and_then(|last| last.facts.get("step")?.parse().ok());
            info.steps = step.or(info.steps);
            info.updated = utc_time(SystemTime::now());
            directory.write_info(&info)?;
        }
        return Ok(Outcome::AlreadyFinished);
    }
    if let Some(checkpoint) = checkpoint {
        trainer.restore(&checkpoint)?;
        after = Some(trainer.done());
    }
    let mut info = describe(trainer, directory, options)?;
    if after.is_some()
        && let Ok(before) = directory.info()
    {
        info.started = before.started;
    }
    let manifest = trainer.resolved_manifest(directory.path());
    let theory = trainer.project().theory().source.text();
    directory.write_manifest(&manifest)?;
    directory.write_theory(theory)?;
    info.note_file("manifest.toml", manifest.as_bytes());
    info.note_file("theory.ltn", theory.as_bytes());
    directory.write_info(&info)?;
    let axioms: Vec<String> = trainer.axioms().iter().map(|a| a.0.clone()).collect();
    let mut log = directory.metrics_log(&axioms, &trainer.metrics(), after)?;
    let mut events = match options.tensorboard {
        true => Some(EventWriter::open(
            &directory.file("tensorboard"),
            &axioms,
            after,
        )?),
        false => None,
    };
    let result = steps(trainer, directory, &mut log, events.as_mut(), stop, watch);
    info.updated = utc_time(SystemTime::now());
    info.steps = Some(trainer.done());
    match &result {
        Ok(Outcome::Interrupted { .. }) => info.status = RunStatus::Interrupted,
        Ok(Outcome::Finished {
            nothing_moved: Some(error),
            ..
        }) => {
            info.status = RunStatus::Finished;
            info.reason = error.message().to_string();
        }
        Ok(_) => info.status = RunStatus::Finished,
        Err(errors) => {
            info.status = RunStatus::Failed;
            info.reason = (errors.iter().next()).map_or(String::new(), |e| e.message().to_string());
        }
    }
    // A full disk must not hide why the run stopped.
    let written = directory.write_info(&info);
    let outcome = result?;
    written?;
    Ok(outcome)
}

fn describe(
    trainer: &Trainer,
    directory: &RunDirectory,
    options: &RunOptions,
) -> Result<RunInfo, Diagnostics> {
    let now = utc_time(SystemTime::now());
    let planned = trainer.plan().axioms().iter();
    let groundings: BTreeMap<&str, u128> = planned.map(|a| (&a.name[..], a.groundings)).collect();
    let manifest = &trainer.project().manifest;
    Ok(RunInfo {
        title: options.title.clone(),
        seed: trainer.seed(),
        semantics: trainer.semantics().to_string(),
        logs: Some(trainer.semantics().sat_is_log()),
        versions: [("logltn".to_string(), env!("CARGO_PKG_VERSION").to_string())].into(),
        command: options.command.clone(),
        started: now.clone(),
        updated: now,
        status: RunStatus::Running,
        total: Some(trainer.total()),
        steps_per_epoch: Some(trainer.steps_per_epoch()),
        data: data_files::fingerprints(manifest, directory.path())?,
        measured: data_files::measured_fingerprints(manifest, directory.path())?,
        model: trainer.project().description()?,
        start: trainer.beginning().map(|beginning| StartInfo {
            run: beginning.run.display().to_string(),
            taken: beginning.begun.taken.clone(),
            left: beginning.begun.left.clone(),
        }),
        axioms: (trainer.axioms().iter())
            .map(|(name, weight)| AxiomInfo {
                name: name.clone(),
                weight: *weight,
                groundings: (groundings.get(&name[..])).and_then(|n| u64::try_from(*n).ok()),
            })
            .collect(),
        ..RunInfo::default()
    })
}

fn steps(
    trainer: &mut Trainer,
    directory: &RunDirectory,
    log: &mut MetricsLog,
    mut events: Option<&mut EventWriter>,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Outcome, Diagnostics> {
    let mut last = None;
    let mut metrics = Vec::new();
    while !trainer.is_done() {
        let begun = Instant::now();
        let interrupted = |e: &Diagnostic| e.code() == Code::Interrupted;
        let step = match stop.load(Ordering::Relaxed) {
            true => None,
            false => match trainer.step() {
                Err(errors) if errors.iter().any(interrupted) => None,
                step => Some(step?),
            },
        };
        let Some(step) = step else {
            let checkpoint = trainer.state();
            sync(&mut events)?;
            directory.write_checkpoint(log, &checkpoint)?;
            return Ok(Outcome::Interrupted {
                done: trainer.done(),
            });
        };
        let mut record = StepRecord {
            step: step.step,
            loss: step.loss,
            sat: step.sat,
            axioms: step.axioms,
            metrics: Vec::new(),
            gradient_norm: step.gradient_norm,
            step_time: begun.elapsed().as_secs_f64(),
        };
        let every = trainer.checkpoint_every();
        // Early, so that it can be stopped, and again: what is odd at first may come right.
        let early = step.step == 1 || step.step == 10 || (step.step < 10 && trainer.is_done());
        if early || step.step.is_multiple_of(10 * every) {
            for warning in trainer.balance().iter() {
                watch.warning(warning);
            }
        }
        if trainer.measure_is_due() {
            record.metrics = trainer.measure()?;
            trainer.note_metrics(&record.metrics);
            metrics.clone_from(&record.metrics);
        }
        log.append(&record)?;
        if let Some(events) = &mut events {
            events.append(&record, SystemTime::now())?;
        }
        watch.step(&record, trainer.total());
        if trainer.done().is_multiple_of(every) || trainer.is_done() {
            let checkpoint = trainer.state();
            sync(&mut events)?;
            directory.write_checkpoint(log, &checkpoint)?;
        }
        last = Some(record);
    }
    log.sync()?;
    directory.write_weights(&trainer.weights())?;
    // A theory that is wholly true has nothing to teach either.
    let satisfied = |record: &StepRecord| trainer.semantics().degree(record.sat) == 1.0;
    let nothing_moved = match last.as_ref().is_some_and(satisfied) || had_a_gradient(directory)? {
        true => None,
        false => trainer.nothing_moved().map(Box::new),
    };
    Ok(Outcome::Finished {
        last,
        metrics,
        nothing_moved,
    })
}

/// Like the records, events go to disk before the checkpoint that knows of their steps.
fn sync(events: &mut Option<&mut EventWriter>) -> Result<(), Diagnostic> {
    events.as_mut().map_or(Ok(()), |events| events.sync())
}

/// Whether some step of the run had one; as a rule the first.
fn had_a_gradient(directory: &RunDirectory) -> Result<bool, Diagnostics> {
    for record in directory.records()? {
        if record?.gradient_norm != 0.0 {
            return Ok(true);
        }
    }
    Ok(false)
}
