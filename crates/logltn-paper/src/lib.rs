//! The paper's experiments: all configurations of a task, several runs each, in a table beside the published figures.
//!
//! A task is an `Experiment`: how to get its data, how to do one run, what to draw. Everything else is shared: runs are
//! parallel, each leaves a small file when it is done, and an interrupted table continues from those files. Where the
//! real data are unavailable, [`logltn_standin`] makes similar ones.
//!
//! ```
//! use logltn_paper::{CONFIGURATIONS, Task, published};
//!
//! let tasks = Task::ALL.map(Task::name);
//! let all = ["clustering", "mnist-add", "multi-add", "pascal-part", "knowledge-graph", "shortcuts", "stories", "hierarchy"];
//! assert_eq!(tasks, all);
//! for configuration in CONFIGURATIONS {
//!     let paper = published(Task::Clustering, configuration.name, None, "ari").unwrap();
//!     println!("{:20} {} ± {}", configuration.title, paper.mean, paper.sd);
//! }
//! ```
//!
//! A whole table, which takes minutes or hours, is one call:
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use logltn_paper::{Options, Quiet, Reproduced, Task, reproduce};
//!
//! let options = Options { runs: Some(2), ..Options::default() };
//! if let Reproduced::Finished(table) = reproduce(Task::Clustering, &options, &AtomicBool::new(false), &Quiet)? {
//!     println!("{}", table.json());
//! }
//! # Ok::<(), logltn::Diagnostics>(())
//! ```

mod clustering;
mod configuration;
mod curves;
mod experiment;
pub mod graph_model;
mod hierarchy;
mod jobs;
mod knowledge_graph;
mod mnist_add;
mod multi_add;
mod page;
mod pascal_part;
mod published;
mod record;
mod shortcuts;
mod stories;
mod table;
mod training;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_standin as standin;
use logltn_standin::{data_folders, mnist};
use logltn_train::project::Project;

use experiment::{About, Experiment};

pub use configuration::{CONFIGURATIONS, Configuration, LOGLTN_PROB, PROBABILITY};
pub use experiment::{DataKind, Metric};
pub use hierarchy::LabelledSet;
pub use knowledge_graph::GraphName;
pub use multi_add::addition_theory;
pub use published::{Other, Published, published};
pub use record::{Job, Portion, RunRecord};
pub use table::{Cell, Section, Table, Verdict};

/// The tasks that can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The paper's task 1.
    Clustering,
    /// The paper's task 2.
    MnistAdd,
    /// Addition of numbers of up to 15 digits and more, which the paper does not have.
    MultiAdd,
    /// The paper's task 3.
    PascalPart,
    /// Completing knowledge graphs by embeddings and rules, which the paper does not have.
    KnowledgeGraph,
    /// rsbench's tasks on MNIST in which wrong concepts satisfy the rules, which the paper does not have.
    Shortcuts,
    /// CLUTRR's stories of families, which the paper does not have.
    Stories,
    /// Labels in a hierarchy that no prediction breaks, which the paper does not have.
    Hierarchy,
}

impl Task {
    /// All of them.
    pub const ALL: [Task; 8] = [
        Task::Clustering,
        Task::MnistAdd,
        Task::MultiAdd,
        Task::PascalPart,
        Task::KnowledgeGraph,
        Task::Shortcuts,
        Task::Stories,
        Task::Hierarchy,
    ];

    /// Its name on the command line, its heading, and how many runs of each configuration the paper has.
    fn about(self) -> (&'static str, &'static str, usize) {
        match self {
            Task::Clustering => ("clustering", "Clustering", 10),
            Task::MnistAdd => ("mnist-add", "MNISTAdd", 5),
            Task::MultiAdd => ("multi-add", "Addition of numbers of N digits", 5),
            Task::PascalPart => ("pascal-part", "Semantic PASCAL-Part", 5),
            Task::KnowledgeGraph => ("knowledge-graph", "Knowledge graphs", 5),
            Task::Shortcuts => ("shortcuts", "Reasoning shortcuts", 3),
            Task::Stories => ("stories", "Stories of families", 5),
            Task::Hierarchy => ("hierarchy", "Labels in a hierarchy", 3),
        }
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        self.about().0
    }

