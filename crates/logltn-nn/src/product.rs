//! Products of matrices, for all that dense layers do.
//!
//! A tile of the result stays in registers while the sum over the depth runs: with AVX-512, 6 rows of 64 columns, 24
//! of the 32 registers. Each sum goes through the depth from first to last, whatever the tile, so the result does not
//! depend on how the work is cut.
//!
//! Why not the `gemm` crate: tiles like these ran at its speed (115 against 111 billion operations per second at
//! 240 × 256 × 256, one thread of the machine at hand), and do without a minute of building, without packing where it
//! is not needed, and with one order of additions on all processors.

use crate::buffer::{LANES, whole_vectors};
use crate::kind::{Kind, multiply_add};

/// The most columns that are computed together, and that lie together in packed weights.
pub(crate) const PANEL: usize = 4 * LANES;

/// c(m, n) = bias(n) + Σₖ a(m, k) b(k, n), for at most [`PANEL`] columns n.
pub(crate) struct ProductTask<'a> {
    /// The number of m.
    pub rows: usize,
    /// The number of k.
    pub depth: usize,
    /// The number of n.
    pub columns: usize,
    /// a(m, k) is at `m · a_row + k · a_depth`.
    pub a: &'a [f32],
    pub a_row: usize,
    pub a_depth: usize,
    /// b(k, n) is at `k · b_depth + n`. The columns must be there up to a whole vector, whatever is in them.
    pub b: &'a [f32],
    pub b_depth: usize,
    pub start: Start<'a>,
    /// c(m, n) is at `m · c_row + n`.
    pub c: &'a mut [f32],
    pub c_row: usize,
}

/// What the products are added to.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    Zero,
    /// One number for each column, up to a whole vector.
    Bias(&'a [f32]),
    /// What is in c already: the sum of the products is added to it.
    Result,
}

#[inline(always)]
pub(crate) fn product<K: Kind>(task: &mut ProductTask) {
    if task.rows == 0 || task.columns == 0 {
        return;
    }
    // The tiles below use pointers; these are all the bounds they rely on.
    let vectors = task.columns.div_ceil(LANES);
    assert!(task.columns <= PANEL, "at most a panel");
    if task.depth > 0 {
        let last = (task.rows - 1) * task.a_row + (task.depth - 1) * task.a_depth;
        assert!(last < task.a.len(), "a holds all of its elements");
        let end = (task.depth - 1) * task.b_depth + vectors * LANES;
        assert!(end <= task.b.len(), "b holds whole vectors");
    }
    if let Start::Bias(bias) = task.start {
        assert!(vectors * LANES <= bias.len(), "whole vectors of bias");
    }
    let end = (task.rows - 1) * task.c_row + task.columns;
    assert!(end <= task.c.len(), "c holds all of its elements");

    if K::WIDE {
        // SAFETY: the bounds are checked above.
        unsafe {
            match vectors {
                4 => rows::<K, 6, 4>(task, 0),
                3 => rows::<K, 8, 3>(task, 0),
                2 => rows::<K, 12, 2>(task, 0),
                _ => rows::<K, 12, 1>(task, 0),
            }
        }
    } else {
        for vector in 0..vectors {
            // SAFETY: the bounds are checked above.
            unsafe { rows::<K, 6, 1>(task, vector * LANES) }
        }
    }
}

/// All rows of the columns from `column` on.
#[inline(always)]
unsafe fn rows<K: Kind, const ROWS: usize, const VECTORS: usize>(
    task: &mut ProductTask,
    column: usize,
) {
    let mut row = 0;
    while row + ROWS <= task.rows {
        // SAFETY: the caller has checked the task, and these rows are in it.
        unsafe { tile::<K, ROWS, VECTORS>(task, row, column) };
        row += ROWS;
    }
    while row + 4 <= task.rows {
        // SAFETY: as above.
        unsafe { tile::<K, 4, VECTORS>(task, row, column) };
        row += 4;
    }
    while row + 2 <= task.rows {
        // SAFETY: as above.
        unsafe { tile::<K, 2, VECTORS>(task, row, column) };
        row += 2;
    }
    if row < task.rows {
        // SAFETY: as above.
        unsafe { tile::<K, 1, VECTORS>(task, row, column) };
    }
}

