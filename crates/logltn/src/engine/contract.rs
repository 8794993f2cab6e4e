//! Strata that are products of two others: log Σₖ exp α(aᵢₖ + bⱼₖ) for all i and j, as a product of matrices in scaled space, or the
//! greatest aᵢₖ + bⱼₖ, whose place is found again for the derivatives.
//!
//! The greatest number of each row of `a` and of each row of `b` is subtracted first, so that all exponentials are at
//! most 1. Sums that become nearly 0 because the two rows have their greatest numbers in different places are computed
//! separately.

use super::pieces::{Pieces, Threads};
use super::share::{LaneWork, each_lane};
use super::strata::Piece;
use super::{Engine, Precision};
use crate::operators::Semiring;
use crate::plan::strata::Contraction;
use crate::vector::{Matrix, Real, Task, greatest_sums, product, run_task};

/// What the forward pass leaves for the backward pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Products<T> {
    left: Side<T>,
    right: Side<T>,
    /// By row and column: the sum of products, or 0 where it is too small to be exact; or the greatest sum.
    sums: Vec<T>,
    /// The derivatives by the values, divided by these sums.
    weights: Vec<T>,
}

/// One of the matrices.
#[derive(Clone, Debug, Default)]
struct Side<T> {
    /// All of its numbers, if its stratum leaves out some.
    whole: Vec<T>,
    /// exp α(x - greatest), row by row; or the numbers themselves.
    scaled: Vec<T>,
    /// By row.
    greatest: Vec<T>,
}

impl<T: Real> Side<T> {
    fn copy(&mut self, values: &[T], codes: &[u64], size: usize) {
        self.scaled.clear();
        if values.len() == size {
            self.scaled.extend_from_slice(values);
            return;
        }
        self.scaled.resize(size, T::from_f64(LEFT_OUT));
        for (value, code) in values.iter().zip(codes) {
            self.scaled[*code as usize] = *value;
        }
        self.whole.clone_from(&self.scaled);
    }

    fn scale(&mut self, inner: usize, alpha: T, threads: Threads) {
        self.greatest.clear();
        self.greatest.resize(self.scaled.len() / inner, T::ZERO);
        let rows = WholeRows {
            inner,
            values: &mut self.scaled,
            greatest: &mut self.greatest,
        };
        threads.each(rows, |rows| {
            let kernels = T::kernels();
            let values = rows.values.chunks_exact_mut(inner);
            for (row, greatest) in values.zip(rows.greatest) {
                *greatest = kernels.max(row);
                kernels.exp_scaled_difference_from(row, alpha, *greatest);
            }
        });
    }
}

/// What a tuple that is left out has: so little that it adds nothing, and is not the greatest.
const LEFT_OUT: f64 = -1e30;

/// Some rows of a side.
struct WholeRows<'a, T> {
    inner: usize,
    values: &'a mut [T],
    greatest: &'a mut [T],
}

impl<T: Real> Pieces for WholeRows<'_, T> {
    fn numbers(&self) -> usize {
        self.values.len()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        let (inner, rows) = (self.inner, (numbers / self.inner).max(1));
        let of = |(values, greatest)| WholeRows {
            inner,
            values,
            greatest,
        };
        let (first, second) = self.values.cut(rows * inner);
        let (top, bottom) = self.greatest.cut(rows);
        (of((first, top)), of((second, bottom)))
    }
}

/// The least sum that is as exact as its numbers: the terms lost to underflow are at most 1e-12 of it.
fn least<T: Real>() -> T {
    T::from_f64(if T::EPSILON.to_f64() > 1e-10 {
        1e-28
    } else {
        1e-280
    })
}

/// The fewest multiplications that are worth a lane.
const LANE_WORK: usize = 1 << 17;

/// The rows that a lane takes.
fn share(rows: usize, lane: usize, shares: usize) -> (usize, usize) {
    let each = rows.div_ceil(shares.max(1));
    ((each * lane).min(rows), (each * (lane + 1)).min(rows))
}

impl<T: Precision> Engine<T> {
    /// Which product a piece belongs to.
    fn products_of(&mut self, piece: Piece) -> Products<T> {
        let at = piece.step.stratum * self.leaders.len() + piece.group;
        if self.products.len() <= at {
            self.products.resize_with(at + 1, Products::default);
        }
        std::mem::take(&mut self.products[at])
    }

