//! What a task of the paper must bring along to get a table.

use std::collections::BTreeMap;
use std::path::Path;

use logltn::Diagnostics;

use super::configuration::with_prob;
use super::jobs::{Found, Progress};
use super::published::Other;
use super::record::{Job, RunRecord};
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

/// A task of the paper.
pub(super) trait Experiment: Sync {
    /// What the figures are of.
    fn metrics(&self) -> &'static [Metric];
    /// What data it has.
    fn data(&self) -> DataKind;
    /// What data these are, in words, with their place.
    fn data_title(&self) -> String;
    /// The rows of its table, in order.
    fn configurations(&self) -> Vec<Configuration> {
        with_prob(&CONFIGURATIONS)
    }
    /// The sizes of training data; a task with only one has `None`.
    fn samples(&self) -> Vec<Option<usize>> {
        vec![None]
    }
    /// How many runs of each configuration, if that is not the same for all data.
    fn runs(&self) -> Option<usize> {
        None
    }
    /// The most runs at once, if memory would not do for one on each core.
    fn at_once(&self) -> Option<usize> {
        None
    }
    /// Whether a configuration is left out unless it is asked for by its name.
    fn only_if_asked(&self, configuration: Configuration) -> bool {
        [LOGLTN_PROB, PROBABILITY].contains(&configuration)
    }
    /// How many digits the numbers have that are added up on so much data, in the task of that kind.
    fn digits(&self, _samples: Option<usize>) -> Option<usize> {
        None
    }
    /// What the runs on so much data are of, where that has a name.
    fn part(&self, _samples: Option<usize>) -> Option<&'static str> {
        None
    }
    /// What other systems are reported to reach on the very same data.
    fn others(&self, _metric: &str) -> Vec<Other> {
        Vec::new()
    }
    /// Where that was read.
    fn sources(&self) -> Vec<String> {
        Vec::new()
    }
    /// Everything that results depend on, apart from configuration, samples and seed.
    fn settings(&self) -> BTreeMap<String, String>;
    /// How many steps a run has.
    fn steps(&self, samples: Option<usize>) -> u64;
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
