//! `logltn reproduce`: the paper's tables, ours beside the published figures.

use std::fmt;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use logltn::Diagnostics;
use logltn_paper::{
    Configuration, GraphName, Job, LabelledSet, Options, Reproduced, RunRecord, Table, Task, Watch,
    reproduce,
};

use crate::console;
use crate::ctrl_c;
use crate::outcome::Outcome;
use crate::text::{Align, positive, table};

/// Run the paper's experiments and print our figures beside the published ones.
///
/// Runs are parallel, and the same command continues an interrupted table. The folder gets the table (Markdown, CSV,
/// JSON), pictures and a report.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: TaskArguments,
}

#[derive(clap::Subcommand)]
enum TaskArguments {
    /// Task 1: cluster gene expression data by three axioms (7 configurations, 10 runs each)
    Clustering(ClusteringArguments),
    /// Task 2: learn to read digits from sums (7 configurations, 1,500 and 15,000 samples, 5 runs each)
    MnistAdd(MnistAddArguments),
    /// Beyond the paper: learn to read digits from sums of N-digit numbers, exactly, for N up to 15 and more (5 runs each)
    MultiAdd(MultiAddArguments),
    /// Task 3: types and parts of boxes in pictures, from 5 % of the labels and 57 rules (4 configurations, 5 runs each)
    PascalPart(PascalPartArguments),
    /// Beyond the paper: complete a knowledge graph by embeddings, by rules, and by both (5 runs each; WN18RR 1)
    KnowledgeGraph(KnowledgeGraphArguments),
    /// Beyond the paper: rsbench's tasks in which wrong digits satisfy the rules, plain, with labels where `identify` asks for
    /// them, and as ensembles (3 runs each)
    Shortcuts(ShortcutsArguments),
    /// Beyond the paper: learn the rules of kinship from short stories, answer long ones (CLUTRR, two sets, 5 runs each)
    Stories(StoriesArguments),
    /// Beyond the paper: labels in a hierarchy, without it, with it as a soft axiom, and as a law that no prediction breaks (3
    /// runs each)
    Hierarchy(HierarchyArguments),
}

#[derive(clap::Args)]
struct Common {
    /// Runs of each configuration, instead of the paper's number
    #[arg(long, visible_alias = "seeds", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: Option<u64>,
    /// Some configurations only, such as `logltn,stable-6`; also `logltn-prob` and `probability`, which the paper does not have
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    configs: Vec<String>,
    /// Two runs of each configuration, on the smaller data
    #[arg(long)]
    quick: bool,
    /// The seed of the first run; the following runs count up from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The folder for the table [default: runs/reproduce-TASK, with --quick runs/reproduce-TASK-quick]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder that holds `tcga/`, `mnist/`, `pascal-part/`, `kg/`, `clutrr/` and `hmc/` [default: what LOGLTN_DATA
    /// names, or what the repository ships]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Of the paper's own tasks.
#[derive(clap::Args)]
struct Schedule {
    /// Where the schedule of alpha ends: 4 in the paper, 5 in parts of its authors' released code [default: 4; of
    /// pascal-part with --released 5]
    #[arg(long, value_name = "A", value_parser = positive)]
    alpha_end: Option<f64>,
}

impl Schedule {
    const PAPERS: f64 = 4.0;
    const RELEASED: f64 = 5.0;
}

#[derive(clap::Args)]
struct ClusteringArguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    schedule: Schedule,
    /// Points nearer than this percentile of all distances are near: 2.5 in the paper, 5 in its authors'
    /// released code
    #[arg(long, value_name = "P", default_value_t = 2.5)]
    percentile: f64,
    /// Steps of a run, instead of the paper's 1000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
}

#[derive(clap::Args)]
struct MnistAddArguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    schedule: Schedule,
    /// Numbers of training sums [default: 1500,15000]
    #[arg(long, value_name = "N,M", value_delimiter = ',')]
    samples: Vec<usize>,
    /// Epochs of a run, instead of the paper's 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    epochs: Option<u64>,
    /// Start from random output weights, as in the paper: one start in twenty then fails
    #[arg(long)]
    paper_start: bool,
}

#[derive(clap::Args)]
struct ShortcutsArguments {
    #[command(flatten)]
    common: Common,
    /// Steps of a run [default: 1300]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Some tasks only: half, even-odd, math, logic, parity [default: all, with --quick half and even-odd]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Some semantics only: logltn, probability, stable
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    semantics: Vec<String>,
}

#[derive(clap::Args)]
struct StoriesArguments {
    #[command(flatten)]
    common: Common,
    /// Steps of a run [default: 300]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
}

#[derive(clap::Args)]
struct HierarchyArguments {
    #[command(flatten)]
    common: Common,
    /// Which set: `hmc` of the data holds its `NAME.train.arff.gz` and so on. Without them a hierarchy is made up
    #[arg(long, value_name = "NAME", default_value = LabelledSet::USUAL.name, value_parser = LabelledSet::named)]
    set: LabelledSet,
    /// Epochs of a run [default: 60, with --quick 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    epochs: Option<u64>,
}

