//! Which semantics, start and weights to take: a manifest trained briefly in several ways, on part of its labels, and measured on
//! the rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use logltn::{Code, ColumnData, Diagnostic, Diagnostics, Semantics, Span};
use logltn_learn::metrics::Better;
use logltn_learn::{
    Curve, Known, Labels, LabelsOf, Length, Measures, Metric, MetricKind, Schedule, Spanned,
};

use super::{Spread, TrainOptions, Trainer};
use crate::manifest::Phase;
use crate::project::Project;

/// One in this many labels is held out.
const ONE_IN: usize = 5;
/// Fewer labels than these cannot be divided.
const FEWEST: usize = 10;
/// About how many trainings the time is divided among.
const TRIALS: u32 = 12;
/// Fewer steps than these show nothing.
const FEWEST_STEPS: u64 = 20;

/// How long to try, and how often each.
#[derive(Clone, Copy, Debug)]
pub struct AdviseOptions {
    /// The approximate time for all trainings together.
    pub time: Duration,
    /// How many seeds each option is tried with.
    pub seeds: u64,
}

/// One way to train.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The difference from the manifest, in words.
    pub name: String,
    /// The corresponding lines of the manifest; empty for the manifest itself.
    pub lines: Vec<String>,
    /// The metric on the labels that were held out, the mean of all seeds.
    pub value: f64,
    /// The usual deviation of a seed from it.
    pub deviation: f64,
}

/// The trials and their results.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The name of the metric.
    pub metric: String,
    /// Which values are better.
    pub better: Better,
    /// How many labels were used for training.
    pub learnt: usize,
    /// How many were held out.
    pub held_out: usize,
    /// How many steps each training had.
    pub steps: u64,
    /// The unchanged manifest first.
    pub trials: Vec<Trial>,
    /// The trial to take.
    pub best: usize,
    /// Smaller differences may be chance.
    pub chance: f64,
}

impl Advice {
    /// Whether the best is clearly better than the unchanged manifest.
    pub fn is_clear(&self) -> bool {
        let (first, best) = (self.trials[0].value, self.trials[self.best].value);
        self.best != 0 && (best - first).abs() > self.chance
    }
}

/// A project with a change, and a description of the change.
#[derive(Clone)]
struct Way {
    name: Vec<String>,
    lines: Vec<String>,
    project: Project,
    /// Whether the first quarter of the steps sees the labels alone.
    labels_first: bool,
}

/// Tries several ways to train a project.
///
/// # Errors
/// If its theory gives no labels, or too few, or a training fails before its first step.
pub fn advise(
    project: &Project,
    options: &AdviseOptions,
    stop: &AtomicBool,
    told: &mut dyn FnMut(&Trial),
) -> Result<Advice, Diagnostics> {
    let mut trying = Trying::new(project, options, stop)?;
    let mut way = trying.manifest.clone();
    let mut best = trying.try_out(&way, told)?;
    let mut alternatives =
        |trying: &mut Trying<'_>, best: &mut usize, way: &mut Way, others: Vec<Way>| {
            for other in others {
                let at = trying.try_out(&other, told)?;
                if trying.is_better(at, *best) {
                    (*best, *way) = (at, other);
                }
            }
            Ok::<(), Diagnostics>(())
        };
    let others = trying.semantics(&way);
    alternatives(&mut trying, &mut best, &mut way, others)?;
    if !trying.rules.is_empty() {
        let others = vec![trying.labels_first(&way)];
        alternatives(&mut trying, &mut best, &mut way, others)?;
        let others = [0.1, 0.3, 3.0].map(|weight| trying.weighted(&way, weight));
        alternatives(&mut trying, &mut best, &mut way, others.into())?;
        let others = vec![trying.weighted(&trying.manifest, 0.0)];
        alternatives(&mut trying, &mut best, &mut way, others)?;
    }
    Ok(trying.advice(best))
}

