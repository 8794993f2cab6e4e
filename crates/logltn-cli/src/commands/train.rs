//! `logltn train`: networks learn until the axioms hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use logltn::{Code, Diagnostic, Diagnostics, Semantics, memory};
use logltn_dashboard::networks;
use logltn_learn::{Apart, Begun, Curve};
use logltn_report::{
    HeatMap, ScatterPanel, from_run_directory, pca_2d, write_heat_map, write_scatter,
};
use logltn_train::project::Project;
use logltn_train::run_directory::{AxiomInfo, RunDirectory, RunInfo, StepRecord};
use logltn_train::train::{
    Beginning, Outcome as RunOutcome, RunOptions, TrainOptions, Trainer, Watch, apart_from, member,
    members, note_ensemble, run,
};

use crate::commands::violated::violated;
use crate::commands::{eval, load, meaning};
use crate::console;
use crate::ctrl_c::{self, Unsaved};
use crate::outcome::Outcome;
use crate::text::{Align, counted, degree, number, real, table, thousands};

/// Train the networks of a manifest until its axioms hold.
///
/// DIR receives metrics, checkpoints, weights, plots and a report. Ctrl-C stops at once; `--resume` continues, with the same result as
/// an uninterrupted run.
#[derive(Clone, clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The folder of the run
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The seed of all random numbers [default: the manifest's]
    #[arg(long)]
    seed: Option<u64>,
    /// The number of steps, in one phase with all axioms [default: the manifest's]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=logltn_learn::MOST_STEPS))]
    steps: Option<u64>,
    /// The semantics [default: the manifest's]
    #[arg(long, value_parser = meaning::semantics)]
    semantics: Option<Semantics>,
    /// The number of threads; it does not change the result
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// Continue from the last checkpoint in DIR, if there is one
    #[arg(long)]
    resume: bool,
    /// Replace the run in DIR
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Also write TensorBoard event files to DIR/tensorboard
    #[arg(long)]
    tensorboard: bool,
    /// Train N runs, in DIR/1, DIR/2, …, each pushed to disagree with the earlier ones where the theory permits it;
    /// `predict --run DIR` then gives their mean and how much they disagree
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1000), conflicts_with = "tensorboard")]
    ensemble: Option<u64>,
    /// The weight of the disagreement of an ensemble, relative to the axioms
    #[arg(long, value_name = "W", requires = "ensemble", default_value_t = DIVERSITY, value_parser = diversity)]
    diversity: f64,
    /// The predictions of the earlier members of the ensemble.
    #[arg(skip)]
    apart: Option<Apart>,
    /// Whether another command started this training; then `--resume` does not apply.
    #[arg(skip)]
    prepared: bool,
}

/// The default weight of the disagreement of an ensemble. On MNAdd-Half in small (five seeds, three members each) 0.2 never
/// found a second of its three maps, 1 found all three in four of five ensembles, and 2 also broke axioms.
const DIVERSITY: f64 = 1.0;

fn diversity(text: &str) -> Result<f64, String> {
    number(text, "a number of at least 0", |x| x >= 0.0)
}

/// How long a step may be measured before the first one.
pub const MEASURED: Duration = Duration::from_millis(400);

/// Runs the command.
pub fn run_command(arguments: &Arguments) -> Outcome {
    let loaded = load(&arguments.manifest, None);
    let trained = loaded.and_then(|(project, warnings)| {
        console::report(&warnings);
        match arguments.ensemble {
            Some(count) => train_ensemble(&project, arguments, count as usize),
            None => train(project, arguments),
        }
    });
    console::ended(trained, false)
}

