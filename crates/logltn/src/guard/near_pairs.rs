//! All near pairs of a sort's points at once.
//!
//! Where an index cannot prune (16 directions without structure), the neighbours of a point are found by a scan of its
//! whole cluster, and a scan for one point at a time is bound by how fast the cluster's coordinates come from memory.
//! Scanning for a block of neighbouring points together reads the coordinates once for all of these, visits every pair
//! once instead of twice, and divides the blocks among the threads. Only the pairs that are found are kept.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::neighbours::{LANES, Neighbours, SearchLimit};

/// The most candidates that are listed for all points together: 128 MiB. A plan takes far more for each pair that it
/// keeps, so where there are more, memory is short anyway, and they are found one point after the other.
const MOST: usize = 1 << 25;
/// Once one in this many points has been asked for, the others will probably be, too.
const PATIENCE: usize = 64;
/// The fewest blocks for a thread, since waking another takes longer than a few blocks.
const BLOCKS_EACH: usize = 8;
/// How many directions are added up before looking whether anything is still near.
const STRIDE: usize = 8;

/// An index of a sort's points that switches to answering for all points at once.
pub(crate) struct NearPoints {
    index: Neighbours,
    /// The last distance, as bits, and how often it was asked for.
    asked: Cell<(u64, usize)>,
    /// The candidates of all points for that distance; `None` inside if there are too many.
    all: RefCell<Option<Option<Rc<Lists>>>>,
}

impl NearPoints {
    pub fn new(index: Neighbours) -> NearPoints {
        NearPoints {
            index,
            asked: Cell::new((0, 0)),
            all: RefCell::new(None),
        }
    }

    /// All points within `distance` of `point`, and a few more, in order. `own` is the number of that point, if it is
    /// one of these points itself.
    pub fn candidates(&self, own: Option<u32>, point: &[f64], distance: f64) -> Vec<u32> {
        match own.and_then(|own| self.lists(distance).map(|lists| lists.of(own).to_vec())) {
            Some(found) => found,
            None => self.index.candidates(point, distance),
        }
    }

    fn lists(&self, distance: f64) -> Option<Rc<Lists>> {
        let (last, before) = self.asked.get();
        let times = match distance.to_bits() == last {
            true => before + 1,
            false => {
                *self.all.borrow_mut() = None;
                1
            }
        };
        self.asked.set((distance.to_bits(), times));
        if times * PATIENCE < self.index.len() {
            return None;
        }
        let mut all = self.all.borrow_mut();
        all.get_or_insert_with(|| Lists::new(&self.index, distance, MOST).map(Rc::new))
            .clone()
    }
}

/// The candidates of every point.
struct Lists {
    /// Where the candidates of each point begin, and at last how many there are.
    starts: Vec<usize>,
    candidates: Vec<u32>,
}

impl Lists {
    /// `None` if there are more than `most`, or if the distance is too large for single precision.
    fn new(index: &Neighbours, distance: f64, most: usize) -> Option<Lists> {
        let pairs = near_pairs(index, distance, most)?;
        let mut starts = vec![0; index.len() + 1];
        for &(a, b) in pairs.iter().flatten() {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += usize::from(a != b);
        }
        for i in 0..index.len() {
            starts[i + 1] += starts[i];
        }
        let mut candidates = vec![0; starts[index.len()]];
        let mut next = starts.clone();
        let mut put = |a: u32, b: u32| {
            candidates[next[a as usize]] = b;
            next[a as usize] += 1;
        };
        for &(a, b) in pairs.iter().flatten() {
            put(a, b);
            if a != b {
                put(b, a);
            }
        }
        drop(pairs);
        for bounds in starts.windows(2) {
            candidates[bounds[0]..bounds[1]].sort_unstable();
        }
        Some(Lists { starts, candidates })
    }

    fn of(&self, point: u32) -> &[u32] {
        let point = point as usize;
        &self.candidates[self.starts[point]..self.starts[point + 1]]
    }
}

