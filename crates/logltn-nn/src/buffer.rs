//! Memory for vectors: floats that begin at a cache line.

use std::ops::{Deref, DerefMut};

/// The number of floats that are computed together. Also the number of rows that share a block of images.
pub const LANES: usize = 16;

/// A cache line, and the widest vector there is. A vector that straddles two lines costs two loads.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

/// This many floats that begin at a cache line: a `Vec<f32>` whose vectors lie on as few lines as they can.
///
/// ```
/// let table = logltn_nn::Floats::from(vec![1.0, 2.0]);
/// assert_eq!((table.as_ptr().addr() % 64, &table[..]), (0, &[1.0, 2.0][..]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Floats {
    lines: Vec<Line>,
    length: usize,
}

impl Floats {
    /// This many zeros.
    pub fn zeros(length: usize) -> Self {
        let mut floats = Self::default();
        floats.grow(length);
        floats
    }

    /// At least `length` floats, the new ones zero. Memory is only asked for if there was never as much.
    pub(crate) fn grow(&mut self, length: usize) {
        let lines = length.div_ceil(LANES);
        if lines > self.lines.len() {
            self.lines.resize(lines, Line([0.0; LANES]));
        }
        self.length = length.max(self.length);
    }

    /// Makes them this many zeros. Memory is only asked for if there was never as much.
    pub fn reset(&mut self, length: usize) {
        self.grow(length);
        self.length = length;
        self.fill(0.0);
    }
}

impl From<Vec<f32>> for Floats {
    fn from(given: Vec<f32>) -> Self {
        let mut floats = Self::zeros(given.len());
        floats.copy_from_slice(&given);
        floats
    }
}

impl Deref for Floats {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: a line is 16 floats without padding (its size is its alignment), so lines are floats, and there are no
        // fewer than the length.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for Floats {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.length) }
    }
}

/// The least multiple of [`LANES`] that holds `length`.
pub const fn whole_vectors(length: usize) -> usize {
    length.div_ceil(LANES) * LANES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_at_a_cache_line_and_grows() {
        let mut floats = Floats::zeros(17);
        assert_eq!((floats.len(), floats.as_ptr().addr() % 64), (17, 0));
        floats[16] = 7.0;
        floats.grow(8);
        assert_eq!(floats.len(), 17);
        floats.grow(100);
        assert_eq!((floats.len(), floats[16], floats[99]), (100, 7.0, 0.0));
        floats.reset(2);
        assert_eq!(floats[..], [0.0; 2]);
    }
}
