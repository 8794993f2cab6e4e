//! `[evaluate]`: what is measured, and how often.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::metrics::{Against, Subject};
use logltn_learn::{MetricKind, Spanned};

use super::reader::{Item, Problems, at_most_one, quoted_list};
use super::symbols::flatten;

/// What is measured, and how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// How many steps between evaluations; `None` is at the end only.
    pub every: Option<u64>,
    /// What is measured.
    pub metrics: Vec<Metric>,
}

/// One number that says how good a predicate, a function or a table's axioms are.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its place.
    pub span: Span,
    /// Which number.
    pub kind: MetricKind,
    /// The predicate, function or table that is measured.
    pub of: Spanned<String>,
    /// What it is measured against.
    pub truth: MetricTruth,
    /// For `mrr` and `hits`.
    pub ranking: Option<Ranking>,
    /// A name for reports.
    pub name: Option<Spanned<String>>,
}

/// What is measured against.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricTruth {
    /// `rows = "test.csv"`.
    Rows(Spanned<PathBuf>),
    /// The rows that a table has for training.
    OwnRows,
    /// `labels = "Point"`: the `labels` of that sort.
    Labels(Spanned<String>),
}

/// How a row's individual is looked for among all of its sort.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The argument that is looked for.
    pub of: Spanned<String>,
    /// Tables whose rows do not count as mistakes.
    pub filter: Vec<Spanned<String>>,
    /// For `hits`.
    pub k: Option<Spanned<usize>>,
}

/// The keys of a metric besides `metric` and `name`, as they stand in the file.
struct Keys<'d> {
    subjects: [(Subject, Option<Item<'d>>); 3],
    rows: Option<Item<'d>>,
    labels: Option<Item<'d>>,
    k: Option<Item<'d>>,
    of: Option<Item<'d>>,
    filter: Option<Item<'d>>,
}

impl Metric {
    /// What reports call it: its `name`, or else `accuracy(digit)`.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => name.value.clone(),
            None => format!("{}({})", self.kind.name(), self.of.value),
        }
    }

    fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Metric> {
        let what =
            "a metric such as { metric = \"accuracy\", predicate = \"P\", rows = \"test.csv\" }";
        let mut table = item.table(problems, what)?;
        let kind = table.require(problems, "metric", "\"accuracy\"");
        let keys = Keys {
            subjects: [
                (Subject::Predicate, table.take("predicate")),
                (Subject::Function, table.take("function")),
                (Subject::Table, table.take("table")),
            ],
            rows: table.take("rows"),
            labels: table.take("labels"),
            k: table.take("k"),
            of: table.take("of"),
            filter: table.take("filter"),
        };
        let name = table
            .take("name")
            .map(|item| item.string(problems, "a name for reports"));
        let span = table.span;
        table.finish(problems);
        let kind = kind.and_then(|item| item.one_of(problems, MetricKind::ALL));
        // What else is needed depends on what it is.
        let kind = kind?.value;
        let before = problems.count();
        keys.check(kind, span, &item.path, problems);
        let of = (keys.subjects.iter())
            .find(|(subject, _)| *subject == kind.subject())
            .and_then(|(_, of)| of.as_ref())
            .and_then(|of| of.string(problems, &format!("a {}'s name", kind.subject().key())));
        let rows = keys.rows.as_ref().map(|item| item.file(problems));
        let labels = (keys.labels.as_ref()).map(|item| item.string(problems, "a sort's name"));
        let ranking = (kind.against() == Against::Ranks)
            .then(|| keys.ranking(problems))
            .flatten();
        let truth = match (flatten(rows)?, flatten(labels)?) {
            (Some(file), _) => MetricTruth::Rows(file),
            (None, Some(sort)) => MetricTruth::Labels(sort),
            (None, None) => MetricTruth::OwnRows,
        };
        let name = flatten(name)?;
        (problems.count() == before).then_some(Metric {
            span,
            kind,
            of: of?,
            truth,
            ranking,
            name,
        })
    }
}

