//! The values of a closed form for every individual of a sort in one place, for many questions at once.

use logltn::Diagnostics;
use logltn::theory::PredicateId;
use logltn_nn::Floats;
use rayon::prelude::*;

use super::out_of_range::OutOfRange;
use super::{Answer, Model, Rows, Split};
use crate::closed_form::Work;

/// This many individuals are a thread's at once.
const CHUNK: usize = 1024;

/// The numbers of all individuals for each question: first those of some individuals for all questions, then those of others.
pub(crate) struct Scores {
    numbers: Vec<f32>,
    questions: usize,
    individuals: usize,
}

impl Scores {
    /// Those of one question, some individuals after the other.
    pub fn of(&self, question: usize) -> impl Iterator<Item = &[f32]> {
        (self.numbers.chunks(CHUNK * self.questions)).map(move |chunk| {
            let width = chunk.len() / self.questions;
            &chunk[question * width..(question + 1) * width]
        })
    }

    /// That of one question and individual.
    pub fn at(&self, question: usize, individual: u32) -> f32 {
        let (chunk, within) = (individual as usize / CHUNK, individual as usize % CHUNK);
        let width = CHUNK.min(self.individuals - chunk * CHUNK);
        self.numbers[chunk * CHUNK * self.questions + question * width + within]
    }
}

/// What a thread works in.
#[derive(Default)]
struct Room {
    work: Work<f32>,
    alone: Floats,
    packed: Floats,
    sums: Vec<Vec<f32>>,
    tuples: Vec<u32>,
}

impl Model {
    /// The values of a closed form for each question, with each of this many individuals at the place `of`: in single
    /// precision, as products of matrices. `None` if it is no such product.
    ///
    /// # Errors
    /// If a number cannot be.
    pub(crate) fn scores_of_all(
        &mut self,
        predicate: PredicateId,
        questions: &[u32],
        (of, individuals): (usize, usize),
        numbers: &[f64],
    ) -> Result<Option<Scores>, Diagnostics> {
        let is_it = |split: &Split| split.place == of;
        let answer = self.answer_for_rows(predicate)?;
        let Some(answer) = answer.filter(|a| self.feed(*a).1.splits.iter().any(is_it)) else {
            return Ok(None);
        };
        self.set_numbers(numbers);
        let found = self.scores_in(answer, questions, of, individuals);
        found.map(Some).map_err(|(tuple, wrong)| {
            let rows = Rows::new(&tuple, tuple.len(), numbers);
            self.refuse(answer, rows, wrong)
        })
    }

    /// The same, or the first row with a number that cannot be.
    fn scores_in(
        &self,
        answer: Answer,
        questions: &[u32],
        of: usize,
        individuals: usize,
    ) -> Result<Scores, (Vec<u32>, OutOfRange)> {
        let ((own, feed), sources) = (self.feed(answer), self.sources());
        let tape = &own.tape;
        let split = (feed.splits.iter().find(|split| split.place == of)).expect("it was asked for");
        let count = questions.len() / feed.arity;
        let together = split.sums.iter().map(|factors| {
            let mut vectors = Floats::default();
            factors.room(count, &mut vectors);
            let room = (&mut vectors, &mut Vec::new());
            factors.together(sources, questions, feed.arity, room);
            vectors
        });
        let together: Vec<Floats> = together.collect();
        let whole = split.sums.len() == 1 && tape.is_result(split.sums[0].at);
        let mut numbers = vec![0.0; count * individuals];
        let chunks = numbers.par_chunks_mut(CHUNK * count).enumerate();
        let wrong = chunks.map_init(Room::default, |room, (chunk, out)| {
            if sources.are_stopped() {
                return None;
            }
            let width = out.len() / count;
            let first = (chunk * CHUNK) as u32;
            room.sums.resize_with(split.sums.len(), Vec::new);
            for ((factors, together), sums) in split.sums.iter().zip(&together).zip(&mut room.sums)
            {
                factors.room(width, &mut room.alone);
                let those = first..first + width as u32;
                factors.alone(sources, those, &mut room.alone);
                sums.resize(out.len(), 0.0);
                let sums = if whole { &mut *out } else { &mut sums[..] };
                factors.dots(together, &room.alone, &mut room.packed, sums);
            }
            for (question, (tuple, out)) in (questions
                .chunks_exact(feed.arity)
                .zip(out.chunks_exact_mut(width)))
            .enumerate()
            {
                for (at, out) in out.chunks_mut(tape.rows).enumerate() {
                    if whole {
                        break;
                    }
                    let from = at * tape.rows;
                    room.tuples.clear();
                    for individual in first + from as u32..first + (from + out.len()) as u32 {
                        room.tuples.extend_from_slice(tuple);
                        let last = room.tuples.len() - feed.arity;
                        room.tuples[last + of] = individual;
                    }
                    let rows = Rows::new(&room.tuples, feed.arity, &[]);
                    let (plan, work) = (&split.forward, &mut room.work);
                    work.prepare(plan, out.len());
                    for (factors, sums) in split.sums.iter().zip(&room.sums) {
                        let sums = &sums[question * width + from..][..out.len()];
                        let known = work.result_mut(plan, factors.at, out.len());
                        known.copy_from_slice(sums);
                    }
                    own.block(feed, plan, sources, (rows, 0), work, (&[], &mut []));
                    work.root(plan, out);
                }
            }
            own.in_range(sources, out).err().map(|wrong| {
                let start = wrong.row / width * feed.arity;
                let mut tuple = questions[start..start + feed.arity].to_vec();
                tuple[of] = first + (wrong.row % width) as u32;
                (tuple, OutOfRange { row: 0, ..wrong })
            })
        });
        match wrong.collect::<Vec<_>>().into_iter().flatten().next() {
            Some(wrong) => Err(wrong),
            None => Ok(Scores {
                numbers,
                questions: count,
                individuals,
            }),
        }
    }
}
