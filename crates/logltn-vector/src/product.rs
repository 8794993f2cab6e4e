//! Products of matrices: sums of products, or greatest sums.

use std::marker::PhantomData;

use super::real::Real;
use super::task::{Task, run_task};

/// A matrix in a slice: the layout of its rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The numbers.
    pub values: &'a [T],
    /// From one row to the next.
    pub row: usize,
    /// From one column to the next.
    pub column: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// Rows of this many numbers, one after another.
    pub fn of_rows(values: &'a [T], columns: usize) -> Matrix<'a, T> {
        Matrix {
            values,
            row: columns,
            column: 1,
        }
    }

    /// The transpose.
    pub fn transposed(self) -> Matrix<'a, T> {
        Matrix {
            row: self.column,
            column: self.row,
            ..self
        }
    }

    /// The rows from this one on.
    pub fn from_row(self, row: usize) -> Matrix<'a, T> {
        Matrix {
            values: &self.values[(self.row * row).min(self.values.len())..],
            ..self
        }
    }
}

/// How many rows and columns of the result are computed together.
const ROWS: usize = 6;
const COLUMNS: usize = 16;

/// `out`, rows of `columns` numbers, becomes the product of `left` and `right`, which has `inner` rows. The bits of a number
/// depend on its row and its column alone, so that rows may be shared among threads in any way. `panel` is scratch.
///
/// ```
/// use logltn_vector::{Matrix, product};
/// let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
/// let mut out = [0.0; 2];
/// product(Matrix::of_rows(&a, 2), Matrix::of_rows(&b, 1), 2, 1, &mut out, &mut Vec::new());
/// assert_eq!(out, [17.0, 39.0]);
/// ```
pub fn product<T: Real>(
    left: Matrix<T>,
    right: Matrix<T>,
    inner: usize,
    columns: usize,
    out: &mut [T],
    panel: &mut Vec<T>,
) {
    run_task(Product {
        left,
        right,
        inner,
        columns,
        out,
        panel,
        rule: PhantomData::<SumOfProducts>,
    });
}

/// The same with the greatest of the sums instead of the sum of the products: −∞ without any.
///
/// ```
/// use logltn_vector::{Matrix, greatest_sums};
/// let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
/// let mut out = [0.0; 2];
/// greatest_sums(Matrix::of_rows(&a, 2), Matrix::of_rows(&b, 1), 2, 1, &mut out, &mut Vec::new());
/// assert_eq!(out, [8.0, 10.0]);
/// ```
pub fn greatest_sums<T: Real>(
    left: Matrix<T>,
    right: Matrix<T>,
    inner: usize,
    columns: usize,
    out: &mut [T],
    panel: &mut Vec<T>,
) {
    run_task(Product {
        left,
        right,
        inner,
        columns,
        out,
        panel,
        rule: PhantomData::<GreatestSum>,
    });
}

/// What is computed of a row and a column.
trait Rule<T> {
    const START: T;
    /// With one more number of each.
    fn add<const FUSED: bool>(so_far: T, x: T, y: T) -> T;
}

struct SumOfProducts;

impl<T: Real> Rule<T> for SumOfProducts {
    const START: T = T::ZERO;

    #[inline(always)]
    fn add<const FUSED: bool>(so_far: T, x: T, y: T) -> T {
        x.multiply_add::<FUSED>(y, so_far)
    }
}

struct GreatestSum;

impl<T: Real> Rule<T> for GreatestSum {
    const START: T = T::NEG_INFINITY;

    #[inline(always)]
    fn add<const FUSED: bool>(so_far: T, x: T, y: T) -> T {
        let sum = x + y;
        if sum > so_far { sum } else { so_far }
    }
}

struct Product<'a, T, R> {
    left: Matrix<'a, T>,
    right: Matrix<'a, T>,
    inner: usize,
    columns: usize,
    out: &'a mut [T],
    panel: &'a mut Vec<T>,
    rule: PhantomData<R>,
}

