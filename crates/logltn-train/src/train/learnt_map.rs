//! Which map of classes a run has learnt: its most frequent prediction for each true class.

use std::ops::ControlFlow;
use std::path::Path;

use std::time::{Duration, Instant};

use logltn::{Code, Diagnostic, Diagnostics, Identify};
use logltn_learn::largest;

use super::{Asking, Predictor, Trainer};
use crate::project::IdentifyOptions;

/// The value of a network for the individuals of each true class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearntMap {
    /// By true class: the most frequent prediction, the first of several; `None` if no individual has the class.
    pub map: Vec<Option<u32>>,
    /// How many individuals agree with the map.
    pub agreeing: u64,
    /// How many there are.
    pub individuals: u64,
}

impl LearntMap {
    /// The share of individuals that agree with the map.
    pub fn share(&self) -> f64 {
        self.agreeing as f64 / self.individuals.max(1) as f64
    }

    /// Whether it is right for every class that occurs.
    pub fn is_identity(&self) -> bool {
        let right = |(k, to): (usize, &Option<u32>)| to.is_none_or(|to| to as usize == k);
        self.map.iter().enumerate().all(right)
    }

    /// From counts by true and predicted class.
    pub fn of(counts: &[Vec<u64>]) -> LearntMap {
        let mut learnt = LearntMap {
            map: Vec::with_capacity(counts.len()),
            agreeing: 0,
            individuals: counts.iter().flatten().sum(),
        };
        for said in counts {
            let most = said.iter().copied().max().unwrap_or(0);
            learnt.agreeing += most;
            let class = said.iter().position(|n| *n == most);
            learnt
                .map
                .push(class.filter(|_| most > 0).map(|c| c as u32));
        }
        learnt
    }
}

/// The map that a run has learnt of a predicate's classes, by the labels of the manifest.
///
/// # Errors
/// If there are not labels that are its classes, or the run cannot be asked.
pub fn learnt_map(manifest: &Path, run: &Path, predicate: &str) -> Result<LearntMap, Diagnostics> {
    let symbols = [predicate.to_string()];
    let mut predictor = Predictor::load(&Asking {
        run: Some(run),
        given: Some(&[]),
        ..Asking::of(manifest, &symbols)
    })?;
    let labels = match predictor.project().theory().predicate(predicate) {
        Some(id) => (predictor.project()).class_labels(id, &mut Diagnostics::new())?,
        None => None,
    };
    let Some(labels) = labels else {
        let what = format!(
            "which classes `{predicate}` has learnt is known only with labels of its individuals"
        );
        return Err(Diagnostic::error(Code::NoLabels, what)
            .help("add `labels = { file = … }` to the sort in the manifest, for evaluation only")
            .into());
    };
    let mut counts: Vec<Vec<u64>> = Vec::new();
    predictor.each_block(None, |rows, said| {
        counts.resize(said.width, vec![0; said.width]);
        for (individual, (class, _)) in rows.iter().zip(said.classes()) {
            counts[labels[*individual as usize] as usize][class] += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok(LearntMap::of(&counts))
}

/// The classes that a training has learnt for a predicate, for a picture.
#[derive(Clone, Debug)]
pub struct Concepts {
    /// The predicate's name.
    pub predicate: String,
    /// The names of its classes.
    pub class_names: Vec<String>,
    /// By true class: how often each class is predicted.
    pub counts: Vec<Vec<u64>>,
    /// The resulting map.
    pub learnt: LearntMap,
    /// Whether the axioms allow that map; `None` if that takes too long to find out.
    pub allowed: Option<bool>,
}

/// More individuals than this add nothing.
const MOST_LOOKED_AT: usize = 10_000;

/// How long it may take to find out which maps the axioms allow.
const PATIENCE: Duration = Duration::from_secs(1);

impl Trainer {
    /// The predictions for each true class, for the predicates whose individuals have labels.
    ///
    /// # Errors
    /// If labels cannot be read.
    pub fn concepts(&mut self) -> Result<Vec<Concepts>, Diagnostics> {
        let mut found = Vec::new();
        for predicate in self.project.learnt_classes() {
            let labels = (self.project).class_labels(predicate, &mut Diagnostics::new());
            // Groups that a metric compares need not be classes.
            let groups = |errors: &Diagnostics| {
                (errors.iter()).all(|error| error.code() == Code::UnknownIndividual)
            };
            let labels = match labels {
                Err(errors) if groups(&errors) => None,
                other => other?,
            };
            let classes = Identify::sorts(self.project.theory(), predicate);
            let (Some(labels), Some((sort, _))) = (labels, classes) else {
                continue;
            };
            let looked_at: Vec<u32> = (0..labels.len().min(MOST_LOOKED_AT) as u32).collect();
            let Ok(logits) = (self.session.model_mut()).predict(predicate, &looked_at, 1) else {
                continue; // no network of ours
            };
            let count = self.project.data.size(sort);
            let mut counts = vec![vec![0; count]; count];
            for (row, label) in logits.chunks_exact(count.max(1)).zip(&labels) {
                counts[*label as usize][largest(row)] += 1;
            }
            let name = self.project.theory()[predicate].name.clone();
            let options = IdentifyOptions {
                predicate: Some(name.clone()),
                list: 0,
                until: Some(Instant::now() + PATIENCE),
                ..IdentifyOptions::default()
            };
            let learnt = LearntMap::of(&counts);
            let maps = self.project.identify(&options, &mut Diagnostics::new());
            let sort = &self.project.theory()[sort];
            found.push(Concepts {
                predicate: name,
                class_names: (0..count).map(|c| sort.individual_name(c)).collect(),
                counts,
                allowed: maps.ok().map(|maps| maps.allows(&learnt.map)),
                learnt,
            });
        }
        Ok(found)
    }
}

impl Concepts {
    /// What was learnt, in a sentence.
    pub fn sentence(&self) -> String {
        let name = |c: usize| &self.class_names[c];
        let moved = self.learnt.map.iter().enumerate().filter_map(|(k, to)| {
            let to = to.filter(|to| *to as usize != k)?;
            Some(format!("{} → {}", name(k), name(to as usize)))
        });
        let moved: Vec<String> = moved.collect();
        match (moved.is_empty(), self.allowed) {
            (true, _) => "every class is mostly predicted correctly".to_string(),
            (_, Some(true)) => {
                format!("a shortcut that no axiom notices: {}", moved.join(", "))
            }
            (_, Some(false)) => {
                format!(
                    "not a shortcut, since axioms are broken: {}",
                    moved.join(", ")
                )
            }
            (_, None) => moved.join(", "),
        }
    }
}
