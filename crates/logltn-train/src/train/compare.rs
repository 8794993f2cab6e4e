//! Runs side by side: the differences in their settings, and their results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, Source};
use logltn_learn::metrics::Better;
use serde_json::{Value, json};

use super::declarations::declarations;
use super::document::Node;
use crate::manifest::{Manifest, learnt_from, measured_against};
use crate::run_directory::{RunDirectory, RunInfo, RunStatus, WholeTruth};

/// The key that runs of one group may differ in.
const SEED: &str = "train.seed";

/// The result of a run.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// Its folder.
    pub run: PathBuf,
    /// How far it got.
    pub status: RunStatus,
    /// The reason, if the status alone is not enough.
    pub reason: String,
    /// How many steps it has done.
    pub steps: u64,
    /// Its seed.
    pub seed: u64,
    /// The loss [of the whole theory](Comparison::whole), or of the last step.
    pub loss: f64,
    /// The truth of each axiom: a log if [`ComparedRun::logs`]. For the whole theory, or for the last step in which it
    /// took part.
    pub axioms: Vec<(String, f64)>,
    /// The newest value of each metric; for a finished run, those of the weights that it kept.
    pub metrics: Vec<(String, f64)>,
    /// Whether truths are logs.
    pub logs: bool,
    /// The semantics.
    pub semantics: String,
    /// Metrics of which less is better.
    smaller_is_better: Vec<String>,
    /// All its settings, by key.
    told: BTreeMap<String, Value>,
    /// The whole theory with its last weights, if it is finished and has recorded this.
    whole: Option<WholeTruth>,
}

/// Two runs or more.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The runs, in the order in which they were given.
    pub runs: Vec<ComparedRun>,
    /// The keys of their manifests that differ, with the value of each run; null where it has none. Paths are compared
    /// by their targets. Beside the manifest's keys there are `theory.axiom NAME` and the like, where theories differ,
    /// and `files.PATH`, where a file held something else.
    pub differences: BTreeMap<String, Vec<Value>>,
    /// Whether losses and truths of axioms are those of whole theories with the last weights. Otherwise, since not
    /// every run has these, all are those of the last steps, each with its own batch.
    pub whole: bool,
    /// The runs that differ only in the seed, by their places. Any other run is its own group.
    pub groups: Vec<Vec<usize>>,
}

/// Mean and deviation of the runs of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample's standard deviation; 0 for one run.
    pub deviation: f64,
    /// How many runs have a value.
    pub runs: usize,
}

impl Spread {
    /// Over the values that exist; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let values: Vec<f64> = values.into_iter().filter(|x| x.is_finite()).collect();
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let deviation = match runs {
            0 => return None,
            1 => 0.0,
            _ => (squares / (runs - 1) as f64).sqrt(),
        };
        Some(Spread {
            mean,
            deviation,
            runs,
        })
    }
}