/// Trains the members of an ensemble, one after the other, each with its own seed.
fn train_ensemble(
    project: &Project,
    arguments: &Arguments,
    count: usize,
) -> Result<Outcome, Diagnostics> {
    let seed = arguments.seed.unwrap_or_else(|| {
        project
            .manifest
            .train
            .as_ref()
            .map_or(0, |t| t.settings.seed)
    });
    if !arguments.out.exists() || arguments.resume || arguments.force {
        if let Err(errors) = note_ensemble(&arguments.out, count) {
            return Ok(console::failed(&errors, false));
        }
    } else if !matches!(members(&arguments.out), Ok(found) if found.len() == count) {
        let what = format!(
            "{}: the folder is not empty and holds no such ensemble",
            arguments.out.display()
        );
        let error = Diagnostic::error(Code::FolderTaken, what).help("choose another folder");
        return Err(error.into());
    }
    let mut before: Vec<PathBuf> = Vec::new();
    for number in 1..=count {
        let apart = match before.is_empty() {
            true => None,
            false => {
                let weight = arguments.diversity;
                match apart_from(project, &arguments.manifest, &before, weight) {
                    Ok(apart) => Some(apart),
                    Err(errors) => return Ok(console::failed(&errors, false)),
                }
            }
        };
        let own = Arguments {
            out: member(&arguments.out, number),
            seed: Some(seed.wrapping_add(number as u64 - 1)),
            ensemble: None,
            apart,
            ..arguments.clone()
        };
        console::complain(&format!("member {number} of {count}\n"));
        match train(project.clone(), &own)? {
            Outcome::Done => before.push(own.out),
            other => return Ok(other),
        }
    }
    Ok(console::print(&format!(
        "an ensemble of {count}: `logltn predict {} PREDICATE --run {}` gives the mean and the disagreement\n",
        arguments.manifest.display(),
        arguments.out.display()
    )))
}

/// Trains a project.
fn train(project: Project, arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let threads = arguments.threads.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(error) => {
            console::complain(&format!("error: cannot start threads: {error}\n"));
            return Ok(Outcome::Failed);
        }
    };
    pool.install(|| train_here(project, arguments))
}

fn train_here(project: Project, arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let title = arguments.manifest.display().to_string();
    let mut trainer = trainer(project, arguments)?;
    if let Some(beginning) = trainer.beginning() {
        console::report(&beginning.warnings);
        console::complain(&began_with(beginning));
    }
    if let Some(warning) = trainer.slow_step(MEASURED)? {
        console::report(&warning.into());
    }
    let directory = match (arguments.resume, arguments.force) {
        (true, _) => RunDirectory::resume(&arguments.out),
        (_, true) => RunDirectory::replace(&arguments.out),
        _ => RunDirectory::create(&arguments.out),
    };
    let directory = match directory {
        Ok(directory) => directory,
        // A full disk is not wrong input.
        Err(errors) if errors.iter().any(|e| e.code() == Code::CannotWrite) => {
            return Ok(console::failed(&errors, false));
        }
        Err(errors) => return Err(errors),
    };
    let run_options = RunOptions {
        title,
        command: (std::env::args_os())
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        resume: arguments.resume,
        tensorboard: arguments.tensorboard,
    };
    let stop = ctrl_c::asks_to_stop();
    trainer.set_stop(Arc::clone(&stop));
    let mut progress = Progress::new(trainer.total(), trainer.training().semantics);
    let outcome = run(&mut trainer, &directory, &run_options, &stop, &mut progress);
    progress.finish();
    // The summary must be printed; everything else can be made later.
    let _words = progress
        .unsaved
        .take()
        .filter(|_| matches!(outcome, Ok(RunOutcome::Interrupted { .. }) | Err(_)));
    said_at_the_end(outcome, &mut trainer, &directory, arguments)
}

/// A training with what the command line says; all that is wrong with it at once.
fn trainer(project: Project, arguments: &Arguments) -> Result<Trainer, Diagnostics> {
    let options = TrainOptions {
        seed: arguments.seed,
        steps: arguments.steps,
        semantics: arguments.semantics,
    };
    let mut found = project.left_to_the_host();
    if arguments.steps.is_some() && project.manifest.train.is_none() {
        found.extend(
            project
                .nothing_to_train()
                .map(Diagnostics::from)
                .unwrap_or_default(),
        );
    }
    let mut trainer = match Trainer::new(project, &options) {
        Ok(trainer) if found.is_empty() => trainer,
        made => {
            found.extend(made.err().unwrap_or_default());
            return Err(found);
        }
    };
    if let Some(apart) = &arguments.apart {
        trainer.set_apart(apart.clone());
    }
    Ok(trainer)
}

