//! Strata that are products of two others: log Σₖ exp α(aᵢₖ + bⱼₖ) for all i and j, as a product of matrices in scaled space.
//!
//! The greatest number of each row of `a` and of each row of `b` is subtracted first, so that all exponentials are at
//! most 1. Sums that become nearly 0 because the two rows have their greatest numbers in different places are computed
//! separately.

use super::share::{LaneWork, each_lane};
use super::strata::Piece;
use super::{Engine, Precision};
use crate::operators::Semiring;
use crate::plan::strata::Contraction;
use crate::vector::{Matrix, Real, product};

/// What the forward pass leaves for the backward pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Products<T> {
    left: Side<T>,
    right: Side<T>,
    /// By row and column: the sum of products, or 0 where it is too small to be exact.
    sums: Vec<T>,
    /// The derivatives by the values, divided by these sums.
    weights: Vec<T>,
}

/// One of the matrices.
#[derive(Clone, Debug, Default)]
struct Side<T> {
    /// exp α(x - greatest), row by row.
    scaled: Vec<T>,
    /// By row.
    greatest: Vec<T>,
}

impl<T: Real> Side<T> {
    fn fill(&mut self, values: &[T], inner: usize, alpha: T) {
        self.scaled.clear();
        self.scaled.extend_from_slice(values);
        self.greatest.clear();
        let kernels = T::kernels();
        for row in self.scaled.chunks_exact_mut(inner) {
            let greatest = kernels.max(row);
            self.greatest.push(greatest);
            kernels.exp_scaled_difference_from(row, alpha, greatest);
        }
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

    /// The values of one side, for the group of a piece.
    fn side(&self, piece: Piece, stratum: usize, len: usize) -> &[T] {
        let from = piece.group * len;
        &self.ground.literals[stratum].positive[from..from + len]
    }

    pub(super) fn forward_contraction(&mut self, piece: Piece, of: Contraction) {
        let alpha = self.settings[self.leaders[piece.group]].alpha;
        let mean = matches!(
            self.ground.plan.semantics.exists.laws().semiring,
            Some(Semiring::Exponentials { mean: true })
        );
        let shift = if mean { -(of.inner as f64).ln() } else { 0.0 };
        let mut products = self.products_of(piece);
        let (rows, columns, inner) = (of.rows, of.columns, of.inner);
        let scale = T::from_f64(alpha);
        (products.left).fill(self.side(piece, of.left, rows * inner), inner, scale);
        (products.right).fill(self.side(piece, of.right, columns * inner), inner, scale);
        let (left, right) = (&products.left.scaled, &products.right.scaled);
        products.sums.clear();
        let sums = self.multiply(
            rows,
            (
                Matrix::of_rows(left, inner),
                Matrix::of_rows(right, inner).transposed(),
            ),
            (inner, columns),
        );
        sums.for_each(|rows| products.sums.extend_from_slice(rows));
        let start = piece.group * rows * columns;
        let mut out = std::mem::take(&mut self.ground.literals[piece.step.stratum].positive);
        let values = &mut out[start..start + rows * columns];
        values.copy_from_slice(&products.sums);
        T::kernels().ln(values);
        let (a, b) = (
            self.side(piece, of.left, rows * inner),
            self.side(piece, of.right, columns * inner),
        );
        let (by_alpha, shift) = (T::from_f64(1.0 / alpha), shift / alpha);
        let least = least::<T>();
        for (i, values) in values.chunks_exact_mut(columns).enumerate() {
            let row = products.left.greatest[i] + T::from_f64(shift);
            let sums = &mut products.sums[i * columns..(i + 1) * columns];
            for (value, &column) in values.iter_mut().zip(&products.right.greatest) {
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
        self.ground.literals[piece.step.stratum].positive = out;
        self.put_products(piece, products);
    }

    /// Passes derivatives on to both sides.
    pub(super) fn backward_contraction(&mut self, piece: Piece, of: Contraction, by: &[T]) {
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
            let from = piece.group * rows * inner;
            let mut table = std::mem::take(&mut self.lanes[0].lane.by_literal[stratum][0]);
            let mut own = own.iter();
            let into = table.part_mut(from..from + rows * inner);
            let mut at = 0;
            let sums = self.multiply(rows, (weights, other), (terms, inner));
            sums.for_each(|sums| {
                let into = &mut into[at..at + sums.len()];
                at += sums.len();
                for ((into, &sum), &own) in into.iter_mut().zip(sums).zip(&mut own) {
                    *into += sum * own;
                }
            });
            self.lanes[0].lane.by_literal[stratum][0] = table;
        }
        self.hand_on_small(piece, of, by, &products.sums, alpha);
        self.put_products(piece, products);
    }

    /// The derivatives by the sums that were computed separately.
    fn hand_on_small(&mut self, piece: Piece, of: Contraction, by: &[T], sums: &[T], alpha: f64) {
        let (columns, inner) = (of.columns, of.inner);
        let mut shares = std::mem::take(&mut self.lanes[0].panel);
        let small = |(_, (by, sum)): &(usize, (&T, &T))| **sum == T::ZERO && **by != T::ZERO;
        for (at, (&by, _)) in by.iter().zip(sums).enumerate().filter(small) {
            let (i, j) = (at / columns, at % columns);
            let a = self.side(piece, of.left, of.rows * inner);
            let b = self.side(piece, of.right, columns * inner);
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
                let from = (piece.group * rows + row) * inner;
                let into = &mut self.lanes[0].lane.by_literal[stratum][0];
                let into = into.part_mut(from..from + inner);
                into.iter_mut().zip(&shares).for_each(|(x, by)| *x += *by);
            }
        }
        self.lanes[0].panel = shares;
    }

    /// A product of matrices whose rows are shared among the lanes; results are in the order of the
    /// rows.
    fn multiply(
        &mut self,
        rows: usize,
        (left, right): (Matrix<T>, Matrix<T>),
        (inner, columns): (usize, usize),
    ) -> impl Iterator<Item = &[T]> {
        let work = rows.saturating_mul(inner).saturating_mul(columns);
        let shares = (work / LANE_WORK).clamp(1, self.lanes.len());
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
}

/// The greatest of the sums of two rows, and Σ exp α(sum - greatest).
fn by_itself<T: Real>(x: &[T], y: &[T], alpha: f64) -> (f64, f64) {
    let pairs = || x.iter().zip(y).map(|(x, y)| x.to_f64() + y.to_f64());
    let greatest = pairs().fold(f64::NEG_INFINITY, f64::max);
    let sum = pairs().map(|sum| (alpha * (sum - greatest)).exp()).sum();
    (greatest, sum)
}
