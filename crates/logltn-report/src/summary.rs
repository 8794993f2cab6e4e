//! What a report is made from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::read_bytes;
use logltn_train::run_directory::{
    RunDirectory, StepRecord, WholeInfo, WholeTruth, write_atomically,
};

use super::thinning::Thinned;
use super::violations::Violated;

/// How many stretches a curve of the whole run has: about one for every pixel and a half of a chart.
const STRETCHES: usize = 512;
/// The same for an axiom, of which there may be thousands, and when there are.
const AXIOM_STRETCHES: usize = 256;
const STRETCHES_OF_MANY: usize = 96;
const MANY: usize = 200;

/// A picture for the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// The bytes of a PNG.
    pub png: Vec<u8>,
}

/// A run, all in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// The head of the page.
    pub title: String,
    /// What is known of the run as a whole, in the order to be shown: semantics, seed, versions, time.
    pub facts: Vec<(String, String)>,
    /// The text of the theory; may be empty.
    pub theory: String,
    /// The names of the axioms, in the order of the records.
    pub axiom_names: Vec<String>,
    /// Their weights; those missing are not shown.
    pub axiom_weights: Vec<f64>,
    /// Whether the truths of the records are logs of truth degrees. Where nobody says, they are if one is below 0.
    pub logs: Option<bool>,
    /// The whole theory with the first weights and the last.
    pub whole: Option<WholeInfo>,
    /// The records.
    pub steps: Vec<StepRecord>,
    /// The pictures.
    pub pictures: Vec<Picture>,
}

/// A run, thinned to what a page can show. Made from a [`RunSummary`], or record by record.
///
/// ```
/// use logltn_report::{Report, RunSummary};
/// use logltn_train::run_directory::StepRecord;
/// let mut report = Report::new(&RunSummary {
///     title: "clustering".into(),
///     axiom_names: vec!["covered".into()],
///     ..RunSummary::default()
/// });
/// for step in 1..=100_000u64 {
///     let loss = 1.0 / step as f64;
///     report.push(&StepRecord { step, loss, sat: -loss, axioms: vec![-loss], ..StepRecord::default() });
/// }
/// let page = report.html();
/// assert!(page.contains("covered") && page.len() < 200_000);
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    pub(super) title: String,
    pub(super) facts: Vec<(String, String)>,
    pub(super) theory: String,
    pub(super) pictures: Vec<Picture>,
    pub(super) whole: Option<WholeInfo>,
    logs: Option<bool>,
    /// Whether a truth is.
    below_zero: bool,
    pub(super) records: u64,
    pub(super) last_step: u64,
    pub(super) loss: Thinned,
    pub(super) sat: Thinned,
    pub(super) gradient_norm: Thinned,
    pub(super) step_time: Thinned,
    pub(super) axioms: Vec<AxiomCurve>,
    pub(super) metrics: Vec<(String, Thinned)>,
    pub(super) violated: Vec<Violated>,
}

/// What the records say of an axiom.
#[derive(Clone, Debug)]
pub(super) struct AxiomCurve {
    pub(super) name: String,
    pub(super) weight: Option<f64>,
    /// Its place among all.
    place: usize,
    pub(super) truth: Thinned,
}

impl Report {
    /// A report of all that is in `summary`.
    pub fn new(summary: &RunSummary) -> Report {
        let stretches = if summary.axiom_names.len() > MANY {
            STRETCHES_OF_MANY
        } else {
            AXIOM_STRETCHES
        };
        let axioms = (summary.axiom_names.iter().enumerate())
            .map(|(i, name)| AxiomCurve {
                name: name.clone(),
                weight: summary.axiom_weights.get(i).copied(),
                place: i,
                truth: Thinned::new(stretches),
            })
            .collect();
        let mut report = Report {
            title: summary.title.clone(),
            facts: summary.facts.clone(),
            theory: summary.theory.clone(),
            pictures: summary.pictures.clone(),
            // One that says nothing of the end, or speaks of other axioms, is none.
            whole: summary.whole.clone().filter(|whole| {
                let last = whole.last.as_ref();
                last.is_some_and(|last| last.axioms.len() == summary.axiom_names.len())
            }),
            logs: summary.logs,
            below_zero: false,
            records: 0,
            last_step: 0,
            loss: Thinned::new(STRETCHES),
            sat: Thinned::new(STRETCHES),
            gradient_norm: Thinned::new(STRETCHES),
            step_time: Thinned::new(STRETCHES),
            axioms,
            metrics: Vec::new(),
            violated: Vec::new(),
        };
        for record in &summary.steps {
            report.push(record);
        }
        report
    }

    /// Adds a record, which should be later than those before. Axioms beyond the known ones are left out.
    pub fn push(&mut self, record: &StepRecord) {
        let step = record.step;
        self.records += 1;
        self.last_step = step;
        self.loss.push(step, record.loss);
        self.sat.push(step, record.sat);
        self.below_zero |= record.sat < 0.0 || record.axioms.iter().any(|truth| *truth < 0.0);
        self.gradient_norm.push(step, record.gradient_norm);
        self.step_time.push(step, record.step_time);
        for (axiom, truth) in self.axioms.iter_mut().zip(&record.axioms) {
            axiom.truth.push(step, *truth);
        }
        for (name, value) in &record.metrics {
            let known = self.metrics.iter().position(|(known, _)| known == name);
            let at = known.unwrap_or_else(|| {
                self.metrics.push((name.clone(), Thinned::new(STRETCHES)));
                self.metrics.len() - 1
            });
            self.metrics[at].1.push(step, *value);
        }
    }

