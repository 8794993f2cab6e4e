//! The clustering task's stand-in: each class is a normal distribution with the real class's mean and covariance.

use logltn_learn::random::Random;

use super::clustering_figures::CLASSES;
use super::normal::Normal;

/// How many numbers describe a point.
pub const CLUSTERING_DIMENSIONS: usize = 16;

const TRIANGLE: usize = CLUSTERING_DIMENSIONS * (CLUSTERING_DIMENSIONS + 1) / 2;

/// What is known of one class.
pub(super) struct ClassFigures {
    pub(super) name: &'static str,
    pub(super) size: usize,
    pub(super) mean: [f64; CLUSTERING_DIMENSIONS],
    /// The lower triangle, row by row.
    pub(super) covariance: [f64; TRIANGLE],
}

/// Points in 16 dimensions with the classes that made them.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusteringStandIn {
    /// 801 rows of [`CLUSTERING_DIMENSIONS`] numbers, row-major.
    pub features: Vec<f64>,
    /// The class of each row: `BRCA`, `KIRC`, `LUAD`, `PRAD` or `COAD`.
    pub labels: Vec<&'static str>,
}

/// 801 points: 300 BRCA, 146 KIRC, 141 LUAD, 136 PRAD and 78 COAD, in a random order.
///
/// The real classes have heavier tails and less regular shapes than these normal distributions.
///
/// ```
/// let points = logltn_standin::clustering_points(0);
/// assert_eq!(points.labels.len(), 801);
/// assert_eq!(points.labels.iter().filter(|&&class| class == "COAD").count(), 78);
/// ```
pub fn clustering_points(seed: u64) -> ClusteringStandIn {
    let mut random = Random::new(seed, 1);
    let mut points = Vec::new();
    for class in &CLASSES {
        let normal = Normal::new(&class.mean, &class.covariance);
        for _ in 0..class.size {
            points.push((class.name, normal.draw(&mut random)));
        }
    }
    random.shuffle(&mut points);
    ClusteringStandIn {
        labels: points.iter().map(|(name, _)| *name).collect(),
        features: points.into_iter().flat_map(|(_, point)| point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::{cholesky, triangle};

    #[test]
    fn the_factor_gives_the_covariance_back() {
        for class in &CLASSES {
            let factor = cholesky(CLUSTERING_DIMENSIONS, &class.covariance);
            for row in 0..CLUSTERING_DIMENSIONS {
                for column in 0..=row {
                    let product: f64 = (0..=column)
                        .map(|k| factor[triangle(row, k)] * factor[triangle(column, k)])
                        .sum();
                    let wanted = class.covariance[triangle(row, column)];
                    assert!(
                        (product - wanted).abs() < 1e-9,
                        "{} {row},{column}",
                        class.name
                    );
                }
            }
        }
    }

    /// Every sample mean and covariance lies within five of its own standard errors of the figure: about 750 numbers
    /// per seed, none of which should stray so far.
    #[test]
    fn the_sample_has_the_figures_means_and_covariances() {
        for seed in 0..3 {
            let sample = clustering_points(seed);
            for class in &CLASSES {
                let rows: Vec<&[f64]> = sample
                    .features
                    .chunks(CLUSTERING_DIMENSIONS)
                    .zip(&sample.labels)
                    .filter(|(_, label)| **label == class.name)
                    .map(|(row, _)| row)
                    .collect();
                assert_eq!(rows.len(), class.size);
                let n = rows.len() as f64;
                let variance = |i: usize| class.covariance[triangle(i, i)];
                let mean: Vec<f64> = (0..CLUSTERING_DIMENSIONS)
                    .map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / n)
                    .collect();
                for i in 0..CLUSTERING_DIMENSIONS {
                    let error = (variance(i) / n).sqrt();
                    assert!(
                        (mean[i] - class.mean[i]).abs() < 5.0 * error,
                        "{} {i}",
                        class.name
                    );
                    for j in 0..=i {
                        let covariance = rows
                            .iter()
                            .map(|row| (row[i] - mean[i]) * (row[j] - mean[j]))
                            .sum::<f64>()
                            / (n - 1.0);
                        let wanted = class.covariance[triangle(i, j)];
                        let error = ((variance(i) * variance(j) + wanted * wanted) / n).sqrt();
                        assert!(
                            (covariance - wanted).abs() < 5.0 * error,
                            "{} {i},{j}: {covariance} for {wanted}",
                            class.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_order_is_mixed_and_depends_on_the_seed_only() {
        let sample = clustering_points(0);
        assert_eq!(sample, clustering_points(0));
        assert_ne!(sample.features, clustering_points(1).features);
        let changes = sample
            .labels
            .windows(2)
            .filter(|pair| pair[0] != pair[1])
            .count();
        assert!(
            changes > 400,
            "only {changes} neighbours of different classes"
        );
    }
}
