//! A unit: one network with everything that reads it. Its rows come in feeds, one for each way in which
//! its inputs are put together; all rows of a step go through the network at once, each distinct one once.

use std::sync::atomic::{AtomicBool, Ordering};

use logltn::ArgumentShape;
use logltn_nn::Network;
use rustc_hash::FxHashMap;

use super::table::Table;
use crate::given_numbers::place;

/// This many rows are looked up between two checks for a stop.
const ROWS_BETWEEN_LOOKS: usize = 1 << 16;

/// A network and its rows of the current step.
#[derive(Debug)]
pub(crate) struct Unit {
    /// What is in checkpoints before the names of its tensors.
    pub name: String,
    /// The unit whose parameters it uses, if they are not its own: a network that reads its own outputs, as
    /// in `f(f(x))`, runs more than once in a step.
    pub twin_of: Option<usize>,
    pub network: Network,
    pub input_width: usize,
    pub output_width: usize,
    pub feeds: Vec<Feed>,
    /// Some input is learnt, here or in another unit, so the gradient continues.
    pub passes_gradient: bool,
    /// All its inputs are data: if the rows stay, so do the inputs.
    pub reads_data_only: bool,
    pub inputs: Vec<f32>,
    pub by_inputs: Vec<f32>,
}

impl Unit {
    /// The number of rows in all feeds.
    pub fn rows(&self) -> usize {
        self.feeds.last().map_or(0, |f| f.start + f.rows)
    }

    /// Up to which row a gradient can come back.
    pub fn rows_that_learn(&self) -> usize {
        let mut learning = self.feeds.iter().filter(|f| f.learning > 0);
        learning.next_back().map_or(0, |f| f.start + f.learning)
    }
}

/// Rows whose inputs are put together in one way.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    pub shape: Vec<ArgumentShape>,
    /// The number of individuals that name a row.
    pub arity: usize,
    pub pieces: Vec<Piece>,
    pub rows: usize,
    /// To how many of them, the first ones, a gradient can come back. The others are only read with `stop`.
    pub learning: usize,
    /// The individuals of each row.
    pub tuples: Vec<u32>,
    /// The number of its first row among those of the unit.
    pub start: usize,
    pub numbers: FxHashMap<Box<[u32]>, u32>,
}

impl Feed {
    pub fn clear(&mut self) {
        self.rows = 0;
        self.learning = 0;
        self.tuples.clear();
        self.numbers.clear();
    }

    pub fn tuple(&self, row: usize) -> &[u32] {
        &self.tuples[row * self.arity..(row + 1) * self.arity]
    }

    /// The row of these individuals, added if it is new.
    pub fn row(&mut self, tuple: &[u32]) -> u32 {
        if let Some(&row) = self.numbers.get(tuple) {
            return row;
        }
        let row = self.rows as u32;
        self.tuples.extend_from_slice(tuple);
        self.numbers.insert(tuple.into(), row);
        self.rows += 1;
        row
    }
}

/// A part of a row's inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Numbers `from..from + width` of an individual's vector.
    Vector {
        place: usize,
        sort: usize,
        from: usize,
        width: usize,
        /// No gradient flows back.
        stop: bool,
    },
    /// A number.
    Number { place: usize },
    /// The number that an individual of an integer sort is, the least of which is `first`.
    Integer { place: usize, first: i64 },
    /// The numbers that a table has for some of the row's individuals.
    Table {
        table: Table,
        places: Vec<usize>,
        /// How many there are of each of these individuals.
        sizes: Vec<usize>,
        width: usize,
    },
    /// How much of the first box lies in the second: boxes are xmin, ymin, xmax, ymax.
    Containment {
        boxes: [BoxPlace; 2],
        /// No gradient flows back.
        stop: bool,
    },
    /// The outputs of another unit at some of the row's individuals.
    Unit {
        unit: usize,
        feed: usize,
        places: Vec<usize>,
        width: usize,
        /// No gradient flows back.
        stop: bool,
        /// The other unit's rows, by row of this feed, in the current step.
        rows: Vec<u32>,
    },
}

/// Four numbers of an individual's vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoxPlace {
    pub place: usize,
    pub sort: usize,
    pub from: usize,
}

impl Piece {
    pub fn width(&self) -> usize {
        match self {
            Piece::Vector { width, .. }
            | Piece::Unit { width, .. }
            | Piece::Table { width, .. } => *width,
            Piece::Number { .. } | Piece::Integer { .. } | Piece::Containment { .. } => 1,
        }
    }

    /// Whether no gradient flows back.
    pub fn stops(&self) -> bool {
        match self {
            Piece::Number { .. } | Piece::Integer { .. } => true,
            Piece::Table { table, .. } => matches!(table, Table::Given(_)),
            Piece::Vector { stop, .. }
            | Piece::Containment { stop, .. }
            | Piece::Unit { stop, .. } => *stop,
        }
    }