/// Makes the report of a run that has ended, and says how it ended.
fn said_at_the_end(
    outcome: Result<RunOutcome, Diagnostics>,
    trainer: &mut Trainer,
    directory: &RunDirectory,
    arguments: &Arguments,
) -> Result<Outcome, Diagnostics> {
    Ok(match outcome {
        Ok(RunOutcome::AlreadyFinished { nothing_moved }) => {
            match (make_up_report(trainer, directory), nothing_moved) {
                (Ok(()), None) => console::print(&format!(
                    "{} is finished already; nothing to do\n",
                    directory.path().display()
                )),
                (Ok(()), Some(error)) => console::failed(&Diagnostics::from(*error), false),
                (Err(errors), _) => console::failed(&errors, false),
            }
        }
        Ok(RunOutcome::Interrupted { done }) => {
            let go_on = match arguments.prepared {
                false => "the same command and --resume".to_string(),
                true => format!(
                    "`logltn train {} --out {} --resume`",
                    arguments.manifest.display(),
                    arguments.out.display()
                ),
            };
            console::complain(&format!(
                "stopped after step {done} of {}; continue with {go_on}\n",
                trainer.total()
            ));
            Outcome::Failed
        }
        Ok(RunOutcome::Finished {
            last,
            metrics,
            nothing_moved,
        }) => match finish(trainer, directory, last.as_ref(), &metrics) {
            Ok(text) => match (console::print(&text), nothing_moved) {
                (_, Some(error)) => console::failed(&Diagnostics::from(*error), false),
                (printed, None) => printed,
            },
            Err(errors) => {
                console::report(&errors);
                Outcome::Failed
            }
        },
        Err(errors) if errors.iter().any(|e| e.code() == Code::RunDiffers) => return Err(errors),
        Err(errors) => {
            console::report(&errors);
            // What is damaged stays so, and its message says what to do.
            let damaged = errors.iter().any(|e| e.code() == Code::RunDamaged);
            if let (false, Ok(Some(_))) = (damaged, directory.checkpoint()) {
                console::complain("the last checkpoint is intact: --resume continues from there\n");
            }
            Outcome::Failed
        }
    })
}

/// The most names worth a line each; `run.json` has all.
const MOST_LEFT: usize = 20;

/// The weights that were taken from another run, and those that were not.
fn began_with(beginning: &Beginning) -> String {
    let Begun { taken, left } = &beginning.begun;
    let run = beginning.run.display();
    let mut text = format!("begins with {} of {run}\n", counted(taken.len(), "tensor"));
    if !left.is_empty() {
        text += "not taken:\n";
    }
    for name in left.iter().take(MOST_LEFT) {
        text += &format!("  {name}\n");
    }
    if left.len() > MOST_LEFT {
        text += &format!("  … and {} more, in run.json\n", left.len() - MOST_LEFT);
    }
    text
}

/// The report of a finished run that was killed before it had one.
fn make_up_report(trainer: &mut Trainer, directory: &RunDirectory) -> Result<(), Diagnostics> {
    if directory.file("report.html").exists() {
        return Ok(());
    }
    if let Some(weights) = directory.weights()? {
        all_of_it(trainer);
        trainer.restore_weights(&weights)?;
        draw(trainer, directory)?;
        report(trainer, directory)?;
    }
    Ok(())
}

