//! Which points can lie within a distance of a given one, without looking at all of them.
//!
//! A k-d tree over the principal directions of the features. A projection never makes a distance longer, so points
//! that are too far apart in a few directions are too far apart in all; and the principal directions are the ones in
//! which points differ most. This costs little for wide features: where a tree cannot prune (16 directions without
//! structure), a scan in single precision over blocks of [`LANES`] points remains, which stops at the first few
//! directions for most points.
//!
//! The answer is a list of **candidates**: every point within the distance, and a few more, since rounding errors are
//! allowed for. The guard itself decides whether a candidate passes, so an index never changes a decision.

/// Points that are compared together.
pub(super) const LANES: usize = 32;
/// The most directions. More would make the tree no better: it has fewer levels than that.
const MAX_DIRECTIONS: usize = 16;
/// Points from which the directions are learnt.
const SAMPLE: usize = 2048;
/// A few rounds suffice: any directions are correct, and good ones are found quickly.
const ROUNDS: usize = 8;
/// How many directions are added up before looking whether anything is still near.
const STRIDE: usize = 4;

/// An index of points by where they are: which can lie within a distance of a given one?
#[derive(Debug)]
pub(crate) struct Neighbours {
    width: usize,
    centre: Vec<f64>,
    /// One after the other, `width` numbers each, orthonormal.
    directions: Vec<f64>,
    /// Scales every point to a length of at most 1.
    scale: f64,
    nodes: Vec<Node>,
    /// By node: the least and the greatest coordinate in each direction.
    boxes: Vec<(f32, f32)>,
    /// By block and direction.
    coordinates: Vec<[f32; LANES]>,
    /// By block and lane.
    points: Vec<u32>,
}

/// The blocks `first..end`; a node with several has children, the first right behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub first: u32,
    pub end: u32,
    pub second_child: u32,
}

/// What squared distances in the index's own scale are compared with.
pub(super) enum SearchLimit {
    /// No point is within a negative distance.
    Nothing,
    Square(f32),
    /// Too large for single precision.
    Everything,
}

