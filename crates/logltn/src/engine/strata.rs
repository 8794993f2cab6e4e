//! Strata in the engine: computed in order before the axioms, with their backward pass after that of the axioms. The
//! values of a stratum for its tuples are in the table of its literals, once for each layer and for each group of
//! axioms that have the same parameters.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::lane::Lane;
use super::run::{Run, Shared};
use super::share::{LaneWork, each_lane};
use super::{Engine, Precision};
use crate::operators::{FLOOR, Settings, Space};
use crate::plan::Plan;
use crate::plan::physical::Physical;
use crate::plan::program::NodeKind;
use crate::plan::strata::Step;
use crate::vector::Real;

/// Where a formula is with respect to strata.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    group: usize,
    /// The cycle of strata that it is in, and the layer of that cycle that it reads.
    circle: usize,
    layer: usize,
}

impl Layer {
    /// In an axiom.
    pub fn outside(group: usize) -> Layer {
        Layer {
            group,
            circle: usize::MAX,
            layer: 0,
        }
    }

    /// In a stratum.
    pub fn inside(plan: &Plan, step: &Step, group: usize) -> Layer {
        let stratum = &plan.strata.strata[step.stratum];
        Layer {
            group,
            circle: stratum.circle,
            layer: step.layer + usize::from(stratum.counts),
        }
    }

    pub fn group(&self) -> usize {
        self.group
    }

    /// Where the tuples begin that it reads of a stratum.
    pub fn start(&self, plan: &Plan, stratum: usize) -> usize {
        let stratum = &plan.strata.strata[stratum];
        let layer = match stratum.circle == self.circle {
            // No value beyond the last layer matters.
            true => self.layer.min(stratum.layers - 1),
            false => 0,
        };
        (self.group * stratum.layers + layer) * stratum.codes.len()
    }
}

/// A step of the work: some tuples of a stratum, one sign, for one group.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub step: Step,
    /// The place of the step in the plan.
    at: usize,
    negated: bool,
    pub group: usize,
}

impl Piece {
    /// Where its tuples begin in the table.
    fn start(&self, plan: &Plan) -> usize {
        let stratum = &plan.strata.strata[self.step.stratum];
        let layer = self.group * stratum.layers + self.step.layer;
        layer * stratum.codes.len() + self.step.start as usize
    }

    fn len(&self) -> usize {
        (self.step.end - self.step.start) as usize
    }
}

/// The least work worth a lane, in values of nodes.
const LANE_WORK: u64 = 1 << 15;

impl<T: Real> Engine<T> {
    /// How many strata there are: the first requests are theirs.
    pub(super) fn strata(&self) -> usize {
        self.ground.plan.strata.strata.len()
    }
}

impl<T: Precision> Engine<T> {
    /// Groups the axioms that use strata by their parameters, and makes room for the strata's values.
    pub(super) fn group_axioms(&mut self) {
        let plan = &self.ground.plan;
        self.ground.groups.clear();
        self.ground.groups.resize(plan.programs.len(), 0);
        self.leaders.clear();
        if plan.strata.strata.is_empty() {
            return;
        }
        let asks = |exec: &Physical| {
            let mut nodes = exec.nodes.iter();
            nodes.any(|node| matches!(node.kind, NodeKind::Use { .. }))
        };
        for (axiom, exec) in plan.programs.iter().enumerate() {
            if !asks(exec) {
                continue;
            }
            let same = |leader: &usize| self.own[*leader] == self.own[axiom];
            let group = self.leaders.iter().position(same);
            let group = group.unwrap_or_else(|| {
                self.leaders.push(axiom);
                self.leaders.len() - 1
            });
            self.ground.groups[axiom] = group;
        }
        let groups = self.leaders.len();
        for (stratum, literals) in plan.strata.strata.iter().zip(&mut self.ground.literals) {
            let size = groups * stratum.layers * stratum.codes.len();
            for table in [&mut literals.positive, &mut literals.negative] {
                table.clear();
                table.resize(size, T::ZERO);
            }
        }
    }

    /// Every piece of work, in the order of computing.
    fn each_piece(&mut self, back: bool, mut run: impl FnMut(&mut Self, Piece)) {
        let plan = self.ground.plan.clone();
        let steps = plan.strata.steps.len();
        for at in 0..steps {
            let at = if back { steps - 1 - at } else { at };
            let step = plan.strata.steps[at];
            if self.asked.runs(at).is_empty() {
                continue;
            }
            let stratum = &plan.strata.strata[step.stratum];
            for (sign, program) in stratum.programs.iter().enumerate() {
                for group in 0..self.leaders.len() {
                    let negated = sign == 1;
                    let product = stratum.contraction.is_some() && !negated;
                    if program.is_some() || step.constant || product {
                        run(
                            self,
                            Piece {
                                step,
                                at,
                                negated,
                                group,
                            },
                        );
                    }
                }
            }
        }
    }

