//! The plan as arrays, for other devices: what `kb.export_plan()` gives, and what `logltn.torch` runs on a GPU.
//!
//! A plan for more calls than one is exported once, with all its rows; a call then says which of them it is about.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use logltn::{Diagnostics, Engine, Exported, ExportedArray, Plan, Precision as Real};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::View;
use crate::call::{Choice, Places, State, Value};
use crate::coming::{Coming, Setting, setting};
use crate::error::Failure;
use crate::knowledge_base::{About, KnowledgeBase, Precision, target};

/// The name of an array's elements' type, and the array.
pub type ExportedBytes<'py> = (&'static str, Bound<'py, PyBytes>);

/// By request: its predicate, and where its rows is in an array with an axis for each argument, in one of the rows that are
/// asked for, and among those that networks were asked about, as `int64`.
type PlacesBytes<'py> = (
    usize,
    Option<Bound<'py, PyBytes>>,
    Option<Bound<'py, PyBytes>>,
    Option<Bound<'py, PyBytes>>,
);

/// The header, the arrays, and where the rows of requests stand.
pub type ExportedPlan<'py> = (String, Vec<ExportedBytes<'py>>, Vec<PlacesBytes<'py>>);

/// The plan; by component that lists rows of batched tables its number, offsets and chosen tuples, as `int32`; by request the
/// codes of its rows, as `int64`, if they are not those of the plan; and where these stand.
pub type Chosen<'py> = (
    KeptPlan,
    Vec<(usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>)>,
    Vec<Option<Bound<'py, PyBytes>>>,
    Vec<PlacesBytes<'py>>,
);

/// A plan for more calls than one. While it is kept, no other has its place.
#[pyclass(frozen, eq, hash, module = "logltn._native")]
pub struct KeptPlan(Arc<Plan>);

impl KeptPlan {
    pub fn of(plan: &Arc<Plan>) -> KeptPlan {
        KeptPlan(Arc::clone(plan))
    }
}

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

pub fn plan<'py>(
    knowledge: &KnowledgeBase,
    py: Python<'py>,
    coming: Option<&Bound<'_, Coming>>,
    by_rows: bool,
) -> Result<ExportedPlan<'py>, Failure> {
    let setting = setting(py, knowledge, coming)?;
    let (exported, places): (Exported, Vec<Places>) =
        knowledge.with(py, move |state| match state {
            Precision::Single(s) => whole(s, &setting, by_rows),
            Precision::Double(s) => whole(s, &setting, by_rows),
        })?;
    let (header, arrays) = written(py, &exported);
    Ok((header, arrays, standing(py, places)))
}

fn whole<T: Real>(
    state: &mut State<T>,
    setting: &Arc<Setting>,
    by_rows: bool,
) -> Result<(Exported, Vec<Places>), Diagnostics> {
    state.set(setting, by_rows)?;
    Ok((state.engine().export()?, state.places()))
}

pub fn kept<'py>(
    knowledge: &KnowledgeBase,
    py: Python<'py>,
    plan: &KeptPlan,
) -> Result<(String, Vec<ExportedBytes<'py>>), Failure> {
    let pool = &knowledge.process(py)?.pool;
    let exported = knowledge.with(py, |state| match state {
        Precision::Single(_) => {
            let engine: Engine<f32> = knowledge.recipe.engine(Arc::clone(&plan.0), pool)?;
            engine.export()
        }
        Precision::Double(_) => {
            let engine: Engine<f64> = knowledge.recipe.engine(Arc::clone(&plan.0), pool)?;
            engine.export()
        }
    })?;
    Ok(written(py, &exported))
}

pub fn choose<'py>(
    knowledge: &KnowledgeBase,
    py: Python<'py>,
    about: Option<&About<'_>>,
    by_rows: bool,
) -> Result<Option<Chosen<'py>>, Failure> {
    let found = on(knowledge, py, about, by_rows, &Choosing)?;
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

pub fn check_shapes(
    knowledge: &KnowledgeBase,
    py: Python<'_>,
    values: Vec<(usize, u8, Vec<usize>)>,
    about: Option<&About<'_>>,
) -> Result<(), Failure> {
    let by_rows = (values.iter()).any(|(which, kind, _)| knowledge.by_rows(*which, *kind));
    on(knowledge, py, about, by_rows, &Checking(values))
}

/// What is done with the state of a call.
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

struct Checking(Vec<(usize, u8, Vec<usize>)>);

impl StateWork for Checking {
    type Found = ();
    fn run<T: Real>(&self, state: &State<T>, _: Option<Choice>) -> Result<(), Diagnostics> {
        let value = |(which, kind, shape): &(usize, u8, Vec<usize>)| Value {
            target: target(*which, *kind),
            values: View::elsewhere(shape.clone()),
            gradient: None,
        };
        let values: Vec<Value> = self.0.iter().map(value).collect();
        state.check(&values)
    }
}

fn on<D: StateWork>(
    knowledge: &KnowledgeBase,
    py: Python<'_>,
    about: Option<&About<'_>>,
    by_rows: bool,
    deed: &D,
) -> Result<D::Found, Failure> {
    fn run<T: Real, D: StateWork>(
        state: &mut State<T>,
        about: &Result<Arc<crate::coming::Setting>, &crate::call::Question>,
        engine: impl FnOnce(&Arc<Plan>) -> Result<Engine<T>, Diagnostics>,
        by_rows: bool,
        deed: &D,
    ) -> Result<D::Found, Diagnostics> {
        match about {
            Ok(setting) => {
                state.set(setting, by_rows)?;
                deed.run(state, state.choice(setting))
            }
            Err(question) => state.asked(question, engine, |state, choice| deed.run(state, choice)),
        }
    }
    let about = match about {
        Some(About::Asked(asked)) => Err(&asked.get().question),
        Some(About::Coming(coming)) => Ok(setting(py, knowledge, Some(coming))?),
        None => Ok(setting(py, knowledge, None)?),
    };
    let pool = &knowledge.process(py)?.pool;
    let recipe = &knowledge.recipe;
    knowledge.with(py, |state| match state {
        Precision::Single(s) => run(
            s,
            &about,
            |p| recipe.engine(Arc::clone(p), pool),
            by_rows,
            deed,
        ),
        Precision::Double(s) => run(
            s,
            &about,
            |p| recipe.engine(Arc::clone(p), pool),
            by_rows,
            deed,
        ),
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
