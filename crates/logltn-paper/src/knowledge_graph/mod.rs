//! Completing knowledge graphs: embeddings alone, rules alone, embeddings that must agree with rules, and both side by side.
//!
//! Not a task of the paper, but what people think of first when they hear "logic". A fact has two ends, and each must be found among
//! all entities when the other is given. Ranks are filtered: other facts, told or not, are no mistakes; equal scores share the mean
//! of their places.

mod graph;
mod published;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::graph_model::{ComplEx, Conclusions, Evidence, Ranks, Triple, ranks};
use logltn::{Code, Diagnostic, Diagnostics, Output, Source, Theory};
use logltn_data::read_bytes;
use logltn_learn::mine::mine;
use logltn_learn::{Individuals, Schedule, Session};

use super::curves::{curves, draw_chart};
use super::jobs::{Finding, Found, Progress};
use super::published::Other;
use super::record::{Job, Portion, RunRecord};
use super::{About, Configuration, DataKind, Experiment, Metric, Options, data_folders};
use graph::Graph;
use settings::Settings;

pub use graph::GraphName;

const MRR: Metric = Metric::greater(
    "mrr",
    "mean reciprocal rank, filtered, ties at their mean",
    3,
);
const MRR_LAST: Metric = Metric::greater("mrr_last", "mean reciprocal rank of tails alone", 3);
const HITS: [(usize, Metric); 3] = [
    (1, Metric::greater("hits1", "ranks of 1 (hits@1)", 3)),
    (3, Metric::greater("hits3", "ranks up to 3 (hits@3)", 3)),
    (10, Metric::greater("hits10", "ranks up to 10 (hits@10)", 3)),
];

/// How often a curve has a point in a training.
const POINTS: u64 = 10;

/// How many times the rules may count beside the embeddings. Which it is, the validation facts decide.
const TIMES: [f32; 10] = [0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0];

const EMBEDDINGS: Configuration = Configuration::of("embeddings", "ComplEx alone", "logltn");
const RULES: Configuration = Configuration::of("rules", "rules alone", "logltn");
const AXIOMS: Configuration = Configuration::of("axioms", "ComplEx, rules as axioms", "logltn");
const BOTH: Configuration = Configuration::of("both", "ComplEx and rules", "logltn");
/// The rows of the table.
pub(super) const ALL: [Configuration; 4] = [EMBEDDINGS, RULES, AXIOMS, BOTH];

const THEORY: &str = include_str!("../../theories/knowledge_graph.ltn");

/// The declarations that rules are read with.
const RULES_THEORY: &str = "\
sort Entity
sort Relation
table train(h: Entity, r: Relation, t: Entity)
predicate linked(Entity, Relation, Entity)
axiom facts: forall (h, r, t) in train. linked(h, r, t)
";

/// What rules as axioms ask for: that embeddings agree with what the rules conclude.
fn agreement(weight: f64) -> String {
    format!(
        "
table concluded(h: Entity, r: Relation, t: Entity)   # what the rules conclude together with a probability of at least a half
table concluded_backwards(t: Entity, r: Relation, h: Entity)
axiom rules (weight {weight}):          forall (h, r, t) in concluded. linked(h, r, t)
axiom rules_reversed (weight {weight}): forall (t, r, h) in concluded_backwards. linked(t, r, h)
"
    )
}

/// The theory of a configuration: that of `theories/`, a half of it, or a half and the [agreement].
fn theory(configuration: Configuration, weight: f64) -> String {
    let without = |predicate: &str, other: &str| {
        let lines = THEORY.lines();
        let lines = lines.filter(|line| !line.starts_with(&format!("predicate {predicate}(")));
        let text: Vec<String> = lines
            .map(|line| {
                let body = line.split_once(". ").filter(|_| line.starts_with("axiom"));
                let Some((head, body)) = body else {
                    return line.to_string();
                };
                let kept = body.split(" and ").find(|part| part.starts_with(other));
                format!("{head}. {}", kept.unwrap_or(body))
            })
            .collect();
        text.join("\n") + "\n"
    };
    match configuration {
        EMBEDDINGS => without("derived", "linked"),
        RULES => without("linked", "derived"),
        AXIOMS => without("derived", "linked") + &agreement(weight),
        _ => THEORY.to_string(),
    }
}

