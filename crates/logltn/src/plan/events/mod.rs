//! Exact probability: the events of a plan's axioms, given its laws, as circuits.
//!
//! The formula under the leading `forall`s of an axiom is one event for each of their bindings. It is written out
//! ([`ground`]) over random variables ([`variables`]), joined with the laws that share atoms with it ([`laws`]), and
//! compiled, each shape once ([`shapes`]). A step evaluates all instances of a circuit at once, then runs backward
//! for the derivatives ([`run`]); [`worlds`] answers questions about worlds that keep the laws.

mod explain;
mod export;
mod ground;
mod laws;
mod listed;
mod run;
mod shapes;
mod variables;
mod worlds;

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::circuit::{Budget, Proposition, TooHard};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::memory;
use crate::output::OutputKind;
use crate::plan::Plan;
use crate::plan::active::Active;
use crate::plan::program::MOST_CODES;

pub(crate) use export::ExportedEvents;
use ground::{Grounding, NotGround};
use laws::Laws;
pub(crate) use listed::{EventLister, ListedEvent};
pub(crate) use run::Found;
use run::Work;
use shapes::Shapes;
use variables::Variables;
pub(crate) use worlds::Along;
pub use worlds::World;

/// The limits of compilation.
#[derive(Clone, Copy, Debug)]
struct Limits {
    time: Duration,
    bytes: u64,
}

impl Limits {
    fn budget<'p>(&self, plan: &'p Plan) -> Budget<'p> {
        Budget::new(self.time, self.bytes, plan.data.stop.as_deref())
    }

    /// How many literals may be written out.
    fn literals(&self) -> usize {
        usize::try_from(self.bytes / 96).unwrap_or(usize::MAX)
    }
}

/// The events of a plan, which a step computes instead of programs.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    limits: Limits,
    variables: Variables,
    shapes: Shapes,
    laws: Arc<Laws>,
    /// By axiom of the plan; laws have none.
    axioms: Vec<Vec<Observation>>,
    /// Products of these are the events.
    instances: Vec<Instance>,
    /// The states that evidence allows its variables, one list after the other.
    allowed: Vec<u32>,
    /// Components of laws that observations are conditioned on, each once.
    given: Vec<u32>,
    /// Whether every law is known to have a world under the degrees that are exactly 0 or 1.
    tested: bool,
    /// By request: the codes of the rows in use, sorted.
    rows: Vec<Vec<u64>>,
    /// The variables in use, and where the numbers behind them are.
    used: Vec<Used>,
    /// By variable: where the logs of its states begin, if it is in use.
    slots: Vec<u32>,
    slot_count: usize,
    work: Work,
}

/// A binding of the leading quantifiers of an axiom.
#[derive(Clone, Debug)]
struct Observation {
    weight: f64,
    codes: [u64; MOST_CODES],
    /// Whether no world makes it true, for any degrees.
    impossible: bool,
    /// The instances whose probabilities are multiplied.
    instances: std::ops::Range<u32>,
    /// The laws whose probabilities divide the product: places in [`Events::given`].
    given: Vec<u32>,
    /// The formula, for callers that explain it.
    event: Option<Proposition>,
}

/// A circuit with variables to look at, some of which are known to be in some of their states.
#[derive(Clone, Debug)]
struct Instance {
    circuit: u32,
    /// By variable of the circuit.
    names: Arc<[u32]>,
    evidence: Vec<Evidence>,
}

/// The evidence about a variable.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    var: u32,
    /// Its number in the circuit, if it occurs there.
    local: Option<u32>,
    /// Its states, sorted: a range of [`Events::allowed`].
    from: u32,
    to: u32,
}

/// A variable in use.
#[derive(Clone, Copy, Debug)]
struct Used {
    var: u32,
    request: u32,
    /// Its first number among those of the request.
    at: usize,
}

impl Events {
    /// Compiles the laws and the events of a plan.
    pub fn new(plan: &Plan, seconds: Duration, bytes: u64) -> Result<Events, Diagnostics> {
        let limits = Limits {
            time: seconds,
            bytes,
        };
        let (mut variables, mut shapes) = (Variables::default(), Shapes::default());
        let laws = Laws::new(plan, &mut variables, &mut shapes, &limits)?;
        let mut events = Events {
            limits,
            variables,
            shapes,
            laws: Arc::new(laws),
            axioms: Vec::new(),
            instances: Vec::new(),
            allowed: Vec::new(),
            given: Vec::new(),
            tested: false,
            rows: Vec::new(),
            used: Vec::new(),
            slots: Vec::new(),
            slot_count: 0,
            work: Work::default(),
        };
        let keep: Vec<bool> = plan.programs.iter().map(|p| p.form.is_some()).collect();
        events.observe(plan, &Active::new(plan), &keep)?;
        Ok(events)
    }

