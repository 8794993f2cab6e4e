//! How long the networks and closed forms of a model take for their rows, and what they keep of them.

use std::time::Instant;

use logltn::{ArgumentShape, Request, early};

use super::unit::Piece;
use super::{Answer, Model};
use crate::knowledge::KnowledgeBase;
use crate::slow_work::{say_if_slow, thousands};

/// How many rows of a network are measured.
const SAMPLE: usize = 256;

/// Rows of networks that are worth an estimate.
const MANY_ROWS: usize = 1 << 16;

/// What a number of a closed form takes, there and back. Measured.
const SECONDS_PER_NUMBER: f64 = 5e-10;

impl Model {
    /// Warns if its networks take a minute or more for their rows, forward only.
    pub(crate) fn foretell(&self) {
        let large = self.units.iter().filter(|unit| unit.rows() >= MANY_ROWS);
        if !early::is_heard() || large.clone().next().is_none() {
            return;
        }
        // The way back takes twice as long.
        let seconds: f64 = large
            .clone()
            .map(|unit| seconds(unit.network.spec(), unit.rows()) / 3.0)
            .sum();
        say_if_slow(seconds, || {
            let rows: usize = large.map(|unit| unit.rows()).sum();
            format!("networks are asked about {} rows", thousands(rows as u128))
        });
    }

    /// By request of an attached engine: about how many bytes its rows take in training; and, if it is to be
    /// `timed`, how many seconds all networks and closed forms take for a step. Rows of networks that others read count for those.
    pub(crate) fn work(
        &mut self,
        knowledge: &KnowledgeBase,
        requests: &[Request],
        timed: bool,
    ) -> (Vec<u128>, f64) {
        let mut bytes = Vec::with_capacity(requests.len());
        let mut rows = vec![0_usize; self.units.len()];
        let mut computed = 0;
        for (at, request) in requests.iter().enumerate() {
            let (mut taken, mut open) = (0, Vec::new());
            if let Some(Answer { program, feed }) = self.answers[at] {
                let program = &self.programs[program];
                let (bytes, numbers) = program.work(feed, request.rows());
                taken += bytes;
                computed += numbers;
                let read = program.feeds[feed].pieces.iter().filter_map(Piece::reads);
                open.extend(read.map(|(unit, feed, _)| (unit, feed, request.rows())));
            }
            while let Some((unit, feed, count)) = open.pop() {
                let of = &self.units[unit];
                rows[unit] += count;
                let numbers = 2 * of.input_width + 3 * of.output_width + of.feeds[feed].arity;
                // A row's entry in a table of those that are known takes about so much more.
                let row = 4 * numbers as u128 + 80;
                taken += of.network.bytes_kept(count) + row * count as u128;
                let leaves = sizes(knowledge, &of.feeds[feed].shape);
                let read = of.feeds[feed].pieces.iter().filter_map(Piece::reads);
                for (other, other_feed, places) in read {
                    let distinct = (places.iter())
                        .map(|&place| leaves.get(place).copied().unwrap_or(usize::MAX))
                        .fold(1, usize::saturating_mul);
                    open.push((other, other_feed, count.min(distinct)));
                }
            }
            bytes.push(taken);
        }
        let seconds = match timed {
            true => {
                let units = self.units.iter().zip(&rows);
                let networks = units.map(|(unit, &rows)| seconds(unit.network.spec(), rows));
                let threads = rayon::current_num_threads().max(1);
                networks.sum::<f64>() + computed as f64 * SECONDS_PER_NUMBER / threads as f64
            }
            false => 0.0,
        };
        (bytes, seconds)
    }
}

/// How many there are of each leaf of some arguments.
fn sizes(knowledge: &KnowledgeBase, shape: &[ArgumentShape]) -> Vec<usize> {
    let sizes = shape.iter().flat_map(|argument| match argument {
        ArgumentShape::Individual(sort) if (sort.0 as usize) < knowledge.theory().sorts.len() => {
            vec![knowledge.data.size(*sort) + knowledge.theory().constants.len()]
        }
        ArgumentShape::Individual(_) | ArgumentShape::Number | ArgumentShape::Row(_) => {
            vec![usize::MAX]
        }
        ArgumentShape::Apply(_, arguments) => sizes(knowledge, arguments),
    });
    sizes.collect()
}

/// How long this many rows of a network take, forward and back.
fn seconds(spec: &logltn_nn::NetworkSpec, rows: usize) -> f64 {
    let sample = rows.min(SAMPLE);
    let Ok(mut network) = logltn_nn::Network::new(spec, 0) else {
        return 0.0;
    };
    if sample == 0 {
        return 0.0;
    }
    let input = vec![0.5; sample * network.input_shape().len()];
    let by_output = vec![1.0; sample * network.output_shape().len()];
    let mut best = f64::INFINITY;
    for _ in 0..2 {
        let begun = Instant::now();
        network.forward(&input, sample);
        network.backward_anew(&by_output, None);
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let whole = best * (rows as f64 / sample as f64);
    match rows > sample {
        // So few rows are not shared among threads.
        true => whole / rayon::current_num_threads().max(1) as f64,
        false => whole,
    }
}
