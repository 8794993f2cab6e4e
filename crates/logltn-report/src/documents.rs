//! What the page receives about a run: its line in the list, and its overall facts.

use std::collections::BTreeMap;

use logltn::theory::Axiom;
use logltn::{Source, Theory};
use logltn_train::run_directory::{RunInfo, StepRecord};
use serde::Serialize;
use serde_json::{Value, json};

use super::picture::Picture;

/// A run's line in the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListedRun {
    /// The folder, as seen from the folder of all runs.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// `running`, `silent` (it should be running, but gives no sign of life), `finished`, `interrupted`, `failed`, or
    /// `unreadable`.
    pub state: String,
    /// Why, where the state alone does not say.
    pub reason: String,
    /// Where its randomness comes from; as text, since numbers of JavaScript have fewer digits.
    pub seed: String,
    /// What connectives mean.
    pub semantics: String,
    /// Whether truths are logs.
    pub logs: bool,
    /// When it began.
    pub started: String,
    /// When its state last changed.
    pub updated: String,
    /// How many steps are done.
    pub step: u64,
    /// Of how many.
    pub total: Option<u64>,
    /// How many seconds are left, at the pace of the last steps.
    pub left: Option<f64>,
    /// The newest loss.
    pub loss: Option<f64>,
    /// The newest satisfaction: a log if `logs`.
    pub sat: Option<f64>,
    /// Whether both are of the whole theory with the last weights, not of the last step and its batch.
    pub whole: bool,
    /// The newest value of each metric; for a finished run, those of its saved weights.
    pub metrics: Vec<(String, f64)>,
    /// The step that these weights are of, where that is not the last.
    pub kept: Option<u64>,
    /// The same in runs that differ in the seed only; empty if that is not known.
    pub group: String,
    /// Changes whenever the records do.
    pub version: String,
}

impl ListedRun {
    /// What `run.json` says of it.
    pub fn new(id: &str, info: &RunInfo) -> ListedRun {
        let whole = info.whole.as_ref().and_then(|whole| whole.last.as_ref());
        let kept = info.kept.as_ref();
        ListedRun {
            kept: kept.map(|kept| kept.step),
            metrics: kept.map_or(Vec::new(), |kept| kept.metrics.clone()),
            whole: whole.is_some(),
            loss: whole.map(|last| last.loss),
            sat: whole.map(|last| last.sat),
            id: id.to_string(),
            title: info.title.clone(),
            state: info.status.word().to_string(),
            reason: info.reason.clone(),
            seed: info.seed.to_string(),
            semantics: info.semantics.clone(),
            logs: info.logs.unwrap_or(false),
            started: info.started.clone(),
            updated: info.updated.clone(),
            step: info.steps.unwrap_or(0),
            total: info.total,
            ..ListedRun::default()
        }
    }

    /// Takes over what a record says.
    pub fn see(&mut self, record: &StepRecord) {
        let known = |x: f64| x.is_finite().then_some(x);
        self.step = record.step;
        if !self.whole {
            (self.loss, self.sat) = (known(record.loss), known(record.sat));
        }
        if self.kept.is_some() {
            return;
        }
        for (name, value) in &record.metrics {
            match self.metrics.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) => *old = *value,
                None => self.metrics.push((name.clone(), *value)),
            }
        }
    }
}

/// What is known of a run as a whole, in the form that the page reads.
///
/// `told` is what [`told_by_key`](logltn_train::train::told_by_key) says.
pub fn details(
    info: &RunInfo,
    theory: &str,
    told: &BTreeMap<String, Value>,
    pictures: &[Picture],
) -> Value {
    let parsed = Theory::parse(Source::new("theory.ltn", theory)).ok();
    // The members of a family have one formula, which is written once.
    let mut formulas = BTreeMap::new();
    for axiom in parsed.iter().flat_map(|theory| &theory.axioms) {
        let theory = parsed.as_ref();
        formulas.insert(&axiom.name[..], theory.map(|theory| forms(theory, axiom)));
    }
    let axioms: Vec<Value> = (info.axioms.iter())
        .map(|axiom| {
            json!({
                "name": axiom.name,
                "family": axiom.name.split('[').next(),
                "weight": (!axiom.hard).then_some(axiom.weight),
                "groundings": axiom.groundings,
            })
        })
        .collect();
    json!({
        "facts": facts(info),
        "axioms": axioms,
        "formulas": formulas,
        "theory": theory,
        "told": told,
        "pictures": pictures,
    })
}

/// A formula as it is written, and as it is evaluated in log space.
fn forms(theory: &Theory, axiom: &Axiom) -> Value {
    let nnf = axiom.formula.nnf().map(|nnf| theory.show(axiom, &nnf));
    json!({
        "written": theory.source.slice(axiom.formula.span),
        "normal": nnf,
        "shown": theory.show(axiom, &axiom.formula),
    })
}

fn facts(info: &RunInfo) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.to_string(), value));
        }
    };
    fact("semantics", info.semantics.clone());
    fact("seed", info.seed.to_string());
    fact("started", info.started.clone());
    fact("updated", info.updated.clone());
    fact("command", info.command.join(" "));
    for (name, version) in &info.versions {
        fact(name, version.clone());
    }
    if let Some(kept) = &info.kept {
        let done = info.steps.unwrap_or(kept.step);
        fact(
            "early stopping",
            kept.sentence(done, info.total.unwrap_or(done)),
        );
        fact("weights", format!("those of step {}", kept.step));
    }
    if let Some(start) = &info.start {
        fact("began with the weights of", start.run.clone());
    }
    for (name, what) in &info.model {
        fact(name, what.clone());
    }
    facts
}
