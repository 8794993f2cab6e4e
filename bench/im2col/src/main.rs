//! LeNet's two convolutions, forward and backward on 128 images on one thread: the direct one of `logltn-nn` against
//! im2col with the `gemm` crate. Run it with `cargo run --release` in this folder.

use std::time::Instant;

use gemm::Parallelism;
use logltn_nn::{LayerSpec, Network, NetworkSpec, Shape};

const IMAGES: usize = 128;
const KERNEL: usize = 5;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global();
    pool.expect("one thread");
    for (channels, side, filters) in [(1, 28, 6), (6, 12, 16)] {
        compare(channels, side, filters);
    }
}

/// `rows × columns += a (rows × depth) · b (depth × columns)`, all row-major unless transposed.
struct Matrix<'a> {
    values: &'a [f32],
    row_stride: usize,
    column_stride: usize,
}

fn multiply(out: &mut [f32], (m, n, k): (usize, usize, usize), a: Matrix, b: Matrix, add: bool) {
    assert!(out.len() >= m * n);
    // SAFETY: the strides of row-major or transposed matrices of these sizes stay inside their slices.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            add,
            a.values.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.values.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

fn plain(values: &[f32], columns: usize) -> Matrix<'_> {
    Matrix {
        values,
        row_stride: columns,
        column_stride: 1,
    }
}

fn transposed(values: &[f32], columns: usize) -> Matrix<'_> {
    Matrix {
        values,
        row_stride: 1,
        column_stride: columns,
    }
}

fn compare(channels: usize, side: usize, filters: usize) {
    let (out_side, taps) = (side - KERNEL + 1, channels * KERNEL * KERNEL);
    let (image, pixels) = (channels * side * side, out_side * out_side);
    let number = |i: usize, n: usize| (i * n % 1009) as f32 / 504.5 - 1.0;
    let input: Vec<f32> = (0..IMAGES * image).map(|i| number(i, 7919)).collect();
    let by_output: Vec<f32> = (0..IMAGES * filters * pixels)
        .map(|i| number(i, 31))
        .collect();
    let spec = NetworkSpec {
        input: Shape::Image {
            channels,
            height: side,
            width: side,
        },
        layers: vec![LayerSpec::Conv {
            filters,
            kernel: KERNEL,
        }],
    };
    let mut network = Network::new(&spec, 1).expect("a network");
    let weights = network.parameters()[..filters * taps].to_vec();
    // The first layer of a network does not need the gradient by its input.
    let mut by_input = (channels > 1).then(|| vec![0.0; input.len()]);
    let mut columns = vec![0.0; taps * pixels];
    let mut by_columns = vec![0.0; taps * pixels];
    let mut output = vec![0.0; by_output.len()];
    let mut by_weights = vec![0.0; weights.len()];
    let (mut direct, mut im2col) = (f64::MAX, f64::MAX);
    for _ in 0..60 {
        let begun = Instant::now();
        network.forward(&input, IMAGES);
        network.zero_gradients();
        network.backward(&by_output, by_input.as_deref_mut());
        direct = direct.min(begun.elapsed().as_secs_f64());

        let begun = Instant::now();
        by_weights.fill(0.0);
        by_input.iter_mut().for_each(|b| b.fill(0.0));
        for i in 0..IMAGES {
            let x = &input[i * image..(i + 1) * image];
            let by = &by_output[i * filters * pixels..(i + 1) * filters * pixels];
            let out = &mut output[i * filters * pixels..(i + 1) * filters * pixels];
            each_run(channels, side, |tap, y, from| {
                let to = tap * pixels + y * out_side;
                columns[to..to + out_side].copy_from_slice(&x[from..from + out_side]);
            });
            multiply(
                out,
                (filters, pixels, taps),
                plain(&weights, taps),
                plain(&columns, pixels),
                false,
            );
            multiply(
                &mut by_weights,
                (filters, taps, pixels),
                plain(by, pixels),
                transposed(&columns, pixels),
                true,
            );
            if let Some(by_input) = &mut by_input {
                multiply(
                    &mut by_columns,
                    (taps, pixels, filters),
                    transposed(&weights, taps),
                    plain(by, pixels),
                    false,
                );
                let by_x = &mut by_input[i * image..(i + 1) * image];
                each_run(channels, side, |tap, y, from| {
                    let to = tap * pixels + y * out_side;
                    let run = by_x[from..from + out_side].iter_mut();
                    run.zip(&by_columns[to..]).for_each(|(x, c)| *x += c);
                });
            }
        }
        im2col = im2col.min(begun.elapsed().as_secs_f64());
    }
    let largest = |values: &[f32]| values.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
    let differ = |a: &[f32], b: &[f32]| {
        a.iter()
            .zip(b)
            .fold(0.0_f32, |m, (x, y)| m.max((x - y).abs()))
    };
    let values = differ(network.forward(&input, IMAGES), &output) / largest(&output);
    let gradients =
        differ(&network.gradients()[..weights.len()], &by_weights) / largest(&by_weights);
    println!(
        "{channels}×{side}×{side} to {filters} filters: direct {:.2} ms, im2col {:.2} ms, ratio {:.2} \
         (values differ by {values:.0e}, gradients by {gradients:.0e})",
        direct * 1e3,
        im2col * 1e3,
        direct / im2col
    );
}

/// Visits every run of pixels that one tap of the kernel reads: tap, row of the output, first pixel.
fn each_run(channels: usize, side: usize, mut visit: impl FnMut(usize, usize, usize)) {
    for channel in 0..channels {
        for i in 0..KERNEL {
            for j in 0..KERNEL {
                let tap = (channel * KERNEL + i) * KERNEL + j;
                for y in 0..side - KERNEL + 1 {
                    visit(tap, y, (channel * side + y + i) * side + j);
                }
            }
        }
    }
}
