//! How the work is divided among lanes: the parts of the axioms, how much work each is, and which lane does what.

use rayon::ThreadPool;
use rayon::prelude::*;

use super::clause::{Exponentials, Fused, Fusing, Sums, Tables};
use super::lane::Lane;
use super::pieces::Threads;
use super::run::Partial;
use super::{Engine, Precision};
use crate::plan::physical::{LevelComponent, Root};
use crate::plan::program::NodeKind;
use crate::plan::strata::{Step, StratumPlan};
use crate::vector::Real;

/// A summand of an axiom: the whole axiom, or a member if it is a conjunction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub program: usize,
    pub root: Root,
    /// The small clause, if it is evaluated as one in this batch.
    pub fused: Option<Fused>,
    /// Whether its exponentials in this step allow that.
    pub fit: Fit,
}

/// Whether a part's exponentials allow an evaluation in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fit {
    #[default]
    Good,
    /// Many are too small, and would have to be computed one by one.
    Slow,
    /// Some are infinite.
    Wrong,
}

/// Some bindings of a part's root quantifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub part: usize,
    pub start: u64,
    pub end: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct LaneWork<T> {
    pub lane: Lane<T>,
    pub items: Vec<Item>,
    pub found: Vec<(Partial, u64)>,
    /// The value of a stratum for some tuples, or the derivatives by that.
    pub tuples: Vec<T>,
    /// Rows of a product of matrices, and columns of one of these.
    pub rows: Vec<T>,
    pub panel: Vec<T>,
    /// By item, if that is of a small clause.
    pub sums: Vec<Sums<T>>,
}

/// The most lanes. With more, adding up their tables would cost more than they gain.
pub(super) const MAX_LANES: usize = 16;
/// The least work worth a lane, in node values.
const LANE_WORK: u64 = 1 << 15;
/// The same for the tuples of a stratum, where each lane has its own long tables.
const LANE_WORK_OF_STRATA: u64 = 1 << 20;
/// The most memory that the lanes' tables of derivatives may take together.
const MAX_LANE_BYTES: usize = 1 << 30;
/// The least work of a lane, in node values, as a share of its tables' size, so that clearing and adding up the
/// tables takes no longer than the work.
const TABLES_FOR_WORK: usize = 4;

impl<T: Precision> Engine<T> {
    /// How many bindings an outermost level has in this batch.
    fn bindings(&self, program: usize, level: usize) -> u64 {
        let length = |c: &LevelComponent| {
            let offsets = &self.ground.active.components[c.component].offsets;
            u64::from(offsets[1] - offsets[0])
        };
        let level = &self.ground.plan.programs[program].levels[level];
        level.components.iter().map(length).product()
    }

    /// The same for the bindings of a part that the lanes divide, with all rows of all tables.
    pub(super) fn all_bindings(&self, part: &Part) -> u64 {
        let exec = &self.ground.plan.programs[part.program];
        let level = match (part.fused, &exec.nodes[part.root.node].kind) {
            (Some(fused), _) => exec.clauses[fused.clause].level,
            (None, NodeKind::Quantifier { level, .. }) => *level,
            _ => return 1,
        };
        let length = |c: &LevelComponent| {
            let offsets = &self.ground.plan.components[c.component].offsets;
            u64::from(offsets[1] - offsets[0])
        };
        exec.levels[level].components.iter().map(length).product()
    }