/// A file of rules, and what is in it.
type Rules = (PathBuf, String);

/// The task.
pub(super) struct KnowledgeGraph {
    about: About,
    name: GraphName,
    graph: Graph,
    settings: Settings,
    /// Every fact, in the training set or not.
    known: Vec<Triple>,
    rules: Option<Rules>,
    conclusions: Option<Arc<Conclusions>>,
    /// What rules as axioms ask for.
    concluded: Vec<Triple>,
}

impl KnowledgeGraph {
    pub fn new(options: &Options) -> Result<KnowledgeGraph, Diagnostics> {
        let name = options.graph;
        let place = name.place(options.data.as_deref())?;
        let graph = match &place {
            Some(place) => Graph::read(place)?,
            None => Graph::standin(name)?,
        };
        let rules = match &options.rules {
            None => None,
            Some(path) => {
                let text = String::from_utf8(read_bytes(path)?).map_err(|_| {
                    let what = format!("{}: not text", path.display());
                    Diagnostic::error(Code::NotUtf8, what)
                })?;
                Some((path.clone(), text))
            }
        };
        let settings = Settings::of(name, graph.train.len(), options);
        let mut task = KnowledgeGraph {
            about: about(name, place.as_deref(), &graph, &settings, rules.as_ref()),
            name,
            settings,
            known: [&graph.train, &graph.valid, &graph.test]
                .into_iter()
                .flatten()
                .copied()
                .collect(),
            graph,
            rules,
            conclusions: None,
            concluded: Vec::new(),
        };
        // Mistakes in a file of rules are found before the first run.
        if task.rules.is_some() {
            task.conclusions = Some(Arc::new(task.conclude()?.1));
        }
        Ok(task)
    }

    /// The rules as text, and what they conclude.
    fn conclude(&self) -> Result<(String, Conclusions), Diagnostics> {
        let text = match &self.rules {
            Some((_, text)) => text.clone(),
            None => mine(&self.graph.data(RULES_THEORY)?, &self.settings.mine)?.to_string(),
        };
        let name = match &self.rules {
            Some((path, _)) => path.display().to_string(),
            None => "rules.ltn".to_string(),
        };
        // The declarations come after the rules, so that places in messages are those of the file.
        let source = Source::new(name, format!("{text}\n{RULES_THEORY}"));
        let mut theory = Theory::parse_with(source, &self.graph.labels())?;
        theory.axioms.retain(|axiom| axiom.name != "facts");
        let conclusions = Conclusions::new(&theory, self.graph.facts())?;
        Ok((text, conclusions))
    }

    /// How a fit does on some facts.
    fn ranks(&self, fit: &Fit, facts: &[Triple], times: &[f32]) -> Result<Vec<Ranks>, Diagnostics> {
        let score = |questions: &[[u32; 2]], scores: &mut [f32]| {
            scores.fill(0.0);
            if let Some(linked) = &fit.linked {
                linked.add(questions, scores);
            }
        };
        let more = |questions: &[[u32; 2]], times: f32, scores: &mut [f32]| {
            if let Some(derived) = &fit.derived {
                derived.add(questions, times, scores);
            }
        };
        ranks(self.graph.facts(), &self.known, facts, times, score, more)
    }
}

/// What a run learns.
struct Fit {
    linked: Option<ComplEx>,
    derived: Option<Evidence>,
    /// How many times the rules count.
    times: f32,
}

