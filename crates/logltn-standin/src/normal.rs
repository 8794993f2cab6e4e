//! Normal distributions with given means and covariances.

use logltn_learn::random::Random;

/// A normal distribution over vectors.
///
/// ```
/// use logltn_learn::random::Random;
/// use logltn_standin::Normal;
/// // Two numbers with variances 4 and 1 and covariance 1.
/// let normal = Normal::new(&[10.0, 0.0], &[4.0, 1.0, 1.0]);
/// let mut random = Random::new(0, 0);
/// let mean: f64 = (0..1000).map(|_| normal.draw(&mut random)[0]).sum::<f64>() / 1000.0;
/// assert!((mean - 10.0).abs() < 0.5);
/// ```
pub struct Normal {
    mean: Vec<f64>,
    /// The lower triangular `L` with `L · Lᵀ` = the covariance.
    factor: Vec<f64>,
}

impl Normal {
    /// With this mean and covariance, given as the lower triangle, row by row. It must be positive definite.
    pub fn new(mean: &[f64], covariance: &[f64]) -> Normal {
        assert_eq!(covariance.len(), triangle(mean.len(), 0));
        Normal {
            mean: mean.to_vec(),
            factor: cholesky(mean.len(), covariance),
        }
    }

    /// mean + factor · normals
    pub fn draw(&self, random: &mut Random) -> Vec<f64> {
        let normals: Vec<f64> = self.mean.iter().map(|_| random.normal()).collect();
        let value = |(row, mean): (usize, &f64)| {
            let factors = &self.factor[triangle(row, 0)..=triangle(row, row)];
            let parts = factors.iter().zip(&normals);
            parts.fold(*mean, |value, (factor, normal)| value + factor * normal)
        };
        self.mean.iter().enumerate().map(value).collect()
    }
}

/// Where the entry of a lower triangle is stored.
pub(super) const fn triangle(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

pub(super) fn cholesky(size: usize, matrix: &[f64]) -> Vec<f64> {
    let mut factor = vec![0.0; matrix.len()];
    for row in 0..size {
        for column in 0..=row {
            let mut rest = matrix[triangle(row, column)];
            for k in 0..column {
                rest -= factor[triangle(row, k)] * factor[triangle(column, k)];
            }
            factor[triangle(row, column)] = if row == column {
                rest.sqrt()
            } else {
                rest / factor[triangle(column, column)]
            };
        }
    }
    factor
}
