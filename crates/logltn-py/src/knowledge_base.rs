//! A knowledge base as Python sees it: one call at a time, without the interpreter's lock, and usable in a child
//! process.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use logltn::Precision as Real;
use logltn::theory::{PredicateId, SortId, TableId};
use logltn::{
    ArgumentShape, Code, Data, Diagnostic, Diagnostics, Engine, Evaluation, Exchange, Output,
    OutputKind, Parameters, Plan, PlanOptions, Semantics, Space, StandIns,
};
use logltn_learn::{AxiomSettings, check_members, set_axioms};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyByteArray, PyBytes, PyDict, PyList};
use rayon::ThreadPool;

use crate::array::Array;
use crate::call::{AskedRows, Gradient, Holds, Question, State, Target, Value, Work};
use crate::check;
use crate::coming::{Coming, Named, Setting, in_a_hurry, setting};
use crate::ctrl_c::CtrlC;
use crate::error::{Failure, Problem, guarded, panicked, take_problems, warn};
use crate::given::{Column, Given};
use crate::pool::pool;
use crate::prepared::Prepared;
use crate::theory::Theory;
use crate::turn::Turn;

/// A plan and the engine that runs it.
#[pyclass(frozen, module = "logltn._native")]
pub struct KnowledgeBase {
    pub plan: Arc<Plan>,
    /// As it was given.
    pub data: Data,
    pub recipe: Arc<Recipe>,
    /// Warnings about theory and data.
    pub warnings: Diagnostics,
    names: Arc<[String]>,
    /// For each predicate: whether a call queries it at the same rows whatever else a plan is made
    /// for.
    settled: Vec<bool>,
    threads: Option<usize>,
    /// Only accessed with the interpreter's lock held, which a fork waits for: so it is consistent in a
    /// child.
    process: Mutex<Arc<Process>>,
}

/// What a knowledge base is made of.
pub struct Parts {
    pub data: Data,
    /// The data without what comes with each call.
    pub known: Option<Data>,
    pub semantics: Semantics,
    pub recipe: Recipe,
    pub threads: Option<usize>,
    /// Warnings about theory and data.
    pub warnings: Diagnostics,
}

/// What is needed to make engines.
#[derive(Default)]
pub struct Recipe {
    /// Whether to compute in double precision; `None` if the values decide.
    pub double: Option<bool>,
    /// p_forall of the aggregation over axioms, if set separately.
    pub p_axioms: Option<f64>,
    /// Whether bindings with an empty `exists`, and axioms without bindings, are left out of means.
    pub leave_out_empty: bool,
    pub axioms: BTreeMap<String, AxiomSettings>,
    pub outputs: Vec<Output>,
    pub options: PlanOptions,
    /// The data without what comes with each call, with stand-ins for it if plans can be reused across calls.
    pub known: Option<(Data, Vec<StandIns>)>,
    /// Stops planning and evaluation, for one process at a time.
    pub stop: Arc<AtomicBool>,
}

/// What belongs to one process.
pub struct Process {
    id: u32,
    pub pool: Arc<ThreadPool>,
    pub ctrl_c: Arc<CtrlC>,
    /// The lock for computing, held without the interpreter's lock. In a child it may belong to a thread that does
    /// not exist there, with half-done work behind it; so a child makes its own.
    turn: Turn,
    state: Mutex<States>,
    /// Engines of laws, most recently used last.
    pub laws: Mutex<Vec<LawEngine>>,
}

/// An engine of laws, with the call it was made for.
pub struct LawEngine {
    pub laws: Vec<String>,
    pub setting: Arc<Setting>,
    /// `None` without laws.
    pub state: Option<State<f64>>,
}

impl Process {
    fn new(
        recipe: &Arc<Recipe>,
        plan: &Arc<Plan>,
        pool: Arc<ThreadPool>,
    ) -> Result<Process, Diagnostics> {
        let ctrl_c = Arc::new(CtrlC::new(Arc::clone(&pool), Arc::clone(&recipe.stop)));
        let mut state = States::default();
        state.take(recipe.double.unwrap_or(false), || {
            precision(recipe, plan, &ctrl_c, recipe.double.unwrap_or(false))
        })?;
        Ok(Process {
            id: std::process::id(),
            pool,
            ctrl_c,
            turn: Turn::default(),
            state: Mutex::new(state),
            laws: Mutex::default(),
        })
    }
}

