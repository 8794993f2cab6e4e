//! Between rows, as callers and dense layers have them, and planes of vectors, as convolutions want them.

use crate::buffer::LANES;

/// Rows of `length` numbers, `stride` apart, become `length` vectors; lanes without a row become 0.
pub(crate) fn planes_from_rows(
    input: &[f32],
    stride: usize,
    rows: usize,
    length: usize,
    planes: &mut [f32],
) {
    let (vectors, _) = planes[..length * LANES].as_chunks_mut::<LANES>();
    if rows < LANES {
        vectors.fill([0.0; LANES]);
    }
    // 16 pixels of 16 rows at a time: as many cache lines as a transposition has to touch.
    for (index, vectors) in vectors.chunks_mut(LANES).enumerate() {
        for row in 0..rows {
            let pixels = &input[row * stride + index * LANES..][..vectors.len()];
            for (vector, pixel) in vectors.iter_mut().zip(pixels) {
                vector[row] = *pixel;
            }
        }
    }
}

/// The way back: `length` vectors become rows of `length` numbers, `stride` apart.
pub(crate) fn rows_from_planes(
    planes: &[f32],
    length: usize,
    rows: usize,
    output: &mut [f32],
    stride: usize,
) {
    let (vectors, _) = planes[..length * LANES].as_chunks::<LANES>();
    for (index, vectors) in vectors.chunks(LANES).enumerate() {
        for row in 0..rows {
            let pixels = &mut output[row * stride + index * LANES..][..vectors.len()];
            for (vector, pixel) in vectors.iter().zip(pixels) {
                *pixel = vector[row];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let (rows, length, stride) = (13, 37, 48);
        let input: Vec<f32> = (0..rows * stride).map(|i| i as f32).collect();
        let mut planes = vec![-1.0; length * LANES];
        planes_from_rows(&input, stride, rows, length, &mut planes);
        assert_eq!(planes[5 * LANES + 7], (7 * stride + 5) as f32);
        assert_eq!(planes[5 * LANES + 13], 0.0);
        let mut output = vec![-1.0; rows * length];
        rows_from_planes(&planes, length, rows, &mut output, length);
        for row in 0..rows {
            assert_eq!(
                output[row * length..][..length],
                input[row * stride..][..length]
            );
        }
    }
}
