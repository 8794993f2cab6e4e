//! What a task of the paper must bring along to get a table.

use std::collections::BTreeMap;
use std::path::Path;

use logltn::Diagnostics;

use super::configuration::with_prob;
use super::jobs::{Found, Progress};
use super::published::Other;
use super::record::{Job, Portion, RunRecord};
use super::{CONFIGURATIONS, Configuration, LOGLTN_PROB, PROBABILITY};

/// What data a task runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// The paper's.
    Real,
    /// Made up from figures of the paper's.
    StandIn,
    /// The paper's annotations or scenes like them, with features that are drawn at random instead of computed from
    /// pictures.
    SimulatedFeatures,
}

impl DataKind {
    /// That of data whose place is known, and of their stand-in otherwise.
    pub(super) fn at<P>(place: &Option<P>) -> DataKind {
        match place {
            Some(_) => DataKind::Real,
            None => DataKind::StandIn,
        }
    }

    /// As in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            DataKind::Real => "real",
            DataKind::StandIn => "stand-in",
            DataKind::SimulatedFeatures => "simulated features",
        }
    }
}

/// A metric of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// As in `--json`.
    pub name: &'static str,
    /// As in a heading.
    pub title: &'static str,
    /// Digits after the point, as the paper shows it.
    pub digits: usize,
    /// Whether less is better, as of violations.
    pub smaller_is_better: bool,
}

impl Metric {
    pub(super) const fn greater(name: &'static str, title: &'static str, digits: usize) -> Metric {
        Metric {
            name,
            title,
            digits,
            smaller_is_better: false,
        }
    }

    pub(super) const fn smaller(name: &'static str, title: &'static str, digits: usize) -> Metric {
        Metric {
            smaller_is_better: true,
            ..Metric::greater(name, title, digits)
        }
    }
}

/// What is known of a task before its first run.
pub(super) struct About {
    /// What the figures are of.
    pub metrics: &'static [Metric],
    /// What data it has.
    pub data: DataKind,
    /// What data these are, in words, with their place.
    pub data_title: String,
    /// Everything that results depend on, apart from configuration, portion and seed.
    pub settings: BTreeMap<String, String>,
    /// The rows of its table, in order.
    pub configurations: Vec<Configuration>,
    /// Those of them that are left out unless they are asked for by name.
    pub only_if_asked: Vec<Configuration>,
    /// The sizes or parts of the data; a task with only one has the default.
    pub portions: Vec<Portion>,
    /// How many runs of each configuration, if that is not the same for all data.
    pub runs: Option<usize>,
    /// The most runs at once, if memory would not do for one on each core.
    pub at_once: Option<usize>,
    /// Where the figures of [`Experiment::others`] were read.
    pub sources: Vec<String>,
}

impl About {
    /// Of these data; configurations are the paper's.
    pub fn new<const N: usize>(
        metrics: &'static [Metric],
        data: DataKind,
        data_title: String,
        settings: [(&str, String); N],
    ) -> About {
        // Figures of different versions do not mix.
        let common = [
            ("version", env!("CARGO_PKG_VERSION").to_string()),
            ("data", data.name().to_string()),
        ];
        let settings = common.into_iter().chain(settings);
        About {
            metrics,
            data,
            data_title,
            settings: settings
                .map(|(key, value)| (key.to_string(), value))
                .collect(),
            configurations: with_prob(&CONFIGURATIONS),
            only_if_asked: vec![LOGLTN_PROB, PROBABILITY],
            portions: vec![Portion::default()],
            runs: None,
            at_once: None,
            sources: Vec::new(),
        }
    }

    /// With other rows, all of which are run.
    pub fn with_configurations(self, configurations: &[Configuration]) -> About {
        About {
            configurations: configurations.to_vec(),
            only_if_asked: Vec::new(),
            ..self
        }
    }
}

/// A task of the paper.
pub(super) trait Experiment: Sync {
    /// What it is about.
    fn about(&self) -> &About;
    /// What other systems are reported to reach on the very same data.
    fn others(&self, _metric: &str) -> Vec<Other> {
        Vec::new()
    }
    /// How many steps a run has.
    fn steps(&self, portion: Portion) -> u64;
    /// Reads the data that these runs need. Files of its own it writes to the folder.
    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics>;
    /// Does one run.
    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found;
    /// Draws what the paper draws, if it draws something, into the folder: titles and file names.
    fn draw(
        &self,
        _records: &[(Job, RunRecord)],
        _folder: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        Ok(Vec::new())
    }
}