    /// The unit and the feed that it reads, with the places of the individuals it reads them at.
    pub fn reads(&self) -> Option<(usize, usize, &[usize])> {
        match self {
            Piece::Unit {
                unit, feed, places, ..
            } => Some((*unit, *feed, places.as_slice())),
            _ => None,
        }
    }

    /// Which row of its table is that of some individuals; `None` if there is nothing about one of them, or no table.
    pub fn row_of_table(&self, tuple: &[u32]) -> Option<usize> {
        let Piece::Table { places, sizes, .. } = self else {
            return None;
        };
        place(sizes, places.iter().map(|&place| tuple[place]))
    }

    /// Forgets which rows of another unit it reads.
    pub fn forget(&mut self) {
        if let Piece::Unit { rows, .. } = self {
            rows.clear();
        }
    }

    /// Asks the unit that it reads, if it reads one, about rows that it has not asked about yet; unless it is to stop.
    pub fn ask<'r>(
        &mut self,
        units: &mut [Unit],
        rows: impl Iterator<Item = &'r [u32]>,
        stop: &AtomicBool,
    ) {
        if let Piece::Unit {
            unit,
            feed,
            places,
            rows: known,
            ..
        } = self
        {
            let theirs = &mut units[*unit].feeds[*feed];
            let mut tuple = Vec::new();
            for row in rows.skip(known.len()) {
                if known.len().is_multiple_of(ROWS_BETWEEN_LOOKS) && stop.load(Ordering::Relaxed) {
                    return;
                }
                tuple.clear();
                tuple.extend(places.iter().map(|&place| row[place]));
                known.push(theirs.row(&tuple));
            }
        }
    }

    /// Whether both put the same numbers in, whatever the rows of the current step.
    pub fn reads_the_same(&self, other: &Piece) -> bool {
        let bare = |piece: &Piece| {
            let mut piece = piece.clone();
            piece.forget();
            piece
        };
        bare(self) == bare(other)
    }
}

/// The share of box `a` that lies in box `b`; 0 for a box without an area.
pub(super) fn containment(a: [f32; 4], b: [f32; 4]) -> f32 {
    let side = |low: f32, high: f32| (high - low).max(0.0);
    let area = side(a[0], a[2]) * side(a[1], a[3]);
    let common = side(a[0].max(b[0]), a[2].min(b[2])) * side(a[1].max(b[1]), a[3].min(b[3]));
    if area > 0.0 { common / area } else { 0.0 }
}

/// The derivatives of [`containment`] by the numbers of both boxes.
pub(super) fn containment_gradient(a: [f32; 4], b: [f32; 4]) -> [[f32; 4]; 2] {
    let (mut by_a, mut by_b) = ([0.0; 4], [0.0; 4]);
    let side = [a[2] - a[0], a[3] - a[1]];
    let common = [0, 1].map(|i| a[i + 2].min(b[i + 2]) - a[i].max(b[i]));
    if side.iter().chain(&common).any(|length| *length <= 0.0) {
        return [by_a, by_b];
    }
    let area = side[0] * side[1];
    let share = common[0] * common[1] / area;
    for i in [0, 1] {
        let by_common = common[1 - i] / area;
        let by_side = -share / side[i];
        // The nearer edge of the two bounds what they have in common.
        let low = if a[i] >= b[i] { &mut by_a } else { &mut by_b };
        low[i] -= by_common;
        let high = if a[i + 2] <= b[i + 2] {
            &mut by_a
        } else {
            &mut by_b
        };
        high[i + 2] += by_common;
        by_a[i] -= by_side;
        by_a[i + 2] += by_side;
    }
    [by_a, by_b]
}

#[cfg(test)]
mod tests {
    use super::{containment, containment_gradient};

    #[test]
    fn the_gradient_of_containment_is_its_slope() {
        let pairs = [
            ([0.0, 0.1, 1.0, 0.9], [0.5, 0.0, 4.0, 4.0]),
            ([0.5, 0.0, 4.0, 4.0], [0.0, 0.1, 1.0, 0.9]),
            ([0.2, 0.3, 0.6, 0.5], [0.0, 0.0, 1.0, 1.0]),
            ([0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]),
        ];
        for (a, b) in pairs {
            let found = containment_gradient(a, b);
            for (which, i) in [0, 1].into_iter().flat_map(|w| (0..4).map(move |i| (w, i))) {
                let moved = |by: f32| {
                    let mut boxes = [a, b];
                    boxes[which][i] += by;
                    containment(boxes[0], boxes[1])
                };
                let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                let error = (slope - found[which][i]).abs();
                assert!(error < 2e-3, "{a:?} {b:?}: {slope} {found:?}");
            }
        }
    }

    #[test]
    fn containment_is_the_share_of_the_first_box() {
        let (small, large) = ([0.0, 0.0, 1.0, 1.0], [0.5, 0.0, 4.0, 4.0]);
        assert_eq!(containment(small, large), 0.5);
        assert_eq!(containment(large, small), 0.5 / 14.0);
        assert_eq!(containment(small, [2.0, 2.0, 3.0, 3.0]), 0.0);
        assert_eq!(containment([1.0; 4], large), 0.0);
    }
}
