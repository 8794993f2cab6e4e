//! Places of rows and images in the floats of a block.

use std::ops::Range;

use crate::buffer::whole_vectors;
use crate::spec::Shape;

/// Where something lies in a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub shape: Shape,
    pub start: usize,
    pub length: usize,
}

impl Extent {
    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.length
    }

    /// The distance between rows of flat things.
    pub fn stride(self) -> usize {
        whole_vectors(self.shape.len())
    }

    /// The number of floats that the first `rows` rows take.
    pub fn used(self, rows: usize) -> usize {
        match self.shape {
            Shape::Flat(_) => rows * self.stride(),
            Shape::Image { .. } => self.length,
        }
    }
}