    /// Compiles what depends on a call again; circuits are kept.
    pub fn renew(&mut self, plan: &Plan) -> Result<(), Diagnostics> {
        let used = self.instances.iter().map(|i| i.circuit);
        self.shapes.renew(used.chain(self.laws.circuits()));
        self.variables = Variables::default();
        self.used.clear();
        self.slots.clear();
        let laws = Laws::new(plan, &mut self.variables, &mut self.shapes, &self.limits)?;
        self.laws = Arc::new(laws);
        self.tested = false;
        self.choose(plan, &Active::new(plan))
    }

    /// Takes the observations that are active, and the laws as they are.
    pub(crate) fn choose(&mut self, plan: &Plan, active: &Active) -> Result<(), Diagnostics> {
        self.observe(plan, active, &vec![false; plan.axioms.len()])
    }

    fn observe(&mut self, plan: &Plan, active: &Active, keep: &[bool]) -> Result<(), Diagnostics> {
        self.instances.clear();
        self.allowed.clear();
        self.axioms.clear();
        let mut left = self.limits.literals();
        let mut givens: FxHashMap<u32, u32> = FxHashMap::default();
        for (program, axiom) in plan.axioms.iter().enumerate() {
            let mut observations = Vec::new();
            if !axiom.hard {
                let mut grounding =
                    Grounding::new(plan, active, program, &mut self.variables, &mut left);
                let observed = grounding.observations(plan.leading[program]);
                for one in observed.map_err(|why| too_large(plan, &axiom.name, why))? {
                    let start = self.instances.len() as u32;
                    let (impossible, given) = self
                        .instantiate(&one.event, &mut givens, self.limits.budget(plan))
                        .map_err(|reached| too_hard(plan, &axiom.name, reached))?;
                    if keep[program] {
                        // Explanations need the literals' probabilities given the laws, even where the event is
                        // constant.
                        one.event.each_variable(&mut |var| {
                            if let Some(component) = self.laws.component_of(var) {
                                let next = givens.len() as u32;
                                givens.entry(component).or_insert(next);
                            }
                        });
                    }
                    observations.push(Observation {
                        weight: one.weight,
                        codes: one.codes,
                        impossible,
                        instances: start..self.instances.len() as u32,
                        given,
                        event: keep[program].then_some(one.event),
                    });
                }
            }
            self.axioms.push(observations);
        }
        // Without observations, questions are about the laws. Otherwise laws are checked once, in case degrees of
        // exactly 0 or 1 leave them no world.
        let all = plan.axioms.iter().all(|a| a.hard);
        for (component, law) in self.laws.components.iter().enumerate() {
            if all || !self.tested && law.names.iter().any(|v| self.may_be_certain(plan, *v)) {
                let next = givens.len() as u32;
                givens.entry(component as u32).or_insert(next);
            }
        }
        self.given = vec![0; givens.len()];
        for (component, place) in givens {
            self.given[place as usize] = component;
        }
        if !all {
            self.has_circuits()?;
        }
        self.find_used(plan);
        self.arrange();
        Ok(())
    }

    /// Whether a variable may have degrees of exactly 0 or 1.
    fn may_be_certain(&self, plan: &Plan, var: u32) -> bool {
        let request = &plan.requests[self.variables.atoms[var as usize].request as usize];
        let kind = plan.outputs[request.predicate.index()].kind;
        matches!(kind, OutputKind::Truth | OutputKind::LogTruth)
    }

