//! Which literals an event depends on: how much more probable each is given the event.

use rustc_hash::{FxHashMap, FxHashSet};

use super::run::log_sum_exp;
use super::{Events, Evidence, Observation};
use crate::circuit::{Lanes, Weights};
use crate::operators::FLOOR;
use crate::plan::individual::BlamedLiteral;
use crate::plan::individual::Individual;
use crate::plan::program::MOST_CODES;
use crate::plan::{ArgumentShape, Plan};
use crate::recursion::deep;
use crate::theory::{ArgumentSort, SortId, Theory};
use crate::token::written_label;

/// By variable: the probabilities of its states.
type ByVariable = FxHashMap<u32, Vec<f64>>;

impl Events {
    /// The literals of the first observation with these numbers, the greatest |blame| first. After [`Events::evaluate`].
    pub fn blame(
        &self,
        plan: &Plan,
        axiom: usize,
        codes: &[u64; MOST_CODES],
    ) -> Vec<BlamedLiteral> {
        let is_it = |o: &&Observation| o.codes == *codes;
        let Some(observation) = self.axioms[axiom].iter().find(is_it) else {
            return Vec::new();
        };
        let (mut literals, mut met) = (Vec::new(), FxHashSet::default());
        if let Some(event) = &observation.event {
            event.each_literal(&mut |var, state, positive| {
                if met.insert((var, state, positive)) {
                    literals.push((var, state, positive));
                }
            });
        }
        let possible = self.value(observation).is_some();
        let (mut before, mut after) = (ByVariable::default(), ByVariable::default());
        let own = observation.instances.start as usize..observation.instances.end as usize;
        for instance in self.instances[own].iter().filter(|_| possible) {
            self.tell(
                instance.circuit,
                &instance.names,
                &instance.evidence,
                &mut after,
            );
        }
        let mut blamed = Vec::with_capacity(literals.len());
        for (var, state, positive) in literals {
            let of = |states: &[f64]| match positive {
                true => states[state as usize],
                false => 1.0 - states[state as usize],
            };
            let given_laws = of(self.given_laws(var, &mut before));
            let given_event = after.get(&var).map_or(given_laws, |states| of(states));
            let (text, individuals) = self.text(plan, var, state, positive);
            let request = &plan.requests[self.variables.atoms[var as usize].request as usize];
            // A difference from 1 is not known exactly where it is small.
            let truth = match given_laws > 1e-6 {
                true => given_laws.ln(),
                false => self.log_of(var, |s| (s == state as usize) == positive),
            };
            blamed.push(BlamedLiteral {
                text,
                truth: if truth.is_finite() { truth } else { FLOOR },
                blame: given_event - given_laws,
                predicate: Some(request.predicate),
                individuals,
                span: request.span,
            });
        }
        blamed.sort_by(|a, b| b.blame.abs().total_cmp(&a.blame.abs()));
        blamed
    }