pub enum Precision {
    Single(State<f32>),
    Double(State<f64>),
}

/// The same for a state of either precision.
macro_rules! in_either {
    ($precision:expr, $state:ident => $done:expr) => {
        match $precision {
            $crate::knowledge_base::Precision::Single($state) => $done,
            $crate::knowledge_base::Precision::Double($state) => $done,
        }
    };
}
pub(crate) use in_either;

/// The engine of each precision, made on demand.
#[derive(Default)]
struct States {
    made: [Option<Precision>; 2],
    /// The precision used last: 1 is double.
    now: usize,
}

impl States {
    /// The engine of a precision, made if necessary; questions go to it from now on.
    fn take(
        &mut self,
        double: bool,
        make: impl FnOnce() -> Result<Precision, Diagnostics>,
    ) -> Result<&mut Precision, Diagnostics> {
        self.now = usize::from(double);
        let slot = &mut self.made[self.now];
        if slot.is_none() {
            *slot = Some(make()?);
        }
        slot.as_mut()
            .ok_or_else(|| Diagnostic::error(Code::Internal, "no precision").into())
    }
}

/// A plan reused across calls. While this lives, no other plan takes its place.
#[pyclass(frozen, eq, hash, module = "logltn._native")]
pub struct KeptPlan(pub Arc<Plan>);