    /// As a heading.
    pub fn title(self) -> &'static str {
        self.about().1
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What to reproduce, and how; what is left out is as in the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Runs of each configuration.
    pub runs: Option<usize>,
    /// The configurations; those of the paper if empty.
    pub configurations: Vec<Configuration>,
    /// Two runs of each, on the smaller data.
    pub quick: bool,
    /// The seed of the first run; the next have the next ones.
    pub seed: u64,
    /// Where records, tables and pictures go: `runs/reproduce-TASK` by default.
    pub out: Option<PathBuf>,
    /// The folder with `tcga/`, `mnist/`, `pascal-part/`, `kg/`, `clutrr/` and `hmc/`.
    pub data: Option<PathBuf>,
    /// Where α ends: 4 in the paper. The addition of N digits, which the paper does not have, keeps it at 1.
    pub alpha_end: f64,
    /// Clustering: which percentile of the distances is near. 2.5 in the paper, 5 in its authors' released code.
    pub percentile: f64,
    /// Clustering, PASCAL-Part, shortcuts and stories: steps of a run; 1,000 in the paper.
    pub steps: Option<u64>,
    /// MNISTAdd: numbers of training sums; 1,500 and 15,000 in the paper.
    pub samples: Vec<usize>,
    /// MNISTAdd, the addition of N digits, knowledge graphs and hierarchies: epochs of a run; 20 in the paper.
    pub epochs: Option<u64>,
    /// MNISTAdd: the output layer starts at 0, as it does by default; `false` is the paper's start, with random weights.
    pub undecided: bool,
    /// Addition of N digits: numbers of digits; 1, 2, 4, 8 and 15 if empty.
    pub digits: Vec<usize>,
    /// Knowledge graphs: which one.
    pub graph: GraphName,
    /// Knowledge graphs: a file of rules, instead of those that are mined.
    pub rules: Option<PathBuf>,
    /// Knowledge graphs: the weight of all rules together, where they are axioms, instead of 0.1; facts have 1.
    pub rule_weight: Option<f64>,
    /// Shortcuts: which tasks; all if empty.
    pub parts: Vec<String>,
    /// Shortcuts: the semantics, by their names; all three if empty.
    pub semantics: Vec<String>,
    /// Labels in a hierarchy: which set.
    pub set: LabelledSet,
    /// PASCAL-Part: as in the authors' released code, where partOf's arguments are reversed in `whole_to_parts` and the
    /// type network is moved twice in a step. Where α ends is [`Options::alpha_end`], here as elsewhere.
    pub released: bool,
    /// PASCAL-Part: train on the examples alone, without any of the 57 rules.
    pub examples_only: bool,
    /// PASCAL-Part: the noise of simulated features, instead of the calibrated one.
    pub noise: Option<f64>,
    /// PASCAL-Part: simulated features that are never below 0, as a detector's are after its last ReLU.
    pub rectified: bool,
    /// PASCAL-Part: use this many training pictures and a third as many test pictures, instead of all.
    pub pictures: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            runs: None,
            configurations: Vec::new(),
            quick: false,
            seed: 0,
            out: None,
            data: None,
            alpha_end: 4.0,
            percentile: 2.5,
            steps: None,
            samples: Vec::new(),
            epochs: None,
            undecided: true,
            digits: Vec::new(),
            graph: GraphName::Umls,
            rules: None,
            rule_weight: None,
            parts: Vec::new(),
            semantics: Vec::new(),
            set: LabelledSet::USUAL,
            released: false,
            examples_only: false,
            noise: None,
            rectified: false,
            pictures: None,
        }
    }
}

impl Options {
    /// The folder of a task's table.
    pub fn folder(&self, task: Task) -> PathBuf {
        // A quick table must not be in the way of a full one.
        let quick = if self.quick { "-quick" } else { "" };
        let graph = match task {
            Task::KnowledgeGraph => format!("-{}", self.graph.name()),
            Task::Hierarchy => format!("-{}", self.set.name),
            _ => String::new(),
        };
        let folder = || PathBuf::from(format!("runs/reproduce-{task}{graph}{quick}"));
        self.out.clone().unwrap_or_else(folder)
    }
}

/// Follows a table while it is made. Runs call it from their own threads.
pub trait Watch: Sync {
    /// The table is about to begin: where its data are from, how many runs there are and how many of them an
    /// earlier session has done, and the steps of the others.
    fn begin(&self, data: &str, runs: usize, found: usize, steps: u64);
    /// This many steps more are done.
    fn steps(&self, steps: u64);
    /// A run is done.
    fn finished(&self, job: &Job, record: &RunRecord);
}

/// Follows nothing.
pub struct Quiet;

impl Watch for Quiet {
    fn begin(&self, _: &str, _: usize, _: usize, _: u64) {}
    fn steps(&self, _: u64) {}
    fn finished(&self, _: &Job, _: &RunRecord) {}
}

