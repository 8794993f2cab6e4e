//! The engine: logits in, the truth of each axiom, the loss and its gradient out.
//!
//! The work is cut into **lanes** by the size of the problem alone. A lane runs on one thread and adds up
//! its derivatives in its own tables; the tables are added in the order of the lanes. So the result is
//! the same to the last bit on any number of threads.

mod answers;
mod asked;
mod by_lanes;
mod clause;
mod contract;
mod eliminate;
mod exact;
mod explain;
mod export;
mod gather;
mod in_place;
mod lane;
mod literals;
mod merge;
mod over_axioms;
mod parameters;
mod pieces;
mod precision;
mod rank;
mod region;
mod request;
mod rules;
mod run;
mod share;
mod stop;
mod strata;
mod together;
mod touched;

use std::sync::Arc;

use crate::data::ColumnData;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::Settings;
use crate::output::OutputKind;
use crate::parameters::{AxiomParameters, Parameters};
use crate::plan::active::Active;
use crate::plan::events::Events;
use crate::plan::physical::{Node, Physical};
use crate::plan::program::NodeKind;
use crate::plan::strata::StratumPlan;
use crate::plan::{Plan, PlannedAxiom};
use crate::theory::{SortId, TableId};
use crate::vector::Real;

pub use answers::{Answer, Answers};
use asked::Asked;
use by_lanes::ByLanes;
pub use clause::Fusing;
use clause::{Exponentials, Sums, Tables};
pub use explain::{Explanation, Violation, Witness};
pub use export::{Exported, ExportedArray, ExportedBatch};
pub use gather::Gathered;
pub use in_place::InPlace;
use in_place::{Lent, numbers};
use literals::Literals;
use merge::{add_up, find_attaining_lanes, merge, root_is_forall, root_is_quantifier};
use over_axioms::OverAxioms;
use pieces::Threads;
pub use precision::Precision;
pub use request::Request;
pub use rules::Rule;
use run::{Partial, Run, Shared};
use share::{Fit, LaneWork, Part, each_lane};
use stop::Stop;
pub use together::Exchange;
use together::Joint;
use touched::Touched;

/// Runs a [`Plan`], in `f32` for training or in `f64`.
///
/// Once per step: [`Engine::set_batches`] if there are batches, the requests' numbers into
/// [`Engine::numbers_mut`], [`Engine::evaluate_with_gradients`], and [`Engine::gradient`] back to
/// whatever made the numbers. After the first step nothing is allocated.
#[derive(Debug)]
pub struct Engine<T: Real> {
    ground: Ground<T>,
    /// The summands of all axioms, in their order.
    parts: Vec<Part>,
    requests: Vec<Request>,
    numbers: Vec<Vec<T>>,
    gradients: Vec<Vec<T>>,
    fusing: Fusing,
    /// By axiom: its own parameters, and the current call's parameters with these applied.
    own: Vec<AxiomParameters>,
    settings: Vec<Settings<f64>>,
    /// The definitions that explanations look into.
    opened: Vec<String>,
    /// One axiom for each group with the same parameters, among those that use strata.
    leaders: Vec<usize>,
    asked: Asked,
    /// For strata that are products of matrices, by stratum and group.
    products: Vec<contract::Products<T>>,
    /// By request: whether the literal and its negation are wanted.
    wanted: Vec<[bool; 2]>,
    /// By request, plain and negated, if a small clause reads it; for the last α.
    exponentials: Vec<Option<(f64, Exponentials)>>,
    /// For a table's derivatives by small clauses.
    scratch: Vec<T>,
    lanes: Vec<LaneWork<T>>,
    /// The results of the lanes, by part.
    totals: Vec<Partial>,
    /// How often an `exists` inside was empty, by part.
    empties: Vec<u64>,
    /// The results of all processes together, by part; empty for a single process.
    joint: Vec<Joint>,
    /// For a root that is an extreme: the first lane that attains it, by part.
    attained_by: Vec<usize>,
    over_axioms: OverAxioms,
    /// Whether the last evaluation read lent numbers.
    lent: bool,
    /// The derivatives of the loss by axiom, unless others are given.
    derivatives: Vec<f64>,
    other_derivatives: Vec<f64>,
    evaluation: Evaluation,
    /// The thread pool for several lanes, if not rayon's own.
    pool: Option<Arc<rayon::ThreadPool>>,
    stop: Stop,
    /// The amount of work in the current batch.
    work: u64,
    /// Computed instead of programs under exact probabilities.
    events: Option<Arc<Events>>,
}

