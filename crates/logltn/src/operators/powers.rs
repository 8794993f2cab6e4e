//! For p-means: sums of powers of projected members, relative to the greatest.

use std::marker::PhantomData;

use super::aggregate::{Accumulated, Aggregate, Block, Running, Segment, Slopes, State};
use super::for_each::for_each;
use super::laws::{Additive, Summand};
use super::settings::Settings;
use crate::vector::{Real, Task, run_task};

/// `a`: the greatest; `b`: the sum of powers relative to it, since for a large p the powers themselves would all be 0.
pub(crate) struct Powers<A>(PhantomData<A>);

impl<A: Aggregate> Powers<A> {
    const LAW: Additive = A::LAWS.additive.expect("a sum of powers");

    fn p(s: &Settings<f64>) -> f64 {
        match const { Self::LAW.summand } {
            Summand::Power(exponent) => s.exponent(exponent),
            Summand::Itself | Summand::Log => 1.0,
        }
    }

    fn projection<T: Real>(s: &Settings<f64>) -> impl Fn(T) -> T + Copy {
        let projection = (Self::LAW.projection)(s.eps);
        let (slope, start) = (T::from_f64(projection.slope), T::from_f64(projection.start));
        move |x| slope * x + start
    }

    /// The p-mean of the projected members.
    pub fn mean(s: &Settings<f64>, state: &State) -> f64 {
        state.a * power(state.b / state.count, 1.0 / Self::p(s))
    }

    /// The derivative of the p-mean by a projected member, without (x / a)^(p − 1).
    pub fn outer(s: &Settings<f64>, state: &State) -> f64 {
        power(state.b / state.count, 1.0 / Self::p(s) - 1.0) / state.count
    }
}

/// xᵖ, without logarithms where p-means with p = 2 need it.
fn power(x: f64, p: f64) -> f64 {
    match p {
        2.0 => x * x,
        0.5 => x.sqrt(),
        -0.5 => x.sqrt().recip(),
        _ => x.powf(p),
    }
}

/// The state after this many members, given the sum of their powers: relative to 1.
pub(super) fn state(total: f64, count: f64) -> State {
    State {
        b: total,
        count,
        ..State::new(1.0)
    }
}

/// What members are multiplied with to be relative to the greatest.
fn relative<T: Real>(state: &State) -> T {
    T::from_f64(if state.a > 0.0 { 1.0 / state.a } else { 1.0 })
}

impl<A: Aggregate> Running for Powers<A> {
    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        let p = Self::p(s);
        let Accumulated { states, work, .. } = to;
        if p == 2.0 && block.weights.is_none() && s.powers_are_tame() {
            let projection = Self::projection(s);
            return run_task(Squares {
                block,
                projection,
                states,
            });
        }
        run_task(Shrink {
            block,
            p,
            projection: Self::projection(s),
            states: &mut *states,
            work: &mut *work,
        });
        if p == 2.0 {
            return;
        }
        T::kernels().pow(work, T::from_f64(p));
        for segment in block.segments {
            states[segment.parent].b += block.sum(segment, work);
        }
    }

    fn merge(s: &Settings<f64>, state: &mut State, other: &State) {
        let greatest = state.a.max(other.a);
        if greatest > 0.0 {
            let power = |x: f64| power(x / greatest, Self::p(s));
            state.b = state.b * power(state.a) + other.b * power(other.a);
            state.a = greatest;
        }
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        let p = Self::p(s);
        let slope = (Self::LAW.projection)(s.eps).slope;
        let Slopes {
            states, out, by, ..
        } = to;
        let factor = |segment: &Segment| {
            let g = (Self::LAW.slope)(by(segment.parent), s, &states[segment.parent]) * slope;
            if g.is_finite() { g } else { 0.0 }
        };
        let squares = p == 2.0;
        run_task(Relative {
            block,
            projection: Self::projection(s),
            states: &*states,
            out: &mut *out,
            factor: squares.then_some(&factor),
        });
        if squares {
            return;
        }
        T::kernels().pow(out, T::from_f64(p - 1.0));
        for segment in block.segments {
            block.scale(segment, out, factor(segment));
        }
        for_each(out.iter_mut(), |x| *x = finite(*x));
    }
}

