//! Many runs at once: as many as there are cores, each on its own threads; fewer where memory would not do.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logltn::{Code, Diagnostic, Diagnostics};

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
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = experiment.at_once().unwrap_or(cores);
    let workers = cores.min(jobs.len()).min(most).max(1);
    // Two runs on a thread each are faster than one after the other on two: small matrices share badly. Only with
    // fewer runs than cores does a run get several; the result does not depend on it.
    let threads = (cores / workers).max(1);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done = Mutex::new(Vec::new());
    let errors = Mutex::new(Diagnostics::new());
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            Diagnostic::error(Code::NoThreads, format!("cannot start threads: {error}"))
        })?;
        loop {
            let halted = stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
            let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return Ok(());
            };
            if halted {
                return Ok(());
            }
            let progress = Progress {
                stops: [stop, &failed],
                watch,
            };
            let record = pool.install(|| run_one(experiment, job, &progress))?;
            let Some(record) = record else {
                return Ok(());
            };
            job.keep(folder, &record)?;
            watch.finished(job, &record);
            if let Ok(mut done) = done.lock() {
                done.push((*job, record));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let worked: Result<(), Diagnostics> = work();
                if let Err(found) = worked {
                    failed.store(true, Ordering::Relaxed);
                    if let Ok(mut errors) = errors.lock() {
                        errors.extend(found);
                    }
                }
            });
        }
    });
    let errors = errors.into_inner().unwrap_or_default();
    if errors.has_errors() {
        return Err(errors);
    }
    Ok(done.into_inner().unwrap_or_default())
}

fn run_one(
    experiment: &dyn Experiment,
    job: &Job,
    progress: &Progress<'_>,
) -> Result<Option<RunRecord>, Diagnostics> {
    let begun = Instant::now();
    let found = experiment.run(job, progress).map_err(|errors| {
        let mut out = Diagnostics::new();
        errors
            .into_iter()
            .for_each(|error| out.push(error.note(format!("in {}", job.title()))));
        out
    })?;
    Ok(found.map(|finding| RunRecord {
        config: job.configuration.name.to_string(),
        samples: job.samples,
        run: job.run,
        seed: job.seed,
        settings: experiment.settings(),
        metrics: finding.metrics,
        sat: finding.sat,
        curves: finding.curves,
        classes: finding.classes,
        seconds: begun.elapsed().as_secs_f64(),
    }))
}