impl ComparedRun {
    /// Reads a run, finished or not.
    fn read(folder: &Path) -> Result<ComparedRun, Diagnostics> {
        let run = RunDirectory::open(folder)?;
        let info = run.info()?;
        let mut axioms: Vec<(String, f64)> = (info.axioms.iter())
            .map(|axiom| (axiom.name.clone(), f64::NAN))
            .collect();
        let (mut steps, mut loss) = (0, f64::NAN);
        let mut metrics: Vec<(String, f64)> = Vec::new();
        if run.holds("metrics.jsonl")? {
            for record in run.records()? {
                let record = record?;
                (steps, loss) = (record.step, record.loss);
                for ((_, value), truth) in axioms.iter_mut().zip(&record.axioms) {
                    *value = if truth.is_nan() { *value } else { *truth };
                }
                for (name, value) in record.metrics {
                    match metrics.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, old)) => *old = value,
                        None => metrics.push((name, value)),
                    }
                }
            }
        }
        run.check_end(&info, steps)?;
        if let (Some(kept), RunStatus::Finished) = (&info.kept, info.status) {
            metrics.clone_from(&kept.metrics);
        }
        let (told, smaller_is_better) = told(&run, &info)?;
        Ok(ComparedRun {
            run: folder.to_path_buf(),
            status: info.status,
            reason: info.reason.clone(),
            steps,
            seed: info.seed,
            loss,
            // Runs of older programs do not say.
            logs: (info.logs).unwrap_or_else(|| axioms.iter().any(|(_, truth)| *truth < 0.0)),
            axioms,
            metrics,
            semantics: info.semantics.clone(),
            smaller_is_better,
            told,
            whole: (info.whole.and_then(|whole| whole.last)).filter(|whole| {
                info.status == RunStatus::Finished && whole.axioms.len() == info.axioms.len()
            }),
        })
    }

    /// From now on for the whole theory.
    fn look_at_whole(&mut self) {
        if let Some(whole) = &self.whole {
            self.loss = whole.loss;
            for ((_, value), truth) in self.axioms.iter_mut().zip(&whole.axioms) {
                *value = *truth;
            }
        }
    }

    /// Whether smaller values of a metric are better.
    pub fn smaller_is_better(&self, metric: &str) -> bool {
        self.smaller_is_better.iter().any(|name| name == metric)
    }

    /// The truth degree of an axiom.
    pub fn degree(&self, axiom: &str) -> Option<f64> {
        let (_, truth) = self.axioms.iter().find(|(name, _)| name == axiom)?;
        let degree = match self.logs {
            true => truth.exp().min(1.0),
            false => *truth,
        };
        degree.is_finite().then_some(degree)
    }

    /// Whether the truth of some axiom is a log above 0, which is shown as the degree 1.
    pub fn is_capped(&self) -> bool {
        self.logs && self.axioms.iter().any(|(_, truth)| *truth > 1e-9)
    }

    /// The value of a metric.
    pub fn metric(&self, metric: &str) -> Option<f64> {
        let (_, value) = self.metrics.iter().find(|(name, _)| name == metric)?;
        value.is_finite().then_some(*value)
    }

    /// Its part of `logltn compare --json`.
    fn document(&self) -> Value {
        let named = |values: &[(String, f64)]| -> Value {
            values
                .iter()
                .map(|(name, value)| (name.clone(), json!(value)))
                .collect()
        };
        json!({
            "run": self.run.display().to_string(),
            "status": self.status.word(),
            "seed": self.seed,
            "axioms": named(&self.axioms),
            "metrics": named(&self.metrics),
            "loss": self.loss,
            "steps": self.steps,
        })
    }
}

/// All settings of the run in a folder, by key: what [`Comparison::differences`] compares.
///
/// # Errors
/// If the folder holds no run, or its manifest or theory was changed.
pub fn told_by_key(folder: &Path) -> Result<BTreeMap<String, Value>, Diagnostics> {
    let run = RunDirectory::open(folder)?;
    told(&run, &run.info()?).map(|(told, _)| told)
}

