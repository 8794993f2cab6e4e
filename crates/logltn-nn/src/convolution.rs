//! Convolution of 16 images at once: an image is stored as planes of vectors, and a vector holds the same pixel of 16
//! images. So every loop is over whole vectors whatever the size of the image, nothing has to be gathered (there is no
//! im2col), and a sum over images is left to the very end.

use crate::buffer::LANES;
use crate::kind::{Kind, multiply_add};

type Vector = [f32; LANES];

/// output(f, y, x) = bias(f) + Σ over channels c, rows i and columns j of weight(f, c, i, j) · input(c, y + i − p, x + j)
pub(crate) struct ConvolutionTask<'a> {
    /// Planes of vectors, one for each channel.
    pub input: &'a [f32],
    pub channels: usize,
    pub height: usize,
    pub width: usize,
    /// `filters` × `channels` × `kernel` × `kernel`.
    pub weights: &'a [f32],
    pub kernel: usize,
    pub bias: Option<&'a [f32]>,
    /// p, the number of rows above and below the input that are zero and not stored. Zero columns are stored: a tile
    /// goes over several columns and would have to look at each.
    pub rows_not_stored: usize,
    /// Planes of vectors, one for each filter.
    pub output: &'a mut [f32],
    pub filters: usize,
}

impl ConvolutionTask<'_> {
    fn output_size(&self) -> (usize, usize) {
        (
            self.height + 2 * self.rows_not_stored + 1 - self.kernel,
            self.width + 1 - self.kernel,
        )
    }
}

#[inline(always)]
pub(crate) fn convolve<K: Kind>(task: &mut ConvolutionTask) {
    // The tiles use pointers; these are all the bounds they rely on.
    let (height, width) = task.output_size();
    let input_length = task.channels * task.height * task.width * LANES;
    assert!(input_length <= task.input.len(), "input is whole");
    let output_length = task.filters * height * width * LANES;
    assert!(output_length <= task.output.len(), "output is whole");
    let weights_length = task.filters * task.channels * task.kernel * task.kernel;
    assert!(weights_length <= task.weights.len(), "weights are whole");
    assert!(
        task.rows_not_stored < task.kernel,
        "every row meets the input"
    );

    let mut filter = 0;
    while filter < task.filters {
        let left = task.filters - filter;
        // SAFETY: the bounds are checked above.
        filter += unsafe {
            match left {
                6.. if K::WIDE => plane::<K, 6, 4>(task, filter),
                4.. if K::WIDE => plane::<K, 4, 4>(task, filter),
                2.. if K::WIDE => plane::<K, 2, 4>(task, filter),
                2.. => plane::<K, 2, 2>(task, filter),
                _ => plane::<K, 1, 4>(task, filter),
            }
        };
    }
}

/// The planes of `FILTERS` filters from `filter` on; gives their number.
#[inline(always)]
unsafe fn plane<K: Kind, const FILTERS: usize, const PIXELS: usize>(
    task: &mut ConvolutionTask,
    filter: usize,
) -> usize {
    let (height, width) = task.output_size();
    for y in 0..height {
        let mut x = 0;
        while x + PIXELS <= width {
            // SAFETY: the caller has checked the task; the filters are its own, the pixels in the plane.
            unsafe { tile::<K, FILTERS, PIXELS>(task, filter, y, x) };
            x += PIXELS;
        }
        while x < width {
            // SAFETY: as above.
            unsafe { tile::<K, FILTERS, 1>(task, filter, y, x) };
            x += 1;
        }
    }
    FILTERS
}