impl PartialEq for KeptPlan {
    fn eq(&self, other: &KeptPlan) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Hash for KeptPlan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// What networks were asked.
#[pyclass(frozen, module = "logltn._native")]
pub struct Asked {
    pub question: Question,
}

#[pymethods]
impl Asked {
    /// The plan, if it is reused across calls.
    #[getter]
    fn plan(&self) -> Option<KeptPlan> {
        (self.question.plan()).map(|plan| KeptPlan(Arc::clone(plan)))
    }
}

/// The subject of a call: its data, or a question that networks were asked.
#[derive(FromPyObject)]
pub enum About<'py> {
    Coming(Bound<'py, Coming>),
    Asked(Bound<'py, Asked>),
}

/// Predicate (or request), which of its numbers, values, gradient.
pub type GivenValue = (usize, Holds, Array, Option<Array>);

/// How a predicate's arguments are built: nested lists, and the individuals of each row.
pub type AskedFor<'py> = (usize, Bound<'py, PyList>, Bound<'py, PyBytes>, usize, usize);

#[pymethods]
impl KnowledgeBase {
    #[new]
    #[pyo3(signature = (theory, given, *, double, threads, memory, problems, sharded=false, p_axioms=None, leave_out_empty=false, share=true))]
    #[allow(clippy::too_many_arguments)] // Python's keyword arguments
    fn new(
        py: Python<'_>,
        theory: &Theory,
        given: Given,
        double: Option<bool>,
        threads: Option<usize>,
        memory: Option<u64>,
        problems: Vec<Problem>,
        sharded: bool,
        p_axioms: Option<f64>,
        leave_out_empty: bool,
        share: bool,
    ) -> PyResult<KnowledgeBase> {
        guarded(py, || {
            let pool = pool(py, threads)?;
            let mut found = Diagnostics::new();
            let labels = given.labels();
            let theory = logltn::Theory::parse_as_far_as_possible(
                theory.source.clone(),
                &labels,
                &mut found,
            );
            // Without the theory, further messages would be about symbols that do not exist.
            if found.has_errors() {
                return Err(found.into());
            }
            take_problems(problems, &mut found);
            let (data, known) = given.data(py, &pool, &theory, &mut found)?;
            let outputs = given.outputs(&theory, &mut found);
            let semantics = given.semantics(&mut found);
            let axioms = given.axioms(&mut found);
            found.extend(data.missing());
            if found.has_errors() {
                return Err(found.into());
            }
            let mut options = PlanOptions::default();
            options.memory = memory.unwrap_or(options.memory);
            options.sharded = sharded;
            options.share = share;
            let recipe = Recipe {
                double,
                p_axioms,
                leave_out_empty,
                axioms,
                outputs,
                options,
                ..Recipe::default()
            };
            let parts = Parts {
                data,
                known: Some(known),
                semantics,
                recipe,
                threads,
                warnings: found,
            };
            KnowledgeBase::of(py, pool, parts)
        })
    }

    /// By summand of an axiom: which axiom, and whether each process has a share of it.
    #[getter]
    fn shares(&self) -> Vec<(usize, bool)> {
        self.plan.shares()
    }

    /// For each predicate: whether a call queries it at the same rows, in the same order, whatever else a plan is
    /// made for.
    #[getter]
    fn settled(&self) -> Vec<bool> {
        self.settled.clone()
    }

    /// How many plans have been made for calls in this process: for tests.
    #[getter]
    fn plans(&self, py: Python<'_>) -> PyResult<u64> {
        guarded(py, || {
            self.with(py, |state| Ok(in_either!(state, state => state.plans())))
        })
    }

    /// Whether a device can run it. The CPU engine computes exact probabilities where degrees of 0 are possible.
    #[getter]
    fn exports(&self) -> bool {
        let logits = |o: &Output| matches!(o.kind, OutputKind::Softmax | OutputKind::Sigmoid);
        !self.plan.semantics().exact || self.recipe.outputs.iter().all(logits)
    }

    /// By predicate: what its numbers mean.
    #[getter]
    fn outputs(&self) -> Vec<&'static str> {
        let outputs = self.recipe.outputs.iter();
        outputs.map(|output| output.kind.name()).collect()
    }

    /// The names of the axioms, families written out.
    #[getter]
    fn axiom_names(&self) -> Vec<String> {
        self.names.to_vec()
    }

    /// The weights of the axioms, in the order of their names.
    #[getter]
    fn weights(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        guarded(py, || {
            self.with(py, |state| {
                Ok(in_either!(state, state => state.engine().weights().to_vec()))
            })
        })
    }

    /// Whether formulas have exact probabilities.
    #[getter]
    fn exact(&self) -> bool {
        self.plan.semantics().exact
    }

    /// Whether the truths of axioms, and those of literals, are logs.
    #[getter]
    fn logs(&self) -> (bool, bool) {
        let semantics = self.plan.semantics();
        (semantics.sat_is_log(), semantics.space == Space::Log)
    }

    /// The document of `logltn check --json`, with the cost of a step for these α, p and p_forall.
    fn check(&self, py: Python<'_>, parameters: Option<(f64, f64, f64)>) -> PyResult<String> {
        guarded(py, || {
            let weights = self.weights(py)?;
            let pool = Arc::clone(&self.process(py)?.pool);
            let step = parameters.map(|(alpha, p, p_forall)| {
                let parameters = Parameters { alpha, p, p_forall };
                py.detach(|| check::step(&self.plan, &pool, parameters))
            });
            let mut found = self.warnings.clone();
            found.extend(self.plan.warnings().clone());
            let document = logltn_cli::check_document(&self.plan, &weights, step, &found);
            Ok(serde_json::to_string(&document).unwrap_or_default())
        })
    }

    /// The plan as text.
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(self.plan.to_string()))
    }

    /// Reads the data of a call; for a question, tables that its text does not mention may be missing.
    #[pyo3(signature = (batch, sorts, tables, question=None))]
    fn coming(
        &self,
        py: Python<'_>,
        batch: Named<PyBuffer<i64>>,
        sorts: Named<usize>,
        tables: Named<Vec<Column>>,
        question: Option<String>,
    ) -> PyResult<Coming> {
        guarded(py, || {
            Coming::read(
                py,
                self.plan.data(),
                batch,
                sorts,
                tables,
                question.as_deref(),
            )
        })
    }

    /// The fast path for the data of most calls; `None` if something is unusual.
    #[pyo3(signature = (batch, sorts, tables))]
    fn coming_in_a_hurry(
        &self,
        py: Python<'_>,
        batch: Option<Bound<'_, PyAny>>,
        sorts: Option<Bound<'_, PyAny>>,
        tables: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<Coming>> {
        guarded(py, || {
            in_a_hurry(
                py,
                self.plan.data(),
                batch.as_ref(),
                sorts.as_ref(),
                tables.as_ref(),
            )?
            .transpose()
        })
    }

    /// The rows that a predicate is queried at, as `int32`, and how many numbers each has.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        predicate: usize,
        coming: Option<Bound<'py, Coming>>,
    ) -> PyResult<(Bound<'py, PyByteArray>, usize)> {
        guarded(py, || {
            let setting = setting(py, self.plan.data(), coming.as_ref())?;
            let id = PredicateId(predicate as u32);
            let by_rows = self.by_rows(predicate, Holds::AtRows);
            let (rows, arity) = self.with(py, move |state| {
                in_either!(state, s => s.set(&setting, by_rows).and_then(|()| s.rows(id)))
            })?;
            let rows: Vec<u8> = rows.iter().flat_map(|n| n.to_ne_bytes()).collect();
            Ok((PyByteArray::new(py, &rows), arity))
        })
    }

    /// What networks have to be asked: a handle for passing the answers back, the requests (predicate, how its arguments are
    /// built, the individuals of its rows as `int32`, how many each row has, and the number of rows), and the numbers used as
    /// arguments. With `by_rows`, in an order that depends on this call alone.
    fn requests<'py>(
        &self,
        py: Python<'py>,
        coming: Option<Bound<'py, Coming>>,
        by_rows: bool,
    ) -> PyResult<(Asked, Vec<AskedFor<'py>>, Vec<f64>)> {
        guarded(py, || {
            let setting = setting(py, self.plan.data(), coming.as_ref())?;
            let (question, rows, numbers) = self.with(py, move |state| {
                in_either!(state, state => {
                    state.set(&setting, by_rows)?;
                    let (question, rows) = state.ask(&setting);
                    let numbers = state.engine().plan().data().numbers().to_vec();
                    Ok((question, rows, numbers))
                })
            })?;
            Ok((Asked { question }, self.asked_for(py, &rows)?, numbers))
        })
    }

    /// The numbers used as arguments.
    fn numbers(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        guarded(py, || {
            self.with(py, |state| {
                let plan = in_either!(state, state => state.engine().plan());
                Ok(plan.data().numbers().to_vec())
            })
        })
    }

    /// Evaluates. `derivatives` are those with respect to the axioms' truths, if the loss's own are not wanted; `weights` are this call's, by
    /// axiom. With `exchange`, other processes have other rows: it takes this process's numbers, and returns its rank and the numbers of all.
    #[pyo3(signature = (values, alpha, p, p_forall, coming=None, gradients=false, derivatives=None, exchange=None, weights=None))]
    #[allow(clippy::too_many_arguments)] // Python's keyword arguments
    fn evaluate(
        &self,
        py: Python<'_>,
        values: Vec<GivenValue>,
        alpha: f64,
        p: f64,
        p_forall: f64,
        coming: Option<About<'_>>,
        gradients: bool,
        derivatives: Option<Vec<f64>>,
        exchange: Option<Py<PyAny>>,
        weights: Option<Vec<(usize, f64)>>,
    ) -> PyResult<Evaluated> {
        guarded(py, || {
            let parameters = Parameters { alpha, p, p_forall };
            let given = given_values(&values);
            let by_rows = (values.iter()).any(|(which, holds, ..)| self.by_rows(*which, *holds));
            let gradient = match derivatives {
                Some(by_axiom) => Gradient::Of(by_axiom),
                None if gradients => Gradient::OfLoss,
                None => Gradient::None,
            };
            enum Of<'a> {
                Question(&'a Question),
                Setting(Arc<Setting>, bool),
            }
            let of = match &coming {
                Some(About::Asked(asked)) => Of::Question(&asked.get().question),
                Some(About::Coming(coming)) => {
                    Of::Setting(setting(py, self.plan.data(), Some(coming))?, by_rows)
                }
                None => Of::Setting(setting(py, self.plan.data(), None)?, by_rows),
            };
            let process = self.process(py)?;
            let pool = &process.pool;
            let mut failure = None;
            let failed = &mut failure;
            // Without values nothing determines the precision.
            let double = given.is_empty() || given.iter().any(|value| !value.values.is_single());
            let weights = weights.unwrap_or_default();
            let done = self.within(py, &process, Some(double), move |state| {
                let work = Work {
                    parameters: &parameters,
                    values: &given,
                    gradient: &gradient,
                    weights: &weights,
                };
                let mut with_others = exchange.map(|call| others(call, failed));
                let exchange = with_others.as_mut().map(|call| call as &mut Exchange<'_>);
                in_either!(state, state => match &of {
                    Of::Setting(setting, by_rows) => {
                        state.call((setting, *by_rows), &work, exchange)
                    }
                    Of::Question(question) => {
                        let engine = |plan: &Arc<Plan>| self.recipe.engine(plan.clone(), pool);
                        state.answer(question, engine, &work, exchange)
                    }
                })
            });
            if let Some(error) = failure {
                return Err(Failure::Python(error));
            }
            let (evaluation, seconds) = done?;
            Ok(self.evaluated(evaluation, seconds))
        })
    }
}