/// Which gradient is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// Of the loss.
    OfLoss,
    /// Of a function with these derivatives by the axioms' truths.
    Of(&'a [f64]),
}

/// The tables that the lanes read.
#[derive(Debug)]
struct Ground<T> {
    plan: Arc<Plan>,
    active: Active,
    literals: Vec<Literals<T>>,
    /// The same for small clauses.
    tables: Tables<T>,
    /// By axiom: whose parameters its strata are computed with.
    groups: Vec<usize>,
}

impl<T: Real> Ground<T> {
    fn shared<'a>(&'a self, settings: &'a [Settings<f64>], stop: &'a Stop) -> Shared<'a, T> {
        let Ground {
            plan,
            active,
            literals,
            groups,
            ..
        } = self;
        Shared::new(plan, active, literals, settings, groups, stop)
    }
}

/// The truth of the axioms and of all together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The aggregate of all axioms: a log in the log semantics and in `prod`, a truth degree in the
    /// others.
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
    /// How often an `exists` was empty.
    pub empty_exists: u64,
    /// Under exact probabilities: how many observations are impossible.
    pub impossible: u64,
}

impl<T: Precision> Engine<T> {
    /// An engine for a plan, with every row of every table.
    pub fn new(plan: impl Into<Arc<Plan>>) -> Engine<T> {
        let plan: Arc<Plan> = plan.into();
        let axioms = plan.axioms.len();
        let weight = |a: &PlannedAxiom| if a.hard { 0.0 } else { a.weight };
        let over_axioms = OverAxioms::new(plan.axioms.iter().map(weight).collect());
        let eps = plan.semantics.stable_eps;
        let mut engine = Engine {
            ground: Ground {
                active: Active::new(&plan),
                plan,
                literals: Vec::new(),
                tables: Tables::default(),
                groups: Vec::new(),
            },
            requests: Vec::new(),
            numbers: Vec::new(),
            gradients: Vec::new(),
            fusing: Fusing::default(),
            own: vec![AxiomParameters::default(); axioms],
            settings: vec![Settings::new(&Parameters::default(), eps); axioms],
            opened: Vec::new(),
            leaders: Vec::new(),
            asked: Asked::default(),
            products: Vec::new(),
            wanted: Vec::new(),
            exponentials: Vec::new(),
            scratch: Vec::new(),
            lanes: Vec::new(),
            totals: Vec::new(),
            empties: Vec::new(),
            joint: Vec::new(),
            attained_by: Vec::new(),
            parts: Vec::new(),
            over_axioms,
            lent: false,
            derivatives: vec![0.0; axioms],
            other_derivatives: vec![0.0; axioms],
            pool: None,
            evaluation: Evaluation {
                axioms: vec![AxiomValue::default(); axioms],
                ..Evaluation::default()
            },
            stop: Stop::default(),
            work: 0,
            events: None,
        };
        engine.events = engine.ground.plan.events.clone();
        engine.take_over_plan(0);
        engine
    }

    /// Takes over what the plan says about its axioms and requests, of which the first few are as they were.
    fn take_over_plan(&mut self, fixed: usize) {
        let plan = &self.ground.plan;
        let programs = plan.programs.iter().enumerate();
        let roots = programs.flat_map(|(p, exec)| exec.roots.iter().map(move |&root| (p, root)));
        let part = |(program, root)| Part {
            program,
            root,
            fused: None,
            fit: Fit::default(),
        };
        self.parts = roots.map(part).collect();
        self.totals.reserve(self.parts.len());
        self.attained_by.reserve(self.parts.len());
        let count = plan.requests.len();
        self.requests.truncate(fixed);
        self.requests
            .extend(plan.requests[fixed..].iter().map(|r| Request {
                predicate: r.predicate,
                shape: r.shape.clone(),
                width: r.width,
                arity: r.extents.len(),
                span: r.span,
                rows: 0,
                individuals: Vec::new(),
                numbers: Arc::clone(plan.data.numbers()),
            }));
        // A call may have brought more.
        for request in &mut self.requests {
            request.numbers = Arc::clone(plan.data.numbers());
        }
        self.ground.literals.resize(count, Literals::default());
        self.numbers.resize(count, Vec::new());
        self.gradients.resize(count, Vec::new());
        self.wanted = wanted_literals(plan);
        self.group_axioms();
        self.asked.everything(&self.ground.plan);
        T::list_rows(self, fixed);
        T::assign_lanes(self);
    }

