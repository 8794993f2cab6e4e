//! `[train]`: duration and optimizer.

use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::{Length, Optimizer, Spanned, Training};

use super::evaluate::Evaluate;
use super::reader::{Item, Problems, Table, quoted_list};
use super::schedule::{End, read_schedule};

/// How to train.
#[derive(Clone, Debug, Default)]
pub struct Train {
    /// What a session takes as it is said here: optimizer, learning rate, seed and the like.
    pub settings: Training,
    /// Where the learning rate is given, if it is.
    pub learning_rate: Option<Span>,
    /// One after the other; a plain `steps` or `epochs` is a single one. Empty if the manifest does not say
    /// how long.
    pub phases: Vec<Phase>,
    /// How many steps between checkpoints.
    pub checkpoint_every: Option<u64>,
    /// When to stop early.
    pub early_stop: Option<EarlyStop>,
    /// The weights to begin with, instead of random ones.
    pub start: Option<Start>,
    /// What is not trained: predicates, functions, sorts and constants by name, `networks.NAME`.
    pub freeze: Vec<Spanned<String>>,
    /// The time limit, in seconds, for compiling events under `probability`.
    pub compile_seconds: Option<f64>,
}

/// `start = { run = "runs/a", only = ["C"] }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The directory of the run that has the weights.
    pub run: Spanned<PathBuf>,
    /// Which of them; `None` means all that have the same name and shape.
    pub only: Option<Vec<Spanned<String>>>,
}

/// A part of the training in which only some axioms count.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its place.
    pub span: Span,
    /// How long.
    pub length: Length,
    /// The axioms that count; `None` means all. A family is listed by its name, a member as
    /// `name[individual]`.
    pub axioms: Option<Vec<Spanned<String>>>,
}

/// `early_stop = { metric = "accuracy", patience = 10 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStop {
    /// The [label](super::MetricSpec::label) of a metric, or its kind.
    pub metric: Spanned<String>,
    /// How many evaluations without a better value.
    pub patience: u64,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum OptimizerName {
    Adam,
    SparseAdam,
    AdamW,
    Sgd,
}

pub(super) const OPTIMIZERS: [(&str, OptimizerName); 4] = [
    ("adam", OptimizerName::Adam),
    ("sparse_adam", OptimizerName::SparseAdam),
    ("adamw", OptimizerName::AdamW),
    ("sgd", OptimizerName::Sgd),
];

impl Train {
    pub(super) fn read(item: &Item<'_>) -> Option<Train> {
        let mut table = item.table()?;
        let default = Training::default();
        let [steps, epochs, phases] = ["steps", "epochs", "phases"].map(|key| table.take(key));
        if steps.is_none() && epochs.is_none() && phases.is_none() {
            let what = "`train` does not say how long to train";
            let warning = Diagnostic::warning(Code::NoTrainingLength, what)
                .help("add `steps = 1000` or `epochs = 10`, or give `--steps` on the command line");
            item.problems.push(item.key, "how long?", warning);
        }
        let learning_rate = table.read("learning_rate", |item| read_schedule(item, rate));
        let place = learning_rate.as_ref().map(|rate| rate.span);
        let phases = read_phases(&mut table, phases);
        let train = Train {
            settings: Training {
                optimizer: read_optimizer(&mut table),
                learning_rate: learning_rate.map_or(default.learning_rate, |rate| rate.value),
                seed: table.whole("seed").unwrap_or(default.seed),
                clip_norm: table.number("clip_norm"),
                entropy: table.number("entropy").unwrap_or(default.entropy),
                ..default
            },
            learning_rate: place,
            phases,
            checkpoint_every: table.whole("checkpoint_every"),
            early_stop: table.read("early_stop", EarlyStop::read),
            start: table.read("start", Start::read),
            freeze: (table.names("freeze")).map_or(Vec::new(), |names| names.value),
            compile_seconds: table.number("compile_seconds"),
        };
        table.end()?;
        Some(train)
    }

    /// The metric to stop by must be among those that are evaluated.
    pub(super) fn check_early_stop(&self, evaluate: Option<&Evaluate>, problems: &Problems<'_>) {
        let Some(stop) = &self.early_stop else {
            return;
        };
        let metrics = evaluate.map_or(&[][..], |e| &e.metrics);
        let matching = |m: &&super::MetricSpec| {
            m.label() == stop.metric.value || m.kind.name() == stop.metric.value
        };
        let labels: Vec<String> = metrics.iter().map(super::MetricSpec::label).collect();
        let known = quoted_list(labels.iter().map(String::as_str));
        let diagnostic = match metrics.iter().filter(matching).count() {
            1 => return,
            0 if metrics.is_empty() => Diagnostic::error(
                Code::UnknownMetric,
                "`train.early_stop` needs metrics, but none are evaluated",
            )
            .help("list some in `[evaluate]` under `metrics`"),
            0 => Diagnostic::error(
                Code::UnknownMetric,
                format!(
                    "`train.early_stop`: no metric is called `{}`",
                    stop.metric.value
                ),
            )
            .note(format!("metrics: {known}"))
            .maybe_help(logltn::did_you_mean(
                &stop.metric,
                labels.iter().map(String::as_str),
            )),
            n => Diagnostic::error(
                Code::UnknownMetric,
                format!(
                    "`train.early_stop`: {n} metrics are called `{}`",
                    stop.metric.value
                ),
            )
            .help(format!("say which: {known}")),
        };
        problems.push(stop.metric.span, "which metric?", diagnostic);
    }
}

