//! A step: from the numbers behind predicates to the logs of weights, up through all circuits, and back.

use rayon::prelude::*;

use super::laws::Component;
use super::{Events, Evidence};
use crate::circuit::{Circuit, Lanes, Proposition, Weights};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operators::FLOOR;
use crate::output::OutputKind;
use crate::plan::Plan;
use crate::plan::program::MOST_CODES;

/// How many instances run through a circuit side by side, and how many nodes they may have together.
const LANES: usize = 16;
const LARGE: usize = 4_000_000;

/// Copies numbers of a request, from a place on.
pub(crate) type Numbers<'n> = &'n dyn Fn(usize, usize, usize, &mut [f64]);

/// A step's result for an axiom.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub truth: f64,
    pub impossible: u64,
}

/// Instances in the order of their circuits, and buffers. The laws that are conditioned on come after the instances of
/// events, as instances without evidence.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Places in the list of instances.
    order: Vec<u32>,
    chunks: Vec<Chunk>,
    pub logs: Vec<f64>,
    /// By instance; NaN for laws without a circuit.
    values: Vec<f64>,
    coefficients: Vec<f64>,
    /// By slot: derivatives by the logs of weights, and by weights that are 0.
    by_log: Vec<f64>,
    by_zero: Vec<f64>,
    /// Whether some weight is 0.
    zeros: bool,
}

/// Some instances of one circuit.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    from: usize,
    to: usize,
}

/// Buffers of one thread.
#[derive(Default)]
struct Room {
    lanes: Lanes,
    logs: Vec<f64>,
    offsets: Vec<f64>,
    values: Vec<f64>,
    flows: Vec<f64>,
    ratios: Vec<f64>,
}

/// A circuit with some instances: variables by lane, and the evidence about them.
#[derive(Clone, Copy)]
struct Seen<'a> {
    circuit: &'a Circuit,
    names: &'a [&'a [u32]],
    evidence: &'a [&'a [Evidence]],
}

/// The same, with its own lists.
struct Lines<'a> {
    circuit: &'a Circuit,
    names: Vec<&'a [u32]>,
    evidence: Vec<&'a [Evidence]>,
}

impl Lines<'_> {
    fn seen(&self) -> Seen<'_> {
        Seen {
            circuit: self.circuit,
            names: &self.names,
            evidence: &self.evidence,
        }
    }
}

impl Room {
    /// Fills in the logs of all lanes, and evaluates them.
    fn evaluate(&mut self, events: &Events, seen: Seen) {
        let lanes = seen.names.len();
        let slots = seen.circuit.slot_count();
        self.logs.resize(slots * lanes, 0.0);
        self.offsets.clear();
        self.offsets.resize(lanes, 0.0);
        self.values.resize(lanes, 0.0);
        for lane in 0..lanes {
            for (local, var) in seen.names[lane].iter().enumerate() {
                let own = events.logs_of(*var);
                let first = seen.circuit.slots[local] as usize;
                for (state, log) in own.iter().enumerate() {
                    self.logs[(first + state) * lanes + lane] = *log;
                }
            }
            for evidence in seen.evidence[lane] {
                let mass = events.mass(evidence);
                self.offsets[lane] += mass;
                let (Some(local), true) = (evidence.local, mass > f64::NEG_INFINITY) else {
                    continue;
                };
                let first = seen.circuit.slots[local as usize] as usize;
                for (state, log) in events.logs_of(evidence.var).iter().enumerate() {
                    let allowed = events.allowed(evidence);
                    let is_allowed = allowed.binary_search(&(state as u32)).is_ok();
                    self.logs[(first + state) * lanes + lane] = match is_allowed {
                        true => log - mass,
                        false => f64::NEG_INFINITY,
                    };
                }
            }
        }
        let weights = Weights {
            logs: &self.logs,
            lanes,
        };
        self.lanes.evaluate(seen.circuit, weights, &mut self.values);
        for (value, offset) in self.values.iter_mut().zip(&self.offsets) {
            *value += offset;
        }
    }

