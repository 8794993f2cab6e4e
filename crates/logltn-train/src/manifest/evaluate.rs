//! `[evaluate]`: what is measured, and how often.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logltn::{Code, Diagnostic, Span};
use logltn_learn::metrics::{Against, Subject};
use logltn_learn::{MetricKind, Spanned};

use super::data::read_own_columns;
use super::reader::{Item, Problems, quoted_list};

/// What is measured, and how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// How many steps between evaluations; `None` is at the end only.
    pub every: Option<u64>,
    /// What is measured.
    pub metrics: Vec<MetricSpec>,
}

/// One metric of a predicate, a function or a table's axioms.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSpec {
    /// Its place.
    pub span: Span,
    /// The kind of metric.
    pub kind: MetricKind,
    /// The predicate, function or table that is measured.
    pub of: Spanned<String>,
    /// What it is measured against.
    pub truth: MetricTruth,
    /// With `rows`: the columns of the individuals' own file with the right values.
    pub columns: Option<Spanned<Vec<Spanned<String>>>>,
    /// With `rows`: the part of the individuals to use.
    pub part: Option<Spanned<String>>,
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
    /// The training rows of a table.
    OwnRows,
    /// `labels = "Point"`: the `labels` of that sort.
    Labels(Spanned<String>),
}

/// How a row's individual is ranked among all of its sort.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The argument that is ranked.
    pub of: Spanned<String>,
    /// Tables whose rows do not count as mistakes.
    pub filter: Vec<Spanned<String>>,
    /// For `hits`.
    pub k: Option<Spanned<usize>>,
}

/// The keys of a metric besides `metric` and `name`, as they are in the file.
struct Keys<'d> {
    subjects: [(Subject, Option<Item<'d>>); 3],
    rows: Option<Item<'d>>,
    /// `column`, `columns` and `part`.
    own: [Option<Item<'d>>; 3],
    labels: Option<Item<'d>>,
    k: Option<Item<'d>>,
    of: Option<Item<'d>>,
    filter: Option<Item<'d>>,
}

impl MetricSpec {
    /// Its name in reports: its `name`, or else `accuracy(digit)`, `hits@10(linked, t)`, with the measured symbol and
    /// the ranked argument.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.value.clone();
        }
        let (kind, of) = (self.kind.name(), &self.of.value);
        match &self.ranking {
            None => format!("{kind}({of})"),
            Some(ranking) => {
                let k = (ranking.k.as_ref()).map_or(String::new(), |k| format!("@{}", k.value));
                format!("{kind}{k}({of}, {})", ranking.of.value)
            }
        }
    }

    fn read(item: &Item<'_>) -> Option<MetricSpec> {
        let mut table = item.table()?;
        let kind = table.require("metric", "\"accuracy\"");
        let keys = Keys {
            subjects: [Subject::Predicate, Subject::Function, Subject::Table]
                .map(|subject| (subject, table.take(subject.key()))),
            rows: table.take("rows"),
            own: ["column", "columns", "part"].map(|key| table.take(key)),
            labels: table.take("labels"),
            k: table.take("k"),
            of: table.take("of"),
            filter: table.take("filter"),
        };
        let name = table.text("name");
        let span = table.span;
        let kind = kind.and_then(|item| item.one_of(MetricKind::ALL));
        // The other keys depend on the kind.
        let Some(Spanned { value: kind, .. }) = kind else {
            table.end();
            return None;
        };
        let problems = item.problems;
        let before = problems.count();
        keys.check(kind, span, &table.path, problems);
        let of = (keys.subjects.iter())
            .find(|(subject, _)| *subject == kind.subject())
            .and_then(|(_, of)| of.as_ref())
            .and_then(Item::text);
        let rows = table.read("rows", Item::file);
        let labels = table.text("labels");
        let ranking = (kind.against() == Against::Ranks).then(|| keys.ranking());
        let truth = match (rows, labels) {
            (Some(file), _) => MetricTruth::Rows(file),
            (None, Some(sort)) => MetricTruth::Labels(sort),
            (None, None) => MetricTruth::OwnRows,
        };
        let (columns, part) = read_own_columns(&mut table);
        let sound = problems.count() == before;
        table.end()?;
        sound.then_some(MetricSpec {
            span,
            kind,
            of: of?,
            truth,
            columns,
            part,
            ranking: ranking.flatten(),
            name,
        })
    }
}

impl Keys<'_> {
    /// Checks that a metric has all keys that it needs, and no others.
    fn check(&self, kind: MetricKind, span: Span, path: &str, problems: &Problems<'_>) {
        let name = kind.name();
        let subject = kind.subject();
        let missing = |key: &str, help: String| {
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
            missing(key, format!("add `{key} = \"{example}\"`"));
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
                _ => missing("rows", "add `rows = \"test.csv\"`".into()),
            }
        }
        if ranks && self.of.is_none() {
            let help = "say which argument is looked for, by its name in `args`: `of = \"t\"`";
            missing("of", help.into());
        }
        if kind.takes_k() && self.k.is_none() {
            missing("k", "add `k = 10`".into());
        }
        let useless = |item: &Option<Item<'_>>, useful: bool, who: &str| {
            if let (Some(item), false) = (item, useful) {
                let what = format!("`{}` cannot be given: it is for {who}", item.path);
                item.misplaced(&format!("not for `{name}`"), what, "");
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
        useless(&self.k, kind.takes_k(), &named(MetricKind::takes_k));
        let answers = named(|kind| !matches!(kind.against(), Against::Ranks | Against::Axioms));
        for own in &self.own {
            useless(
                own,
                !ranks && kind.against() != Against::Axioms && self.rows.is_some(),
                &format!("the `rows` of {answers}"),
            );
        }
    }

    fn ranking(&self) -> Option<Ranking> {
        let of = self.of.as_ref().and_then(Item::text);
        let filter = (self.filter.as_ref()).map(|item| match item.is_string() {
            true => item.text().map(|table| vec![table]),
            false => item.list(Item::text),
        });
        let k = self.k.as_ref().map(Item::size);
        Some(Ranking {
            of: of?,
            filter: filter.unwrap_or_else(|| Some(Vec::new()))?,
            k: k.flatten(),
        })
    }
}

/// The metrics of some kind, for a message.
fn named(which: impl Fn(MetricKind) -> bool) -> String {
    let names = MetricKind::ALL.iter().filter(|(_, kind)| which(*kind));
    quoted_list(names.map(|(name, _)| *name))
}

impl Evaluate {
    pub(super) fn read(item: &Item<'_>) -> Option<Evaluate> {
        let mut table = item.table()?;
        let every = table.whole("every");
        let metrics = table.read("metrics", |item| item.list(MetricSpec::read));
        let metrics = metrics.unwrap_or_default();
        let mut labels = BTreeMap::new();
        for metric in &metrics {
            if let Some(first) = labels.insert(metric.label(), metric.span) {
                let what = format!("two metrics are called `{}`", metric.label());
                let error = Diagnostic::error(Code::DuplicateName, what).mark(first, "first");
                let error = error.help("tell them apart with `name = \"…\"`");
                item.problems.push(metric.span, "second", error);
            }
        }
        table.end()?;
        Some(Evaluate { every, metrics })
    }
}
