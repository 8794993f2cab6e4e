//! Percentiles of distances: exact, without ever holding all pairs, and for low ones without looking at all pairs.

use rayon::prelude::*;

use crate::data::euclidean;
use crate::guard::Neighbours;

/// Up to this many distances are held at a time.
const MOST_HELD: u64 = 1 << 22;
/// Into how many intervals a pass divides the one in which a rank is known to be.
const BUCKETS: u64 = 1 << 14;
/// Up to this percentile it pays to look for near pairs only.
const MOST_NEAR: f64 = 10.0;
/// How many rows of each side a guess is made from.
const SAMPLE: [usize; 2] = [256, 2048];
/// Rows that are worked on together, so that those of the inner loop stay in cache.
const BLOCK: usize = 128;

/// Points in a space, for distances.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// How many numbers a point has.
    pub width: usize,
    /// One point after the other.
    pub values: &'a [f64],
}

impl<'a> Points<'a> {
    /// How many points there are.
    pub fn rows(self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    fn row(self, index: usize) -> &'a [f64] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

/// The percentile of the distances of all ordered pairs of an individual of `a` and one of `b` (of all
/// pairs, self included, if `b` is `None`), with linear interpolation between the two nearest, rounded as
/// numpy does. Both must be as wide. `None` if there are no pairs, or if a distance is too large for a number.
///
/// ```
/// use logltn::{Points, percentile};
/// let points = Points { width: 1, values: &[0.0, 1.0, 3.0] };
/// assert_eq!(percentile(points, None, 50.0), Some(1.0));
/// ```
pub fn percentile(a: Points<'_>, b: Option<Points<'_>>, percent: f64) -> Option<f64> {
    let everything = Pairs { a, b, near: None };
    let count = everything.ordered();
    let last = count.checked_sub(1)?;
    let at = (percent / 100.0) * last as f64;
    let low = (at.floor() as u64).min(last);
    let high = (low + 1).min(last);
    let fraction = at - low as f64;
    // A low percentile is a matter of the near pairs, which an index finds.
    let near = match count > MOST_HELD && percent <= MOST_NEAR {
        true => Near::new(a, b.unwrap_or(a), percent),
        false => None,
    };
    let of_near = near.and_then(|near| {
        let near = Some(near);
        Pairs { a, b, near }.order_statistics([low, high])
    });
    let [low, high] = of_near.or_else(|| everything.order_statistics([low, high]))?;
    let value = interpolate(low, high, fraction);
    value.is_finite().then_some(value)
}

/// Numpy's linear interpolation: the one end or the other is met exactly, and it is monotone.
fn interpolate(low: f64, high: f64, fraction: f64) -> f64 {
    let difference = high - low;
    if fraction >= 0.5 {
        high - difference * (1.0 - fraction)
    } else {
        low + difference * fraction
    }
}

struct Pairs<'a> {
    a: Points<'a>,
    b: Option<Points<'a>>,
    /// Only pairs within some distance.
    near: Option<Near>,
}

/// An index of the second individuals, and a distance below which the wanted ones probably are.
struct Near {
    index: Neighbours,
    distance: f64,
}

impl Near {
    /// Guesses the distance from a sample, with some to spare.
    fn new(a: Points<'_>, b: Points<'_>, percent: f64) -> Option<Near> {
        let every = |points: Points<'_>, most: usize| points.rows().div_ceil(most).max(1);
        let (step, inner) = (every(a, SAMPLE[0]), every(b, SAMPLE[1]));
        let mut sample: Vec<f64> = (0..a.rows())
            .step_by(step)
            // Not the same rows on both sides: an individual and itself are not a pair like others.
            .flat_map(|i| (inner / 2..b.rows()).step_by(inner).map(move |j| (i, j)))
            .filter(|(i, j)| i != j)
            .map(|(i, j)| euclidean(a.row(i), b.row(j)))
            .collect();
        let rank = (1.2 * percent / 100.0 * sample.len() as f64) as usize + 30;
        let rank = rank.min(sample.len().checked_sub(1)?);
        let (_, distance, _) = sample.select_nth_unstable_by(rank, f64::total_cmp);
        Some(Near {
            distance: *distance,
            index: Neighbours::new(b.width, b.values)?,
        })
    }
}

/// A rank, and the interval of distances that is known to hold it.
#[derive(Clone)]
struct Target {
    /// Counted from 0 among the distances of the interval.
    rank: u64,
    /// How many distances the interval holds.
    count: u64,
    /// As [`key`]s, both inclusive.
    low: u64,
    high: u64,
}

impl Target {
    /// Buckets are as wide as a power of two, since every distance is divided by it.
    fn bucket_bits(&self) -> u32 {
        (0..64)
            .find(|bits| (self.high - self.low) >> bits < BUCKETS)
            .unwrap_or(0)
    }

