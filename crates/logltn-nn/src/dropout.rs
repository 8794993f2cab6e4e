//! Dropout: which numbers of a batch are set to 0 in a step.
//!
//! A choice is a function of the network's seed, the step, the layer, the row of the batch and the place in the row,
//! and of nothing else. So it needs no memory, the way back makes the same choices again, and neither the number of
//! threads nor an interruption changes a bit.

use crate::buffer::LANES;
use crate::extent::Extent;
use crate::spec::Shape;

/// What choices of a step depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub seed: u64,
    pub step: u64,
}

/// One layer of dropout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropout {
    /// A choice is one of 2¹⁶ numbers; those below this one drop.
    threshold: u16,
    /// What is kept grows by this factor, so that the mean stays.
    scale: f32,
    /// The number of the layer.
    layer: u64,
}

/// How many choices one number of 64 bits has.
const CHOICES: usize = 4;

impl Dropout {
    pub fn new(rate: f32, layer: usize) -> Self {
        // At most 65535, so some are kept whatever the rate.
        let threshold = (rate * 65536.0) as u16;
        Self {
            threshold,
            // Of the rate as it is after rounding, or the mean would not stay.
            scale: 1.0 / (1.0 - f32::from(threshold) / 65536.0),
            layer: layer as u64,
        }
    }

    /// Multiplies each number of a block by 0 or by the scale. `first_row` is the block's place in the batch.
    pub fn apply(self, draw: Draw, place: Extent, first_row: usize, rows: usize, x: &mut [f32]) {
        let layer = mix(mix(draw.seed ^ mix(draw.step)) ^ self.layer);
        // Where the numbers of a row begin, and how far apart they are.
        let (row_distance, distance) = match place.shape {
            Shape::Flat(_) => (place.stride(), 1),
            Shape::Image { .. } => (1, LANES),
        };
        for row in 0..rows {
            let key = mix(layer ^ (first_row + row) as u64);
            for first in (0..place.shape.len()).step_by(CHOICES) {
                let choices = mix(key ^ first as u64);
                for i in first..place.shape.len().min(first + CHOICES) {
                    let choice = (choices >> (16 * (i - first))) as u16;
                    let x = &mut x[row * row_distance + i * distance];
                    *x *= if choice < self.threshold {
                        0.0
                    } else {
                        self.scale
                    };
                }
            }
        }
    }
}

/// Numbers that differ in any bit become numbers that differ in about half of them (the last steps of SplitMix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
