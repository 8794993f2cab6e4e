//! `[train]`: how long, with which optimizer.

use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::{Length, Optimizer, Schedule, Spanned, Training};

use super::evaluate::Evaluate;
use super::reader::{Item, Problems, at_most_one, quoted_list};
use super::schedule::{End, read_schedule};
use super::symbols::flatten;

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct Train {
    /// One after the other; a plain `steps` or `epochs` is a single one. Empty if the manifest does not say
    /// how long.
    pub phases: Vec<Phase>,
    /// How gradients become steps.
    pub optimizer: Optimizer,
    /// Over the whole training, phases included.
    pub learning_rate: Spanned<Schedule>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// The largest norm of a gradient, if it is clipped.
    pub clip_norm: Option<f64>,
    /// How many steps between checkpoints.
    pub checkpoint_every: Option<u64>,
    /// When to stop early.
    pub early_stop: Option<EarlyStop>,
    /// The weights to begin with, instead of random ones.
    pub start: Option<Start>,
    /// What does not move: predicates, functions, sorts and constants by name, `networks.NAME`.
    pub freeze: Vec<Spanned<String>>,
}

/// `start = { run = "runs/a", only = ["C"] }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The directory of the run that has the weights.
    pub run: Spanned<PathBuf>,
    /// Which of them; `None` is all that have the same name and shape.
    pub only: Option<Vec<Spanned<String>>>,
}

/// A part of the training in which only some axioms count.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its place.
    pub span: Span,
    /// How long.
    pub length: Length,
    /// The axioms that count; `None` is all. A family goes by its name, a member by `name[individual]`.
    pub axioms: Option<Vec<Spanned<String>>>,
}

/// `early_stop = { metric = "accuracy", patience = 10 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStop {
    /// The [label](super::Metric::label) of a metric, or its kind.
    pub metric: Spanned<String>,
    /// How many evaluations without a better value.
    pub patience: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum OptimizerName {
    Adam,
    SparseAdam,
    AdamW,
    Sgd,
}

impl Default for Train {
    fn default() -> Train {
        Train {
            phases: Vec::new(),
            optimizer: Optimizer::Adam,
            learning_rate: Spanned::new(
                Schedule::constant(Training::LEARNING_RATE),
                Span::default(),
            ),
            seed: 0,
            clip_norm: None,
            checkpoint_every: None,
            early_stop: None,
            start: None,
            freeze: Vec::new(),
        }
    }
}

const FOREVER: u64 = i64::MAX as u64;

impl Train {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Train> {
        let mut table = item.table(problems, "a table")?;
        let default = Train::default();
        let (steps, epochs, phases) = (
            table.take("steps"),
            table.take("epochs"),
            table.take("phases"),
        );
        let optimizer = table.take("optimizer");
        let learning_rate = table
            .take("learning_rate")
            .map(|item| read_schedule(&item, problems, rate));
        let seed = table
            .take("seed")
            .map(|item| item.whole(problems, 0, u64::MAX));
        let (momentum, weight_decay) = (table.take("momentum"), table.take("weight_decay"));
        let clip_norm = table
            .take("clip_norm")
            .map(|item| item.number_where(problems, "greater than 0", |n| n > 0.0));
        let checkpoint_every = table
            .take("checkpoint_every")
            .map(|item| item.whole(problems, 1, FOREVER));
        let early_stop = table
            .take("early_stop")
            .map(|item| EarlyStop::read(&item, problems));
        let start = table.take("start").map(|item| Start::read(&item, problems));
        let freeze = table
            .take("freeze")
            .map(|item| item.names(problems, "an array of names of what is learnt"));
        table.finish(problems);

        if steps.is_none() && epochs.is_none() && phases.is_none() {
            problems.push(
                item.key,
                "how long?",
                Diagnostic::warning(
                    Code::NoTrainingLength,
                    "`train` does not say how long to train",
                )
                .help("add `steps = 1000` or `epochs = 10`, or give `--steps` on the command line"),
            );
        }
        let phases = read_phases(steps, epochs, phases, problems);
        let optimizer = read_optimizer(optimizer, momentum, weight_decay, problems);
        Some(Train {
            phases: phases?,
            optimizer: optimizer?,
            learning_rate: flatten(learning_rate)?.unwrap_or(default.learning_rate),
            seed: flatten(seed)?.map_or(default.seed, |s| s.value),
            clip_norm: flatten(clip_norm)?.map(|n| n.value),
            checkpoint_every: flatten(checkpoint_every)?.map(|n| n.value),
            early_stop: flatten(early_stop)?,
            start: flatten(start)?,
            freeze: flatten(freeze)?.unwrap_or_default(),
        })
    }