struct Trying<'a> {
    manifest: Way,
    labels: String,
    /// The names of the other axioms with their weights.
    rules: Vec<(String, f64)>,
    metric: Metric,
    learnt: usize,
    held_out: usize,
    steps: Option<u64>,
    /// Whether that is fewer than the manifest's.
    cut: bool,
    options: AdviseOptions,
    stop: &'a AtomicBool,
    trials: Vec<Trial>,
}

impl<'a> Trying<'a> {
    fn new(
        project: &Project,
        options: &AdviseOptions,
        stop: &'a AtomicBool,
    ) -> Result<Trying<'a>, Diagnostics> {
        let theory = project.theory();
        let mut project = project.clone();
        let labels = Labels::all(theory);
        let weight = |name: &str, own: f64| {
            let said = project.manifest.axioms.get(name);
            said.and_then(|axiom| axiom.settings.weight).unwrap_or(own)
        };
        let rules = (theory.axioms.iter().enumerate())
            .filter(|(i, _)| labels.iter().all(|labels| labels.axiom != *i))
            .map(|(_, axiom)| (axiom.name.clone(), weight(&axiom.name, axiom.weight)))
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        let Some(labels) = labels.first() else {
            let what = "no axiom of the theory gives labels that could be held out";
            return Err(Diagnostic::error(Code::NothingToHoldOut, what)
                .help("labels are an axiom such as `forall (x, k) in labelled. class(x, k)` or `forall (x, y) in known. eq(f(x), y)`")
                .into());
        };
        let table = &theory[labels.table];
        let rows = project.data.table(labels.table).cloned();
        let Some(rows) = rows.filter(|rows| rows.rows >= FEWEST) else {
            let what = format!(
                "table `{}` has fewer than {FEWEST} labels, too few to hold some out",
                table.name
            );
            return Err(Diagnostic::error(Code::NothingToHoldOut, what)
                .at(&theory.source, table.span, "these labels")
                .into());
        };
        let (kept, held): (Vec<u32>, Vec<u32>) = divided(&rows.columns, rows.rows);
        let of = |which: &[u32]| {
            rows.columns
                .iter()
                .map(|c| c.some(which))
                .collect::<Vec<_>>()
        };
        let metric = match labels.of {
            LabelsOf::Predicate(p) => Metric::new(
                MetricKind::Accuracy,
                &theory[p].name[..],
                Known::Rows(of(&held)),
            ),
            LabelsOf::Function(f) => {
                let [who, ColumnData::Real(values)] = &of(&held)[..] else {
                    let what = format!("the labels in table `{}` are not real numbers", table.name);
                    return Err(Diagnostic::error(Code::NothingToHoldOut, what).into());
                };
                let known = Known::Values(vec![who.clone()], values.clone());
                Metric::new(MetricKind::Rmse, &theory[f].name[..], known)
            }
        };
        let (name, axiom) = (table.name.clone(), theory.axioms[labels.axiom].name.clone());
        project.data.set_rows(&name, of(&kept))?;
        if rows.batched {
            project.data.set_batched(&name)?;
        }
        // They may be the rows that are held out from everything.
        project.manifest.evaluate = None;
        if let Some(train) = &mut project.manifest.train {
            train.value.early_stop = None;
        }
        Ok(Trying {
            manifest: Way {
                name: Vec::new(),
                lines: Vec::new(),
                project,
                labels_first: false,
            },
            labels: axiom,
            rules,
            metric,
            learnt: kept.len(),
            held_out: held.len(),
            steps: None,
            cut: false,
            options: *options,
            stop,
            trials: Vec::new(),
        })
    }

    /// Other semantics than the manifest's.
    fn semantics(&self, way: &Way) -> Vec<Way> {
        let mut found = Vec::new();
        let now = way.project.manifest.semantics;
        for name in ["logltn", "logltn-prob", "stable"] {
            let Some(semantics) = Semantics::named(name).filter(|other| *other != now) else {
                continue;
            };
            let mut other = way.clone();
            other.project.manifest.semantics = semantics;
            other.says(&format!("semantics = \"{name}\""), &[]);
            found.push(other);
        }
        let alpha = way.project.manifest.schedule.training().alpha;
        if now.sat_is_log() && alpha.curve != Curve::Constant(1.0) {
            let mut other = way.clone();
            other.project.manifest.schedule.alpha = Some(Schedule::from(1.0));
            other.says("alpha = 1", &["[schedule]", "alpha = 1"]);
            found.push(other);
        }
        found
    }

    /// The first quarter of the steps with the labels alone.
    fn labels_first(&self, way: &Way) -> Way {
        let mut other = way.clone();
        other.labels_first = true;
        let line = format!(
            "phases = [{{ steps = {}, axioms = [\"{}\"] }}, {{ steps = {} }}]",
            self.quarter(),
            self.labels,
            self.steps.unwrap_or(0) - self.quarter()
        );
        other.says("begin with the labels", &["[train]", &line]);
        other
    }

    fn quarter(&self) -> u64 {
        (self.steps.unwrap_or(0) / 4).max(1)
    }

    /// The axioms that give no labels, with as many times their weight.
    fn weighted(&self, way: &Way, times: f64) -> Way {
        let mut other = way.clone();
        let mut lines = Vec::new();
        for (name, weight) in &self.rules {
            let axioms = &mut other.project.manifest.axioms;
            let entry = axioms.entry(name.clone());
            let axiom = entry.or_insert_with(|| Spanned::new(Default::default(), Span::default()));
            axiom.value.settings.weight = Some(weight * times);
            lines.push(format!("[axioms.{name}]"));
            lines.push(format!("weight = {}", weight * times));
        }
        let name = match times {
            0.0 => "the labels alone".to_string(),
            _ => format!("rules of {times} times their weight"),
        };
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        other.says(&name, &lines);
        other
    }

    /// Trains, and measures the held-out labels. Returns its place among the trials.
    fn try_out(&mut self, way: &Way, told: &mut dyn FnMut(&Trial)) -> Result<usize, Diagnostics> {
        let mut values = Vec::new();
        for seed in 0..self.options.seeds.max(1) {
            values.push(self.train(way, seed)?);
        }
        let spread = Spread::of(values);
        let name = match way.name.is_empty() {
            true => "as the manifest says".to_string(),
            false => way.name.join(", "),
        };
        self.trials.push(Trial {
            name,
            lines: way.lines.clone(),
            value: spread.map_or(f64::NAN, |spread| spread.mean),
            deviation: spread.map_or(f64::NAN, |spread| spread.deviation),
        });
        let at = self.trials.len() - 1;
        told(&self.trials[at]);
        Ok(at)
    }

    fn train(&mut self, way: &Way, seed: u64) -> Result<f64, Diagnostics> {
        let mut project = way.project.clone();
        let mut options = TrainOptions {
            seed: Some(seed),
            ..TrainOptions::default()
        };
        if self.steps.is_none() {
            self.steps = Some(self.affordable(&project)?);
        }
        let steps = self.steps.unwrap_or(FEWEST_STEPS);
        if way.labels_first {
            let phase = |steps: u64, axioms: Option<Vec<Spanned<String>>>| Phase {
                span: Span::default(),
                length: Length::Steps(steps),
                axioms,
            };
            let only = vec![Spanned::new(self.labels.clone(), Span::default())];
            let phases = vec![
                phase(self.quarter(), Some(only)),
                phase(steps - self.quarter(), None),
            ];
            if let Some(train) = &mut project.manifest.train {
                train.value.phases = phases;
            }
        } else if self.cut {
            options.steps = Some(steps);
        }
        let mut trainer = Trainer::new(project, &options)?;
        let metric = std::slice::from_ref(&self.metric);
        let mut measures = Measures::new(trainer.knowledge(), metric)?;
        let knowledge = trainer.knowledge().clone();
        measures.prepare(&knowledge, trainer.model_mut())?;
        while !trainer.is_done() {
            trainer.step()?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(Diagnostic::error(Code::Interrupted, "stopped before its end").into());
            }
        }
        let values = measures.measure(&knowledge, trainer.model_mut())?;
        Ok(values.first().map_or(f64::NAN, |(_, value)| *value))
    }

    /// How many steps each training can have. Where that is fewer than the manifest's, its phases are one.
    fn affordable(&mut self, project: &Project) -> Result<u64, Diagnostics> {
        let mut trainer = Trainer::new(project.clone(), &TrainOptions::default())?;
        let total = trainer.total();
        // The first is slower than others.
        trainer.step()?;
        let begun = Instant::now();
        let mut done = 0;
        while done < 5 && !trainer.is_done() {
            trainer.step()?;
            done += 1;
        }
        let each = begun.elapsed().as_secs_f64() / f64::from(done.max(1));
        let trainings = f64::from(TRIALS) * self.options.seeds.max(1) as f64;
        let room = self.options.time.as_secs_f64() / trainings / each.max(1e-9);
        let steps = total.min((room as u64).max(FEWEST_STEPS));
        self.cut = steps < total;
        Ok(steps)
    }

    fn is_better(&self, at: usize, than: usize) -> bool {
        let better = self.metric.kind.better();
        better.is_better(self.trials[at].value, self.trials[than].value)
    }

    fn advice(self, best: usize) -> Advice {
        let first = &self.trials[0];
        // The standard error of a share of n rows; for other metrics only seeds show it.
        let of_rows = match self.metric.kind {
            MetricKind::Accuracy => {
                (first.value * (1.0 - first.value) / self.held_out as f64).sqrt()
            }
            _ => 0.0,
        };
        let of_seeds = first.deviation.max(self.trials[best].deviation);
        Advice {
            metric: self.metric.label(),
            better: self.metric.kind.better(),
            learnt: self.learnt,
            held_out: self.held_out,
            steps: self.steps.unwrap_or(0),
            best,
            chance: of_rows.max(of_seeds),
            trials: self.trials,
        }
    }
}