/// The report of a run that is finished. Returns its path.
fn report(trainer: &mut Trainer, directory: &RunDirectory) -> Result<PathBuf, Diagnostics> {
    let mut report = from_run_directory(directory.path())?;
    report.violated = violated(trainer);
    let mixed_up = trainer.concepts()?.into_iter();
    let mixed_up = mixed_up.filter(|found| !found.learnt.is_identity());
    let sentences = mixed_up.map(|found| {
        let sentence = found.sentence();
        format!(
            "The classes of {} are mixed up: {sentence}.",
            found.predicate
        )
    });
    report.mixed_up = sentences.collect();
    let project = trainer.project().clone();
    let answered = trainer.answered().unwrap_or_default();
    let predict = &mut |id, rows: &[u32]| trainer.model_mut().predict(id, rows, 1).ok();
    report.networks = networks(&project, &answered, predict)?;
    report.write(directory.path())
}

/// A picture of each predicate's predictions, `pictures/P.svg`. Returns their paths.
fn draw(trainer: &mut Trainer, directory: &RunDirectory) -> Result<Vec<PathBuf>, Diagnostics> {
    let folder = directory.file("pictures");
    let mut drawn = Vec::new();
    for found in trainer.classified()? {
        let points = pca_2d(&found.features.values, found.features.width)?;
        std::fs::create_dir_all(&folder).map_err(|error| {
            Diagnostic::error(Code::CannotWrite, format!("{}: {error}", folder.display()))
        })?;
        let title = format!(
            "{}: {} in two principal components",
            found.predicate, found.sort
        );
        let path = folder.join(format!("{}.svg", found.predicate));
        let panel = ScatterPanel {
            points,
            class: found.class,
            class_names: found.class_names,
            ..ScatterPanel::default()
        };
        write_scatter(&[panel], 1, &title, &path)?;
        drawn.push(path);
    }
    drawn.extend(draw_concepts(trainer, &folder)?);
    Ok(drawn)
}

/// The most classes that a matrix of concepts can show.
const MOST_CONCEPTS: usize = 40;

/// Predicted against true classes, `pictures/P-concepts.svg`, with the shortcut named if there is one.
fn draw_concepts(trainer: &mut Trainer, folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut drawn = Vec::new();
    for found in trainer.concepts()? {
        if found.class_names.len() > MOST_CONCEPTS {
            continue;
        }
        std::fs::create_dir_all(folder).map_err(|error| {
            Diagnostic::error(Code::CannotWrite, format!("{}: {error}", folder.display()))
        })?;
        let rows = found.counts.iter().zip(&found.learnt.map);
        let mut table = HeatMap {
            title: "true class against predicted class".to_string(),
            rows: found.class_names.clone(),
            columns: found.class_names.clone(),
            ..HeatMap::default()
        };
        for (said, mostly) in rows {
            let all = said.iter().sum::<u64>().max(1) as f64;
            table.truths.extend(said.iter().map(|n| *n as f64 / all));
            table
                .outlined
                .extend((0..said.len()).map(|c| *mostly == Some(c as u32)));
        }
        let path = folder.join(format!("{}-concepts.svg", found.predicate));
        let title = format!("{}: concepts", found.predicate);
        write_heat_map(&[table], &title, &found.sentence(), &path)?;
        drawn.push(path);
    }
    Ok(drawn)
}

/// From here on the work is not interrupted: an unfinished picture would be missing from the report for good. Pictures take
/// a moment; Ctrl-C ends the program before the report, and resuming makes it.
fn all_of_it(trainer: &mut Trainer) {
    trainer.set_stop(Arc::default());
}

