//! `logltn sweep`: a run for each combination of values and each seed, then the comparison.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::ProgressBar;
use logltn::{Code, Diagnostics};
use logltn_report::from_run_directory;
use logltn_train::train::{Comparison, Outcome as RunOutcome, Setting, Sweep, WatchSweep};

use crate::commands::compare;
use crate::console;
use crate::ctrl_c::{self, Unsaved};
use crate::outcome::Outcome;
use crate::text::counted;

/// Train a manifest with several values of its keys and several seeds, in parallel, and compare the runs.
///
/// Each run has a folder in DIR. The same command continues an interrupted sweep.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// A key of the manifest and its values, `train.learning_rate=0.001,0.01`; repeat it for all combinations
    #[arg(long, value_name = "KEY=V,V")]
    set: Vec<String>,
    /// The number of seeds for each combination, starting with the manifest's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// The folder for the runs
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the comparison as one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let mut wrong = Diagnostics::new();
    let mut settings = Vec::new();
    for text in &arguments.set {
        match Setting::parse(text) {
            Ok(setting) => settings.push(setting),
            Err(error) => wrong.push(error),
        }
    }
    let (settings, _) = wrong.into_result(settings)?;
    let sweep = Sweep::plan(&arguments.manifest, &settings, arguments.seeds)?;
    console::report(sweep.warnings());
    let folders = sweep.folders(&arguments.out);
    console::complain(&format!(
        "{} in {}\n",
        counted(folders.len(), "run"),
        arguments.out.display()
    ));
    let watch = Bar::new(sweep.steps());
    let command: Vec<String> = std::env::args().collect();
    let stop = ctrl_c::asks_to_stop();
    let whole = sweep.run(&arguments.out, &command, &stop, &watch);
    watch.bar.finish_and_clear();
    match whole {
        Err(errors) => return Ok(console::failed(&errors, arguments.json)),
        Ok(false) => {
            console::complain("stopped; the same command continues\n");
            return Ok(Outcome::Failed);
        }
        Ok(true) => {}
    }
    let failed = watch.failed.into_inner().unwrap_or_default();
    Ok(failed.unwrap_or_else(|| finish(&folders, &arguments.out, arguments.json)))
}

/// The comparison, if there is anything to compare.
fn finish(folders: &[PathBuf], out: &Path, json: bool) -> Outcome {
    if let [only] = folders {
        return console::print(&format!("one run, in {}\n", only.display()));
    }
    let shown = Comparison::new(folders).and_then(|comparison| {
        let failed = (comparison.runs.iter())
            .any(|run| run.status == logltn_train::run_directory::RunStatus::Failed);
        let shown = compare::show(&comparison, Some(&out.join("comparison.svg")), json)?;
        Ok(if failed { Outcome::Failed } else { shown })
    });
    shown.unwrap_or_else(|errors| console::failed(&errors, json))
}

/// All steps of all runs.
struct Bar {
    bar: ProgressBar,
    /// How the command ends, if a run could not even begin.
    failed: Mutex<Option<Outcome>>,
    /// Runs that are at their steps.
    running: Mutex<Vec<(PathBuf, Unsaved)>>,
}

impl Bar {
    fn new(steps: u64) -> Bar {
        let style = "{bar:30} {human_pos}/{human_len} steps  {elapsed} elapsed, {eta} left";
        let bar = console::progress_bar(steps, style);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Bar {
            bar,
            failed: Mutex::new(None),
            running: Mutex::new(Vec::new()),
        }
    }

    fn say(&self, errors: &Diagnostics) {
        self.bar.suspend(|| console::report(errors));
    }
}

impl WatchSweep for Bar {
    fn begin(&self, run: &Path) {
        if let Ok(mut running) = self.running.lock() {
            running.push((run.to_path_buf(), Unsaved::new()));
        }
    }

    fn step(&self) {
        self.bar.inc(1);
    }

    fn finished(&self, run: &Path, outcome: &Result<RunOutcome, Diagnostics>) {
        // The report can be made later.
        if let Ok(mut running) = self.running.lock() {
            running.retain(|(other, _)| other != run);
        }
        let said = match outcome {
            Ok(RunOutcome::Interrupted { .. }) => return,
            Ok(
                RunOutcome::AlreadyFinished {
                    nothing_moved: Some(error),
                }
                | RunOutcome::Finished {
                    nothing_moved: Some(error),
                    ..
                },
            ) => {
                self.say(&Diagnostics::from((**error).clone()));
                "has learnt nothing"
            }
            Ok(RunOutcome::AlreadyFinished { .. }) => "was finished already",
            Ok(RunOutcome::Finished { .. }) => "is finished",
            Err(errors) => {
                self.say(errors);
                // Runs can be compared with one that diverged, but not with one of another project.
                let input = errors.iter().any(|e| e.code() == Code::RunDiffers);
                let ran = errors.iter().any(|e| e.code() == Code::TrainingDiverged);
                if let (false, Ok(mut failed)) = (ran, self.failed.lock()) {
                    *failed = Some(if input {
                        Outcome::WrongInput
                    } else {
                        Outcome::Failed
                    });
                }
                "has failed"
            }
        };
        let page = from_run_directory(run).and_then(|report| report.write(run));
        if let (Err(errors), Ok(_)) = (page, outcome) {
            self.say(&errors);
        }
        self.bar
            .suspend(|| console::complain(&format!("{} {said}\n", run.display())));
    }
}
