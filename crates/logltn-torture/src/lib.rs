//! Tries to make logltn lose a result, or silently give a wrong one.
//!
//! A [`Kind`] of torture is a function from a seed to a try; the same seed makes the same try (except for the moment at which a process is killed). Tries run in worker processes, so that one that crashes, hangs or takes too much memory is found and
//! named. `tests/short.rs` makes some of each kind; the program makes as many as fit into a budget:
//!
//! ```text
//! cargo run --release -p logltn-torture -- --minutes 30 --seed 1
//! ```
//!
//! `docs/reliability.md` lists what they check, and how many were run.
#![cfg(target_os = "linux")]

mod attempt;
mod damage;
mod evaluators;
mod faults;
mod hdf5;
mod hostile;
mod kills;
mod kind;
mod memory;
mod mutate;
mod program;
mod readers;
mod results;
mod subject;
pub mod tally;
mod texts;
pub mod worker;

pub use attempt::Attempt;
pub use kind::{KINDS, Kind};
pub use program::PROGRAM;

// The second evaluator and its random theories are those of the engine's own tests.
#[path = "../../logltn/tests/cases/mod.rs"]
mod cases;
#[path = "../../logltn/tests/engine_run/mod.rs"]
mod engine_run;
#[path = "../../logltn/tests/common/random_theory.rs"]
#[allow(dead_code)]
mod random_theory;
#[path = "../../logltn/tests/reference/mod.rs"]
mod reference;

// Never compiled here (`build.rs` does that); listed so that `cargo fmt` sees it.
#[cfg(any())]
#[path = "../preload/faults.rs"]
mod preload;
