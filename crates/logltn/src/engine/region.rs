//! Which places of a table may differ from 0. Lanes have tables as long as that of all literals, of which each touches a part:
//! only that part is cleared and added up, so that sixteen lanes cost no more than one.

use std::iter::once;
use std::ops::Range;

/// The places that a lane touches: chunks of the table where it has neighbouring ones, and at most two regions of columns, since
/// formulas such as symmetry read a predicate by rows and by columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    /// A bit for each chunk.
    chunks: Vec<u64>,
    columns: [Region; 2],
}

/// The places of a chunk: few enough that rows in any order are told apart.
const CHUNK: usize = 256;

impl Touches {
    /// No place, of a table of this length.
    pub fn clear(&mut self, length: usize) {
        self.columns = Default::default();
        self.chunks.clear();
        self.chunks.resize(length.div_ceil(CHUNK).div_ceil(64), 0);
    }

    /// Adds neighbouring places.
    pub fn add(&mut self, places: Range<usize>) {
        if places.is_empty() {
            return;
        }
        let (mut at, last) = (places.start / CHUNK, (places.end - 1) / CHUNK);
        while at <= last {
            let (word, bit) = (at / 64, at % 64);
            let bits = (last - at + 1).min(64 - bit);
            self.chunks[word] |= (u64::MAX >> (64 - bits)) << bit;
            at += bits;
        }
    }

    /// Adds places to the columns that grow least by them.
    pub fn join(&mut self, other: Region) {
        if other.rows <= 1 {
            return self.add(other.hull());
        }
        let [first, second] = self.columns;
        let (mut at, mut joined) = (0, first.joined(other));
        let growth = joined.len() - first.len();
        if growth > 0 {
            let in_second = second.joined(other);
            if in_second.len() - second.len() < growth {
                (at, joined) = (1, in_second);
            }
        }
        self.columns[at] = joined;
        // Columns that are nearly all of their rows.
        if joined.rows <= 1 {
            self.columns[at] = Region::default();
            self.add_within(joined.hull());
        }
    }

    /// The same for places of which some may be beyond the end of the table.
    fn add_within(&mut self, places: Range<usize>) {
        let end = CHUNK * 64 * self.chunks.len();
        self.add(places.start..places.end.min(end));
    }

    fn has(&self, chunk: usize) -> bool {
        self.chunks[chunk / 64] >> (chunk % 64) & 1 == 1
    }

    /// Calls a function for what of them is in a range, each place once.
    pub fn each_within(&self, range: Range<usize>, mut each: impl FnMut(Range<usize>)) {
        let chunk_end = |at: usize| (at / CHUNK + 1) * CHUNK;
        let mut at = range.start;
        while at < range.end {
            let from = at;
            while at < range.end && self.has(at / CHUNK) {
                at = chunk_end(at);
            }
            if from < at {
                each(from..at.min(range.end));
            }
            while at < range.end && !self.has(at / CHUNK) {
                at = chunk_end(at);
            }
        }
        let [first, second] = self.columns;
        let some = self.chunks.iter().any(|bits| *bits != 0);
        let mut each_alone = |columns: Range<usize>| {
            if !some {
                return each(columns);
            }
            let mut at = columns.start;
            while at < columns.end {
                let end = chunk_end(at).min(columns.end);
                if !self.has(at / CHUNK) {
                    each(at..end);
                }
                at = end;
            }
        };
        first.within(range.clone()).for_each(&mut each_alone);
        let others = second.within(range);
        others.for_each(|range| first.gaps(range).for_each(&mut each_alone));
    }
}

/// Evenly spaced rows of a table, of each the places from one to another. One row is a range.
///
/// A lane that has some of the first individuals of `p(y, x)`, `x` being the outer variable, touches a few places of every row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Region {
    start: usize,
    width: usize,
    stride: usize,
    rows: usize,
}

impl Region {
    pub fn range(places: Range<usize>) -> Region {
        Region {
            start: places.start,
            width: places.len(),
            stride: places.len(),
            rows: usize::from(!places.is_empty()),
        }
    }

    /// This many places, of which each is so far from the one before.
    pub fn spaced(start: usize, stride: usize, count: usize) -> Region {
        match stride {
            0 => Region::range(start..start + count.min(1)),
            1 => Region::range(start..start + count),
            _ => Region {
                start,
                width: 1,
                stride,
                rows: count,
            },
        }
    }

    /// From the first place to the last one.
    pub fn hull(&self) -> Range<usize> {
        match self.rows {
            0 => 0..0,
            rows => self.start..self.start + (rows - 1) * self.stride + self.width,
        }
    }

    /// How many places it has.
    fn len(&self) -> usize {
        self.rows * self.width
    }

    /// With these places, and maybe more: also some beyond the end of the table.
    fn joined(self, other: Region) -> Region {
        let (own, more) = (self.hull(), other.hull());
        let all = || Region::range(own.start.min(more.start)..own.end.max(more.end));
        match (self.rows, other.rows) {
            (_, 0) => self,
            (0, _) => other,
            (1, 1) if own.start <= more.start && more.end <= own.end => self,
            (1, 1) => all(),
            _ => self.with_rows_of(other).unwrap_or_else(all),
        }
    }