    /// The probabilities of a variable's states given the laws.
    fn given_laws<'t>(&self, var: u32, told: &'t mut ByVariable) -> &'t [f64] {
        if let Some(component) = self.laws.component_of(var)
            && !told.contains_key(&var)
        {
            let component = &self.laws.components[component as usize];
            self.tell(component.circuit, &component.names, &[], told);
        }
        let own = || self.logs_of(var).iter().map(|l| l.exp()).collect();
        told.entry(var).or_insert_with(own)
    }

    /// The log of the probability that a variable is in one of some states, given the laws.
    fn log_of(&self, var: u32, is_in: impl Fn(usize) -> bool) -> f64 {
        let own = self.logs_of(var).iter().enumerate();
        let mass = log_sum_exp(own.filter(|(s, _)| is_in(*s)).map(|(_, log)| *log));
        let Some((component, local)) = self.laws.place_of(var) else {
            return mass;
        };
        if mass == f64::NEG_INFINITY {
            return mass;
        }
        let component = &self.laws.components[component as usize];
        let circuit = &self.shapes.circuits[component.circuit as usize];
        let names = component.names.iter();
        let mut logs: Vec<f64> = names.flat_map(|v| self.logs_of(*v)).copied().collect();
        let mut lanes = Lanes::default();
        let mut probability = |logs: &[f64]| {
            let mut value = [0.0];
            lanes.evaluate(circuit, Weights { logs, lanes: 1 }, &mut value);
            value[0]
        };
        let laws = probability(&logs);
        let range =
            circuit.slots[local as usize] as usize..circuit.slots[local as usize + 1] as usize;
        for (state, log) in logs[range].iter_mut().enumerate() {
            *log = match is_in(state) {
                true => *log - mass,
                false => f64::NEG_INFINITY,
            };
        }
        (mass + probability(&logs) - laws).min(0.0)
    }

    /// Adds the probabilities of the states of all variables of a circuit, given that it is true and the evidence.
    fn tell(&self, circuit: u32, names: &[u32], evidence: &[Evidence], told: &mut ByVariable) {
        let circuit = &self.shapes.circuits[circuit as usize];
        let known: FxHashMap<u32, &Evidence> = evidence.iter().map(|e| (e.var, e)).collect();
        let own = |var: u32| {
            let mut logs = self.logs_of(var).to_vec();
            if let Some(known) = known.get(&var) {
                let mass = self.mass(known);
                for (state, log) in logs.iter_mut().enumerate() {
                    let allowed = self.allowed(known).binary_search(&(state as u32)).is_ok();
                    *log = if allowed {
                        *log - mass
                    } else {
                        f64::NEG_INFINITY
                    };
                }
            }
            logs
        };
        for known in evidence.iter().filter(|e| e.local.is_none()) {
            told.insert(
                known.var,
                own(known.var).into_iter().map(f64::exp).collect(),
            );
        }
        let logs: Vec<f64> = names.iter().flat_map(|v| own(*v)).collect();
        let weights = Weights {
            logs: &logs,
            lanes: 1,
        };
        let (mut lanes, mut flows) = (Lanes::default(), vec![0.0; circuit.slot_count()]);
        lanes.evaluate(circuit, weights, &mut [0.0]);
        lanes.flows(circuit, weights, &mut flows);
        for (var, window) in names.iter().zip(circuit.slots.windows(2)) {
            let range = window[0] as usize..window[1] as usize;
            let free = 1.0 - flows[range.clone()].iter().sum::<f64>();
            let states = range.map(|slot| flows[slot] + free * logs[slot].exp());
            told.insert(*var, states.collect());
        }
    }

    /// A literal as it is written, and its individuals.
    fn text(
        &self,
        plan: &Plan,
        var: u32,
        state: u32,
        positive: bool,
    ) -> (String, Vec<(SortId, u32)>) {
        let atom = &self.variables.atoms[var as usize];
        let request = &plan.requests[atom.request as usize];
        let theory = plan.data.theory();
        let predicate = &theory[request.predicate];
        let mut row = vec![0; request.extents.len()];
        request.decode(atom.code, &mut row);
        let (mut leaves, mut individuals) = (row.into_iter(), Vec::new());
        let mut arguments: Vec<String> = (request.shape.iter())
            .map(|shape| argument(plan, shape, &mut leaves, &mut individuals))
            .collect();
        if arguments.len() < predicate.arguments.len()
            && let Some(ArgumentSort::Sort(classes)) = predicate.arguments.last()
        {
            let class = if request.width as u32 == self.variables.domains[var as usize]
                && plan.outputs[request.predicate.index()].kind == crate::OutputKind::Softmax
            {
                state
            } else {
                atom.class
            };
            arguments.push(individual(theory, *classes, class));
            individuals.push((*classes, class));
        }
        let not = if positive { "" } else { "not " };
        let text = format!("{not}{}({})", predicate.name, arguments.join(", "));
        (text, individuals)
    }
}

fn individual(theory: &Theory, sort: SortId, index: u32) -> String {
    match Individual::of(theory, sort, index) {
        Individual::Name(name) => written_label(&name).to_string(),
        other => other.to_string(),
    }
}

fn argument(
    plan: &Plan,
    shape: &ArgumentShape,
    leaves: &mut impl Iterator<Item = u32>,
    individuals: &mut Vec<(SortId, u32)>,
) -> String {
    let theory = plan.data.theory();
    match shape {
        ArgumentShape::Individual(sort) => {
            let index = leaves.next().unwrap_or(0);
            individuals.push((*sort, index));
            individual(theory, *sort, index)
        }
        ArgumentShape::Number => {
            let at = leaves.next().unwrap_or(0) as usize;
            plan.data.numbers()[at].to_string()
        }
        ArgumentShape::Row(function) => {
            let row = leaves.next().unwrap_or(0);
            format!("{}(#{row})", theory[*function].name)
        }
        ArgumentShape::Apply(function, arguments) => {
            let arguments: Vec<String> = (arguments.iter())
                .map(|a| deep(|| argument(plan, a, leaves, individuals)))
                .collect();
            format!("{}({})", theory[*function].name, arguments.join(", "))
        }
    }
}
