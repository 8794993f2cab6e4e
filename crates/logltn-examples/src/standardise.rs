//! Features in standard deviations from their means.

/// Each column with mean 0 and standard deviation 1.
pub(crate) fn scaled(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = rows.len() as f64;
    let width = rows.first().map_or(0, Vec::len);
    let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / n;
    let means: Vec<f64> = (0..width).map(mean).collect();
    let deviation = |i: usize| {
        let square: f64 = rows.iter().map(|row| (row[i] - means[i]).powi(2)).sum();
        (square / (n - 1.0)).sqrt()
    };
    let deviations: Vec<f64> = (0..width).map(deviation).collect();
    let scale = |row: &Vec<f64>| -> Vec<f64> {
        let cells = row.iter().zip(&means).zip(&deviations);
        cells
            .map(|((x, mean), deviation)| (x - mean) / deviation)
            .collect()
    };
    rows.iter().map(scale).collect()
}
