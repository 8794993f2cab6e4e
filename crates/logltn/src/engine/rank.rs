//! The bindings of an axiom's root that are truest or least true, found block by block: each lane keeps the best it has
//! seen, and nothing else is stored.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Engine;
use super::run::Run;
use super::share::{LaneWork, each_lane};
use super::{Fusing, Ground};
use crate::diagnostic::Diagnostics;
use crate::parameters::Parameters;
use crate::plan::program::{MOST_CODES, Ranking};
use crate::vector::Real;

/// Which bindings come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    TruestFirst,
    LeastTrueFirst,
}

/// The bindings that come first, and how many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks {
    pub total: u64,
    /// In order.
    pub first: Vec<Found>,
}

/// A binding, by the numbers that its [`Ranking`] gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub truth: f64,
    pub codes: [u64; MOST_CODES],
    /// Less comes first.
    key: f64,
}

impl Found {
    fn new(order: Order, truth: f64, codes: [u64; MOST_CODES]) -> Found {
        Found {
            truth,
            codes,
            key: key(order, truth),
        }
    }
}

/// The two zeros are one truth.
fn key(order: Order, truth: f64) -> f64 {
    match order {
        Order::TruestFirst => 0.0 - truth,
        Order::LeastTrueFirst => truth + 0.0,
    }
}

// What comes first is least; equal truths in the order of the individuals.
impl Ord for Found {
    fn cmp(&self, other: &Found) -> Ordering {
        (self.key.total_cmp(&other.key)).then_with(|| self.codes.cmp(&other.codes))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found {
    fn eq(&self, other: &Found) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Found {}

/// The first so many of those that were offered.
struct Best {
    order: Order,
    top: usize,
    /// The one to go next is on top.
    kept: BinaryHeap<Found>,
}

impl Best {
    fn new(order: Order, top: usize) -> Best {
        Best {
            order,
            top,
            kept: BinaryHeap::new(),
        }
    }

    /// What comes after this key is of no interest.
    fn last(&self) -> f64 {
        match self.kept.peek() {
            Some(last) if self.kept.len() >= self.top => last.key,
            _ => f64::INFINITY,
        }
    }

    fn offer(&mut self, found: Found) {
        if self.kept.len() < self.top {
            self.kept.push(found);
        } else if let Some(mut last) = self.kept.peek_mut()
            && found < *last
        {
            *last = found;
        }
    }
}

impl<T: Real> Engine<T> {
    /// For each axiom whose bindings can be told apart, the first `top` of them. The numbers must be there.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub(crate) fn ranks(
        &mut self,
        parameters: &Parameters,
        order: Order,
        top: usize,
    ) -> Result<Vec<Option<Ranks>>, Diagnostics> {
        let fusing = self.fusing;
        self.set_fusing(Fusing::Never);
        let done = self.prepare(parameters).map(|()| self.rank(order, top));
        self.set_fusing(fusing);
        done
    }

    fn rank(&mut self, order: Order, top: usize) -> Vec<Option<Ranks>> {
        let Ground { plan, .. } = &self.ground;
        let shared = self.ground.shared(&self.settings);
        let parts = &self.parts;
        // By lane and item.
        let found: Vec<std::sync::Mutex<Vec<(usize, Ranks)>>> =
            self.lanes.iter().map(|_| Default::default()).collect();
        each_lane(&mut self.lanes, |lane, work: &mut LaneWork<T>| {
            let mut own = Vec::new();
            for item in &work.items {
                let part = &parts[item.part];
                let exec = &plan.programs[part.program];
                let Some(ranking) = &exec.ranking else {
                    continue;
                };
                let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
                let mut best = Best::new(order, top);
                let total = run.rank(ranking, item.start, item.end, &mut best);
                let first = best.kept.into_vec();
                own.push((part.program, Ranks { total, first }));
            }
            if let Ok(mut to) = found[lane].lock() {
                *to = own;
            }
        });
        let mut ranks: Vec<Option<Ranks>> = (plan.programs.iter())
            .map(|exec| exec.ranking.as_ref().map(|_| Ranks::default()))
            .collect();
        for own in found {
            for (program, more) in own.into_inner().unwrap_or_default() {
                if let Some(ranks) = &mut ranks[program] {
                    ranks.total += more.total;
                    ranks.first.extend(more.first);
                }
            }
        }
        for ranks in ranks.iter_mut().flatten() {
            ranks.first.sort_unstable();
            ranks.first.truncate(top);
        }
        ranks
    }
}

impl<T: Real> Run<'_, '_, T> {
    /// Goes through the bindings `start..end` of the outermost quantifier of a ranking and all that is under them.
    fn rank(&mut self, ranking: &Ranking, start: u64, end: u64, best: &mut Best) -> u64 {
        self.make_room();
        self.lane.again = true;
        let level = ranking.levels[0];
        let mut cursor = self.root_cursor(level, start, end);
        let mut total = 0;
        while self.fill(level, &mut cursor) {
            total += self.rank_under(ranking, 1, best);
        }
        self.lane.blocks.put_cursor(level, cursor);
        total
    }

    /// The blocks of the first so many levels are filled.
    fn rank_under(&mut self, ranking: &Ranking, filled: usize, best: &mut Best) -> u64 {
        let Some(&level) = ranking.levels.get(filled) else {
            self.forward(ranking.body);
            return self.offer(ranking, best);
        };
        let parents = self.lane.blocks.block(ranking.levels[filled - 1]).len;
        let mut cursor = self.lane.blocks.take_cursor(level);
        cursor.reset(parents);
        let mut total = 0;
        while self.fill(level, &mut cursor) {
            total += self.rank_under(ranking, filled + 1, best);
        }
        self.lane.blocks.put_cursor(level, cursor);
        total
    }

    /// The bindings of the innermost block.
    fn offer(&self, ranking: &Ranking, best: &mut Best) -> u64 {
        let level = ranking.levels[ranking.levels.len() - 1];
        let block = self.lane.blocks.block(level);
        let values = self.values(ranking.body);
        let mut last = best.last();
        for (at, value) in values.iter().enumerate() {
            let truth = value.to_f64();
            if key(best.order, truth) > last {
                continue;
            }
            let mut codes = [0; MOST_CODES];
            for (code, &array) in codes.iter_mut().zip(&ranking.codes) {
                *code = block.wide_array(array)[at];
            }
            best.offer(Found::new(best.order, truth, codes));
            last = best.last();
        }
        values.len() as u64
    }
}