impl Way {
    fn says(&mut self, name: &str, lines: &[&str]) {
        self.name.push(name.to_string());
        match lines {
            [] => self.lines.insert(0, name.to_string()),
            lines => self.lines.extend(lines.iter().map(|line| line.to_string())),
        }
    }
}

/// Rows to learn from and rows that are held out: every fifth of each class, or every fifth. The choice depends only on
/// the rows.
fn divided(columns: &[ColumnData], rows: usize) -> (Vec<u32>, Vec<u32>) {
    let class = |row: usize| match columns.last() {
        Some(ColumnData::Individuals(classes)) => classes[row],
        _ => 0,
    };
    let mut seen = std::collections::BTreeMap::<u32, usize>::new();
    // Not in the order of the file, which may be sorted by something.
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_key(|row| {
        (*row as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23)
    });
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for row in order {
        let count = seen.entry(class(row)).or_default();
        *count += 1;
        match *count % ONE_IN {
            0 => held.push(row as u32),
            _ => kept.push(row as u32),
        }
    }
    kept.sort_unstable();
    held.sort_unstable();
    (kept, held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_on_one_side_and_every_class_on_both() {
        for rows in [0, 1, 4, 5, 17, 200] {
            let classes = ColumnData::Individuals((0..rows).map(|row| (row % 3) as u32).collect());
            let (kept, held) = divided(&[classes], rows);
            let mut all: Vec<u32> = kept.iter().chain(&held).copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..rows as u32).collect::<Vec<_>>());
            for class in 0..3 {
                let of = |some: &[u32]| some.iter().filter(|row| *row % 3 == class).count();
                assert_eq!(of(&held), (of(&held) + of(&kept)) / ONE_IN);
            }
        }
    }
}
