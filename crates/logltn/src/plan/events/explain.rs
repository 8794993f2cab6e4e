//! Which literals an event depends on: how much more probable each is given the event.

use super::{Events, Observation};
use crate::circuit::{Lanes, Weights};
use crate::plan::individual::BlamedLiteral;
use crate::plan::individual::Individual;
use crate::plan::program::MOST_CODES;
use crate::plan::{ArgumentShape, Plan};
use crate::recursion::deep;
use crate::theory::{ArgumentSort, SortId, Theory};
use crate::token::written_label;

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
        let mut literals = Vec::new();
        if let Some(event) = &observation.event {
            event.each_literal(&mut |var, state, positive| {
                if !literals.contains(&(var, state, positive)) {
                    literals.push((var, state, positive));
                }
            });
        }
        let possible = self.value(observation).is_some();
        let mut blamed = Vec::with_capacity(literals.len());
        for (var, state, positive) in literals {
            let of = |states: Vec<f64>| match positive {
                true => states[state as usize],
                false => 1.0 - states[state as usize],
            };
            let before = of(self.given_laws(var));
            let after = match possible {
                true => of(self.given_event(observation, var)),
                false => before,
            };
            let (text, individuals) = self.text(plan, var, state, positive);
            let request = &plan.requests[self.variables.atoms[var as usize].request as usize];
            blamed.push(BlamedLiteral {
                text,
                truth: before.ln().max(crate::operators::FLOOR),
                blame: after - before,
                predicate: Some(request.predicate),
                individuals,
                span: request.span,
            });
        }
        blamed.sort_by(|a, b| b.blame.abs().total_cmp(&a.blame.abs()));
        blamed
    }

    /// The probabilities of a variable's states given the laws.
    fn given_laws(&self, var: u32) -> Vec<f64> {
        match self.laws.component_of(var) {
            Some(component) => {
                let component = &self.laws.components[component as usize];
                self.posterior(component.circuit, &component.names, &[], var)
            }
            None => self.logs_of(var).iter().map(|l| l.exp()).collect(),
        }
    }

    /// The same given an observation too.
    fn given_event(&self, observation: &Observation, var: u32) -> Vec<f64> {
        let own = observation.instances.start as usize..observation.instances.end as usize;
        let is_in = |i: &&super::Instance| {
            i.names.contains(&var) || i.evidence.iter().any(|e| e.var == var)
        };
        match self.instances[own].iter().find(is_in) {
            Some(instance) => {
                self.posterior(instance.circuit, &instance.names, &instance.evidence, var)
            }
            None => self.given_laws(var),
        }
    }

    fn posterior(
        &self,
        circuit: u32,
        names: &[u32],
        evidence: &[super::Evidence],
        var: u32,
    ) -> Vec<f64> {
        let circuit = &self.shapes.circuits[circuit as usize];
        let own = |var: u32| {
            let mut logs = self.logs_of(var).to_vec();
            if let Some(known) = evidence.iter().find(|e| e.var == var) {
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
        let Some(local) = names.iter().position(|n| *n == var) else {
            return own(var).into_iter().map(f64::exp).collect();
        };
        let logs: Vec<f64> = names.iter().flat_map(|v| own(*v)).collect();
        let weights = Weights {
            logs: &logs,
            lanes: 1,
        };
        let (mut lanes, mut flows) = (Lanes::default(), vec![0.0; circuit.slot_count()]);
        lanes.evaluate(circuit, weights, &mut [0.0]);
        lanes.flows(circuit, weights, &mut flows);
        let range = circuit.slots[local] as usize..circuit.slots[local + 1] as usize;
        let free = 1.0 - flows[range.clone()].iter().sum::<f64>();
        range
            .map(|slot| flows[slot] + free * logs[slot].exp())
            .collect()
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