    fn put_products(&mut self, piece: Piece, products: Products<T>) {
        let at = piece.step.stratum * self.leaders.len() + piece.group;
        self.products[at] = products;
    }

    /// The codes of the tuples of one side, and their values for the group of a piece.
    fn side(&self, piece: Piece, stratum: usize) -> (&[T], &[u64]) {
        let codes = &self.ground.plan.strata.strata[stratum].codes;
        let from = piece.group * codes.len();
        let values = &self.ground.literals[stratum].positive;
        (&values[from..from + codes.len()], codes)
    }

    /// The numbers of one side, those that are left out among them.
    fn whole<'a>(&'a self, piece: Piece, stratum: usize, side: &'a Side<T>) -> &'a [T] {
        match side.whole.is_empty() {
            true => self.side(piece, stratum).0,
            false => &side.whole,
        }
    }

    /// The place of a number of one side among the derivatives by its tuples, unless it is left out.
    fn place(&self, piece: Piece, stratum: usize, at: usize, size: usize) -> Option<usize> {
        let codes = &self.ground.plan.strata.strata[stratum].codes;
        let place = match codes.len() == size {
            true => at,
            false => codes.binary_search(&(at as u64)).ok()?,
        };
        Some(piece.group * codes.len() + place)
    }

    fn copy_sides(&self, piece: Piece, of: Contraction, products: &mut Products<T>) {
        let (values, codes) = self.side(piece, of.left);
        products.left.copy(values, codes, of.rows * of.inner);
        let (values, codes) = self.side(piece, of.right);
        products.right.copy(values, codes, of.columns * of.inner);
    }

    /// The means or sums of a linear product: 1 where the right side has a tuple, and by column the weight of each.
    fn weigh(&self, piece: Piece, of: Contraction, products: &mut Products<T>) {
        let (values, codes) = self.side(piece, of.left);
        products.left.copy(values, codes, of.rows * of.inner);
        let (_, codes) = self.side(piece, of.right);
        let Side {
            scaled, greatest, ..
        } = &mut products.right;
        scaled.clear();
        scaled.resize(of.columns * of.inner, T::ZERO);
        greatest.clear();
        greatest.resize(of.columns, T::ZERO);
        for &code in codes {
            scaled[code as usize] = T::ONE;
            greatest[code as usize / of.inner] += T::ONE;
        }
        let laws = self.ground.plan.semantics.forall.laws();
        let settings = &self.settings[self.leaders[piece.group]];
        for weight in greatest {
            let slope = laws.linear_slope(1.0, settings, weight.to_f64().max(1.0));
            *weight = T::from_f64(slope.unwrap_or(1.0));
        }
    }

    fn forward_linear(&mut self, piece: Piece, of: Contraction) {
        let mut products = self.products_of(piece);
        let (rows, columns, inner) = (of.rows, of.columns, of.inner);
        self.weigh(piece, of, &mut products);
        let sides = (
            Matrix::of_rows(&products.left.scaled, inner),
            Matrix::of_rows(&products.right.scaled, inner).transposed(),
        );
        let start = piece.group * rows * columns;
        let mut out = std::mem::take(&mut self.ground.literals[piece.step.stratum].positive);
        let mut values = out[start..].iter_mut();
        let sums = self.multiply(product, rows, sides, (inner, columns));
        for sums in sums.flat_map(|sums| sums.chunks_exact(columns)) {
            let weighed = sums.iter().zip(&products.right.greatest);
            let weighed = weighed.zip(values.by_ref());
            weighed.for_each(|((&sum, &weight), value)| *value = sum * weight);
        }
        self.ground.literals[piece.step.stratum].positive = out;
        self.put_products(piece, products);
    }

    fn backward_linear(&mut self, piece: Piece, of: Contraction, by: &[T]) {
        let mut products = self.products_of(piece);
        let (rows, columns, inner) = (of.rows, of.columns, of.inner);
        products.weights.clear();
        for by in by.chunks_exact(columns) {
            let weighed = by.iter().zip(&products.right.greatest);
            (products.weights).extend(weighed.map(|(&by, &weight)| by * weight));
        }
        let sides = (
            Matrix::of_rows(&products.weights, columns),
            Matrix::of_rows(&products.right.scaled, inner),
        );
        let mut table = std::mem::take(&mut self.lanes[0].lane.by_literal[of.left][0]);
        let from = piece.group * rows * inner;
        let mut into = table.part_mut(from..from + rows * inner).iter_mut();
        let sums = self.multiply(product, rows, sides, (columns, inner));
        for sums in sums {
            let both = sums.iter().zip(into.by_ref());
            both.for_each(|(&sum, into)| *into += sum);
        }
        self.lanes[0].lane.by_literal[of.left][0] = table;
        self.put_products(piece, products);
    }

