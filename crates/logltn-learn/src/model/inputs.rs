//! The inputs of a unit's rows, put together from vectors, boxes and the outputs of other units.

use std::sync::atomic::{AtomicBool, Ordering};

use logltn::vector::Real;
use rayon::prelude::*;

use super::parameters::Parameters;
use super::table::{Given, Table};
use super::unit::{BoxPlace, Feed, Piece, Unit, containment};
use super::vectors::{SortVectors, copy};

/// Fewer numbers than this are put together by one thread.
const PARALLEL_NUMBERS: usize = 1 << 16;

/// The rows that a thread takes at once.
const ROWS: usize = 16;

/// Where inputs come from.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub units: &'a [Unit],
    pub vectors: &'a [SortVectors],
    pub learnable: &'a [Parameters],
    /// The numbers that are arguments.
    pub numbers: &'a [f64],
    /// What functions and predicates say that are given by data.
    pub given: &'a [Given],
    /// From when this is set, nothing counts any more.
    pub stop: &'a AtomicBool,
}

impl Sources<'_> {
    /// Whether to stop.
    pub fn are_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The inputs of all rows of a unit.
    pub fn put_together(self, unit: usize, inputs: &mut Vec<f32>) {
        let unit = &self.units[unit];
        let width = unit.input_width;
        inputs.resize(unit.rows() * width, 0.0);
        if width == 0 {
            return;
        }
        for feed in &unit.feeds {
            let inputs = &mut inputs[feed.start * width..(feed.start + feed.rows) * width];
            if inputs.len() < PARALLEL_NUMBERS {
                self.put_rows_together(feed, width, 0, inputs);
                continue;
            }
            inputs
                .par_chunks_mut(ROWS * width)
                .enumerate()
                .filter(|_| !self.are_stopped())
                .for_each(|(i, inputs)| self.put_rows_together(feed, width, i * ROWS, inputs));
        }
    }

    /// The inputs of some rows of a feed, from row `first` on.
    fn put_rows_together(self, feed: &Feed, width: usize, first: usize, inputs: &mut [f32]) {
        for (i, inputs) in inputs.chunks_exact_mut(width).enumerate() {
            let mut rest = inputs;
            for piece in &feed.pieces {
                let (out, others) = rest.split_at_mut(piece.width());
                self.put(feed.tuple(first + i), first + i, piece, out);
                rest = others;
            }
        }
    }

    /// One piece of a row's inputs.
    pub fn put<T: Real>(self, tuple: &[u32], row: usize, piece: &Piece, out: &mut [T]) {
        match piece {
            Piece::Vector {
                place, sort, from, ..
            } => self.vectors[*sort].read(tuple[*place], *from, out, self.learnable),
            Piece::Number { place } => out[0] = T::from_f64(self.numbers[tuple[*place] as usize]),
            Piece::Integer { place, first } => {
                out[0] = T::from_f64((first + i64::from(tuple[*place])) as f64);
            }
            Piece::Table { table, width, .. } => {
                let Some(row) = piece.row_of_table(tuple) else {
                    return out.fill(T::ZERO);
                };
                let row = row * width..(row + 1) * width;
                match *table {
                    Table::Given(at) => {
                        let pairs = out.iter_mut().zip(&self.given[at].values()[row]);
                        pairs.for_each(|(out, &x)| *out = T::from_f64(x));
                    }
                    Table::Learnt(at) => copy(&self.learnable[at].values[row], out),
                }
            }
            Piece::Containment { boxes, .. } => {
                let [a, b] = boxes.map(|place| self.corners(place, tuple));
                out[0] = T::from_f64(f64::from(containment(a, b)));
            }
            Piece::Unit {
                unit, feed, rows, ..
            } => {
                let other = &self.units[*unit];
                let row = other.feeds[*feed].start + rows[row] as usize;
                let outputs = other.network.outputs();
                copy(&outputs[row * out.len()..(row + 1) * out.len()], out);
            }
        }
    }

    /// The box of one of a row's individuals.
    pub fn corners(self, place: BoxPlace, tuple: &[u32]) -> [f32; 4] {
        let mut corners = [0.0; 4];
        let vectors = &self.vectors[place.sort];
        let individual = tuple[place.place];
        vectors.read(individual, place.from, &mut corners, self.learnable);
        corners
    }
}