    /// The instances of an event, whether it is plainly impossible, and the laws it is conditioned
    /// on.
    fn instantiate(
        &mut self,
        event: &Proposition,
        givens: &mut FxHashMap<u32, u32>,
        budget: Budget,
    ) -> Result<(bool, Vec<u32>), TooHard> {
        let mut given = |component: u32| {
            let next = givens.len() as u32;
            *givens.entry(component).or_insert(next)
        };
        if let Some(mut literals) = literals(event) {
            // Those of a component together, those of none first.
            let first = self.instances.len();
            let component = |var: u32| self.laws.place_of(var);
            literals.sort_unstable_by_key(|(var, ..)| (component(*var), *var));
            let mut all = Vec::new();
            for own in literals.chunk_by(|a, b| {
                let of = |(var, ..): &Literal| component(*var).map(|(number, _)| number);
                of(a) == of(b)
            }) {
                let (circuit, names) = match component(own[0].0) {
                    Some((component, _)) => {
                        all.push(given(component));
                        let component = &self.laws.components[component as usize];
                        // Without one it is refused at the end.
                        (component.circuit, Arc::clone(&component.names))
                    }
                    None => {
                        let domains = &self.variables.domains;
                        let nothing: [&Proposition; 0] = [];
                        let shapes = &mut self.shapes;
                        let (circuit, _) = shapes.circuit(nothing.into_iter(), domains, budget)?;
                        (circuit, Arc::default())
                    }
                };
                let mut evidence = Vec::with_capacity(own.len());
                for about in own.chunk_by(|a, b| a.0 == b.0) {
                    let var = about[0].0;
                    let from = self.allowed.len() as u32;
                    let keeps = |s: &u32| about.iter().all(|(_, state, is)| (s == state) == *is);
                    let states = 0..self.variables.domains[var as usize];
                    self.allowed.extend(states.filter(keeps));
                    let to = self.allowed.len() as u32;
                    if from == to {
                        self.instances.truncate(first);
                        return Ok((true, Vec::new()));
                    }
                    evidence.push(Evidence {
                        var,
                        local: component(var).map(|(_, local)| local),
                        from,
                        to,
                    });
                }
                self.instances.push(Instance {
                    circuit,
                    names,
                    evidence,
                });
            }
            return Ok((false, all));
        }
        if *event == Proposition::False {
            return Ok((true, Vec::new()));
        }
        let (mut components, mut met) = (Vec::new(), FxHashSet::default());
        event.each_variable(&mut |var| {
            if let Some(component) = self.laws.component_of(var)
                && met.insert(component)
            {
                components.push(component);
            }
        });
        let mut members = vec![event];
        for component in &components {
            members.extend(
                self.laws
                    .formulas(&self.laws.components[*component as usize]),
            );
        }
        let domains = &self.variables.domains;
        let (circuit, names) = self.shapes.circuit(members.into_iter(), domains, budget)?;
        self.instances.push(Instance {
            circuit,
            names: names.into(),
            evidence: Vec::new(),
        });
        Ok((false, components.into_iter().map(given).collect()))
    }

    /// Lists the rows that networks are asked about, and where the numbers of each variable will be.
    fn find_used(&mut self, plan: &Plan) {
        for used in self.used.drain(..) {
            self.slots[used.var as usize] = u32::MAX;
        }
        self.slots.resize(self.variables.domains.len(), u32::MAX);
        let (slots, mut vars) = (&mut self.slots, Vec::new());
        let mut mark = |var: u32| {
            let slot = &mut slots[var as usize];
            if *slot == u32::MAX {
                *slot = 0;
                vars.push(var);
            }
        };
        for instance in &self.instances {
            instance.names.iter().copied().for_each(&mut mark);
            instance.evidence.iter().for_each(|e| mark(e.var));
        }
        for component in &self.given {
            let names = &self.laws.components[*component as usize].names;
            names.iter().copied().for_each(&mut mark);
        }
        // Explanations of an event need all of its literals, even where it depends on none of them.
        let kept = self.axioms.iter().flatten();
        for event in kept.filter_map(|observation| observation.event.as_ref()) {
            event.each_variable(&mut mark);
        }
        vars.sort_unstable();
        self.rows.clear();
        self.rows.resize(plan.requests.len(), Vec::new());
        let atom_of = |var: u32| &self.variables.atoms[var as usize];
        for atom in vars.iter().map(|var| atom_of(*var)) {
            let codes = &mut self.rows[atom.request as usize];
            if codes.last() != Some(&atom.code) {
                codes.push(atom.code);
            }
        }
        for codes in &mut self.rows {
            codes.sort_unstable();
            codes.dedup();
        }
        self.slot_count = 0;
        let mut row = ((u32::MAX, 0), 0);
        for var in vars {
            let atom = atom_of(var);
            let asked = (atom.request, atom.code);
            if row.0 != asked {
                let codes = &self.rows[atom.request as usize];
                row = (asked, codes.partition_point(|c| *c < atom.code));
            }
            let width = plan.requests[atom.request as usize].width;
            self.used.push(Used {
                var,
                request: atom.request,
                at: row.1 * width + atom.class as usize,
            });
            self.slots[var as usize] = self.slot_count as u32;
            self.slot_count += self.variables.domains[var as usize] as usize;
        }
    }

    /// Leaves only the observations of some axioms, by place.
    pub fn retain_axioms(&mut self, plan: &Plan, kept: &[bool]) {
        // Programs have been left out already, and are numbered again in the laws when these are looked at.
        let mut at = kept.iter();
        self.axioms.retain(|_| at.next() == Some(&true));
        let place = |program: usize| kept[..program].iter().filter(|k| **k).count();
        let laws = Arc::make_mut(&mut self.laws);
        for conjunct in &mut laws.conjuncts {
            conjunct.program = place(conjunct.program);
        }
        let mut instances = Vec::new();
        for observation in self.axioms.iter_mut().flatten() {
            let start = instances.len() as u32;
            let own = observation.instances.start as usize..observation.instances.end as usize;
            instances.extend_from_slice(&self.instances[own]);
            observation.instances = start..instances.len() as u32;
        }
        self.instances = instances;
        self.find_used(plan);
        self.arrange();
    }

