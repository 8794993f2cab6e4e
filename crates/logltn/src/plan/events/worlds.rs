//! Questions about worlds that keep the laws: how probable each atom is, which world is the most probable, worlds at random,
//! and how uncertain all of it is.

use rayon::prelude::*;

use super::laws::Component;
use super::run::Numbers;
use super::{Events, Used};
use crate::circuit::{Circuit, Lanes, Weights, pick, unit_of};
use crate::diagnostic::Diagnostics;
use crate::output::OutputKind;
use crate::plan::Plan;

/// The most probable world that keeps all laws.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// By request: for a softmax the class of each row, for other predicates 0 or 1 for each
    /// number.
    pub states: Vec<Vec<u32>>,
    /// The log probability of these atoms given the laws; NaN where the probability of the laws is too
    /// hard to compute.
    pub log_probability: f64,
    /// By request, as `states`: the group of laws that connects the atom with others, if a law mentions
    /// it.
    pub groups: Vec<Vec<Option<u32>>>,
    /// By group: the log of the probability of its atoms' states, given the laws.
    pub by_group: Vec<f64>,
}

impl Events {
    fn component(&self, given: u32) -> &Component {
        &self.laws.components[given as usize]
    }

    /// The logs of the weights of a component's variables, in the order of its circuit.
    fn component_logs(&self, component: &Component) -> Vec<f64> {
        let logs = component.names.iter().flat_map(|v| self.logs_of(*v));
        logs.copied().collect()
    }

    /// By variable in use and state: its probability given the laws. After [`Events::weigh`].
    pub fn marginals(&mut self, plan: &Plan) -> Result<Vec<Vec<f64>>, Diagnostics> {
        self.evaluate_given(plan)?;
        let own = |slot: usize| self.work.logs[slot].exp();
        let mut marginals: Vec<f64> = (0..self.slot_count).map(own).collect();
        let by_component: Vec<Vec<f64>> = (self.given.par_iter())
            .map_init(Lanes::default, |lanes, given| {
                let component = self.component(*given);
                let circuit = &self.shapes.circuits[component.circuit as usize];
                let logs = self.component_logs(component);
                let weights = Weights {
                    logs: &logs,
                    lanes: 1,
                };
                let mut flows = vec![0.0; circuit.slot_count()];
                lanes.evaluate(circuit, weights, &mut [0.0]);
                lanes.flows(circuit, weights, &mut flows);
                for window in circuit.slots.windows(2) {
                    let range = window[0] as usize..window[1] as usize;
                    let free = 1.0 - flows[range.clone()].iter().sum::<f64>();
                    for slot in range {
                        flows[slot] = (flows[slot] + free * logs[slot].exp()).clamp(0.0, 1.0);
                    }
                }
                flows
            })
            .collect();
        for (given, found) in self.given.iter().zip(by_component) {
            let mut found = found.into_iter();
            for var in self.component(*given).names.iter() {
                let first = self.slots[*var as usize] as usize;
                let count = self.variables.domains[*var as usize] as usize;
                for (slot, value) in (first..first + count).zip(&mut found) {
                    marginals[slot] = value;
                }
            }
        }
        Ok(self.by_request(plan, &marginals))
    }

    /// By request, one for each of its numbers: the probability of each class for a softmax, of being true
    /// for other predicates.
    fn by_request(&self, plan: &Plan, by_slot: &[f64]) -> Vec<Vec<f64>> {
        let mut out = self.empty(plan, 0.0);
        for used in &self.used {
            let first = self.slots[used.var as usize] as usize;
            let out = &mut out[used.request as usize];
            match self.kind(plan, used.request) {
                OutputKind::Softmax => {
                    let count = self.variables.domains[used.var as usize] as usize;
                    out[used.at..used.at + count].copy_from_slice(&by_slot[first..first + count]);
                }
                _ => out[used.at] = by_slot[first + 1],
            }
        }
        out
    }

    fn kind(&self, plan: &Plan, request: u32) -> OutputKind {
        plan.outputs[plan.requests[request as usize].predicate.index()].kind
    }

    fn empty<V: Clone>(&self, plan: &Plan, value: V) -> Vec<Vec<V>> {
        let sizes = self.rows.iter().zip(&plan.requests);
        sizes
            .map(|(rows, r)| vec![value.clone(); rows.len() * r.width])
            .collect()
    }

