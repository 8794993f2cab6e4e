//! The plan as arrays for other devices: the result of `kb.export_plan()`, and what `logltn.torch` runs on a
//! GPU.
//!
//! A plan reused across calls is exported once, with all its rows; each call then selects some of them.

use std::sync::Arc;

use logltn::{Diagnostics, Engine, Exported, ExportedArray, Plan, Precision as Real};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::ThreadPool;

use crate::call::{Choice, GivenShape, Places, Question, State, Value};
use crate::coming::{Coming, Setting, setting};
use crate::error::{Failure, guarded};
use crate::knowledge_base::{About, KeptPlan, KnowledgeBase, Precision, in_either};

/// The element type's name, and the array.
pub type ExportedBytes<'py> = (&'static str, Bound<'py, PyBytes>);

/// For each request: its predicate, and the positions of its rows in an array with an axis for each argument, in an array of
/// the queried rows, and among those that networks were asked about, as `int64`.
type PlacesBytes<'py> = (
    usize,
    Option<Bound<'py, PyBytes>>,
    Option<Bound<'py, PyBytes>>,
    Option<Bound<'py, PyBytes>>,
);

/// The header, the arrays, and where the rows of requests are.
pub type ExportedPlan<'py> = (String, Vec<ExportedBytes<'py>>, Vec<PlacesBytes<'py>>);

/// The plan; for each component that lists rows of batched tables its number, offsets and selected tuples, as `int32`; for
/// each request the codes of its rows, as `int64`, if they differ from the plan's; and where these are.
pub type Chosen<'py> = (
    KeptPlan,
    Vec<(usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>)>,
    Vec<Option<Bound<'py, PyBytes>>>,
    Vec<PlacesBytes<'py>>,
);

/// The plan as a header and arrays, with the data of the call; and for each request the positions of its rows.
#[pyfunction]
pub fn export_plan<'py>(
    py: Python<'py>,
    knowledge: &KnowledgeBase,
    coming: Option<Bound<'py, Coming>>,
    by_rows: bool,
) -> PyResult<ExportedPlan<'py>> {
    guarded(py, || {
        let setting = setting(py, knowledge.plan.data(), coming.as_ref())?;
        let (exported, places) = knowledge.with(
            py,
            move |state| in_either!(state, state => with_rows(state, &setting, by_rows)),
        )?;
        Ok(exported_plan(py, &exported, places))
    })
}

pub fn exported_plan<'py>(
    py: Python<'py>,
    exported: &Exported,
    places: Vec<Places>,
) -> ExportedPlan<'py> {
    let (header, arrays) = written(py, exported);
    (header, arrays, standing(py, places))
}

fn with_rows<T: Real>(
    state: &mut State<T>,
    setting: &Arc<Setting>,
    by_rows: bool,
) -> Result<(Exported, Vec<Places>), Diagnostics> {
    state.set(setting, by_rows)?;
    Ok((state.engine().export()?, state.places()))
}

/// A plan reused across calls, with all its rows.
#[pyfunction]
pub fn export_kept<'py>(
    py: Python<'py>,
    knowledge: &KnowledgeBase,
    plan: &KeptPlan,
) -> PyResult<(String, Vec<ExportedBytes<'py>>)> {
    fn exported<T: Real>(
        knowledge: &KnowledgeBase,
        plan: &KeptPlan,
        pool: &Arc<ThreadPool>,
    ) -> Result<Exported, Diagnostics> {
        let engine: Engine<T> = knowledge.recipe.engine(Arc::clone(&plan.0), pool)?;
        engine.export()
    }
    guarded(py, || {
        let pool = &knowledge.process(py)?.pool;
        let exported = knowledge.with(py, |state| match state {
            Precision::Single(_) => exported::<f32>(knowledge, plan, pool),
            Precision::Double(_) => exported::<f64>(knowledge, plan, pool),
        })?;
        Ok(written(py, &exported))
    })
}

/// What a call selects from a plan reused across calls: the plan, the components whose rows it selects, the codes of rows of
/// requests, and where these are in arrays. `None` if there is no such plan.
#[pyfunction]
pub fn choose<'py>(
    py: Python<'py>,
    knowledge: &KnowledgeBase,
    about: Option<About<'py>>,
    by_rows: bool,
) -> PyResult<Option<Chosen<'py>>> {
    let found = guarded(py, || on(knowledge, py, about.as_ref(), by_rows, &Choosing))?;
    Ok(found.map(|(plan, batch, places)| {
        let int32 = |list: &[u32]| bytes(py, list, |v| v.to_ne_bytes());
        let components = batch.components.iter();
        let codes = batch.codes.iter();
        (
            KeptPlan(plan),
            components
                .map(|(i, offsets, chosen)| (*i, int32(offsets), int32(chosen)))
                .collect(),
            codes
                .map(|codes| Some(bytes(py, codes.as_ref()?, |v| v.to_ne_bytes())))
                .collect(),
            standing(py, places),
        )
    }))
}

