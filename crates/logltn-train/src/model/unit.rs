//! A unit: one network with everything that reads it. Its rows come in feeds, one for each way in which
//! its inputs are put together; all rows of a step go through the network at once, each distinct one once.

use logltn::ArgumentShape;
use logltn_nn::Network;
use rustc_hash::FxHashMap;

/// A network and its rows of the current step.
#[derive(Debug)]
pub(super) struct Unit {
    /// What stands in checkpoints before the names of its tensors.
    pub name: String,
    pub network: Network,
    pub input_width: usize,
    pub output_width: usize,
    pub feeds: Vec<Feed>,
    /// Some input is learnt, here or in another unit, so the gradient goes on.
    pub passes_gradient: bool,
    /// All its inputs are data: if the rows stay, so do the inputs.
    pub reads_data_only: bool,
    pub inputs: Vec<f32>,
    pub outputs: Vec<f32>,
    pub by_inputs: Vec<f32>,
    pub by_outputs: Vec<f32>,
}

impl Unit {
    /// The number of rows in all feeds.
    pub fn rows(&self) -> usize {
        self.feeds.last().map_or(0, |f| f.start + f.rows)
    }
}

/// Rows whose inputs are put together in one way.
#[derive(Debug, Default)]
pub(super) struct Feed {
    pub shape: Vec<ArgumentShape>,
    /// The number of individuals that name a row.
    pub arity: usize,
    pub pieces: Vec<Piece>,
    pub rows: usize,
    /// The individuals of each row.
    pub tuples: Vec<u32>,
    /// The number of its first row among those of the unit.
    pub start: usize,
    pub numbers: FxHashMap<Box<[u32]>, u32>,
}

impl Feed {
    pub fn clear(&mut self) {
        self.rows = 0;
        self.tuples.clear();
        self.numbers.clear();
    }

    pub fn tuple(&self, row: usize) -> &[u32] {
        &self.tuples[row * self.arity..(row + 1) * self.arity]
    }

    /// The row of these individuals, a new one if there is none yet.
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
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Numbers `from..from + width` of an individual's vector.
    Vector {
        place: usize,
        sort: usize,
        from: usize,
        width: usize,
    },
    /// How much of the first box lies in the second: boxes are xmin, ymin, xmax, ymax.
    Containment([BoxPlace; 2]),
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
#[derive(Clone, Copy, Debug)]
pub(super) struct BoxPlace {
    pub place: usize,
    pub sort: usize,
    pub from: usize,
}

impl Piece {
    pub fn width(&self) -> usize {
        match self {
            Piece::Vector { width, .. } | Piece::Unit { width, .. } => *width,
            Piece::Containment(_) => 1,
        }
    }
}

/// The share of box `a` that lies in box `b`; 0 for a box without an area.
pub(super) fn containment(a: [f32; 4], b: [f32; 4]) -> f32 {
    let side = |low: f32, high: f32| (high - low).max(0.0);
    let area = side(a[0], a[2]) * side(a[1], a[3]);
    let common = side(a[0].max(b[0]), a[2].min(b[2])) * side(a[1].max(b[1]), a[3].min(b[3]));
    if area > 0.0 { common / area } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::containment;

    #[test]
    fn containment_is_the_share_of_the_first_box() {
        let (small, large) = ([0.0, 0.0, 1.0, 1.0], [0.5, 0.0, 4.0, 4.0]);
        assert_eq!(containment(small, large), 0.5);
        assert_eq!(containment(large, small), 0.5 / 14.0);
        assert_eq!(containment(small, [2.0, 2.0, 3.0, 3.0]), 0.0);
        assert_eq!(containment([1.0; 4], large), 0.0);
    }
}
