//! How often a class is predicted, is correct, and both.

use std::collections::BTreeMap;

use super::error::{MetricError, rows};
use super::scores::Scores;

/// What happened to one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    predicted: u64,
    known: u64,
    both: u64,
}

impl Counts {
    /// The share of predictions that are correct; 0 if there are none.
    fn precision(self) -> f64 {
        share(self.both, self.predicted)
    }

    /// The share of correct answers that were predicted.
    fn recall(self) -> f64 {
        share(self.both, self.known)
    }

    /// The harmonic mean of the two.
    fn f1(self) -> f64 {
        share(2 * self.both, self.predicted + self.known)
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 {
        0.0
    } else {
        part as f64 / of as f64
    }
}

/// The counts of what is true. Without a true row there is nothing to be found.
fn of_truths(predicted: &[bool], known: &[bool]) -> Result<Counts, MetricError> {
    rows(predicted.len(), known.len())?;
    let count = |holds: &dyn Fn(bool, bool) -> bool| {
        let pairs = predicted.iter().zip(known);
        pairs.filter(|(p, k)| holds(**p, **k)).count() as u64
    };
    let counts = Counts {
        predicted: count(&|p, _| p),
        known: count(&|_, k| k),
        both: count(&|p, k| p && k),
    };
    match counts.known {
        0 => Err(MetricError::NoPositives),
        _ => Ok(counts),
    }
}

/// The mean of a figure over all classes that are known or predicted.
fn mean_over_classes(
    predicted: &[usize],
    known: &[usize],
    figure: impl Fn(Counts) -> f64,
) -> Result<f64, MetricError> {
    rows(predicted.len(), known.len())?;
    // In order of class, so that the sum below always rounds alike.
    let mut classes: BTreeMap<usize, Counts> = BTreeMap::new();
    for (&p, &k) in predicted.iter().zip(known) {
        classes.entry(p).or_default().predicted += 1;
        let counts = classes.entry(k).or_default();
        counts.known += 1;
        counts.both += u64::from(p == k);
    }
    let sum: f64 = classes.values().map(|&counts| figure(counts)).sum();
    Ok(sum / classes.len() as f64)
}

/// Figures of counts: of what is said to be true, and their means over classes.
macro_rules! figures {
    ($($of_truths:ident, $of_classes:ident, $figure:ident;)*) => {$(
        pub(super) fn $of_truths(said: &Scores, known: &[bool]) -> Result<f64, MetricError> {
            Ok(of_truths(&said.are_true(), known)?.$figure())
        }

        pub(super) fn $of_classes(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
            mean_over_classes(predicted, known, Counts::$figure)
        }
    )*};
}

figures! {
    precision, precision_of_classes, precision;
    recall, recall_of_classes, recall;
    f1, f1_of_classes, f1;
}
