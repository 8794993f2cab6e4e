//! The native part of the Python package `logltn`.
//!
//! What users see is written in Python (`python/logltn/`), which hands over plain numbers, names and arrays. Here they
//! become data, a plan and an engine. Arrays are read and written through the buffer protocol: nothing links to NumPy or
//! PyTorch, whatever their version.

mod array;
mod ask;
mod call;
mod check;
mod coming;
mod ctrl_c;
mod dlpack;
mod error;
mod export;
mod given;
mod knowledge_base;
mod pool;
mod prepared;
mod run;
mod theory;
mod turn;
mod worlds;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Counts the memory allocated here, so that large requests can be checked. Never ends the process, which is not
/// ours.
#[global_allocator]
static ALLOCATOR: logltn::memory::Counting<false> = logltn::memory::Counting;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::ask::{ask, asked, identify};
    #[pymodule_export]
    use super::call::Holds;
    #[pymodule_export]
    use super::coming::{Coming, know_numpy, know_torch};
    #[pymodule_export]
    use super::error::{did_you_mean, raise_problems, warn_of};
    #[pymodule_export]
    use super::export::{check_shapes, choose, export_kept, export_plan};
    #[pymodule_export]
    use super::knowledge_base::{Asked, Evaluated, KeptPlan, KnowledgeBase};
    #[pymodule_export]
    use super::run::load_run;
    #[pymodule_export]
    use super::theory::Theory;
    #[pymodule_export]
    use super::worlds::{export_worlds, log_probability, worlds};

    use super::*;

    /// The program: the exit status of a command line, whose first word is the program's name.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> PyResult<u8> {
        crate::error::guarded(py, || Ok(py.detach(|| logltn_cli::main_with(arguments))))
    }

    /// The distinct rows among rows of `int32`, this many numbers each, in order, and the positions of the rows among them, as `int64`;
    /// `None` if the rows are already distinct and in order.
    #[pyfunction]
    fn different<'py>(
        py: Python<'py>,
        rows: pyo3::buffer::PyBuffer<i32>,
        arity: usize,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
        let rows: Vec<u32> = rows.to_vec(py)?.into_iter().map(|i| i as u32).collect();
        let Some((places, count)) = crate::call::different(&rows, arity) else {
            return Ok(None);
        };
        let mut distinct = vec![0; 4 * arity * count];
        for (row, &place) in rows.chunks_exact(arity).zip(&places) {
            let cells = distinct[4 * arity * place..].chunks_exact_mut(4).zip(row);
            cells.for_each(|(to, cell)| to.copy_from_slice(&cell.to_ne_bytes()));
        }
        let places = places.iter().flat_map(|&p| (p as i64).to_ne_bytes());
        let places: Vec<u8> = places.collect();
        Ok(Some((
            PyBytes::new(py, &distinct),
            PyBytes::new(py, &places),
        )))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        logltn::memory::set_allow_more("`memory=` allows more, in bytes, if the machine has it");
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
