//! Where the right individual stands among all of its sort.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use logltn::theory::{ArgumentSort, PredicateId, SymbolKind};
use logltn::vector::Real;
use logltn::{Code, ColumnData, Diagnostics, OutputKind};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::predicate_at_rows::PredicateAtRows;
use super::{Known, Metric, check};
use crate::asked_rows::AskedRows;
use crate::knowledge::{Ground, KnowledgeBase};
use crate::metrics::{Figure, MetricError, MetricKind};
use crate::model::Model;
use crate::predict::Asked;
use crate::slow_work::{Foretold, thousands};
use crate::worlds::Worlds;

/// This many tuples are queried at once: enough for every thread to have questions to rank.
const BLOCK: usize = 1 << 20;

/// This many scores at once where they are products of matrices, the larger the better; but this many questions at most.
const PRODUCTS: usize = 1 << 23;
const MOST_QUESTIONS: usize = 512;

/// True rows, one individual of each to be found.
pub(super) struct Ranked {
    pub asked: Asked,
    predicate: PredicateId,
    arity: usize,
    /// Which argument is looked for, and how many individuals its sort has.
    of: usize,
    candidates: usize,
    kind: MetricKind,
    /// For those that look at the first `k`.
    k: usize,
    /// The questions: a row whose place `of` does not count, with the rows that ask it and their right answers.
    questions: Vec<Question>,
    rows: usize,
    /// Arguments that are numbers are places among these.
    numbers: Vec<f64>,
}

struct Question {
    row: Vec<u32>,
    asked_by: Vec<(usize, u32)>,
    /// Answers that are known to be right.
    known: FxHashSet<u32>,
}

impl Question {
    /// The rank of an answer among all scores; other correct answers do not count as mistakes. NaN if a
    /// score is NaN.
    fn rank<'s, T: Real + 's>(
        &self,
        scores: impl Iterator<Item = &'s [T]>,
        of: impl Fn(u32) -> T,
        answer: u32,
    ) -> f64 {
        let own = of(answer);
        let [mut before, mut beside, mut odd] = [0_u64; 3];
        for some in scores {
            let [mut b, mut e, mut n] = [0_u32; 3];
            for &score in some {
                b += u32::from(score > own);
                e += u32::from(score == own);
                n += u32::from(score.is_nan());
            }
            before += u64::from(b);
            beside += u64::from(e);
            odd += u64::from(n);
        }
        for &other in self.known.iter().filter(|other| **other != answer) {
            let score = of(other);
            before -= u64::from(score > own);
            beside -= u64::from(score == own);
            odd -= u64::from(score.is_nan());
        }
        match odd > 0 || own.is_nan() {
            true => f64::NAN,
            // It is beside itself.
            false => 1.0 + before as f64 + (beside - 1) as f64 / 2.0,
        }
    }

    /// The rows that ask it, each with its rank.
    fn ranks(&self, rank: impl Fn(u32) -> f64, stop: &AtomicBool) -> Vec<(usize, f64)> {
        let rows = self.asked_by.iter();
        let rows = rows.take_while(|_| !stop.load(Ordering::Relaxed));
        rows.map(|&(row, answer)| (row, rank(answer))).collect()
    }
}

impl Ranked {
    pub fn new(knowledge: &KnowledgeBase, metric: &Metric) -> Result<Ranked, Diagnostics> {
        let predicate = check::predicate(knowledge, metric)?;
        let arguments = &knowledge.theory()[predicate].arguments;
        let Known::Facts {
            rows,
            of,
            filter,
            k,
        } = &metric.known
        else {
            let what = format!(
                "`{}` needs rows that are true, and which argument is to be found",
                metric.kind.name()
            );
            return Err(metric.wrong(Code::MetricDoesNotFit, what).into());
        };
        let Some(ArgumentSort::Sort(sort)) = arguments.get(*of) else {
            let what = format!("`{}` has no argument {of}", metric.of);
            return Err(metric.wrong(Code::WrongNumberOfArguments, what).into());
        };
        if metric.kind.takes_k() && *k == 0 {
            let what = "`hits` needs a `k` of 1 or more";
            return Err(metric.wrong(Code::ValueOutOfRange, what).into());
        }
        let count = rows.first().map_or(0, ColumnData::len);
        let tuples = check::tuples(knowledge, metric, arguments, rows, count)?;
        let mut ranked = Ranked {
            asked: Asked::new(knowledge, &metric.of)?,
            predicate,
            arity: arguments.len(),
            of: *of,
            candidates: knowledge.data.size(*sort),
            k: *k,
            kind: metric.kind,
            questions: Vec::new(),
            rows: count,
            numbers: tuples.numbers,
        };
        let mut places: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        for (i, row) in tuples.arguments.chunks_exact(ranked.arity).enumerate() {
            let (question, answer) = ranked.question(row);
            let place = *places.entry(question.clone()).or_insert_with(|| {
                ranked.questions.push(Question {
                    row: question,
                    asked_by: Vec::new(),
                    known: FxHashSet::default(),
                });
                ranked.questions.len() - 1
            });
            ranked.questions[place].asked_by.push((i, answer));
        }
        for (table, places_of_arguments) in filter {
            let columns = table_columns(knowledge, metric, arguments, table, places_of_arguments)?;
            let rows = columns.first().map_or(0, |cells| cells.len());
            for row in 0..rows {
                let tuple: Vec<u32> = columns.iter().map(|cells| cells[row]).collect();
                let (question, answer) = ranked.question(&tuple);
                if let Some(&place) = places.get(&question) {
                    ranked.questions[place].known.insert(answer);
                }
            }
        }
        Ok(ranked)
    }

