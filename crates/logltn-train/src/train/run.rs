//! A training with a run directory: records, checkpoints, metrics, resuming, and a report at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use logltn::{Code, Diagnostic, Diagnostics, Parameters, PlannedAxiom, memory};
use logltn_learn::State;

use super::{Trainer, data_files, unchanged};
use crate::in_manifest::{all_in_manifest, in_manifest};
use crate::run_directory::{
    AxiomInfo, KeptInfo, MetricsLog, RuleInfo, RunDirectory, RunInfo, RunStatus, StartInfo,
    StepRecord, WholeInfo, WholeTruth, utc_time, write_atomically,
};
use crate::tensorboard::EventWriter;

/// An observer of a run: a progress bar, a test, or none.
pub trait Watch {
    /// Before the first step: from now on there is something to lose.
    fn begin(&mut self) {}

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
        /// The value of each metric with the weights that were kept.
        metrics: Vec<(String, f64)>,
        /// What to say if no weight has moved, because not one step had a gradient.
        nothing_moved: Option<Box<Diagnostic>>,
    },
    /// It had been finished before; nothing was done.
    AlreadyFinished {
        /// As for a run that has just been finished, if it was killed before it could say so.
        nothing_moved: Option<Box<Diagnostic>>,
    },
    /// It was asked to stop, and can be resumed.
    Interrupted {
        /// How many steps are done.
        done: u64,
    },
}

/// Trains to the end, or until `stop` is set. Given to [`Session::set_stop`](logltn_learn::Session::set_stop) too, it also
/// ends the step at hand, which is done again when the run is resumed, or the metrics at hand, which are measured then.
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
    let (mut after, mut unmeasured) = (None, None);
    let (finished, checkpoint) = match options.resume {
        true => (directory.weights()?.is_some(), directory.checkpoint()?),
        false => (false, None),
    };
    if finished || checkpoint.is_some() {
        unchanged::check(trainer, directory)?;
    }
    if finished {
        return finished_before(trainer, directory, checkpoint, stop, watch);
    }
    let before = checkpoint.as_ref().and_then(|_| directory.info().ok());
    let known = before.as_ref().and_then(|before| before.whole.clone());
    // Of one that was interrupted while it looked, nothing is known yet.
    let known = known.filter(|whole| whole.first.is_some());
    let known = known.map(|whole| WholeInfo {
        last: None,
        rules: Vec::new(),
        ..whole
    });
    // Before the weights become those of the checkpoint.
    let whole = known.unwrap_or_else(|| at_first(trainer));
    if let Some(checkpoint) = checkpoint {
        trainer.restore(&checkpoint)?;
        unmeasured = taken(&checkpoint, trainer)?;
        after = Some(trainer.done() - u64::from(unmeasured.is_some()));
    }
    let mut info = describe(trainer, directory, options)?;
    info.whole = Some(whole);
    if let Some(before) = before {
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
    watch.begin();
    let to = To {
        directory,
        log: &mut log,
        events: events.as_mut(),
    };
    let (before_the_end, after_it) = (room(&info), room(&info));
    let mut result = steps(trainer, to, unmeasured, stop, watch);
    drop(before_the_end);
    info.updated = utc_time(SystemTime::now());
    info.steps = Some(trainer.done());
    if let Ok(Outcome::Finished { nothing_moved, .. }) = &result {
        note_finished(trainer, directory, &mut info, nothing_moved.as_deref())?;
        if !note_the_end(trainer, directory, &mut info, stop, watch)? {
            // Its weights are there, but its end is not noted: resuming does that.
            (info.kept, info.reason) = (None, String::new());
            let done = trainer.done();
            result = Ok(Outcome::Interrupted { done });
        }
        info.updated = utc_time(SystemTime::now());
    }
    drop(after_it);
    match &result {
        Ok(Outcome::Interrupted { .. }) => info.status = RunStatus::Interrupted,
        Ok(_) => {}
        Err(errors) => {
            info.status = RunStatus::Failed;
            info.reason = reason(errors.iter().next());
        }
    }
    // A full disk must not hide why the run stopped.
    let written = directory.write_info(&info);
    let outcome = result?;
    written?;
    Ok(outcome)
}