impl Drop for KnowledgeBase {
    fn drop(&mut self) {
        let process = self
            .process
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if process.id != std::process::id() {
            // The parent's lock: a thread that does not exist here may have left it in any state.
            std::mem::forget(Arc::clone(process));
        }
    }
}

/// An exchange with other processes through a Python function, whose exceptions are kept.
fn others(
    call: Py<PyAny>,
    failed: &mut Option<PyErr>,
) -> impl FnMut(&[f64]) -> Result<(usize, Vec<f64>), Diagnostics> {
    move |own| {
        let numbers = own.to_vec();
        let gathered = Python::attach(|py| call.call1(py, (numbers,))?.extract(py));
        gathered.map_err(|error| {
            *failed = Some(error);
            Diagnostic::error(Code::RanksDisagree, "the exchange between processes failed").into()
        })
    }
}

/// Where the numbers of arrays are, which must outlive this.
pub fn given_values(values: &[GivenValue]) -> Vec<Value> {
    let value = |(which, holds, values, gradient): &GivenValue| Value {
        target: Target::new(*which, *holds),
        values: values.view(),
        gradient: gradient.as_ref().map(Array::view),
    };
    values.iter().map(value).collect()
}

fn bytes<'py>(py: Python<'py>, numbers: &[u32]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