    fn is_in_interval_of(&self, other: &Target) -> bool {
        (self.low, self.high) == (other.low, other.high)
    }

    fn is_held_easily(&self) -> bool {
        self.count <= MOST_HELD || (self.low == self.high && self.count < u64::MAX)
    }

    /// Goes to the bucket that holds the rank; `None` if there are not that many distances.
    fn narrow(&mut self, histogram: &[u64]) -> Option<()> {
        let bits = self.bucket_bits();
        for (bucket, &count) in histogram.iter().enumerate() {
            if self.rank < count {
                let low = self.low + ((bucket as u64) << bits);
                self.high = self.high.min(low + ((1 << bits) - 1));
                self.low = low;
                self.count = count;
                return Some(());
            }
            self.rank -= count;
        }
        None
    }
}

/// Distances are not negative, so their bits are in the order of their values.
fn key(distance: f64) -> u64 {
    distance.to_bits()
}

impl Pairs<'_> {
    /// How many ordered pairs there are.
    fn ordered(&self) -> u64 {
        let n = self.a.rows() as u64;
        n * self.b.map_or(n, |b| b.rows() as u64)
    }

    /// The distances of the given ranks, from 0, among all ordered pairs; `None` if they are not among the near ones.
    fn order_statistics(&self, ranks: [u64; 2]) -> Option<[f64; 2]> {
        let n = self.a.rows() as u64;
        let (ranks, count) = match self.b {
            Some(_) => (ranks.map(Some), self.ordered()),
            // An individual is at distance 0 from itself, and no distance is less; every other pair counts
            // twice, since the distance is the same, to the last bit, both ways.
            None => (
                ranks.map(|rank| Some(rank.checked_sub(n)? / 2)),
                n * n.saturating_sub(1) / 2,
            ),
        };
        // How many are near is not known before they have been counted.
        let (count, high) = match &self.near {
            Some(near) => (u64::MAX, key(near.distance)),
            None => (count, key(f64::INFINITY)),
        };
        let mut targets: Vec<Target> = ranks
            .iter()
            .flatten()
            .map(|&rank| Target {
                rank,
                count,
                low: 0,
                high,
            })
            .collect();
        while let Some(wide) = targets.iter().find(|t| !t.is_held_easily()).cloned() {
            let histogram = self.histogram(&wide);
            // Neighbouring ranks are in the same interval, almost always to the end.
            for target in targets.iter_mut().filter(|t| t.is_in_interval_of(&wide)) {
                target.narrow(&histogram)?;
            }
        }
        let mut held: Option<(Target, Vec<u64>)> = None;
        let mut found = targets.into_iter().map(|target| {
            let same = |(of, _): &(Target, Vec<u64>)| target.is_in_interval_of(of);
            if !held.as_ref().is_some_and(same) {
                held = Some((target.clone(), self.sorted(&target)));
            }
            let sorted = held.as_ref().map_or(&[][..], |(_, sorted)| sorted);
            // An interval of one distance is not held: there may be too many of it.
            let key = sorted.get(target.rank as usize).unwrap_or(&target.low);
            f64::from_bits(*key)
        });
        Some(ranks.map(|rank| rank.and_then(|_| found.next()).unwrap_or(0.0)))
    }