fn about(
    name: GraphName,
    place: Option<&Path>,
    graph: &Graph,
    own: &Settings,
    rules: Option<&Rules>,
) -> About {
    const METRICS: [Metric; 5] = [MRR, MRR_LAST, HITS[0].1, HITS[1].1, HITS[2].1];
    let of = match place {
        Some(place) => format!("real: {} in {}", name.title(), place.display()),
        None => format!(
            "STAND-IN of the size of {}, made up, since no folder `kg/{}` was found",
            name.title(),
            name.name()
        ),
    };
    let facts = [&graph.train, &graph.valid, &graph.test];
    let [told, valid, asked] = facts.map(Vec::len);
    let title = format!(
        "{of}; {} entities, {} relations, {told} facts told, {valid} to choose by, {asked} asked for from both ends",
        graph.entities.len(),
        graph.relations.len(),
    );
    let rules = match rules {
        Some((path, text)) => {
            let fingerprint = settings::fingerprint(text.bytes());
            format!("of {} ({fingerprint})", path.display())
        }
        None => own.mining(),
    };
    let kind = DataKind::at(&place);
    let numbers = facts.into_iter().flatten().flatten();
    let bytes = numbers.flat_map(|number| number.to_le_bytes());
    let mut about = About::new(&METRICS, kind, title, own.shown());
    let settings = [
        (
            "data",
            format!("{} ({})", kind.name(), settings::fingerprint(bytes)),
        ),
        ("graph", name.name().to_string()),
        ("rules", rules),
    ];
    let settings = settings.map(|(key, value)| (key.to_string(), value));
    about.settings.extend(settings);
    // As long as all others together; and a graph of one's own need not have rules that are sure enough.
    let short = [GraphName::Umls, GraphName::Kinship].contains(&name);
    let left_out = !short || kind != DataKind::Real;
    // Each run holds the scores of all entities for a thousand questions, several times: above a gigabyte.
    let once = (name == GraphName::Wn18rr).then_some(1);
    About {
        only_if_asked: if left_out { vec![AXIOMS] } else { Vec::new() },
        runs: once,
        at_once: once,
        sources: published::sources(name),
        ..about.with_configurations(&ALL)
    }
}

impl Experiment for KnowledgeGraph {
    fn about(&self) -> &About {
        &self.about
    }

    fn steps(&self, _: Portion) -> u64 {
        self.settings.epochs * self.graph.train.len().div_ceil(self.settings.batch) as u64
    }