    /// Computes all strata for their tuples.
    pub(super) fn forward_strata(&mut self) {
        if self.ground.plan.strata.steps.is_empty() {
            return;
        }
        self.each_piece(false, |this, piece| {
            if this.stop.is_set() {
                return;
            }
            match piece.step.constant {
                true => this.fill_in(piece),
                false => this.forward_piece(piece),
            }
        });
    }

    /// The end of a depth: false, and its negation true.
    fn fill_in(&mut self, piece: Piece) {
        let start = piece.start(&self.ground.plan);
        let value = match (piece.negated, self.ground.plan.semantics.space) {
            (true, Space::Log) => 0.0,
            (false, Space::Log) => FLOOR,
            (negated, _) => f64::from(u8::from(negated)),
        };
        let table = self.ground.literals[piece.step.stratum].of_sign(piece.negated);
        table[start..start + piece.len()].fill(T::from_f64(value));
    }

    /// How many tuples of a piece are needed.
    fn asked_for(&self, piece: Piece) -> u64 {
        let runs = self.asked.runs(piece.at).iter();
        runs.map(|run| run.len() as u64).sum()
    }

    /// The work of a piece, in node values.
    fn work_of(&self, piece: Piece) -> u64 {
        let program = &self.ground.plan.strata.strata[piece.step.stratum].programs;
        let cost = program[usize::from(piece.negated)].as_ref();
        let cost = cost.and_then(|p| p.roots.first()).map_or(1, |r| r.cost);
        cost.saturating_mul(self.asked_for(piece))
    }

    /// How many lanes share a piece: by its size alone.
    fn lanes_for(&self, piece: Piece) -> usize {
        (self.work_of(piece) / LANE_WORK).clamp(1, self.lanes.len() as u64) as usize
    }

    /// The work of all strata in the current batch, in node values.
    pub(super) fn work_of_strata(&mut self) -> u64 {
        let mut all = 0_u64;
        self.each_piece(false, |this, piece| {
            all = all.saturating_add(this.work_of(piece));
        });
        all
    }

    /// How long strata take, forward and optionally backward, in seconds: their first pieces are computed until the
    /// budget is spent, and the rest is extrapolated.
    pub(super) fn estimate_strata(&mut self, budget: Duration, back: bool) -> f64 {
        let stop = self.stop.clone();
        self.stop = stop.until(Instant::now() + budget);
        let (mut spent, mut done, mut all) = (0.0, 0.0, 0.0);
        self.each_piece(false, |this, piece| {
            // A piece that is a constant is filled in, at once.
            let work = match piece.step.constant {
                true => 0.0,
                false => this.work_of(piece) as f64,
            };
            all += work;
            if this.stop.is_set() {
                return;
            }
            let begun = Instant::now();
            let computed = match piece.step.constant {
                true => {
                    this.fill_in(piece);
                    1.0
                }
                false => {
                    this.lanes.iter_mut().for_each(|lane| lane.tuples.clear());
                    this.forward_piece(piece);
                    let tuples: usize = this.lanes.iter().map(|lane| lane.tuples.len()).sum();
                    // Products of matrices are computed whole.
                    let whole = tuples == 0 || !this.stop.is_set();
                    match whole {
                        true => 1.0,
                        false => (tuples as f64 / this.asked_for(piece).max(1) as f64).min(1.0),
                    }
                }
            };
            spent += begun.elapsed().as_secs_f64();
            done += computed * work;
        });
        self.stop = stop;
        // The backward pass visits each piece again, which is as much work.
        let times = if back { 3.0 } else { 1.0 };
        match done > 0.0 {
            true => times * spent * (all / done),
            false => times * spent,
        }
    }

    fn forward_piece(&mut self, piece: Piece) {
        let stratum = &self.ground.plan.strata.strata[piece.step.stratum];
        if let Some(contraction) = stratum.contraction {
            return self.forward_contraction(piece, contraction);
        }
        let shares = self.lanes_for(piece);
        let at = Layer::inside(&self.ground.plan, &piece.step, piece.group);
        let settings = &self.settings[self.leaders[piece.group]];
        let shared = self.ground.shared(&self.settings, &self.stop);
        let runs = self.asked.runs(piece.at);
        let compute = |lane: usize, work: &mut LaneWork<T>| {
            work.tuples.clear();
            let out = &mut work.tuples;
            with_run(
                &shared,
                piece,
                settings,
                at,
                &mut work.lane,
                |run, level, body| {
                    run.lane.again = true;
                    for tuples in share(runs, lane, shares) {
                        run.each_block(level, tuples, |run| {
                            run.forward(body);
                            out.extend_from_slice(run.values(body));
                        });
                    }
                },
            );
        };
        let pool = self.pool.as_deref();
        each_lane(pool, &mut self.lanes[..shares], compute);
        let place = piece.start(&self.ground.plan);
        let literals = &mut self.ground.literals[piece.step.stratum];
        let table = literals.of_sign(piece.negated);
        for (lane, work) in self.lanes[..shares].iter().enumerate() {
            let mut values = work.tuples.as_slice();
            for tuples in share(self.asked.runs(piece.at), lane, shares) {
                // Fewer if the engine was told to stop.
                let (own, rest) = values.split_at(tuples.len().min(values.len()));
                let from = place + (tuples.start - piece.step.start) as usize;
                table[from..from + own.len()].copy_from_slice(own);
                values = rest;
            }
        }
    }

