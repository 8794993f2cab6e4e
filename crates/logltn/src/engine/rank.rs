//! The bindings of an axiom's root that are truest or least true, found block by block: each lane keeps the best it has
//! seen, and nothing else is stored.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;

use super::run::Run;
use super::share::{LaneWork, each_lane};
use super::{Engine, Precision};
use super::{Fusing, Ground};
use crate::diagnostic::Diagnostics;
use crate::memory::{self, TooMuch};
use crate::operators::{Semiring, Space};
use crate::parameters::Parameters;
use crate::plan::program::{MOST_CODES, NodeKind, Ranking};
use crate::vector::Real;

/// Which bindings come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    TruestFirst,
    LeastTrueFirst,
}

/// The bindings that come first, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    pub total: u64,
    /// How many are truer than ½. For truth degrees only: with logs, bounds leave out some bindings without
    /// looking at them.
    pub likely: u64,
    /// In order.
    pub first: Vec<Found>,
}

impl Ranks {
    /// The best `top` of some bindings with their truths.
    pub fn of(bindings: Vec<([u64; MOST_CODES], f64)>, order: Order, top: usize) -> Ranks {
        let total = bindings.len() as u64;
        let found = bindings.into_iter();
        let mut first: Vec<Found> = found
            .map(|(codes, v)| Found::new(order, v, codes))
            .collect();
        first.sort();
        first.truncate(top);
        Ranks {
            total,
            likely: 0,
            first,
        }
    }
}

/// A binding, by the numbers that its [`Ranking`] gives it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
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

// The best is the least in this order; equal truths are in the order of the individuals.
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

/// The best few of those that were offered.
struct Best {
    order: Order,
    top: usize,
    /// Whether it pays to look at bounds first.
    is_bounded: bool,
    /// How far a bound may be off by rounding.
    margin: f64,
    /// The next one to be replaced is on top.
    kept: BinaryHeap<Found>,
    /// There was no memory for more.
    full: bool,
    /// How many were truer than ½.
    likely: u64,
}

impl Best {
    fn new<T: Real>(order: Order, top: usize, is_bounded: bool) -> Best {
        Best {
            order,
            top,
            is_bounded,
            margin: 64.0 * T::EPSILON.to_f64(),
            kept: BinaryHeap::new(),
            full: false,
            likely: 0,
        }
    }

    /// Bindings after this key are of no interest.
    fn last(&self) -> f64 {
        match self.kept.peek() {
            Some(last) if self.kept.len() >= self.top => last.key,
            _ => f64::INFINITY,
        }
    }

    /// Whether everything under a bound comes after the key.
    fn surely_after(&self, last: f64, bound: f64) -> bool {
        key(self.order, bound) > last + self.margin * bound.abs().max(1.0)
    }

    fn offer(&mut self, found: Found) {
        if self.kept.len() < self.top {
            let room = self.kept.capacity();
            if self.kept.len() == room
                && memory::ask((3 * room * size_of::<Found>()) as u128).is_err()
            {
                self.full = true;
                return;
            }
            self.kept.push(found);
        } else if let Some(mut last) = self.kept.peek_mut()
            && found < *last
        {
            *last = found;
        }
    }
}

impl<T: Precision> Engine<T> {
    /// For each axiom whose bindings can be told apart, the best `top` of them. The numbers must be filled
    /// in.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub(crate) fn ranks(
        &mut self,
        parameters: &Parameters,
        order: Order,
        top: usize,
    ) -> Result<Vec<Option<Ranks>>, Diagnostics> {
        T::ranks(self, parameters, order, top)
    }

    pub(super) fn ranks_here(
        &mut self,
        parameters: &Parameters,
        order: Order,
        top: usize,
    ) -> Result<Vec<Option<Ranks>>, Diagnostics> {
        if self.events.is_some() {
            return self.exact_ranks(parameters, order, top);
        }
        let fusing = self.fusing;
        self.set_fusing(Fusing::Never);
        let done = self
            .prepare(parameters, &mut [])
            .and_then(|()| self.rank(order, top));
        self.set_fusing(fusing);
        // An interrupted search is not an answer.
        self.unless_stopped()?;
        done
    }

    fn rank(&mut self, order: Order, top: usize) -> Result<Vec<Option<Ranks>>, Diagnostics> {
        let Ground { plan, .. } = &self.ground;
        let shared = self.ground.shared(&self.settings, &self.stop);
        let parts = &self.parts;
        // By lane and item.
        let found: Vec<std::sync::Mutex<Vec<(usize, Ranks)>>> =
            self.lanes.iter().map(|_| Default::default()).collect();
        let full = AtomicBool::new(false);
        let pool = self.pool.as_deref();
        each_lane(pool, &mut self.lanes, |lane, work: &mut LaneWork<T>| {
            let mut own = Vec::new();
            for item in &work.items {
                let part = &parts[item.part];
                let exec = &plan.programs[part.program];
                let Some(ranking) = &exec.ranking else {
                    continue;
                };
                let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
                // Computing a literal or a sum is as quick as bounding it.
                let body = &exec.nodes[ranking.body].kind;
                let is_bounded =
                    plan.semantics.space == Space::Log && matches!(body, NodeKind::Or(_));
                let mut best = Best::new::<T>(order, top, is_bounded);
                let total = run.rank(ranking, item.start, item.end, &mut best);
                full.fetch_or(best.full, std::sync::atomic::Ordering::Relaxed);
                let ranks = Ranks {
                    total,
                    likely: best.likely,
                    first: best.kept.into_vec(),
                };
                own.push((part.program, ranks));
            }
            if let Ok(mut to) = found[lane].lock() {
                *to = own;
            }
        });
        if full.into_inner() {
            let kept = u128::from(memory::left().max(1));
            return Err(too_many(TooMuch { asked: 2 * kept }));
        }
        let mut ranks: Vec<Option<Ranks>> = (plan.programs.iter())
            .map(|exec| exec.ranking.as_ref().map(|_| Ranks::default()))
            .collect();
        for own in found {
            for (program, more) in own.into_inner().unwrap_or_default() {
                if let Some(ranks) = &mut ranks[program] {
                    ranks.total += more.total;
                    ranks.likely += more.likely;
                    ranks.first.extend(more.first);
                }
            }
        }
        for ranks in ranks.iter_mut().flatten() {
            ranks.first.sort_unstable();
            ranks.first.truncate(top);
        }
        let first = ranks.iter().flatten().map(|ranks| ranks.first.len());
        let bytes = first.sum::<usize>() as u128 * BYTES_PER_ANSWER;
        memory::ask(bytes).map_err(too_many)?;
        Ok(ranks)
    }
}