/// All settings of a run, by key, and the metrics of which less is better.
fn told(
    run: &RunDirectory,
    info: &RunInfo,
) -> Result<(BTreeMap<String, Value>, Vec<String>), Diagnostics> {
    let mut told = BTreeMap::new();
    let read = |name: &str| {
        let wrong = |what: String| {
            let what = format!(
                "{}: the run's settings cannot be read: {name}: {what}",
                run.path().display()
            );
            Diagnostic::error(Code::RunDamaged, what)
        };
        let text = logltn_data::read_text(&run.file(name)).map_err(|e| wrong(e.to_string()))?;
        match info.is_noted(name, text.as_bytes()) {
            true => Ok(text),
            false => Err(wrong("it was changed after `logltn train` wrote it".into())),
        }
    };
    let text = read("manifest.toml")?;
    let source = Source::new(run.file("manifest.toml").display().to_string(), text);
    let (manifest, _) = Manifest::parse(source, run.path())?;
    // Two runs reach the same file by different paths.
    let files = (learnt_from(&manifest).into_iter()).chain(measured_against(&manifest));
    let whole = |path: &Path| {
        let path = manifest.resolve(path);
        std::fs::canonicalize(&path)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let strings: BTreeMap<usize, String> = files
        .map(|file| (file.span.start as usize, whole(&file.value)))
        .collect();
    if let Some(document) = Node::parse(manifest.source.text(), &strings) {
        document.each(String::new(), false, &mut |key, node| {
            told.insert(key, value(node));
        });
    }
    for (file, print) in &info.data {
        told.insert(format!("files.{}", whole(Path::new(file))), json!(print));
    }
    let theory = read("theory.ltn")?;
    for (name, text) in declarations(&theory) {
        told.insert(format!("theory.{name}"), json!(text));
    }
    let metrics = manifest
        .evaluate
        .iter()
        .flat_map(|evaluate| &evaluate.metrics);
    let smaller = metrics
        .filter(|metric| metric.kind.better() == Better::Smaller)
        .map(crate::manifest::MetricSpec::label);
    Ok((told, smaller.collect()))
}

/// As JSON. Equal numbers have the same form.
fn value(node: &Node) -> Value {
    match node {
        Node::Leaf(text) => {
            let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
            let whole = number.filter(|x| x.fract() == 0.0 && x.abs() < 1e15);
            match (text.parse::<i64>(), whole, number) {
                (Ok(whole), ..) => json!(whole),
                (_, Some(whole), _) => json!(whole as i64),
                (_, _, Some(number)) => match text.parse::<u64>() {
                    Ok(seed) => json!(seed),
                    Err(_) => json!(number),
                },
                // A string, or `true`, is JSON too.
                _ => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            }
        }
        Node::List(members) => members.iter().map(value).collect(),
        Node::Table(entries) => entries
            .iter()
            .map(|(key, node)| (key.clone(), value(node)))
            .collect(),
    }
}

impl Comparison {
    /// Reads runs, whether finished, interrupted or still running.
    ///
    /// # Errors
    /// If there are fewer than two, or a folder holds no run, or one that is damaged.
    pub fn new(folders: &[PathBuf]) -> Result<Comparison, Diagnostics> {
        if folders.len() < 2 {
            let what = "comparing takes at least two runs";
            return Err(Diagnostic::error(Code::TooFewRuns, what).into());
        }
        let mut runs = Vec::new();
        let mut wrong = Diagnostics::new();
        for folder in folders {
            match ComparedRun::read(folder) {
                Ok(run) => runs.push(run),
                Err(errors) => wrong.extend(errors),
            }
        }
        let (mut runs, _) = wrong.into_result(runs)?;
        let differences = differences(&runs);
        let groups = groups(&runs, &differences);
        // A truth of the whole theory would be compared with that of a batch.
        let whole = runs.iter().all(|run| run.whole.is_some());
        if whole {
            runs.iter_mut().for_each(ComparedRun::look_at_whole);
        }
        Ok(Comparison {
            runs,
            whole,
            differences,
            groups,
        })
    }

    /// The names of all axioms, in the order of the runs.
    pub fn axioms(&self) -> Vec<&str> {
        names(self.runs.iter().flat_map(|run| &run.axioms))
    }

    /// The names of all metrics, in the order of the runs.
    pub fn metrics(&self) -> Vec<&str> {
        names(self.runs.iter().flat_map(|run| &run.metrics))
    }

    /// Whether the truths of an axiom mean the same in all runs: the same formula in the same semantics, with the same
    /// α and p.
    pub fn same_axiom(&self, axiom: &str) -> bool {
        let family = axiom.split('[').next().unwrap_or(axiom);
        let says = format!("theory.axiom {family}");
        let own = [format!("axioms.{axiom}."), format!("axioms.{family}.")];
        let about = |key: &String| {
            let scale = !key.ends_with(".weight");
            *key == says || scale && own.iter().any(|own| key.starts_with(own.as_str()))
        };
        self.same_scale() && !self.differences.keys().any(about)
    }

    /// Whether losses mean the same in all runs: the truths of all axioms do, and the weights are the same.
    pub fn same_loss(&self) -> bool {
        let other = |key: &String| key.starts_with("theory.") || key.starts_with("axioms.");
        self.same_scale() && !self.differences.keys().any(other)
    }

    fn same_scale(&self) -> bool {
        let other_scale = |key: &String| {
            key == "semantics" || key.starts_with("semantics.") || key.starts_with("schedule.")
        };
        let same = |run: &ComparedRun| run.semantics == self.runs[0].semantics;
        self.runs.iter().all(same) && !self.differences.keys().any(other_scale)
    }

    /// A value over the runs of each group; `None` where none of its runs has it.
    pub fn spread(&self, of: impl Fn(&ComparedRun) -> Option<f64>) -> Vec<Option<Spread>> {
        let groups = self.groups.iter();
        groups
            .map(|group| Spread::of(group.iter().filter_map(|&run| of(&self.runs[run]))))
            .collect()
    }

    /// What `logltn compare --json` prints. If several runs differ only in the seed, `groups` has their means.
    pub fn document(&self) -> Value {
        let spread = |spread: Option<Spread>| {
            spread.map(|s| json!({"mean": s.mean, "deviation": s.deviation, "runs": s.runs}))
        };
        let mut groups = Vec::new();
        for (place, members) in self.groups.iter().enumerate() {
            let of = |of: &dyn Fn(&ComparedRun) -> Option<f64>| spread(self.spread(of)[place]);
            let raw = |run: &ComparedRun, axiom: &str| {
                run.axioms
                    .iter()
                    .find(|(name, _)| name == axiom)
                    .map(|a| a.1)
            };
            let axioms: Value = (self.axioms().into_iter())
                .map(|name| (name.to_string(), json!(of(&|run| raw(run, name)))))
                .collect();
            let metrics: Value = (self.metrics().into_iter())
                .map(|name| (name.to_string(), json!(of(&|run| run.metric(name)))))
                .collect();
            let runs = members
                .iter()
                .map(|&run| self.runs[run].run.display().to_string());
            groups.push(json!({
                "runs": runs.collect::<Vec<_>>(),
                "axioms": axioms,
                "metrics": metrics,
                "loss": of(&|run| Some(run.loss)),
            }));
        }
        let runs: Vec<Value> = self.runs.iter().map(ComparedRun::document).collect();
        let of = match self.whole {
            true => "whole theory",
            false => "last step",
        };
        let mut document = json!({ "runs": runs, "of": of, "differences": self.differences });
        if self.groups.iter().any(|group| group.len() > 1) {
            document["groups"] = json!(groups);
        }
        document
    }
}

fn names<'r>(values: impl Iterator<Item = &'r (String, f64)>) -> Vec<&'r str> {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (name, _) in values {
        if seen.insert(name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn differences(runs: &[ComparedRun]) -> BTreeMap<String, Vec<Value>> {
    let mut keys: Vec<&String> = runs.iter().flat_map(|run| run.told.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let of = |run: &ComparedRun, key: &String| run.told.get(key).cloned().unwrap_or(Value::Null);
    keys.into_iter()
        // A file that only some runs read shows up in the key that names it.
        .filter(|key| !key.starts_with("files.") || runs.iter().all(|r| r.told.contains_key(*key)))
        .map(|key| (key.clone(), runs.iter().map(|run| of(run, key)).collect()))
        .filter(|(_, values): &(String, Vec<Value>)| values.iter().any(|v| *v != values[0]))
        .collect()
}

/// The runs that differ only in the seed.
fn groups(runs: &[ComparedRun], differences: &BTreeMap<String, Vec<Value>>) -> Vec<Vec<usize>> {
    let like = |a: usize, b: usize| {
        let mut others = differences.iter().filter(|(key, _)| *key != SEED);
        others.all(|(_, values)| values[a] == values[b])
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for run in 0..runs.len() {
        // The same run given twice counts once.
        let known = groups.iter_mut().find(|group| {
            like(group[0], run)
                && group
                    .iter()
                    .all(|&other| runs[other].seed != runs[run].seed)
        });
        match known {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_equal_are_alike() {
        let of = |text: &str| value(&Node::Leaf(text.to_string()));
        assert_eq!(of("1e3"), of("1000"));
        assert_eq!(of("0.001"), of("1e-3"));
        assert_ne!(of("18446744073709551615"), of("18446744073709551614"));
        assert_eq!(of("\"a\\\"b\""), json!("a\"b"));
        assert_eq!(of("true"), json!(true));
    }

    #[test]
    fn mean_and_deviation() {
        let found = Spread::of([1.0, f64::NAN, 3.0]).expect("values");
        assert_eq!((found.mean, found.runs), (2.0, 2));
        assert!((found.deviation - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of([5.0]).map(|s| s.deviation), Some(0.0));
        assert_eq!(Spread::of([f64::NAN]), None);
    }
}
