//! Learnable numbers outside of networks: embeddings and constants.

use logltn_nn::Floats;

use super::read_rows::ReadRows;
use crate::random::Random;

/// A named table of learnable numbers.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// What it is called in checkpoints.
    pub name: String,
    /// Rows and columns.
    pub shape: Vec<usize>,
    /// The numbers.
    pub values: Floats,
    /// Where the gradient may be other than 0.
    pub(super) read: ReadRows,
}

impl Parameters {
    /// These numbers, in rows and columns.
    pub(super) fn new(name: String, shape: Vec<usize>, values: Vec<f32>) -> Parameters {
        Parameters {
            name,
            shape,
            values: values.into(),
            read: ReadRows::default(),
        }
    }

    /// How many numbers a row has, if it is a table of rows.
    pub(super) fn row_width(&self) -> Option<usize> {
        match self.shape[..] {
            [_, width] if width > 0 => Some(width),
            _ => None,
        }
    }

    /// Vectors drawn from a normal distribution of the size that keeps their length near 1.
    pub(super) fn embedding(
        name: String,
        rows: usize,
        width: usize,
        random: &mut Random,
    ) -> Parameters {
        let scale = 1.0 / (width.max(1) as f64).sqrt();
        let values: Vec<f32> = (0..rows * width)
            .map(|_| (scale * random.normal()) as f32)
            .collect();
        Parameters::new(name, vec![rows, width], values)
    }
}
