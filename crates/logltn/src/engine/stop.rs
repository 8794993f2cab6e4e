//! Ending an evaluation before its end, and saying how long one takes without doing all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::lane::Lane;
use super::run::{Partial, Run};
use super::share::Part;
use super::{Engine, Precision, Sums};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::parameters::Parameters;
use crate::plan::physical::Physical;

/// The flag that lanes check between blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// The same flag, which also counts as set after a deadline.
    pub fn until(&self, deadline: Instant) -> Stop {
        Stop {
            deadline: Some(deadline),
            ..self.clone()
        }
    }
}

/// The work that is measured at a time, in node values: long enough for the clock, short enough to stop in
/// time.
const PIECE: u64 = 1 << 17;

impl<T: Precision> Engine<T> {
    /// Evaluations end soon after this flag is set, with an error of the code [`Code::Interrupted`]: lanes check it
    /// between blocks.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::AtomicBool};
    /// use logltn::{Code, Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "sort S = 0..9  predicate P(S)  axiom a: forall x: S. P(x)"))?;
    /// let plan = Plan::new(&Data::new(&theory), &[Output::sigmoid()], &Semantics::default())?;
    /// let mut engine = Engine::<f32>::new(plan);
    /// engine.set_stop(Arc::new(AtomicBool::new(true)));
    /// let stopped = engine.evaluate(&Parameters::default()).unwrap_err();
    /// assert_eq!(stopped.iter().next().map(|e| e.code()), Some(Code::Interrupted));
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn set_stop(&mut self, flag: Arc<AtomicBool>) {
        self.stop.flag = flag;
    }