#[inline(always)]
unsafe fn tile<K: Kind, const FILTERS: usize, const PIXELS: usize>(
    task: &mut ConvolutionTask,
    filter: usize,
    y: usize,
    x: usize,
) {
    let k = task.kernel;
    let mut sums = [[[0.0f32; LANES]; PIXELS]; FILTERS];
    if let Some(bias) = task.bias {
        for (f, sums) in sums.iter_mut().enumerate() {
            *sums = [[bias[filter + f]; LANES]; PIXELS];
        }
    }
    // The rows of the kernel that meet stored rows of the input.
    let first = task.rows_not_stored.saturating_sub(y);
    let end = k.min(task.height + task.rows_not_stored - y);
    let input = task.input.as_ptr().cast::<Vector>();
    let weights = task.weights.as_ptr();
    for channel in 0..task.channels {
        for i in first..end {
            let row = (channel * task.height + y + i - task.rows_not_stored) * task.width + x;
            let weight_row = ((filter * task.channels + channel) * k + i) * k;
            for j in 0..k {
                // SAFETY: row and column of the input are in the plane, and the weight is one of this filter.
                unsafe {
                    let pixels = *input.add(row + j).cast::<[Vector; PIXELS]>();
                    for (f, sums) in sums.iter_mut().enumerate() {
                        let weight = *weights.add(weight_row + j + f * task.channels * k * k);
                        for (sums, pixels) in sums.iter_mut().zip(&pixels) {
                            for (sum, &pixel) in sums.iter_mut().zip(pixels) {
                                *sum = multiply_add::<K>(weight, pixel, *sum);
                            }
                        }
                    }
                }
            }
        }
    }
    let (height, width) = task.output_size();
    let output = task.output.as_mut_ptr().cast::<Vector>();
    for (f, sums) in sums.iter().enumerate() {
        let start = ((filter + f) * height + y) * width + x;
        // SAFETY: these pixels are in the plane of the filter.
        unsafe { *output.add(start).cast::<[Vector; PIXELS]>() = *sums };
    }
}

/// gradient(f, c, i, j) += Σ over images, y and x of by_output(f, y, x) · input(c, y + i, x + j), and for the bias
/// Σ by_output(f, y, x).
pub(crate) struct WeightGradientTask<'a> {
    /// Planes of vectors, one for each channel.
    pub input: &'a [f32],
    pub channels: usize,
    pub height: usize,
    pub width: usize,
    /// Planes of vectors, one for each filter, with `margin` columns more than there are pixels on both sides.
    pub by_output: &'a [f32],
    pub margin: usize,
    pub filters: usize,
    pub kernel: usize,
    /// `filters` × `channels` × `kernel` × `kernel`.
    pub weights: &'a mut [f32],
    pub bias: &'a mut [f32],
}

#[inline(always)]
pub(crate) fn convolution_weight_gradient<K: Kind>(task: &mut WeightGradientTask) {
    let k = task.kernel;
    let (height, width) = (task.height + 1 - k, task.width + 1 - k);
    // The tiles use pointers; these are all the bounds they rely on.
    let input_length = task.channels * task.height * task.width * LANES;
    assert!(input_length <= task.input.len(), "input is whole");
    let by_output_length = task.filters * height * (width + 2 * task.margin) * LANES;
    assert!(
        by_output_length <= task.by_output.len(),
        "gradient is whole"
    );

    let (by_output, _) = task.by_output.as_chunks::<LANES>();
    let planes = by_output.chunks_exact(height * (width + 2 * task.margin));
    for (plane, bias) in planes.zip(task.bias.iter_mut()) {
        let mut sums = [[0.0; LANES]; 4];
        for (pixel, by_output) in plane.iter().enumerate() {
            for (sum, by_output) in sums[pixel % 4].iter_mut().zip(by_output) {
                *sum += by_output;
            }
        }
        *bias += sums.into_iter().map(sum_of_lanes).sum::<f32>();
    }

    let mut filter = 0;
    while filter < task.filters {
        // With fewer registers, one filter at a time.
        let filters = match task.filters - filter {
            4.. if K::WIDE => 4,
            2.. if K::WIDE => 2,
            _ => 1,
        };
        for channel in 0..task.channels {
            for i in 0..k {
                let mut j = 0;
                while j < k {
                    let at = (filter, channel, i, j);
                    // SAFETY: the bounds are checked above.
                    unsafe {
                        j += match (k - j, filters) {
                            (5.., 4) => weight_tile::<K, 4, 5>(task, at),
                            (5.., 2) => weight_tile::<K, 2, 5>(task, at),
                            (5.., _) => weight_tile::<K, 1, 5>(task, at),
                            (3.., 4) => weight_tile::<K, 4, 3>(task, at),
                            (3.., 2) => weight_tile::<K, 2, 3>(task, at),
                            (3.., _) => weight_tile::<K, 1, 3>(task, at),
                            (_, 4) => weight_tile::<K, 4, 1>(task, at),
                            (_, 2) => weight_tile::<K, 2, 1>(task, at),
                            (_, _) => weight_tile::<K, 1, 1>(task, at),
                        };
                    }
                }
            }
        }
        filter += filters;
    }
}

