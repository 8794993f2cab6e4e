//! How often a class is said, is right, and both.

use std::collections::BTreeMap;

use super::error::{MetricError, rows};

/// What happened to one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) predicted: u64,
    pub(super) known: u64,
    pub(super) both: u64,
}

impl Counts {
    /// The share of what was said that is right; 0 if nothing was.
    pub(super) fn precision(self) -> f64 {
        share(self.both, self.predicted)
    }

    /// The share of what is right that was said.
    pub(super) fn recall(self) -> f64 {
        share(self.both, self.known)
    }

    /// The harmonic mean of the two.
    pub(super) fn f1(self) -> f64 {
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
pub(super) fn of_truths(predicted: &[bool], known: &[bool]) -> Result<Counts, MetricError> {
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
pub(super) fn mean_over_classes(
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
