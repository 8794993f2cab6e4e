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

/// What is taken here is counted, so that what asks for much knows what is left. The process is not ours to end.
#[global_allocator]
static ALLOCATOR: logltn::memory::Counting<false> = logltn::memory::Counting;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::ask::{ask, asked, identify};
    #[pymodule_export]
    use super::coming::{Coming, know_numpy, know_torch};
    #[pymodule_export]
    use super::error::{did_you_mean, raise_problems, warn_of};
    #[pymodule_export]
    use super::export::KeptPlan;
    #[pymodule_export]
    use super::knowledge_base::{Asked, Evaluated, KnowledgeBase};
    #[pymodule_export]
    use super::run::load_run;
    #[pymodule_export]
    use super::theory::Theory;
    #[pymodule_export]
    use super::worlds::{log_probability, worlds};

    use super::*;

    /// The program: the exit status of a command line, whose first word is the program's name.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> PyResult<u8> {
        crate::error::guarded(py, || Ok(py.detach(|| logltn_cli::main_with(arguments))))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        logltn::memory::set_allow_more("`memory=` allows more, in bytes, if the machine has it");
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