    /// After [`Room::evaluate`]: adds `coefficient` times the derivative of each lane's value to the lists.
    fn derive(
        &mut self,
        events: &Events,
        seen: Seen,
        coefficients: &[f64],
        found: &mut Vec<(u32, f64, bool)>,
    ) {
        let lanes = seen.names.len();
        let slots = seen.circuit.slot_count();
        self.flows.resize(slots * lanes, 0.0);
        let weights = Weights {
            logs: &self.logs,
            lanes,
        };
        (self.lanes).flows(seen.circuit, weights, &mut self.flows);
        if events.work.zeros {
            self.ratios.resize(slots * lanes, 0.0);
            (self.lanes).ratios(seen.circuit, weights, &mut self.ratios);
        }
        for (lane, &coefficient) in coefficients.iter().enumerate() {
            if coefficient == 0.0 || self.values[lane] == f64::NEG_INFINITY {
                continue;
            }
            let at = |local: usize, state: usize| {
                (seen.circuit.slots[local] as usize + state) * lanes + lane
            };
            let known = seen.evidence[lane];
            let mut is_known = vec![false; seen.names[lane].len()];
            let locals = known.iter().filter_map(|e| e.local);
            locals.for_each(|local| is_known[local as usize] = true);
            for (local, var) in seen.names[lane].iter().enumerate() {
                if is_known[local] {
                    continue;
                }
                let first = events.slots[*var as usize];
                for (state, log) in events.logs_of(*var).iter().enumerate() {
                    let slot = first + state as u32;
                    let flow = self.flows[at(local, state)];
                    if flow != 0.0 {
                        found.push((slot, coefficient * flow, false));
                    }
                    if *log == f64::NEG_INFINITY {
                        let ratio = self.ratios[at(local, state)];
                        found.push((slot, coefficient * ratio, true));
                    }
                }
            }
            for evidence in known {
                let first = events.slots[evidence.var as usize];
                let logs = events.logs_of(evidence.var);
                let mass = events.mass(evidence);
                // The mass of the paths on which the variable is free also belongs to the allowed
                // states.
                let flow_of = |state: usize| match evidence.local {
                    Some(local) => self.flows[at(local as usize, state)],
                    None => 0.0,
                };
                let states = events.allowed(evidence).iter().map(|s| *s as usize);
                let free = 1.0 - states.clone().map(flow_of).sum::<f64>();
                for state in states {
                    let slot = first + state as u32;
                    if logs[state] == f64::NEG_INFINITY {
                        let ratio = evidence
                            .local
                            .map_or(0.0, |l| self.ratios[at(l as usize, state)]);
                        let ratio = (ratio + free) * (-mass).exp();
                        found.push((slot, coefficient * ratio, true));
                        continue;
                    }
                    let flow = flow_of(state) + free * (logs[state] - mass).exp();
                    found.push((slot, coefficient * flow, false));
                }
            }
        }
    }
}

impl Events {
    /// Groups instances of the same circuit.
    pub(super) fn arrange(&mut self) {
        let count = self.instances.len() + self.given.len();
        let has_circuit = |place: &u32| match (*place as usize).checked_sub(self.instances.len()) {
            Some(law) => self.law(law).cut.is_none(),
            None => true,
        };
        let mut order: Vec<u32> = (0..count as u32).filter(has_circuit).collect();
        order.sort_by_key(|place| self.circuit_at(*place));
        let mut chunks = Vec::new();
        let mut from = 0;
        for same in order.chunk_by(|a, b| self.circuit_at(*a) == self.circuit_at(*b)) {
            // Of large circuits few at a time, as each takes memory.
            let nodes = self.shapes.circuits[self.circuit_at(same[0]) as usize]
                .nodes
                .len();
            for some in same.chunks((LARGE / nodes.max(1)).clamp(1, LANES)) {
                let to = from + some.len();
                chunks.push(Chunk { from, to });
                from = to;
            }
        }
        (self.work.order, self.work.chunks) = (order, chunks);
    }

    /// The laws at a place among those that are conditioned on.
    fn law(&self, given: usize) -> &Component {
        &self.laws.components[self.given[given] as usize]
    }

    fn circuit_at(&self, place: u32) -> u32 {
        match self.instances.get(place as usize) {
            Some(instance) => instance.circuit,
            None => self.law(place as usize - self.instances.len()).circuit,
        }
    }

