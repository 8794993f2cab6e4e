//! From what networks say to truth degrees, and the class that is truest.

use logltn::OutputKind;

/// The place of the largest number.
pub fn largest<T: PartialOrd>(numbers: &[T]) -> usize {
    let better = |best: usize, k: usize| if numbers[k] > numbers[best] { k } else { best };
    (1..numbers.len()).fold(0, better)
}

/// A number as a truth degree; of a softmax, the log of a probability.
pub(crate) fn degree(kind: OutputKind, x: f64) -> f64 {
    match kind {
        OutputKind::Truth => x,
        OutputKind::LogTruth | OutputKind::Softmax => x.exp().min(1.0),
        OutputKind::Sigmoid => {
            let small = (-x.abs()).exp();
            (if x < 0.0 { small } else { 1.0 }) / (1.0 + small)
        }
    }
}

/// From the numbers of a row to truth degrees.
pub(crate) fn degrees(kind: OutputKind, row: &mut [f64]) {
    if kind != OutputKind::Softmax {
        return row.iter_mut().for_each(|x| *x = degree(kind, *x));
    }
    let most = row[largest(row)];
    row.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= sum);
}

#[cfg(test)]
mod tests {
    use super::degrees;
    use logltn::OutputKind;

    #[test]
    fn degrees_lie_between_0_and_1() {
        let of = |kind, row: &[f64]| {
            let mut row = row.to_vec();
            degrees(kind, &mut row);
            row
        };
        assert_eq!(of(OutputKind::Sigmoid, &[0.0, 1e4, -1e4]), [0.5, 1.0, 0.0]);
        let small = of(OutputKind::Sigmoid, &[-40.0])[0];
        assert!((small / (-40.0_f64).exp() - 1.0).abs() < 1e-12);
        assert_eq!(of(OutputKind::Softmax, &[1e4, 1e4, -1e4]), [0.5, 0.5, 0.0]);
        assert_eq!(of(OutputKind::LogTruth, &[0.0, -1e5]), [1.0, 0.0]);
        assert_eq!(of(OutputKind::Truth, &[0.25]), [0.25]);
    }
}
