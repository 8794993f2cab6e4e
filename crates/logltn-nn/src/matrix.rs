//! Products of matrices for others. (Dense layers have their own, whose weights stay packed.)

use crate::buffer::{Floats, LANES};
use crate::packed::pack_transposed;
use crate::processor::Processor;
use crate::product::{PANEL, ProductTask, Start, panel_width};

/// The dot product of every row of `a` with every row of `b`: those of the first row of `a`, then those of the second.
/// Rows have `depth` numbers, a multiple of 16 (fill them up with zeros). Each sum goes through them from first to last,
/// so that it is the same in whichever part of a matrix it is asked for. `room` is for the work.
///
/// ```
/// let row = |x: f32, y: f32| [[x, y].as_slice(), &[0.0; 14]].concat();
/// let (a, b) = (row(1.0, 2.0), [row(3.0, 4.0), row(5.0, 6.0)].concat());
/// let mut c = [0.0; 2];
/// logltn_nn::dots(&a, &b, 16, &mut logltn_nn::Floats::default(), &mut c);
/// assert_eq!(c, [11.0, 17.0]);
/// ```
///
/// # Panics
/// If rows are not whole vectors of 16, or `c` lacks a place for each product.
pub fn dots(a: &[f32], b: &[f32], depth: usize, room: &mut Floats, c: &mut [f32]) {
    assert!(depth > 0 && depth.is_multiple_of(LANES), "whole vectors");
    let (rows, columns) = (a.len() / depth, b.len() / depth);
    assert_eq!(c.len(), rows * columns, "a place for each product");
    let processor = Processor::fastest();
    for first in (0..columns).step_by(PANEL) {
        let width = panel_width(columns, first);
        let last = columns.min(first + PANEL);
        if room.len() < width * depth {
            room.reset(width * depth);
        }
        pack_transposed(&b[first * depth..last * depth], depth, width, room);
        processor.product(&mut ProductTask {
            rows,
            depth,
            columns: last - first,
            a,
            a_row: depth,
            a_depth: 1,
            b: room,
            b_depth: width,
            start: Start::Zero,
            c: &mut c[first..],
            c_row: columns,
        });
    }
}

/// Sums of the rows of `b`, each as many times as the weights say: row m is Σₙ weight(m, n) · b(n). The weight (m, n) is at
/// `m · steps[0] + n · steps[1]`, so that a matrix can also be read sideways. Rows have `length` numbers, a multiple of 16.
///
/// ```
/// let b = [[1.0; 16], [10.0; 16]].concat();
/// let mut c = [0.0; 16];
/// logltn_nn::weighted_sums(&[2.0, 3.0], [2, 1], &b, 16, &mut c);
/// assert_eq!(c, [32.0; 16]);
/// ```
///
/// # Panics
/// If rows are not whole vectors of 16, or there are not this many weights.
pub fn weighted_sums(weights: &[f32], steps: [usize; 2], b: &[f32], length: usize, c: &mut [f32]) {
    assert!(length > 0 && length.is_multiple_of(LANES), "whole vectors");
    let [a_row, a_depth] = steps;
    let processor = Processor::fastest();
    for first in (0..length).step_by(PANEL) {
        processor.product(&mut ProductTask {
            rows: c.len() / length,
            depth: b.len() / length,
            columns: PANEL.min(length - first),
            a: weights,
            a_row,
            a_depth,
            b: &b[first..],
            b_depth: length,
            start: Start::Zero,
            c: &mut c[first..],
            c_row: length,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_by_hand_whatever_the_sizes() {
        for (rows, columns, depth) in [(1, 1, 16), (7, 70, 48), (13, 129, 32), (5, 16, 208)] {
            let number = |i: usize| ((i * 7919) % 101) as f32 - 50.0;
            let a: Vec<f32> = (0..rows * depth).map(number).collect();
            let b: Vec<f32> = (3..3 + columns * depth).map(number).collect();
            let mut c = vec![f32::NAN; rows * columns];
            dots(&a, &b, depth, &mut Floats::default(), &mut c);
            for (i, &found) in c.iter().enumerate() {
                let (m, n) = (i / columns, i % columns);
                let pairs = a[m * depth..][..depth].iter().zip(&b[n * depth..][..depth]);
                // Integers, and small enough to be exact.
                assert_eq!(found, pairs.map(|(a, b)| a * b).sum::<f32>(), "{m}, {n}");
            }
            let weights: Vec<f32> = (5..5 + rows * columns).map(|i| number(i) / 64.0).collect();
            let (mut by_a, mut by_b) = (vec![f32::NAN; a.len()], vec![f32::NAN; b.len()]);
            weighted_sums(&weights, [columns, 1], &b, depth, &mut by_a);
            weighted_sums(&weights, [1, columns], &a, depth, &mut by_b);
            for (i, &found) in by_a.iter().enumerate() {
                let (m, k) = (i / depth, i % depth);
                let sum = (0..columns).map(|n| weights[m * columns + n] * b[n * depth + k]);
                assert_eq!(found, sum.sum::<f32>());
            }
            for (i, &found) in by_b.iter().enumerate() {
                let (n, k) = (i / depth, i % depth);
                let sum = (0..rows).map(|m| weights[m * columns + n] * a[m * depth + k]);
                assert_eq!(found, sum.sum::<f32>());
            }
        }
    }
}