    /// Gives the rows of tables, and the sizes of sorts, that come with each call
    /// ([`Data::set_streamed`](crate::Data::set_streamed),
    /// [`Data::set_streamed_size`](crate::Data::set_streamed_size)). What depends on them is planned again, and the
    /// requests change accordingly; batches contain all rows again. Tables and sizes that are not given stay as they
    /// are. After an error none of the new rows and sizes are there.
    ///
    /// ```
    /// use logltn::{ColumnData, Data, Engine, Output, Plan, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
    ///     axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_streamed("sums")?;
    /// data.set_streamed_size("Image")?;
    /// let mut engine = Engine::<f32>::new(Plan::new(&data, &[Output::softmax()], &Semantics::default())?);
    /// let (sums, image) = (theory.table("sums").unwrap(), theory.sort("Image").unwrap());
    /// engine.stream(&[(image, 4)], vec![(sums, vec![
    ///     ColumnData::Individuals(vec![0, 2]),
    ///     ColumnData::Individuals(vec![1, 3]),
    ///     ColumnData::Int(vec![7, 12]),
    /// ])])?;
    /// assert_eq!(engine.requests()[0].individuals(), [0, 1, 2, 3]);
    /// assert_eq!(engine.plan().axioms()[0].groundings, 8 + 7);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn stream(
        &mut self,
        sizes: &[(SortId, usize)],
        rows: Vec<(TableId, Vec<ColumnData>)>,
    ) -> Result<(), Diagnostics> {
        let done = Arc::make_mut(&mut self.ground.plan).stream(sizes, rows);
        self.events = self.ground.plan.events.clone();
        let fixed = self.ground.plan.fixed().unwrap_or_default();
        self.ground.active.renew(&self.ground.plan, fixed);
        self.take_over_plan(fixed.2);
        done
    }

    /// Sets whether small clauses are evaluated in one pass; for tests and measurements.
    #[doc(hidden)]
    pub fn set_fusing(&mut self, fusing: Fusing) {
        self.fusing = fusing;
        T::assign_lanes(self);
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.ground.plan
    }

    /// The rows on which the predicates are needed in the current batch.
    pub fn requests(&self) -> &[Request] {
        &self.requests[self.strata()..]
    }

    /// Restricts batched tables to some of their rows, by number; the requests change accordingly.
    pub fn set_batches<'r>(
        &mut self,
        batches: impl IntoIterator<Item = (TableId, &'r [u32])>,
    ) -> Result<(), Diagnostics> {
        for (table, rows) in batches {
            self.restrict(table, rows)?;
        }
        let plan = &self.ground.plan;
        let (maps, requests) = (plan.maps.len(), plan.requests.len());
        self.ground.active.number(plan, maps, requests);
        self.asked.of_batch(plan, &self.ground.active);
        if let Some(events) = &mut self.events {
            Arc::make_mut(events).choose(plan, &self.ground.active)?;
        }
        T::list_rows(self, requests);
        T::assign_lanes(self);
        Ok(())
    }

    /// Whether the last evaluation's batch had no binding for an axiom, by place in the plan, because its guards keep
    /// none of the rows. It then counted as true in the loss, and has no truth of its own.
    pub fn saw_nothing(&self, axiom: usize) -> bool {
        let Ground { plan, active, .. } = &self.ground;
        // An empty `exists` is false, and counted.
        self.evaluation.axioms[axiom].empty_exists == 0 && active.leaves_nothing(plan, axiom)
    }

    /// Whether an axiom, by place in the plan, asks no predicate about anything: a sort or table is empty, or guards
    /// keep nothing.
    pub fn is_about_nothing(&self, axiom: usize) -> bool {
        (self.ground.active).is_about_nothing(&self.ground.plan, axiom)
    }

    fn restrict(&mut self, table: TableId, rows: &[u32]) -> Result<(), Diagnostics> {
        let name = &self.ground.plan.data.theory()[table].name;
        let data = self.ground.plan.data.table(table);
        let Some(data) = data.filter(|t| t.batched) else {
            let what = format!("table `{name}` is not batched");
            let error = Diagnostic::error(Code::TableNotBatched, what);
            return Err((error.help("call `Data::set_batched` before planning")).into());
        };
        if let Some(row) = rows.iter().find(|r| **r as usize >= data.rows) {
            let rows = data.rows;
            let what = format!("row {row} is not in table `{name}`, which has {rows} rows");
            return Err(Diagnostic::error(Code::RowOutOfRange, what).into());
        }
        self.ground.active.restrict(&self.ground.plan, table, rows);
        Ok(())
    }

    /// The numbers of a request, row by row, to be filled in before evaluating.
    pub fn numbers_mut(&mut self, request: usize) -> &mut [T] {
        let strata = self.strata();
        &mut self.numbers[strata + request]
    }

    /// A request together with its numbers, for callers that fill them in row by row.
    pub fn request_and_numbers(&mut self, request: usize) -> (&Request, &mut [T]) {
        let request = self.strata() + request;
        (&self.requests[request], &mut self.numbers[request])
    }

    /// The derivative of the loss by each number of a request, after
    /// [`Engine::evaluate_with_gradients`].
    pub fn gradient(&self, request: usize) -> &[T] {
        &self.gradients[self.strata() + request]
    }

    /// The same, for callers that add to the loss.
    pub fn gradient_mut(&mut self, request: usize) -> &mut [T] {
        let strata = self.strata();
        &mut self.gradients[strata + request]
    }

    /// The truth of the axioms and the loss.
    pub fn evaluate(&mut self, parameters: &Parameters) -> Result<&Evaluation, Diagnostics> {
        T::run(self, parameters, None, &mut [], None)?;
        Ok(&self.evaluation)
    }

    /// The truth of the axioms, the loss, and its gradient by every number.
    pub fn evaluate_with_gradients(
        &mut self,
        parameters: &Parameters,
    ) -> Result<&Evaluation, Diagnostics> {
        T::run(self, parameters, Some(Wanted::OfLoss), &mut [], None)?;
        Ok(&self.evaluation)
    }

    /// The truth of the axioms and, as [`Engine::gradient`], the gradient of a function of them whose derivative by
    /// each truth is given, in the order of [`Plan::axioms`](crate::Plan::axioms): for callers that combine axioms
    /// differently from the loss. Derivatives that are not finite count as 0.
    ///
    /// # Panics
    /// If there is not one for each axiom.
    pub fn evaluate_with_derivatives(
        &mut self,
        parameters: &Parameters,
        by_axiom: &[f64],
    ) -> Result<&Evaluation, Diagnostics> {
        assert_eq!(by_axiom.len(), self.derivatives.len(), "one for each axiom");
        T::run(self, parameters, Some(Wanted::Of(by_axiom)), &mut [], None)?;
        Ok(&self.evaluation)
    }

    /// Evaluates without copying: lent numbers are read, and their gradients written, in the caller's memory. Requests
    /// without lent numbers use those of [`Engine::numbers_mut`].
    ///
    /// # Panics
    /// If there is not one for each request, or not one derivative for each axiom, or not as many numbers as are
    /// needed.
    pub fn evaluate_in_place(
        &mut self,
        parameters: &Parameters,
        wanted: Option<Wanted>,
        lent: &mut [Option<InPlace<'_, T>>],
    ) -> Result<&Evaluation, Diagnostics> {
        self.evaluate_maybe_together(parameters, wanted, lent, None)
    }

    /// [`Engine::evaluate_in_place`] with other processes, which have other rows of batched and streamed tables and
    /// other individuals of sorts whose size comes with the call. Each calls this at the same time and sends its
    /// results: five numbers for each of [`Plan::shares`]. Truths and loss are those of all rows
    /// together; gradients are to be averaged over the processes.
    ///
    /// # Errors
    /// Also any error of the exchange.
    ///
    /// # Panics
    /// As [`Engine::evaluate_in_place`].
    pub fn evaluate_together(
        &mut self,
        parameters: &Parameters,
        wanted: Option<Wanted>,
        lent: &mut [Option<InPlace<'_, T>>],
        exchange: &mut Exchange<'_>,
    ) -> Result<&Evaluation, Diagnostics> {
        self.evaluate_maybe_together(parameters, wanted, lent, Some(exchange))
    }

    fn evaluate_maybe_together(
        &mut self,
        parameters: &Parameters,
        wanted: Option<Wanted>,
        lent: &mut [Option<InPlace<'_, T>>],
        exchange: Option<&mut Exchange<'_>>,
    ) -> Result<&Evaluation, Diagnostics> {
        self.check_lent(lent);
        if let Some(Wanted::Of(by_axiom)) = wanted {
            assert_eq!(by_axiom.len(), self.derivatives.len(), "one for each axiom");
        }
        T::run(self, parameters, wanted, lent, exchange)?;
        Ok(&self.evaluation)
    }

    /// Uses this thread pool from now on instead of rayon's own. The number of threads changes no bit of
    /// a result.
    pub fn run_in(&mut self, pool: Arc<rayon::ThreadPool>) {
        self.pool = Some(pool);
    }

    /// Lists the rows of the requests, of which the first few change with the batch only.
    fn list_rows_here(&mut self, known: usize) {
        let strata = self.strata();
        for (i, plan) in self.ground.plan.requests.iter().enumerate().skip(strata) {
            let events = self.events.as_ref();
            if i < known && (!plan.dynamic || plan.complete) && events.is_none() {
                continue;
            }
            let numbering = &self.ground.active.numbering[i];
            let codes = events.map_or(&numbering.codes[..], |events| events.rows(i));
            let request = &mut self.requests[i];
            request.rows = events.map_or_else(|| numbering.rows(plan), |_| codes.len());
            request.individuals.resize(request.rows * request.arity, 0);
            if request.arity > 0 {
                let rows = request.individuals.chunks_exact_mut(request.arity);
                for (number, row) in rows.enumerate() {
                    let code = codes.get(number).copied();
                    plan.decode(code.unwrap_or(number as u64), row);
                }
            }
            let length = request.rows * request.width;
            self.numbers[i].resize(length, T::ZERO);
            self.gradients[i].resize(length, T::ZERO);
        }
    }

    /// Prepares the settings of this call and the literals' truths.
    fn prepare(&mut self, parameters: &Parameters, lent: Lent<T>) -> Result<(), Diagnostics> {
        parameters.validate()?;
        if self.take_parameters(parameters) {
            T::assign_lanes(self);
        }
        self.forward_literals(parameters, lent)?;
        self.forward_strata();
        Ok(())
    }

    fn run_here(
        &mut self,
        parameters: &Parameters,
        wanted: Option<Wanted>,
        lent: Lent<T>,
        exchange: Option<&mut Exchange<'_>>,
    ) -> Result<(), Diagnostics> {
        self.joint.clear();
        self.lent = !lent.is_empty();
        if self.events.is_some() {
            return self.run_exact(parameters, wanted, lent);
        }
        self.prepare(parameters, lent)?;
        let gradients = wanted.is_some();
        let semantics = self.ground.plan.semantics;
        let settings = self.over_axioms.settings(parameters, semantics.stable_eps);
        // If the aggregation over axioms is linear, its derivatives are known before the truths.
        let known = match wanted {
            None => false,
            Some(Wanted::OfLoss) => {
                (self.over_axioms).derive_linear(&semantics, &settings, &mut self.derivatives)
            }
            Some(Wanted::Of(by_axiom)) => {
                self.derivatives.copy_from_slice(by_axiom);
                (self.derivatives.iter_mut())
                    .filter(|d| !d.is_finite())
                    .for_each(|d| *d = 0.0);
                true
            }
        };
        if gradients {
            self.clear_derivatives();
        }
        let pool = self.pool.as_deref();
        let shared = self.ground.shared(&self.settings, &self.stop);
        let (parts, derivatives, tables) = (&self.parts, &self.derivatives, &self.ground.tables);
        // Of a mean that others have a share of, only if it is known how many they have.
        let together = exchange.is_some();
        let known_of = |part: &Part| known && !(together && part.root.sharded);
        let forward = |_: usize, work: &mut LaneWork<T>| {
            work.found.clear();
            for (item, sums) in work.items.iter().zip(&mut work.sums) {
                work.lane.empty_exists = 0;
                let part = &parts[item.part];
                let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
                if let Some(fused) = part.fused {
                    let (start, end) = (item.start, item.end);
                    let partial = run.clause(fused, tables, start, end, sums);
                    work.found.push((partial, 0));
                    continue;
                }
                let along = known_of(part)
                    .then(|| run.derivative_along(derivatives[part.program]))
                    .flatten();
                let partial = run.forward_root(item.start, item.end, along);
                work.found.push((partial, work.lane.empty_exists));
            }
        };
        each_lane(pool, &mut self.lanes, forward);
        if self.stop.is_set() {
            return self.unless_stopped();
        }
        merge(
            &shared,
            &self.parts,
            &self.lanes,
            &mut self.totals,
            &mut self.empties,
        );
        if let Some(exchange) = exchange {
            let (totals, empties) = (&mut self.totals, &mut self.empties);
            self.joint = together::join(&shared, parts, totals, empties, exchange)?;
        }
        let (totals, joint) = (&self.totals, &self.joint);
        add_up(
            &shared,
            parts,
            totals,
            &self.empties,
            joint,
            &mut self.evaluation,
        );
        find_attaining_lanes(&self.lanes, totals, &mut self.attained_by);
        for (attained_by, joint) in self.attained_by.iter_mut().zip(joint) {
            if !joint.mine {
                *attained_by = usize::MAX;
            }
        }
        // Given derivatives are not those of the loss.
        let derivatives = match wanted {
            Some(Wanted::Of(_)) => &mut self.other_derivatives,
            _ => &mut self.derivatives,
        };
        (self.over_axioms).finish(&semantics, &settings, &mut self.evaluation, derivatives);
        if gradients {
            let derivatives = &self.derivatives;
            let attained_by = &self.attained_by;
            let backward = |lane: usize, work: &mut LaneWork<T>| {
                for item in &work.items {
                    let part = &parts[item.part];
                    let mut run = Run::new(&shared, part.program, part.root.node, &mut work.lane);
                    let factor = joint.get(item.part).map_or(1.0, |joint| joint.factor);
                    let derivative = derivatives[part.program] * factor;
                    let done = part.fused.is_some()
                        || known_of(part) && run.derivative_along(derivative).is_some()
                        || run.root_is_extreme() && attained_by[item.part] != lane;
                    if !done && derivative != 0.0 {
                        run.backward_root(item.start, item.end, totals[item.part], derivative);
                    }
                }
            };
            // Often the forward pass did everything already, and waking other threads would gain nothing.
            let gone_along = |part: &Part| {
                let root = shared.aggregation(root_is_forall(&shared, part));
                let linear = root.laws.is_linear();
                part.fused.is_some()
                    || known_of(part) && linear && root_is_quantifier(&shared, part)
            };
            if !self.parts.iter().all(gone_along) {
                each_lane(pool, &mut self.lanes, backward);
            }
            self.backward_strata();
            self.backward_literals(None, lent);
        }
        self.unless_stopped()
    }

    /// How much each axiom pulls: the norm of the gradient of its part of the loss by all numbers, after
    /// [`Engine::evaluate_with_gradients`] with the same parameters. Overwrites [`Engine::gradient`].
    ///
    /// # Panics
    /// After [`Engine::evaluate_in_place`], since the lent numbers may be gone.
    pub fn axiom_gradient_norms(&mut self, parameters: &Parameters) -> Vec<f64> {
        assert!(!self.lent, "the numbers were only lent");
        T::axiom_gradient_norms(self, parameters)
    }

    fn axiom_gradient_norms_here(&mut self, parameters: &Parameters) -> Vec<f64> {
        if self.events.is_some() {
            return self.exact_gradient_norms(parameters);
        }
        self.take_parameters(parameters);
        let mut norms = Vec::with_capacity(self.ground.plan.programs.len());
        for axiom in 0..self.ground.plan.programs.len() {
            if self.stop.is_set() {
                break;
            }
            self.clear_derivatives();
            let shared = self.ground.shared(&self.settings, &self.stop);
            let derivative = self.derivatives[axiom];
            for (lane, work) in self.lanes.iter_mut().enumerate() {
                for item in work.items.iter().filter(|_| derivative != 0.0) {
                    let part = &self.parts[item.part];
                    if part.program != axiom || part.fused.is_some() {
                        continue;
                    }
                    let mut run = Run::new(&shared, axiom, part.root.node, &mut work.lane);
                    if !run.root_is_extreme() || self.attained_by[item.part] == lane {
                        run.backward_root(item.start, item.end, self.totals[item.part], derivative);
                    }
                }
            }
            self.backward_strata();
            self.backward_literals(Some(axiom), &mut []);
            let squares = (self.gradients.iter().flatten()).map(|g| g.to_f64() * g.to_f64());
            norms.push(squares.sum::<f64>().sqrt());
        }
        norms
    }

    /// Forgets the derivatives of the last evaluation.
    fn clear_derivatives(&mut self) {
        for (lane, work) in self.lanes.iter_mut().enumerate() {
            let (items, parts) = (&work.items, &self.parts);
            let only_clauses = items.iter().all(|i| parts[i.part].fused.is_some())
                && self.ground.plan.strata.steps.is_empty();
            let by_literal = &mut work.lane.by_literal;
            by_literal.resize_with(self.ground.plan.requests.len(), Default::default);
            for (i, wanted) in self.wanted.iter().enumerate() {
                let predicate = self.ground.plan.requests[i].predicate;
                // A stratum has none.
                let output = self.ground.plan.outputs.get(predicate.index());
                let kind = output.map_or(OutputKind::Sigmoid, |output| output.kind);
                for (by, wanted) in by_literal[i].iter_mut().zip(wanted) {
                    // All tables are added up in those of the first lane. Other lanes have only the tables that they
                    // add to: small clauses have their own.
                    let needed = match lane {
                        0 => *wanted || kind != OutputKind::Sigmoid,
                        _ => *wanted && !only_clauses,
                    };
                    let length = self.ground.literals[i].positive.len();
                    by.clear(if needed { length } else { 0 });
                }
            }
        }
    }

    fn forward_literals(
        &mut self,
        parameters: &Parameters,
        lent: Lent<T>,
    ) -> Result<(), Diagnostics> {
        let pool = self.pool.clone();
        let threads = Threads(pool.as_deref());
        let space = self.ground.plan.semantics.space;
        let strata = self.strata();
        for (i, request) in self.ground.plan.requests.iter().enumerate().skip(strata) {
            let kind = self.ground.plan.outputs[request.predicate.index()].kind;
            let wanted = self.wanted[i];
            let numbers = numbers(lent, &self.numbers, i, strata);
            let literals = &mut self.ground.literals[i];
            if !literals.forward((kind, space), wanted, request.width, numbers, threads) {
                self.check_numbers(i, lent)?;
            }
        }
        let exponentials = self.ground.plan.semantics.clauses_take_exponentials();
        if exponentials && self.look_at_exponentials() {
            T::assign_lanes(self);
        }
        let alpha = exponentials.then_some(parameters.alpha);
        (self.ground.tables).fill(&self.ground.literals, alpha, threads);
        Ok(())
    }

    /// Adds up the lanes' derivatives by literals, including those of small clauses (of one axiom only, on
    /// request), and passes them on to the numbers.
    fn backward_literals(&mut self, only: Option<usize>, lent: Lent<T>) {
        let pool = self.pool.clone();
        let threads = Threads(pool.as_deref());
        let space = self.ground.plan.semantics.space;
        let strata = self.strata();
        for (i, request) in self.ground.plan.requests.iter().enumerate().skip(strata) {
            let kind = self.ground.plan.outputs[request.predicate.index()].kind;
            let Some(first) = self.lanes.first_mut() else {
                let lent = lent
                    .iter_mut()
                    .flatten()
                    .filter_map(|l| l.gradient.as_mut());
                lent.for_each(|gradient| gradient.fill(T::ZERO));
                return;
            };
            let mut by = std::mem::take(&mut first.lane.by_literal[i]);
            for (at, part) in self.parts.iter().enumerate() {
                let (Some(fused), Partial::State(total)) = (part.fused, self.totals[at]) else {
                    continue;
                };
                if only.is_some_and(|axiom| axiom != part.program) || total.count == 0.0 {
                    continue;
                }
                let clause = &self.ground.plan.programs[part.program].clauses[fused.clause];
                let factor = self.joint.get(at).map_or(1.0, |joint| joint.factor);
                let derivative = self.derivatives[part.program] * factor;
                let settings = &self.settings[part.program];
                let factor = clause::common_factor(clause, settings, &total, derivative);
                let sums = self.lanes.iter().flat_map(|lane| {
                    let own = lane.items.iter().zip(&lane.sums);
                    own.filter(|(item, _)| item.part == at).map(|(_, s)| s)
                });
                let scratch = &mut self.scratch;
                clause::finish(
                    clause,
                    fused,
                    &self.ground.tables,
                    i,
                    factor,
                    sums,
                    scratch,
                    &mut by,
                    threads,
                );
            }
            let (numbers, gradient) = match lent.get_mut(i - strata) {
                Some(Some(lent)) => (lent.numbers, lent.gradient.as_deref_mut()),
                _ => (&self.numbers[i][..], None),
            };
            self.lanes[0].lane.by_literal[i] = by;
            let lanes = self.lanes.iter_mut();
            let lanes = lanes.map(|work| &mut work.lane.by_literal[i]);
            self.ground.literals[i].backward(
                (kind, space),
                request.width,
                numbers,
                ByLanes::of(lanes),
                gradient.unwrap_or(&mut self.gradients[i]),
                threads,
            );
            for work in &mut self.lanes {
                work.lane.by_literal[i].iter_mut().for_each(Touched::taken);
            }
        }
    }

    /// Refuses numbers that are not finite, with the predicate, the row and an axiom that uses it.
    fn check_numbers(&self, i: usize, lent: &[Option<InPlace<T>>]) -> Result<(), Diagnostics> {
        let numbers = numbers(lent, &self.numbers, i, self.strata());
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            let theory = self.ground.plan.data.theory();
            let request = &self.requests[i];
            let asks = |exec: &Physical| {
                let is_it =
                    |n: &Node| matches!(n.kind, NodeKind::Literal { request, .. } if request == i);
                exec.nodes.iter().any(is_it)
            };
            let axiom = self.ground.plan.programs.iter().position(asks);
            let plan = &self.ground.plan;
            let asks = |s: &&StratumPlan| s.programs.iter().flatten().any(asks);
            let definition = || plan.strata.strata.iter().find(asks);
            let by = match axiom {
                Some(axiom) => format!("axiom `{}`", plan.axioms[axiom].name),
                None => definition().map_or("?".to_string(), |s| match &s.shared {
                    Some(part) => format!("axiom `{}`", part.axiom),
                    None => format!("definition `{}`", s.name),
                }),
            };
            return Err(Diagnostic::error(
                Code::NotFinite,
                format!(
                    "predicate `{}` gave {} in row {}, column {} of its answer",
                    theory[request.predicate].name,
                    numbers[at].to_f64(),
                    at / request.width,
                    at % request.width,
                ),
            )
            .at(
                &theory.source,
                self.ground.plan.requests[i].span,
                format!("asked for by {by}"),
            )
            .help("a smaller learning rate or clipped gradients keep networks from running away")
            .into());
        }
        Ok(())
    }
}

/// By request: whether the literal and its negation are wanted, as themselves or as each other's complements.
fn wanted_literals(plan: &Plan) -> Vec<[bool; 2]> {
    let mut wanted: Vec<[bool; 2]> = plan.requests.iter().map(|r| r.occurs).collect();
    let semantics = &plan.semantics;
    for exec in plan.all_programs().flatten() {
        for node in &exec.nodes {
            let (members, wants) = match &node.kind {
                NodeKind::And(members) => {
                    (members.as_slice(), semantics.and.laws().wants_complements)
                }
                NodeKind::Or(members) => {
                    (members.as_slice(), semantics.or.laws().wants_complements)
                }
                NodeKind::Quantifier { forall, body, .. } => {
                    let laws = semantics.aggregator(*forall).laws();
                    (std::slice::from_ref(body), laws.wants_complements)
                }
                _ => continue,
            };
            for &member in members.iter().filter(|_| wants) {
                if let NodeKind::Literal { request, .. } = exec.nodes[member].kind {
                    wanted[request] = [true; 2];
                }
            }
        }
    }
    wanted
}