/// Pictures, plots, the report; what is printed at the end.
fn finish(
    trainer: &mut Trainer,
    directory: &RunDirectory,
    last: Option<&StepRecord>,
    metrics: &[(String, f64)],
) -> Result<String, Diagnostics> {
    all_of_it(trainer);
    let mut text = String::new();
    if let Some(last) = last {
        let words =
            "the run is finished, with its weights; what else is said at the end is left out";
        let _without = memory::CanBeLeftOut::new(words, || {});
        text += &ended(trainer, directory, last)?;
    }
    if !metrics.is_empty() {
        text.push('\n');
        let rows: Vec<Vec<String>> = (metrics.iter())
            .map(|(name, value)| vec![name.clone(), real(*value)])
            .collect();
        text += &table(&[Align::Left, Align::Right], &rows);
    }
    let told = text.clone();
    let words = "the run is finished, with its weights; pictures and report are left out (`--resume` makes them up)";
    let without = memory::CanBeLeftOut::new(words, move || {
        let _ = console::print(&told);
    });
    let pictures = draw(trainer, directory)?;
    let page = report(trainer, directory)?;
    drop(without);
    text.push('\n');
    let mut paths: Vec<(&str, &Path)> = pictures.iter().map(|p| ("picture", p.as_path())).collect();
    paths.push(("report", &page));
    let weights = directory.file("weights.safetensors");
    paths.push(("weights", &weights));
    let last = directory.file("last.safetensors");
    if trainer.best().is_some() {
        paths.push(("the end", &last));
    }
    for (what, path) in paths {
        text += &format!("{what:8} {}\n", path.display());
    }
    Ok(text)
}

/// The truth of each axiom: in the whole theory, or else in the last step, and which of the two it is.
fn ended(
    trainer: &Trainer,
    directory: &RunDirectory,
    last: &StepRecord,
) -> Result<String, Diagnostics> {
    let semantics = &trainer.training().semantics;
    let info = directory.info()?;
    let left_out = left_out(&info);
    let stopped = info.kept.as_ref().map_or(String::new(), |kept| {
        format!("{}\n\n", kept.sentence(trainer.done(), trainer.total()))
    });
    if let Some(whole) = &info.whole
        && let Some(now) = &whole.last
    {
        let first = whole.first.as_ref().map(|first| &first.axioms[..]);
        let weights = match &info.kept {
            None => "the last weights".to_string(),
            Some(kept) => format!("the best weights, of step {}", kept.step),
        };
        return Ok(format!(
            "{stopped}the whole theory with the first and {weights}, {}\n\n{}{left_out}\n{}",
            whole.parameters(),
            axiom_table(&info.axioms, &now.axioms, first, semantics),
            eval::totals(semantics, now.sat, now.loss)
        ));
    }
    // Time of the run, which may have begun before this process.
    let first = directory.records()?.next().transpose()?;
    let first = first.as_ref().map(|record| &record.axioms[..]);
    let schedule = trainer.project().manifest.schedule.training();
    let at = [
        ("alpha", &schedule.alpha),
        ("p", &schedule.p),
        ("p_forall", &schedule.p_forall),
    ];
    let at = at.map(|(name, s)| match matches!(s.curve, Curve::Constant(_)) {
        true => format!("{name} {}", real(s.last())),
        false => format!("{name} {} and {}", real(s.first()), real(s.last())),
    });
    Ok(format!(
        "{stopped}of the first and the last step's batch, {}; `logltn eval` with --run {} looks at the whole theory\n\n{}{left_out}\n{}",
        at.join(", "),
        directory.path().display(),
        axiom_table(&info.axioms, &last.axioms, first, semantics),
        eval::totals(semantics, last.sat, last.loss)
    ))
}

/// What steps left out because of their samples; empty if nothing was.
fn left_out(info: &RunInfo) -> String {
    let axioms: Vec<_> = info.axioms.iter().filter(|a| a.left_out > 0).collect();
    if axioms.is_empty() {
        return String::new();
    }
    let mut text =
        "\n`exists` left out because a step's sample had no individual for them, over all steps:\n"
            .to_string();
    let shown = axioms.iter().take(MOST_AXIOMS);
    let rows: Vec<Vec<String>> = shown
        .map(|axiom| vec![axiom.name.clone(), thousands(axiom.left_out)])
        .collect();
    text += &table(&[Align::Left, Align::Right], &rows);
    if axioms.len() > MOST_AXIOMS {
        text += &format!(
            "  … and {} more axioms, in run.json\n",
            axioms.len() - MOST_AXIOMS
        );
    }
    text
}

/// The most axioms worth a line each; the report has all.
const MOST_AXIOMS: usize = 40;

