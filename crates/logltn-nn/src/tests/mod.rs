//! Networks against a plain implementation in double precision, and against themselves.

mod bits;
mod dropout;
mod gradients;
mod reference;
mod uses;

use crate::{Activation, LayerSpec, NetworkSpec, Shape};

fn image(channels: usize, height: usize, width: usize, layers: &[LayerSpec]) -> NetworkSpec {
    NetworkSpec {
        input: Shape::Image {
            channels,
            height,
            width,
        },
        layers: layers.to_vec(),
    }
}

fn conv(filters: usize, kernel: usize) -> LayerSpec {
    LayerSpec::Conv { filters, kernel }
}

const ELU: LayerSpec = LayerSpec::Activation(Activation::Elu);

/// Numbers without a pattern, from −1 to 1.
fn numbers(length: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}
