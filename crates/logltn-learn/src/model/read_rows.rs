//! Which rows of learnable tables a step may have given a gradient.
//!
//! Of a hundred thousand embeddings a step reads a thousand. Where only those are moved (`sparse_adam`), gradients of all others
//! are neither set to 0, nor added up, nor looked at; they are 0.

use logltn::Engine;

use super::parameters::Parameters;
use super::table::Table;
use super::unit::Piece;
use super::vectors::SortVectors;
use super::{Answer, Model, Rows};

/// The rows of a table that the last step read.
#[derive(Clone, Debug, Default)]
pub struct ReadRows {
    /// Each once, in order. Nothing if any row may have a gradient.
    listed: Option<Vec<u32>>,
    /// For each row of the table the step that last read it.
    when: Vec<u32>,
    step: u32,
}

impl ReadRows {
    pub(super) fn listed(&self) -> Option<&[u32]> {
        self.listed.as_deref()
    }

    /// Forgets which rows they are.
    pub(super) fn forget(&mut self) {
        self.listed = None;
    }

    fn begin(&mut self, rows: usize) {
        self.when.resize(rows, 0);
        self.step = self.step.wrapping_add(1);
        if self.step == 0 {
            self.when.fill(0);
            self.step = 1;
        }
        self.listed.get_or_insert_default().clear();
    }

    #[inline]
    fn mark(&mut self, row: usize) {
        if self.when[row] != self.step {
            self.when[row] = self.step;
            if let Some(listed) = &mut self.listed {
                listed.push(row as u32);
            }
        }
    }
}

impl Model {
    /// Whether steps keep account of the rows that they read.
    pub(crate) fn set_sparse(&mut self, sparse: bool) {
        self.sparse = sparse;
    }

    /// Sets the gradients of all tables to 0.
    pub(super) fn zero_tables(&mut self) {
        for (table, gradients) in self.learnable.iter_mut().zip(&mut self.gradients.tables) {
            let width = table.row_width().unwrap_or(0);
            match table.read.listed() {
                None => gradients.fill(0.0),
                Some(rows) => rows.iter().for_each(|&row| {
                    gradients[row as usize * width..][..width].fill(0.0);
                }),
            }
            table.read.forget();
        }
    }

    /// Lists the rows that the requests of an engine read: no others get a gradient.
    pub(super) fn list_read_rows(&mut self, engine: &Engine<f32>) {
        if !self.sparse {
            return;
        }
        let tables = &mut self.learnable;
        for table in tables.iter_mut() {
            if let Some(width) = table.row_width() {
                table.read.begin(table.values.len() / width);
            }
        }
        for (request, answer) in engine.requests().iter().zip(&self.answers) {
            let Some(Answer { program, feed }) = *answer else {
                continue;
            };
            let classes = self.programs[program].classes;
            for piece in &self.programs[program].feeds[feed].pieces {
                // All classes of a softmax are read, and no row names them.
                if let (Some(classes), Piece::Vector { place, sort, .. }) = (classes, piece)
                    && *place == request.arity
                {
                    for class in 0..classes {
                        if let Some((table, row)) = self.vectors[*sort].learnt(class) {
                            tables[table].read.mark(row);
                        }
                    }
                    continue;
                }
                mark(tables, &self.vectors, piece, Rows::from(request).iter());
            }
        }
        for feed in self.units.iter().flat_map(|unit| &unit.feeds) {
            for piece in &feed.pieces {
                let rows = feed.tuples.chunks_exact(feed.arity.max(1));
                mark(tables, &self.vectors, piece, rows.take(feed.learning));
            }
        }
        for table in tables {
            if let Some(listed) = &mut table.read.listed {
                listed.sort_unstable();
            }
        }
    }
}

/// Marks the rows of tables that a piece reads.
fn mark<'r>(
    tables: &mut [Parameters],
    vectors: &[SortVectors],
    piece: &Piece,
    rows: impl Iterator<Item = &'r [u32]> + Clone,
) {
    if let Piece::Table {
        table: Table::Learnt(at),
        width,
        ..
    } = piece
    {
        if let Some(own) = tables[*at].row_width() {
            let places = rows.filter_map(|row| piece.row_of_table(row));
            places.for_each(|place| tables[*at].read.mark(place * width / own));
        }
        return;
    }
    let mut at = |sort: usize, place: usize| {
        for row in rows.clone() {
            if let Some((table, row)) = vectors[sort].learnt(row[place]) {
                tables[table].read.mark(row);
            }
        }
    };
    match piece {
        Piece::Vector { place, sort, .. } => at(*sort, *place),
        Piece::Containment { boxes, .. } => {
            boxes.iter().for_each(|place| at(place.sort, place.place))
        }
        // What another network reads is marked with its own rows.
        Piece::Unit { .. } | Piece::Number { .. } | Piece::Integer { .. } | Piece::Table { .. } => {
        }
    }
}