impl Neighbours {
    /// An index of points with `width` features each; `None` where numbers are so large or so small that squares
    /// could leave their range.
    pub fn new(width: usize, features: &[f64]) -> Option<Neighbours> {
        let count = features.len() / width.max(1);
        let rows = || features.chunks_exact(width.max(1));
        let mut centre = vec![0.0; width];
        for row in rows() {
            (centre.iter_mut().zip(row)).for_each(|(c, x)| *c += x / count as f64);
        }
        let mut largest = 0.0_f64;
        for row in rows() {
            largest = (row.iter().zip(&centre)).fold(largest, |m, (x, c)| m.max((x - c).abs()));
        }
        let in_range = largest == 0.0 || (1e-100..1e100).contains(&largest);
        if width == 0 || count == 0 || count > u32::MAX as usize || !in_range {
            return None;
        }
        let longest = largest * (width as f64).sqrt();
        let mut index = Neighbours {
            width,
            directions: directions(width, features, &centre),
            centre,
            scale: if longest > 0.0 { longest.recip() } else { 1.0 },
            nodes: Vec::new(),
            boxes: Vec::new(),
            coordinates: Vec::new(),
            points: Vec::with_capacity(count.next_multiple_of(LANES)),
        };
        let k = index.dimensions();
        let mut projected = vec![0.0_f32; count * k];
        for (row, out) in rows().zip(projected.chunks_exact_mut(k)) {
            index.project(row, out);
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        index.build(&projected, &mut order);
        Some(index)
    }

    fn dimensions(&self) -> usize {
        self.directions.len() / self.width
    }

    /// The coordinates of a point, and its length.
    fn project(&self, point: &[f64], out: &mut [f32]) -> f64 {
        let centred = |(x, c): (&f64, &f64)| (x - c) * self.scale;
        for (out, direction) in out.iter_mut().zip(self.directions.chunks(self.width)) {
            let terms = point.iter().zip(&self.centre).map(centred);
            *out = terms.zip(direction).map(|(x, d)| x * d).sum::<f64>() as f32;
        }
        let squares = (point.iter().zip(&self.centre)).map(|p| centred(p) * centred(p));
        squares.sum::<f64>().sqrt()
    }

    fn build(&mut self, projected: &[f32], points: &mut [u32]) {
        let k = self.dimensions();
        let coordinate = |point: u32, direction: usize| projected[point as usize * k + direction];
        let node = self.nodes.len();
        let first = self.points.len() / LANES;
        self.nodes.push(Node {
            first: first as u32,
            end: (first + points.len().div_ceil(LANES)) as u32,
            second_child: 0,
        });
        let (mut widest, mut extent) = (0, -1.0);
        for direction in 0..k {
            let all = points.iter().map(|&p| coordinate(p, direction));
            let start = (f32::INFINITY, f32::NEG_INFINITY);
            let (low, high) = all.fold(start, |(a, b), x| (a.min(x), b.max(x)));
            self.boxes.push((low, high));
            if high - low > extent {
                (widest, extent) = (direction, high - low);
            }
        }
        if points.len() <= LANES {
            for direction in 0..k {
                // Lanes without a point are never reported.
                let mut lanes = [f32::MAX; LANES];
                for (lane, &point) in lanes.iter_mut().zip(&*points) {
                    *lane = coordinate(point, direction);
                }
                self.coordinates.push(lanes);
            }
            self.points.extend_from_slice(points);
            let full = self.points.len().next_multiple_of(LANES);
            self.points.resize(full, u32::MAX);
            return;
        }
        // Full blocks on the left, so that only the very last one has lanes to spare.
        let middle = (points.len() / 2).next_multiple_of(LANES);
        let middle = if middle < points.len() { middle } else { LANES };
        points.select_nth_unstable_by(middle, |&a, &b| {
            coordinate(a, widest).total_cmp(&coordinate(b, widest))
        });
        let (left, right) = points.split_at_mut(middle);
        self.build(projected, left);
        self.nodes[node].second_child = self.nodes.len() as u32;
        self.build(projected, right);
    }

    /// All points within `distance` of `point`, and a few more, in order.
    pub fn candidates(&self, point: &[f64], distance: f64) -> Vec<u32> {
        let k = self.dimensions();
        let mut coordinates = [0.0_f32; MAX_DIRECTIONS];
        let coordinates = &mut coordinates[..k];
        let length = self.project(point, coordinates);
        let mut found = Vec::new();
        match self.limit(distance, length) {
            SearchLimit::Nothing => {}
            SearchLimit::Square(limit) if coordinates.iter().all(|x| x.is_finite()) => {
                self.search(coordinates, limit, &mut found);
            }
            _ => found.extend(self.points.iter().filter(|p| **p != u32::MAX)),
        }
        found.sort_unstable();
        found
    }

    /// The squared distance above which a point is certainly too far from a point of this length.
    pub(super) fn limit(&self, distance: f64, length: f64) -> SearchLimit {
        if distance < 0.0 {
            return SearchLimit::Nothing;
        }
        // Each coordinate is rounded by half a unit of its last place, that of the longest is 1; sums of squares and
        // the guard's own distance are rounded as well, relative to what they are.
        let rounding = 4.0 * f64::from(f32::EPSILON) * (length + 1.0);
        let limit = (distance * self.scale + rounding) * 1.00001;
        match (limit * limit) as f32 {
            limit if limit.is_finite() => SearchLimit::Square(limit),
            _ => SearchLimit::Everything,
        }
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        // Only the last block has lanes to spare.
        let spare = self.points.iter().rev().take_while(|p| **p == u32::MAX);
        self.points.len() - spare.count()
    }

    pub(super) fn blocks(&self) -> usize {
        self.points.len() / LANES
    }

    /// By direction.
    pub(super) fn coordinates_of(&self, block: usize) -> &[[f32; LANES]] {
        let k = self.dimensions();
        &self.coordinates[block * k..(block + 1) * k]
    }

    /// The numbers of a block's points, without lanes to spare.
    pub(super) fn points_of(&self, block: usize) -> &[u32] {
        let points = &self.points[block * LANES..(block + 1) * LANES];
        let count = points.iter().position(|p| *p == u32::MAX);
        &points[..count.unwrap_or(LANES)]
    }

    pub(super) fn node(&self, at: u32) -> Node {
        self.nodes[at as usize]
    }

    /// A node's least and greatest coordinate in each direction.
    pub(super) fn box_of(&self, node: u32) -> &[(f32, f32)] {
        let k = self.dimensions();
        &self.boxes[node as usize * k..(node as usize + 1) * k]
    }

    fn search(&self, point: &[f32], limit: f32, found: &mut Vec<u32>) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the function does nothing unsafe but use these instructions, which the processor has.
            return unsafe { self.search_avx2(point, limit, found) };
        }
        self.search_blocks(point, limit, found);
    }

    /// The same, compiled for wider vectors.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn search_avx2(&self, point: &[f32], limit: f32, found: &mut Vec<u32>) {
        self.search_blocks(point, limit, found);
    }

    #[inline(always)]
    fn search_blocks(&self, point: &[f32], limit: f32, found: &mut Vec<u32>) {
        let k = point.len();
        let mut open = vec![0_u32];
        while let Some(at) = open.pop() {
            let node = self.nodes[at as usize];
            if distance_to_box(point, self.box_of(at)) > limit {
                continue;
            }
            if node.end - node.first > 1 {
                open.extend([node.second_child, at + 1]);
                continue;
            }
            let block = node.first as usize;
            let lanes = &self.coordinates[block * k..(block + 1) * k];
            if let Some(squares) = squares_within(point, lanes, limit) {
                let points = &self.points[block * LANES..(block + 1) * LANES];
                let near = points.iter().zip(&squares);
                found.extend(
                    near.filter(|(p, s)| **s <= limit && **p != u32::MAX)
                        .map(|(p, _)| *p),
                );
            }
        }
    }
}