    /// A row as a question and its answer.
    fn question(&self, row: &[u32]) -> (Vec<u32>, u32) {
        let mut question = row.to_vec();
        let answer = std::mem::replace(&mut question[self.of], 0);
        (question, answer)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn value(&self, ranks: &[f64]) -> Result<f64, MetricError> {
        match self.kind.figure() {
            Figure::Ranks(figure) => figure(ranks),
            Figure::FirstRanks(figure) => figure(ranks, self.k),
            _ => Err(MetricError::DoesNotFit),
        }
    }

    /// The rank of each row; NaN where a number of the model is.
    pub fn ranks(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let output = knowledge.outputs[self.predicate];
        let mut ranks = vec![f64::NAN; self.rows];
        let stop = Arc::clone(model.stop());
        let in_laws = worlds.is_some_and(|worlds| worlds.speak_of(self.predicate));
        // A softmax is one over its last argument only.
        let as_it_is = output.kind != OutputKind::Softmax || self.of + 1 == self.arity;
        let closed = !in_laws
            && as_it_is
            && matches!(knowledge.predicates[self.predicate], Ground::ClosedForm(_));
        let most = if closed { PRODUCTS } else { BLOCK };
        let (foretold, each) = (Foretold::default(), (most / self.candidates).max(1));
        let mut each = each.min(MOST_QUESTIONS);
        let mut from = 0;
        while from < self.questions.len() {
            let block = &self.questions[from..self.questions.len().min(from + each)];
            model.unless_stopped()?;
            foretold.done(from as u64, self.questions.len() as u64, || {
                let rows = self.questions.len() as u128 * self.candidates as u128;
                let name = &knowledge.theory()[self.predicate].name;
                format!("a metric asks `{name}` about {} rows", thousands(rows))
            });
            let questions = block.iter().flat_map(|question| &question.row).copied();
            let questions: Vec<u32> = questions.collect();
            let of = (self.of, self.candidates);
            let found = match closed {
                true => model.scores_of_all(self.predicate, &questions, of, &self.numbers)?,
                false => None,
            };
            if closed && found.is_none() && each > (BLOCK / self.candidates).max(1) {
                // Row by row, it is a list of rows that takes memory.
                each = (BLOCK / self.candidates).max(1);
                continue;
            }
            from += block.len();
            let found: Vec<Vec<(usize, f64)>> = match found {
                Some(scores) => (block.par_iter().enumerate())
                    .map(|(at, question)| {
                        let score = |individual| scores.at(at, individual);
                        question.ranks(|answer| question.rank(scores.of(at), score, answer), &stop)
                    })
                    .collect(),
                None => {
                    let scores = self.scores((knowledge, worlds), model, &questions)?;
                    (block
                        .par_iter()
                        .zip(scores.par_chunks_exact(self.candidates)))
                    .map(|(question, scores)| {
                        let score = |individual: u32| scores[individual as usize];
                        let all = || std::iter::once(scores);
                        question.ranks(|answer| question.rank(all(), score, answer), &stop)
                    })
                    .collect()
                }
            };
            for (row, rank) in found.into_iter().flatten() {
                ranks[row] = rank;
            }
        }
        model.unless_stopped()?;
        Ok(ranks)
    }

    /// The scores of all candidates for each question.
    fn scores(
        &self,
        (knowledge, worlds): (&KnowledgeBase, Option<&Worlds>),
        model: &mut Model,
        questions: &[u32],
    ) -> Result<Vec<f64>, Diagnostics> {
        let mut tuples = Vec::with_capacity(questions.len() * self.candidates);
        for question in questions.chunks_exact(self.arity) {
            for candidate in 0..self.candidates as u32 {
                let start = tuples.len();
                tuples.extend_from_slice(question);
                tuples[start + self.of] = candidate;
            }
        }
        let count = tuples.len() / self.arity;
        let rows = AskedRows {
            arguments: tuples,
            numbers: self.numbers.clone(),
        };
        PredicateAtRows::new(self.asked.clone(), rows, count).scores(knowledge, model, worlds)
    }
}

/// The columns of a table in the order of the arguments.
fn table_columns<'k>(
    knowledge: &'k KnowledgeBase,
    metric: &Metric,
    arguments: &[ArgumentSort],
    table: &str,
    places: &[usize],
) -> Result<Vec<&'k [u32]>, Diagnostics> {
    let theory = knowledge.theory();
    let unknown = || metric.place.mark(theory.unknown(SymbolKind::Table, table));
    let id = theory.table(table).ok_or_else(unknown)?;
    let wrong = || {
        let what = format!(
            "the rows of table `{table}` cannot be known answers of `{}`: its columns do not match the arguments",
            metric.of
        );
        metric.wrong(Code::WrongSort, what)
    };
    let declared = &knowledge.theory()[id].columns;
    if declared.len() != arguments.len() || places.len() != arguments.len() {
        return Err(wrong().into());
    }
    let rows = knowledge.data.table(id).ok_or_else(wrong)?;
    let mut columns = Vec::new();
    for (&place, argument) in places.iter().zip(arguments) {
        use logltn::theory::ColumnSort;
        let sort = declared.get(place).map(|column| column.sort);
        let (Some(ColumnSort::Sort(sort)), ArgumentSort::Sort(expected)) = (sort, argument) else {
            return Err(wrong().into());
        };
        match &rows.columns[place] {
            ColumnData::Individuals(cells) if sort == *expected => columns.push(&cells[..]),
            _ => return Err(wrong().into()),
        }
    }
    Ok(columns)
}
