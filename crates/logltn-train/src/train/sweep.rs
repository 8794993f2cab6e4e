//! Many runs of one manifest: one for each combination of some values, and each seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use logltn::{Code, Diagnostic, Diagnostics, Source, did_you_mean};

use super::document::Node;
use super::run::{Outcome, RunOptions, Watch, run};
use super::worker_threads::each_at_once;
use super::{TrainOptions, Trainer};
use crate::manifest::Manifest;
use crate::project::Project;
use crate::run_directory::RunDirectory;

/// The most runs that one sweep makes.
const MOST_RUNS: usize = 10_000;

/// A key of a manifest, and the values that it takes.
#[derive(Clone, Debug)]
pub struct Setting {
    key: Vec<String>,
    shown: String,
    values: Vec<Node>,
}

impl Setting {
    /// Reads `train.learning_rate=0.001,0.01`. Values are TOML; a word without quotes is a string.
    ///
    /// # Errors
    /// If there is no key or no value, or the same value twice.
    pub fn parse(text: &str) -> Result<Setting, Diagnostic> {
        let wrong = |what: String| {
            Diagnostic::error(Code::MalformedExpression, format!("`--set {text}`: {what}"))
                .help("write a key of the manifest and values for it: `--set train.learning_rate=0.001,0.01`")
        };
        let (shown, values) =
            (text.split_once('=')).ok_or_else(|| wrong("expected `=` and values".to_string()))?;
        let shown = shown.trim().to_string();
        // One table in another, for each part of the key.
        let nested = Node::parse(&format!("{shown} = 0"), &BTreeMap::new());
        let mut key = Vec::new();
        let mut inner = nested.as_ref();
        while let Some(Node::Table(entries)) = inner {
            let [(name, node)] = entries.as_slice() else {
                break;
            };
            key.push(name.clone());
            inner = Some(node);
        }
        if key.is_empty() || shown.contains('\n') {
            return Err(wrong(format!("`{shown}` is not a key")));
        }
        let mut found = Vec::new();
        for part in split(values) {
            let part = part.trim();
            if part.is_empty() {
                return Err(wrong("a value is missing".to_string()));
            }
            let read = Node::parse(&format!("v = {part}"), &BTreeMap::new());
            let value = match read {
                Some(Node::Table(entries)) if entries.len() == 1 => entries[0].1.clone(),
                _ => Node::string(part.trim_matches('"')),
            };
            if found.contains(&value) {
                return Err(wrong(format!("`{part}` is listed twice")));
            }
            found.push(value);
        }
        Ok(Setting {
            key,
            shown,
            values: found,
        })
    }

    /// Its last word, which says it all as a rule.
    fn last(&self) -> &str {
        self.key.last().map_or("", String::as_str)
    }
}

/// At the commas that are not within brackets or quotes.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quoted) = (0_i64, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

/// Runs that are all possible: what is wrong with one of them was found when the sweep was planned.
pub struct Sweep {
    runs: Vec<Planned>,
    title: String,
    total: u64,
    warnings: Diagnostics,
}

struct Planned {
    /// Of its folder.
    name: String,
    project: Project,
    seed: u64,
}

/// Receives the progress of a sweep, from several threads.
pub trait WatchSweep: Sync {
    /// A run begins with its steps, so that there is something to lose until it is [finished](WatchSweep::finished).
    fn begin(&self, run: &Path) {
        let _ = run;
    }
    /// A step of some run has been done.
    fn step(&self) {}
    /// A run has come to its end, or had done so before.
    fn finished(&self, run: &Path, outcome: &Result<Outcome, Diagnostics>) {
        let _ = (run, outcome);
    }
}

impl WatchSweep for () {}

impl Sweep {
    /// Plans a run for each combination of values and each of `seeds` seeds, from that of the manifest on; without
    /// `seeds`, one run for each combination.
    ///
    /// # Errors
    /// If a key does not exist, a value is of the wrong type, or a combination cannot be trained: before the first run.
    pub fn plan(
        manifest: &Path,
        settings: &[Setting],
        seeds: Option<u64>,
    ) -> Result<Sweep, Diagnostics> {
        let (given, mut warnings) = Manifest::read(manifest)?;
        check(settings, seeds)?;
        let combinations = combinations(settings);
        let runs = combinations
            .len()
            .saturating_mul(seeds.unwrap_or(1) as usize);
        if runs > MOST_RUNS {
            let what = format!("the sweep has {runs} runs, more than {MOST_RUNS}");
            return Err(Diagnostic::error(Code::ValueOutOfRange, what)
                .help("fewer values, or fewer seeds")
                .into());
        }
        let mut sweep = Sweep {
            runs: Vec::new(),
            title: manifest.display().to_string(),
            total: 0,
            warnings: Diagnostics::new(),
        };
        let mut wrong = Diagnostics::new();
        let mut names = BTreeSet::new();
        for chosen in combinations {
            let (project, steps) = match ground(&given, settings, &chosen, &mut warnings) {
                Ok(found) => found,
                Err(errors) => {
                    wrong.extend(errors);
                    continue;
                }
            };
            let first = project
                .manifest
                .train
                .as_ref()
                .map_or(0, |t| t.settings.seed);
            for seed in (0..seeds.unwrap_or(1)).map(|i| first.wrapping_add(i)) {
                let name = name(settings, &chosen, seeds.map(|_| seed));
                let mut unique = name.clone();
                let mut round = 2;
                while !names.insert(unique.clone()) {
                    unique = format!("{name}-{round}");
                    round += 1;
                }
                sweep.runs.push(Planned {
                    name: unique,
                    project: project.clone(),
                    seed,
                });
                sweep.total = sweep.total.saturating_add(steps);
            }
        }
        sweep.warnings = warnings;
        wrong.into_result(sweep).map(|(sweep, _)| sweep)
    }