/// The gradients of some filters and of some columns of the kernel; gives the number of columns.
#[inline(always)]
unsafe fn weight_tile<K: Kind, const FILTERS: usize, const COLUMNS: usize>(
    task: &mut WeightGradientTask,
    (filter, channel, i, j): (usize, usize, usize, usize),
) -> usize {
    let k = task.kernel;
    let (height, width) = (task.height + 1 - k, task.width + 1 - k);
    let stride = width + 2 * task.margin;
    let input = task.input.as_ptr().cast::<Vector>();
    let by_output = task.by_output.as_ptr().cast::<Vector>();
    let mut sums = [[[0.0f32; LANES]; COLUMNS]; FILTERS];
    for y in 0..height {
        let input_row = (channel * task.height + y + i) * task.width + j;
        let row = (filter * height + y) * stride + task.margin;
        for x in 0..width {
            // SAFETY: j + COLUMNS ≤ k, so x + j and the columns after it are in the row of the input.
            unsafe {
                let pixels = *input.add(input_row + x).cast::<[Vector; COLUMNS]>();
                for (f, sums) in sums.iter_mut().enumerate() {
                    let by_output = *by_output.add(row + x + f * height * stride);
                    for (sums, pixels) in sums.iter_mut().zip(&pixels) {
                        for ((sum, &by_output), &pixel) in
                            sums.iter_mut().zip(&by_output).zip(pixels)
                        {
                            *sum = multiply_add::<K>(by_output, pixel, *sum);
                        }
                    }
                }
            }
        }
    }
    // What is passed on has to be in memory. Were that `sums`, it would be written in each turn of the loop above; so
    // it is a copy.
    let mut copy = [[[0.0f32; LANES]; COLUMNS]; FILTERS];
    for (copy, sums) in copy.iter_mut().zip(&sums) {
        for (copy, sums) in copy.iter_mut().zip(sums) {
            *copy = *sums;
        }
    }
    let first = ((filter * task.channels + channel) * k + i) * k + j;
    let starts = (first..).step_by(task.channels * k * k);
    for (start, sums) in starts.zip(&copy) {
        add_sums_of_lanes(&mut task.weights[start..start + COLUMNS], sums);
    }
    COLUMNS
}

#[inline(never)]
fn add_sums_of_lanes(gradients: &mut [f32], sums: &[Vector]) {
    for (gradient, sums) in gradients.iter_mut().zip(sums) {
        *gradient += sum_of_lanes(*sums);
    }
}

/// In pairs, halving: one order on every machine.
fn sum_of_lanes(mut lanes: Vector) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// The weights with which a convolution takes the gradient back to its input: filters and channels change places, and
/// the kernel is turned by half a turn.
pub(crate) fn turn(weights: &[f32], filters: usize, channels: usize, k: usize, to: &mut [f32]) {
    for f in 0..filters {
        for c in 0..channels {
            let from = &weights[(f * channels + c) * k * k..][..k * k];
            let to = &mut to[(c * filters + f) * k * k..][..k * k];
            for (to, from) in to.iter_mut().rev().zip(from) {
                *to = *from;
            }
        }
    }
}