/// The square of the distance from a point to the nearest corner, side or inside of a box.
#[inline(always)]
fn distance_to_box(point: &[f32], bounds: &[(f32, f32)]) -> f32 {
    let outside = |(&x, &(low, high)): (&f32, &(f32, f32))| (low - x).max(x - high).max(0.0);
    point.iter().zip(bounds).map(outside).map(|d| d * d).sum()
}

/// The squared distances of a block's points, or `None` as soon as all are above the limit.
#[inline(always)]
fn squares_within(point: &[f32], lanes: &[[f32; LANES]], limit: f32) -> Option<[f32; LANES]> {
    let mut squares = [0.0_f32; LANES];
    for (point, lanes) in point.chunks(STRIDE).zip(lanes.chunks(STRIDE)) {
        for (x, lanes) in point.iter().zip(lanes) {
            for (square, lane) in squares.iter_mut().zip(lanes) {
                let difference = lane - x;
                *square += difference * difference;
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

/// The principal directions, the most important first, by subspace iteration over a sample.
fn directions(width: usize, features: &[f64], centre: &[f64]) -> Vec<f64> {
    let k = width.min(MAX_DIRECTIONS);
    let count = features.len() / width;
    let every = count.div_ceil(SAMPLE).max(1);
    let largest = features.iter().fold(1e-100_f64, |m, x| m.max(x.abs()));
    let sample: Vec<Vec<f64>> = (features.chunks_exact(width).step_by(every))
        .map(|row| {
            row.iter()
                .zip(centre)
                .map(|(x, c)| (x - c) / largest)
                .collect()
        })
        .collect();
    // Start with the axes: where iteration finds nothing (all points equal) they stay.
    let mut basis: Vec<Vec<f64>> = (0..k)
        .map(|i| (0..width).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    if width > MAX_DIRECTIONS {
        // With fewer directions than features: start with points, which lie in the span of the points.
        let step = (sample.len() / k).max(1);
        for (direction, row) in basis.iter_mut().zip(sample.iter().step_by(step)) {
            direction.clone_from(row);
        }
    }
    orthonormalise(&mut basis);
    for _ in 0..ROUNDS {
        let mut next = vec![vec![0.0; width]; k];
        for row in &sample {
            for (direction, next) in basis.iter().zip(&mut next) {
                let along: f64 = row.iter().zip(direction).map(|(x, d)| x * d).sum();
                (next.iter_mut().zip(row)).for_each(|(n, x)| *n += along * x);
            }
        }
        basis = next;
        orthonormalise(&mut basis);
    }
    basis.concat()
}

/// Gram and Schmidt, twice, which is enough for the last bits; a direction that vanishes is replaced by an axis.
fn orthonormalise(basis: &mut [Vec<f64>]) {
    let mut axis = 0;
    for i in 0..basis.len() {
        let (done, rest) = basis.split_at_mut(i);
        let own = &mut rest[0];
        loop {
            let before = normalise(own);
            let mut left = f64::from(u8::from(before > 0.0));
            for _ in 0..2 {
                for other in &*done {
                    let along: f64 = own.iter().zip(other).map(|(x, y)| x * y).sum();
                    (own.iter_mut().zip(other)).for_each(|(x, y)| *x -= along * y);
                }
                left *= normalise(own);
            }
            // Less than a millionth of a unit vector is new: its direction is lost to rounding.
            if left > 1e-6 {
                break;
            }
            own.fill(0.0);
            own[axis] = 1.0;
            axis += 1;
        }
    }
}

/// Scales a vector to length 1 and returns its former length; a vector that is too short for that stays.
fn normalise(vector: &mut [f64]) -> f64 {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 1e-150 {
        vector.iter_mut().for_each(|x| *x /= length);
        return length;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::euclidean;
    use proptest::prelude::*;

    fn tested_one_by_one(width: usize, features: &[f64], point: &[f64], distance: f64) -> Vec<u32> {
        let rows = features.chunks(width).enumerate();
        rows.filter(|(_, row)| euclidean(point, row) <= distance)
            .map(|(i, _)| i as u32)
            .collect()
    }

    fn agree(
        width: usize,
        features: &[f64],
        point: &[f64],
        distance: f64,
    ) -> Result<(), TestCaseError> {
        let index = Neighbours::new(width, features).expect("an index");
        let candidates = index.candidates(point, distance);
        prop_assert!(candidates.is_sorted());
        let passed: Vec<u32> = (candidates.iter().copied())
            .filter(|&c| {
                let row = &features[c as usize * width..(c as usize + 1) * width];
                euclidean(point, row) <= distance
            })
            .collect();
        prop_assert_eq!(passed, tested_one_by_one(width, features, point, distance));
        Ok(())
    }

    /// Coordinates of which many are equal, so that distances often equal the limit to the last bit.
    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-4..4_i32).prop_map(f64::from),
            -3.0..3.0_f64,
            (-4..4_i32).prop_map(|x| 1e6 + f64::from(x)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// The limit is the distance of one of the points, exactly: the worst case for rounding.
        #[test]
        fn the_same_points_as_one_by_one(
            width in prop_oneof![1..4_usize, 14..40_usize],
            values in prop::collection::vec(coordinate(), 40..4000),
            query in 0..100_usize,
            limit in 0..100_usize,
            shrink in prop_oneof![Just(1.0), Just(1e-9), Just(1e9)],
        ) {
            let count = values.len() / width;
            let features: Vec<f64> = values[..count * width].iter().map(|x| x * shrink).collect();
            let row = |i: usize| &features[(i % count) * width..(i % count + 1) * width];
            let distance = euclidean(row(query), row(limit));
            agree(width, &features, row(query), distance)?;
            agree(width, &features, row(query), 0.7 * distance)?;
            // A point from elsewhere.
            let elsewhere: Vec<f64> = row(query).iter().map(|x| 3.0 * x + shrink).collect();
            agree(width, &features, &elsewhere, euclidean(&elsewhere, row(limit)))?;
        }
    }

    #[test]
    fn points_all_equal_and_numbers_out_of_range() {
        let same = [7.0; 300];
        let index = Neighbours::new(3, &same).expect("an index");
        assert_eq!(index.candidates(&[7.0; 3], 0.0).len(), 100);
        assert!(index.candidates(&[8.0; 3], 1.0).is_empty());
        assert!(index.candidates(&[7.0; 3], -1.0).is_empty());
        assert_eq!(index.candidates(&[1e300; 3], f64::MAX).len(), 100);
        assert!(Neighbours::new(1, &[1e200, -1e200]).is_none());
        assert!(Neighbours::new(1, &[1e-200, -1e-200]).is_none());
        assert!(Neighbours::new(1, &[]).is_none());
    }

    /// Clusters in 16 dimensions: the index looks at the clusters nearby, not at everything.
    #[test]
    fn few_more_than_the_points_within() {
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let (count, width) = (4000, 16);
        let features: Vec<f64> = (0..count * width).map(|_| random()).collect();
        let index = Neighbours::new(width, &features).expect("an index");
        for row in features.chunks(width).step_by(400) {
            let found = index.candidates(row, 0.8);
            let within = tested_one_by_one(width, &features, row, 0.8);
            assert!(
                found.len() <= within.len() + 1,
                "{} of {}",
                within.len(),
                found.len()
            );
        }
    }
}
