//! `[evaluate]`: what is measured, and how often.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::{MetricKind, Spanned};

use super::reader::{Item, Problems, at_most_one};
use super::symbols::flatten;

/// What is measured, and how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// How many steps between evaluations; `None` is at the end only.
    pub every: Option<u64>,
    /// What is measured.
    pub metrics: Vec<Metric>,
}

/// One number that says how good a predicate is.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its place.
    pub span: Span,
    /// Which number.
    pub kind: MetricKind,
    /// The predicate that is measured.
    pub predicate: Spanned<String>,
    /// What it is measured against.
    pub truth: MetricTruth,
    /// A name for reports.
    pub name: Option<Spanned<String>>,
}

/// What a predicate is measured against.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricTruth {
    /// `rows = "test.csv"`, in the format of `table` if that is given.
    Rows {
        /// The file.
        file: Spanned<PathBuf>,
        /// The table whose columns it has.
        table: Option<Spanned<String>>,
    },
    /// `table = "labelled"`: the rows that the table has for training.
    Table(Spanned<String>),
    /// `labels = "Point"`: the `labels` of that sort.
    Labels(Spanned<String>),
}

impl Metric {
    /// What reports call it: its `name`, or else `accuracy(digit)`.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => name.value.clone(),
            None => format!("{}({})", self.kind.name(), self.predicate.value),
        }
    }

    fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Metric> {
        let what =
            "a metric such as { metric = \"accuracy\", predicate = \"P\", rows = \"test.csv\" }";
        let mut table = item.table(problems, what)?;
        let kind = table.require(problems, "metric", "\"accuracy\"");
        let predicate = table.require(problems, "predicate", "\"P\"");
        let (rows, of_table, labels) = (
            table.take("rows"),
            table.take("table"),
            table.take("labels"),
        );
        let name = table
            .take("name")
            .map(|item| item.string(problems, "a name for reports"));
        let span = table.span;
        table.finish(problems);

        let mut one = at_most_one(problems, &item.path, &[&labels, &rows]);
        one &= at_most_one(problems, &item.path, &[&labels, &of_table]);
        if rows.is_none() && of_table.is_none() && labels.is_none() {
            problems.push(
                span,
                "measured against what?",
                Diagnostic::error(Code::MissingKey, format!("`{}` has none of `rows`, `table` and `labels`", item.path)).help(
                    "add `rows = \"test.csv\"`, `table = \"T\"` for the rows of a table, or `labels = \"S\"` for the \
                     labels of a sort",
                ),
            );
        }
        let kind = kind.and_then(|item| item.one_of(problems, &MetricKind::ALL));
        let predicate = predicate.and_then(|item| item.string(problems, "a predicate's name"));
        let rows = rows.map(|item| item.file(problems));
        let of_table = of_table.map(|item| item.string(problems, "a table's name"));
        let labels = labels.map(|item| item.string(problems, "a sort's name"));
        let (rows, of_table, labels) = (flatten(rows)?, flatten(of_table)?, flatten(labels)?);
        let truth = match (rows, of_table, labels) {
            (Some(file), table, _) => MetricTruth::Rows { file, table },
            (None, Some(table), _) => MetricTruth::Table(table),
            (None, None, labels) => MetricTruth::Labels(labels?),
        };
        one.then_some(())?;
        Some(Metric {
            span,
            kind: kind?.value,
            predicate: predicate?,
            truth,
            name: flatten(name)?,
        })
    }
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