    /// About how long a step takes on one core without derivatives.
    pub fn seconds(&self) -> f64 {
        const PER_EDGE: f64 = 1e-8;
        let edges = |circuit: u32| self.shapes.circuits[circuit as usize].edges() as f64;
        let own: f64 = self.instances.iter().map(|i| edges(i.circuit)).sum();
        let given = self
            .given
            .iter()
            .map(|g| &self.laws.components[*g as usize]);
        let laws: f64 = (given.filter(|c| c.cut.is_none()))
            .map(|c| edges(c.circuit))
            .sum();
        (own + laws) * PER_EDGE
    }

    /// By request: the codes of the rows in use.
    pub fn rows(&self, request: usize) -> &[u64] {
        &self.rows[request]
    }

    /// The size of an axiom's observations: shapes, and nodes and edges of their circuits.
    pub fn size(&self, axiom: usize) -> EventSize {
        let mut circuits: Vec<u32> = (self.axioms[axiom].iter())
            .flat_map(|o| &self.instances[o.instances.start as usize..o.instances.end as usize])
            .map(|i| i.circuit)
            .collect();
        self.size_of(&mut circuits, self.axioms[axiom].len())
    }

    /// The same for all laws together.
    pub fn size_of_laws(&self) -> EventSize {
        let components = &self.laws.components;
        let compiled = components.iter().filter(|c| c.cut.is_none());
        let mut circuits: Vec<u32> = compiled.map(|c| c.circuit).collect();
        self.size_of(&mut circuits, components.len())
    }

    fn size_of(&self, circuits: &mut Vec<u32>, events: usize) -> EventSize {
        let per_event: usize = (circuits.iter())
            .map(|c| self.shapes.circuits[*c as usize].edges())
            .sum();
        circuits.sort_unstable();
        circuits.dedup();
        let each = circuits.iter().map(|c| &self.shapes.circuits[*c as usize]);
        EventSize {
            events,
            shapes: circuits.len(),
            nodes: each.clone().map(|c| c.nodes.len()).sum(),
            edges: each.map(|c| c.edges()).sum(),
            operations: per_event,
        }
    }
}

/// The size of an axiom's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSize {
    /// Bindings of the leading `forall`s; for laws, groups that share atoms.
    pub events: usize,
    /// Circuits that were compiled for them.
    pub shapes: usize,
    /// Nodes of these.
    pub nodes: usize,
    /// Edges of these.
    pub edges: usize,
    /// Edges that a step visits, for all events together.
    pub operations: usize,
}

/// A variable, a state, and whether it is in it.
type Literal = (u32, u32, bool);

/// The literals of a conjunction that consists of literals only.
fn literals(event: &Proposition) -> Option<Vec<Literal>> {
    let literal = |p: &Proposition| match p {
        &Proposition::Is {
            var,
            state,
            positive,
        } => Some((var, state, positive)),
        _ => None,
    };
    match event {
        Proposition::True => Some(Vec::new()),
        Proposition::And(members) => members.iter().map(literal).collect(),
        other => Some(vec![literal(other)?]),
    }
}

fn too_hard(plan: &Plan, axiom: &str, reached: TooHard) -> Diagnostic {
    let TooHard {
        variables,
        nodes,
        edges,
        seconds,
        stopped,
    } = reached;
    if stopped {
        return interrupted();
    }
    let span = plan.axioms.iter().find(|a| a.name == axiom).map(|a| a.span);
    Diagnostic::error(
        Code::TooHard,
        format!(
            "the events of axiom `{axiom}` are too hard to compile: {variables} variables, given up after {seconds:.1} s \
             with {nodes} nodes and {edges} edges"
        ),
    )
    .at(&plan.data.theory().source, span.unwrap_or_default(), "")
    .help(format!(
        "fewer atoms in one event, guards that keep less, or laws that share fewer atoms make it easier; more time \
         or memory may be enough ({})",
        memory::allow_more()
    ))
}

fn interrupted() -> Diagnostic {
    Diagnostic::error(Code::Interrupted, "it was asked to stop")
}

fn too_large(plan: &Plan, axiom: &str, why: NotGround) -> Diagnostics {
    if why == NotGround::Stopped {
        return interrupted().into();
    }
    let span = plan.axioms.iter().find(|a| a.name == axiom).map(|a| a.span);
    Diagnostic::error(
        Code::TooHard,
        format!("the events of axiom `{axiom}`, written out, do not fit into the memory that may be used"),
    )
    .at(&plan.data.theory().source, span.unwrap_or_default(), "")
    .help(format!(
        "use guards that keep less, or quantifiers over smaller sorts; {}",
        memory::allow_more()
    ))
    .into()
}
