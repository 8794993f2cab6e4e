//! Which places of a table may differ from 0. Lanes have tables as long as that of all literals, of which each touches a part:
//! only that part is cleared and added up, so that sixteen lanes cost no more than one.

use std::iter::once;
use std::ops::Range;

/// The places that a lane touches: at most two regions, since formulas such as symmetry read a predicate by rows and by columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touches {
    regions: [Region; 2],
}

impl Touches {
    pub fn range(places: Range<usize>) -> Touches {
        Touches {
            regions: [Region::range(places), Region::default()],
        }
    }

    /// From the first place to the last one.
    pub fn hull(&self) -> Range<usize> {
        let [first, second] = self.regions.map(|region| region.hull());
        match (first.is_empty(), second.is_empty()) {
            (_, true) => first,
            (true, false) => second,
            (false, false) => first.start.min(second.start)..first.end.max(second.end),
        }
    }

    /// Adds places to the region that grows least by them.
    pub fn join(&mut self, other: Region) {
        let [first, second] = &mut self.regions;
        let in_first = first.joined(other);
        let growth = in_first.len() - first.len();
        if growth > 0 {
            let in_second = second.joined(other);
            if in_second.len() - second.len() < growth {
                *second = in_second;
                return;
            }
        }
        *first = in_first;
    }

    /// What of them is in a range, each place once. Loops over narrow rows are twice as quick with `for_each` as with
    /// `for`.
    pub fn within(self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let [first, second] = self.regions;
        let others = second.within(range.clone());
        let others = others.flat_map(move |range| first.gaps(range));
        first.within(range).chain(others)
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

    fn places(region: Touches) -> Vec<usize> {
        let mut all: Vec<usize> = region.within(region.hull()).flatten().collect();
        all.sort_unstable();
        all
    }

    fn region() -> impl Strategy<Value = Region> {
        let range = (0..300_usize, 0..40_usize).prop_map(|(from, n)| Region::range(from..from + n));
        let strides = prop::sample::select(vec![0_usize, 1, 7, 20, 20, 20]);
        let spaced = (0..300_usize, strides, 0..12_usize);
        let spaced = spaced.prop_map(|(start, stride, n)| Region::spaced(start, stride, n));
        prop_oneof![range, spaced]
    }

    proptest! {
        /// What is joined has all places of its parts, each once and in order, and parts of it are what they should be.
        #[test]
        fn regions_hold_what_was_joined(parts in prop::collection::vec(region(), 0..6), from in 0..600_usize, len in 0..200_usize) {
            let mut joined = Touches::default();
            parts.iter().for_each(|part| joined.join(*part));
            let all = places(joined);
            prop_assert!(all.is_sorted_by(|a, b| a < b));
            for place in parts.iter().flat_map(|part| part.within(part.hull()).flatten()) {
                prop_assert!(all.contains(&place), "{place} of {parts:?} is not in {joined:?}");
            }
            let mut within: Vec<usize> = joined.within(from..from + len).flatten().collect();
            within.sort_unstable();
            let expected: Vec<usize> = all.into_iter().filter(|p| (from..from + len).contains(p)).collect();
            prop_assert_eq!(within, expected);
        }

        /// Neighbouring runs across the rows of a table stay few places of each row.
        #[test]
        fn columns_stay_columns(rows in 2..30_usize, columns in 1..9_usize, first in 0..11_usize) {
            let mut joined = Touches::default();
            for column in first..first + columns {
                joined.join(Region::spaced(column, 20, rows));
            }
            prop_assert_eq!(places(joined).len(), rows * columns);
        }

        /// So do rows beside columns, as symmetry reads them.
        #[test]
        fn rows_stay_apart_from_columns(some in 1..9_usize, first in 0..11_usize) {
            let mut joined = Touches::default();
            for at in first..first + some {
                joined.join(Region::range(at * 20..(at + 1) * 20));
                joined.join(Region::spaced(at, 20, 20));
            }
            prop_assert_eq!(places(joined).len(), some * (20 + 20 - some));
        }
    }
}