impl Recipe {
    pub fn engine<T: Real>(
        &self,
        plan: Arc<Plan>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Engine<T>, Diagnostics> {
        let mut engine = Engine::new(plan);
        engine.run_in(Arc::clone(pool));
        engine.set_stop(Arc::clone(&self.stop));
        set_axioms(&mut engine, &self.axioms)?;
        engine.set_p_over_axioms(self.p_axioms)?;
        Ok(engine)
    }

    fn state<T: Real>(
        self: &Arc<Recipe>,
        plan: &Arc<Plan>,
        ctrl_c: &Arc<CtrlC>,
    ) -> Result<State<T>, Diagnostics> {
        let prepared = self.known.clone().map(|(known, stand_ins)| {
            let (recipe, pool, semantics) = (self.clone(), ctrl_c.pool.clone(), *plan.semantics());
            let make = move |data: &Data| {
                let Recipe {
                    outputs, options, ..
                } = &*recipe;
                let plan = pool.install(|| Plan::new_with(data, outputs, &semantics, options))?;
                recipe.engine(Arc::new(plan), &pool)
            };
            Prepared::new(known, stand_ins, Arc::new(make))
        });
        let engine = self.engine(Arc::clone(plan), &ctrl_c.pool)?;
        let mut state = State::new(engine, prepared, Some(Arc::clone(ctrl_c)));
        state.leave_out_empty = self.leave_out_empty;
        Ok(state)
    }
}

fn precision(
    recipe: &Arc<Recipe>,
    plan: &Arc<Plan>,
    ctrl_c: &Arc<CtrlC>,
    double: bool,
) -> Result<Precision, Diagnostics> {
    match double {
        true => recipe.state(plan, ctrl_c).map(Precision::Double),
        false => recipe.state(plan, ctrl_c).map(Precision::Single),
    }
}

impl KnowledgeBase {
    /// Builds a knowledge base from its parts.
    pub fn of(py: Python<'_>, pool: Arc<ThreadPool>, parts: Parts) -> Result<Self, Failure> {
        let Parts {
            mut data,
            mut known,
            semantics,
            mut recipe,
            threads,
            warnings,
        } = parts;
        let Recipe {
            outputs,
            options,
            stop,
            ..
        } = &recipe;
        for data in std::iter::once(&mut data).chain(&mut known) {
            data.set_stop(Arc::clone(stop));
            if recipe.leave_out_empty {
                *data = data.without_empty(&semantics);
            }
        }
        let ctrl_c = CtrlC::new(Arc::clone(&pool), Arc::clone(stop));
        let plan = py.detach(|| {
            ctrl_c.interruptible(|| Plan::new_with(&data, outputs, &semantics, options))
        });
        if let Some(error) = ctrl_c.raised() {
            return Err(Failure::Python(error));
        }
        let plan = plan?;
        check_members(&plan, data.laws().iter().map(String::as_str))?;
        // The theory's own were reported when it was read.
        warn(py, plan.warnings())?;
        let plan = Arc::new(plan);
        let names = plan.axioms().iter().map(|a| a.name.clone()).collect();
        let theory = data.theory();
        let streams = (0..theory.tables.len() as u32).map(TableId);
        let streams: Vec<TableId> = streams.filter(|t| data.streams_table(*t)).collect();
        // For exact probabilities it matters whether two rows are about the same individual.
        let anybody = if semantics.exact { &[] } else { &streams[..] };
        let known = known.map(|known| known.with_stand_ins(anybody, outputs));
        // With a known size, all processes would appear to share one sort.
        let hides = |known: &(Data, Vec<StandIns>)| {
            let is_alone = |sort| known.1.iter().any(|s| s.of == sort && s.alone);
            let mut sorts = (0..theory.sorts.len() as u32).map(SortId);
            sorts.any(|s| data.streams_sort(s) && !is_alone(s))
        };
        // What guards find in a table depends on all its rows, not only on those that take part.
        let looked_into = streams.iter().any(|t| theory.guards_look_into(*t));
        let known = known.filter(|known| {
            let hidden = options.sharded && hides(known);
            !(streams.is_empty() || looked_into || hidden)
        });
        recipe.known = known;
        let recipe = Arc::new(recipe);
        let predicates = (0..theory.predicates.len() as u32).map(PredicateId);
        let settled = predicates.map(|p| plan.asks_first_bindings(p)).collect();
        let process = Process::new(&recipe, &plan, pool)?;
        let process = Mutex::new(Arc::new(process));
        Ok(KnowledgeBase {
            plan,
            data,
            recipe,
            warnings,
            names,
            settled,
            threads,
            process,
        })
    }

