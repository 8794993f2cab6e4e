//! The engine: logits in, the truth of each axiom, the loss and its gradient out.
//!
//! The work is cut into **lanes** by the size of the problem alone. A lane runs on one thread and adds up
//! its derivatives in its own tables; the tables are added in the order of the lanes. So the result is
//! the same to the last bit on any number of threads.

mod active;
mod aggregate;
mod connective;
mod eliminate;
mod exec;
mod lane;
mod literals;
mod over_axioms;
mod run;

use std::sync::Arc;

use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operators::{And, Loss, Space};
use crate::parameters::Parameters;
use crate::plan::program::NodeKind;
use crate::plan::{ArgumentShape, Plan};
use crate::theory::{PredicateId, TableId};
use crate::vector::Real;

use active::Active;
use aggregate::AggregatorSettings;
use exec::{Exec, Root};
use literals::Literals;
use run::{Lane, Partial, Run, Shared};

/// Runs a [`Plan`], in `f32` for training or in `f64`.
///
/// Once per step: [`Engine::set_batch`] if there are batches, the requests' numbers into
/// [`Engine::numbers_mut`], [`Engine::evaluate_with_gradients`], and [`Engine::gradient`] back to
/// whatever made the numbers. After the first step nothing is allocated.
#[derive(Debug)]
pub struct Engine<T: Real> {
    plan: Arc<Plan>,
    execs: Vec<Exec>,
    /// The summands of all axioms, in their order.
    parts: Vec<Part>,
    active: Active,
    requests: Vec<Request>,
    numbers: Vec<Vec<T>>,
    gradients: Vec<Vec<T>>,
    literals: Vec<Literals<T>>,
    lanes: Vec<LaneWork<T>>,
    /// What the lanes found, by part.
    totals: Vec<Partial>,
    /// For a root that is an extreme: the first lane that attains it, by part.
    attained_by: Vec<usize>,
    derivatives: Vec<f64>,
    evaluation: Evaluation,
}

/// The argument rows on which a predicate is to be evaluated, each once.
#[derive(Clone, Debug)]
pub struct Request {
    /// The predicate.
    pub predicate: PredicateId,
    /// How its arguments are made of individuals; without the last argument if that picks the class.
    pub shape: Vec<ArgumentShape>,
    /// The number of answers per row: 1, or one per class.
    pub width: usize,
    /// The number of individuals in a row.
    pub arity: usize,
    rows: usize,
    individuals: Vec<u32>,
}

impl Request {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The individuals of a row, by their indexes in their sorts.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.individuals[row * self.arity..(row + 1) * self.arity]
    }
}

/// The truth of the axioms and of all together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// All axioms together: a log in the log semantics and in `prod`, a truth degree in the others.
    pub sat: f64,
    /// What training minimises.
    pub loss: f64,
    /// In the order of [`Plan::axioms`].
    pub axioms: Vec<AxiomValue>,
}

/// The truth of one axiom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxiomValue {
    /// A log or a truth degree, as [`Evaluation::sat`].
    pub truth: f64,
    /// How often an `exists` had nothing to choose from.
    pub empty_exists: u64,
}

/// A summand of an axiom: all of it, or a member of the conjunction that it is.
#[derive(Clone, Copy, Debug)]
struct Part {
    program: usize,
    root: Root,
}

/// Some bindings of a part's root quantifier.
#[derive(Clone, Copy, Debug)]
struct Item {
    part: usize,
    start: u64,
    end: u64,
}

#[derive(Clone, Debug, Default)]
struct LaneWork<T> {
    lane: Lane<T>,
    items: Vec<Item>,
    found: Vec<(Partial, u64)>,
}

/// The most lanes. More would cost more in adding up their tables than they gain.
const MAX_LANES: u64 = 8;
/// The least work worth a lane, in node values.
const LANE_WORK: u64 = 1 << 15;
/// The most memory that the lanes' tables of derivatives may take together.
const MAX_LANE_BYTES: usize = 256 << 20;