    /// What is probably not as it was meant.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// How many steps all runs have together.
    pub fn steps(&self) -> u64 {
        self.total
    }

    /// The folders of the runs.
    pub fn folders(&self, out: &Path) -> Vec<PathBuf> {
        self.runs.iter().map(|run| out.join(&run.name)).collect()
    }

    /// Does the runs that are not done yet, as many at once as there are cores. A run that fails does not stop the others;
    /// each outcome is told to `watch`. `false` if it was stopped before the end, which `stop` also does inside a step.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn run(
        &self,
        out: &Path,
        command: &[String],
        stop: &Arc<AtomicBool>,
        watch: &dyn WatchSweep,
    ) -> Result<bool, Diagnostics> {
        let whole = AtomicBool::new(true);
        each_at_once(&self.runs, usize::MAX, |planned| {
            if stop.load(Ordering::Relaxed) {
                whole.store(false, Ordering::Relaxed);
                return Ok(());
            }
            let folder = out.join(&planned.name);
            let outcome = self.run_one(planned, &folder, command, stop, watch);
            if let Ok(Outcome::Interrupted { .. }) = outcome {
                whole.store(false, Ordering::Relaxed);
            }
            watch.finished(&folder, &outcome);
            Ok(())
        })?;
        Ok(whole.into_inner())
    }

    fn run_one(
        &self,
        planned: &Planned,
        folder: &Path,
        command: &[String],
        stop: &Arc<AtomicBool>,
        watch: &dyn WatchSweep,
    ) -> Result<Outcome, Diagnostics> {
        let options = TrainOptions {
            seed: Some(planned.seed),
            ..TrainOptions::default()
        };
        let mut trainer = Trainer::new(planned.project.clone(), &options)?;
        trainer.set_stop(Arc::clone(stop));
        let directory = RunDirectory::resume(folder)?;
        let options = RunOptions {
            title: format!("{}: {}", self.title, planned.name),
            command: command.to_vec(),
            resume: true,
            ..RunOptions::default()
        };
        let mut steps = Steps { watch, run: folder };
        run(&mut trainer, &directory, &options, stop, &mut steps)
    }
}

/// Passes steps on.
struct Steps<'w> {
    watch: &'w dyn WatchSweep,
    run: &'w Path,
}

impl Watch for Steps<'_> {
    fn begin(&mut self) {
        self.watch.begin(self.run);
    }

    fn step(&mut self, _: &crate::run_directory::StepRecord, _: u64) {
        self.watch.step();
    }
}

fn check(settings: &[Setting], seeds: Option<u64>) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    for (i, setting) in settings.iter().enumerate() {
        let key = &setting.shown;
        if settings[..i].iter().any(|other| other.key == setting.key) {
            let what = format!("`--set {key}=…` is given twice");
            wrong.push(
                Diagnostic::error(Code::DuplicateKey, what)
                    .help(format!("give all its values at once: `--set {key}=V,V`")),
            );
        }
        if seeds.is_some() && setting.key == ["train", "seed"] {
            let what = "`--set train.seed=…` and `--seeds` exclude each other";
            wrong.push(Diagnostic::error(Code::ConflictingKeys, what).help("give one of them"));
        }
    }
    wrong.into_result(()).map(drop)
}

