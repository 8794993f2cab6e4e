//! The two loops over the bindings of a small clause: over rows, where the literals of a binding have a whole row of
//! classes each, and over places, where they have a number each.
//!
//! Everything is read from one array, and derivatives are added to another one of the same shape. Derivatives by a literal
//! whose place stays the same are added up in registers: each addition to memory would wait for the one before.

use super::operator::{MOST_FACTORS, Operator, Totals};
use crate::vector::{Real, Task};

/// What a loop reads and writes.
pub(super) struct Bindings<'a, T, const N: usize> {
    /// Where each literal's row begins in `numbers`, by literal and binding, if there are rows.
    pub places: [&'a [u32]; N],
    pub numbers: &'a [T],
    /// The derivatives by each number, except for common factors.
    pub derivatives: &'a mut [T],
    /// Sums of values: one per class for rows, otherwise [`GATHERED`] of them.
    pub values: &'a mut [T],
    /// Runs of bindings in which the operator left a value out.
    pub left_out: &'a mut Vec<(u32, u32)>,
}

/// How many bindings are gathered at once.
pub(super) const GATHERED: usize = 16;

/// Over rows of a multiple of `W` numbers.
pub(super) struct OverRows<'a, T, O, const N: usize, const W: usize> {
    pub operator: O,
    pub bindings: Bindings<'a, T, N>,
}

/// Over single numbers.
pub(super) struct OverPlaces<'a, T, O, const N: usize> {
    pub operator: O,
    pub bindings: Bindings<'a, T, N>,
    /// Where each run of bindings ends, and by literal where its numbers are.
    pub runs: &'a [u32],
    pub places: [Places<'a>; N],
}

/// Over a row of numbers for each binding, of which the operator is given the sum.
pub(super) struct OverSums<'a, T, O> {
    pub operator: O,
    pub bindings: Bindings<'a, T, 1>,
    /// The numbers of a row.
    pub width: usize,
}

impl<T: Real, O: Operator<T, 1>> Task for OverSums<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let OverSums {
            operator,
            bindings,
            width,
        } = self;
        let Bindings {
            places: [places],
            numbers,
            derivatives,
            values,
            left_out,
        } = bindings;
        let mut from = 0;
        for run in places.chunks(GATHERED * MOST_FACTORS) {
            let mut totals = Totals::<T, GATHERED>::ZERO;
            for some in run.chunks(GATHERED) {
                let mut sums = [T::ONE; GATHERED];
                for (sum, &place) in sums.iter_mut().zip(some) {
                    *sum = sum_of(&numbers[place as usize..place as usize + width]);
                }
                let mut by = [T::ZERO; GATHERED];
                for i in 0..GATHERED {
                    // Where there are fewer bindings: log 1 = 0.
                    [by[i]] = operator.of::<FUSED, GATHERED>([sums[i]], i, &mut totals);
                }
                for (&by, &place) in by.iter().zip(some) {
                    let row = &mut derivatives[place as usize..place as usize + width];
                    row.iter_mut().for_each(|d| *d += by);
                }
            }
            let to = from + run.len();
            if finish::<T, O, 1, FUSED, GATHERED>(operator, &mut totals, values) {
                left_out.push((from as u32, to as u32));
            }
            from = to;
        }
    }
}

/// What a row adds up to; a long one in several sums at once, as each addition waits for the one before.
#[inline(always)]
fn sum_of<T: Real>(row: &[T]) -> T {
    let mut sum = T::ZERO;
    let (parts, rest) = row.as_chunks::<GATHERED>();
    if parts.len() > 1 {
        let mut sums = [T::ZERO; GATHERED];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, &x)| *sum += x);
        }
        sums.iter().for_each(|&x| sum += x);
        rest.iter().for_each(|&x| sum += x);
    } else {
        row.iter().for_each(|&x| sum += x);
    }
    sum
}

