//! Circuits as plain arrays, for callers that evaluate them elsewhere (`crates/logltn/PLAN-FORMAT.md`).

use super::{Events, Evidence};
use crate::circuit::{Circuit, Part, Root};
use crate::output::OutputKind;
use crate::plan::Plan;

/// The events of a plan.
#[derive(Debug, Default)]
pub(crate) struct ExportedEvents {
    /// By state of a variable: its request, and the place among the logs of that request's atoms.
    pub states: Vec<[i64; 2]>,
    pub circuits: Vec<ExportedCircuit>,
    /// By observation: its axiom, whether it is impossible, and where its terms end.
    pub observations: Vec<[i64; 3]>,
    pub weights: Vec<f64>,
    /// A circuit's instance, and whether it is added (1) or subtracted (−1).
    pub terms: Vec<[i64; 2]>,
}

/// A circuit and all its instances.
#[derive(Debug, Default)]
pub(crate) struct ExportedCircuit {
    /// By variable: where its states begin.
    pub slots: Vec<u32>,
    /// By node: its distance from the leaves (0 for leaves), whether it is a sum, and where its entries end.
    pub nodes: Vec<[i64; 3]>,
    /// For a leaf its states, for other nodes their children.
    pub entries: Vec<u32>,
    /// A node; −1 if all worlds are meant, −2 if none is.
    pub root: i64,
    /// Their numbers among all instances.
    pub instances: Vec<i64>,
    /// By instance and variable: the first of its states among those of all variables.
    pub firsts: Vec<u32>,
    /// What is known: instance (by its place here), variable of the circuit or −1, its first state among all, how many
    /// states it has, and where the allowed ones end.
    pub evidence: Vec<[i64; 5]>,
    pub allowed: Vec<u32>,
}

impl ExportedCircuit {
    fn of(circuit: &Circuit) -> ExportedCircuit {
        let mut found = ExportedCircuit {
            slots: circuit.slots.clone(),
            root: match circuit.root {
                Root::False => -2,
                Root::True => -1,
                Root::Node(node) => i64::from(node),
            },
            ..ExportedCircuit::default()
        };
        for (_, part) in circuit.parts() {
            let (level, is_sum) = match part {
                Part::Leaf(var, states) => {
                    let first = circuit.slots[var as usize];
                    let states = states.iter();
                    found.entries.extend(states.map(|state| first + state));
                    (0, 1)
                }
                Part::Product(children) | Part::Sum(children) => {
                    found.entries.extend_from_slice(children);
                    let levels = children.iter().map(|c| found.nodes[*c as usize][0]);
                    let is_sum = matches!(part, Part::Sum(_));
                    (1 + levels.max().unwrap_or(0), i64::from(is_sum))
                }
            };
            found
                .nodes
                .push([level, is_sum, found.entries.len() as i64]);
        }
        found
    }

    fn add(&mut self, events: &Events, number: usize, names: &[u32], evidence: &[Evidence]) {
        let place = self.instances.len() as i64;
        self.instances.push(number as i64);
        let firsts = names.iter().map(|var| events.slots[*var as usize]);
        self.firsts.extend(firsts);
        for known in evidence {
            self.allowed.extend_from_slice(events.allowed(known));
            self.evidence.push([
                place,
                known.local.map_or(-1, i64::from),
                i64::from(events.slots[known.var as usize]),
                i64::from(events.variables.domains[known.var as usize]),
                self.allowed.len() as i64,
            ]);
        }
    }
}

impl Events {
    /// Everything that evaluation needs, with the instances in the order of their circuits; the laws that observations
    /// are conditioned on come after the observations' own. The first requests are those of strata.
    pub fn export(&self, plan: &Plan, strata: usize) -> ExportedEvents {
        let mut found = ExportedEvents {
            states: vec![[0; 2]; self.slot_count],
            ..ExportedEvents::default()
        };
        for used in &self.used {
            let first = self.slots[used.var as usize] as usize;
            let domain = self.variables.domains[used.var as usize] as usize;
            let predicate = plan.requests[used.request as usize].predicate;
            // A row of classes, or false and true of each atom.
            let is_row = plan.outputs[predicate.index()].kind == OutputKind::Softmax;
            let place = if is_row { used.at } else { 2 * used.at } as i64;
            let own = &mut found.states[first..first + domain];
            for (own, place) in own.iter_mut().zip(place..) {
                *own = [i64::from(used.request) - strata as i64, place];
            }
        }
        let circuits = self.shapes.circuits.iter();
        found.circuits = circuits.map(|c| ExportedCircuit::of(c)).collect();
        for (number, instance) in self.instances.iter().enumerate() {
            let circuit = &mut found.circuits[instance.circuit as usize];
            circuit.add(self, number, &instance.names, &instance.evidence);
        }
        for (number, given) in (self.instances.len()..).zip(&self.given) {
            let law = &self.laws.components[*given as usize];
            found.circuits[law.circuit as usize].add(self, number, &law.names, &[]);
        }
        found
            .circuits
            .retain(|circuit| !circuit.instances.is_empty());
        for (axiom, observations) in self.axioms.iter().enumerate() {
            for observation in observations {
                let own = observation.instances.clone();
                found.terms.extend(own.map(|i| [i64::from(i), 1]));
                let given = observation.given.iter();
                let laws = given.map(|g| [self.instances.len() as i64 + i64::from(*g), -1]);
                found.terms.extend(laws);
                let impossible = i64::from(observation.impossible);
                let end = found.terms.len() as i64;
                found.observations.push([axiom as i64, impossible, end]);
                found.weights.push(observation.weight);
            }
        }
        found
    }
}