    fn others(&self, metric: &str) -> Vec<Other> {
        published::others(self.name, metric)
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        if jobs.is_empty() {
            return Ok(());
        }
        let (text, conclusions) = self.conclude()?;
        if conclusions.rules() == 0 && jobs.iter().any(|job| job.configuration != EMBEDDINGS) {
            let what = "there are no rules: none has enough support and confidence in these facts";
            let error = Diagnostic::error(Code::NothingToMine, what);
            let help = "leave them out with `--configs embeddings`, or give some with `--rules`";
            return Err(error.help(help).into());
        }
        self.concluded = conclusions.likely(self.graph.facts());
        if self.concluded.is_empty() && jobs.iter().any(|job| job.configuration == AXIOMS) {
            let what = "these rules cannot be axioms: together they make no fact that is not told more likely than not";
            let error = Diagnostic::error(Code::NothingToMine, what);
            let help = "give them larger weights, or leave them out with `--configs embeddings,rules,both`";
            return Err(error.help(help).into());
        }
        self.conclusions = Some(Arc::new(conclusions));
        let theory = |configuration: Configuration| {
            let text = theory(configuration, self.settings.agreement);
            (format!("{}.ltn", configuration.name), text)
        };
        data_folders::write_files(folder, &ALL.map(theory))?;
        data_folders::write_files(folder, &[("mined.ltn", text)])
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let (graph, settings) = (&self.graph, &self.settings);
        let conclusions = self.conclusions.as_ref().ok_or_else(|| {
            Diagnostics::from(Diagnostic::error(Code::Internal, "the rules were not read"))
        })?;
        let mut fit = Fit {
            linked: None,
            derived: None,
            times: 1.0,
        };
        let backwards = |facts: &[Triple]| -> Vec<Triple> {
            let facts = facts.iter();
            facts.map(|t| graph.facts().backwards(*t)).collect()
        };
        let mut session = Session::builder(theory(job.configuration, settings.agreement))
            .sort("Entity", Individuals::named(graph.entities.clone()))
            .sort("Relation", Individuals::named(graph.both_ways()))
            .batched("train", settings.batch, Graph::columns(&graph.train))
            .batched(
                "backwards",
                settings.batch,
                Graph::columns(&backwards(&graph.train)),
            )
            .learning_rate(Schedule::linear(settings.learning_rate, 0.0))
            .alpha(Schedule::from(1.0))
            .training(|training| training.seed = job.seed)
            .epochs(settings.epochs);
        if job.configuration == AXIOMS {
            let concluded = &self.concluded;
            // As many steps as the facts have.
            let steps = graph.train.len().div_ceil(settings.batch);
            let batch = concluded.len().div_ceil(steps);
            let reversed = backwards(concluded);
            session = session
                .batched("concluded", batch, Graph::columns(concluded))
                .batched("concluded_backwards", batch, Graph::columns(&reversed));
        }
        if job.configuration != RULES {
            let relations = 2 * graph.relations.len();
            let linked = ComplEx::new(
                graph.entities.len(),
                relations,
                settings.rank,
                settings.cubes,
                job.seed,
            )?;
            session = session.host("linked", linked.clone(), Output::log_truth());
            fit.linked = Some(linked);
        }
        if [RULES, BOTH].contains(&job.configuration) {
            let derived = Evidence::new(conclusions);
            session = session.host("derived", derived.clone(), Output::log_truth());
            fit.derived = Some(derived);
        }
        let mut session = session.build()?;
        let every = (session.total() / POINTS).max(1);
        let mut finding = Finding::default();
        while !session.is_done() {
            let begun = Instant::now();
            let step = session.step()?;
            finding.training += begun.elapsed();
            finding.sat = step.sat;
            if step.step % every == 0 || session.is_done() {
                let epoch = step.step as f64 / session.steps_per_epoch() as f64;
                let times: &[f32] = match job.configuration {
                    BOTH => &TIMES,
                    _ => &[1.0],
                };
                let all = self.ranks(&fit, &graph.valid, times)?;
                let all = times.iter().zip(all.iter().map(Ranks::mrr));
                let best = all.max_by(|a, b| a.1.total_cmp(&b.1));
                if let Some((times, value)) = best {
                    fit.times = *times;
                    finding.note(MRR, epoch, value);
                }
            }
            if progress.step() && !session.is_done() {
                return Ok(None);
            }
        }
        // The curve is of the validation facts, the result of the test facts.
        for ranks in self.ranks(&fit, &graph.test, &[fit.times])? {
            let metrics = &mut finding.metrics;
            metrics.insert(MRR.name.into(), ranks.mrr());
            metrics.insert(MRR_LAST.name.into(), ranks.mrr_of_last());
            for (k, metric) in HITS {
                metrics.insert(metric.name.into(), ranks.hits(k));
            }
            if job.configuration == BOTH {
                metrics.insert("rules_count".into(), f64::from(fit.times));
            }
        }
        Ok(Some(finding))
    }

    fn draw(
        &self,
        records: &[(Job, RunRecord)],
        folder: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let title = format!(
            "{}: MRR of the validation facts during training",
            self.name.title()
        );
        let curves = curves(records, &self.about.configurations, Portion::default(), MRR);
        let drawn = draw_chart(folder, "curves.svg", title, ["epoch", "MRR"], curves)?;
        Ok(vec![drawn])
    }
}

#[cfg(test)]
mod tests;