/// Adds what was found to the values, and begins anew; whether some value was left out.
#[inline(always)]
fn finish<T: Real, O: Operator<T, N>, const N: usize, const FUSED: bool, const W: usize>(
    operator: O,
    totals: &mut Totals<T, W>,
    values: &mut [T],
) -> bool {
    let mut sums = [T::ZERO; W];
    let mut least = T::ONE;
    for i in 0..W {
        sums[i] = operator.finish::<FUSED, W>(i, totals);
        let own = totals.least[i];
        least = if own < least { own } else { least };
    }
    for (value, sum) in values[..W].iter_mut().zip(sums) {
        *value += sum;
    }
    *totals = Totals::ZERO;
    least < operator.lowest()
}

#[inline(always)]
fn part<T: Real, const W: usize>(numbers: &[T], at: usize) -> [T; W] {
    let mut part = [T::ZERO; W];
    part.copy_from_slice(&numbers[at..at + W]);
    part
}

#[inline(always)]
fn add<T: Real, const W: usize>(numbers: &mut [T], at: usize, more: [T; W]) {
    let numbers = &mut numbers[at..at + W];
    for (number, more) in numbers.iter_mut().zip(more) {
        *number += more;
    }
}

impl<T: Real, O: Operator<T, N>, const N: usize, const W: usize> Task for OverRows<'_, T, O, N, W> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        if self.bindings.values.len() == W {
            self.over_short_rows::<FUSED>();
        } else {
            self.over_long_rows::<FUSED>();
        }
    }
}

impl<T: Real, O: Operator<T, N>, const N: usize, const W: usize> OverRows<'_, T, O, N, W> {
    /// The first literal is `x`: adds derivatives by the others, gives those by the first.
    #[inline(always)]
    fn binding<const FUSED: bool>(
        &mut self,
        binding: usize,
        class: usize,
        x: &[T; W],
        totals: &mut Totals<T, W>,
    ) -> [T; W] {
        let Bindings {
            places,
            numbers,
            derivatives,
            ..
        } = &mut self.bindings;
        let mut others = [[T::ZERO; W]; N];
        for k in 1..N {
            others[k] = part(numbers, places[k][binding] as usize + class);
        }
        let mut by = [[T::ZERO; W]; N];
        for i in 0..W {
            let mut all = [x[i]; N];
            for k in 1..N {
                all[k] = others[k][i];
            }
            let slopes = self.operator.of::<FUSED, W>(all, i, totals);
            for k in 0..N {
                by[k][i] = slopes[k];
            }
        }
        for k in 1..N {
            add(derivatives, places[k][binding] as usize + class, by[k]);
        }
        by[0]
    }

    /// Adds what was found of some classes of the bindings `from..to`; whether some value was left out.
    #[inline(always)]
    fn finish<const FUSED: bool>(&mut self, class: usize, totals: &mut Totals<T, W>) -> bool {
        let values = &mut self.bindings.values[class..class + W];
        finish::<T, O, N, FUSED, W>(self.operator, totals, values)
    }

    /// A row is one vector, so that totals stay in registers from run to run.
    #[inline(always)]
    fn over_short_rows<const FUSED: bool>(mut self) {
        let places = self.bindings.places[0];
        let (mut at, mut since) = (0, 0);
        let mut totals = Totals::ZERO;
        while at < places.len() {
            let first = places[at];
            let x = part::<T, W>(self.bindings.numbers, first as usize);
            let mut by_first = [T::ZERO; W];
            let most = places.len().min(since + MOST_FACTORS);
            loop {
                let by = self.binding::<FUSED>(at, 0, &x, &mut totals);
                by_first.iter_mut().zip(by).for_each(|(a, b)| *a += b);
                at += 1;
                if at >= most || places[at] != first {
                    break;
                }
            }
            add(self.bindings.derivatives, first as usize, by_first);
            if at == most {
                if self.finish::<FUSED>(0, &mut totals) {
                    self.bindings.left_out.push((since as u32, at as u32));
                }
                since = at;
            }
        }
    }

    #[inline(always)]
    fn over_long_rows<const FUSED: bool>(mut self) {
        let places = self.bindings.places[0];
        let mut from = 0;
        while from < places.len() {
            let first = places[from];
            let mut to = from + 1;
            while to < places.len() && to - from < MOST_FACTORS && places[to] == first {
                to += 1;
            }
            let mut low = false;
            for class in (0..self.bindings.values.len()).step_by(W) {
                let x = part::<T, W>(self.bindings.numbers, first as usize + class);
                let mut by_first = [T::ZERO; W];
                let mut totals = Totals::ZERO;
                for binding in from..to {
                    let by = self.binding::<FUSED>(binding, class, &x, &mut totals);
                    by_first.iter_mut().zip(by).for_each(|(a, b)| *a += b);
                }
                add(self.bindings.derivatives, first as usize + class, by_first);
                low |= self.finish::<FUSED>(class, &mut totals);
            }
            if low {
                self.bindings.left_out.push((from as u32, to as u32));
            }
            from = to;
        }
    }
}

