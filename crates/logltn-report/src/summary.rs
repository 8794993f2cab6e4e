//! What a report is made from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::read_bytes;
use logltn_train::run_directory::{
    RunDirectory, RunInfo, StepRecord, WholeTruth, write_atomically,
};
use logltn_train::train::told_by_key;
use serde_json::{Value, json};

use super::documents::{ListedRun, details};
use super::page;
use super::picture::{Picture, pictures};
use super::schedule::Scheduled;
use super::thinning::Thinned;
use super::violations::Violated;

/// How many stretches a curve of the whole run has: about one for every pixel and a half of a chart.
const STRETCHES: usize = 512;
/// The same for an axiom, of which there may be thousands, and when there are.
const AXIOM_STRETCHES: usize = 256;
const STRETCHES_OF_MANY: usize = 96;
const MANY: usize = 200;

/// A run, all in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// The name of its folder.
    pub name: String,
    /// What is known of it as a whole.
    pub info: RunInfo,
    /// All that it was told, by key.
    pub told: BTreeMap<String, Value>,
    /// The text of the theory; may be empty.
    pub theory: String,
    /// The names of the axioms, in the order of the records.
    pub axiom_names: Vec<String>,
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
///     name: "clustering".into(),
///     axiom_names: vec!["covered".into()],
///     ..RunSummary::default()
/// });
/// for step in 1..=100_000u64 {
///     let loss = 1.0 / step as f64;
///     report.push(&StepRecord { step, loss, sat: -loss, axioms: vec![-loss], ..StepRecord::default() });
/// }
/// let page = report.html();
/// assert!(page.contains("covered") && page.len() < 250_000);
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    name: String,
    /// What is known of the run as a whole.
    pub info: RunInfo,
    told: BTreeMap<String, Value>,
    pub(super) theory: String,
    pictures: Vec<Picture>,
    pub(super) schedule: Option<Scheduled>,
    pub(super) listed: ListedRun,
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
    /// What breaks the axioms.
    pub violated: Vec<Violated>,
    /// Of predicates, a sentence each: that their classes are mixed up.
    pub mixed_up: Vec<String>,
    /// How many `exists` of an axiom were left out over all steps because their samples had no
    /// individual for them.
    pub(super) left_out: Vec<(String, u64)>,
    /// What the networks say of the data, in the form that the page reads.
    pub networks: Vec<Value>,
}

/// What the records say of an axiom.
#[derive(Clone, Debug)]
pub(super) struct AxiomCurve {
    pub(super) name: String,
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
        let axioms = (summary.axiom_names.iter())
            .map(|name| AxiomCurve {
                name: name.clone(),
                truth: Thinned::new(stretches),
            })
            .collect();
        let mut report = Report {
            name: summary.name.clone(),
            listed: ListedRun::new(&summary.name, &summary.info),
            info: summary.info.clone(),
            told: summary.told.clone(),
            theory: summary.theory.clone(),
            pictures: summary.pictures.clone(),
            schedule: None,
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
            mixed_up: Vec::new(),
            left_out: Vec::new(),
            networks: Vec::new(),
        };
        for record in &summary.steps {
            report.push(record);
        }
        report
    }

    /// Adds a record, which should be later than those before. Axioms beyond the known ones are left out.
    pub fn push(&mut self, record: &StepRecord) {
        let step = record.step;
        self.listed.see(record);
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
        for (name, count) in &record.left_out {
            match self.left_out.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known += count,
                None => self.left_out.push((name.clone(), *count)),
            }
        }
    }

    /// How many axioms it has a curve of.
    pub fn axioms(&self) -> usize {
        self.axioms.len()
    }

    /// Adds the curves of what the run's manifest plans, the learning rate and α: the records do not hold them.
    pub fn set_schedules(&mut self, run: &RunDirectory) {
        self.schedule = Scheduled::of(run);
    }

    /// The page with this run inside.
    pub fn html(&self) -> String {
        let name = &self.name;
        let run = ListedRun {
            logs: self.logs(),
            ..self.listed.clone()
        };
        let violated = self.violated.iter();
        let explained: BTreeMap<&str, &Violated> = violated
            .map(|violated| (&violated.axiom[..], violated))
            .collect();
        page::with_data(
            match &self.info.title[..] {
                "" => name,
                title => title,
            },
            &json!({
                "words": self.words(),
                "runs": [run],
                "details": { name: details(&self.info, &self.theory, &self.told, &self.pictures) },
                "curves": { name: self.curves(None) },
                "explained": { name: explained },
                "networks": { name: self.networks },
            }),
        )
    }

    /// Writes `report.html` and `plots/*.svg` into `dir`, and gives the path of the page.
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
        for (name, svg) in self.plots() {
            write_atomically(&plots.join(format!("{name}.svg")), svg.as_bytes())?;
        }
        let page = dir.join("report.html");
        write_atomically(&page, self.html().as_bytes())?;
        Ok(page)
    }

    /// Whether the truths of the records are logs of truth degrees.
    pub(super) fn logs(&self) -> bool {
        self.info.logs.unwrap_or(self.below_zero)
    }

    /// A truth of the records as a truth degree between 0 and 1.
    pub(super) fn degree(&self, truth: f64) -> f64 {
        match self.logs() {
            true => degree(truth),
            false => truth,
        }
    }

    /// The truth of an axiom at the end: of the whole theory, or else in its last step.
    pub(super) fn end(&self, at: usize) -> Option<f64> {
        match self.whole() {
            Some(last) => last.axioms.get(at).copied(),
            None => self.axioms[at].truth.last(),
        }
    }

    /// The whole theory at the end, if it was looked at. One that speaks of other axioms is none.
    pub(super) fn whole(&self) -> Option<&WholeTruth> {
        let last = self.info.whole.as_ref()?.last.as_ref()?;
        (last.axioms.len() == self.axioms.len()).then_some(last)
    }

    /// The axioms from the least satisfied to the most. Those without any truth come last.
    pub(super) fn worst_axioms(&self) -> Vec<&AxiomCurve> {
        let mut places: Vec<usize> = (0..self.axioms.len()).collect();
        let truth = |at: &usize| self.end(*at).unwrap_or(f64::INFINITY);
        // Stable: equals stay in the order of the theory.
        places.sort_by(|a, b| truth(a).total_cmp(&truth(b)));
        places.into_iter().map(|at| &self.axioms[at]).collect()
    }
}

/// A log above this is above 0, and no rounding.
pub(super) const CAPPED: f64 = 1e-9;

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
        name: dir.file_name().unwrap_or_default().to_string_lossy().into(),
        pictures: pictures(&dir.join("pictures"))?,
        ..RunSummary::default()
    };
    if run.holds("run.json")? {
        summary.info = run.info()?;
        // A run that has lost its manifest still has its curves.
        summary.told = told_by_key(dir).unwrap_or_default();
        let axioms = summary.info.axioms.iter();
        summary.axiom_names = axioms.map(|a| a.name.clone()).collect();
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
    }
    let mut report = Report::new(&summary);
    report.set_schedules(&run);
    for record in first.into_iter().map(Ok).chain(records) {
        report.push(&record?);
    }
    Ok(report)
}