    /// The states that evidence allows its variable.
    pub(super) fn allowed(&self, evidence: &Evidence) -> &[u32] {
        &self.allowed[evidence.from as usize..evidence.to as usize]
    }

    /// The log of the probability of the laws at a place among those that are conditioned on.
    pub(super) fn law_value(&self, given: usize) -> f64 {
        self.work.values[self.instances.len() + given]
    }

    /// The logs of a variable's states.
    pub(super) fn logs_of(&self, var: u32) -> &[f64] {
        let first = self.slots[var as usize] as usize;
        let count = self.variables.domains[var as usize] as usize;
        &self.work.logs[first..first + count]
    }

    /// The log of the probability of the evidence about a variable.
    pub(super) fn mass(&self, evidence: &Evidence) -> f64 {
        let logs = self.logs_of(evidence.var);
        match self.allowed(evidence) {
            [only] => logs[*only as usize],
            several => log_sum_exp(several.iter().map(|s| logs[*s as usize])),
        }
    }

    /// The logs of all weights, from the numbers of each request.
    pub fn weigh(&mut self, plan: &Plan, numbers: Numbers) {
        let mut logs = std::mem::take(&mut self.work.logs);
        logs.resize(self.slot_count, 0.0);
        let mut zeros = false;
        for used in &self.used {
            let request = used.request as usize;
            let first = self.slots[used.var as usize] as usize;
            let domain = self.variables.domains[used.var as usize] as usize;
            let own = &mut logs[first..first + domain];
            let kind = plan.outputs[plan.requests[request].predicate.index()].kind;
            if kind == OutputKind::Softmax {
                numbers(request, used.at, domain, own);
                let total = log_sum_exp(own.iter().copied());
                own.iter_mut().for_each(|x| *x -= total);
                continue;
            }
            let mut number = [0.0];
            numbers(request, used.at, 1, &mut number);
            let x = number[0];
            (own[0], own[1]) = match kind {
                OutputKind::Softmax => continue,
                OutputKind::Sigmoid => {
                    let more = (-x.abs()).exp().ln_1p();
                    (-x.max(0.0) - more, x.min(0.0) - more)
                }
                OutputKind::Truth => ((-x.min(1.0)).ln_1p(), x.max(0.0).ln()),
                OutputKind::LogTruth => (log_not(x.min(0.0)), x.min(0.0)),
            };
            zeros |= own.contains(&f64::NEG_INFINITY);
        }
        self.work.logs = logs;
        self.work.zeros = zeros;
    }