    /// Passes the derivatives by the strata's values on to the literals under them.
    pub(super) fn backward_strata(&mut self) {
        if self.ground.plan.strata.steps.is_empty() {
            return;
        }
        self.each_piece(true, |this, piece| {
            if !piece.step.constant && !this.stop.is_set() {
                this.backward_piece(piece);
            }
        });
    }

    fn backward_piece(&mut self, piece: Piece) {
        let start = piece.start(&self.ground.plan);
        let range = start..start + piece.len();
        let (stratum, sign) = (piece.step.stratum, usize::from(piece.negated));
        let Some(first) = self.lanes.first_mut() else {
            return;
        };
        // All users have added their derivatives, each in its lane.
        let mut sum = std::mem::take(&mut first.tuples);
        sum.clear();
        sum.resize(piece.len(), T::ZERO);
        for work in &mut self.lanes {
            work.lane.by_literal[stratum][sign].take(range.clone(), &mut sum);
        }
        let contraction = self.ground.plan.strata.strata[stratum].contraction;
        if !sum.iter().any(|by| *by != T::ZERO) {
            // Nothing uses it.
        } else if let Some(contraction) = contraction {
            self.backward_contraction(piece, contraction, &sum);
        } else {
            let shares = self.lanes_for(piece);
            let at = Layer::inside(&self.ground.plan, &piece.step, piece.group);
            let settings = &self.settings[self.leaders[piece.group]];
            let shared = self.ground.shared(&self.settings, &self.stop);
            let by = &sum;
            let runs = self.asked.runs(piece.at);
            let compute = |lane: usize, work: &mut LaneWork<T>| {
                with_run(
                    &shared,
                    piece,
                    settings,
                    at,
                    &mut work.lane,
                    |run, level, body| {
                        run.lane.again = true;
                        for tuples in share(runs, lane, shares) {
                            let mut from = (tuples.start - piece.step.start) as usize;
                            run.each_block(level, tuples, |run| {
                                run.forward(body);
                                let len = run.len(body);
                                let mut own = run.take_derivatives(body);
                                own[..len].copy_from_slice(&by[from..from + len]);
                                run.put_derivatives(body, own);
                                from += len;
                                run.backward(body);
                            });
                        }
                    },
                );
            };
            let pool = self.pool.as_deref();
            each_lane(pool, &mut self.lanes[..shares], compute);
        }
        self.lanes[0].tuples = sum;
    }
}

/// The tuples of a piece's runs that a lane computes.
fn share(runs: &[Range<u32>], lane: usize, shares: usize) -> impl Iterator<Item = Range<u32>> {
    let all: usize = runs.iter().map(ExactSizeIterator::len).sum();
    let each = all.div_ceil(shares.max(1)) as u32;
    let (from, to) = (each * lane as u32, each * (lane as u32 + 1));
    let mut before = 0;
    runs.iter().filter_map(move |run| {
        let len = run.end - run.start;
        let own = [from, to].map(|at| run.start + at.saturating_sub(before).min(len));
        before += len;
        (own[0] < own[1]).then_some(own[0]..own[1])
    })
}

impl<T: Real> Run<'_, '_, T> {
    /// Fills the blocks of an outermost level with some of its bindings, one after another.
    pub fn each_block(&mut self, level: usize, of: Range<u32>, mut visit: impl FnMut(&mut Self)) {
        let mut cursor = self.root_cursor(level, of.start.into(), of.end.into());
        while self.fill(level, &mut cursor) {
            visit(self);
        }
        self.lane.blocks.put_cursor(level, cursor);
    }
}

/// Runs the program of a piece.
fn with_run<T: Real>(
    shared: &Shared<T>,
    piece: Piece,
    settings: &Settings<f64>,
    layer: Layer,
    lane: &mut Lane<T>,
    run: impl FnOnce(&mut Run<T>, usize, usize),
) {
    let (stratum, sign) = (piece.step.stratum, usize::from(piece.negated));
    let Some(exec) = &shared.plan.strata.strata[stratum].programs[sign] else {
        return;
    };
    let NodeKind::Quantifier { level, body, .. } = exec.nodes[exec.root].kind else {
        return;
    };
    let mut own = Run {
        shared,
        program: shared.plan.programs.len() + 2 * stratum + sign,
        exec,
        root: exec.root,
        lane,
        settings: settings.cast(),
        aggregators: settings,
        layer,
    };
    own.make_room();
    run(&mut own, level, body);
}