/// All combinations of values, by their places.
fn combinations(settings: &[Setting]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for setting in settings {
        let with = |chosen: &Vec<usize>| {
            let chosen = chosen.clone();
            (0..setting.values.len()).map(move |i| [&chosen[..], &[i]].concat())
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The project of one combination, and how many steps it has.
fn ground(
    given: &Manifest,
    settings: &[Setting],
    chosen: &[usize],
    warnings: &mut Diagnostics,
) -> Result<(Project, u64), Diagnostics> {
    let mut name = given.source.name().to_string();
    let text = match settings.is_empty() {
        true => given.source.text().to_string(),
        false => {
            // It has been read once, so it is TOML.
            let document = Node::parse(given.source.text(), &BTreeMap::new());
            let mut document = document.unwrap_or_else(|| Node::Table(Vec::new()));
            let mut set = Vec::new();
            for (setting, &i) in settings.iter().zip(chosen) {
                put(&mut document, setting, setting.values[i].clone())?;
                set.push(format!("{}={}", setting.shown, setting.values[i].inline()));
            }
            name = format!("{name} with {}", set.join(" "));
            document.document()
        }
    };
    let (manifest, _) = Manifest::parse(Source::new(name, text), &given.dir)?;
    let mut found = Diagnostics::new();
    let project = Project::of(manifest, &mut found).ok_or_else(|| found.clone())?;
    // Once is enough.
    if warnings.is_empty() {
        warnings.extend(found);
    }
    let trainer = Trainer::new(project.clone(), &TrainOptions::default())?;
    Ok((project, trainer.total()))
}

/// The sections whose entries are there or not; that of axioms may get more.
const OF_ENTRIES: [&str; 6] = [
    "constants",
    "functions",
    "networks",
    "predicates",
    "sorts",
    "tables",
];

/// Sets a key of a document.
fn put(document: &mut Node, setting: &Setting, value: Node) -> Result<(), Diagnostic> {
    let Some((last, path)) = setting.key.split_last() else {
        return Ok(());
    };
    let mut at = document;
    for (depth, part) in path.iter().enumerate() {
        // Half a predicate more is not what anyone means.
        if let (Node::Table(entries), true) =
            (&*at, depth == 1 && OF_ENTRIES.contains(&path[0].as_str()))
            && !entries.iter().any(|(name, _)| name == part)
        {
            let what = format!(
                "`--set {}=…`: the manifest has no `{}.{part}`",
                setting.shown, path[0]
            );
            let known = entries.iter().map(|(name, _)| name.as_str());
            let error = Diagnostic::error(Code::UnknownKey, what);
            return Err(error.maybe_help(did_you_mean(part, known)));
        }
        at = at.section(part);
        // `semantics = "logltn"` is short for a table.
        if depth == 0 && part == "semantics" && matches!(at, Node::Leaf(_)) {
            *at = Node::table([("base", at.clone())]);
        }
        if !matches!(at, Node::Table(_)) {
            let key = setting.key[..=depth].join(".");
            let what = format!(
                "`--set {}=…`: `{key}` is not a table of keys",
                setting.shown
            );
            return Err(Diagnostic::error(Code::UnknownKey, what));
        }
    }
    at.set(last, value);
    Ok(())
}

/// The name of a run's folder: `learning_rate=0.01,seed=3`.
fn name(settings: &[Setting], chosen: &[usize], seed: Option<u64>) -> String {
    let mut parts = Vec::new();
    for (setting, &i) in settings.iter().zip(chosen) {
        let alone = settings
            .iter()
            .filter(|other| other.last() == setting.last())
            .count()
            == 1;
        let key = if alone {
            setting.last()
        } else {
            &setting.shown
        };
        parts.push(format!(
            "{key}={}",
            setting.values[i].inline().replace('"', "")
        ));
    }
    parts.extend(seed.map(|seed| format!("seed={seed}")));
    let name = match parts.is_empty() {
        true => "run".to_string(),
        false => parts.join(","),
    };
    let plain = |c: char| match c.is_alphanumeric() || "=,.+-_[]".contains(c) {
        true => c,
        false => '_',
    };
    name.replace(", ", ",")
        .chars()
        .map(plain)
        .take(120)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_toml_or_words() {
        let setting = Setting::parse("predicates.C.network.mlp=[16, 16],[8]").expect("a setting");
        assert_eq!(setting.key, ["predicates", "C", "network", "mlp"]);
        assert_eq!(setting.values.len(), 2);
        assert_eq!(setting.values[0].inline(), "[16, 16]");
        let setting = Setting::parse("semantics=logltn,\"stable\"").expect("a setting");
        assert_eq!(setting.values[0], Node::string("logltn"));
        assert_eq!(setting.values[1], Node::string("stable"));
        let setting = Setting::parse("axioms.\"a[b.c]\".weight=1,2.5").expect("a setting");
        assert_eq!(setting.key, ["axioms", "a[b.c]", "weight"]);
        for wrong in [
            "train.steps",
            "=3",
            "train.steps=",
            "train.steps=1,,2",
            "a=1,1",
            "a b=1",
        ] {
            assert!(Setting::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn folders_have_plain_names() {
        let settings = ["train.learning_rate=0.1,1e-3", "sorts.A.file=a/b.csv"];
        let settings: Vec<Setting> = (settings.iter())
            .map(|text| Setting::parse(text).expect("a setting"))
            .collect();
        assert_eq!(combinations(&settings), [[0, 0], [1, 0]]);
        let name = name(&settings, &[1, 0], Some(3));
        assert_eq!(name, "learning_rate=1e-3,file=a_b.csv,seed=3");
    }
}
