//! Points of many dimensions seen from where they spread most.

use logltn::{Code, Diagnostic};

/// The first two principal components of `points`, given row by row, `width` numbers each.
///
/// The sign of a component is a matter of taste; here the direction's largest entry is positive, so that the same points
/// always give the same picture. With one dimension the second coordinate is 0.
///
/// ```
/// use logltn_report::pca_2d;
/// // On a line in three dimensions: all of the spread is in the first component.
/// let points = pca_2d(&[0.0, 0.0, 5.0, 3.0, 4.0, 5.0, 6.0, 8.0, 5.0], 3)?;
/// assert!((points[2].0 - points[0].0 - 10.0).abs() < 1e-9);
/// assert!(points.iter().all(|p| p.1.abs() < 1e-9));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If the numbers are not rows of `width`, or one of them is not finite.
pub fn pca_2d(points: &[f64], width: usize) -> Result<Vec<(f64, f64)>, Diagnostic> {
    if width == 0 || !points.len().is_multiple_of(width) {
        return Err(Diagnostic::error(
            Code::WrongShape,
            format!("{} numbers are not rows of {width}", points.len()),
        ));
    }
    if let Some(at) = points.iter().position(|value| !value.is_finite()) {
        return Err(Diagnostic::error(
            Code::NotFinite,
            format!(
                "row {}, column {}: expected a finite number, found {}",
                at / width,
                at % width,
                points[at]
            ),
        ));
    }
    let rows = points.len() / width;
    if rows == 0 {
        return Ok(Vec::new());
    }
    let mean: Vec<f64> = (0..width)
        .map(|j| {
            points
                .chunks_exact(width)
                .map(|row| row[j] / rows as f64)
                .sum()
        })
        .collect();
    let covariance = covariance(points, &mean);
    let directions = largest_two(covariance, width);
    let along = |row: &[f64], direction: &[f64]| -> f64 {
        (row.iter().zip(&mean).zip(direction))
            .map(|((value, mean), d)| (value - mean) * d)
            .sum()
    };
    Ok(points
        .chunks_exact(width)
        .map(|row| {
            let mut coordinates = directions.iter().map(|d| along(row, d));
            (
                coordinates.next().unwrap_or(0.0),
                coordinates.next().unwrap_or(0.0),
            )
        })
        .collect())
}

/// The covariance matrix, row by row, up to a factor.
fn covariance(points: &[f64], mean: &[f64]) -> Vec<f64> {
    let width = mean.len();
    let mut matrix = vec![0.0; width * width];
    let mut centred = vec![0.0; width];
    for row in points.chunks_exact(width) {
        for (c, (value, mean)) in centred.iter_mut().zip(row.iter().zip(mean)) {
            *c = value - mean;
        }
        for (line, &a) in matrix.chunks_exact_mut(width).zip(&centred) {
            for (cell, &b) in line.iter_mut().zip(&centred) {
                *cell += a * b;
            }
        }
    }
    matrix
}

/// The directions of the two largest eigenvalues of a symmetric matrix (one, if it has only one).
///
/// Jacobi's method: rotate away the entries beside the diagonal, one after the other, until nothing is left of them.
fn largest_two(mut matrix: Vec<f64>, width: usize) -> Vec<Vec<f64>> {
    const MOST_SWEEPS: usize = 60;
    let mut directions: Vec<f64> = vec![0.0; width * width];
    for i in 0..width {
        directions[i * width + i] = 1.0;
    }
    let scale: f64 = matrix.iter().map(|v| v * v).sum();
    for _ in 0..MOST_SWEEPS {
        let beside: f64 = (0..width)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| matrix[i * width + j].powi(2))
            .sum();
        if beside <= scale * 1e-30 {
            break;
        }
        for p in 0..width {
            for q in p + 1..width {
                rotate(&mut matrix, &mut directions, width, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| matrix[b * width + b].total_cmp(&matrix[a * width + a]));
    order
        .into_iter()
        .take(2)
        .map(|k| {
            let direction: Vec<f64> = (0..width).map(|i| directions[i * width + k]).collect();
            let largest =
                (direction.iter()).fold(0.0f64, |l, d| if d.abs() > l.abs() { *d } else { l });
            direction.iter().map(|d| d * largest.signum()).collect()
        })
        .collect()
}

/// Turns the plane of `p` and `q` so that the entry between them vanishes.
fn rotate(matrix: &mut [f64], directions: &mut [f64], width: usize, p: usize, q: usize) {
    let between = matrix[p * width + q];
    if between == 0.0 {
        return;
    }
    let theta = (matrix[q * width + q] - matrix[p * width + p]) / (2.0 * between);
    // The smaller of the two angles.
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |values: &mut [f64], a: usize, b: usize| {
        let (x, y) = (values[a], values[b]);
        values[a] = cosine * x - sine * y;
        values[b] = sine * x + cosine * y;
    };
    for i in 0..width {
        turn(matrix, i * width + p, i * width + q);
        turn(directions, i * width + p, i * width + q);
    }
    for j in 0..width {
        turn(matrix, p * width + j, q * width + j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count;
        values.map(|v| (v - mean).powi(2)).sum()
    }

    #[test]
    fn odd_shapes() {
        assert!(pca_2d(&[], 3).unwrap().is_empty());
        assert_eq!(pca_2d(&[1.0, 3.0], 1).unwrap(), [(-1.0, 0.0), (1.0, 0.0)]);
        assert_eq!(pca_2d(&[2.0; 9], 3).unwrap(), [(0.0, 0.0); 3]);
        assert!(pca_2d(&[1.0; 5], 2).is_err());
        assert!(pca_2d(&[1.0; 5], 0).is_err());
        let wrong = pca_2d(&[1.0, 2.0, 3.0, f64::NAN], 2).unwrap_err();
        assert!(wrong.to_string().contains("row 1, column 1"), "{wrong}");
    }

    proptest! {
        /// No direction has more spread than the first component, and none across it more than the second; the
        /// components do not vary together.
        #[test]
        fn components_spread_most(
            points in prop::collection::vec(-10.0f64..10.0, 20 * 4),
            direction in prop::collection::vec(-1.0f64..1.0, 4),
        ) {
            let norm = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
            prop_assume!(norm > 0.1);
            let found = pca_2d(&points, 4).unwrap();
            let along = points.chunks_exact(4)
                .map(|row| row.iter().zip(&direction).map(|(v, d)| v * d / norm).sum::<f64>());
            let first = variance(found.iter().map(|p| p.0));
            let second = variance(found.iter().map(|p| p.1));
            prop_assert!(variance(along) <= first * (1.0 + 1e-9));
            prop_assert!(second <= first * (1.0 + 1e-9));
            let together: f64 = found.iter().map(|p| p.0 * p.1).sum();
            prop_assert!(together.abs() <= 1e-8 * first);
        }

        /// A rotation of points with known spreads gives those spreads back.
        #[test]
        fn known_spreads_come_back(angle in 0.0f64..6.3) {
            let flat = [(3.0, 1.0), (-3.0, 1.0), (3.0, -1.0), (-3.0, -1.0)];
            let (sine, cosine) = angle.sin_cos();
            let turned: Vec<f64> = flat.iter()
                .flat_map(|(x, y)| [cosine * x - sine * y, 7.0, sine * x + cosine * y])
                .collect();
            for (x, y) in pca_2d(&turned, 3).unwrap() {
                prop_assert!((x.abs() - 3.0).abs() < 1e-9 && (y.abs() - 1.0).abs() < 1e-9);
            }
        }
    }
}
