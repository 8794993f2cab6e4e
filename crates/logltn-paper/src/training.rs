//! What the runs of all tasks have in common: train to the end, look now and then, stop when asked to.

use std::time::Instant;

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_train::project::Project;
use logltn_train::train::{TrainOptions, Trainer};

use super::jobs::{Finding, Found, Progress};
use super::record::Job;

/// A training with the job's seed.
pub(super) fn trainer(project: Project, job: &Job) -> Result<Trainer, Diagnostics> {
    let options = TrainOptions {
        seed: Some(job.seed),
        ..TrainOptions::default()
    };
    Trainer::new(project, &options)
}

/// The predicate that a theory of ours is sure to have.
pub(super) fn predicate(project: &Project, name: &str) -> Result<PredicateId, Diagnostic> {
    let missing = || Diagnostic::error(Code::Internal, format!("the theory has no `{name}`"));
    project.theory().predicate(name).ok_or_else(missing)
}

/// Trains to the end. `measure` gets the number of steps done after every this many of them, and after the last.
pub(super) fn train(
    trainer: &mut Trainer,
    every: u64,
    progress: &Progress<'_>,
    mut measure: impl FnMut(&mut Trainer, u64, &mut Finding) -> Result<(), Diagnostics>,
) -> Found {
    let mut finding = Finding::default();
    while !trainer.is_done() {
        let begun = Instant::now();
        let step = trainer.step()?;
        finding.training += begun.elapsed();
        finding.sat = step.sat;
        if step.step % every == 0 || trainer.is_done() {
            measure(trainer, step.step, &mut finding)?;
        }
        if progress.step() && !trainer.is_done() {
            return Ok(None);
        }
    }
    Ok(Some(finding))
}
