//! Sums over the numbers of vectors: a product, a length, a distance. They read up to three vectors a row where these stand
//! and make no others, forwards and backwards, so that a row costs little more than reading it.

// Vectors of a fixed length, several at a time: an index says more than zipped iterators, and compiles to the same.
#![allow(clippy::needless_range_loop)]

use std::array::from_fn;
use std::cell::Cell;

use logltn::vector::Real;
use logltn_nn::Floats;

/// Numbers that are added up side by side: always in this order, so that the bits do not depend on the processor.
const LANES: usize = 16;

/// This many of what is left.
const FEW: usize = 4;

/// This many rows whose lanes are held at once.
const GROUP: usize = 16;

/// The most vectors that are read at once.
pub(super) const MOST_TERMS: usize = 3;

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Of {
    /// The products of the vectors' numbers.
    Product,
    /// The squares of the sum of the vectors.
    Squares,
    /// The magnitudes of the sum of the vectors.
    Magnitudes,
}

/// A sum over the numbers of one to three vectors of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    pub of: Of,
    terms: [usize; MOST_TERMS],
    count: usize,
    /// The last vector is subtracted, not added.
    pub last_is_minus: bool,
}

impl Sum {
    /// Of the results at these places, at most three.
    pub fn new(of: Of, terms: &[usize]) -> Sum {
        Sum {
            of,
            terms: from_fn(|i| terms.get(i).copied().unwrap_or(0)),
            count: terms.len(),
            last_is_minus: false,
        }
    }

    /// The places of what it reads.
    pub fn terms(&self) -> &[usize] {
        &self.terms[..self.count]
    }
}

/// A vector for each row.
#[derive(Clone, Copy)]
pub(super) struct Vectors<'a, T> {
    pub numbers: &'a [T],
    /// Where that of each row begins.
    pub starts: &'a [u32],
}

impl<'a, T> Vectors<'a, T> {
    #[inline(always)]
    fn row(&self, row: usize, length: usize) -> &'a [T] {
        let start = self.starts[row] as usize;
        &self.numbers[start..start + length]
    }
}

/// Where the derivatives by a vector are added, from where it begins in a row on.
#[derive(Clone, Copy)]
pub(super) enum To {
    Nowhere,
    /// Those of the block, from this place on.
    Block(usize),
    /// One of the tables.
    Table(usize),
}

/// Derivatives by the numbers of a block and by those of tables.
pub(super) struct Derivatives<'a, T> {
    pub block: &'a mut [T],
    pub tables: &'a mut [Floats],
}

/// Where derivatives are added. Several vectors of a row may be of the same table, or even the same.
type Sums<'a, T> = Option<&'a [Cell<T>]>;

impl<'a, T: Real> Derivatives<'a, T> {
    /// Those that the derivatives by each vector are added to.
    #[inline(always)]
    fn of_each(self, to: [To; MOST_TERMS]) -> [Sums<'a, T>; MOST_TERMS] {
        let block = Cell::from_mut(self.block).as_slice_of_cells();
        let mut found = to.map(|to| match to {
            To::Block(first) => Some(&block[first..]),
            To::Nowhere | To::Table(_) => None,
        });
        for (at, table) in self.tables.iter_mut().enumerate() {
            let table = T::of_single_mut(table).map(|x| Cell::from_mut(x).as_slice_of_cells());
            for (found, to) in found.iter_mut().zip(to) {
                if matches!(to, To::Table(its) if its == at) {
                    *found = table;
                }
            }
        }
        found
    }
}