impl Keys<'_> {
    /// Whether there is all that a metric needs, and nothing that it has no use for.
    fn check(&self, kind: MetricKind, span: Span, path: &str, problems: &mut Problems<'_>) {
        let name = kind.name();
        let subject = kind.subject();
        let missing = |problems: &mut Problems<'_>, key: &str, help: String| {
            let error = Diagnostic::error(Code::MissingKey, format!("`{path}` has no `{key}`"));
            problems.push(span, &format!("`{name}` needs `{key}`"), error.help(help));
        };
        if self
            .subjects
            .iter()
            .all(|(s, of)| *s != subject || of.is_none())
        {
            let example = match subject {
                Subject::Predicate => "P",
                Subject::Function => "f",
                Subject::Table => "T",
            };
            let key = subject.key();
            missing(problems, key, format!("add `{key} = \"{example}\"`"));
        }
        let ranks = kind.against() == Against::Ranks;
        let takes_labels = matches!(kind.against(), Against::Classes | Against::TruthsOrClasses);
        if self.rows.is_none() && kind.against() != Against::Axioms {
            match self.labels {
                Some(_) if takes_labels => {}
                None if takes_labels => problems.push(
                    span,
                    "measured against what?",
                    Diagnostic::error(
                        Code::MissingKey,
                        format!("`{path}` has neither `rows` nor `labels`"),
                    )
                    .help(
                        "add `rows = \"test.csv\"`, or `labels = \"S\"` for the labels of a sort",
                    ),
                ),
                _ => missing(problems, "rows", "add `rows = \"test.csv\"`".into()),
            }
        }
        if ranks && self.of.is_none() {
            let help = "say which argument is looked for, by its name in `args`: `of = \"t\"`";
            missing(problems, "of", help.into());
        }
        if kind == MetricKind::Hits && self.k.is_none() {
            missing(problems, "k", "add `k = 10`".into());
        }
        at_most_one(problems, path, &[&self.rows, &self.labels]);
        let mut useless = |item: &Option<Item<'_>>, useful: bool, who: &str| {
            if let (Some(item), false) = (item, useful) {
                let what = format!("`{}` cannot be given: it is for {who}", item.path);
                let error = Diagnostic::error(Code::ConflictingKeys, what);
                problems.push(item.key, &format!("not for `{name}`"), error);
            }
        };
        for (other, of) in &self.subjects {
            useless(
                of,
                *other == subject,
                &named(|kind| kind.subject() == *other),
            );
        }
        let classes = |kind: MetricKind| {
            matches!(kind.against(), Against::Classes | Against::TruthsOrClasses)
        };
        useless(&self.labels, takes_labels, &named(classes));
        let of_ranks = |kind: MetricKind| kind.against() == Against::Ranks;
        useless(&self.of, ranks, &named(of_ranks));
        useless(&self.filter, ranks, &named(of_ranks));
        useless(&self.k, kind == MetricKind::Hits, "`hits`");
    }

    fn ranking(&self, problems: &mut Problems<'_>) -> Option<Ranking> {
        let of = (self.of.as_ref()).and_then(|of| of.string(problems, "an argument's name"));
        let filter = (self.filter.as_ref()).map(|item| {
            if item.is_string() {
                return item
                    .string(problems, "a table's name")
                    .map(|table| vec![table]);
            }
            item.list(problems, "an array of tables", |item, problems| {
                item.string(problems, "a table's name")
            })
        });
        let k = (self.k.as_ref()).map(|k| k.size(problems, u64::from(u32::MAX)));
        Some(Ranking {
            of: of?,
            filter: flatten(filter)?.unwrap_or_default(),
            k: flatten(k)?,
        })
    }
}

/// The metrics of some kind, for a message.
fn named(which: impl Fn(MetricKind) -> bool) -> String {
    let names = MetricKind::ALL.iter().filter(|(_, kind)| which(*kind));
    quoted_list(names.map(|(name, _)| *name))
}

impl Evaluate {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Evaluate> {
        let mut table = item.table(problems, "a table with `metrics`")?;
        let every = table
            .take("every")
            .map(|item| item.whole(problems, 1, i64::MAX as u64));
        let metrics = table
            .take("metrics")
            .map(|item| item.list(problems, "an array of metrics", Metric::read));
        table.finish(problems);
        let (every, metrics) = (flatten(every), flatten(metrics));
        let metrics = metrics?.unwrap_or_default();
        let mut labels = BTreeMap::new();
        for metric in &metrics {
            if let Some(first) = labels.insert(metric.label(), metric.span) {
                problems.push(
                    metric.span,
                    "second",
                    Diagnostic::error(
                        Code::DuplicateName,
                        format!("two metrics are called `{}`", metric.label()),
                    )
                    .mark(first, "first")
                    .help("tell them apart with `name = \"…\"`"),
                );
            }
        }
        Some(Evaluate {
            every: every?.map(|n| n.value),
            metrics,
        })
    }
}