    /// Whether the flag of [`Engine::set_stop`] is set.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    pub(super) fn unless_stopped(&self) -> Result<(), Diagnostics> {
        match self.stop.is_set() {
            true => Err(Diagnostic::error(Code::Interrupted, "it was asked to stop").into()),
            false => Ok(()),
        }
    }

    /// The amount of work in the current batch: numbers to read and values of formulas to compute. Each takes a few
    /// nanoseconds.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The work of the definitions that the current batch uses, in the units of [`Engine::work`]: the tuples of every
    /// depth, times the work of one.
    pub fn work_of_definitions(&mut self) -> u64 {
        self.work_of_strata()
    }

    /// About how many groundings the current batch has: those of the plan, times the share of the outermost
    /// quantifiers' bindings that is in the batch.
    pub fn groundings(&self) -> u128 {
        let mut bindings = vec![(0_u128, 0_u128); self.ground.plan.axioms.len()];
        for part in &self.parts {
            let (now, all) = &mut bindings[part.program];
            *now += u128::from(self.size_and_cost(part).0);
            *all += u128::from(self.all_bindings(part));
        }
        let mut total: u128 = 0;
        for (axiom, (now, all)) in self.ground.plan.axioms.iter().zip(bindings) {
            // In this order, since the number of groundings may be as large as the type allows.
            let share = (axiom.groundings / all.max(1)).saturating_mul(now);
            let rest = (axiom.groundings % all.max(1)).saturating_mul(now) / all.max(1);
            total = total.saturating_add(share.saturating_add(rest));
        }
        total
    }

    /// About how long [`Engine::evaluate`], or with `gradients` [`Engine::evaluate_with_gradients`], takes with the numbers,
    /// the batch and the threads as they are, in seconds: blocks are measured until the budget is spent, those of the largest axioms first, and the rest
    /// is extrapolated. Numbers that are not known yet may be anything finite, such as zeros.
    pub fn estimate_seconds(
        &mut self,
        parameters: &Parameters,
        budget: Duration,
        gradients: bool,
    ) -> f64 {
        T::estimate_seconds(self, parameters, budget, gradients)
    }

    pub(super) fn estimate_seconds_here(
        &mut self,
        parameters: &Parameters,
        budget: Duration,
        back: bool,
    ) -> f64 {
        // Circuits have been compiled, so their cost is known.
        if let Some(events) = &self.events {
            return events.seconds() * if back { 3.0 } else { 1.0 };
        }
        let begun = Instant::now();
        if self.take_parameters(parameters) {
            T::assign_lanes(self);
        }
        if self.forward_literals(parameters, &mut []).is_err() {
            return 0.0; // it will say so when it is evaluated
        }
        self.clear_derivatives();
        let around = begun.elapsed().as_secs_f64();
        let strata = self.estimate_strata(budget / 2, back);
        let mut order: Vec<(usize, u64, u64)> = (self.parts.iter().enumerate())
            .map(|(at, part)| {
                let (size, cost) = self.size_and_cost(part);
                (at, size, cost)
            })
            .collect();
        order.sort_by_key(|&(at, size, cost)| (u128::MAX - work(size, cost), at));
        let end = begun + Duration::from_secs_f64(around) + budget;
        let (mut seconds, mut measured) = (0.0, 0.0);
        for (at, size, cost) in order {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() && measured > 0.0 {
                seconds += seconds / measured * work(size, cost) as f64;
            } else {
                // The largest may take half of what is left.
                seconds += self.measure_part(at, (size, cost), left / 2, back);
            }
            measured += work(size, cost) as f64;
        }
        let threads = rayon::current_num_threads().min(self.lanes.len()).max(1);
        2.0 * around + strata + seconds / threads as f64
    }

    /// How long a part takes, in seconds.
    fn measure_part(
        &mut self,
        at: usize,
        (size, cost): (u64, u64),
        budget: Duration,
        back: bool,
    ) -> f64 {
        let deadline = Instant::now() + budget;
        let mut piece = (PIECE / cost.max(1)).clamp(1, size.max(1));
        let (mut done, mut spent, mut sums) = (0_u64, 0.0, Sums::default());
        while done < size.max(1) {
            let end = (done + piece).min(size);
            let begun = Instant::now();
            let reached = self.run_piece(at, (done, end), deadline, back, &mut sums);
            spent += begun.elapsed().as_secs_f64();
            // Outside all quantifiers there are no blocks to count, and nothing stops.
            let partly = reached.filter(|&values| values > 0 || size > 1);
            if partly.is_some_and(|values| values < work(end - done, cost) / 2) {
                // Not even this was finished in time. The backward pass visits it again, which is as
                // much work.
                let values = reached.unwrap_or(0) + u128::from(done) * u128::from(cost);
                let times = if back { 3.0 } else { 1.0 };
                return times * spent * (work(size, cost) as f64 / values.max(1) as f64);
            }
            done = end.max(done + 1);
            if Instant::now() >= deadline {
                break;
            }
            piece = piece.saturating_mul(2);
        }
        spent * (size.max(1) as f64 / done as f64).max(1.0)
    }

    /// Runs some bindings of a part, forward and optionally backward. If it ran into the deadline, returns how many
    /// node values it has computed.
    fn run_piece(
        &mut self,
        at: usize,
        (start, end): (u64, u64),
        deadline: Instant,
        back: bool,
        sums: &mut Sums<T>,
    ) -> Option<u128> {
        let part: Part = self.parts[at];
        let stop = self.stop.until(deadline);
        let shared = self.ground.shared(&self.settings, &stop);
        let work = self.lanes.first_mut()?;
        work.lane.filled.clear();
        let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
        if let Some(fused) = part.fused {
            run.clause(fused, &self.ground.tables, start, end, sums);
        } else {
            let along = back.then(|| run.derivative_along(1.0)).flatten();
            let found: Partial = run.forward_root(start, end, along);
            if back && along.is_none() && !stop.is_set() {
                run.backward_root(start, end, found, 1.0);
                return None;
            }
        }
        let exec = &self.ground.plan.programs[part.program];
        stop.is_set().then(|| values(exec, &work.lane))
    }
}

fn work(size: u64, cost: u64) -> u128 {
    u128::from(size.max(1)) * u128::from(cost.max(1))
}

/// How many node values a lane's blocks have had, counted as in the plan.
fn values<T>(exec: &Physical, lane: &Lane<T>) -> u128 {
    let levels = exec.levels.iter().zip(&lane.filled);
    levels
        .map(|(level, &bindings)| {
            u128::from(bindings) * (level.buffers + level.adds.len()).max(1) as u128
        })
        .sum()
}
