//! The derivatives by a request's literals, as the lanes have found them. They are added up piece by piece, right before they
//! are passed on, while a piece is in the cache; what is read is left zero, so that nothing need be cleared in the next step.

use super::pieces::Pieces;
use super::region::Touches;
use super::share::MAX_LANES;
use super::touched::{Touched, take};
use crate::vector::Real;

/// A piece of a lane's tables, plain and negated, and what the lane touched of them.
type OfLane<'a, T> = [(&'a mut [T], &'a Touches); 2];

/// A piece of all lanes' tables, and the place where it begins.
pub(super) struct ByLanes<'a, T> {
    at: usize,
    tables: [Option<OfLane<'a, T>>; MAX_LANES],
}

impl<'a, T: Real> ByLanes<'a, T> {
    /// In the order of the lanes.
    pub fn of(mut lanes: impl Iterator<Item = &'a mut [Touched<T>; 2]>) -> ByLanes<'a, T> {
        ByLanes {
            at: 0,
            tables: [(); MAX_LANES]
                .map(|()| Some(lanes.next()?.each_mut().map(Touched::parts_mut))),
        }
    }

    /// Calls a function with the sums, plain and negated.
    pub fn sums<R>(mut self, run: impl FnOnce([&[T]; 2]) -> R) -> R {
        let [Some(sums), others @ ..] = &mut self.tables else {
            return run([&[], &[]]);
        };
        for lane in others.iter_mut().flatten() {
            for ((sum, _), (table, touches)) in sums.iter_mut().zip(lane) {
                take(table, touches, self.at, sum);
            }
        }
        let done = run(sums.each_ref().map(|(sum, _)| &**sum));
        sums.iter_mut().for_each(|(sum, _)| sum.fill(T::ZERO));
        done
    }
}

impl<T: Real> Pieces for ByLanes<'_, T> {
    fn numbers(&self) -> usize {
        let first = self.tables[0].iter().flatten();
        first.map(|(table, _)| table.len()).max().unwrap_or(0)
    }

    fn cut(mut self, numbers: usize) -> (Self, Self) {
        let rest = self.tables.each_mut().map(|lane| {
            let both = lane.as_mut()?.each_mut();
            Some(both.map(|(table, touches)| {
                let (first, second) = std::mem::take(table).cut(numbers);
                *table = first;
                (second, *touches)
            }))
        });
        let at = self.at + numbers;
        (self, ByLanes { at, tables: rest })
    }
}

/// Two that are cut in the same places, where the first allows it.
pub(super) struct Both<A, B>(pub A, pub B);

impl<A: Pieces, B: Pieces> Pieces for Both<A, B> {
    fn numbers(&self) -> usize {
        self.0.numbers()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        let first = self.0.cut(numbers);
        let second = self.1.cut(first.0.numbers());
        (Both(first.0, second.0), Both(first.1, second.1))
    }
}
