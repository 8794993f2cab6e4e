//! The literals' numbers as small clauses want them: exponentials instead of logs where a clause takes the log of a sum
//! of them, and rows filled up to whole vectors.

use crate::engine::literals::Literals;
use crate::engine::pieces::{Pieces, Threads};
use crate::vector::{Real, Task, run_task};

/// The tables of all small clauses, one after another.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Tables<T> {
    pub entries: Vec<Entry>,
    pub values: Vec<T>,
}

/// One of them: the literals of a request, plain or negated.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Entry {
    pub request: usize,
    pub negated: bool,
    /// α of its exponentials, if it is not that of the call.
    pub alpha: Option<f64>,
    pub base: usize,
    /// The numbers of a row.
    pub width: usize,
    /// From a row to the next.
    pub stride: usize,
    pub rows: usize,
}

/// The width of rows of this many classes, filled up: to a vector of four, or to vectors of eight.
pub(in crate::engine) fn filled_up(classes: usize) -> usize {
    match classes {
        0..=4 => 4,
        _ => classes.next_multiple_of(8),
    }
}

impl Entry {
    /// Where its numbers are among all.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.rows * self.stride
    }

    /// Whether its rows are as long as those of the request's table.
    pub fn is_dense(&self) -> bool {
        self.stride == self.width
    }

    /// From places in the request's table to places in this one; the least and the greatest of them.
    pub fn places(&self, out: &mut [u32], from: &[u32]) -> (u32, u32) {
        run_task(Places {
            entry: self,
            out,
            from,
        })
    }

    /// The same for one place.
    pub fn place(&self, from: u32) -> u32 {
        let mut out = [0];
        self.places(&mut out, &[from]);
        out[0]
    }
}

/// Moves places from rows to rows that are filled up.
struct Places<'a> {
    entry: &'a Entry,
    out: &'a mut [u32],
    from: &'a [u32],
}

impl Task for Places<'_> {
    type Output = (u32, u32);

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> (u32, u32) {
        let Places { entry, out, from } = self;
        let base = entry.base as u32;
        let (width, more) = (entry.width as u64, (entry.stride - entry.width) as u32);
        if more == 0 {
            for (out, place) in out.iter_mut().zip(from) {
                *out = base + place;
            }
        } else if entry.rows as u64 * width * width >= 1 << 32 {
            for (out, place) in out.iter_mut().zip(from) {
                *out = base + place + place / entry.width as u32 * more;
            }
        } else {
            // A division by multiplication. The inverse is too great by less than width / 2³², so that the quotient
            // is exact below 2³² / width, which no place of this table reaches; and vectors can do it.
            let inverse = (1_u64 << 32).div_ceil(width);
            for (out, &place) in out.iter_mut().zip(from) {
                let row = ((u64::from(place) * inverse) >> 32) as u32;
                *out = base + place + row * more;
            }
        }
        // They keep the order.
        let (mut least, mut most) = (u32::MAX, 0);
        for &place in from {
            least = least.min(place);
            most = most.max(place);
        }
        let move_one = |place: u32| base + place + place / width as u32 * more;
        match least <= most {
            true => (move_one(least), move_one(most)),
            false => (least, most),
        }
    }
}

impl<T: Real> Tables<T> {
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The table of a request's literals for an α; made if it is not there yet.
    pub fn entry(&mut self, of: (usize, bool, Option<f64>), width: usize, rows: usize) -> usize {
        let same = |e: &Entry| (e.request, e.negated, e.alpha) == of;
        if let Some(known) = self.entries.iter().position(same) {
            return known;
        }
        let (request, negated, alpha) = of;
        self.entries.push(Entry {
            request,
            negated,
            alpha,
            base: 0,
            width,
            stride: width,
            rows,
        });
        self.entries.len() - 1
    }

    /// A clause goes over the rows of this table.
    pub fn fill_rows_up(&mut self, entry: usize) {
        let entry = &mut self.entries[entry];
        entry.stride = filled_up(entry.width);
    }

    /// Makes room, after all entries are known.
    pub fn lay_out(&mut self) {
        let mut base = 0;
        for entry in &mut self.entries {
            entry.base = base;
            base = entry.range().end;
        }
        self.values.resize(base, T::ZERO);
    }

