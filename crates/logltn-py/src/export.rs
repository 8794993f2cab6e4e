//! The plan as arrays, for other devices: what `kb.export_plan()` gives, and what `logltn.torch` runs on a GPU.

use logltn::{Exported, ExportedArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::View;
use crate::call::{Places, Value};
use crate::coming::{Coming, setting};
use crate::error::Failure;
use crate::knowledge_base::{KnowledgeBase, Precision, target};

/// The header, the arrays with the names of their elements' types, and by request: its predicate, and where its rows stand
/// in an array with an axis for each argument and in one of the rows that are asked for, as `int64`.
pub type ExportedPlan<'py> = (
    String,
    Vec<(&'static str, Bound<'py, PyBytes>)>,
    Vec<(
        usize,
        Option<Bound<'py, PyBytes>>,
        Option<Bound<'py, PyBytes>>,
    )>,
);

pub fn plan<'py>(
    knowledge: &KnowledgeBase,
    py: Python<'py>,
    coming: Option<&Bound<'_, Coming>>,
    by_rows: bool,
) -> Result<ExportedPlan<'py>, Failure> {
    let setting = setting(py, knowledge, coming)?;
    let (exported, places): (Exported, Vec<Places>) = knowledge.with(py, move |state| {
        Ok(match state {
            Precision::Single(s) => {
                s.set(&setting, by_rows)?;
                (s.engine().export()?, s.places())
            }
            Precision::Double(s) => {
                s.set(&setting, by_rows)?;
                (s.engine().export()?, s.places())
            }
        })
    })?;
    let arrays = exported.arrays.iter().map(|array| match array {
        ExportedArray::Int32(values) => ("int32", bytes(py, values, |v| v.to_ne_bytes())),
        ExportedArray::Int64(values) => ("int64", bytes(py, values, |v| v.to_ne_bytes())),
        ExportedArray::Float64(values) => ("float64", bytes(py, values, |v| v.to_ne_bytes())),
    });
    let number = |place: &usize| (*place as i64).to_ne_bytes();
    let own = |list: Option<Vec<usize>>| list.map(|list| bytes(py, &list, number));
    let places = places
        .into_iter()
        .map(|(p, grid, among)| (p, own(grid), own(among)));
    Ok((exported.header, arrays.collect(), places.collect()))
}

pub fn check_shapes(
    knowledge: &KnowledgeBase,
    py: Python<'_>,
    values: Vec<(usize, u8, Vec<usize>)>,
    coming: Option<&Bound<'_, Coming>>,
) -> Result<(), Failure> {
    let setting = setting(py, knowledge, coming)?;
    let by_rows = values.iter().any(|(_, kind, _)| kind & 3 != 0);
    knowledge.with(py, move |state| {
        let values: Vec<Value> = values
            .into_iter()
            .map(|(which, kind, shape)| Value {
                target: target(which, kind),
                values: View::elsewhere(shape),
                gradient: None,
            })
            .collect();
        match state {
            Precision::Single(s) => s.set(&setting, by_rows).and_then(|()| s.check(&values)),
            Precision::Double(s) => s.set(&setting, by_rows).and_then(|()| s.check(&values)),
        }
    })
}

fn bytes<'py, V, const N: usize>(
    py: Python<'py>,
    values: &[V],
    of: impl Fn(&V) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(of).collect();
    PyBytes::new(py, &bytes)
}