    /// How many distances fall into each bucket of a target.
    fn histogram(&self, target: &Target) -> Vec<u64> {
        let empty = || vec![0_u64; BUCKETS as usize];
        let bits = target.bucket_bits();
        self.blocks()
            .into_par_iter()
            .fold(empty, |mut histogram, block| {
                self.each(block, |distance| {
                    let key = key(distance);
                    if (target.low..=target.high).contains(&key) {
                        histogram[((key - target.low) >> bits) as usize] += 1;
                    }
                });
                histogram
            })
            .reduce(empty, |mut sum, other| {
                for (a, b) in sum.iter_mut().zip(other) {
                    *a += b;
                }
                sum
            })
    }

    /// The distances in the interval of a target, in order; none if the interval is a single one.
    fn sorted(&self, target: &Target) -> Vec<u64> {
        if target.low == target.high {
            return Vec::new();
        }
        let mut held: Vec<u64> = self
            .blocks()
            .into_par_iter()
            .fold(Vec::new, |mut held, block| {
                self.each(block, |distance| {
                    let key = key(distance);
                    if (target.low..=target.high).contains(&key) {
                        held.push(key);
                    }
                });
                held
            })
            .reduce(Vec::new, |mut all, more| {
                all.extend(more);
                all
            });
        held.sort_unstable();
        held
    }