    /// How many numbers they hold once there is room for them.
    pub fn numbers(&self) -> usize {
        self.entries.iter().map(|e| e.range().len()).sum()
    }

    /// Takes over the literals of this step; with `alpha`, their exponentials.
    pub fn fill(&mut self, literals: &[Literals<T>], alpha: Option<f64>, threads: Threads) {
        for entry in &self.entries {
            let literals = &literals[entry.request];
            let from = match entry.negated {
                true => &literals.negative,
                false => &literals.positive,
            };
            let rows = SpreadRows {
                entry,
                from,
                to: &mut self.values[entry.range()],
            };
            threads.each(rows, |rows| spread(entry, rows.from, rows.to));
        }
        let Some(alpha) = alpha else {
            return;
        };
        // Tables of one α are side by side, more often than not.
        for entries in self.entries.chunk_by(|a, b| a.alpha == b.alpha) {
            let range = entries[0].base..entries[entries.len() - 1].range().end;
            let alpha = T::from_f64(entries[0].alpha.unwrap_or(alpha));
            threads.each(&mut self.values[range], |values| {
                T::kernels().exp_scaled_difference_from(values, alpha, T::ZERO);
            });
        }
    }
}

/// Rows of a request's table, and those of an entry that they go to.
struct SpreadRows<'a, T> {
    entry: &'a Entry,
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Real> Pieces for SpreadRows<'_, T> {
    fn numbers(&self) -> usize {
        self.to.len()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        let entry = self.entry;
        let rows = (numbers / entry.stride).max(1);
        let (from, to) = (
            self.from.cut(rows * entry.width),
            self.to.cut(rows * entry.stride),
        );
        let first = SpreadRows {
            entry,
            from: from.0,
            to: to.0,
        };
        let second = SpreadRows {
            entry,
            from: from.1,
            to: to.1,
        };
        (first, second)
    }
}

/// Rows of an entry from a place among all tables on, and those of the request's table that they are added to.
pub(super) struct TableRows<'a, T> {
    pub entry: &'a Entry,
    pub from: usize,
    pub rows: &'a mut [T],
    pub by: &'a mut [T],
}

impl<T: Real> Pieces for TableRows<'_, T> {
    fn numbers(&self) -> usize {
        self.rows.len()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        let entry = self.entry;
        let rows = (numbers / entry.stride).max(1);
        let (here, by) = (
            self.rows.cut(rows * entry.stride),
            self.by.cut(rows * entry.width),
        );
        let from = self.from;
        let second = TableRows {
            entry,
            from: from + here.0.len(),
            rows: here.1,
            by: by.1,
        };
        let first = TableRows {
            entry,
            from,
            rows: here.0,
            by: by.0,
        };
        (first, second)
    }
}

/// Copies rows to where there is room for longer ones, which are filled up with 0.
fn spread<T: Real>(entry: &Entry, from: &[T], to: &mut [T]) {
    if entry.stride == entry.width {
        return to.copy_from_slice(from);
    }
    let rows = to.chunks_exact_mut(entry.stride);
    for (to, from) in rows.zip(from.chunks_exact(entry.width)) {
        to[..entry.width].copy_from_slice(from);
        to[entry.width..].fill(T::ZERO);
    }
}

/// Adds rows of longer ones to those of the request's table.
pub(in crate::engine) fn add_rows<T: Real>(entry: &Entry, from: &[T], to: &mut [T]) {
    let rows = to.chunks_exact_mut(entry.width);
    for (to, from) in rows.zip(from.chunks_exact(entry.stride)) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to += from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_with_their_rows() {
        for (width, rows) in [(3, 1_000), (5, 801), (7, 99), (150, 12), (70_000, 3)] {
            let entry = Entry {
                request: 0,
                negated: false,
                alpha: None,
                base: 11,
                width,
                stride: filled_up(width),
                rows,
            };
            let from: Vec<u32> = (0..(rows * width) as u32).collect();
            let mut out = vec![0; from.len()];
            entry.places(&mut out, &from);
            for (place, out) in from.iter().zip(&out) {
                let (row, class) = (*place as usize / width, *place as usize % width);
                assert_eq!(*out as usize, 11 + row * entry.stride + class);
                assert!(entry.range().contains(&(*out as usize)));
            }
            assert_eq!(entry.place(width as u32 + 1), out[width + 1]);
        }
    }
}