    pub(super) fn forward_contraction(&mut self, piece: Piece, of: Contraction) {
        if of.linear {
            return self.forward_linear(piece, of);
        }
        let alpha = self.settings[self.leaders[piece.group]].alpha;
        let mean = match self.ground.plan.semantics.exists.laws().semiring {
            Some(Semiring::Greatest) => return self.forward_greatest(piece, of),
            semiring => semiring == Some(Semiring::Exponentials { mean: true }),
        };
        let plan = self.ground.plan.clone();
        let log_terms = &plan.strata.strata[piece.step.stratum].log_terms[..];
        let shift = match mean && log_terms.is_empty() {
            true => -(of.inner as f64).ln(),
            false => 0.0,
        };
        let mut products = self.products_of(piece);
        let (rows, columns, inner) = (of.rows, of.columns, of.inner);
        let scale = T::from_f64(alpha);
        let threads = Threads(self.pool.as_deref());
        self.copy_sides(piece, of, &mut products);
        products.left.scale(inner, scale, threads);
        products.right.scale(inner, scale, threads);
        let (left, right) = (&products.left.scaled, &products.right.scaled);
        products.sums.clear();
        let sides = (
            Matrix::of_rows(left, inner),
            Matrix::of_rows(right, inner).transposed(),
        );
        let sums = self.multiply(product, rows, sides, (inner, columns));
        sums.for_each(|rows| products.sums.extend_from_slice(rows));
        let start = piece.group * rows * columns;
        let mut out = std::mem::take(&mut self.ground.literals[piece.step.stratum].positive);
        let values = &mut out[start..start + rows * columns];
        values.copy_from_slice(&products.sums);
        let threads = Threads(self.pool.as_deref());
        threads.each(&mut *values, |values| T::kernels().ln(values));
        let Products {
            left, right, sums, ..
        } = &mut products;
        let (left, right) = (&*left, &*right);
        let a = self.whole(piece, of.left, left);
        let b = self.whole(piece, of.right, right);
        let (by_alpha, shift) = (T::from_f64(1.0 / alpha), shift / alpha);
        let least = least::<T>();
        for (i, values) in values.chunks_exact_mut(columns).enumerate() {
            let row = left.greatest[i] + T::from_f64(shift);
            let sums = &mut sums[i * columns..(i + 1) * columns];
            for (value, &column) in values.iter_mut().zip(&right.greatest) {
                *value = value.multiply_add::<false>(by_alpha, row + column);
            }
            if sums.iter().all(|sum| *sum >= least) {
                continue;
            }
            for (j, (value, sum)) in values.iter_mut().zip(sums).enumerate() {
                if *sum < least {
                    *sum = T::ZERO;
                    let (x, y) = (
                        &a[i * inner..(i + 1) * inner],
                        &b[j * inner..(j + 1) * inner],
                    );
                    let (greatest, sum) = by_itself(x, y, alpha);
                    *value = T::from_f64(greatest + sum.ln() / alpha + shift);
                }
            }
        }
        if mean {
            for (value, log) in values.iter_mut().zip(log_terms) {
                *value += T::from_f64(-log / alpha);
            }
        }
        self.ground.literals[piece.step.stratum].positive = out;
        self.put_products(piece, products);
    }