/// Where the numbers of a literal are, in runs of bindings.
#[derive(Clone, Copy)]
pub(super) enum Places<'a> {
    /// As written down, for all bindings.
    Listed(&'a [u32]),
    /// Evenly spaced in each run: by how much, and by run the first place, in the request's table, which begins at `base`.
    Spaced {
        stride: usize,
        starts: &'a [u32],
        base: u32,
    },
    /// The same for all bindings.
    Same(u32),
}

/// The same for one run.
#[derive(Clone, Copy)]
enum At<'a> {
    Listed(&'a [u32]),
    Same(usize),
    /// One after the other.
    Beside(usize),
    Spaced(usize, usize),
}

impl<'a> Places<'a> {
    #[inline(always)]
    fn in_run(&self, run: usize, bindings: std::ops::Range<usize>) -> At<'a> {
        match *self {
            Places::Listed(places) => At::Listed(&places[bindings]),
            Places::Same(place) => At::Same(place as usize),
            Places::Spaced {
                stride,
                starts,
                base,
            } => {
                let start = (base + starts[run]) as usize;
                match stride {
                    0 => At::Same(start),
                    1 => At::Beside(start),
                    _ => At::Spaced(start, stride),
                }
            }
        }
    }

    /// The place of one binding, if these are the ends of the runs.
    pub fn of(&self, binding: usize, runs: &[u32]) -> usize {
        let run = runs.partition_point(|end| *end as usize <= binding);
        let from = if run == 0 { 0 } else { runs[run - 1] as usize };
        match self.in_run(run, from..runs[run] as usize) {
            At::Listed(places) => places[binding - from] as usize,
            At::Same(place) => place,
            At::Beside(start) => start + binding - from,
            At::Spaced(start, stride) => start + (binding - from) * stride,
        }
    }
}

impl At<'_> {
    /// The numbers of `N` bindings of the run.
    #[inline(always)]
    fn read<T: Real, const N: usize>(&self, numbers: &[T], at: usize, some: usize) -> [T; N] {
        let mut x = [T::ZERO; N];
        match *self {
            At::Same(place) => x = [numbers[place]; N],
            At::Beside(start) if some == N => x = part(numbers, start + at),
            At::Beside(start) => x[..some].copy_from_slice(&numbers[start + at..][..some]),
            At::Spaced(start, stride) => {
                for (i, x) in x[..some].iter_mut().enumerate() {
                    *x = numbers[start + (at + i) * stride];
                }
            }
            At::Listed(places) => {
                for (x, &place) in x.iter_mut().zip(&places[at..at + some]) {
                    *x = numbers[place as usize];
                }
            }
        }
        x
    }

    /// Adds to the numbers of some bindings; those that are all the same are added to `held`.
    #[inline(always)]
    fn add<T: Real, const N: usize>(
        &self,
        numbers: &mut [T],
        at: usize,
        by: &[T],
        held: &mut [T; N],
    ) {
        match *self {
            At::Same(_) => held.iter_mut().zip(by).for_each(|(held, &by)| *held += by),
            At::Beside(start) => {
                let numbers = &mut numbers[start + at..][..by.len()];
                numbers.iter_mut().zip(by).for_each(|(x, &by)| *x += by);
            }
            At::Spaced(start, stride) => {
                for (i, &by) in by.iter().enumerate() {
                    numbers[start + (at + i) * stride] += by;
                }
            }
            At::Listed(places) => {
                for (&place, &by) in places[at..].iter().zip(by) {
                    numbers[place as usize] += by;
                }
            }
        }
    }
}