    /// First rows of the blocks of `a` and of `b`; without `b`, those of the upper triangle.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let starts = |points: Points<'_>| (0..points.rows()).step_by(BLOCK);
        if self.near.is_some() {
            return starts(self.a).map(|i| (i, 0)).collect();
        }
        starts(self.a)
            .flat_map(|i| starts(self.b.unwrap_or(self.a)).map(move |j| (i, j)))
            .filter(|(i, j)| self.b.is_some() || i <= j)
            .collect()
    }

    fn each(&self, (first, second): (usize, usize), mut visit: impl FnMut(f64)) {
        let b = self.b.unwrap_or(self.a);
        for i in first..(first + BLOCK).min(self.a.rows()) {
            if let Some(near) = &self.near {
                for j in near.index.candidates(self.a.row(i), near.distance) {
                    if self.b.is_some() || j as usize > i {
                        visit(euclidean(self.a.row(i), b.row(j as usize)));
                    }
                }
                continue;
            }
            let start = if self.b.is_some() {
                second
            } else {
                second.max(i + 1)
            };
            for j in start..(second + BLOCK).min(b.rows()) {
                visit(euclidean(self.a.row(i), b.row(j)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(width: usize, values: &[f64]) -> Points<'_> {
        Points { width, values }
    }

    /// All distances, sorted.
    fn plainly(a: Points<'_>, b: Points<'_>) -> Vec<f64> {
        let mut all: Vec<f64> = (0..a.rows())
            .flat_map(|i| (0..b.rows()).map(move |j| (i, j)))
            .map(|(i, j)| euclidean(a.row(i), b.row(j)))
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn as_numpy_has_it() {
        // numpy.percentile of [0, 0, 0, 1, 1, 2, 2, 3, 3] for the points 0, 1, 3.
        let points = points(1, &[0.0, 1.0, 3.0]);
        let at = |percent| percentile(points, None, percent).unwrap();
        assert_eq!(at(0.0), 0.0);
        assert_eq!(at(50.0), 1.0);
        assert_eq!(at(60.0), 1.7999999999999998);
        assert_eq!(at(100.0), 3.0);
    }

    #[test]
    fn nothing_to_measure() {
        assert_eq!(percentile(points(1, &[]), None, 50.0), None);
        assert_eq!(percentile(points(1, &[7.0]), None, 50.0), Some(0.0));
        let far = points(1, &[-1e308, 1e308]);
        assert_eq!(percentile(far, None, 100.0), None);
    }

    /// 3,000 points have more pairs than are held at a time.
    #[test]
    fn passes_over_many_pairs_end_in_the_exact_distance() {
        let mut state = 1_u64;
        let values: Vec<f64> = (0..6_000)
            .map(|i| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                // Two clusters far apart, so that neighbouring ranks are far apart as well.
                (state >> 40) as f64 * 1e-6 + if i < 3_000 { 0.0 } else { 1e6 }
            })
            .collect();
        let points = points(2, &values);
        assert!(points.rows() as u64 * (points.rows() as u64 - 1) / 2 > MOST_HELD);
        let all = plainly(points, points);
        for rank in [0, 2_999, 3_000, 3_001, 4_499_999, 4_500_000, 8_999_999] {
            let next = (rank + 1).min(all.len() - 1);
            let found = Pairs {
                a: points,
                b: None,
                near: None,
            }
            .order_statistics([rank as u64, next as u64]);
            assert_eq!(found, Some([all[rank], all[next]]), "rank {rank}");
        }
        for percent in [0.0, 0.01, 0.1, 1.0, 2.5, 10.0, 49.0] {
            let at = percent / 100.0 * (all.len() - 1) as f64;
            let (low, high) = (all[at as usize], all[at as usize + 1]);
            let expected = interpolate(low, high, at.fract());
            assert_eq!(
                percentile(points, None, percent),
                Some(expected),
                "{percent} %"
            );
            assert_eq!(
                percentile(points, Some(points), percent),
                Some(expected),
                "{percent} %"
            );
        }
    }

    /// A guess that is too low is noticed, whatever it leaves out.
    #[test]
    fn near_pairs_that_are_not_enough() {
        let points = points(1, &[0.0, 1.0, 3.0, 7.0]);
        let of = |distance, ranks| {
            let index = Neighbours::new(1, points.values).unwrap();
            let near = Some(Near { index, distance });
            Pairs {
                a: points,
                b: None,
                near,
            }
            .order_statistics(ranks)
        };
        // 0 four times, then 1, 2, 3, 4, 6, 7, each twice.
        assert_eq!(of(2.0, [3, 4]), Some([0.0, 1.0]));
        assert_eq!(of(2.0, [5, 6]), Some([1.0, 2.0]));
        assert_eq!(of(2.0, [7, 8]), None);
        assert_eq!(of(2.0, [14, 15]), None);
        assert_eq!(of(7.0, [14, 15]), Some([7.0, 7.0]));
        assert_eq!(of(0.0, [3, 4]), None);
    }

    /// All distances but those to oneself are equal: no interval is ever small.
    #[test]
    fn many_ties() {
        let n = 3_000;
        let values: Vec<f64> = (0..2 * n).map(|i| f64::from(i % 2)).collect();
        let points = points(1, &values);
        assert_eq!(percentile(points, None, 49.0), Some(0.0));
        assert_eq!(percentile(points, None, 51.0), Some(1.0));
    }

    proptest! {
        #[test]
        fn all_ranks(a in prop::collection::vec(-9..9_i32, 1..20), b in prop::collection::vec(-9..9_i32, 1..20)) {
            let [a, b] = [a, b].map(|all| all.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
            let [a, b] = [&a, &b].map(|values| points(1, values));
            for (other, all) in [(None, plainly(a, a)), (Some(b), plainly(a, b))] {
                for rank in 0..all.len() {
                    let next = (rank + 1).min(all.len() - 1);
                    let pairs = Pairs { a, b: other, near: None };
                    let found = pairs.order_statistics([rank as u64, next as u64]);
                    prop_assert_eq!(found, Some([all[rank], all[next]]));
                }
            }
        }
    }
}
