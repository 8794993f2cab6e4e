//! The loops that [`crate::processor`] compiles for each kind of processor. Everything is `inline(always)`, so that it
//! ends up in functions that say which instructions they may use.

use crate::activation::Activation;
use crate::buffer::LANES;
use crate::kind::Kind;

pub(crate) use crate::convolution::{convolution_weight_gradient, convolve};
pub(crate) use crate::product::product;

#[inline(always)]
pub(crate) fn add<K: Kind>(a: &mut [f32], b: &[f32]) {
    assert_eq!(a.len(), b.len(), "slices of one length");
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

/// `input` and `output` are planes of vectors, one float of each of 16 images; `k` × `k` tiles side by side, and what
/// is left over at the right and at the bottom is dropped. The first of several greatest wins, and NaN always.
#[inline(always)]
pub(crate) fn pool<K: Kind>(
    input: &[f32],
    (height, width, k): (usize, usize, usize),
    output: &mut [f32],
    winners: &mut [u32],
) {
    let (output, _) = output.as_chunks_mut::<LANES>();
    let (winners, _) = winners.as_chunks_mut::<LANES>();
    let (input, _) = input.as_chunks::<LANES>();
    let (out_height, out_width) = (height / k, width / k);
    let planes = input
        .chunks_exact(height * width)
        .zip(output.chunks_exact_mut(out_height * out_width))
        .zip(winners.chunks_exact_mut(out_height * out_width));
    for ((input, output), winners) in planes {
        for y in 0..out_height {
            for x in 0..out_width {
                let mut best = input[y * k * width + x * k];
                let mut winner = [0; LANES];
                for i in 0..k {
                    let start = (y * k + i) * width + x * k;
                    for (j, candidate) in input[start..start + k].iter().enumerate() {
                        let place = (i * k + j) as u32;
                        for lane in 0..LANES {
                            let better = (candidate[lane] > best[lane]) | candidate[lane].is_nan();
                            best[lane] = if better { candidate[lane] } else { best[lane] };
                            winner[lane] = if better { place } else { winner[lane] };
                        }
                    }
                }
                output[y * out_width + x] = best;
                winners[y * out_width + x] = winner;
            }
        }
    }
}

#[inline(always)]
pub(crate) fn unpool<K: Kind>(
    by_output: &[f32],
    winners: &[u32],
    (height, width, k): (usize, usize, usize),
    margin: usize,
    by_input: &mut [f32],
) {
    let (by_output, _) = by_output.as_chunks::<LANES>();
    let (winners, _) = winners.as_chunks::<LANES>();
    let (by_input, _) = by_input.as_chunks_mut::<LANES>();
    let (out_height, out_width) = (height / k, width / k);
    let stride = width + 2 * margin;
    let everything_is_written = margin == 0 && height.is_multiple_of(k) && width.is_multiple_of(k);
    let planes = by_input
        .chunks_exact_mut(height * stride)
        .zip(by_output.chunks_exact(out_height * out_width))
        .zip(winners.chunks_exact(out_height * out_width));
    for ((by_input, by_output), winners) in planes {
        if !everything_is_written {
            by_input.fill([0.0; LANES]);
        }
        for y in 0..out_height {
            for x in 0..out_width {
                let by_output = &by_output[y * out_width + x];
                let winner = &winners[y * out_width + x];
                for i in 0..k {
                    let start = (y * k + i) * stride + margin + x * k;
                    for (j, by_input) in by_input[start..start + k].iter_mut().enumerate() {
                        let place = (i * k + j) as u32;
                        for lane in 0..LANES {
                            // All bits or none: written as a choice, it becomes a branch for each lane.
                            let mask = u32::from(winner[lane] == place).wrapping_neg();
                            by_input[lane] = f32::from_bits(by_output[lane].to_bits() & mask);
                        }
                    }
                }
            }
        }
    }
}

/// d = d · derivative(y)
#[inline(always)]
fn times(d: &mut [f32], y: &[f32], derivative: impl Fn(f32) -> f32) {
    assert_eq!(d.len(), y.len(), "slices of one length");
    for (d, &y) in d.iter_mut().zip(y) {
        *d *= derivative(y);
    }
}

#[inline(always)]
pub(crate) fn times_derivative<K: Kind>(d: &mut [f32], y: &[f32], activation: Activation) {
    match activation {
        Activation::Elu => times(d, y, |y| if y > 0.0 { 1.0 } else { y + 1.0 }),
        Activation::Relu => times(d, y, |y| if y > 0.0 { 1.0 } else { 0.0 }),
        Activation::Tanh => times(d, y, |y| 1.0 - y * y),
        Activation::Sigmoid => times(d, y, |y| y * (1.0 - y)),
    }
}

/// One step of Adam, prepared.
pub(crate) struct AdamStep {
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    /// What is left of a parameter after weight decay.
    pub keep: f32,
    /// The learning rate over the bias of the first mean.
    pub rate: f32,
    /// One over the root of the bias of the second mean.
    pub unbias_root: f32,
}

#[inline(always)]
pub(crate) fn adam<K: Kind>(
    step: &AdamStep,
    parameters: &mut [f32],
    gradients: &[f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let means = first.iter_mut().zip(second);
    for ((parameter, &gradient), (first, second)) in parameters.iter_mut().zip(gradients).zip(means)
    {
        *first = step.beta1 * *first + (1.0 - step.beta1) * gradient;
        *second = step.beta2 * *second + (1.0 - step.beta2) * gradient * gradient;
        let divisor = second.sqrt() * step.unbias_root + step.epsilon;
        *parameter = *parameter * step.keep - step.rate * *first / divisor;
    }
}

#[inline(always)]
pub(crate) fn add_squares<K: Kind>(x: &[f32], sums: &mut [f64; LANES]) {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut inner = *sums;
    for chunk in chunks {
        for (sum, &x) in inner.iter_mut().zip(chunk) {
            *sum += f64::from(x) * f64::from(x);
        }
    }
    for (sum, &x) in inner.iter_mut().zip(rest) {
        *sum += f64::from(x) * f64::from(x);
    }
    *sums = inner;
}