impl<T: Real, O: Operator<T, N>, const N: usize> Task for OverPlaces<'_, T, O, N> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let OverPlaces {
            operator,
            bindings,
            runs,
            places,
        } = self;
        let Bindings {
            numbers,
            derivatives,
            values,
            left_out,
            ..
        } = bindings;
        let mut totals = Totals::<T, GATHERED>::ZERO;
        // From which binding on they are about, and how many factors their products have.
        let (mut since, mut factors) = (0, 0);
        let mut from = 0;
        for (run, &to) in runs.iter().enumerate() {
            let to = to as usize;
            let at: [At; N] = std::array::from_fn(|k| places[k].in_run(run, from..to));
            let mut held = [[T::ZERO; GATHERED]; N];
            // Of a list the first literal's place often stays the same for some bindings.
            let mut first = match at[0] {
                At::Listed([place, ..]) => (*place, T::ZERO),
                _ => (0, T::ZERO),
            };
            for here in (from..to).step_by(GATHERED) {
                if factors == MOST_FACTORS {
                    if finish::<T, O, N, FUSED, GATHERED>(operator, &mut totals, values) {
                        left_out.push((since as u32, here as u32));
                    }
                    (since, factors) = (here, 0);
                }
                factors += 1;
                let some = GATHERED.min(to - here);
                let mut x = [[T::ZERO; GATHERED]; N];
                for k in 0..N {
                    x[k] = at[k].read(numbers, here - from, some);
                }
                let mut by = [[T::ZERO; GATHERED]; N];
                let before = totals;
                for i in 0..GATHERED {
                    let mut all = [T::ZERO; N];
                    for k in 0..N {
                        all[k] = x[k][i];
                    }
                    let slopes = operator.of::<FUSED, GATHERED>(all, i, &mut totals);
                    for k in 0..N {
                        by[k][i] = slopes[k];
                    }
                }
                if some < GATHERED {
                    // What is beyond the run has been added up for nothing.
                    totals.forget(some, &before);
                }
                for k in 0..N {
                    match at[k] {
                        At::Listed(listed) if k == 0 => {
                            let listed = &listed[here - from..];
                            for (&place, &by) in listed.iter().zip(&by[0][..some]) {
                                if place == first.0 {
                                    first.1 += by;
                                } else {
                                    derivatives[first.0 as usize] += first.1;
                                    first = (place, by);
                                }
                            }
                        }
                        _ => at[k].add(derivatives, here - from, &by[k][..some], &mut held[k]),
                    }
                }
            }
            for k in 0..N {
                match at[k] {
                    At::Listed([_, ..]) if k == 0 => derivatives[first.0 as usize] += first.1,
                    At::Same(place) => {
                        let mut sum = T::ZERO;
                        held[k].iter().for_each(|&held| sum += held);
                        derivatives[place] += sum;
                    }
                    _ => {}
                }
            }
            from = to;
        }
        if factors > 0 && finish::<T, O, N, FUSED, GATHERED>(operator, &mut totals, values) {
            left_out.push((since as u32, from as u32));
        }
    }
}