#[derive(clap::Args)]
struct MultiAddArguments {
    #[command(flatten)]
    common: Common,
    /// Numbers of digits [default: 1,2,4,8,15]
    #[arg(long, value_name = "N,M", value_delimiter = ',')]
    digits: Vec<usize>,
    /// Epochs of a run [default: 20, with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    epochs: Option<u64>,
}

#[derive(clap::Args)]
struct PascalPartArguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    schedule: Schedule,
    /// Steps of a run, instead of the paper's 1000; the rules start after a tenth of them, at most 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// As in the authors' released code: the rules from whole to parts have partOf's arguments reversed, the type
    /// network is moved twice in a step, and alpha ends at 5 unless `--alpha-end` says otherwise
    #[arg(long, conflicts_with = "examples_only")]
    released: bool,
    /// Leave out the 57 rules and learn from labels alone
    #[arg(long)]
    examples_only: bool,
    /// Size of the noise in simulated features, instead of the calibrated one
    #[arg(long, value_name = "X")]
    noise: Option<f64>,
    /// Simulated features that are never below 0, as a detector's are after its last ReLU
    #[arg(long)]
    rectified: bool,
    /// Only N training pictures, and a third as many test pictures
    #[arg(long, value_name = "N")]
    pictures: Option<usize>,
}

#[derive(clap::Args)]
struct KnowledgeGraphArguments {
    #[command(flatten)]
    common: Common,
    /// Which graph: `kg/GRAPH` of the data holds its train.txt, valid.txt and test.txt (or .txt.gz)
    #[arg(long, value_name = "GRAPH", value_parser = GraphName::named)]
    graph: GraphName,
    /// A file of rules, as `logltn mine` writes them, instead of those that are found in the graph
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The weight of all rules together, where they are axioms, instead of 0.1; the facts have 1
    #[arg(long, value_name = "W", value_parser = positive)]
    rule_weight: Option<f64>,
    /// Epochs of a run, instead of the graph's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    epochs: Option<u64>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let (task, common) = match &arguments.task {
        TaskArguments::Clustering(own) => (Task::Clustering, &own.common),
        TaskArguments::MnistAdd(own) => (Task::MnistAdd, &own.common),
        TaskArguments::MultiAdd(own) => (Task::MultiAdd, &own.common),
        TaskArguments::PascalPart(own) => (Task::PascalPart, &own.common),
        TaskArguments::KnowledgeGraph(own) => (Task::KnowledgeGraph, &own.common),
        TaskArguments::Shortcuts(own) => (Task::Shortcuts, &own.common),
        TaskArguments::Stories(own) => (Task::Stories, &own.common),
        TaskArguments::Hierarchy(own) => (Task::Hierarchy, &own.common),
    };
    let mut options = match common_options(common) {
        Ok(options) => options,
        Err(errors) => return console::wrong_input(&errors, common.json),
    };
    match &arguments.task {
        TaskArguments::Clustering(own) => {
            options.alpha_end = own.schedule.alpha_end.unwrap_or(Schedule::PAPERS);
            options.percentile = own.percentile;
            options.steps = own.steps;
        }
        TaskArguments::MnistAdd(own) => {
            options.alpha_end = own.schedule.alpha_end.unwrap_or(Schedule::PAPERS);
            options.samples.clone_from(&own.samples);
            options.epochs = own.epochs;
            options.undecided = !own.paper_start;
        }
        TaskArguments::Shortcuts(own) => {
            options.steps = own.steps;
            options.parts.clone_from(&own.tasks);
            options.semantics.clone_from(&own.semantics);
        }
        TaskArguments::Stories(own) => options.steps = own.steps,
        TaskArguments::Hierarchy(own) => {
            options.set = own.set;
            options.epochs = own.epochs;
        }
        TaskArguments::MultiAdd(own) => {
            options.digits.clone_from(&own.digits);
            options.epochs = own.epochs;
        }
        TaskArguments::PascalPart(own) => {
            let usual = match own.released {
                true => Schedule::RELEASED,
                false => Schedule::PAPERS,
            };
            options.alpha_end = own.schedule.alpha_end.unwrap_or(usual);
            options.steps = own.steps;
            options.released = own.released;
            options.rectified = own.rectified;
            options.examples_only = own.examples_only;
            options.noise = own.noise;
            options.pictures = own.pictures;
        }
        TaskArguments::KnowledgeGraph(own) => {
            options.graph = own.graph;
            options.rules.clone_from(&own.rules);
            options.rule_weight = own.rule_weight;
            options.epochs = own.epochs;
        }
    }
    let stop = ctrl_c::asks_to_stop();
    let progress = Progress::new();
    let result = reproduce(task, &options, &stop, &progress);
    progress.bar.finish_and_clear();
    match result {
        Ok(Reproduced::Finished(found)) if common.json => console::print_json(&found.json()),
        Ok(Reproduced::Finished(found)) => console::print(&for_people(&found, &options)),
        Ok(Reproduced::Interrupted { done, of }) => {
            console::complain(&format!(
                "stopped after {done} of {of} runs; the same command continues from there\n"
            ));
            Outcome::Failed
        }
        // A failure before the first run is wrong input.
        Err(errors) if !progress.has_begun() => console::wrong_input(&errors, common.json),
        Err(errors) => console::failed(&errors, common.json),
    }
}

