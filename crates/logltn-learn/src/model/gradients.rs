//! The derivatives of the loss by what rows are read from, and how those by rows are added to them.

use logltn::vector::{Task, run_task};
use logltn_nn::Floats;

use super::inputs::Sources;
use super::rows::Rows;
use super::table::Table;
use super::unit::{Piece, containment_gradient};
use super::vectors::SortVectors;

/// This many numbers of a vector are added up at once.
const PIECE: usize = 16;

/// What a gradient is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A table of learnable vectors.
    Table(usize),
    /// The outputs of a network.
    Unit(usize),
}

impl Target {
    /// What a piece of rows' inputs reads that is learnt, whether or not gradients flow back.
    pub fn of(piece: &Piece, vectors: &[SortVectors]) -> Vec<Target> {
        let sorts = match piece {
            Piece::Vector { sort, .. } => vec![*sort],
            Piece::Containment { boxes, .. } => boxes.map(|place| place.sort).to_vec(),
            Piece::Unit { unit, .. } => return vec![Target::Unit(*unit)],
            Piece::Table { table, .. } => match table {
                Table::Given(_) => return Vec::new(),
                Table::Learnt(table) => return vec![Target::Table(*table)],
            },
            Piece::Number { .. } | Piece::Integer { .. } => Vec::new(),
        };
        let tables = (sorts.iter()).flat_map(|&s| [vectors[s].embedding, vectors[s].constants]);
        tables.flatten().map(Target::Table).collect()
    }
}

/// Gradients by all of these.
#[derive(Default)]
pub(super) struct Gradients {
    pub tables: Vec<Floats>,
    pub units: Vec<Floats>,
}

impl Gradients {
    /// Those by one.
    pub fn of(&mut self, target: Target) -> &mut Floats {
        let (all, at) = match target {
            Target::Table(table) => (&mut self.tables, table),
            Target::Unit(unit) => (&mut self.units, unit),
        };
        if all.len() <= at {
            all.resize_with(at + 1, Floats::default);
        }
        &mut all[at]
    }

    /// Those by numbers `from..from + width` of an individual's vector, if it is learnt.
    pub fn of_vector(
        &mut self,
        vectors: &SortVectors,
        individual: u32,
        (from, width): (usize, usize),
    ) -> Option<&mut [f32]> {
        let (table, row) = vectors.learnt(individual)?;
        Some(&mut self.tables[table][row * vectors.width() + from..][..width])
    }

    /// Adds those by a piece of some rows' inputs, the first of which is row `first`: each row's are this far apart.
    pub fn add(
        &mut self,
        piece: &Piece,
        (by, stride): (&[f32], usize),
        (rows, first): (Rows<'_>, usize),
        sources: Sources<'_>,
    ) {
        let shape = [rows.count, piece.width(), stride];
        match piece {
            Piece::Vector {
                place, sort, from, ..
            } => {
                let vectors = &sources.vectors[*sort];
                let individual = |row: usize| rows.row(row)[*place];
                let to = |individual| {
                    let (table, row) = vectors.learnt(individual)?;
                    Some((table, row * vectors.width() + from))
                };
                scatter(by, shape, &mut self.tables, individual, to);
            }
            Piece::Unit {
                unit,
                feed,
                rows: theirs,
                width,
                ..
            } => {
                let start = sources.units[*unit].feeds[*feed].start;
                let their_row = |row: usize| theirs[first + row];
                let to = |row| Some((*unit, (start + row as usize) * width));
                scatter(by, shape, &mut self.units, their_row, to);
            }
            Piece::Containment { boxes, .. } => {
                for (row, by) in by.iter().step_by(stride).take(rows.count).enumerate() {
                    let tuple = rows.row(row);
                    let [a, b] = boxes.map(|place| sources.corners(place, tuple));
                    for (slopes, place) in containment_gradient(a, b).iter().zip(boxes) {
                        let vectors = &sources.vectors[place.sort];
                        let own = self.of_vector(vectors, tuple[place.place], (place.from, 4));
                        let pairs = own.into_iter().flatten().zip(slopes);
                        pairs.for_each(|(g, slope)| *g += by * slope);
                    }
                }
            }
            Piece::Table {
                table: Table::Learnt(table),
                width,
                ..
            } => {
                // Each row of the table is read by one row at most.
                for (tuple, by) in rows.iter().zip(by.chunks_exact(stride)) {
                    let at = piece.row_of_table(tuple).unwrap_or(0) * width;
                    let sums = self.tables[*table][at..at + width].iter_mut().zip(by);
                    sums.for_each(|(sum, by)| *sum += by);
                }
            }
            Piece::Number { .. } | Piece::Integer { .. } | Piece::Table { .. } => {}
        }
    }
}

/// Adds the vectors of some rows to those of what each row names, at the table and place that `to` says. There are this many
/// rows of this many numbers, this far apart.
fn scatter(
    by: &[f32],
    shape: [usize; 3],
    tables: &mut [Floats],
    name: impl Fn(usize) -> u32,
    to: impl Fn(u32) -> Option<(usize, usize)>,
) {
    run_task(Scatter {
        by,
        shape,
        tables,
        name,
        to,
    });
}

struct Scatter<'a, N, F> {
    by: &'a [f32],
    shape: [usize; 3],
    tables: &'a mut [Floats],
    name: N,
    to: F,
}

impl<N: Fn(usize) -> u32, F: Fn(u32) -> Option<(usize, usize)>> Task for Scatter<'_, N, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let [rows, width, stride] = self.shape;
        let mut first = 0;
        while first < rows {
            // Rows that follow each other often name the same, such as a relation: then one sum waits for the next, and
            // should not go through memory.
            let name = (self.name)(first);
            let mut end = first + 1;
            while end < rows && (self.name)(end) == name {
                end += 1;
            }
            let by = &self.by[first * stride..(end - 1) * stride + width];
            first = end;
            let Some((table, start)) = (self.to)(name) else {
                continue;
            };
            let sums = &mut self.tables[table][start..start + width];
            let (pieces, rest) = sums.as_chunks_mut::<PIECE>();
            let done = pieces.len() * PIECE;
            for (at, piece) in pieces.iter_mut().enumerate() {
                let mut sum = *piece;
                for by in by.chunks(stride) {
                    let by = &by[at * PIECE..][..PIECE];
                    for k in 0..PIECE {
                        sum[k] += by[k];
                    }
                }
                *piece = sum;
            }
            if !rest.is_empty() {
                for by in by.chunks(stride) {
                    let pairs = rest.iter_mut().zip(&by[done..]);
                    pairs.for_each(|(sum, by)| *sum += by);
                }
            }
        }
    }
}
