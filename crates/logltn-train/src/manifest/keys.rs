//! Every key of a manifest, defined once: its name, type, default and a description.
//!
//! The reader takes from this table what it expects and refuses: types, bounds, words, keys that exclude each other. So do `logltn
//! schema`, `docs/manifest.md` and the language server. A test reads manifests that visit every table, and fails if a key is not used.

use logltn::Semantics;
use logltn_data::ColumnKind;
use logltn_learn::{MOST_STEPS, MetricKind};
use serde_json::{Value, json};

use super::network::{CNNS, MAX_SIDE, MAX_WIDTH, layer_words};
use super::schedule::UNITS_OF_TIME;
use super::symbols::OUTPUTS;
use super::train::OPTIMIZERS;

/// The type of a key.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A string, with a description: `a column's name`.
    Text(&'static str),
    /// A path, relative to the manifest.
    File,
    /// `true` or `false`.
    Flag,
    /// A finite number.
    Number(Range),
    /// A whole number from one to another.
    Whole(u64, u64),
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// An array of one kind, with a description: `an array of metrics`.
    List(&'static str, &'static Kind),
    /// An array of a fixed length, with a description.
    Tuple(&'static str, &'static [Kind]),
    /// One of several kinds.
    Either(&'static [Kind]),
    /// A table with these keys.
    Table(&'static Group),
    /// A table whose keys are names of the theory, or chosen by the user.
    Named(&'static Kind),
}

/// Which numbers fit.
#[derive(Clone, Copy)]
pub struct Range {
    /// Completes "must be …".
    pub(super) words: &'static str,
    pub(super) fits: fn(f64) -> bool,
    least: Option<f64>,
}

impl Range {
    const ANY: Range = Range::new("a finite number", None, |_| true);
    const FROM_0: Range = Range::new("at least 0", Some(0.0), |x| x >= 0.0);
    /// The semantics says itself what does not fit.
    const EPS: Range = Range::new("a finite number", Some(0.0), |_| true);
    const ABOVE_0: Range = Range::new("greater than 0", None, |x| x > 0.0);
    const WEIGHT: Range = Range::new("at least 0 and finite", Some(0.0), |x| x >= 0.0);
    const PART: Range = Range::new("above 0 and below 1", Some(0.0), |x| x > 0.0 && x < 1.0);
    const BELOW_1: Range = Range::new("at least 0 and less than 1", Some(0.0), |x| {
        (0.0..1.0).contains(&x)
    });
    const DROPOUT: Range = Range::new("at least 0 and below 1", Some(0.0), |x| {
        (0.0..1.0).contains(&(x as f32))
    });
    const PERCENT: Range = Range::new("between 0 and 100", Some(0.0), |x| {
        (0.0..=100.0).contains(&x)
    });
    const SINGLE: Range = Range::new("a number that single precision can hold", None, |x| {
        (x as f32).is_finite()
    });
    const SCALE: Range = Range::new("above 0, as single precision can hold it", None, |x| {
        x as f32 > 0.0 && (x as f32).is_finite()
    });

    const fn new(words: &'static str, least: Option<f64>, fits: fn(f64) -> bool) -> Range {
        Range { words, fits, least }
    }
}

/// The keys of one table.
pub struct Group {
    /// Its name in the schema and in the documents.
    pub title: &'static str,
    /// What messages expect where it is not: `a table such as { rows = "rows.csv" }`.
    pub(super) expected: &'static str,
    /// Its keys, in the order of the documents.
    pub keys: &'static [Key],
    /// Keys of which at most one can be given.
    pub exclusive: &'static [&'static [&'static str]],
    /// The same, where the reader says why.
    pub explained: &'static [&'static [&'static str]],
}

/// One key.
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// The default, in Markdown; empty if obvious, `required` if it must be given.
    pub default: &'static str,
    /// What it is for, in Markdown.
    pub sentence: &'static str,
}

const REQUIRED: &str = "required";

const fn key(name: &'static str, kind: Kind, default: &'static str, sentence: &'static str) -> Key {
    Key {
        name,
        kind,
        default,
        sentence,
    }
}

const fn group(
    title: &'static str,
    expected: &'static str,
    exclusive: &'static [&'static [&'static str]],
    keys: &'static [Key],
) -> Group {
    Group {
        title,
        expected,
        keys,
        exclusive,
        explained: &[],
    }
}

use Kind::*;

/// Of things in memory.
const MANY: u64 = u32::MAX as u64;
const FOREVER: u64 = i64::MAX as u64;
const NAME: Kind = Text("a name");
const COLUMN: Kind = Text("a column's name");
const PART: Kind = Text("a part such as \"train\"");
const ARGS: Kind = List("an array of names such as [\"x\", \"y\"]", &NAME);
const COLUMNS: Kind = List("an array of columns' names such as [\"a\", \"b\"]", &COLUMN);
const ENDS: Kind = Tuple(
    "two numbers: [from, to]",
    &[Number(Range::ANY), Number(Range::ANY)],
);
const LEARNT: Kind = List("an array of names of what is learnt", &NAME);
const NETWORK_OR_NAME: Kind = Either(&[Table(&NETWORK), Text("the name of one in `[networks]`")]);
const NUMBER_OR_SCHEDULE: Kind = Either(&[Number(Range::ANY), Table(&SCHEDULE)]);

/// A whole manifest.
#[rustfmt::skip] // a table reads better than a column
pub static MANIFEST: Group = group("manifest", "a table", &[], &[
    key("theory", File, REQUIRED, "The theory that this manifest grounds."),
    key("semantics", Either(&[Choice(semantics), Table(&SEMANTICS)]), "`\"logltn\"`", "What the connectives and quantifiers mean."),
    key("sorts", Named(&Table(&SORT)), "", "Where the individuals of each sort come from."),
    key("tables", Named(&Table(&TABLE)), "", "Where the rows of each table come from."),
    key("params", Named(&Either(&[Number(Range::ANY), Table(&PERCENTILE)])), "", "The number behind each `param`; an integer stays one in guards."),
    key("predicates", Named(&Table(&PREDICATE)), "", "The grounding of each predicate."),
    key("functions", Named(&Table(&FUNCTION)), "", "The grounding of each function."),
    key("constants", Named(&Table(&CONSTANT)), "", "The grounding of each constant."),
    key("networks", Named(&Table(&NETWORK)), "", "Networks with names, which several predicates and functions can share."),
    key("axioms", Named(&Table(&AXIOM)), "", "Settings of single axioms; a family is listed by its name."),
    key("schedule", Table(&SCHEDULES), "", "α, p and p_forall during training."),
    key("train", Table(&TRAIN), "", "How long to train, and how."),
    key("evaluate", Table(&EVALUATE), "", "What is measured, and how often."),
]);

#[rustfmt::skip]
static SEMANTICS: Group = group("semantics", "a name such as \"logltn\", or { base = \"logltn\", or = \"max\" }", &[], &[
    key("base", Choice(semantics), "`\"logltn\"`", "The semantics to start from."),
    key("and", Choice(|| Semantics::choices("and")), "the base's", "The operator of `and` and `all`."),
    key("or", Choice(|| Semantics::choices("or")), "the base's", "The operator of `or` and `any`."),
    key("implies", Choice(|| Semantics::choices("implies")), "the base's", "The operator of `->`."),
    key("not", Choice(|| Semantics::choices("not")), "the base's", "The operator of `not`."),
    key("forall", Choice(|| Semantics::choices("forall")), "the base's", "The aggregator of `forall`."),
    key("exists", Choice(|| Semantics::choices("exists")), "the base's", "The aggregator of `exists`."),
    key("over_axioms", Choice(|| Semantics::choices("over_axioms")), "the base's", "The aggregator over the axioms."),
    key("stable_eps", Number(Range::EPS), "`1e-4`", "ε of the stable projections of the product operators; 0 switches them off."),
]);

#[rustfmt::skip]
static SORT: Group = group("sort", "a table with `features` or `individuals`", &[&["features", "individuals"], &["features", "learnable"]], &[
    key("features", Either(&[File, Table(&FEATURES)]), "", "A row of numbers for each individual: csv, npy, npz, safetensors, idx or idx.gz."),
    key("individuals", Either(&[File, List("a file of labels, or an array of names such as [\"ann\", \"bob\"]", &NAME)]), "", "The individuals' names: a file with one per line, or a list."),
    key("learnable", Whole(1, MAX_WIDTH), "", "Each individual has a trained vector of this length."),
    key("sample", Whole(1, MANY), "all", "How many individuals a quantifier sees in each training step."),
    key("labels", Table(&LABELS), "", "The true class of each individual, for evaluation only."),
    key("split", Table(&SPLIT), "", "Which individuals are for training and which for testing, for `part` elsewhere."),
]);

#[rustfmt::skip]
static SPLIT: Group = Group { explained: &[&["column", "test"], &["column", "valid"], &["column", "seed"], &["column", "by"]], ..group("split", "a table such as { test = 0.2 } or { column = \"split\" }", &[], &[
    key("column", COLUMN, "", "The column of the features' file that names the part of each."),
    key("test", Number(Range::PART), "none", "The share that is held out as `test`; the rest is `train`."),
    key("valid", Number(Range::PART), "none", "The share that is held out as `valid`."),
    key("seed", Whole(0, FOREVER), "`0`", "What the choice depends on."),
    key("by", COLUMN, "", "The column over whose values the parts are spread evenly; rows without a value are in `train`."),
]) };

#[rustfmt::skip]
static FEATURES: Group = Group { explained: &[&["columns", "except"]], ..group("features", "a file, or a table with `file`", &[], &[
    key("file", File, REQUIRED, "The file."),
    key("columns", List("an array of columns' names such as [\"age\", \"height\"]", &COLUMN), "all others", "The columns of a CSV file that are features, in this order."),
    key("names", COLUMN, "", "The column of a CSV file that names the individuals."),
    key("except", List("an array of columns' names such as [\"id\", \"price\"]", &COLUMN), "", "The columns of a CSV file that are not features."),
    key("prepare", Either(&[Flag, Named(&Choice(column_kinds))]), "`false`", "Numbers are scaled, categories, dates and missing cells become numbers; or what some columns are."),
]) };

#[rustfmt::skip]
static LABELS: Group = group("labels", "a table such as { file = \"labels.csv\", column = \"Class\" }", &[], &[
    key("file", File, REQUIRED, "The file."),
    key("column", COLUMN, "the only one", "The column of a CSV file."),
]);

#[rustfmt::skip]
static TABLE: Group = group("table", "a table such as { rows = \"rows.csv\" }", &[&["column", "columns"]], &[
    key("rows", File, REQUIRED, "A CSV file whose header has the table's columns; or, with `column` or `part`, the file of the individuals."),
    key("column", COLUMN, "", "A row is an individual of that file and its cell in this column."),
    key("columns", COLUMNS, "", "The same for several columns."),
    key("part", PART, "all", "The part of the individuals, such as `train`, that the sort's `split` makes."),
    key("batch", Whole(1, MANY), "all", "How many rows each training step draws."),
]);

#[rustfmt::skip]
static PERCENTILE: Group = group("percentile", "a number, or { percentile = 2.5, of = \"dist(S, S)\" }", &[], &[
    key("percentile", Number(Range::PERCENT), REQUIRED, "From 0 to 100, by linear interpolation."),
    key("of", Text("a distance"), REQUIRED, "`\"dist(S, S)\"`: over all ordered pairs, each individual with itself included."),
]);

#[rustfmt::skip]
static PREDICATE: Group = group("predicate", "a table with `network`, `closed_form`, `learnable`, `logits`, `truth` or `log_truth`", &[&["network", "learnable", "closed_form", "logits", "truth", "log_truth"]], &[
    key("args", ARGS, "`a1`, `a2`, …", "Names of the arguments, for `inputs`, closed forms and files."),
    key("network", NETWORK_OR_NAME, "", "A network, or the name of one in `[networks]`."),
    key("output", Choice(|| words(&OUTPUTS)), "required with `network` and `logits`", "`softmax`: the last argument picks the class; `sigmoid`: one logit, or one for each class."),
    key("logits", File, "", "A file of logits."),
    key("truth", File, "", "A file of truth degrees."),
    key("log_truth", File, "", "A file of logs of truth degrees."),
    key("learnable", Flag, "", "`true`: a trained logit for each tuple of finite sorts."),
    key("initial", Number(Range::SINGLE), "`0`", "The first value of these logits."),
    key("crisp", Number(Range::FROM_0), "`0`", "Pushes each row of a trained softmax to a decision: the mean entropy of a step's rows, times this, is added to the loss."),
    key("closed_form", Table(&CLOSED_FORM), "", "Arithmetic over the arguments."),
    key("learn", Named(&Either(&[Number(Range::SINGLE), List("a number, or an array such as [0, 0, 1]", &Number(Range::SINGLE))])), "", "Trained numbers and vectors of the closed form, with their first values."),
]);

#[rustfmt::skip]
static CLOSED_FORM: Group = group("closed form", "a table such as { logit = \"margin - norm(h + r - t)\" }", &[&["truth", "log_truth", "logit", "softmax"]], &[
    key("truth", Text("an expression"), "", "A number from 0 to 1."),
    key("log_truth", Text("an expression"), "", "A number of at most 0."),
    key("logit", Text("an expression"), "", "Any number; its sigmoid is the truth."),
    key("softmax", Text("an expression"), "", "A number for each individual of the last argument's sort; their softmax is the truth."),
]);

#[rustfmt::skip]
static FUNCTION: Group = group("function", "a table with `network` or `values`", &[&["network", "values"]], &[
    key("args", ARGS, "`a1`, `a2`, …", "Names of the arguments."),
    key("network", NETWORK_OR_NAME, "", "A network, or the name of one in `[networks]`."),
    key("output", Either(&[Choice(|| vec!["linear"]), Table(&UNITS)]), "`\"linear\"`", "What the last layer of the network is, and the units of the values."),
    key("values", File, "", "The value of each tuple; such a function can also be used in guards."),
    key("column", COLUMN, "the only one", "The column of the values."),
]);

#[rustfmt::skip]
static UNITS: Group = group("units", "\"linear\", or a table such as { scale = 100, shift = 20 }", &[], &[
    key("scale", Number(Range::SCALE), REQUIRED, "Multiplies the network's output; above 0."),
    key("shift", Number(Range::SINGLE), "`0`", "Is added after that."),
]);

#[rustfmt::skip]
static CONSTANT: Group = group("constant", "a table with `row` or `learnable`", &[&["row", "learnable"]], &[
    key("row", Either(&[Whole(0, FOREVER), Text("an individual's name")]), "", "An individual of its sort, by number from 0 or by name."),
    key("learnable", Whole(1, MAX_WIDTH), "", "A trained vector of this length."),
]);

#[rustfmt::skip]
static NETWORK: Group = group("network", "a table such as { mlp = [16, 16] }", &[&["mlp", "cnn", "layers"]], &[
    key("mlp", List("an array of hidden widths such as [16, 16]", &Whole(1, MAX_WIDTH)), "", "Widths of dense hidden layers; the output layer is added."),
    key("activation", Choice(|| words(&super::network::activations())), "`\"elu\"`", "After each layer of an `mlp`."),
    key("cnn", Choice(|| words(&CNNS)), "", "A convolutional network with a name."),
    key("layers", List("an array of layers such as [{ dense = 100 }, \"elu\"]", &Either(&[Choice(|| words(&layer_words())), Table(&LAYER)])), "", "Layer by layer."),
    key("inputs", List("an array of strings such as [\"x.position\"]", &Text("an expression")), "all features", "What it reads: `\"x.position\"`, `\"stop(type(x))\"`."),
    key("undecided", Flag, "by the theory", "Whether the output layer starts at 0, so that all classes are equally likely at first. The default: yes for a softmax that no axiom labels and whose classes guards tell apart."),
]);

#[rustfmt::skip]
static LAYER: Group = group("layer", "a layer such as { dense = 100 }, { conv = [6, 5] }, { pool = 2 }, \"flatten\" or \"elu\"", &[&["conv", "pool", "dense", "dropout"]], &[
    key("conv", Tuple("two whole numbers: [filters, kernel]", &[Whole(1, MAX_WIDTH), Whole(1, MAX_SIDE)]), "", "A convolution: filters and side of the kernel."),
    key("pool", Whole(1, MAX_SIDE), "", "The greatest of squares of this side."),
    key("dense", Whole(1, MAX_WIDTH), "", "A dense layer of this width."),
    key("dropout", Number(Range::DROPOUT), "", "The share of numbers set to 0 in training, below 1."),
]);

#[rustfmt::skip]
static AXIOM: Group = group("axiom", "a table with `weight`, `alpha`, `p`, `p_forall`, `sample` or `hard`", &[], &[
    key("weight", Number(Range::WEIGHT), "the theory's", "Its weight in the loss."),
    key("alpha", NUMBER_OR_SCHEDULE, "`[schedule]`'s", "α inside this axiom only."),
    key("p", NUMBER_OR_SCHEDULE, "`[schedule]`'s", "p inside this axiom only."),
    key("p_forall", NUMBER_OR_SCHEDULE, "`[schedule]`'s", "p_forall inside this axiom only."),
    key("hard", Flag, "`false`", "Whether it is a law, which no world breaks."),
    key("sample", Whole(1, MANY), "all", "How many bindings of its outermost `forall` each training step sees."),
]);

#[rustfmt::skip]
static SCHEDULES: Group = group("schedules", "a table with `alpha`, `p` or `p_forall`", &[], &[
    key("alpha", NUMBER_OR_SCHEDULE, "linear from 1 to 4", "α of LogMeanExp and LogSumExp."),
    key("p", NUMBER_OR_SCHEDULE, "`2`", "p of pMean."),
    key("p_forall", NUMBER_OR_SCHEDULE, "`2`", "p of pMeanError."),
]);

#[rustfmt::skip]
static SCHEDULE: Group = group("schedule", "a number, { linear = [from, to] }, { exponential = [from, to] } or { at = [[0, value], …] }", &[&["linear", "exponential", "at"]], &[
    key("linear", ENDS, "", "From one number to another, by equal steps."),
    key("exponential", ENDS, "", "From one number to another, by equal factors."),
    key("at", List("pairs of a step (or epoch) and the value from there on: [[0, 1], [400, 6]]", &Tuple("a pair: [step, value]", &[Whole(0, FOREVER), Number(Range::ANY)])), "", "A value from each of these steps (or epochs) on: `[[0, 1], [400, 6]]`."),
    key("by", Choice(|| words(&UNITS_OF_TIME)), "`\"step\"`", "Whether it changes by step or by epoch."),
]);

#[rustfmt::skip]
static TRAIN: Group = group("train", "a table", &[&["steps", "epochs", "phases"]], &[
    key("steps", Whole(1, MOST_STEPS), "", "How many steps."),
    key("epochs", Whole(1, MOST_STEPS), "", "How many passes over the largest batched table."),
    key("phases", List("an array of phases such as [{ steps = 100, axioms = [\"a\"] }, { steps = 900 }]", &Table(&PHASE)), "", "Parts of the training, one after the other."),
    key("optimizer", Choice(|| words(&OPTIMIZERS)), "`\"adam\"`", "How gradients become steps."),
    key("learning_rate", NUMBER_OR_SCHEDULE, "`0.005`", "Over the whole training."),
    key("momentum", Number(Range::BELOW_1), "`0`", "Of `sgd`."),
    key("weight_decay", Number(Range::FROM_0), "`0.01` for `adamw`, else `0`", "For `adamw` and `sgd`."),
    key("clip_norm", Number(Range::ABOVE_0), "none", "The largest norm of a gradient, greater than 0."),
    key("entropy", Number(Range::FROM_0), "`0`", "Makes each step use all classes of a softmax: the entropy of the mean over the step's rows, times this, is subtracted from the loss."),
    key("seed", Whole(0, u64::MAX), "`0`", "The seed of all random numbers."),
    key("checkpoint_every", Whole(1, FOREVER), "by time", "Steps between checkpoints."),
    key("early_stop", Table(&EARLY_STOP), "never", "When to stop before the end."),
    key("start", Table(&START), "random weights", "Another run whose weights to begin with."),
    key("compile_seconds", Number(Range::ABOVE_0), "`60`", "How long to compile circuits of exact probabilities before giving up, greater than 0."),
    key("freeze", LEARNT, "nothing", "What is not trained: predicates, functions, sorts, constants, `networks.NAME`."),
]);

#[rustfmt::skip]
static PHASE: Group = group("phase", "a phase such as { steps = 100, axioms = [\"a\"] }", &[&["steps", "epochs"]], &[
    key("steps", Whole(1, MOST_STEPS), "", "How many steps."),
    key("epochs", Whole(1, MOST_STEPS), "", "How many epochs."),
    key("axioms", List("an array of names of axioms", &NAME), "all", "The axioms that are trained."),
]);

#[rustfmt::skip]
static EARLY_STOP: Group = group("early stop", "a table such as { metric = \"accuracy\", patience = 10 }", &[], &[
    key("metric", Text("a metric's name"), REQUIRED, "One of those in `[evaluate]`, by its name or its kind."),
    key("patience", Whole(1, FOREVER), REQUIRED, "How many evaluations without a better value."),
]);

#[rustfmt::skip]
static START: Group = group("start", "a table such as { run = \"runs/a\" } or { run = \"runs/a\", only = [\"C\"] }", &[], &[
    key("run", File, REQUIRED, "The directory of the run."),
    key("only", LEARNT, "all of the same name and shape", "Which of its weights."),
]);

#[rustfmt::skip]
static EVALUATE: Group = group("evaluate", "a table with `metrics`", &[], &[
    key("every", Whole(1, FOREVER), "at the end", "Steps between evaluations."),
    key("metrics", List("an array of metrics", &Table(&METRIC)), "", "What is measured."),
]);

#[rustfmt::skip]
static METRIC: Group = Group { explained: &[&["predicate", "function", "table"]], ..group("metric", "a metric such as { metric = \"accuracy\", predicate = \"P\", rows = \"test.csv\" }", &[&["rows", "labels"], &["column", "columns"]], &[
    key("metric", Choice(metrics), REQUIRED, "Which number."),
    key("predicate", Text("a predicate's name"), "", "What is measured."),
    key("function", Text("a function's name"), "", "What is measured, for `rmse`, `mae` and `r2`."),
    key("table", Text("a table's name"), "", "What is measured, for `row_accuracy`."),
    key("rows", File, "", "A CSV file with a column for each argument, and `truth` or `value`."),
    key("column", COLUMN, "", "With `rows` that are the file of the individuals: the column that says what is right."),
    key("columns", COLUMNS, "", "The same for several columns."),
    key("part", PART, "all", "The part of the individuals, such as `test`, that the sort's `split` makes."),
    key("labels", Text("a sort's name"), "", "Measure against the labels of this sort."),
    key("k", Whole(1, MANY), "", "Of `hits`."),
    key("of", Text("an argument's name"), "", "For `mrr` and `hits`: the argument that is looked for."),
    key("filter", Either(&[Text("a table's name"), List("an array of tables", &Text("a table's name"))]), "", "For `mrr` and `hits`: tables whose rows are known and left out."),
    key("name", Text("a name for reports"), "as in `accuracy(digit)`", "What reports call it."),
]) };

fn column_kinds() -> Vec<&'static str> {
    words(&ColumnKind::ALL)
}

fn semantics() -> Vec<&'static str> {
    Semantics::NAMES.to_vec()
}

fn metrics() -> Vec<&'static str> {
    words(MetricKind::ALL)
}

/// The first of each pair.
fn words<T>(pairs: &[(&'static str, T)]) -> Vec<&'static str> {
    pairs.iter().map(|(word, _)| *word).collect()
}

impl Group {
    /// Keys of which at most one can be given.
    pub fn all_exclusive(&self) -> impl Iterator<Item = &'static [&'static str]> + use<> {
        self.exclusive.iter().chain(self.explained).copied()
    }

    /// One of its keys.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// This group and all below it, each once, in the order of the table.
    pub fn all(&'static self) -> Vec<&'static Group> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(group) = found.get(at).copied() {
            for inner in group.keys.iter().flat_map(|key| key.kind.groups()) {
                if !found.iter().any(|known| std::ptr::eq(*known, inner)) {
                    found.push(inner);
                }
            }
            at += 1;
        }
        found
    }

    /// The group of a table inside this one, by the names that lead to it: `["predicates", "C", "network"]`. Members of lists
    /// are not counted: `["train", "phases"]` are the keys of each phase.
    ///
    /// ```
    /// use logltn_train::manifest::keys::MANIFEST;
    /// assert_eq!(MANIFEST.at(&["predicates", "C", "network"]).unwrap().title, "network");
    /// assert!(MANIFEST.at(&["predicates"]).is_none()); // its names are the theory's
    /// ```
    pub fn at(&'static self, path: &[&str]) -> Option<&'static Group> {
        let Some((first, mut rest)) = path.split_first() else {
            return Some(self);
        };
        let mut kind = self.key(first)?.kind;
        if let Named(each) = kind {
            rest = rest.split_first()?.1;
            kind = *each;
        }
        kind.groups().into_iter().find_map(|group| group.at(rest))
    }
}

impl Kind {
    /// The tables that it can be, or that its members can be.
    pub fn groups(self) -> Vec<&'static Group> {
        match self {
            Table(group) => vec![group],
            List(_, each) | Named(each) => each.groups(),
            Either(kinds) => kinds.iter().flat_map(|kind| kind.groups()).collect(),
            _ => Vec::new(),
        }
    }

    /// What the reader looks for among the kinds that it can be.
    pub(super) fn find<T>(self, wanted: impl Fn(Kind) -> Option<T> + Copy) -> Option<T> {
        match self {
            Either(kinds) => kinds.iter().find_map(|kind| kind.find(wanted)),
            kind => wanted(kind),
        }
    }

    /// The words that it can be.
    pub fn choices(self) -> Vec<&'static str> {
        match self {
            Choice(words) => words(),
            List(_, each) => each.choices(),
            Either(kinds) => kinds.iter().flat_map(|kind| kind.choices()).collect(),
            _ => Vec::new(),
        }
    }

    /// As words, for documents and messages.
    pub fn words(self) -> String {
        let joined = |kinds: &[Kind], word: &str| {
            let all: Vec<String> = kinds.iter().map(|kind| kind.words()).collect();
            all.join(word)
        };
        match self {
            Text(what) => what.to_string(),
            File => "a file".to_string(),
            Flag => "`true` or `false`".to_string(),
            Number(range) => match range.least {
                Some(least) => format!("a number from {least}"),
                None => "a number".to_string(),
            },
            Whole(least, _) => format!("a whole number from {least}"),
            Choice(words) => {
                let words: Vec<String> =
                    words().iter().map(|word| format!("`\"{word}\"`")).collect();
                words.join(", ")
            }
            List(_, each) => format!("a list of: {}", each.words()),
            Tuple(_, kinds) => format!("[{}]", joined(kinds, ", ")),
            Either(kinds) => joined(kinds, "; or "),
            Table(group) => format!(
                "a table ([{}](#{}))",
                group.title,
                group.title.replace(' ', "-")
            ),
            Named(each) => format!("by name: {}", each.words()),
        }
    }

    fn schema(self) -> Value {
        match self {
            Text(_) | File => json!({ "type": "string", "minLength": 1 }),
            Flag => json!({ "type": "boolean" }),
            Number(Range { least: None, .. }) => json!({ "type": "number" }),
            Number(range) => json!({ "type": "number", "minimum": range.least }),
            Whole(least, _) => json!({ "type": "integer", "minimum": least }),
            Choice(words) => json!({ "enum": words() }),
            List(_, each) => json!({ "type": "array", "items": each.schema() }),
            Tuple(_, kinds) => json!({
                "type": "array",
                "items": kinds.iter().map(|kind| kind.schema()).collect::<Vec<_>>(),
                "minItems": kinds.len(),
                "maxItems": kinds.len(),
            }),
            Either(kinds) => {
                json!({ "anyOf": kinds.iter().map(|kind| kind.schema()).collect::<Vec<_>>() })
            }
            Table(group) => {
                json!({ "$ref": format!("#/definitions/{}", group.title.replace(' ', "_")) })
            }
            Named(each) => json!({ "type": "object", "additionalProperties": each.schema() }),
        }
    }
}

/// The JSON Schema (draft 7, which editors read) of manifests.
pub fn schema() -> Value {
    let mut definitions = serde_json::Map::new();
    for group in MANIFEST.all().into_iter().skip(1) {
        definitions.insert(group.title.replace(' ', "_"), group_schema(group));
    }
    let mut schema = group_schema(&MANIFEST);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("A manifest of logltn");
    schema["definitions"] = Value::Object(definitions);
    schema
}

fn group_schema(group: &Group) -> Value {
    let mut properties = serde_json::Map::new();
    for key in group.keys {
        let mut schema = key.kind.schema();
        let description = match key.default {
            "" => key.sentence.to_string(),
            REQUIRED => format!("{} (required)", key.sentence),
            default => format!("{} Default: {default}.", key.sentence),
        };
        // In draft 7 nothing beside a `$ref` is read.
        if schema.get("$ref").is_some() {
            schema = json!({ "allOf": [schema] });
        }
        schema["description"] = json!(description);
        properties.insert(key.name.to_string(), schema);
    }
    let required = group.keys.iter().filter(|key| key.default == REQUIRED);
    let mut conflicts = Vec::new();
    for keys in group.all_exclusive() {
        for (i, a) in keys.iter().enumerate() {
            let others = keys[i + 1..].iter();
            conflicts.extend(others.map(|b| json!({ "not": { "required": [a, b] } })));
        }
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "required": required.map(|key| key.name).collect::<Vec<_>>(),
        "additionalProperties": false,
    });
    if !conflicts.is_empty() {
        schema["allOf"] = json!(conflicts);
    }
    schema
}

/// The page of the documents: a section for each table, a row for each key.
pub fn page() -> String {
    let mut page = String::from(
        "# The manifest, key by key\n\n\
         Every key that a manifest can have. [Networks](networks.md), [Training](training.md) and [From a CSV file to an answer](tables.md) explain\n\
         them; `logltn schema` prints the same as a JSON Schema. Paths are relative to the manifest, and unknown keys are errors. This page is written by\n\
         `LOGLTN_WRITE_DOCS=1 cargo test -p logltn-train --test all manifest_keys::`.\n",
    );
    for group in MANIFEST.all() {
        page += &format!("\n## {}\n\n", group.title);
        for keys in group.all_exclusive() {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            page += &format!("At most one of {}.\n\n", keys.join(", "));
        }
        page += "| key | holds | default | meaning |\n|---|---|---|---|\n";
        for key in group.keys {
            page += &format!(
                "| `{}` | {} | {} | {} |\n",
                key.name,
                key.kind.words(),
                key.default,
                key.sentence
            );
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Manifest, reader};
    use logltn::Source;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    /// Manifests that lead the reader into every table. They need not be right.
    const VISITORS: &[&str] = &[
        include_str!("../../tests/manifests/every_table.toml"),
        include_str!("../../tests/manifests/pascal_part.toml"),
    ];

    /// The keys that the reader asked for, by the title of the table.
    fn asked() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        reader::asked::start();
        for text in VISITORS {
            let _ = Manifest::parse(Source::new("m.toml", *text), Path::new("."));
        }
        let mut asked: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (group, key) in reader::asked::finish() {
            asked.entry(group).or_default().insert(key);
        }
        asked
    }

    #[test]
    fn the_reader_and_the_table_know_the_same_keys() {
        let asked = asked();
        for group in MANIFEST.all() {
            let table: BTreeSet<_> = group.keys.iter().map(|key| key.name).collect();
            let reader = asked.get(group.title).cloned().unwrap_or_default();
            assert_eq!(
                table, reader,
                "left: keys.rs, right: the reader, of `{}`",
                group.title
            );
            assert_eq!(
                table.len(),
                group.keys.len(),
                "a key twice in `{}`",
                group.title
            );
            for keys in group.all_exclusive() {
                assert!(
                    keys.iter().all(|key| table.contains(key)),
                    "{}",
                    group.title
                );
            }
        }
    }
}
