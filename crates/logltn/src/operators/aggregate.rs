//! Aggregators as running states: a few numbers per outer binding, so that a quantifier can be evaluated block by
//! block and its lanes merged afterwards. The combination of axioms is the same with weights.

use super::expressed::Reduction;
use super::for_each::for_each;
use super::laws::AggregatorLaws;
use super::settings::Settings;
use crate::vector::Real;

/// The members of one outer binding within a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub parent: usize,
    pub start: usize,
    pub end: usize,
}

impl Segment {
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

/// The state of one outer binding's members so far. Each operator defines what `a`, `b` and `c` mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub a: f64,
    pub b: f64,
    pub c: f64,
    /// The number of members, or the sum of their weights.
    pub count: f64,
}

impl State {
    pub fn new(a: f64) -> State {
        State {
            a,
            b: 0.0,
            c: 0.0,
            count: 0.0,
        }
    }
}

/// Some members of some outer bindings.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a, T> {
    pub values: &'a [T],
    /// Their [complements](super::complement), for an operator that wants them.
    pub complements: &'a [T],
    pub segments: &'a [Segment],
    /// Empty if all are 1.
    pub weights: Option<&'a [f64]>,
}

/// An aggregator's computation.
pub(crate) trait Aggregate {
    const LAWS: AggregatorLaws;

    /// The same for other programs.
    const EXPRESSED: Reduction;

    /// How the state is updated by members.
    type Running: Running;

    /// The aggregate of at least one member.
    fn value(s: &Settings<f64>, state: &State) -> f64;

    /// All of this as a value.
    fn as_value<T: Real>() -> Aggregation<T> {
        Aggregation {
            laws: &Self::LAWS,
            start: Self::Running::start,
            accumulate: Self::Running::accumulate::<T>,
            merge: Self::Running::merge,
            value: Self::value,
            slopes: Self::Running::slopes::<T>,
        }
    }
}

/// Running computation over members, block by block.
pub(crate) trait Running {
    /// The state of no members.
    fn start() -> State;

    /// Adds a block's members to the states of their outer bindings; counting them is not its task.
    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>);

    /// Merges two states: `other` comes after `state`. The members have been counted already.
    fn merge(s: &Settings<f64>, state: &mut State, other: &State);

    /// The derivative of the loss by each member of a block, from that by each outer binding's aggregate.
    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>);
}

/// Where [`Running::accumulate`] puts what it finds.
pub(crate) struct Accumulated<'a, T> {
    pub states: &'a mut [State],
    /// As long as the block; keeps what [`Running::slopes`] may need.
    pub work: &'a mut [T],
    /// As long as the block.
    pub scratch: &'a mut [T],
}

/// What [`Running::slopes`] is given besides the members.
pub(crate) struct Slopes<'a, T> {
    /// Final.
    pub states: &'a mut [State],
    /// By outer binding: the derivative of the loss by its aggregate.
    pub by: &'a dyn Fn(usize) -> f64,
    /// Whether `out` still holds what [`Running::accumulate`] left in its `work`, and nothing has been added to the
    /// states since.
    pub fresh: bool,
    pub out: &'a mut [T],
    /// The derivatives by the complements, for an operator that wants them.
    pub by_complements: &'a mut [T],
    pub scratch: &'a mut [T],
}

/// [`Aggregate`] as a value.
#[derive(Clone, Copy)]
pub(crate) struct Aggregation<T> {
    pub laws: &'static AggregatorLaws,
    pub start: fn() -> State,
    accumulate: fn(&Settings<f64>, Block<T>, Accumulated<T>),
    merge: fn(&Settings<f64>, &mut State, &State),
    pub value: fn(&Settings<f64>, &State) -> f64,
    pub slopes: fn(&Settings<f64>, Block<T>, Slopes<T>),
}

impl<T: Real> Aggregation<T> {
    /// Adds a block's members to the states of their outer bindings.
    pub fn accumulate(&self, s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        for segment in block.segments {
            to.states[segment.parent].count += block.count(segment);
        }
        (self.accumulate)(s, block, to);
    }

    /// Merges two states: `other` comes after `state`.
    pub fn merge(&self, s: &Settings<f64>, state: &mut State, other: &State) {
        state.count += other.count;
        (self.merge)(s, state, other);
    }
}

impl<'a, T: Real> Block<'a, T> {
    pub fn values(&self, segment: &Segment) -> &'a [T] {
        &self.values[segment.range()]
    }

    /// How many members, or the sum of their weights.
    fn count(&self, segment: &Segment) -> f64 {
        match self.weights {
            None => segment.range().len() as f64,
            Some(weights) => weights[segment.range()].iter().sum(),
        }
    }

    /// The weighted sum of a function of each member. Members without weight are skipped: they may be infinite.
    pub fn sum(&self, segment: &Segment, of: &[T]) -> f64 {
        let of = &of[segment.range()];
        match self.weights {
            None => sum(of).to_f64(),
            Some(weights) => (weights[segment.range()].iter().zip(of))
                .filter(|(w, _)| **w > 0.0)
                .map(|(w, x)| w * x.to_f64())
                .sum(),
        }
    }

    /// The greatest value of a function of each member that has a weight. A member without weight could be so much
    /// greater that the others would vanish relative to it.
    pub fn greatest(&self, segment: &Segment, of: &[T]) -> f64 {
        let of = &of[segment.range()];
        match self.weights {
            None => greatest(of).to_f64(),
            Some(weights) => (weights[segment.range()].iter().zip(of))
                .filter(|(w, _)| **w > 0.0)
                .map(|(_, x)| x.to_f64())
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Multiplies with a factor and the weights.
    pub fn scale(&self, segment: &Segment, of: &mut [T], by: f64) {
        let of = &mut of[segment.range()];
        match self.weights {
            None => scale(of, T::from_f64(by)),
            Some(weights) => {
                for (x, &w) in of.iter_mut().zip(&weights[segment.range()]) {
                    // 0 · ∞ is not 0.
                    *x = match w > 0.0 {
                        true => *x * T::from_f64(w * by),
                        false => T::ZERO,
                    };
                }
            }
        }
    }

    /// The weight of a member, by its place in the block.
    pub fn weight(&self, at: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[at])
    }
}

/// A kernel is not worth its call for fewer values.
const SHORT: usize = 12;

fn sum<T: Real>(values: &[T]) -> T {
    match values.len() {
        0..SHORT => values.iter().fold(T::ZERO, |a, &b| a + b),
        _ => T::kernels().sum(values),
    }
}

fn greatest<T: Real>(values: &[T]) -> T {
    match values.len() {
        0..SHORT => values
            .iter()
            .fold(T::NEG_INFINITY, |a, &b| if b > a { b } else { a }),
        _ => T::kernels().max(values),
    }
}

pub(super) fn scale<T: Real>(values: &mut [T], by: T) {
    match values.len() {
        0..SHORT => values.iter_mut().for_each(|x| *x *= by),
        _ => for_each(values.iter_mut(), |x| *x *= by),
    }
}