/// A run that has its weights; if it was killed before its end was noted, that is done now.
fn finished_before(
    trainer: &mut Trainer,
    directory: &RunDirectory,
    checkpoint: Option<State>,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Outcome, Diagnostics> {
    let mut info = directory.info()?;
    let unsaid = |whole: &WholeInfo| whole.first.is_some() && whole.last.is_none();
    if info.status == RunStatus::Finished && !info.whole.as_ref().is_some_and(unsaid) {
        let mut last = 0;
        if directory.holds("metrics.jsonl")? {
            for record in directory.records()? {
                last = record?.step;
            }
        }
        directory.check_end(&info, last)?;
        return Ok(Outcome::AlreadyFinished {
            nothing_moved: None,
        });
    }
    // Killed after its weights and before its end was noted, a run is finished anyway, but that is still to be noted. The
    // last checkpoint was written before the weights.
    if let Some(checkpoint) = &checkpoint {
        trainer.restore(checkpoint)?;
    }
    let nothing_moved = nothing_moved(trainer, directory)?;
    if let Some(weights) = directory.weights()? {
        trainer.restore_weights(&weights)?;
    }
    info.steps = checkpoint.map(|_| trainer.done()).or(info.steps);
    note_finished(trainer, directory, &mut info, nothing_moved.as_deref())?;
    if !note_the_end(trainer, directory, &mut info, stop, watch)? {
        let done = trainer.done();
        return Ok(Outcome::Interrupted { done });
    }
    directory.write_info(&info)?;
    Ok(Outcome::AlreadyFinished { nothing_moved })
}

/// Memory that is kept for what is noted after the weights are written: a run that has them must not end as if its input were wrong.
fn room(info: &RunInfo) -> Vec<u8> {
    let noted = info.to_json().len();
    std::hint::black_box(Vec::with_capacity(4 * noted + (1 << 18)))
}

/// Notes that a run is finished.
fn note_finished(
    trainer: &Trainer,
    directory: &RunDirectory,
    info: &mut RunInfo,
    nothing_moved: Option<&Diagnostic>,
) -> Result<(), Diagnostics> {
    info.status = RunStatus::Finished;
    info.kept = kept(trainer, directory)?;
    info.reason = why_finished(trainer, nothing_moved, info.kept.as_ref());
    info.updated = utc_time(SystemTime::now());
    count_left_out(trainer, directory, info)
}

/// How many `exists` all steps have left out, those before an interruption too.
fn count_left_out(
    trainer: &Trainer,
    directory: &RunDirectory,
    info: &mut RunInfo,
) -> Result<(), Diagnostics> {
    if !trainer.can_leave_out() {
        return Ok(());
    }
    info.axioms.iter_mut().for_each(|axiom| axiom.left_out = 0);
    for record in directory.records()? {
        for (name, count) in record?.left_out {
            let named = info.axioms.iter_mut().filter(|axiom| axiom.name == name);
            named.for_each(|axiom| axiom.left_out += count);
        }
    }
    Ok(())
}

/// The whole theory with the weights that a run begins with.
fn at_first(trainer: &mut Trainer) -> WholeInfo {
    let Parameters { alpha, p, p_forall } = trainer.project().manifest.schedule.last(true);
    WholeInfo {
        alpha,
        p,
        p_forall,
        // What is wrong with it may come right in training. Interrupted, it is looked at again when the run is resumed.
        first: whole_truth(trainer, &mut ()).unwrap_or_default(),
        last: None,
        rules: Vec::new(),
    }
}

/// The whole theory with the weights as they are; none where that takes too long, or cannot be told.
///
/// # Errors
/// If it was interrupted.
fn whole_truth(
    trainer: &mut Trainer,
    watch: &mut dyn Watch,
) -> Result<Option<WholeTruth>, Diagnostics> {
    let evaluated = match trainer.evaluate_whole() {
        Ok(Some(evaluated)) => evaluated,
        Ok(None) => return Ok(None),
        Err(errors) if errors.iter().any(|e| e.code() == Code::Interrupted) => return Err(errors),
        Err(errors) => {
            for error in errors {
                let error = error.into_warning();
                watch.warning(
                    &error.note("when the whole theory was evaluated after the last step"),
                );
            }
            return Ok(None);
        }
    };
    let truth = WholeTruth {
        sat: evaluated.sat,
        loss: evaluated.loss,
        axioms: evaluated.truths,
    };
    let numbers = [truth.sat, truth.loss].into_iter();
    let is_finite = numbers
        .chain(truth.axioms.iter().copied())
        .all(f64::is_finite);
    Ok(is_finite.then_some(truth))
}

/// Notes the whole theory with the last weights and how well its rules are kept, where that can be told, and says which
/// are not. Whether it did: it may be interrupted. Where memory ends before, the run is finished without.
fn note_the_end(
    trainer: &mut Trainer,
    directory: &RunDirectory,
    info: &mut RunInfo,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<bool, Diagnostics> {
    let (path, text) = (directory.file("run.json"), info.to_json());
    let words =
        "the weights are written; what the whole theory says, pictures and report are left out";
    let _without = memory::CanBeLeftOut::new(words, move || {
        let _ = write_atomically(&path, text.as_bytes());
    });
    let Some(whole) = &mut info.whole else {
        return Ok(true);
    };
    let noted = unless_interrupted(stop, || look_at_the_end(trainer, whole, watch))?;
    Ok(noted.is_some())
}

fn look_at_the_end(
    trainer: &mut Trainer,
    whole: &mut WholeInfo,
    watch: &mut dyn Watch,
) -> Result<(), Diagnostics> {
    let last = whole_truth(trainer, watch)?;
    if last.is_some() {
        let rules = match trainer.rules() {
            Err(errors) if errors.iter().any(|e| e.code() == Code::Interrupted) => {
                return Err(errors);
            }
            // There was memory for its truth, and for no more.
            rules => rules.unwrap_or_default(),
        };
        let said = trainer.afterthoughts(&rules).into_iter().map(in_manifest);
        said.for_each(|warning| watch.warning(&warning));
        let axioms = &trainer.project().theory().axioms;
        whole.rules = (rules.iter())
            .map(|rule| RuleInfo {
                name: axioms[rule.axiom].name.clone(),
                groundings: rule.groundings,
                premises: rule.premises,
                broken: rule.broken,
            })
            .collect();
    }
    whole.last = last;
    Ok(())
}

/// Which weights early stopping has kept, with the metrics that their step's record has.
fn kept(trainer: &Trainer, directory: &RunDirectory) -> Result<Option<KeptInfo>, Diagnostics> {
    let (Some(best), Some(metric)) = (trainer.best(), trainer.early_stop_metric()) else {
        return Ok(None);
    };
    Ok(Some(KeptInfo {
        metric,
        step: best.step,
        value: best.value,
        stopped_after: best.stopped.then_some(best.ago),
        metrics: metrics_of(directory, best.step)?,
    }))
}

/// The metrics of a step's record.
fn metrics_of(directory: &RunDirectory, step: u64) -> Result<Vec<(String, f64)>, Diagnostics> {
    for record in directory.records()? {
        let record = record?;
        if record.step == step {
            return Ok(record.metrics);
        }
    }
    Ok(Vec::new())
}

/// Why a run that is finished is so, if there is something to say of that.
fn why_finished(
    trainer: &Trainer,
    nothing_moved: Option<&Diagnostic>,
    kept: Option<&KeptInfo>,
) -> String {
    match (nothing_moved, kept) {
        (None, Some(kept)) if kept.stopped_after.is_some() => {
            kept.sentence(trainer.done(), trainer.total())
        }
        (nothing_moved, _) => reason(nothing_moved),
    }
}

fn reason(error: Option<&Diagnostic>) -> String {
    error.map_or(String::new(), |e| e.message().to_string())
}

fn describe(
    trainer: &Trainer,
    directory: &RunDirectory,
    options: &RunOptions,
) -> Result<RunInfo, Diagnostics> {
    let now = utc_time(SystemTime::now());
    let planned = trainer.plan().axioms().iter();
    let planned: BTreeMap<&str, &PlannedAxiom> = planned.map(|a| (&a.name[..], a)).collect();
    let manifest = &trainer.project().manifest;
    Ok(RunInfo {
        title: options.title.clone(),
        seed: trainer.training().seed,
        semantics: trainer.training().semantics.to_string(),
        logs: Some(trainer.training().semantics.sat_is_log()),
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
                left_out: 0,
                hard: planned.get(&name[..]).is_some_and(|a| a.hard),
                groundings: (planned.get(&name[..])).and_then(|a| u64::try_from(a.groundings).ok()),
            })
            .collect(),
        ..RunInfo::default()
    })
}