    /// This process's own engine.
    pub fn process(&self, py: Python<'_>) -> Result<Arc<Process>, Diagnostics> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let id = std::process::id();
        if process.id != id {
            let pool = pool(py, self.threads)?;
            let own = Process::new(&self.recipe, &self.plan, pool)?;
            std::mem::forget(std::mem::replace(&mut *process, Arc::new(own)));
        }
        Ok(Arc::clone(&process))
    }

    /// Runs something without the interpreter's lock, in the precision of the last call. Other callers wait.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Precision) -> Result<R, Diagnostics> + Send,
    ) -> Result<R, Failure> {
        self.within(py, &*self.process(py)?, None, run)
    }

    fn within<R: Send>(
        &self,
        py: Python<'_>,
        process: &Process,
        double: Option<bool>,
        run: impl FnOnce(&mut Precision) -> Result<R, Diagnostics> + Send,
    ) -> Result<R, Failure> {
        py.detach(|| {
            let _turn = process.turn.wait()?;
            let mut states = process.state.lock().unwrap_or_else(PoisonError::into_inner);
            let asked = double.unwrap_or(states.now == 1);
            let double = self.recipe.double.unwrap_or(asked);
            let fresh = || precision(&self.recipe, &self.plan, &process.ctrl_c, double);
            let state = states.take(double, fresh)?;
            let done = catch_unwind(AssertUnwindSafe(|| run(state)));
            let failed = match process.ctrl_c.raised() {
                Some(error) => error,
                None => match done {
                    Ok(done) => return done.map_err(Failure::Input),
                    Err(payload) => panicked(payload.as_ref()),
                },
            };
            // The call was interrupted halfway; the next one starts afresh.
            if let Ok(fresh) = fresh() {
                *state = fresh;
            }
            Err(Failure::Python(failed))
        })
    }