impl Sum {
    /// The sum of each row. There are always three vectors; only the first ones are used.
    #[inline(always)]
    pub(super) fn forward<T: Real>(
        &self,
        all: [Vectors<'_, T>; MOST_TERMS],
        length: usize,
        out: &mut [T],
    ) {
        match self.count {
            1 => self.forward_of([all[0]], length, out),
            2 => self.forward_of([all[0], all[1]], length, out),
            _ => self.forward_of(all, length, out),
        }
    }

    #[inline(always)]
    fn forward_of<T: Real, const N: usize>(
        &self,
        all: [Vectors<'_, T>; N],
        length: usize,
        out: &mut [T],
    ) {
        let sign = self.sign();
        match self.of {
            Of::Product => each_row(all, length, out, product),
            Of::Squares => each_row(all, length, out, |x| {
                let x = together(sign, x);
                x * x
            }),
            Of::Magnitudes => each_row(all, length, out, |x| together(sign, x).abs()),
        }
    }

    /// Adds the derivatives by the vectors, from those by the sums `g`.
    #[inline(always)]
    pub(super) fn backward<T: Real>(
        &self,
        all: [Vectors<'_, T>; MOST_TERMS],
        length: usize,
        g: &[T],
        to: [To; MOST_TERMS],
        into: Derivatives<'_, T>,
    ) {
        let [a, b, c] = all;
        let [to_a, to_b, to_c] = into.of_each(to);
        match self.count {
            1 => self.backward_of([a], length, g, [to_a]),
            2 => self.backward_of([a, b], length, g, [to_a, to_b]),
            _ => self.backward_of([a, b, c], length, g, [to_a, to_b, to_c]),
        }
    }

    #[inline(always)]
    fn backward_of<T: Real, const N: usize>(
        &self,
        all: [Vectors<'_, T>; N],
        length: usize,
        g: &[T],
        to: [Sums<'_, T>; N],
    ) {
        let sign = self.sign();
        // The derivative by the last vector has the sign of the vector.
        let signed = |slope: T| {
            let mut slopes = [slope; N];
            slopes[N - 1] = sign * slope;
            slopes
        };
        match self.of {
            Of::Product => {
                let factor = |row: usize| g[row];
                slopes(all, length, g.len(), factor, to, product_by_each);
            }
            Of::Squares => {
                let factor = |row: usize| g[row] + g[row];
                slopes(all, length, g.len(), factor, to, |factor, x| {
                    signed(factor * together(sign, x))
                });
            }
            Of::Magnitudes => {
                let factor = |row: usize| g[row];
                slopes(all, length, g.len(), factor, to, |factor, x| {
                    signed(factor * direction(together(sign, x)))
                });
            }
        }
    }

    #[inline(always)]
    fn sign<T: Real>(&self) -> T {
        if self.last_is_minus { -T::ONE } else { T::ONE }
    }
}

/// 1/x, and 0 at 0: the slope of a length where it has none.
#[inline(always)]
pub(super) fn inverse_or_0<T: Real>(x: T) -> T {
    if x == T::ZERO { T::ZERO } else { T::ONE / x }
}

/// The slope of a magnitude, 0 where there is none.
#[inline(always)]
pub(super) fn direction<T: Real>(x: T) -> T {
    let down = if x < T::ZERO { -T::ONE } else { T::ZERO };
    if x > T::ZERO { T::ONE } else { down }
}

#[inline(always)]
fn product<T: Real, const N: usize>(x: [T; N]) -> T {
    let mut product = x[0];
    for factor in &x[1..] {
        product *= *factor;
    }
    product
}

/// The sum, the last with its sign.
#[inline(always)]
fn together<T: Real, const N: usize>(sign: T, x: [T; N]) -> T {
    let mut sum = x[0];
    for i in 1..N {
        sum += if i + 1 == N { sign * x[i] } else { x[i] };
    }
    sum
}

/// The derivative of a product by each factor, times a number.
#[inline(always)]
fn product_by_each<T: Real, const N: usize>(factor: T, x: [T; N]) -> [T; N] {
    let mut products = [factor; N];
    for i in 0..N {
        for j in 0..N {
            if j != i {
                products[i] *= x[j];
            }
        }
    }
    products
}

/// The sum of f over the numbers of each row.
#[inline(always)]
fn each_row<T: Real, const N: usize>(
    all: [Vectors<'_, T>; N],
    length: usize,
    out: &mut [T],
    f: impl Fn([T; N]) -> T,
) {
    // The sums of some rows side by side. Were each row's added up at once, the compiler would keep the lanes in pairs.
    let mut group = [[T::ZERO; LANES]; GROUP];
    for (at, out) in out.chunks_mut(GROUP).enumerate() {
        for (row, lanes) in (at * GROUP..).zip(&mut group[..out.len()]) {
            let x = rows(&all, row, length);
            let mut sums = [T::ZERO; LANES];
            for piece in 0..length / LANES {
                let x = pieces::<T, N, LANES>(x, piece * LANES);
                // On its own, or the compiler mixes it up with the sums.
                let mut found = [T::ZERO; LANES];
                for k in 0..LANES {
                    found[k] = f(numbers(x, k));
                }
                for k in 0..LANES {
                    sums[k] += found[k];
                }
            }
            *lanes = sums;
        }
        let mut quarters = [[T::ZERO; FEW]; GROUP];
        for (quarter, lanes) in quarters.iter_mut().zip(&group) {
            for k in 0..FEW {
                quarter[k] = (lanes[k] + lanes[k + 8]) + (lanes[k + 4] + lanes[k + 12]);
            }
        }
        for (out, [a, b, c, d]) in out.iter_mut().zip(&quarters) {
            *out = (*a + *c) + (*b + *d);
        }
        if !length.is_multiple_of(LANES) {
            for (row, out) in (at * GROUP..).zip(out) {
                *out += rest(rows(&all, row, length), length, &f);
            }
        }
    }
}

/// The sum over what is left of a row, a few at a time.
#[inline(always)]
fn rest<T: Real, const N: usize>(x: [&[T]; N], length: usize, f: impl Fn([T; N]) -> T) -> T {
    let mut at = length / LANES * LANES;
    let mut sums = [T::ZERO; FEW];
    while at + FEW <= length {
        let x = pieces::<T, N, FEW>(x, at);
        for k in 0..FEW {
            sums[k] += f(numbers(x, k));
        }
        at += FEW;
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for k in at..length {
        let mut one = [T::ZERO; N];
        for i in 0..N {
            one[i] = x[i][k];
        }
        sum += f(one);
    }
    sum
}

// Arrays are filled in by loops here: `from_fn` is not always inlined, and then compiled for any processor.

#[inline(always)]
fn rows<'a, T, const N: usize>(
    all: &[Vectors<'a, T>; N],
    row: usize,
    length: usize,
) -> [&'a [T]; N] {
    let mut found: [&[T]; N] = [&[]; N];
    for i in 0..N {
        found[i] = all[i].row(row, length);
    }
    found
}

/// Some numbers of each vector.
#[inline(always)]
fn pieces<T: Real, const N: usize, const M: usize>(x: [&[T]; N], from: usize) -> [[T; M]; N] {
    let mut found = [[T::ZERO; M]; N];
    for i in 0..N {
        found[i].copy_from_slice(&x[i][from..from + M]);
    }
    found
}

/// One number of each vector.
#[inline(always)]
fn numbers<T: Real, const N: usize, const M: usize>(x: [[T; M]; N], k: usize) -> [T; N] {
    let mut found = [T::ZERO; N];
    for i in 0..N {
        found[i] = x[i][k];
    }
    found
}

/// Adds f(factor, numbers) to the derivatives by each vector, row by row. They may well be the same numbers: of a row with
/// itself, or of rows that follow each other.
#[inline(always)]
fn slopes<T: Real, const N: usize>(
    all: [Vectors<'_, T>; N],
    length: usize,
    count: usize,
    factor: impl Fn(usize) -> T,
    to: [Sums<'_, T>; N],
    f: impl Fn(T, [T; N]) -> [T; N],
) {
    let whole = length / LANES * LANES;
    for row in 0..count {
        let factor = factor(row);
        if factor == T::ZERO {
            continue;
        }
        let x = rows(&all, row, length);
        let mut by: [Sums<'_, T>; N] = [None; N];
        for i in 0..N {
            let start = all[i].starts[row] as usize;
            by[i] = to[i].map(|sums| &sums[start..start + length]);
        }
        for from in (0..whole).step_by(LANES) {
            let x = pieces::<T, N, LANES>(x, from);
            let mut found = [[T::ZERO; LANES]; N];
            for k in 0..LANES {
                let slopes = f(factor, numbers(x, k));
                for i in 0..N {
                    found[i][k] = slopes[i];
                }
            }
            for i in 0..N {
                if let Some(by) = by[i] {
                    for (sum, found) in by[from..from + LANES].iter().zip(&found[i]) {
                        sum.set(sum.get() + *found);
                    }
                }
            }
        }
        for from in whole..length {
            let slopes = f(factor, numbers(pieces::<T, N, 1>(x, from), 0));
            for i in 0..N {
                if let Some(by) = by[i] {
                    by[from].set(by[from].get() + slopes[i]);
                }
            }
        }
    }
}