/// Where steps are written down.
struct To<'a> {
    directory: &'a RunDirectory,
    log: &'a mut MetricsLog,
    events: Option<&'a mut EventWriter>,
}

impl To<'_> {
    fn record(&mut self, record: &StepRecord) -> Result<(), Diagnostics> {
        self.log.append(record)?;
        if let Some(events) = &mut self.events {
            events.append(record, SystemTime::now())?;
        }
        Ok(())
    }

    /// Like the records, events are written to disk before the checkpoint that covers their steps.
    fn checkpoint(&mut self, state: &State) -> Result<(), Diagnostics> {
        if let Some(events) = &mut self.events {
            events.sync()?;
        }
        self.directory.write_checkpoint(self.log, state)
    }
}

/// The fact of a checkpoint that is its last step's record, where the metrics that belong to it are still to be measured.
const UNMEASURED: &str = "unmeasured";

/// The record that a checkpoint holds.
fn taken(checkpoint: &State, trainer: &Trainer) -> Result<Option<StepRecord>, Diagnostics> {
    let Some(line) = checkpoint.facts.get(UNMEASURED) else {
        return Ok(None);
    };
    let record = StepRecord::from_json_line(line).map(|(record, _)| record);
    match record {
        Ok(record) if record.step == trainer.done() && record.step > 0 => Ok(Some(record)),
        _ => {
            let what = "the checkpoint's record of its last step is damaged";
            Err(Diagnostic::error(Code::RunDamaged, what).into())
        }
    }
}