fn common_options(common: &Common) -> Result<Options, Diagnostics> {
    let mut errors = Diagnostics::new();
    let mut configurations = Vec::new();
    for name in &common.configs {
        match Configuration::named(name.trim()) {
            Ok(found) if configurations.contains(&found) => {}
            Ok(found) => configurations.push(found),
            Err(error) => errors.push(error),
        }
    }
    if errors.has_errors() {
        return Err(errors);
    }
    Ok(Options {
        runs: common.runs.map(|n| n as usize),
        configurations,
        quick: common.quick,
        seed: common.seed,
        out: common.out.clone(),
        data: common.data.clone(),
        ..Options::default()
    })
}

fn for_people(found: &Table, options: &Options) -> String {
    let mut text = format!("{}\ndata: {}\n", found.task.title(), found.data_title);
    text += &format!("settings: {}\n", found.settings_line());
    for section in found.sections() {
        text += &format!("\n{}\n\n", section.title);
        let align: Vec<Align> = (0..section.header.len())
            .map(|i| if i == 0 { Align::Left } else { Align::Right })
            .collect();
        let rows: Vec<Vec<String>> = std::iter::once(section.header)
            .chain(section.rows)
            .collect();
        text += &table(&align, &rows);
    }
    let folder = options.folder(found.task);
    text += &format!("\n{}\n", found.legend());
    text += &format!(
        "\n{:.0} s; table, pictures and report in {}\n",
        found.seconds,
        folder.display()
    );
    text
}

/// A progress bar over all runs on a terminal; a line for each run elsewhere.
struct Progress {
    bar: ProgressBar,
    plain: bool,
    begun: Instant,
    runs: AtomicUsize,
    done: AtomicUsize,
    steps: AtomicU64,
    of_steps: AtomicU64,
}

impl Progress {
    fn new() -> Progress {
        Progress {
            bar: ProgressBar::hidden(),
            plain: !std::io::stderr().is_terminal(),
            begun: Instant::now(),
            runs: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            steps: AtomicU64::new(0),
            of_steps: AtomicU64::new(0),
        }
    }

    fn has_begun(&self) -> bool {
        self.steps.load(Ordering::Relaxed) > 0
    }

    /// Counted by steps: runs on smaller data say little about runs on larger data.
    fn left(&self) -> Duration {
        let done = self.steps.load(Ordering::Relaxed).max(1) as f64;
        let of = self.of_steps.load(Ordering::Relaxed) as f64;
        self.begun.elapsed().mul_f64(((of - done) / done).max(0.0))
    }
}

/// What matters first: a narrow terminal cuts off the end of the line, which must not wrap.
fn bar_style() -> ProgressStyle {
    let style = "{bar:20} {percent:>3}%  {gone} elapsed, {left} left  {wide_msg}";
    let style = ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar());
    style
        .with_key("gone", |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = out.write_str(&clock(state.elapsed()));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
            // Unknown before the first step.
            let left = match state.pos() {
                0 => "?".to_string(),
                _ => clock(state.eta()),
            };
            let _ = out.write_str(&left);
        })
}

/// `1:05`, `2:00:00`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match hours {
        0 => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

impl Watch for Progress {
    fn begin(&self, data: &str, runs: usize, found: usize, steps: u64) {
        self.runs.store(runs, Ordering::Relaxed);
        self.done.store(found, Ordering::Relaxed);
        self.of_steps.store(steps, Ordering::Relaxed);
        console::complain(&format!("data: {data}\n"));
        if found > 0 {
            console::complain(&format!(
                "{found} of {runs} runs were done before; continuing\n"
            ));
        }
        if !self.plain && steps > 0 {
            self.bar
                .set_draw_target(indicatif::ProgressDrawTarget::stderr());
            self.bar.set_length(steps);
            self.bar.set_style(bar_style());
            self.bar.set_message(format!("{found}/{runs} runs"));
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    fn steps(&self, steps: u64) {
        self.steps.fetch_add(steps, Ordering::Relaxed);
        self.bar.inc(steps);
    }

    fn finished(&self, job: &Job, record: &RunRecord) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let runs = self.runs.load(Ordering::Relaxed);
        let metrics: Vec<String> = (record.metrics.iter())
            .map(|(name, value)| format!("{name} {value:.2}"))
            .collect();
        let what = format!("{}: {}", job.title(), metrics.join(", "));
        if self.plain {
            console::complain(&format!(
                "{done}/{runs}  {what}  ({} elapsed, about {} left)\n",
                clock(self.begun.elapsed()),
                clock(self.left())
            ));
        }
        self.bar.set_message(format!("{done}/{runs} runs  {what}"));
    }
}