fn axiom_table(
    axioms: &[AxiomInfo],
    last: &[f64],
    first: Option<&[f64]>,
    semantics: &Semantics,
) -> String {
    let logs = semantics.sat_is_log();
    let mut heads = vec!["axiom", "weight", "at first", "truth"];
    heads.extend(logs.then_some("log truth"));
    let mut align = vec![Align::Right; heads.len()];
    align[0] = Align::Left;
    let mut rows = vec![heads.into_iter().map(str::to_string).collect::<Vec<_>>()];
    let shown = |x: Option<f64>| match x {
        Some(x) if x.is_finite() => real(x),
        _ => "–".to_string(),
    };
    for (i, axiom) in axioms.iter().enumerate().take(MOST_AXIOMS) {
        if axiom.hard {
            let mut row = vec![axiom.name.clone(), "law".to_string()];
            row.resize(rows[0].len(), String::new());
            rows.push(row);
            continue;
        }
        let first = first.and_then(|f| f.get(i)).copied();
        let last = last.get(i).copied();
        let degree = |truth: Option<f64>| match truth {
            Some(truth) if truth.is_finite() => degree(semantics, truth),
            _ => "–".to_string(),
        };
        let mut row = vec![
            axiom.name.clone(),
            real(axiom.weight),
            degree(first),
            degree(last),
        ];
        row.extend(logs.then(|| shown(last)));
        rows.push(row);
    }
    let mut text = table(&align, &rows);
    if axioms.len() > MOST_AXIOMS {
        text += &format!(
            "  … and {} more in the report\n",
            axioms.len() - MOST_AXIOMS
        );
    }
    text
}

/// A progress bar on a terminal; a line now and then elsewhere.
struct Progress {
    bar: ProgressBar,
    semantics: Semantics,
    plain: bool,
    metrics: String,
    unsaved: Option<Unsaved>,
}

impl Progress {
    fn new(total: u64, semantics: Semantics) -> Progress {
        let style = "{bar:30} {pos}/{len} steps  {msg}  {elapsed} elapsed, {eta} left";
        let bar = console::progress_bar(total, style);
        let plain = bar.is_hidden();
        if !plain {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Progress {
            bar,
            semantics,
            plain,
            metrics: String::new(),
            unsaved: None,
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn begin(&mut self) {
        self.unsaved = Some(Unsaved::new());
    }

    fn step(&mut self, record: &StepRecord, total: u64) {
        if let Some((name, value)) = record.metrics.first() {
            self.metrics = format!("  {name} {value:.4}");
        }
        let capped = match self.semantics.sat_is_log() && record.sat > 1e-9 {
            true => format!(" (capped, log {:.5})", record.sat),
            false => String::new(),
        };
        let left_out = match record.left_out.iter().map(|(_, count)| count).sum::<u64>() {
            0 => String::new(),
            some => format!("  {} `exists` left out", thousands(some)),
        };
        let message = format!(
            "loss {:.5}  sat {:.5}{capped}{left_out}{}",
            record.loss,
            self.semantics.degree(record.sat),
            self.metrics
        );
        if self.plain {
            let every = (total / 10).max(1);
            if record.step.is_multiple_of(every) || record.step == total {
                console::complain(&format!("step {}/{total}  {message}\n", record.step));
            }
            return;
        }
        self.bar.set_position(record.step);
        self.bar.set_message(message);
    }

    fn warning(&mut self, warning: &Diagnostic) {
        self.bar
            .suspend(|| console::report(&Diagnostics::from(warning.clone())));
    }
}

/// The arguments of a training that another command prepares.
pub fn prepared(manifest: PathBuf, out: PathBuf) -> Arguments {
    Arguments {
        manifest,
        out,
        seed: None,
        steps: None,
        semantics: None,
        threads: None,
        resume: false,
        force: false,
        tensorboard: false,
        ensemble: None,
        diversity: DIVERSITY,
        apart: None,
        prepared: true,
    }
}