    /// Writes `report.html` and `plots/*.png` into `dir`, and gives the path of the page.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn write(&self, dir: &Path) -> Result<PathBuf, Diagnostics> {
        let plots = dir.join("plots");
        fs::create_dir_all(&plots).map_err(|error| {
            Diagnostic::error(
                Code::CannotWrite,
                format!("{}: the folder cannot be made: {error}", plots.display()),
            )
        })?;
        for (name, png) in self.plots()? {
            write_atomically(&plots.join(format!("{name}.png")), &png)?;
        }
        let page = dir.join("report.html");
        write_atomically(&page, self.html().as_bytes())?;
        Ok(page)
    }

    /// Whether the truths of the records are logs of truth degrees.
    pub(super) fn logs(&self) -> bool {
        self.logs.unwrap_or(self.below_zero)
    }

    /// A truth of the records as a truth degree between 0 and 1.
    pub(super) fn degree(&self, truth: f64) -> f64 {
        match self.logs() {
            true => degree(truth),
            false => truth,
        }
    }

    /// The truth of an axiom at first and at the end: of the whole theory, or else in its first and its last step.
    pub(super) fn ends(&self, axiom: &AxiomCurve) -> (Option<f64>, Option<f64>) {
        let Some(whole) = &self.whole else {
            return (axiom.truth.first(), axiom.truth.last());
        };
        let of = |at: &Option<WholeTruth>| Some(*at.as_ref()?.axioms.get(axiom.place)?);
        (of(&whole.first), of(&whole.last))
    }

    /// All axioms together, and the loss, at the end: of the whole theory, or else of the last step.
    pub(super) fn totals(&self) -> (Option<f64>, Option<f64>) {
        match self.whole.as_ref().and_then(|whole| whole.last.as_ref()) {
            Some(last) => (Some(last.sat), Some(last.loss)),
            None => (self.sat.last(), self.loss.last()),
        }
    }

    /// The axioms from the least satisfied to the most. Those without any truth come last.
    pub(super) fn worst_axioms(&self) -> Vec<&AxiomCurve> {
        let mut axioms: Vec<&AxiomCurve> = self.axioms.iter().collect();
        // Stable: equals stay in the order of the theory.
        axioms.sort_by(|a, b| {
            let truth = |axiom: &AxiomCurve| self.ends(axiom).1.unwrap_or(f64::INFINITY);
            truth(a).total_cmp(&truth(b))
        });
        axioms
    }
}

/// The truth degree of a log; some aggregators give logs above 0.
pub(super) fn degree(log: f64) -> f64 {
    log.exp().min(1.0)
}

/// The report of the run in `dir`: from `metrics.jsonl` alone, and with what else is there: `run.json`, `theory.ltn`, and
/// the pictures in `pictures/`, in the order of their names.
///
/// # Errors
/// If `dir` holds no run, or a file of it cannot be read.
pub fn from_run_directory(dir: &Path) -> Result<Report, Diagnostics> {
    let run = RunDirectory::open(dir)?;
    let mut summary = RunSummary {
        title: dir.file_name().unwrap_or_default().to_string_lossy().into(),
        pictures: pictures(&dir.join("pictures"))?,
        ..RunSummary::default()
    };
    if run.holds("run.json")? {
        let info = run.info()?;
        let mut fact = |name: &str, value: String| {
            if !value.is_empty() {
                summary.facts.push((name.to_string(), value));
            }
        };
        let reason = match info.reason.as_str() {
            "" => info.status.word().to_string(),
            reason => format!("{}: {reason}", info.status.word()),
        };
        fact("status", reason);
        fact("semantics", info.semantics);
        fact("seed", info.seed.to_string());
        fact("started", info.started);
        fact("updated", info.updated);
        fact("command", info.command.join(" "));
        for (name, version) in info.versions {
            fact(&name, version);
        }
        if !info.title.is_empty() {
            summary.title = info.title;
        }
        summary.logs = info.logs;
        summary.whole = info.whole;
        (summary.axiom_names, summary.axiom_weights) = (info.axioms.into_iter())
            .map(|a| (a.name, a.weight))
            .unzip();
    }
    if run.holds("theory.ltn")? {
        let theory = read_bytes(&run.file("theory.ltn"))?;
        summary.theory = String::from_utf8_lossy(&theory).into_owned();
    }
    if !run.holds("metrics.jsonl")? {
        return Ok(Report::new(&summary));
    }
    let mut records = run.records()?;
    let first = records.next().transpose()?;
    if !records.axiom_names().is_empty() && records.axiom_names() != summary.axiom_names {
        summary.axiom_names = records.axiom_names().to_vec();
        summary.axiom_weights.clear();
    }
    let mut report = Report::new(&summary);
    for record in first.into_iter().map(Ok).chain(records) {
        report.push(&record?);
    }
    Ok(report)
}

fn pictures(folder: &Path) -> Result<Vec<Picture>, Diagnostics> {
    let unreadable = |error: io::Error| {
        let what = format!("{}: it cannot be read: {error}", folder.display());
        Diagnostic::error(Code::FileUnreadable, what)
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        entries => {
            for entry in entries.map_err(unreadable)? {
                paths.push(entry.map_err(unreadable)?.path());
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "png"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            Ok(Picture {
                title: path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .replace('_', " "),
                png: read_bytes(&path)?,
            })
        })
        .collect()
}
