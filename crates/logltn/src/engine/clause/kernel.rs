//! The two loops over the bindings of a small clause: over rows, where the literals of a binding have a whole row of
//! classes each, and over places, where they have a number each.
//!
//! Everything is read from one array, and derivatives are added to another one of the same shape. The first literal's
//! derivatives are added up in registers as long as its place stays the same: pairs are listed by their first
//! individual, and each addition to memory would wait for the one before.

use super::operator::{MOST_FACTORS, Operator, Total};
use crate::vector::{Real, Task};

/// What a loop reads and writes.
pub(super) struct Bindings<'a, T, const N: usize> {
    /// Where each literal's row, or number, begins in `numbers`, by literal and binding.
    pub places: [&'a [u32]; N],
    pub numbers: &'a [T],
    /// The derivatives by each number, except for common factors.
    pub derivatives: &'a mut [T],
    /// Sums of values: one per class for rows, otherwise [`GATHERED`] of them.
    pub values: &'a mut [T],
    /// Runs of bindings in which the operator skipped a value.
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
}

/// Over a row of numbers for each binding; the operator gets its sum.
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
            let mut totals = [Total::ZERO; GATHERED];
            for some in run.chunks(GATHERED) {
                let mut sums = [T::ONE; GATHERED];
                for (sum, &place) in sums.iter_mut().zip(some) {
                    let row = &numbers[place as usize..place as usize + width];
                    *sum = T::ZERO;
                    row.iter().for_each(|&x| *sum += x);
                }
                let mut by = [T::ZERO; GATHERED];
                for i in 0..GATHERED {
                    // Where there are fewer bindings: log 1 = 0.
                    [by[i]] = operator.of::<FUSED>([sums[i]], &mut totals[i]);
                }
                for (&by, &place) in by.iter().zip(some) {
                    let row = &mut derivatives[place as usize..place as usize + width];
                    row.iter_mut().for_each(|d| *d += by);
                }
            }
            let mut low = false;
            for (value, total) in values.iter_mut().zip(totals) {
                *value += operator.finish::<FUSED>(total);
                low |= total.least < operator.lowest();
            }
            let to = from + run.len();
            if low {
                left_out.push((from as u32, to as u32));
            }
            from = to;
        }
    }
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
    /// The first literal is `x`: adds the derivatives by the others and returns those by the first.
    #[inline(always)]
    fn binding<const FUSED: bool>(
        &mut self,
        binding: usize,
        class: usize,
        x: &[T; W],
        totals: &mut [Total<T>; W],
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
            let slopes = self.operator.of::<FUSED>(all, &mut totals[i]);
            for k in 0..N {
                by[k][i] = slopes[k];
            }
        }
        for k in 1..N {
            add(derivatives, places[k][binding] as usize + class, by[k]);
        }
        by[0]
    }

    /// Adds the results for some classes of the bindings `from..to`. Returns whether some value was
    /// skipped.
    #[inline(always)]
    fn finish<const FUSED: bool>(&mut self, class: usize, totals: &[Total<T>; W]) -> bool {
        let mut low = false;
        let mut sums = [T::ZERO; W];
        for (sum, total) in sums.iter_mut().zip(totals) {
            *sum = self.operator.finish::<FUSED>(*total);
            low |= total.least < self.operator.lowest();
        }
        add(self.bindings.values, class, sums);
        low
    }

    /// A row is one vector, so that totals stay in registers from run to run.
    #[inline(always)]
    fn over_short_rows<const FUSED: bool>(mut self) {
        let places = self.bindings.places[0];
        let (mut at, mut since) = (0, 0);
        let mut totals = [Total::ZERO; W];
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
                if self.finish::<FUSED>(0, &totals) {
                    self.bindings.left_out.push((since as u32, at as u32));
                }
                totals = [Total::ZERO; W];
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
                let mut totals = [Total::ZERO; W];
                for binding in from..to {
                    let by = self.binding::<FUSED>(binding, class, &x, &mut totals);
                    by_first.iter_mut().zip(by).for_each(|(a, b)| *a += b);
                }
                add(self.bindings.derivatives, first as usize + class, by_first);
                low |= self.finish::<FUSED>(class, &totals);
            }
            if low {
                self.bindings.left_out.push((from as u32, to as u32));
            }
            from = to;
        }
    }
}

impl<T: Real, O: Operator<T, N>, const N: usize> Task for OverPlaces<'_, T, O, N> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let OverPlaces { operator, bindings } = self;
        let Bindings {
            places,
            numbers,
            derivatives,
            values,
            left_out,
        } = bindings;
        let count = places[0].len();
        let Some(&start) = places[0].first() else {
            return;
        };
        let (mut first, mut by_first) = (start as usize, T::ZERO);
        // Few enough for one product of mantissas.
        for from in (0..count).step_by(GATHERED * MOST_FACTORS) {
            let to = count.min(from + GATHERED * MOST_FACTORS);
            let mut totals = [Total::ZERO; GATHERED];
            for at in (from..to).step_by(GATHERED) {
                let some = GATHERED.min(to - at);
                let mut x = [[T::ZERO; GATHERED]; N];
                for k in 0..N {
                    for (x, &place) in x[k].iter_mut().zip(&places[k][at..at + some]) {
                        *x = numbers[place as usize];
                    }
                }
                let mut by = [[T::ZERO; GATHERED]; N];
                let mut element = |i: usize| {
                    let mut all = [T::ZERO; N];
                    for k in 0..N {
                        all[k] = x[k][i];
                    }
                    let slopes = operator.of::<FUSED>(all, &mut totals[i]);
                    for k in 0..N {
                        by[k][i] = slopes[k];
                    }
                };
                if some == GATHERED {
                    (0..GATHERED).for_each(&mut element);
                } else {
                    (0..some).for_each(&mut element);
                }
                for (&place, &by) in places[0][at..at + some].iter().zip(&by[0]) {
                    let place = place as usize;
                    if place == first {
                        by_first += by;
                    } else {
                        derivatives[first] += by_first;
                        (first, by_first) = (place, by);
                    }
                }
                for k in 1..N {
                    for (&place, &by) in places[k][at..at + some].iter().zip(&by[k]) {
                        derivatives[place as usize] += by;
                    }
                }
            }
            let mut low = false;
            for (value, total) in values.iter_mut().zip(totals) {
                *value += operator.finish::<FUSED>(total);
                low |= total.least < operator.lowest();
            }
            if low {
                left_out.push((from as u32, to as u32));
            }
        }
        derivatives[first] += by_first;
    }
}
