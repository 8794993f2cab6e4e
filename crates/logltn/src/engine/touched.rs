//! A lane's sums of derivatives: a table as long as that of all literals, of which a lane touches only a part.

use std::ops::Range;

use super::region::{Region, Touches};
use crate::plan::blocks::{BlockPlaces, Spaced};
use crate::vector::{Real, Task, run_task};

/// Sums by place, all 0 outside a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched<T> {
    values: Vec<T>,
    region: Touches,
}

impl<T: Real> Touched<T> {
    /// A table of zeros of this length.
    pub fn clear(&mut self, length: usize) {
        let (values, region) = (&mut self.values, &mut self.region);
        region.each_within(0..values.len(), |range| values[range].fill(T::ZERO));
        if length > values.capacity() {
            // Zeros from the system take no memory before they are touched.
            *values = vec![T::ZERO; length];
        } else {
            values.resize(length, T::ZERO);
        }
        region.clear(length);
    }

    /// All of it, and the part that may differ from 0: whoever takes what is there leaves zeros.
    pub fn parts_mut(&mut self) -> (&mut [T], &Touches) {
        (&mut self.values, &self.region)
    }

    /// Everything was taken.
    pub fn taken(&mut self) {
        self.region.clear(self.values.len());
    }

    /// Adds what is in a part of it to other sums, and leaves zeros.
    pub fn take(&mut self, part: Range<usize>, into: &mut [T]) {
        if part.end <= self.values.len() {
            take(
                &mut self.values[part.clone()],
                &self.region,
                part.start,
                into,
            );
        }
    }

    /// All of it, to be added to anywhere.
    pub fn all_mut(&mut self) -> &mut [T] {
        self.part_mut(0..self.values.len())
    }

    /// A part of it, to be added to.
    pub fn part_mut(&mut self, part: Range<usize>) -> &mut [T] {
        self.region.add(part.clone());
        &mut self.values[part]
    }

    /// Adds to one place.
    pub fn add(&mut self, place: usize, by: T) {
        self.region.add(place..place + 1);
        self.values[place] += by;
    }

    /// table[place] += by, for each place. Neighbouring bindings often share a place: pairs are listed by their first
    /// individual. Such a run is added up in a register, since each addition to memory would wait for the one before.
    pub fn add_at(&mut self, places: &[u32], by: &[T]) {
        let (Some((least, most)), Some(&first)) = (run_task(Bounds(places)), places.first()) else {
            return;
        };
        self.region.add(least as usize..most as usize + 1);
        let table = &mut self.values;
        let mut all = places.iter().zip(by);
        let (mut place, mut sum) = (first, T::ZERO);
        for (&next, &by) in &mut all {
            if next == place {
                sum += by;
            } else {
                table[place as usize] += sum;
                (place, sum) = (next, by);
            }
        }
        table[place as usize] += sum;
    }
}

impl<T: Real> Touched<T> {
    /// The same for places in a later part of the table.
    pub fn add_beyond(&mut self, start: usize, places: BlockPlaces, by: &[T]) {
        let mut add = |place: usize, by: T| self.add(start + place, by);
        match places {
            BlockPlaces::Listed(places) => {
                (places.iter().zip(by)).for_each(|(&place, &by)| add(place as usize, by));
            }
            BlockPlaces::Spaced(spaced) => {
                let mut from = 0;
                for (&start, &end) in spaced.starts.iter().zip(spaced.ends) {
                    let places = (start as usize..).step_by((spaced.stride as usize).max(1));
                    for (place, &by) in places.zip(&by[from..end as usize]) {
                        let place = if spaced.stride == 0 {
                            start as usize
                        } else {
                            place
                        };
                        add(place, by);
                    }
                    from = end as usize;
                }
            }
        }
    }