fn steps(
    trainer: &mut Trainer,
    mut to: To<'_>,
    mut unmeasured: Option<StepRecord>,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Outcome, Diagnostics> {
    let mut last = None;
    let every = trainer.checkpoint_every();
    while unmeasured.is_some() || !trainer.is_done() {
        let mut record = match unmeasured.take() {
            Some(record) => record,
            None => match unless_interrupted(stop, || step(trainer))? {
                Some(record) => {
                    // Early, so that it can be stopped, and again: what is odd at first may come right.
                    let at = record.step;
                    let early = at == 1 || at == 10 || (at < 10 && trainer.is_done());
                    if early || at.is_multiple_of(10 * every) {
                        trainer.balance().iter().for_each(|w| watch.warning(w));
                    }
                    record
                }
                None => return interrupted(trainer, &mut to, None),
            },
        };
        if trainer.measure_is_due() {
            let Some(found) = unless_interrupted(stop, || trainer.measure())? else {
                return interrupted(trainer, &mut to, Some(&record));
            };
            trainer.note_metrics(&found);
            record.metrics = found;
        }
        to.record(&record)?;
        watch.step(&record, trainer.total());
        if trainer.done().is_multiple_of(every) || trainer.is_done() {
            to.checkpoint(&trainer.state())?;
        }
        last = Some(record);
    }
    to.log.sync()?;
    let measured_at = match trainer.best().map(|best| best.step) {
        None => trainer.done(),
        Some(step) => {
            to.directory.write_last_weights(&trainer.weights())?;
            trainer.restore_best()?;
            step
        }
    };
    to.directory.write_weights(&trainer.weights())?;
    Ok(Outcome::Finished {
        last,
        metrics: metrics_of(to.directory, measured_at)?,
        nothing_moved: nothing_moved(trainer, to.directory)?,
    })
}

/// `None` if it was stopped before or in the middle.
fn unless_interrupted<T>(
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T, Diagnostics>,
) -> Result<Option<T>, Diagnostics> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    match work() {
        Err(errors) if errors.iter().any(|e| e.code() == Code::Interrupted) => Ok(None),
        done => done.map(Some),
    }
}

/// A step and its record, without metrics.
fn step(trainer: &mut Trainer) -> Result<StepRecord, Diagnostics> {
    let begun = Instant::now();
    let step = trainer.step().map_err(all_in_manifest)?;
    Ok(StepRecord {
        step: step.step,
        loss: step.loss,
        sat: step.sat,
        axioms: step.axioms,
        metrics: Vec::new(),
        gradient_norm: step.gradient_norm,
        step_time: begun.elapsed().as_secs_f64(),
        left_out: step.left_out,
    })
}

/// Writes a checkpoint. With it goes the record of a step whose metrics are still to be measured, which are added to the
/// record when the run is resumed; until then it is written down without them, so that every step that was done has one.
fn interrupted(
    trainer: &mut Trainer,
    to: &mut To<'_>,
    unmeasured: Option<&StepRecord>,
) -> Result<Outcome, Diagnostics> {
    let mut state = trainer.state();
    if let Some(record) = unmeasured {
        let axioms: Vec<String> = trainer.axioms().into_iter().map(|a| a.0).collect();
        let line = record.to_json_line(&axioms);
        state.facts.insert(UNMEASURED.to_string(), line);
        to.record(record)?;
    }
    to.checkpoint(&state)?;
    Ok(Outcome::Interrupted {
        done: trainer.done(),
    })
}

/// What to say of a finished run whose records have no gradient; as a rule the first has one. A theory that is wholly true
/// has nothing to teach either.
fn nothing_moved(
    trainer: &mut Trainer,
    directory: &RunDirectory,
) -> Result<Option<Box<Diagnostic>>, Diagnostics> {
    let mut satisfied = false;
    for record in directory.records()? {
        let record = record?;
        if record.gradient_norm != 0.0 {
            return Ok(None);
        }
        satisfied = trainer.training().semantics.degree(record.sat) == 1.0;
    }
    Ok(match satisfied {
        true => None,
        false => trainer.nothing_moved().map(in_manifest).map(Box::new),
    })
}