/// By block: each pair of points that can be near, once, and each point with itself.
fn near_pairs(index: &Neighbours, distance: f64, most: usize) -> Option<Vec<Vec<(u32, u32)>>> {
    // No point of the index is longer than 1.
    let limit = match index.limit(distance, 1.0) {
        SearchLimit::Nothing => return Some(Vec::new()),
        SearchLimit::Square(limit) => limit,
        SearchLimit::Everything => return None,
    };
    let found = AtomicUsize::new(0);
    let of_block = |block: usize| {
        let mut pairs = Vec::new();
        // A count that only grows: once it is too large, everything that follows is discarded.
        if 2 * found.load(Ordering::Relaxed) <= most {
            search(index, block, limit, &mut pairs);
            found.fetch_add(pairs.len(), Ordering::Relaxed);
        }
        pairs
    };
    let blocks = (0..index.blocks()).into_par_iter();
    let pairs: Vec<_> = blocks.with_min_len(BLOCKS_EACH).map(of_block).collect();
    (2 * found.into_inner() <= most).then_some(pairs)
}

/// The pairs of a block's points with each other and with those of later blocks.
fn search(index: &Neighbours, block: usize, limit: f32, pairs: &mut Vec<(u32, u32)>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") {
            // SAFETY: the function does nothing unsafe but use these instructions, which the processor has.
            return unsafe { search_avx512(index, block, limit, pairs) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: as above.
            return unsafe { search_avx2(index, block, limit, pairs) };
        }
    }
    search_tiles::<false>(index, block, limit, pairs);
}

/// The same, compiled for wider vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn search_avx512(index: &Neighbours, block: usize, limit: f32, pairs: &mut Vec<(u32, u32)>) {
    search_tiles::<true>(index, block, limit, pairs);
}

/// The same again.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn search_avx2(index: &Neighbours, block: usize, limit: f32, pairs: &mut Vec<(u32, u32)>) {
    search_tiles::<true>(index, block, limit, pairs);
}

#[inline(always)]
fn search_tiles<const FUSED: bool>(
    index: &Neighbours,
    block: usize,
    limit: f32,
    pairs: &mut Vec<(u32, u32)>,
) {
    let own = index.coordinates_of(block);
    let own_points = index.points_of(block);
    let own_box: Vec<_> = own.iter().map(|x| extent(&x[..own_points.len()])).collect();
    let mut open = vec![0_u32];
    while let Some(at) = open.pop() {
        let node = index.node(at);
        let too_far = || boxes_apart(&own_box, index.box_of(at)) > limit;
        if (node.end as usize) <= block || too_far() {
            continue;
        }
        if node.end - node.first > 1 {
            open.extend([node.second_child, at + 1]);
            continue;
        }
        let other = node.first as usize;
        let lanes = index.coordinates_of(other);
        let points = index.points_of(other);
        for (i, &a) in own_points.iter().enumerate() {
            let Some(squares) = squares::<FUSED>(own, i, lanes, limit) else {
                continue;
            };
            // Within the block itself a pair is met twice.
            let first = if other == block { i } else { 0 };
            for (&b, square) in points.iter().zip(&squares).skip(first) {
                if *square <= limit {
                    pairs.push((a, b));
                }
            }
        }
    }
}

/// The least and the greatest coordinate.
#[inline(always)]
fn extent(coordinates: &[f32]) -> (f32, f32) {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    (coordinates.iter()).fold(start, |(low, high), &x| (low.min(x), high.max(x)))
}

/// The square of the distance between two boxes.
#[inline(always)]
fn boxes_apart(a: &[(f32, f32)], b: &[(f32, f32)]) -> f32 {
    let gap = |(a, b): (&(f32, f32), &(f32, f32))| (a.0 - b.1).max(b.0 - a.1).max(0.0);
    a.iter().zip(b).map(gap).map(|d| d * d).sum()
}