    /// The same for places that are evenly spaced in runs.
    pub fn add_spaced(&mut self, spaced: Spaced, by: &[T]) {
        let mut from = 0;
        for (&start, &end) in spaced.starts.iter().zip(spaced.ends) {
            let count = end as usize - from;
            let run = Region::spaced(start as usize, spaced.stride as usize, count);
            self.region.join(run);
            from = end as usize;
        }
        run_task(AddSpaced {
            table: &mut self.values,
            spaced,
            by,
        });
    }
}

/// Adds to other sums what is touched of a table's values from a place on, and leaves zeros.
pub(super) fn take<T: Real>(values: &mut [T], region: &Touches, from: usize, into: &mut [T]) {
    region.each_within(from..from + values.len(), |range| {
        let range = range.start - from..range.end - from;
        let pairs = into[range.clone()].iter_mut().zip(&mut values[range]);
        pairs.for_each(|(sum, by)| *sum += std::mem::take(by));
    });
}

/// Adds to evenly spaced places.
struct AddSpaced<'a, T> {
    table: &'a mut [T],
    spaced: Spaced<'a>,
    by: &'a [T],
}

impl<T: Real> Task for AddSpaced<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Spaced {
            stride,
            ends,
            starts,
        } = self.spaced;
        let (mut from, mut run) = (0, 0);
        while run < starts.len() {
            let beside = spaced_beside(self.spaced, run);
            if beside > 1 {
                let start = starts[run] as usize;
                let len = ends[run] as usize - from;
                let by = &self.by[from..from + beside * len];
                let stride = stride as usize;
                match beside {
                    8 => add_across::<T, 8>(self.table, start, stride, len, by),
                    4 => add_across::<T, 4>(self.table, start, stride, len, by),
                    _ => add_across::<T, 2>(self.table, start, stride, len, by),
                }
                run += beside;
                from += beside * len;
                continue;
            }
            let (start, end) = (starts[run] as usize, ends[run] as usize);
            run += 1;
            let by = &self.by[from..end];
            match stride {
                0 => {
                    // Always sixteen sums, whatever the instruction set.
                    let mut sums = [T::ZERO; 16];
                    let (blocks, tail) = by.as_chunks::<16>();
                    for block in blocks {
                        for (sum, &by) in sums.iter_mut().zip(block) {
                            *sum += by;
                        }
                    }
                    for (sum, &by) in sums.iter_mut().zip(tail) {
                        *sum += by;
                    }
                    let mut sum = T::ZERO;
                    sums.iter().for_each(|&s| sum += s);
                    self.table[start] += sum;
                }
                1 => {
                    let table = &mut self.table[start..start + by.len()];
                    for (to, &by) in table.iter_mut().zip(by) {
                        *to += by;
                    }
                }
                _ => {
                    let table = self.table[start..].iter_mut().step_by(stride as usize);
                    for (to, &by) in table.zip(by) {
                        *to += by;
                    }
                }
            }
            from = end;
        }
    }
}

/// Reads evenly spaced places of a table; with `add`, adds them to the output.
pub(super) struct ReadSpaced<'a, T> {
    pub table: &'a [T],
    pub spaced: Spaced<'a>,
    pub out: &'a mut [T],
    pub add: bool,
}

impl<T: Real> Task for ReadSpaced<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Spaced {
            stride,
            ends,
            starts,
        } = self.spaced;
        let (mut from, mut run) = (0, 0);
        while run < starts.len() {
            let beside = spaced_beside(self.spaced, run);
            if beside > 1 {
                let start = starts[run] as usize;
                let len = ends[run] as usize - from;
                let out = &mut self.out[from..from + beside * len];
                let (table, stride, add) = (self.table, stride as usize, self.add);
                match beside {
                    8 => read_across::<T, 8>(table, start, stride, len, out, add),
                    4 => read_across::<T, 4>(table, start, stride, len, out, add),
                    _ => read_across::<T, 2>(table, start, stride, len, out, add),
                }
                run += beside;
                from += beside * len;
                continue;
            }
            let (start, end) = (starts[run] as usize, ends[run] as usize);
            run += 1;
            let out = &mut self.out[from..end];
            match (stride, self.add) {
                (0, true) => {
                    let value = self.table[start];
                    out.iter_mut().for_each(|out| *out += value);
                }
                (0, false) => out.fill(self.table[start]),
                (1, true) => {
                    let table = &self.table[start..start + out.len()];
                    for (out, &x) in out.iter_mut().zip(table) {
                        *out += x;
                    }
                }
                (1, false) => out.copy_from_slice(&self.table[start..start + out.len()]),
                (_, true) => {
                    let table = self.table[start..].iter().step_by(stride as usize);
                    for (out, &x) in out.iter_mut().zip(table) {
                        *out += x;
                    }
                }
                (_, false) => {
                    let table = self.table[start..].iter().step_by(stride as usize);
                    for (out, &x) in out.iter_mut().zip(table) {
                        *out = x;
                    }
                }
            }
            from = end;
        }
    }
}