    /// What of a range it does not have.
    fn gaps(self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (mut from, end) = (range.start, range.end);
        let own = self.within(range).chain(once(end..end));
        own.map(move |own| std::mem::replace(&mut from, own.end)..own.start)
            .filter(|gap| !gap.is_empty())
    }

    /// Both in rows of one table, if they can be, and if that is not nearly all of it.
    fn with_rows_of(&self, other: Region) -> Option<Region> {
        let stride = if self.rows > 1 {
            self.stride
        } else {
            other.stride
        };
        let fits = |r: &Region| r.rows == 1 && r.width <= stride || r.stride == stride;
        if !fits(self) || !fits(&other) {
            return None;
        }
        let (first, second) = match self.start <= other.start {
            true => (*self, other),
            false => (other, *self),
        };
        let (mut row, beyond) = (
            (second.start - first.start) / stride,
            (second.start - first.start) % stride,
        );
        // To the right of the first's places, or to the left of them in the row after.
        let right = first.width.max(beyond + second.width);
        let left = (stride - beyond)
            + first
                .width
                .max(second.width.saturating_sub(stride - beyond));
        let (start, width) = match right <= left {
            true => (first.start, right),
            false => {
                row += 1;
                (first.start.checked_sub(stride - beyond)?, left)
            }
        };
        let few = 2 * width <= stride;
        few.then_some(Region {
            start,
            width,
            stride,
            rows: first.rows.max(row + second.rows),
        })
    }

    /// What of them is in a range, in their order.
    pub fn within(self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let stride = self.stride.max(1);
        let first = (range.start + 1).saturating_sub(self.start + self.width);
        let rows = first.div_ceil(stride)..self.rows;
        let rows = rows.map(move |row| self.start + row * stride);
        let rows = rows.take_while(move |start| *start < range.end);
        rows.map(move |start| start.max(range.start)..(start + self.width).min(range.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LENGTH: usize = 40 * STRIDE;
    /// Of a table with long rows.
    const STRIDE: usize = 2 * CHUNK;

    fn touches(parts: impl IntoIterator<Item = Region>) -> Touches {
        let mut touches = Touches::default();
        touches.clear(LENGTH);
        parts.into_iter().for_each(|part| touches.join(part));
        touches
    }

    fn within(touches: &Touches, range: Range<usize>) -> Vec<usize> {
        let mut all = Vec::new();
        touches.each_within(range, |range| all.extend(range));
        all.sort_unstable();
        all
    }

    fn region() -> impl Strategy<Value = Region> {
        let range =
            (0..9000_usize, 0..900_usize).prop_map(|(from, n)| Region::range(from..from + n));
        let strides = prop::sample::select(vec![0_usize, 1, 7, STRIDE, STRIDE, STRIDE]);
        let spaced = (0..9000_usize, strides, 0..12_usize);
        let spaced = spaced.prop_map(|(start, stride, n)| Region::spaced(start, stride, n));
        prop_oneof![range, spaced]
    }

    proptest! {
        /// What is joined has all places of its parts, each once, and parts of it are what they should be.
        #[test]
        fn regions_hold_what_was_joined(parts in prop::collection::vec(region(), 0..6), from in 0..9000_usize, len in 0..2000_usize) {
            let joined = touches(parts.iter().copied());
            let all = within(&joined, 0..LENGTH);
            prop_assert!(all.is_sorted_by(|a, b| a < b));
            for place in parts.iter().flat_map(|part| part.within(part.hull()).flatten()) {
                prop_assert!(all.contains(&place), "{place} of {parts:?} is not in {joined:?}");
            }
            let expected: Vec<usize> = all.into_iter().filter(|p| (from..from + len).contains(p)).collect();
            prop_assert_eq!(within(&joined, from..from + len), expected);
        }

        /// Neighbouring runs across the rows of a table stay few places of each row.
        #[test]
        fn columns_stay_columns(rows in 2..30_usize, columns in 1..9_usize, first in 0..11_usize) {
            let columns_of = (first..first + columns).map(|column| Region::spaced(column, STRIDE, rows));
            let joined = touches(columns_of);
            prop_assert_eq!(within(&joined, 0..LENGTH).len(), rows * columns);
        }

        /// So do rows, in any order, beside columns, as symmetry reads them.
        #[test]
        fn rows_stay_apart_from_columns(rows in prop::collection::hash_set(0..20_usize, 1..9)) {
            let joined = touches(rows.iter().flat_map(|&at| {
                let first = rows.len() + 3;
                [Region::range(at * STRIDE..(at + 1) * STRIDE), Region::spaced(first + at % 3, STRIDE, 20)]
            }));
            prop_assert!(within(&joined, 0..LENGTH).len() <= rows.len() * STRIDE + 3 * (20 - rows.len()));
        }
    }
}
