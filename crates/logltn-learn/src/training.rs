//! How to train: how long, with which optimizer, on which rows.

use std::collections::BTreeMap;

use logltn::Semantics;

use crate::axioms::AxiomSettings;
use crate::measure::Metric;
use crate::schedule::{Schedule, Schedules};

/// The most steps of a training: at a microsecond each they take eleven days.
pub const MOST_STEPS: u64 = 1_000_000_000_000;

/// How to train.
#[derive(Clone, Debug)]
pub struct Training {
    /// What the connectives and quantifiers mean.
    pub semantics: Semantics,
    /// α, p and p_forall.
    pub schedule: Schedules,
    /// One after the other.
    pub phases: Vec<Phase>,
    /// How gradients become steps.
    pub optimizer: Optimizer,
    /// Over the whole training, phases included.
    pub learning_rate: Schedule,
    /// The largest norm of a gradient, if it is clipped.
    pub clip_norm: Option<f64>,
    /// The weight of a term by which all classes of each softmax are used in a step: the entropy of the mean of what is said
    /// of its rows, in nats, times this, is taken from the loss.
    pub entropy: f64,
    /// The weight of a term by which each row of a softmax is decided, by predicate: the mean of the entropies of what is
    /// said of its rows, in nats, times this, is added to the loss.
    pub crisp: BTreeMap<String, f64>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// What is set for single axioms.
    pub axioms: BTreeMap<String, AxiomSettings>,
    /// What is not trained: predicates, functions, sorts and constants by name, `networks.NAME`.
    pub freeze: Vec<String>,
    /// How many rows of a table each step draws, for those tables of which it is not all.
    pub batches: BTreeMap<String, usize>,
    /// How many individuals of a sort quantifiers see in each step, for those sorts of which it is not all.
    pub samples: BTreeMap<String, usize>,
    /// From this many rows on, nothing is kept for each row of a table that has a batch: see [`LargeTables`](crate::LargeTables).
    pub large_from: usize,
    /// What is measured.
    pub metrics: Vec<Metric>,
    /// Every how many steps; `None`: at the end only.
    pub measure_every: Option<u64>,
    /// When to stop early.
    pub early_stop: Option<EarlyStop>,
}

impl Training {
    /// The learning rate where none is given. In 1,000 steps of 0.001 Adam moves a logit by 1 at most, too little for what
    /// is learnt without a network; ten times that is too much for some networks (docs/choosing.md).
    pub const LEARNING_RATE: f64 = 0.005;
}

impl Default for Training {
    fn default() -> Training {
        Training {
            semantics: Semantics::default(),
            schedule: Schedules::default(),
            phases: Vec::new(),
            optimizer: Optimizer::Adam,
            learning_rate: Schedule::from(Training::LEARNING_RATE),
            clip_norm: None,
            entropy: 0.0,
            crisp: BTreeMap::new(),
            seed: 0,
            axioms: BTreeMap::new(),
            freeze: Vec::new(),
            batches: BTreeMap::new(),
            samples: BTreeMap::new(),
            large_from: crate::large_tables::FROM,
            metrics: Vec::new(),
            measure_every: None,
            early_stop: None,
        }
    }
}

/// A part of the training in which only some axioms count.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// How long.
    pub length: Length,
    /// The axioms that count; `None` is all. A family goes by its name, a member by `name[individual]`.
    pub axioms: Option<Vec<String>>,
}

/// How long to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Steps of the optimizer.
    Steps(u64),
    /// Passes over the largest table that has batches.
    Epochs(u64),
}

/// How gradients become steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// Adam.
    Adam,
    /// Adam that moves only those rows of embedding tables that have a gradient in the step; everything else as [`Adam`](Optimizer::Adam)
    /// does.
    SparseAdam,
    /// Adam with decoupled weight decay.
    AdamW {
        /// At least 0.
        weight_decay: f64,
    },
    /// Gradient descent.
    Sgd {
        /// From 0 up to 1.
        momentum: f64,
        /// At least 0.
        weight_decay: f64,
    },
}

/// When to stop before the last step. [`Session::best`](crate::Session::best) knows the best parameters, and
/// [`Session::restore_best`](crate::Session::restore_best) puts them back.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStop {
    /// The label of a metric, or its kind.
    pub metric: String,
    /// After this many evaluations without a better value.
    pub patience: u64,
}