/// The least number of words that an answer takes.
const BYTES_PER_ANSWER: u128 = 200;

fn too_many(error: TooMuch) -> Diagnostics {
    let error = error.refuse("the list of all answers");
    error
        .help(format!(
            "ask for fewer answers, such as the first 100; {}",
            memory::allow_more()
        ))
        .into()
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

    /// The blocks of the first few levels are filled.
    fn rank_under(&mut self, ranking: &Ranking, filled: usize, best: &mut Best) -> u64 {
        let Some(&level) = ranking.levels.get(filled) else {
            let len = self.len(ranking.body);
            if best.is_bounded && self.bound(ranking.body, best.order) {
                let last = best.last();
                let values = self.values(ranking.body).iter();
                if values
                    .into_iter()
                    .all(|x| best.surely_after(last, x.to_f64()))
                {
                    return len as u64;
                }
            }
            self.forward(ranking.body);
            self.offer(ranking, best);
            return len as u64;
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

    /// Writes bounds into the buffer of a node's values: lower bounds, or upper bounds if the truest come first. No
    /// exponentials are needed for that. False if there is no bound.
    fn bound(&mut self, node: usize, order: Order) -> bool {
        let exec = self.exec;
        let (members, and) = match &exec.nodes[node].kind {
            NodeKind::Literal { .. } => {
                self.forward(node);
                return true;
            }
            NodeKind::And(members) if self.shared.and.laws.adds => (members, true),
            NodeKind::Or(members) => (members, false),
            _ => return false,
        };
        let shift = match (and, self.shared.or.laws.semiring, order) {
            (true, _, _) | (_, Some(Semiring::Greatest), _) => 0.0,
            // A mean is not above the greatest, and not below it by more than the log of their number; a sum likewise.
            (_, Some(Semiring::Exponentials { mean: true }), Order::TruestFirst)
            | (_, Some(Semiring::Exponentials { mean: false }), Order::LeastTrueFirst) => 0.0,
            (_, Some(Semiring::Exponentials { mean }), _) => {
                let sign = if mean { -1.0 } else { 1.0 };
                sign * (members.len() as f64).ln() / self.aggregators.alpha
            }
            (_, None, _) => return false,
        };
        if !members.iter().all(|m| self.bound(*m, order)) {
            return false;
        }
        let mut out = self.take_values(node);
        out[..self.len(node)].copy_from_slice(self.values(members[0]));
        for &member in &members[1..] {
            let pairs = out.iter_mut().zip(self.values(member));
            match and {
                true => pairs.for_each(|(out, &x)| *out += x),
                false => pairs.for_each(|(out, &x)| *out = out.max(x)),
            }
        }
        if shift != 0.0 {
            let shift = T::from_f64(shift);
            let len = self.len(node);
            out[..len].iter_mut().for_each(|out| *out += shift);
        }
        self.put_values(node, out);
        true
    }

    /// The bindings of the innermost block.
    fn offer(&self, ranking: &Ranking, best: &mut Best) {
        let level = ranking.levels[ranking.levels.len() - 1];
        let block = self.lane.blocks.block(level);
        let values = self.values(ranking.body);
        best.likely += values.iter().filter(|x| x.to_f64() > 0.5).count() as u64;
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
    }
}