    /// Decides which parts are evaluated as small clauses in this batch.
    fn choose_clauses(&mut self) {
        self.ground.tables.clear();
        for at in 0..self.parts.len() {
            self.parts[at].fused = self.fused(&self.parts[at]);
            let Part { program, fused, .. } = self.parts[at];
            let Some(mut fused) = fused else {
                continue;
            };
            let clause = &self.ground.plan.programs[program].clauses[fused.clause];
            for (literal, table) in clause.literals.iter().zip(&mut fused.tables) {
                let request = &self.requests[literal.request];
                let (width, rows) = (request.width, request.rows);
                let of = (literal.request, literal.negated, self.own[program].alpha);
                *table = self.ground.tables.entry(of, width, rows);
                if clause.over_rows {
                    self.ground.tables.fill_rows_up(*table);
                }
            }
            self.parts[at].fused = Some(fused);
        }
        let clauses = self.parts.iter().filter(|p| p.fused.is_some()).count();
        let numbers = self.ground.tables.numbers();
        // Each clause has its own derivatives by all of them.
        let bytes = clauses
            .saturating_mul(numbers)
            .saturating_mul(std::mem::size_of::<T>());
        if numbers <= u32::MAX as usize && bytes <= MAX_LANE_BYTES {
            self.ground.tables.lay_out();
        } else {
            self.ground.tables = Tables::default();
            self.parts.iter_mut().for_each(|part| part.fused = None);
        }
    }

    /// Finds the small clauses whose exponentials rule out an evaluation in one pass. This depends only on the
    /// literals of this step, so a resumed training does the same. Returns whether anything changed.
    pub(super) fn look_at_exponentials(&mut self) -> bool {
        let pool = self.pool.clone();
        let threads = Threads(pool.as_deref());
        self.exponentials.clear();
        self.exponentials.resize(2 * self.requests.len(), None);
        let mut changed = false;
        for part in &mut self.parts {
            let Some(clause) = part.root.clause else {
                continue;
            };
            let clause = &self.ground.plan.programs[part.program].clauses[clause];
            let alpha = self.settings[part.program].alpha;
            let found = clause.exponentials(|literal| {
                let literals = &self.ground.literals[literal.request];
                let at = 2 * literal.request + usize::from(literal.negated);
                match self.exponentials[at] {
                    Some((of, known)) if of == alpha => return known,
                    _ => {}
                }
                let found = match literal.negated {
                    true => Exponentials::of(&literals.negative, alpha, threads),
                    false => Exponentials::of(&literals.positive, alpha, threads),
                };
                self.exponentials[at] = Some((alpha, found));
                found
            });
            let fit = match (found.infinite, found.small > Exponentials::MOST_SMALL) {
                (true, _) => Fit::Wrong,
                (false, true) => Fit::Slow,
                (false, false) => Fit::Good,
            };
            changed |= fit != part.fit;
            part.fit = fit;
        }
        changed
    }

    fn fused(&self, part: &Part) -> Option<Fused> {
        let fused = Fused::new(part.root.clause?);
        let clause = &self.ground.plan.programs[part.program].clauses[fused.clause];
        let bindings = self.bindings(part.program, clause.level);
        let wanted = match self.fusing {
            Fusing::Always => part.fit != Fit::Wrong,
            Fusing::WhereCheaper => {
                part.fit == Fit::Good && clause.is_worth_it(bindings, |r| self.numbers[r].len())
            }
            Fusing::Never => false,
        };
        (wanted && clause.is_possible(&self.settings[part.program])).then_some(fused)
    }

    /// How many bindings of a part the lanes can divide, and how much work each is.
    pub(super) fn size_and_cost(&self, part: &Part) -> (u64, u64) {
        let exec = &self.ground.plan.programs[part.program];
        if let Some(fused) = part.fused {
            let clause = &exec.clauses[fused.clause];
            return (self.bindings(part.program, clause.level), clause.cost);
        }
        match exec.nodes[part.root.node].kind {
            NodeKind::Quantifier { level, .. } => {
                (self.bindings(part.program, level), part.root.cost)
            }
            _ => (1, part.root.cost),
        }
    }

    /// The most work that the lanes could divide in a step of the strata, and how many numbers a lane has for the
    /// strata.
    fn largest_stratum(&self) -> (u64, usize) {
        let strata = &self.ground.plan.strata;
        let work = |step: &Step| {
            let programs = strata.strata[step.stratum].programs.iter().flatten();
            let cost: u64 = (programs.flat_map(|p| p.roots.first()))
                .map(|root| root.cost)
                .fold(0, u64::saturating_add);
            cost.saturating_mul(u64::from(step.end - step.start) * u64::from(!step.constant))
        };
        let most = strata.steps.iter().map(work).max().unwrap_or(0);
        if most < LANE_WORK_OF_STRATA {
            return (0, 0);
        }
        let numbers = |s: &StratumPlan| 2 * s.layers * s.codes.len();
        (most, strata.strata.iter().map(numbers).sum())
    }