/// One tile of the result. The bounds have been checked by [`product`].
#[inline(always)]
unsafe fn tile<K: Kind, const ROWS: usize, const VECTORS: usize>(
    task: &mut ProductTask,
    row: usize,
    column: usize,
) {
    let mut sums = [[[0.0f32; LANES]; VECTORS]; ROWS];
    let a = task.a.as_ptr();
    let b = task.b.as_ptr();
    for k in 0..task.depth {
        // SAFETY: row and k are in a; k is in b, with whole vectors.
        unsafe {
            let b = *b
                .add(k * task.b_depth + column)
                .cast::<[[f32; LANES]; VECTORS]>();
            for (m, sums) in sums.iter_mut().enumerate() {
                let a = *a.add((row + m) * task.a_row + k * task.a_depth);
                for (sums, b) in sums.iter_mut().zip(&b) {
                    for (sum, &b) in sums.iter_mut().zip(b) {
                        *sum = multiply_add::<K>(a, b, *sum);
                    }
                }
            }
        }
    }
    if task.columns - column >= VECTORS * LANES {
        for (m, sums) in sums.iter().enumerate() {
            for (n, sums) in sums.iter().enumerate() {
                // SAFETY: the row is in c, up to this column, and if there is a bias it has whole vectors.
                unsafe {
                    let c = task
                        .c
                        .as_mut_ptr()
                        .add((row + m) * task.c_row + column + n * LANES);
                    let c = c.cast::<[f32; LANES]>();
                    *c = match task.start {
                        Start::Zero => *sums,
                        Start::Bias(bias) => {
                            let bias = bias.as_ptr().add(column + n * LANES);
                            plus(sums, &*bias.cast::<[f32; LANES]>())
                        }
                        Start::Result => plus(sums, &*c),
                    };
                }
            }
        }
    } else {
        // What is indexed by a variable has to be in memory. Were that `sums`, it would be written in each turn of
        // the loop above; so it is a copy.
        let mut copy = [[[0.0f32; LANES]; VECTORS]; ROWS];
        for (copy, sums) in copy.iter_mut().zip(&sums) {
            for (copy, sums) in copy.iter_mut().zip(sums) {
                *copy = *sums;
            }
        }
        finish(
            task,
            row,
            column,
            copy.as_flattened().as_flattened(),
            VECTORS * LANES,
        );
    }
}

#[inline(always)]
fn plus(a: &[f32; LANES], b: &[f32; LANES]) -> [f32; LANES] {
    let mut sum = [0.0; LANES];
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        *sum = a + b;
    }
    sum
}

/// Stores a tile whose last vector is not a whole one.
#[inline(never)]
fn finish(task: &mut ProductTask, row: usize, column: usize, sums: &[f32], width: usize) {
    let columns = task.columns - column;
    for (m, sums) in sums.chunks_exact(width).enumerate() {
        let start = (row + m) * task.c_row + column;
        let c = &mut task.c[start..start + columns];
        for (n, (c, sum)) in c.iter_mut().zip(sums).enumerate() {
            *c = match task.start {
                Start::Zero => *sum,
                Start::Bias(bias) => sum + bias[column + n],
                Start::Result => *c + sum,
            };
        }
    }
}

/// The number of floats in a row of the panel that begins with column `first`.
pub(crate) fn panel_width(columns: usize, first: usize) -> usize {
    PANEL.min(whole_vectors(columns - first))
}

/// The number of floats of all panels of packed weights.
pub(crate) fn packed_length(depth: usize, columns: usize) -> usize {
    depth * whole_vectors(columns)
}