/// Raises an error if values of these shapes are wrong.
#[pyfunction]
pub fn check_shapes(
    py: Python<'_>,
    knowledge: &KnowledgeBase,
    values: Vec<GivenShape>,
    about: Option<About<'_>>,
) -> PyResult<()> {
    let by_rows = (values.iter()).any(|(which, holds, _)| knowledge.by_rows(*which, *holds));
    let checking = Checking(values);
    guarded(py, || on(knowledge, py, about.as_ref(), by_rows, &checking))
}

/// Runs something with the state of a call.
trait StateWork: Sync {
    type Found: Send;
    fn run<T: Real>(
        &self,
        state: &State<T>,
        choice: Option<Choice>,
    ) -> Result<Self::Found, Diagnostics>;
}

struct Choosing;

impl StateWork for Choosing {
    type Found = Option<Choice>;
    fn run<T: Real>(
        &self,
        _: &State<T>,
        choice: Option<Choice>,
    ) -> Result<Option<Choice>, Diagnostics> {
        Ok(choice)
    }
}

struct Checking(Vec<GivenShape>);

impl StateWork for Checking {
    type Found = ();
    fn run<T: Real>(&self, state: &State<T>, _: Option<Choice>) -> Result<(), Diagnostics> {
        let values: Vec<Value> = self.0.iter().map(Value::elsewhere).collect();
        state.check(&values)
    }
}

fn on<D: StateWork>(
    knowledge: &KnowledgeBase,
    py: Python<'_>,
    about: Option<&About<'_>>,
    by_rows: bool,
    work: &D,
) -> Result<D::Found, Failure> {
    fn run<T: Real, D: StateWork>(
        state: &mut State<T>,
        about: &Result<Arc<Setting>, &Question>,
        engine: impl FnOnce(&Arc<Plan>) -> Result<Engine<T>, Diagnostics>,
        by_rows: bool,
        work: &D,
    ) -> Result<D::Found, Diagnostics> {
        match about {
            Ok(setting) => {
                state.set(setting, by_rows)?;
                work.run(state, state.choice(setting))
            }
            Err(question) => state.asked(question, engine, |state, choice| work.run(state, choice)),
        }
    }
    let data = knowledge.plan.data();
    let about = match about {
        Some(About::Asked(asked)) => Err(&asked.get().question),
        Some(About::Coming(coming)) => Ok(setting(py, data, Some(coming))?),
        None => Ok(setting(py, data, None)?),
    };
    let pool = &knowledge.process(py)?.pool;
    let recipe = &knowledge.recipe;
    knowledge.with(py, |state| {
        in_either!(state, state => {
            run(state, &about, |p| recipe.engine(Arc::clone(p), pool), by_rows, work)
        })
    })
}

fn written<'py>(py: Python<'py>, exported: &Exported) -> (String, Vec<ExportedBytes<'py>>) {
    let arrays = exported.arrays.iter().map(|array| match array {
        ExportedArray::Int32(values) => ("int32", bytes(py, values, |v| v.to_ne_bytes())),
        ExportedArray::Int64(values) => ("int64", bytes(py, values, |v| v.to_ne_bytes())),
        ExportedArray::Float64(values) => ("float64", bytes(py, values, |v| v.to_ne_bytes())),
    });
    (exported.header.clone(), arrays.collect())
}

fn standing(py: Python<'_>, places: Vec<Places>) -> Vec<PlacesBytes<'_>> {
    let number = |place: &usize| (*place as i64).to_ne_bytes();
    let own = |list: Option<Vec<usize>>| list.map(|list| bytes(py, &list, number));
    let places = places.into_iter();
    places
        .map(|(p, grid, among, different)| (p, own(grid), own(among), own(different)))
        .collect()
}

fn bytes<'py, V, const N: usize>(
    py: Python<'py>,
    values: &[V],
    of: impl Fn(&V) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(of).collect();
    PyBytes::new(py, &bytes)
}