/// The squared distances of one lane's point to all points of another block, or `None` if all are above the limit.
#[inline(always)]
fn squares<const FUSED: bool>(
    own: &[[f32; LANES]],
    lane: usize,
    others: &[[f32; LANES]],
    limit: f32,
) -> Option<[f32; LANES]> {
    let mut squares = [0.0_f32; LANES];
    for (own, others) in own.chunks(STRIDE).zip(others.chunks(STRIDE)) {
        for (own, others) in own.iter().zip(others) {
            let x = own[lane];
            for (square, other) in squares.iter_mut().zip(others) {
                let difference = other - x;
                *square = match FUSED {
                    true => difference.mul_add(difference, *square),
                    false => *square + difference * difference,
                };
            }
        }
        let mut any = false;
        squares.iter().for_each(|s| any |= *s <= limit);
        if !any {
            return None;
        }
    }
    Some(squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::euclidean;
    use proptest::prelude::*;

    /// Many coordinates are equal, so that distances often equal the limit to the last bit.
    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-4..4_i32).prop_map(f64::from),
            -3.0..3.0_f64,
            (-4..4_i32).prop_map(|x| 1e6 + f64::from(x)),
        ]
    }

    fn near(features: &[f64], width: usize, a: &[f64], among: &[u32], distance: f64) -> Vec<u32> {
        let row = |i: u32| &features[i as usize * width..(i as usize + 1) * width];
        let within = |i: &u32| euclidean(a, row(*i)) <= distance;
        among.iter().copied().filter(within).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// All at once or one by one, the guard keeps the same pairs. The worst case for rounding is a limit equal to
        /// the distance of two of the points.
        #[test]
        fn the_same_pairs_as_one_by_one(
            width in prop_oneof![1..4_usize, 14..40_usize],
            values in prop::collection::vec(coordinate(), 40..1500),
            of in (0..100_usize, 0..100_usize),
            shrink in prop_oneof![Just(1.0), Just(1e-9), Just(1e9)],
        ) {
            let count = values.len() / width;
            let features: Vec<f64> = values[..count * width].iter().map(|x| x * shrink).collect();
            let row = |i: usize| &features[(i % count) * width..(i % count + 1) * width];
            let everybody: Vec<u32> = (0..count as u32).collect();
            let index = Neighbours::new(width, &features).expect("an index");
            for share in [1.0, 0.5] {
                let distance = share * euclidean(row(of.0), row(of.1));
                let lists = Lists::new(&index, distance, usize::MAX).expect("lists");
                for (i, a) in features.chunks(width).enumerate() {
                    let listed = lists.of(i as u32);
                    prop_assert!(listed.is_sorted_by(|a, b| a < b));
                    let passed = near(&features, width, a, listed, distance);
                    prop_assert_eq!(passed, near(&features, width, a, &everybody, distance));
                }
            }
        }
    }

    /// Two clusters of 200 points each on a line, a unit from one to the next.
    fn two_clusters() -> Vec<f64> {
        (0..400)
            .map(|i| f64::from(i % 200 + 10_000 * (i / 200)))
            .collect()
    }

    #[test]
    fn the_same_with_and_without_wide_vectors() {
        let features = two_clusters();
        let index = Neighbours::new(1, &features).expect("an index");
        let SearchLimit::Square(limit) = index.limit(3.0, 1.0) else {
            panic!("a limit");
        };
        let (mut plain, mut fused) = (Vec::new(), Vec::new());
        for block in 0..index.blocks() {
            search_tiles::<false>(&index, block, limit, &mut plain);
            search(&index, block, limit, &mut fused);
        }
        assert_eq!(plain, fused);
        // Each point with itself and with the three to its right, where there are this many.
        assert_eq!(plain.len(), 2 * (4 * 200 - 6));
    }

    #[test]
    fn too_many_negative_and_boundless() {
        let features = two_clusters();
        let index = Neighbours::new(1, &features).expect("an index");
        assert!(Lists::new(&index, 3.0, 100).is_none());
        assert!(Lists::new(&index, f64::MAX, usize::MAX).is_none());
        let nothing = Lists::new(&index, -1.0, 100).expect("lists");
        assert!(nothing.of(7).is_empty());
    }

    /// First one by one, then all at once, then with another distance: always the same answer.
    #[test]
    fn learns_to_answer_for_all() {
        let features = two_clusters();
        let index = NearPoints::new(Neighbours::new(1, &features).expect("an index"));
        for distance in [3.0, 5.0] {
            for (i, point) in features.chunks(1).enumerate() {
                let found = index.candidates(Some(i as u32), point, distance);
                assert_eq!(found, index.index.candidates(point, distance), "{i}");
            }
            let lists = index.all.borrow().clone().flatten().expect("lists");
            assert_eq!(lists.starts.len(), 401);
        }
        // A point from elsewhere.
        assert_eq!(index.candidates(None, &[100.5], 1.0), [100, 101]);
    }
}