    /// Whether an array of these numbers needs the rows of a plan made for its call alone.
    pub fn by_rows(&self, which: usize, holds: Holds) -> bool {
        match holds {
            Holds::Grid => false,
            Holds::AtRows => !self.settled.get(which).copied().unwrap_or(false),
            Holds::Request => true,
        }
    }

    fn evaluated(&self, evaluation: Evaluation, seconds: f64) -> Evaluated {
        Evaluated {
            evaluation,
            seconds,
            names: Arc::clone(&self.names),
        }
    }

    /// Requests as Python takes them.
    pub fn asked_for<'py>(
        &self,
        py: Python<'py>,
        rows: &[AskedRows],
    ) -> PyResult<Vec<AskedFor<'py>>> {
        let asked = rows.iter().map(|asked| {
            let shape = self.shape(py, &asked.shape)?;
            let rows = bytes(py, &asked.individuals);
            let predicate = asked.predicate.0 as usize;
            Ok((predicate, shape, rows, asked.arity, asked.count))
        });
        asked.collect()
    }

    /// `"Point"` for an individual of that sort, `None` for a number, `("f",)` for a row of a function that is given by data,
    /// `["f", …]` for a function's value.
    fn shape<'py>(&self, py: Python<'py>, shape: &[ArgumentShape]) -> PyResult<Bound<'py, PyList>> {
        let theory = self.plan.data().theory();
        let list = PyList::empty(py);
        for argument in shape {
            match argument {
                ArgumentShape::Individual(sort) => list.append(&theory[*sort].name)?,
                ArgumentShape::Number => list.append(py.None())?,
                ArgumentShape::Row(function) => list.append((&theory[*function].name,))?,
                ArgumentShape::Apply(function, arguments) => {
                    let inner = self.shape(py, arguments)?;
                    inner.insert(0, &theory[*function].name)?;
                    list.append(inner)?;
                }
            }
        }
        Ok(list)
    }
}

/// The result of a call.
#[pyclass(frozen, module = "logltn._native")]
pub struct Evaluated {
    evaluation: Evaluation,
    seconds: f64,
    names: Arc<[String]>,
}

#[pymethods]
impl Evaluated {
    #[getter]
    fn loss(&self) -> f64 {
        self.evaluation.loss
    }

    #[getter]
    fn sat(&self) -> f64 {
        self.evaluation.sat
    }

    /// How long choosing the rows and evaluating them took, without the overhead of the call.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// By name.
    fn truths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let axioms = self.evaluation.axioms.iter();
        (self.names.iter().zip(axioms.map(|a| a.truth))).into_py_dict(py)
    }

    /// How often an `exists` had no candidates, an observation had probability 0 and a truth is not finite, over all axioms.
    #[getter]
    fn odd(&self) -> u64 {
        let axioms = self.evaluation.axioms.iter();
        axioms
            .map(|a| a.empty_exists + a.impossible + u64::from(!a.truth.is_finite()))
            .sum()
    }

    /// How often an `exists` had no candidates, by axiom name.
    fn empty_exists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let axioms = self.evaluation.axioms.iter();
        (self.names.iter().zip(axioms.map(|a| a.empty_exists))).into_py_dict(py)
    }

    /// How many observations have probability 0, by axiom name.
    fn impossible<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let axioms = self.evaluation.axioms.iter();
        (self.names.iter().zip(axioms.map(|a| a.impossible))).into_py_dict(py)
    }
}