    /// The truths of all axioms, after [`Events::weigh`].
    pub fn evaluate(&mut self, plan: &Plan, found: &mut [Found]) -> Result<(), Diagnostics> {
        self.evaluate_given(plan)?;
        for (found, observations) in found.iter_mut().zip(&self.axioms) {
            *found = Found::default();
            for observation in observations {
                match self.value(observation) {
                    Some(value) => found.truth += observation.weight * value,
                    None => {
                        found.truth += observation.weight * FLOOR;
                        found.impossible += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// The probabilities of all instances, and of the laws that are conditioned on.
    pub(super) fn evaluate_given(&mut self, plan: &Plan) -> Result<(), Diagnostics> {
        self.has_circuits()?;
        self.evaluate_known(plan)
    }

    /// Whether all laws that are conditioned on have circuits.
    pub fn has_circuits(&self) -> Result<(), Diagnostics> {
        let mut given = self.given.iter();
        match given.find_map(|c| self.laws.components[*c as usize].cut.as_ref()) {
            Some(cut) => Err(cut.too_hard.clone().into()),
            None => Ok(()),
        }
    }

    /// The same, except for laws that are too hard to sum up.
    pub(super) fn evaluate_known(&mut self, plan: &Plan) -> Result<(), Diagnostics> {
        let by_chunk: Vec<Vec<f64>> = (self.work.chunks.par_iter())
            .map_init(Room::default, |room, chunk| {
                room.evaluate(self, self.lanes_of(chunk).seen());
                room.values.clone()
            })
            .collect();
        let mut values = std::mem::take(&mut self.work.values);
        values.clear();
        values.resize(self.instances.len() + self.given.len(), f64::NAN);
        let places = self.work.order.iter();
        for (place, value) in places.zip(by_chunk.into_iter().flatten()) {
            values[*place as usize] = value;
        }
        let laws = &values[self.instances.len()..];
        let broken = laws.iter().position(|v| *v == f64::NEG_INFINITY);
        self.work.values = values;
        if let Some(at) = broken {
            return Err(self.broken(plan, at).into());
        }
        self.tested = true;
        Ok(())
    }

    /// Laws for which degrees of exactly 0 or 1 leave no world, by their place among those that are
    /// conditioned on.
    pub(super) fn broken(&self, plan: &Plan, at: usize) -> Diagnostic {
        let component = self.given[at] as usize;
        let zero = |var: u32, state: usize| Proposition::Is {
            var,
            state: state as u32,
            positive: false,
        };
        let names = &self.laws.components[component].names;
        let known: Vec<Proposition> = (names.iter())
            .flat_map(|&var| {
                let states = self.logs_of(var).iter().enumerate();
                let zeros = states.filter(|(_, log)| **log == f64::NEG_INFINITY);
                zeros.map(move |(state, _)| zero(var, state))
            })
            .collect();
        let budget = self.limits.budget(plan);
        (self.laws).contradiction(plan, component, &self.variables, &known, budget)
    }

    fn lanes_of(&self, chunk: &Chunk) -> Lines<'_> {
        let places = &self.work.order[chunk.from..chunk.to];
        let circuit = self.circuit_at(places[0]);
        let each = places.iter().map(|place| {
            let place = *place as usize;
            match self.instances.get(place) {
                Some(instance) => (&*instance.names, instance.evidence.as_slice()),
                None => (&*self.law(place - self.instances.len()).names, &[][..]),
            }
        });
        let (names, evidence) = each.unzip();
        Lines {
            circuit: &self.shapes.circuits[circuit as usize],
            names,
            evidence,
        }
    }

    /// The log of the probability of an observation given the laws; `None` if it is impossible.
    pub(super) fn value(&self, observation: &super::Observation) -> Option<f64> {
        if observation.impossible {
            return None;
        }
        let instances = observation.instances.start as usize..observation.instances.end as usize;
        let sum: f64 = self.work.values[instances].iter().sum();
        let given = observation.given.iter();
        let laws: f64 = given.map(|g| self.law_value(*g as usize)).sum();
        // A probability above 1 comes from rounding.
        (sum > f64::NEG_INFINITY).then(|| (sum - laws).min(0.0))
    }

    /// The values of an axiom's observations after [`Events::evaluate`], the floor if impossible: observations that the
    /// ranking does not tell apart become one, with their mean.
    pub fn ranked(&self, axiom: usize) -> Vec<([u64; MOST_CODES], f64)> {
        let mut found: Vec<([u64; MOST_CODES], f64, f64)> = Vec::new();
        for observation in &self.axioms[axiom] {
            let value = self.value(observation).unwrap_or(FLOOR);
            let weight = observation.weight;
            match found.last_mut() {
                Some((codes, sum, total)) if *codes == observation.codes => {
                    *sum += weight * value;
                    *total += weight;
                }
                _ => found.push((observation.codes, weight * value, weight)),
            }
        }
        let mean = |(codes, sum, total): ([u64; MOST_CODES], f64, f64)| (codes, sum / total);
        found.into_iter().map(mean).collect()
    }

    /// The derivatives of something by the numbers, given those by the axioms' truths; after [`Events::evaluate`].
    /// `add` is called with request, place and derivative.
    pub fn derive(
        &mut self,
        plan: &Plan,
        by_axiom: &[f64],
        numbers: Numbers,
        add: &mut dyn FnMut(usize, usize, f64),
    ) {
        let mut coefficients = std::mem::take(&mut self.work.coefficients);
        coefficients.clear();
        coefficients.resize(self.instances.len() + self.given.len(), 0.0);
        for (by, observations) in by_axiom.iter().zip(&self.axioms) {
            for observation in observations {
                if self.value(observation).is_none() {
                    continue;
                }
                let coefficient = by * observation.weight;
                for instance in observation.instances.clone() {
                    coefficients[instance as usize] = coefficient;
                }
                for law in &observation.given {
                    coefficients[self.instances.len() + *law as usize] -= coefficient;
                }
            }
        }
        self.clear_derivatives();
        let by_chunk: Vec<Vec<(u32, f64, bool)>> = (self.work.chunks.par_iter())
            .map_init(Room::default, |room, chunk| {
                let places = self.work.order[chunk.from..chunk.to].iter();
                let own: Vec<f64> = places.map(|p| coefficients[*p as usize]).collect();
                let mut found = Vec::new();
                if own.iter().any(|c| *c != 0.0) {
                    let lines = self.lanes_of(chunk);
                    room.evaluate(self, lines.seen());
                    room.derive(self, lines.seen(), &own, &mut found);
                }
                found
            })
            .collect();
        for (slot, value, zero) in by_chunk.into_iter().flatten() {
            let list = match zero {
                true => &mut self.work.by_zero,
                false => &mut self.work.by_log,
            };
            list[slot as usize] += value;
        }
        self.hand_on(plan, numbers, add);
        self.work.coefficients = coefficients;
    }

    pub(super) fn clear_derivatives(&mut self) {
        for list in [&mut self.work.by_log, &mut self.work.by_zero] {
            list.clear();
            list.resize(self.slot_count, 0.0);
        }
    }

    /// Adds to the derivatives by the logs of a variable's weights.
    pub(super) fn add_by_log(&mut self, var: u32, state: usize, value: f64) {
        self.work.by_log[self.slots[var as usize] as usize + state] += value;
    }

    /// For a variable with a state of weight 0: the derivative as that state takes weight from the other.
    pub(super) fn set_by_zero(&mut self, var: u32, state: usize, value: f64) {
        let first = self.slots[var as usize] as usize;
        let count = self.variables.domains[var as usize] as usize;
        self.work.by_log[first..first + count].fill(0.0);
        self.work.by_zero[first + state] = value;
    }

    /// From the derivatives by the weights to those by the numbers behind them.
    pub(super) fn hand_on(
        &self,
        plan: &Plan,
        numbers: Numbers,
        add: &mut dyn FnMut(usize, usize, f64),
    ) {
        for used in &self.used {
            let first = self.slots[used.var as usize] as usize;
            let logs = self.logs_of(used.var);
            let by = &self.work.by_log[first..first + logs.len()];
            let zero = &self.work.by_zero[first..first + logs.len()];
            let request = used.request as usize;
            let total: f64 = by.iter().sum();
            match plan.outputs[plan.requests[request].predicate.index()].kind {
                OutputKind::Softmax => {
                    for (state, by) in by.iter().enumerate() {
                        let value = by - logs[state].exp() * total;
                        add(request, used.at + state, value);
                    }
                }
                // This avoids the difference of nearly equal numbers in the form that subtracts p₁ (a₁ +
                // a₀).
                OutputKind::Sigmoid => {
                    let value = by[1] * logs[0].exp() - by[0] * logs[1].exp();
                    add(request, used.at, value);
                }
                kind => {
                    let mut number = [0.0];
                    numbers(request, used.at, 1, &mut number);
                    let slope = |state: usize| match logs[state] {
                        f64::NEG_INFINITY => zero[state],
                        // 0 times infinity would be NaN.
                        _ if by[state] == 0.0 => 0.0,
                        log => by[state] * (-log).exp(),
                    };
                    let value = match kind {
                        OutputKind::Truth => slope(1) - slope(0),
                        _ => by[1] - logs[1].exp() * slope(0),
                    };
                    add(request, used.at, value);
                }
            }
        }
    }
}

pub(super) fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let greatest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return greatest;
    }
    greatest + values.map(|v| (v - greatest).exp()).sum::<f64>().ln()
}

/// log(1 − eˣ).
fn log_not(x: f64) -> f64 {
    match x > -std::f64::consts::LN_2 {
        true => (-x.exp_m1()).ln(),
        false => (-x.exp()).ln_1p(),
    }
}