    /// Passes derivatives on to both sides.
    pub(super) fn backward_contraction(&mut self, piece: Piece, of: Contraction, by: &[T]) {
        if of.linear {
            return self.backward_linear(piece, of, by);
        }
        if self.ground.plan.semantics.exists.laws().semiring == Some(Semiring::Greatest) {
            return self.backward_greatest(piece, of, by);
        }
        let alpha = self.settings[self.leaders[piece.group]].alpha;
        let mut products = self.products_of(piece);
        let (rows, columns, inner) = (of.rows, of.columns, of.inner);
        products.weights.clear();
        let pairs = by.iter().zip(&products.sums);
        (products.weights).extend(pairs.map(|(&by, &sum)| match sum > T::ZERO {
            true => by / sum,
            false => T::ZERO,
        }));
        let weights = Matrix::of_rows(&products.weights, columns);
        let (left, right) = (&products.left.scaled, &products.right.scaled);
        let sides = [
            (
                of.left,
                rows,
                weights,
                Matrix::of_rows(right, inner),
                columns,
                left,
            ),
            (
                of.right,
                columns,
                weights.transposed(),
                Matrix::of_rows(left, inner),
                rows,
                right,
            ),
        ];
        for (stratum, rows, weights, other, terms, own) in sides {
            let plan = self.ground.plan.clone();
            if plan.strata.strata[stratum].is_constant() {
                continue;
            }
            let codes = &plan.strata.strata[stratum].codes;
            let from = piece.group * codes.len();
            let mut table = std::mem::take(&mut self.lanes[0].lane.by_literal[stratum][0]);
            let into = table.part_mut(from..from + codes.len());
            let (mut at, mut done) = (0, 0);
            let sums = self.multiply(product, rows, (weights, other), (terms, inner));
            sums.for_each(|sums| {
                let own = &own[at..at + sums.len()];
                if codes.len() == rows * inner {
                    let into = &mut into[at..at + sums.len()];
                    for ((into, &sum), &own) in into.iter_mut().zip(sums).zip(own) {
                        *into += sum * own;
                    }
                } else {
                    while let Some(&code) = codes.get(done)
                        && (code as usize) < at + sums.len()
                    {
                        let place = code as usize - at;
                        into[done] += sums[place] * own[place];
                        done += 1;
                    }
                }
                at += sums.len();
            });
            self.lanes[0].lane.by_literal[stratum][0] = table;
        }
        self.hand_on_small(piece, of, by, &products, alpha);
        self.put_products(piece, products);
    }

    fn forward_greatest(&mut self, piece: Piece, of: Contraction) {
        let mut products = self.products_of(piece);
        let (rows, columns, inner) = (of.rows, of.columns, of.inner);
        self.copy_sides(piece, of, &mut products);
        let sides = (
            Matrix::of_rows(&products.left.scaled, inner),
            Matrix::of_rows(&products.right.scaled, inner).transposed(),
        );
        products.sums.clear();
        let sums = self.multiply(greatest_sums, rows, sides, (inner, columns));
        sums.for_each(|rows| products.sums.extend_from_slice(rows));
        let start = piece.group * rows * columns;
        let out = &mut self.ground.literals[piece.step.stratum].positive;
        out[start..start + rows * columns].copy_from_slice(&products.sums);
        self.put_products(piece, products);
    }

    /// The first of the greatest sums gets the whole derivative.
    fn backward_greatest(&mut self, piece: Piece, of: Contraction, by: &[T]) {
        let products = self.products_of(piece);
        let (columns, inner) = (of.columns, of.inner);
        let shares = self.shares(by.len().saturating_mul(inner));
        let find = |lane: usize, work: &mut LaneWork<T>| {
            let (start, end) = share(of.rows, lane, shares);
            work.lane.listed.clear();
            run_task(Places {
                left: &products.left.scaled[start * inner..end * inner],
                right: &products.right.scaled,
                greatest: &products.sums[start * columns..end * columns],
                by: &by[start * columns..end * columns],
                inner,
                places: &mut work.lane.listed,
            });
        };
        each_lane(self.pool.as_deref(), &mut self.lanes[..shares], find);
        for (stratum, rows, is_left) in [(of.left, of.rows, true), (of.right, columns, false)] {
            let mut table = std::mem::take(&mut self.lanes[0].lane.by_literal[stratum][0]);
            let found = self.lanes[..shares].iter().flat_map(|w| &w.lane.listed);
            let (mut i, mut j) = (0, 0);
            for (&by, &place) in by.iter().zip(found) {
                let at = (if is_left { i } else { j }) * inner + place as usize;
                if let Some(place) = self.place(piece, stratum, at, rows * inner) {
                    table.add(place, by);
                }
                j += 1;
                if j == columns {
                    (i, j) = (i + 1, 0);
                }
            }
            self.lanes[0].lane.by_literal[stratum][0] = table;
        }
        self.put_products(piece, products);
    }