impl<T: Real, R: Rule<T>> Task for Product<'_, T, R> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Product {
            left,
            right,
            inner,
            columns,
            out,
            panel,
            ..
        } = self;
        if columns == 0 || out.is_empty() {
            return;
        }
        let rows = out.len() / columns;
        panel.clear();
        panel.resize(inner * COLUMNS, T::ZERO);
        for first in (0..columns).step_by(COLUMNS) {
            let width = COLUMNS.min(columns - first);
            for (p, into) in panel.chunks_exact_mut(COLUMNS).enumerate() {
                let from = p * right.row + first * right.column;
                match right.column {
                    1 => into[..width].copy_from_slice(&right.values[from..from + width]),
                    step => (into[..width].iter_mut().enumerate())
                        .for_each(|(j, x)| *x = right.values[from + j * step]),
                }
                into[width..].fill(T::ZERO);
            }
            let mut row = 0;
            while row + ROWS <= rows {
                let sums = tile::<T, R, FUSED, ROWS>(left, row, panel, inner);
                for (i, sums) in sums.iter().enumerate() {
                    let at = (row + i) * columns + first;
                    out[at..at + width].copy_from_slice(&sums[..width]);
                }
                row += ROWS;
            }
            while row < rows {
                let [sums] = tile::<T, R, FUSED, 1>(left, row, panel, inner);
                let at = row * columns + first;
                out[at..at + width].copy_from_slice(&sums[..width]);
                row += 1;
            }
        }
    }
}

/// Some rows of the product with a panel of columns.
#[inline(always)]
fn tile<T: Real, R: Rule<T>, const FUSED: bool, const N: usize>(
    left: Matrix<T>,
    row: usize,
    panel: &[T],
    inner: usize,
) -> [[T; COLUMNS]; N] {
    let mut sums = [[R::START; COLUMNS]; N];
    let (panel, _) = panel.as_chunks::<COLUMNS>();
    let last = (row + N - 1) * left.row + inner.saturating_sub(1) * left.column;
    assert!(
        inner == 0 || last < left.values.len(),
        "a matrix as large as it is said to be"
    );
    for (p, right) in panel.iter().enumerate().take(inner) {
        for (i, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the last of these positions was checked to be in bounds before.
            let x = unsafe {
                *left
                    .values
                    .get_unchecked((row + i) * left.row + p * left.column)
            };
            for (sum, &y) in sums.iter_mut().zip(right) {
                *sum = R::add::<FUSED>(*sum, x, y);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, whose products are exact.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count)
            .map(|i| ((i * 7 + seed * 13) % 11) as f32 - 5.0)
            .collect()
    }

    #[test]
    fn products_are_those_of_three_loops_whatever_the_sizes() {
        for (rows, inner, columns) in [
            (0, 3, 2),
            (1, 1, 1),
            (1, 0, 3),
            (6, 4, 16),
            (7, 5, 17),
            (13, 33, 40),
        ] {
            let (a, b) = (numbers(rows * inner, 1), numbers(inner * columns, 2));
            let mut expected = vec![0.0; rows * columns];
            let mut greatest = vec![f32::NEG_INFINITY; rows * columns];
            for i in 0..rows {
                for j in 0..columns {
                    let pairs = || (0..inner).map(|p| (a[i * inner + p], b[p * columns + j]));
                    expected[i * columns + j] = pairs().map(|(x, y)| x * y).sum();
                    greatest[i * columns + j] =
                        pairs().fold(f32::NEG_INFINITY, |most, (x, y)| most.max(x + y));
                }
            }
            let mut at: Vec<f32> = vec![0.0; rows * inner];
            let mut bt: Vec<f32> = vec![0.0; inner * columns];
            for p in 0..inner {
                (0..rows).for_each(|i| at[p * rows + i] = a[i * inner + p]);
                (0..columns).for_each(|j| bt[j * inner + p] = b[p * columns + j]);
            }
            let lefts = [
                Matrix::of_rows(&a, inner),
                Matrix::of_rows(&at, rows).transposed(),
            ];
            let rights = [
                Matrix::of_rows(&b, columns),
                Matrix::of_rows(&bt, inner).transposed(),
            ];
            for left in lefts {
                for right in rights {
                    let mut out = vec![f32::NAN; rows * columns];
                    product(left, right, inner, columns, &mut out, &mut Vec::new());
                    assert_eq!(out, expected, "{rows} {inner} {columns}");
                    greatest_sums(left, right, inner, columns, &mut out, &mut Vec::new());
                    assert_eq!(out, greatest, "{rows} {inner} {columns}");
                }
            }
        }
    }
}