/// A learning rate may fall to 0 at the very end.
fn rate(value: f64, end: End) -> Result<(), &'static str> {
    match end {
        _ if !(value as f32).is_finite() => Err("a number that single precision can hold"),
        End::To if value < 0.0 => Err("at least 0"),
        End::From if value <= 0.0 => Err("greater than 0"),
        _ => Ok(()),
    }
}

/// Plain `steps` or `epochs` are a single phase.
fn read_phases(table: &mut Table<'_>, phases: Option<Item<'_>>) -> Vec<Phase> {
    let Some(phases) = phases else {
        let length = read_length(table);
        let phase = |(length, span)| Phase {
            span,
            length,
            axioms: None,
        };
        return length.map(phase).into_iter().collect();
    };
    if phases.is_empty_array() {
        phases.refuse_empty("expected at least one phase");
    }
    let phases = table.read("phases", |phases| phases.list(read_phase));
    phases.unwrap_or_default()
}

fn read_phase(item: &Item<'_>) -> Option<Phase> {
    let mut table = item.table()?;
    let [steps, epochs] = ["steps", "epochs"].map(|key| table.take(key));
    let axioms = table.names("axioms");
    let span = table.span;
    if steps.is_none() && epochs.is_none() {
        let what = format!("`{}` has neither `steps` nor `epochs`", item.path);
        let error = Diagnostic::error(Code::NoTrainingLength, what).help("add `steps = 100`");
        item.problems.push(span, "how long?", error);
    }
    let length = read_length(&mut table);
    table.end()?;
    Some(Phase {
        span,
        length: length?.0,
        axioms: axioms.map(|axioms| axioms.value),
    })
}

/// `steps` or `epochs`, and its place.
fn read_length(table: &mut Table<'_>) -> Option<(Length, Span)> {
    let mut read = |key| table.read(key, Item::whole);
    let steps = read("steps").map(|n| (Length::Steps(n.value), n.span));
    let epochs = read("epochs").map(|n| (Length::Epochs(n.value), n.span));
    steps.or(epochs)
}

fn read_optimizer(table: &mut Table<'_>) -> Optimizer {
    let given = ["optimizer", "momentum", "weight_decay"].map(|key| table.take(key));
    let chosen = table.read("optimizer", |item| item.one_of(&OPTIMIZERS));
    let momentum = table.number("momentum");
    let weight_decay = table.number("weight_decay");
    let [name, momentum_item, decay_item] = given;
    let Some(chosen) = (match name {
        Some(_) => chosen.map(|name| name.value),
        None => Some(OptimizerName::Adam),
    }) else {
        return Optimizer::Adam;
    };
    let decays = matches!(chosen, OptimizerName::AdamW | OptimizerName::Sgd);
    for (item, fits, owners) in [
        (
            momentum_item,
            chosen == OptimizerName::Sgd,
            "`optimizer = \"sgd\"`",
        ),
        (decay_item, decays, "`optimizer = \"adamw\"` or `\"sgd\"`"),
    ] {
        if let (Some(item), false) = (item, fits) {
            let what = format!("`{}` goes with {owners} only", item.path);
            item.misplaced("not used by this optimizer", what, "");
        }
    }
    match chosen {
        OptimizerName::Adam => Optimizer::Adam,
        OptimizerName::SparseAdam => Optimizer::SparseAdam,
        OptimizerName::AdamW => Optimizer::AdamW {
            weight_decay: weight_decay.unwrap_or(0.01),
        },
        OptimizerName::Sgd => Optimizer::Sgd {
            momentum: momentum.unwrap_or(0.0),
            weight_decay: weight_decay.unwrap_or(0.0),
        },
    }
}

impl Start {
    fn read(item: &Item<'_>) -> Option<Start> {
        let mut table = item.table()?;
        let run = table.require("run", "\"runs/a\"");
        let only = table.names("only");
        if let Some(only) = table.take("only").filter(Item::is_empty_array) {
            only.refuse_empty("nothing would be taken");
        }
        let run = run.and_then(|item| item.string("the directory of a run"));
        table.end()?;
        let run = run?;
        Some(Start {
            run: Spanned::new(PathBuf::from(run.value), run.span),
            only: only.map(|only| only.value),
        })
    }
}

impl EarlyStop {
    fn read(item: &Item<'_>) -> Option<EarlyStop> {
        let mut table = item.table()?;
        let metric = table.require("metric", "\"accuracy\"");
        let patience = table.require("patience", "10");
        table.end();
        let metric = metric.and_then(|item| item.text());
        let patience = patience.and_then(|item| item.whole());
        Some(EarlyStop {
            metric: metric?,
            patience: patience?.value,
        })
    }
}