/// How making a table ended.
#[derive(Debug)]
pub enum Reproduced {
    /// The table is whole, and written to the folder.
    Finished(Box<Table>),
    /// It was stopped; this many of its runs are done and will not be done again.
    Interrupted {
        /// Runs done.
        done: usize,
        /// Runs of the whole table.
        of: usize,
    },
}

/// Makes a task's table.
///
/// # Errors
/// If the options or the data are wrong, files cannot be written, or a run fails; what was done before is kept.
pub fn reproduce(
    task: Task,
    options: &Options,
    stop: &AtomicBool,
    watch: &dyn Watch,
) -> Result<Reproduced, Diagnostics> {
    let begun = Instant::now();
    let mut experiment: Box<dyn Experiment> = match task {
        Task::Clustering => Box::new(clustering::Clustering::new(options)?),
        Task::MnistAdd => Box::new(mnist_add::MnistAdd::new(options)?),
        Task::MultiAdd => Box::new(multi_add::MultiAdd::new(options)?),
        Task::PascalPart => Box::new(pascal_part::PascalPart::new(options)?),
        Task::KnowledgeGraph => Box::new(knowledge_graph::KnowledgeGraph::new(options)?),
        Task::Shortcuts => Box::new(shortcuts::Shortcuts::new(options)?),
        Task::Stories => Box::new(stories::Stories::new(options)?),
        Task::Hierarchy => Box::new(hierarchy::Hierarchy::new(options)?),
    };
    let jobs = jobs_of(task, options, experiment.about())?;
    let folder = options.folder(task);
    let [runs, work] = ["runs", "work"].map(|name| folder.join(name));
    for folder in [&runs, &work] {
        data_folders::make_folder(folder)?;
    }

    let mut records = Vec::new();
    let mut missing = Vec::new();
    for job in jobs {
        match job.find(&runs, &experiment.about().settings)? {
            Some(record) => records.push((job, record)),
            None => missing.push(job),
        }
    }
    let (found, of) = (records.len(), records.len() + missing.len());
    let steps = missing.iter().map(|j| experiment.steps(j.portion)).sum();
    watch.begin(&experiment.about().data_title, of, found, steps);
    experiment.prepare(&missing, &work)?;
    records.extend(jobs::run_all(
        experiment.as_ref(),
        &missing,
        &runs,
        stop,
        watch,
    )?);
    if records.len() < of {
        debug_assert!(stop.load(Ordering::Relaxed));
        let done = records.len();
        return Ok(Reproduced::Interrupted { done, of });
    }
    records.sort_by_key(|(job, _)| job.run);
    let pictures = experiment.draw(&records, &folder)?;
    let table = Table::new(
        task,
        experiment.as_ref(),
        &records,
        begun.elapsed().as_secs_f64(),
    );
    page::write(&table, &pictures, &folder)?;
    Ok(Reproduced::Finished(Box::new(table)))
}

/// The runs of a table, so that its rows fill evenly and the small data come first.
fn jobs_of(task: Task, options: &Options, about: &About) -> Result<Vec<Job>, Diagnostics> {
    let usual = about.runs.unwrap_or(task.about().2);
    let runs = options
        .runs
        .unwrap_or(if options.quick { 2.min(usual) } else { usual });
    let all = &about.configurations;
    let strange = options.configurations.iter().find(|c| !all.contains(c));
    if let Some(strange) = strange {
        let names: Vec<String> = all.iter().map(|c| format!("`{}`", c.name)).collect();
        let message = format!("{task} has no configuration `{}`", strange.name);
        let help = format!("it has {}", names.join(", "));
        return Err(Diagnostic::error(Code::UnknownConfiguration, message)
            .help(help)
            .into());
    }
    let configurations = match options.configurations.is_empty() {
        true => (all.iter().copied())
            .filter(|c| !about.only_if_asked.contains(c))
            .collect(),
        false => options.configurations.clone(),
    };
    let mut jobs = Vec::new();
    for &portion in &about.portions {
        for run in 0..runs {
            jobs.extend(configurations.iter().map(|&configuration| Job {
                configuration,
                portion,
                run,
                seed: options.seed.wrapping_add(run as u64),
            }));
        }
    }
    Ok(jobs)
}

/// A project that was just written, which must be right.
fn load(manifest: &Path) -> Result<Project, Diagnostics> {
    let mut found = Diagnostics::new();
    match Project::load(manifest, &mut found) {
        Some(project) => Ok(project),
        None if found.has_errors() => Err(found),
        None => Err(Diagnostic::error(
            Code::FileUnreadable,
            format!("{}: cannot be read", manifest.display()),
        )
        .into()),
    }
}