/// How many runs that are side by side in a table are read together at most: one after the other each would have a
/// cache line for every number.
const ACROSS: usize = 8;

/// How many numbers of each run are turned over at once.
const TURNED: usize = 16;

/// How many runs from this one on begin one place after the other and are as long: 1, 2, 4 or [`ACROSS`].
#[inline(always)]
fn spaced_beside(spaced: Spaced, run: usize) -> usize {
    let Spaced {
        stride,
        ends,
        starts,
    } = spaced;
    let most = ACROSS.min(starts.len() - run);
    if (stride as usize) < ACROSS || most == 1 {
        return 1;
    }
    let before = if run == 0 { 0 } else { ends[run - 1] };
    let len = ends[run] - before;
    let beside = |k: &usize| {
        starts[run + k] == starts[run] + *k as u32 && ends[run + k] - ends[run + k - 1] == len
    };
    let count = 1 + (1..most).take_while(beside).count();
    1 << count.ilog2()
}

/// Reads runs that are side by side, one after the other into `out`.
#[inline(always)]
fn read_across<T: Real, const RUNS: usize>(
    table: &[T],
    start: usize,
    stride: usize,
    len: usize,
    out: &mut [T],
    add: bool,
) {
    let mut at = 0;
    while at < len {
        let some = TURNED.min(len - at);
        let mut turned = [[T::ZERO; TURNED]; RUNS];
        let places = (start + at * stride..).step_by(stride).take(some);
        for (j, place) in places.enumerate() {
            let row = &table[place..place + RUNS];
            for (turned, &x) in turned.iter_mut().zip(row) {
                turned[j] = x;
            }
        }
        for (k, turned) in turned.iter().enumerate() {
            let out = &mut out[k * len + at..k * len + at + some];
            match add {
                true => out.iter_mut().zip(turned).for_each(|(out, &x)| *out += x),
                false => out.copy_from_slice(&turned[..some]),
            }
        }
        at += some;
    }
}

/// Adds what stands in `by` one run after the other to runs that are side by side.
#[inline(always)]
fn add_across<T: Real, const RUNS: usize>(
    table: &mut [T],
    start: usize,
    stride: usize,
    len: usize,
    by: &[T],
) {
    let mut at = 0;
    while at < len {
        let some = TURNED.min(len - at);
        let mut turned = [[T::ZERO; RUNS]; TURNED];
        for k in 0..RUNS {
            let by = &by[k * len + at..k * len + at + some];
            for (turned, &by) in turned.iter_mut().zip(by) {
                turned[k] = by;
            }
        }
        for (j, turned) in turned[..some].iter().enumerate() {
            let place = start + (at + j) * stride;
            let row = &mut table[place..place + RUNS];
            for (to, &by) in row.iter_mut().zip(turned) {
                *to += by;
            }
        }
        at += some;
    }
}

/// The least and the greatest place.
struct Bounds<'a>(&'a [u32]);

impl Task for Bounds<'_> {
    type Output = Option<(u32, u32)>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Option<(u32, u32)> {
        let (mut least, mut most) = (u32::MAX, 0);
        for &place in self.0 {
            least = least.min(place);
            most = most.max(place);
        }
        (least <= most).then_some((least, most))
    }
}