/// The numbers that are computed together, and the number of partial sums.
const TOGETHER: usize = 16;

/// Adds up the squares of projected members in one pass, relative to 1.
struct Squares<'a, T, P> {
    block: Block<'a, T>,
    projection: P,
    states: &'a mut [State],
}

impl<T: Real, P: Fn(T) -> T> Task for Squares<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let square = |x: T| (self.projection)(x) * (self.projection)(x);
        for segment in self.block.segments {
            let (parts, rest) = self.block.values(segment).as_chunks::<TOGETHER>();
            let mut sums = [T::ZERO; TOGETHER];
            for part in parts {
                for (sum, &x) in sums.iter_mut().zip(part) {
                    *sum += square(x);
                }
            }
            for (sum, &x) in sums.iter_mut().zip(rest) {
                *sum += square(x);
            }
            let state = &mut self.states[segment.parent];
            state.a = 1.0;
            state.b += sums.iter().map(|sum| sum.to_f64()).sum::<f64>();
        }
    }
}

/// The number, or 0 if it is none.
#[inline(always)]
fn finite<T: Real>(x: T) -> T {
    if x.is_finite() { x } else { T::ZERO }
}

/// Projects members, updates the greatest of each outer binding, and divides by it; where powers are squares, takes and
/// adds them up as well, while the numbers are in the cache.
struct Shrink<'a, T, P> {
    block: Block<'a, T>,
    p: f64,
    projection: P,
    states: &'a mut [State],
    work: &'a mut [T],
}

impl<T: Real, P: Fn(T) -> T> Task for Shrink<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for segment in self.block.segments {
            let own = &mut self.work[segment.range()];
            for (out, &x) in own.iter_mut().zip(self.block.values(segment)) {
                *out = (self.projection)(x);
            }
            let state = &mut self.states[segment.parent];
            let greatest = self.block.greatest(segment, self.work);
            if greatest > state.a {
                if state.b > 0.0 {
                    state.b *= power(state.a / greatest, self.p);
                }
                state.a = greatest;
            }
            let (relative, own) = (relative(state), &mut self.work[segment.range()]);
            if self.p == 2.0 {
                own.iter_mut().for_each(|x| {
                    let relative = *x * relative;
                    *x = relative * relative;
                });
                state.b += self.block.sum(segment, self.work);
            } else {
                own.iter_mut().for_each(|x| *x *= relative);
            }
        }
    }
}

/// Projected members, relative to the greatest of their outer binding, and multiplied with a factor of it.
struct Relative<'a, T, P, F> {
    block: Block<'a, T>,
    projection: P,
    states: &'a [State],
    out: &'a mut [T],
    factor: Option<&'a F>,
}

impl<T: Real, P: Fn(T) -> T, F: Fn(&Segment) -> f64> Task for Relative<'_, T, P, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for segment in self.block.segments {
            let relative: T = relative(&self.states[segment.parent]);
            let values = self.block.values(segment).iter();
            let own = self.out[segment.range()].iter_mut().zip(values);
            match (self.factor, self.block.weights) {
                (Some(factor), None) => {
                    let factor = T::from_f64(factor(segment));
                    own.for_each(|(out, &x)| {
                        *out = finite((self.projection)(x) * relative * factor)
                    });
                }
                (factor, _) => {
                    own.for_each(|(out, &x)| *out = (self.projection)(x) * relative);
                    if let Some(factor) = factor {
                        self.block.scale(segment, self.out, factor(segment));
                        (self.out[segment.range()].iter_mut()).for_each(|x| *x = finite(*x));
                    }
                }
            }
        }
    }
}
