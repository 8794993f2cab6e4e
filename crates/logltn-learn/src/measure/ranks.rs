//! Where the right individual stands among all of its sort.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use logltn::theory::{ArgumentSort, PredicateId};
use logltn::{Code, ColumnData, Diagnostics};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::check::Tuples;
use super::said::Said;
use super::{Known, Metric, check};
use crate::knowledge::KnowledgeBase;
use crate::metrics::{MetricError, MetricKind, hits, mrr, rank};
use crate::model::Model;
use crate::work::{Foretold, thousands};

/// So many tuples are asked about at once: enough for every thread to have questions to rank.
const BLOCK: usize = 1 << 20;

/// True rows, one individual of each to be found.
pub(super) struct Ranked {
    pub predicate: PredicateId,
    arity: usize,
    /// Which argument is looked for, and how many individuals its sort has.
    of: usize,
    candidates: usize,
    /// For `hits`; otherwise the ranks are averaged.
    k: Option<usize>,
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
    /// The rank of an answer; other right answers are no mistakes. NaN where a score is.
    fn rank(&self, scores: &[f64], answer: u32) -> f64 {
        let others = scores.iter().zip(0_u32..);
        let others = others
            .filter(|&(_, candidate)| candidate != answer && !self.known.contains(&candidate));
        let others = others.map(|(&score, _)| score);
        rank(scores[answer as usize], others).unwrap_or(f64::NAN)
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
        if metric.kind == MetricKind::Hits && *k == 0 {
            let what = "`hits` needs a `k` of 1 or more";
            return Err(metric.wrong(Code::ValueOutOfRange, what).into());
        }
        let count = rows.first().map_or(0, ColumnData::len);
        let tuples = check::tuples(knowledge, metric, arguments, rows, count)?;
        let mut ranked = Ranked {
            predicate,
            arity: arguments.len(),
            of: *of,
            candidates: knowledge.data.size(*sort),
            k: (metric.kind == MetricKind::Hits).then_some(*k),
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
        match self.k {
            Some(k) => hits(ranks, k),
            None => mrr(ranks),
        }
    }

    /// The rank of each row; NaN where a number of the model is.
    pub fn ranks(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<Vec<f64>, Diagnostics> {
        let output = knowledge.outputs[self.predicate.index()];
        let mut ranks = vec![f64::NAN; self.rows];
        let mut tuples = Vec::new();
        let stop = Arc::clone(model.stop());
        let (foretold, each) = (Foretold::default(), (BLOCK / self.candidates).max(1));
        for (at, block) in self.questions.chunks(each).enumerate() {
            model.unless_stopped()?;
            foretold.done((at * each) as u64, self.questions.len() as u64, || {
                let rows = self.questions.len() as u128 * self.candidates as u128;
                let name = &knowledge.theory()[self.predicate].name;
                format!("a metric asks `{name}` about {} rows", thousands(rows))
            });
            tuples.clear();
            for question in block {
                for candidate in 0..self.candidates as u32 {
                    let start = tuples.len();
                    tuples.extend_from_slice(&question.row);
                    tuples[start + self.of] = candidate;
                }
            }
            let rows = Tuples {
                arguments: tuples.clone(),
                numbers: self.numbers.clone(),
                rows: block.len() * self.candidates,
            };
            let said = Said::new(self.predicate, output, self.arity, rows);
            let scores = said.scores(knowledge, model)?;
            let asked = block
                .par_iter()
                .zip(scores.par_chunks_exact(self.candidates));
            let found: Vec<Vec<(usize, f64)>> = (asked.map(|(question, scores)| {
                let rows = question.asked_by.iter();
                let rows = rows.take_while(|_| !stop.load(Ordering::Relaxed));
                let ranks = rows.map(|&(row, answer)| (row, question.rank(scores, answer)));
                ranks.collect()
            }))
            .collect();
            for (row, rank) in found.into_iter().flatten() {
                ranks[row] = rank;
            }
        }
        model.unless_stopped()?;
        Ok(ranks)
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
    let id = (knowledge.theory().table(table)).ok_or_else(|| {
        let what = format!("the theory has no table `{table}`");
        metric.wrong(Code::UnknownTable, what)
    })?;
    let wrong = || {
        let what = format!(
            "the rows of table `{table}` cannot be known answers of `{}`: its columns are not the arguments",
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