    /// The metric to stop by must be among those that are evaluated.
    pub(super) fn check_early_stop(
        &self,
        evaluate: Option<&Evaluate>,
        problems: &mut Problems<'_>,
    ) {
        let Some(stop) = &self.early_stop else {
            return;
        };
        let metrics = evaluate.map_or(&[][..], |e| &e.metrics);
        let matching = |m: &&super::Metric| {
            m.label() == stop.metric.value || m.kind.name() == stop.metric.value
        };
        let labels: Vec<String> = metrics.iter().map(super::Metric::label).collect();
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

fn read_phases(
    steps: Option<Item<'_>>,
    epochs: Option<Item<'_>>,
    phases: Option<Item<'_>>,
    problems: &mut Problems<'_>,
) -> Option<Vec<Phase>> {
    let one = at_most_one(problems, "train", &[&steps, &epochs, &phases]);
    let Some(phases) = phases else {
        let length = read_length(steps.as_ref(), epochs.as_ref(), problems);
        let given = steps.or(epochs);
        return match given {
            None => Some(Vec::new()),
            Some(item) => Some(vec![Phase {
                span: item.span,
                length: length.filter(|_| one)?,
                axioms: None,
            }]),
        };
    };
    let what = "an array of phases such as [{ steps = 100, axioms = [\"a\"] }, { steps = 900 }]";
    let read = phases.list(problems, what, read_phase)?;
    if phases.is_empty_array() {
        problems.error(
            Code::EmptyValue,
            phases.span,
            "`train.phases` is empty: expected at least one phase",
        );
    }
    one.then_some(read)
}

fn read_phase(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Phase> {
    let mut table = item.table(
        problems,
        "a phase such as { steps = 100, axioms = [\"a\"] }",
    )?;
    let (steps, epochs) = (table.take("steps"), table.take("epochs"));
    let axioms = table
        .take("axioms")
        .map(|item| item.names(problems, "an array of names of axioms"));
    let span = table.span;
    table.finish(problems);
    let one = at_most_one(problems, &item.path, &[&steps, &epochs]);
    if steps.is_none() && epochs.is_none() {
        problems.push(
            span,
            "how long?",
            Diagnostic::error(
                Code::NoTrainingLength,
                format!("`{}` has neither `steps` nor `epochs`", item.path),
            )
            .help("add `steps = 100`"),
        );
    }
    let length = read_length(steps.as_ref(), epochs.as_ref(), problems);
    Some(Phase {
        span,
        length: length.filter(|_| one)?,
        axioms: flatten(axioms)?,
    })
}

fn read_length(
    steps: Option<&Item<'_>>,
    epochs: Option<&Item<'_>>,
    problems: &mut Problems<'_>,
) -> Option<Length> {
    let steps = steps.map(|item| item.whole(problems, 1, FOREVER));
    let epochs = epochs.map(|item| item.whole(problems, 1, FOREVER));
    let steps = steps.map(|n| n.map(|n| Length::Steps(n.value)));
    let epochs = epochs.map(|n| n.map(|n| Length::Epochs(n.value)));
    steps.or(epochs)?
}

fn read_optimizer(
    name: Option<Item<'_>>,
    momentum: Option<Item<'_>>,
    weight_decay: Option<Item<'_>>,
    problems: &mut Problems<'_>,
) -> Option<Optimizer> {
    let choices = [
        ("adam", OptimizerName::Adam),
        ("sparse_adam", OptimizerName::SparseAdam),
        ("adamw", OptimizerName::AdamW),
        ("sgd", OptimizerName::Sgd),
    ];
    let chosen = match name {
        Some(item) => item.one_of(problems, &choices).map(|name| name.value),
        None => Some(OptimizerName::Adam),
    };
    let momentum_value = momentum.as_ref().map(|item| {
        item.number_where(problems, "at least 0 and less than 1", |m| {
            (0.0..1.0).contains(&m)
        })
    });
    let decay_value = weight_decay
        .as_ref()
        .map(|item| item.number_where(problems, "at least 0", |d| d >= 0.0));
    let chosen = chosen?;
    let misplaced = [
        (
            momentum,
            matches!(chosen, OptimizerName::Sgd),
            "`optimizer = \"sgd\"`",
        ),
        (
            weight_decay,
            !matches!(chosen, OptimizerName::Adam | OptimizerName::SparseAdam),
            "`optimizer = \"adamw\"` or `\"sgd\"`",
        ),
    ];
    for (item, fits, owners) in misplaced {
        if let (Some(item), false) = (item, fits) {
            problems.push(
                item.key,
                "not used by this optimizer",
                Diagnostic::error(
                    Code::ConflictingKeys,
                    format!("`{}` goes with {owners} only", item.path),
                ),
            );
        }
    }
    let momentum = flatten(momentum_value)?.map(|m| m.value);
    let weight_decay = flatten(decay_value)?.map(|d| d.value);
    Some(match chosen {
        OptimizerName::Adam => Optimizer::Adam,
        OptimizerName::SparseAdam => Optimizer::SparseAdam,
        OptimizerName::AdamW => Optimizer::AdamW {
            weight_decay: weight_decay.unwrap_or(0.01),
        },
        OptimizerName::Sgd => Optimizer::Sgd {
            momentum: momentum.unwrap_or(0.0),
            weight_decay: weight_decay.unwrap_or(0.0),
        },
    })
}

impl Start {
    fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Start> {
        let what = "a table such as { run = \"runs/a\" } or { run = \"runs/a\", only = [\"C\"] }";
        let mut table = item.table(problems, what)?;
        let run = table.require(problems, "run", "\"runs/a\"");
        let only = table.take("only").map(|item| {
            let names = item.names(problems, "an array of names of what is learnt");
            if item.is_empty_array() {
                problems.error(
                    Code::EmptyValue,
                    item.span,
                    format!("`{}` is empty: nothing would be taken", item.path),
                );
            }
            names
        });
        table.finish(problems);
        let run = run.and_then(|item| item.string(problems, "the directory of a run"));
        let only = flatten(only)?;
        let run = run?;
        Some(Start {
            run: Spanned::new(PathBuf::from(run.value), run.span),
            only,
        })
    }
}

impl EarlyStop {
    fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<EarlyStop> {
        let mut table = item.table(
            problems,
            "a table such as { metric = \"accuracy\", patience = 10 }",
        )?;
        let metric = table.require(problems, "metric", "\"accuracy\"");
        let patience = table.require(problems, "patience", "10");
        table.finish(problems);
        let metric = metric.and_then(|item| item.string(problems, "a metric's name"));
        let patience = patience.and_then(|item| item.whole(problems, 1, FOREVER));
        Some(EarlyStop {
            metric: metric?,
            patience: patience?.value,
        })
    }
}