    /// By request and number: whether it belongs to a variable in use.
    pub fn in_use(&self, plan: &Plan) -> Vec<Vec<bool>> {
        let mut out = self.empty(plan, false);
        for used in &self.used {
            let count = match self.kind(plan, used.request) {
                OutputKind::Softmax => self.variables.domains[used.var as usize] as usize,
                _ => 1,
            };
            out[used.request as usize][used.at..used.at + count].fill(true);
        }
        out
    }

    /// The derivative of Σ `along` · marginal by the numbers, after [`Events::weigh`]; `along` is as
    /// [`Events::marginals`] gives them. With `entropy`, the derivative of the entropy instead.
    pub fn derive_marginals(
        &mut self,
        plan: &Plan,
        along: Along,
        numbers: Numbers,
        add: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<(), Diagnostics> {
        self.evaluate_given(plan)?;
        self.clear_derivatives();
        let mut direction = vec![0.0; self.slot_count];
        for used in &self.used {
            let first = self.slots[used.var as usize] as usize;
            let count = self.variables.domains[used.var as usize] as usize;
            match along {
                // H = log Z − Σ m log w. The slope of log Z by log w is m, and so is that of the sum by its logs: they
                // cancel, and what is left is the sum's slope by m.
                Along::Entropy => {
                    let own = &mut direction[first..first + count];
                    for (along, log) in own.iter_mut().zip(self.logs_of(used.var)) {
                        *along = if log.is_finite() { -log } else { 0.0 };
                    }
                }
                Along::Given(given) => {
                    let given = &given[used.request as usize];
                    match self.kind(plan, used.request) {
                        OutputKind::Softmax => direction[first..first + count]
                            .copy_from_slice(&given[used.at..used.at + count]),
                        _ => direction[first + 1] = given[used.at],
                    }
                }
            }
        }
        let by_component: Vec<(Vec<f64>, Vec<AtZero>)> = (self.given.par_iter())
            .map_init(Lanes::default, |lanes, given| {
                let component = self.component(*given);
                let circuit = &self.shapes.circuits[component.circuit as usize];
                let logs = self.component_logs(component);
                let mut own: Vec<f64> = Vec::with_capacity(logs.len());
                for var in component.names.iter() {
                    let first = self.slots[*var as usize] as usize;
                    let count = self.variables.domains[*var as usize] as usize;
                    own.extend_from_slice(&direction[first..first + count]);
                }
                let plain = own.clone();
                let weights = Weights {
                    logs: &logs,
                    lanes: 1,
                };
                let mut flows = vec![0.0; logs.len()];
                lanes.evaluate(circuit, weights, &mut [0.0]);
                lanes.flows(circuit, weights, &mut flows);
                let mut free = Vec::with_capacity(component.names.len());
                for window in circuit.slots.windows(2) {
                    let range = window[0] as usize..window[1] as usize;
                    let weight = |slot: usize| logs[slot].exp();
                    let mean: f64 = range.clone().map(|s| plain[s] * weight(s)).sum();
                    free.push(1.0 - range.clone().map(|s| flows[s]).sum::<f64>());
                    range.for_each(|slot| own[slot] -= mean);
                }
                let mut tangents = vec![0.0; logs.len()];
                lanes.flow_tangents(circuit, weights, &own, &mut tangents);
                for (window, free) in circuit.slots.windows(2).zip(free) {
                    for slot in window[0] as usize..window[1] as usize {
                        tangents[slot] += free * plain[slot] * logs[slot].exp();
                    }
                }
                let zeros = match along {
                    Along::Entropy => Vec::new(),
                    Along::Given(_) => slopes_at_zero(lanes, circuit, &logs, &plain),
                };
                (tangents, zeros)
            })
            .collect();
        for (given, (found, zeros)) in self.given.clone().iter().zip(by_component) {
            let names = std::sync::Arc::clone(&self.component(*given).names);
            let mut found = found.into_iter();
            for &var in names.iter() {
                for state in 0..self.variables.domains[var as usize] as usize {
                    let value = found.next().unwrap_or(0.0);
                    self.add_by_log(var, state, value);
                }
            }
            for (local, state, slope) in zeros {
                self.set_by_zero(names[local], state, slope);
            }
        }
        self.hand_on(plan, numbers, add);
        Ok(())
    }

    /// The entropy of the variables in use given the laws, in nats. After [`Events::weigh`].
    pub fn entropy(&mut self, plan: &Plan) -> Result<f64, Diagnostics> {
        let marginals = self.marginals_by_slot(plan)?;
        let mut entropy: f64 = (0..self.given.len()).map(|g| self.law_value(g)).sum();
        for (slot, marginal) in marginals.iter().enumerate() {
            if *marginal > 0.0 {
                entropy -= marginal * self.work.logs[slot];
            }
        }
        Ok(entropy.max(0.0))
    }

    fn marginals_by_slot(&mut self, plan: &Plan) -> Result<Vec<f64>, Diagnostics> {
        let by_request = self.marginals(plan)?;
        let mut by_slot = vec![0.0; self.slot_count];
        for used in &self.used {
            let first = self.slots[used.var as usize] as usize;
            let of = &by_request[used.request as usize];
            match self.kind(plan, used.request) {
                OutputKind::Softmax => {
                    let count = self.variables.domains[used.var as usize] as usize;
                    by_slot[first..first + count].copy_from_slice(&of[used.at..used.at + count]);
                }
                _ => {
                    by_slot[first] = 1.0 - of[used.at];
                    by_slot[first + 1] = of[used.at];
                }
            }
        }
        Ok(by_slot)
    }

    /// The most probable world. After [`Events::weigh`].
    pub fn world(&mut self, plan: &Plan) -> Result<World, Diagnostics> {
        self.evaluate_known(plan)?;
        let worlds: Vec<Option<Vec<u32>>> = (self.given.par_iter())
            .map_init(Lanes::default, |lanes, given| {
                let component = self.component(*given);
                let logs = self.component_logs(component);
                if let Some(cut) = &component.cut {
                    let (logs, _) = logs.as_chunks();
                    let world = cut.implications.most_probable(logs)?;
                    return Some(world.into_iter().map(u32::from).collect());
                }
                let circuit = &self.shapes.circuits[component.circuit as usize];
                lanes.most_probable(circuit, &logs)
            })
            .collect();
        if let Some(at) = worlds.iter().position(Option::is_none) {
            return Err(self.broken(plan, at).into());
        }
        let mut by_var = self.likelier();
        for (given, world) in self.given.iter().zip(worlds.into_iter().flatten()) {
            for (var, state) in self.component(*given).names.iter().zip(world) {
                by_var[*var as usize] = state;
            }
        }
        let log = |var: u32| self.logs_of(var)[by_var[var as usize] as usize];
        let mut by_group = Vec::with_capacity(self.given.len());
        let mut group_of = vec![u32::MAX; by_var.len()];
        for (group, given) in self.given.iter().enumerate() {
            let names = &self.component(*given).names;
            names
                .iter()
                .for_each(|v| group_of[*v as usize] = group as u32);
            let worlds: f64 = names.iter().map(|v| log(*v)).sum();
            // `min` would turn NaN into 0.
            let log = worlds - self.law_value(group);
            by_group.push(if log > 0.0 { 0.0 } else { log });
        }
        let free = self
            .used
            .iter()
            .filter(|u| group_of[u.var as usize] == u32::MAX);
        let free: f64 = free.map(|u| log(u.var)).sum();
        let groups = self.states(plan, &group_of, u32::MAX).into_iter();
        let group = |g: u32| (g != u32::MAX).then_some(g);
        Ok(World {
            states: self.states(plan, &by_var, 0),
            log_probability: free + by_group.iter().sum::<f64>(),
            groups: groups.map(|g| g.into_iter().map(group).collect()).collect(),
            by_group,
        })
    }

    /// By variable: its most probable state, the first if several are equal.
    fn likelier(&self) -> Vec<u32> {
        let mut by_var = vec![0; self.variables.domains.len()];
        for used in &self.used {
            let logs = self.logs_of(used.var);
            let mut best = 0;
            for (state, log) in logs.iter().enumerate() {
                if *log > logs[best] {
                    best = state;
                }
            }
            by_var[used.var as usize] = best as u32;
        }
        by_var
    }

    /// By request and number, or row of a softmax; `none` where it belongs to no variable in use.
    fn states(&self, plan: &Plan, by_var: &[u32], none: u32) -> Vec<Vec<u32>> {
        let sizes = self.rows.iter().enumerate();
        let mut out: Vec<Vec<u32>> = sizes
            .map(|(request, rows)| match self.kind(plan, request as u32) {
                OutputKind::Softmax => vec![none; rows.len()],
                _ => vec![none; rows.len() * plan.requests[request].width],
            })
            .collect();
        for used in &self.used {
            let request = used.request as usize;
            let at = match self.kind(plan, used.request) {
                OutputKind::Softmax => used.at / plan.requests[request].width.max(1),
                _ => used.at,
            };
            out[request][at] = by_var[used.var as usize];
        }
        out
    }

    /// Worlds from the distribution given the laws, as [`World::states`], the same for the same seed. After
    /// [`Events::weigh`].
    pub fn sample(
        &mut self,
        plan: &Plan,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Vec<Vec<u32>>>, Diagnostics> {
        self.evaluate_given(plan)?;
        let by_group: Vec<(Lanes, Vec<f64>)> = (self.given.par_iter())
            .map(|given| {
                let component = self.component(*given);
                let circuit = &self.shapes.circuits[component.circuit as usize];
                let logs = self.component_logs(component);
                let mut lanes = Lanes::default();
                let weights = Weights {
                    logs: &logs,
                    lanes: 1,
                };
                lanes.evaluate(circuit, weights, &mut [0.0]);
                (lanes, logs)
            })
            .collect();
        let is_free = |used: &&Used| self.laws.component_of(used.var).is_none();
        let free: Vec<u32> = (self.used.iter().filter(is_free)).map(|u| u.var).collect();
        let world = |by_var: &mut Vec<u32>, world: usize| {
            let unit = |group: usize, choice: usize| {
                unit_of(seed, world as u64, group as u64, choice as u64)
            };
            for var in &free {
                let logs = self.logs_of(*var);
                let states = 0..logs.len() as u32;
                let unit = unit(self.given.len(), *var as usize);
                by_var[*var as usize] = pick(unit, states, |s| logs[s as usize]);
            }
            for (group, (given, (lanes, logs))) in self.given.iter().zip(&by_group).enumerate() {
                let component = self.component(*given);
                let circuit = &self.shapes.circuits[component.circuit as usize];
                let mut states = vec![0; component.names.len()];
                lanes.draw(circuit, logs, |choice| unit(group, choice), &mut states);
                for (var, state) in component.names.iter().zip(states) {
                    by_var[*var as usize] = state;
                }
            }
            self.states(plan, by_var, 0)
        };
        let none = || vec![0; self.variables.domains.len()];
        Ok((0..count).into_par_iter().map_init(none, world).collect())
    }
}

/// A variable of a circuit, a state of it that has weight 0, and the slope there.
type AtZero = (usize, usize, f64);

/// How fast Σ `along` · marginal grows when a state that has weight 0 takes weight from the others, which tangents in the logs
/// of weights cannot tell.
fn slopes_at_zero(
    lanes: &mut Lanes,
    circuit: &Circuit,
    logs: &[f64],
    along: &[f64],
) -> Vec<AtZero> {
    let mut mean = |logs: &[f64]| {
        let weights = Weights { logs, lanes: 1 };
        let (mut value, mut flows) = ([0.0], vec![0.0; logs.len()]);
        lanes.evaluate(circuit, weights, &mut value);
        lanes.flows(circuit, weights, &mut flows);
        let mut mean = 0.0;
        for window in circuit.slots.windows(2) {
            let range = window[0] as usize..window[1] as usize;
            let free = 1.0 - flows[range.clone()].iter().sum::<f64>();
            mean += (range.map(|s| along[s] * (flows[s] + free * logs[s].exp()))).sum::<f64>();
        }
        (value[0], mean)
    };
    let is_zero = |slot: &usize| logs[*slot] == f64::NEG_INFINITY;
    if !(0..logs.len()).any(|slot| is_zero(&slot)) {
        return Vec::new();
    }
    let (whole, at_rest) = mean(logs);
    let mut found = Vec::new();
    for (local, window) in circuit.slots.windows(2).enumerate() {
        let range = window[0] as usize..window[1] as usize;
        for slot in range.clone().filter(is_zero) {
            let mut certain = logs.to_vec();
            certain[range.clone()].fill(f64::NEG_INFINITY);
            certain[slot] = 0.0;
            let slope = match mean(&certain) {
                (f64::NEG_INFINITY, _) => 0.0,
                (value, mean) => (value - whole).exp() * (mean - at_rest),
            };
            found.push((local, slot - range.start, slope));
        }
    }
    found
}

/// The quantity whose derivative is needed.
#[derive(Clone, Copy)]
pub(crate) enum Along<'a> {
    Entropy,
    /// By request: what each marginal is multiplied by.
    Given(&'a [Vec<f64>]),
}