    /// Cuts the axioms into lanes of about equal work.
    pub(super) fn assign_lanes_here(&mut self) {
        self.choose_clauses();
        let mut works = 0_u64;
        for part in &self.parts {
            let (size, cost) = self.size_and_cost(part);
            works = works.saturating_add(size.saturating_mul(cost).max(1));
        }
        let clauses = self.parts.iter().filter(|p| p.fused.is_some()).count();
        let numbers: usize = self.numbers.iter().map(Vec::len).sum();
        self.work = works.saturating_add(numbers as u64);
        let tables = self.ground.tables.values.len();
        // Each lane has its own; if two lanes share a part, both have its sums.
        let (of_strata, in_strata) = self.largest_stratum();
        let in_each = tables
            + in_strata
            + if clauses < self.parts.len() {
                2 * numbers
            } else {
                0
            };
        let most = MAX_LANE_BYTES / std::mem::size_of::<T>();
        let affordable = most.saturating_sub(clauses * tables) / in_each.max(1);
        let affordable = affordable.max(1) as u64;
        // Small clauses are so quick that clearing and adding up a lane's tables can take as long as they
        // do.
        let worth = LANE_WORK.max((tables / TABLES_FOR_WORK) as u64);
        let lanes = (works / worth).max(of_strata / LANE_WORK_OF_STRATA);
        let lanes = lanes.clamp(1, affordable.min(MAX_LANES as u64));
        // On two cores, three equal lanes would take as long as four.
        let lanes = 1 << lanes.ilog2();
        self.lanes.resize_with(lanes as usize, LaneWork::default);
        self.lanes.iter_mut().for_each(|l| l.items.clear());
        // What a lane leaves, as the bindings of a part are long, is for all lanes after it.
        let (mut at, mut left) = (0, works);
        let mut room = left.div_ceil(lanes);
        for part in 0..self.parts.len() {
            let (total, cost) = self.size_and_cost(&self.parts[part]);
            let nearest = |room: u64| room.saturating_add(cost / 2) / cost.max(1);
            let mut start = 0;
            loop {
                if nearest(room) == 0
                    && at + 1 < self.lanes.len()
                    && !self.lanes[at].items.is_empty()
                {
                    at += 1;
                    room = left.div_ceil(lanes - at as u64);
                }
                let last = at + 1 == self.lanes.len();
                let fits = if last {
                    total - start
                } else {
                    nearest(room).max(1)
                };
                let end = (start + fits).min(total);
                self.lanes[at].items.push(Item { part, start, end });
                let used = (end - start).saturating_mul(cost).max(1);
                room = room.saturating_sub(used);
                left = left.saturating_sub(used);
                start = end;
                if start >= total {
                    break;
                }
            }
        }
        for lane in &mut self.lanes {
            lane.sums.resize_with(lane.items.len(), Sums::default);
        }
    }
}

pub(super) fn each_lane<T: Real>(
    pool: Option<&ThreadPool>,
    lanes: &mut [LaneWork<T>],
    run: impl Fn(usize, &mut LaneWork<T>) + Sync + Send,
) {
    match pool {
        _ if lanes.len() <= 1 => lanes.iter_mut().for_each(|lane| run(0, lane)),
        // Another thread would only mean waiting for it.
        Some(pool) if pool.current_num_threads() == 1 => {
            (lanes.iter_mut().enumerate()).for_each(|(i, lane)| run(i, lane));
        }
        Some(pool) => pool.install(|| in_parallel(lanes, run)),
        None => in_parallel(lanes, run),
    }
}

fn in_parallel<T: Real>(
    lanes: &mut [LaneWork<T>],
    run: impl Fn(usize, &mut LaneWork<T>) + Sync + Send,
) {
    let lanes = lanes.par_iter_mut().enumerate();
    lanes.for_each(|(i, lane)| run(i, lane));
}