impl<T: Real> Engine<T> {
    /// An engine for a plan, with every row of every table.
    pub fn new(plan: impl Into<Arc<Plan>>) -> Engine<T> {
        let plan: Arc<Plan> = plan.into();
        let and_is_sum = plan.semantics.space == Space::Log && plan.semantics.and == And::Sum;
        let execs: Vec<Exec> = (plan.programs.iter())
            .map(|p| Exec::new(p, &plan.components, and_is_sum))
            .collect();
        let parts: Vec<Part> = (execs.iter().enumerate())
            .flat_map(|(program, exec)| exec.roots.iter().map(move |&root| Part { program, root }))
            .collect();
        let active = Active::new(&plan, &execs);
        let requests = (plan.requests.iter())
            .map(|r| Request {
                predicate: r.predicate,
                shape: r.shape.clone(),
                width: r.width,
                arity: r.extents.len(),
                rows: 0,
                individuals: Vec::new(),
            })
            .collect();
        let count = plan.requests.len();
        let axioms = plan.axioms.len();
        let mut engine = Engine {
            execs,
            active,
            requests,
            numbers: vec![Vec::new(); count],
            gradients: vec![Vec::new(); count],
            literals: vec![Literals::default(); count],
            lanes: Vec::new(),
            totals: Vec::with_capacity(parts.len()),
            attained_by: Vec::with_capacity(parts.len()),
            parts,
            derivatives: vec![0.0; axioms],
            evaluation: Evaluation {
                axioms: vec![AxiomValue::default(); axioms],
                ..Evaluation::default()
            },
            plan,
        };
        engine.list_rows(false);
        engine.assign_lanes();
        engine
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the predicates are to be asked in the current batch.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Restricts a batched table to some of its rows, by number; the requests change accordingly.
    pub fn set_batch(&mut self, table: TableId, rows: &[u32]) -> Result<(), Diagnostics> {
        self.set_batches([(table, rows)])
    }

    /// [`Engine::set_batch`] for several tables at once.
    pub fn set_batches<'r>(
        &mut self,
        batches: impl IntoIterator<Item = (TableId, &'r [u32])>,
    ) -> Result<(), Diagnostics> {
        for (table, rows) in batches {
            self.restrict(table, rows)?;
        }
        self.active.number(&self.plan, &self.execs, true);
        self.list_rows(true);
        self.assign_lanes();
        Ok(())
    }

    fn restrict(&mut self, table: TableId, rows: &[u32]) -> Result<(), Diagnostics> {
        let name = &self.plan.data.theory()[table].name;
        let data = self.plan.data.table(table);
        let Some(data) = data.filter(|t| t.batched) else {
            return Err(Diagnostic::error(format!("table `{name}` is not batched"))
                .help("say so with `Data::set_batched` before planning")
                .into());
        };
        if let Some(row) = rows.iter().find(|r| **r as usize >= data.rows) {
            return Err(Diagnostic::error(format!(
                "row {row} is not in table `{name}`, which has {} rows",
                data.rows
            ))
            .into());
        }
        self.active.restrict(&self.plan, table, rows);
        Ok(())
    }

    /// The numbers of a request, row by row, to be filled in before evaluating.
    pub fn numbers_mut(&mut self, request: usize) -> &mut [T] {
        &mut self.numbers[request]
    }

    /// The derivative of the loss by each number of a request, after
    /// [`Engine::evaluate_with_gradients`].
    pub fn gradient(&self, request: usize) -> &[T] {
        &self.gradients[request]
    }

    /// The truth of the axioms and the loss.
    pub fn evaluate(&mut self, parameters: &Parameters) -> Result<&Evaluation, Diagnostics> {
        self.run(parameters, false)
    }

    /// The truth of the axioms, the loss, and its gradient by every number.
    pub fn evaluate_with_gradients(
        &mut self,
        parameters: &Parameters,
    ) -> Result<&Evaluation, Diagnostics> {
        self.run(parameters, true)
    }

    fn list_rows(&mut self, only_dynamic: bool) {
        for (i, plan) in self.plan.requests.iter().enumerate() {
            if only_dynamic && (!plan.dynamic || plan.complete) {
                continue;
            }
            let numbering = &self.active.numbering[i];
            let request = &mut self.requests[i];
            request.rows = numbering.rows(plan);
            request.individuals.resize(request.rows * request.arity, 0);
            if request.arity > 0 {
                let rows = request.individuals.chunks_exact_mut(request.arity);
                for (number, row) in rows.enumerate() {
                    let code = numbering.codes.get(number).copied();
                    plan.decode(code.unwrap_or(number as u64), row);
                }
            }
            let length = request.rows * request.width;
            self.numbers[i].resize(length, T::ZERO);
            self.gradients[i].resize(length, T::ZERO);
        }
    }

    /// Cuts the axioms into lanes of about equal work.
    fn assign_lanes(&mut self) {
        let mut works = 0_u64;
        let (active, execs) = (&self.active, &self.execs);
        let size = |part: &Part| match execs[part.program].nodes[part.root.node].kind {
            NodeKind::Quantifier { level, .. } => {
                let exec = &execs[part.program];
                let length = |c: &exec::ExecComponent| {
                    let offsets = &active.components[c.component].offsets;
                    u64::from(offsets[1] - offsets[0])
                };
                exec.levels[level].components.iter().map(length).product()
            }
            _ => 1_u64,
        };
        for part in &self.parts {
            let work = size(part).saturating_mul(part.root.cost).max(1);
            works = works.saturating_add(work);
        }
        let table_bytes: usize = (self.numbers.iter())
            .map(|n| 2 * n.len() * std::mem::size_of::<T>())
            .sum();
        let affordable = (MAX_LANE_BYTES / table_bytes.max(1)).max(1) as u64;
        let lanes = (works / LANE_WORK).clamp(1, MAX_LANES.min(affordable));
        // Of three equal lanes two cores would take as long as of four.
        let lanes = 1 << lanes.ilog2();
        let share = works.div_ceil(lanes);
        self.lanes.resize_with(lanes as usize, LaneWork::default);
        self.lanes.iter_mut().for_each(|l| l.items.clear());
        let (mut at, mut room) = (0, share);
        for (part, of) in self.parts.iter().enumerate() {
            let (total, cost) = (size(of), of.root.cost);
            let mut start = 0;
            loop {
                let last = at + 1 == self.lanes.len();
                let fits = if last {
                    total - start
                } else {
                    (room / cost).max(1)
                };
                let end = (start + fits).min(total);
                self.lanes[at].items.push(Item { part, start, end });
                let used = (end - start).saturating_mul(cost).max(1);
                room = room.saturating_sub(used);
                if room < cost && !last {
                    at += 1;
                    room = share;
                }
                start = end;
                if start >= total {
                    break;
                }
            }
        }
    }

    fn run(
        &mut self,
        parameters: &Parameters,
        gradients: bool,
    ) -> Result<&Evaluation, Diagnostics> {
        if let Err(error) = parameters.validate() {
            return Err(Diagnostic::error(error.to_string()).into());
        }
        self.check_numbers()?;
        self.forward_literals();
        let semantics = self.plan.semantics;
        let known = gradients && aggregate::is_linear(semantics.over_axioms);
        if known {
            self.derive_axioms(parameters);
        }
        if gradients {
            self.clear_derivatives();
        }
        let shared = Shared::new(
            &self.plan,
            &self.active,
            &self.execs,
            &self.literals,
            &semantics,
            parameters,
        );
        let (parts, derivatives) = (&self.parts, &self.derivatives);
        let forward = |_: usize, work: &mut LaneWork<T>| {
            work.found.clear();
            for item in &work.items {
                work.lane.empty_exists = 0;
                let part = &parts[item.part];
                let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
                let along = (known)
                    .then(|| run.derivative_along(derivatives[part.program]))
                    .flatten();
                let partial = run.forward_root(item.start, item.end, along);
                work.found.push((partial, work.lane.empty_exists));
            }
        };
        each_lane(&mut self.lanes, forward);
        merge(
            &shared,
            &self.parts,
            &self.lanes,
            &mut self.totals,
            &mut self.evaluation,
        );
        find_attaining_lanes(&self.lanes, &self.totals, &mut self.attained_by);
        over_axioms::finish(&shared, &self.plan.axioms, &mut self.evaluation);
        if gradients {
            if !known {
                over_axioms::derive(
                    &shared.aggregators,
                    &semantics,
                    &self.plan.axioms,
                    &self.evaluation,
                    &mut self.derivatives,
                );
            }
            let (totals, derivatives) = (&self.totals, &self.derivatives);
            let attained_by = &self.attained_by;
            let backward = |lane: usize, work: &mut LaneWork<T>| {
                for item in &work.items {
                    let part = &parts[item.part];
                    let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
                    let derivative = derivatives[part.program];
                    let done = known && run.derivative_along(derivative).is_some()
                        || run.root_is_extreme() && attained_by[item.part] != lane;
                    if !done && derivative != 0.0 {
                        run.backward_root(item.start, item.end, totals[item.part], derivative);
                    }
                }
            };
            each_lane(&mut self.lanes, backward);
            self.backward_literals();
        }
        Ok(&self.evaluation)
    }

    /// How much each axiom pulls: the norm of the gradient of its part of the loss by all numbers, after
    /// [`Engine::evaluate_with_gradients`] with the same parameters. Overwrites [`Engine::gradient`].
    pub fn axiom_gradient_norms(&mut self, parameters: &Parameters) -> Vec<f64> {
        let mut norms = Vec::with_capacity(self.execs.len());
        for axiom in 0..self.execs.len() {
            let semantics = self.plan.semantics;
            self.clear_derivatives();
            let shared = Shared::new(
                &self.plan,
                &self.active,
                &self.execs,
                &self.literals,
                &semantics,
                parameters,
            );
            let derivative = self.derivatives[axiom];
            for (lane, work) in self.lanes.iter_mut().enumerate() {
                for item in work.items.iter().filter(|_| derivative != 0.0) {
                    let part = &self.parts[item.part];
                    if part.program != axiom {
                        continue;
                    }
                    let mut run = Run::new(&shared, axiom, part.root.node, &mut work.lane);
                    if !run.root_is_extreme() || self.attained_by[item.part] == lane {
                        run.backward_root(item.start, item.end, self.totals[item.part], derivative);
                    }
                }
            }
            self.backward_literals();
            let squares = (self.gradients.iter().flatten()).map(|g| g.to_f64() * g.to_f64());
            norms.push(squares.sum::<f64>().sqrt());
        }
        norms
    }

    /// The derivative of the loss by each axiom, where it does not depend on their truth.
    fn derive_axioms(&mut self, parameters: &Parameters) {
        over_axioms::derive(
            &AggregatorSettings::new(parameters, &self.plan.semantics),
            &self.plan.semantics,
            &self.plan.axioms,
            &self.evaluation,
            &mut self.derivatives,
        );
    }

    /// Forgets the derivatives of the last evaluation.
    fn clear_derivatives(&mut self) {
        for (lane, work) in self.lanes.iter_mut().enumerate() {
            let by_literal = &mut work.lane.by_literal;
            by_literal.resize_with(self.plan.requests.len(), Default::default);
            for (i, request) in self.plan.requests.iter().enumerate() {
                for (by, occurs) in by_literal[i].iter_mut().zip(request.occurs) {
                    by.clear();
                    // The first lane's tables are where all are added up; the others have those they add to.
                    if lane == 0 || occurs {
                        by.resize(self.literals[i].positive.len(), T::ZERO);
                    }
                }
            }
        }
    }

    fn forward_literals(&mut self) {
        let space = self.plan.semantics.space;
        for (i, request) in self.plan.requests.iter().enumerate() {
            let kind = self.plan.outputs[request.predicate.index()].kind;
            let negated = request.occurs[1];
            self.literals[i].forward(kind, space, negated, request.width, &self.numbers[i]);
        }
    }

    fn backward_literals(&mut self) {
        let space = self.plan.semantics.space;
        let (first, rest) = match self.lanes.split_first_mut() {
            Some(split) => split,
            None => return,
        };
        for (i, request) in self.plan.requests.iter().enumerate() {
            let kind = self.plan.outputs[request.predicate.index()].kind;
            let by = &mut first.lane.by_literal[i];
            for lane in rest.iter() {
                for (sum, part) in by.iter_mut().zip(&lane.lane.by_literal[i]) {
                    for (sum, &part) in sum.iter_mut().zip(part) {
                        *sum += part;
                    }
                }
            }
            let [positive, negative] = by;
            self.literals[i].backward(
                kind,
                space,
                request.width,
                &self.numbers[i],
                positive,
                negative,
                &mut self.gradients[i],
            );
        }
    }

    /// Refuses numbers that are not finite, with the predicate, the row and an axiom that asks for it.
    fn check_numbers(&self) -> Result<(), Diagnostics> {
        for (i, numbers) in self.numbers.iter().enumerate() {
            // The sum of finite numbers may overflow, but that of a NaN or an infinity is never finite.
            if T::kernels().sum(numbers).is_finite() {
                continue;
            }
            let Some(at) = numbers.iter().position(|x| !x.is_finite()) else {
                continue;
            };
            let theory = self.plan.data.theory();
            let request = &self.requests[i];
            let asks = |exec: &Exec| {
                let is_it = |n: &exec::ExecNode| matches!(n.kind, NodeKind::Literal { request, .. } if request == i);
                exec.nodes.iter().any(is_it)
            };
            let axiom = self.execs.iter().position(asks);
            let axiom = axiom.map_or("?", |a| self.plan.axioms[a].name.as_str());
            return Err(Diagnostic::error(format!(
                "predicate `{}` gave {} in row {}, column {} of its answer",
                theory[request.predicate].name,
                numbers[at].to_f64(),
                at / request.width,
                at % request.width,
            ))
            .at(
                &theory.source,
                self.plan.requests[i].span,
                format!("asked for by axiom `{axiom}`"),
            )
            .help("a smaller learning rate or clipped gradients keep networks from running away")
            .into());
        }
        Ok(())
    }
}

fn each_lane<T: Real>(
    lanes: &mut [LaneWork<T>],
    run: impl Fn(usize, &mut LaneWork<T>) + Sync + Send,
) {
    match lanes {
        [only] => run(0, only),
        _ => {
            let lanes = lanes.par_iter_mut().enumerate();
            lanes.for_each(|(i, lane)| run(i, lane));
        }
    }
}

/// An extreme that several lanes attain has one derivative, not one per lane.
fn find_attaining_lanes<T: Real>(
    lanes: &[LaneWork<T>],
    totals: &[Partial],
    attained_by: &mut Vec<usize>,
) {
    attained_by.clear();
    attained_by.resize(totals.len(), usize::MAX);
    for (lane, work) in lanes.iter().enumerate() {
        for (item, (partial, _)) in work.items.iter().zip(&work.found) {
            if let (Partial::State(total), Partial::State(part)) = (&totals[item.part], partial)
                && part.a == total.a
                && attained_by[item.part] == usize::MAX
            {
                attained_by[item.part] = lane;
            }
        }
    }
}

/// Puts the lanes' shares of each part together, in order, and the parts of each axiom.
fn merge<T: Real>(
    shared: &Shared<T>,
    parts: &[Part],
    lanes: &[LaneWork<T>],
    totals: &mut Vec<Partial>,
    evaluation: &mut Evaluation,
) {
    totals.clear();
    evaluation.axioms.fill(AxiomValue::default());
    for work in lanes {
        for (item, (partial, empty)) in work.items.iter().zip(&work.found) {
            let part = &parts[item.part];
            evaluation.axioms[part.program].empty_exists += empty;
            if totals.len() == item.part {
                totals.push(*partial);
            } else if let (Partial::State(total), Partial::State(more)) =
                (&mut totals[item.part], partial)
            {
                let forall = root_is_forall(shared, part);
                let aggregator = run::aggregator_of(shared.semantics, forall);
                total.merge(aggregator, &shared.aggregators, more);
            }
        }
    }
    for (part, total) in parts.iter().zip(&*totals) {
        let value = &mut evaluation.axioms[part.program];
        value.truth += match total {
            Partial::Value(value) => *value,
            Partial::State(state) => {
                let forall = root_is_forall(shared, part);
                if state.count == 0 && !forall {
                    value.empty_exists += 1;
                }
                let aggregator = run::aggregator_of(shared.semantics, forall);
                run::quantifier_value(shared, forall, aggregator, state)
            }
        };
    }
}

fn root_is_forall<T>(shared: &Shared<T>, part: &Part) -> bool {
    let root = &shared.execs[part.program].nodes[part.root.node];
    matches!(root.kind, NodeKind::Quantifier { forall: true, .. })
}

/// −sat or 1 − sat.
fn loss_of(loss: Loss, sat: f64) -> f64 {
    match loss {
        Loss::MinusSat => -sat,
        Loss::OneMinusSat => 1.0 - sat,
    }
}
