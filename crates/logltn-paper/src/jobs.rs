//! Many runs at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use logltn::Diagnostics;
use logltn_train::train::each_at_once;

use super::record::{Job, RunRecord};
use super::{Experiment, Metric, Watch};

/// What a run found; `None` if it was stopped.
pub(super) type Found = Result<Option<Finding>, Diagnostics>;

/// What an experiment says of one run.
#[derive(Default)]
pub(super) struct Finding {
    pub metrics: BTreeMap<String, f64>,
    pub sat: f64,
    pub curves: BTreeMap<String, Vec<(f64, f64)>>,
    pub classes: Vec<usize>,
    /// How long the steps took, without what was measured between them.
    pub training: Duration,
}

impl Finding {
    /// A metric during training: the last value is the run's.
    pub fn note(&mut self, metric: Metric, at: f64, value: f64) {
        let curve = self.curves.entry(metric.name.to_string()).or_default();
        curve.push((at, value));
        self.metrics.insert(metric.name.to_string(), value);
    }
}

/// What a run may ask and tell while it continues.
pub(super) struct Progress<'a> {
    stops: [&'a AtomicBool; 2],
    watch: &'a dyn Watch,
}

impl Progress<'_> {
    /// One more step is done. Whether to stop.
    pub fn step(&self) -> bool {
        self.watch.steps(1);
        self.stops.iter().any(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Does the jobs and keeps each as soon as it is done. Fewer records than jobs come back only if `stop` was set.
pub(super) fn run_all(
    experiment: &dyn Experiment,
    jobs: &[Job],
    folder: &Path,
    stop: &AtomicBool,
    watch: &dyn Watch,
) -> Result<Vec<(Job, RunRecord)>, Diagnostics> {
    let failed = AtomicBool::new(false);
    let done = Mutex::new(Vec::new());
    let most = experiment.about().at_once.unwrap_or(usize::MAX);
    each_at_once(jobs, most, |job| {
        let progress = Progress {
            stops: [stop, &failed],
            watch,
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let record = run_one(experiment, job, &progress);
        // Those beside it need not go on.
        failed.fetch_or(record.is_err(), Ordering::Relaxed);
        let Some(record) = record? else {
            return Ok(());
        };
        job.keep(folder, &record)?;
        watch.finished(job, &record);
        if let Ok(mut done) = done.lock() {
            done.push((*job, record));
        }
        Ok(())
    })?;
    Ok(done.into_inner().unwrap_or_default())
}

fn run_one(
    experiment: &dyn Experiment,
    job: &Job,
    progress: &Progress<'_>,
) -> Result<Option<RunRecord>, Diagnostics> {
    let begun = Instant::now();
    let found = experiment.run(job, progress).map_err(|errors| {
        let noted = errors
            .into_iter()
            .map(|error| error.note(format!("in {}", job.title())));
        noted.collect::<Diagnostics>()
    })?;
    Ok(found.map(|finding| RunRecord {
        config: job.configuration.name.to_string(),
        samples: job.portion.samples,
        run: job.run,
        seed: job.seed,
        settings: experiment.about().settings.clone(),
        metrics: finding.metrics,
        sat: finding.sat,
        curves: finding.curves,
        classes: finding.classes,
        seconds: begun.elapsed().as_secs_f64(),
    }))
}
