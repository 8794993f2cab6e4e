//! A curve of any length in bounded memory.

use super::chart::Curve;

/// Some neighbouring points of a curve as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    first: u64,
    last: u64,
    count: u64,
    sum: f64,
    /// The lowest value.
    pub(super) low: f64,
    /// The highest value.
    pub(super) high: f64,
}

impl Bucket {
    /// The step in the middle.
    pub(super) fn step(&self) -> f64 {
        (self.first as f64 + self.last as f64) / 2.0
    }

    /// The last step.
    pub(super) fn last_step(&self) -> f64 {
        self.last as f64
    }

    /// The mean of the values.
    pub(super) fn mean(&self) -> f64 {
        // Rounding may carry a mean of equal numbers past them.
        (self.sum / self.count as f64).clamp(self.low, self.high)
    }

    fn join(self, other: Bucket) -> Bucket {
        Bucket {
            first: self.first,
            last: other.last,
            count: self.count + other.count,
            sum: self.sum + other.sum,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// A curve that keeps the mean, the lowest and the highest value of each stretch. As points come in, stretches grow
/// (always to a power of two of points), so there are never more than `most` of them: no spike is lost, and a run of any
/// length takes the same room.
#[derive(Clone, Debug)]
pub(super) struct Thinned {
    buckets: Vec<Bucket>,
    most: usize,
    per_bucket: u64,
    last: Option<f64>,
    /// The step at which stretches last grew.
    grown: u64,
}

impl Thinned {
    /// A curve of at most `most` stretches.
    pub(super) fn new(most: usize) -> Thinned {
        Thinned {
            buckets: Vec::new(),
            most: most.max(2),
            per_bucket: 1,
            last: None,
            grown: 0,
        }
    }

    /// Adds a point. One that is not finite has no place on a curve, and is left out.
    pub(super) fn push(&mut self, step: u64, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.last = Some(value);
        let point = Bucket {
            first: step,
            last: step,
            count: 1,
            sum: value,
            low: value,
            high: value,
        };
        match self.buckets.last_mut() {
            Some(bucket) if bucket.count < self.per_bucket => *bucket = bucket.join(point),
            _ => {
                if self.buckets.len() == self.most {
                    self.buckets = (self.buckets.chunks(2))
                        .filter_map(|pair| pair.iter().copied().reduce(Bucket::join))
                        .collect();
                    self.per_bucket *= 2;
                    self.grown = step;
                }
                match self.buckets.last_mut() {
                    // An odd number of stretches leaves the last one half full.
                    Some(bucket) if bucket.count < self.per_bucket => *bucket = bucket.join(point),
                    _ => self.buckets.push(point),
                }
            }
        }
    }

    /// The stretches, in order.
    pub(super) fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// How many stretches, from the first, are what they were at step `after`; none at no step.
    pub(super) fn from(&self, after: Option<u64>) -> usize {
        match after {
            Some(after) if self.grown <= after => {
                self.buckets.partition_point(|bucket| bucket.last <= after)
            }
            _ => 0,
        }
    }

    /// The means of its stretches, for a chart.
    pub(super) fn means(&self, name: &str) -> Curve {
        let points = self.buckets.iter().map(|b| (b.step(), b.mean()));
        Curve {
            name: name.to_string(),
            points: points.collect(),
            ..Curve::default()
        }
    }

    /// The same with what they are the means of.
    pub(super) fn curve(&self, name: &str) -> Curve {
        let mut curve = self.means(name);
        // The curve should reach to where the run does.
        if let (Some(point), Some(bucket)) = (curve.points.last_mut(), self.buckets.last()) {
            point.0 = bucket.last_step();
        }
        if self.is_thinned() {
            curve.band = self.buckets.iter().map(|b| (b.low, b.high)).collect();
        }
        curve
    }

    /// The last value.
    pub(super) fn last(&self) -> Option<f64> {
        self.last
    }

    /// Whether a stretch may stand for several points.
    pub(super) fn is_thinned(&self) -> bool {
        self.per_bucket > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost(values in prop::collection::vec(-100i32..100, 0..300), most in 2usize..20, every in 1usize..40) {
            let mut curve = Thinned::new(most);
            for (step, value) in values.iter().enumerate() {
                curve.push(step as u64, f64::from(*value));
            }
            prop_assert!(curve.buckets().len() <= most);
            // Each stretch is what its points say; together they are all points.
            let mut next = 0;
            for (i, bucket) in curve.buckets().iter().enumerate() {
                prop_assert_eq!(bucket.first, next);
                let points: Vec<f64> = values[bucket.first as usize..=bucket.last as usize]
                    .iter().map(|v| f64::from(*v)).collect();
                prop_assert_eq!(bucket.count as usize, points.len());
                if i + 1 < curve.buckets().len() {
                    prop_assert_eq!(bucket.count, curve.per_bucket);
                }
                prop_assert_eq!(bucket.low, points.iter().copied().fold(f64::INFINITY, f64::min));
                prop_assert_eq!(bucket.high, points.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                prop_assert_eq!(bucket.sum, points.iter().sum::<f64>());
                next = bucket.last + 1;
            }
            prop_assert_eq!(next as usize, values.len());
            // The curve is the same from whichever step it was followed.
            let mut seen = Thinned::new(most);
            let mut copy: Vec<Bucket> = Vec::new();
            let mut after = None;
            for (step, value) in values.iter().enumerate() {
                seen.push(step as u64, f64::from(*value));
                if step % every == 0 {
                    let from = seen.from(after);
                    copy.truncate(from);
                    copy.extend(&seen.buckets()[from..]);
                    after = Some(step as u64);
                    prop_assert_eq!(&copy[..], seen.buckets());
                }
            }
            prop_assert_eq!(curve.last(), values.last().map(|v| f64::from(*v)));
        }
    }

    #[test]
    fn short_curves_stay_as_they_are() {
        let mut curve = Thinned::new(100);
        for step in 1..=100 {
            curve.push(step * 10, step as f64);
        }
        curve.push(2000, f64::NAN);
        assert!(!curve.is_thinned());
        assert_eq!(curve.buckets().len(), 100);
        assert_eq!(curve.buckets()[4].step(), 50.0);
        assert_eq!(curve.buckets()[4].mean(), 5.0);
    }
}