    /// The derivatives by the sums that were computed separately.
    fn hand_on_small(
        &mut self,
        piece: Piece,
        of: Contraction,
        by: &[T],
        products: &Products<T>,
        alpha: f64,
    ) {
        let (columns, inner) = (of.columns, of.inner);
        let mut shares = std::mem::take(&mut self.lanes[0].panel);
        let small = |(_, (by, sum)): &(usize, (&T, &T))| **sum == T::ZERO && **by != T::ZERO;
        for (at, (&by, _)) in by.iter().zip(&products.sums).enumerate().filter(small) {
            let (i, j) = (at / columns, at % columns);
            let a = self.whole(piece, of.left, &products.left);
            let b = self.whole(piece, of.right, &products.right);
            let (x, y) = (
                &a[i * inner..(i + 1) * inner],
                &b[j * inner..(j + 1) * inner],
            );
            let (greatest, sum) = by_itself(x, y, alpha);
            let each = |(x, y): (&T, &T)| {
                let term = (alpha * (x.to_f64() + y.to_f64() - greatest)).exp();
                T::from_f64(by.to_f64() * term / sum)
            };
            shares.clear();
            shares.extend(x.iter().zip(y).map(each));
            for (stratum, row, rows) in [(of.left, i, of.rows), (of.right, j, columns)] {
                for (k, &by) in shares.iter().enumerate() {
                    let at = row * inner + k;
                    if let Some(place) = self.place(piece, stratum, at, rows * inner) {
                        let into = &mut self.lanes[0].lane.by_literal[stratum][0];
                        into.add(place, by);
                    }
                }
            }
        }
        self.lanes[0].panel = shares;
    }

    /// A product of matrices whose rows are shared among the lanes; results are in the order of the
    /// rows.
    fn multiply(
        &mut self,
        product: Multiply<T>,
        rows: usize,
        (left, right): (Matrix<T>, Matrix<T>),
        (inner, columns): (usize, usize),
    ) -> impl Iterator<Item = &[T]> {
        let shares = self.shares(rows.saturating_mul(inner).saturating_mul(columns));
        let compute = |lane: usize, work: &mut LaneWork<T>| {
            let (start, end) = share(rows, lane, shares);
            work.rows.clear();
            work.rows.resize((end - start) * columns, T::ZERO);
            let left = left.from_row(start);
            product(left, right, inner, columns, &mut work.rows, &mut work.panel);
        };
        each_lane(self.pool.as_deref(), &mut self.lanes[..shares], compute);
        self.lanes[..shares].iter().map(|work| work.rows.as_slice())
    }

    /// How many lanes share this many multiplications.
    fn shares(&self, work: usize) -> usize {
        (work / LANE_WORK).clamp(1, self.lanes.len())
    }
}

/// One kind of product: its matrices, how many numbers are in a row of the left and of the result, the result, scratch.
type Multiply<T> = fn(Matrix<T>, Matrix<T>, usize, usize, &mut [T], &mut Vec<T>);

/// For each row of both sides with a derivative: the first place at which they add up to the greatest sum.
struct Places<'a, T> {
    left: &'a [T],
    right: &'a [T],
    greatest: &'a [T],
    by: &'a [T],
    inner: usize,
    places: &'a mut Vec<u32>,
}

/// How many sums are looked at together.
const TOGETHER: usize = 32;

impl<T: Real> Task for Places<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let mut of_rows = self.greatest.iter().zip(self.by);
        for x in self.left.chunks_exact(self.inner) {
            for y in self.right.chunks_exact(self.inner) {
                let Some((&greatest, &by)) = of_rows.next() else {
                    return;
                };
                let is_it = |(x, y): (&T, &T)| *x + *y == greatest;
                let mut from = 0;
                if by != T::ZERO {
                    let (x, y) = (x.chunks(TOGETHER), y.chunks(TOGETHER));
                    let some = x.zip(y).position(|(x, y)| {
                        (x.iter().zip(y)).fold(false, |found, both| found | is_it(both))
                    });
                    from = TOGETHER * some.unwrap_or(0);
                }
                let rest = x[from..].iter().zip(&y[from..]);
                let at = rest.take(TOGETHER).position(is_it).unwrap_or(0);
                self.places.push((from + at) as u32);
            }
        }
    }
}

/// The greatest of the sums of two rows, and Σ exp α(sum - greatest).
fn by_itself<T: Real>(x: &[T], y: &[T], alpha: f64) -> (f64, f64) {
    let pairs = || x.iter().zip(y).map(|(x, y)| x.to_f64() + y.to_f64());
    let greatest = pairs().fold(f64::NEG_INFINITY, f64::max);
    let sum = pairs().map(|sum| (alpha * (sum - greatest)).exp()).sum();
    (greatest, sum)
}
