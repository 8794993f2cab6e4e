//! Tries to make logltn lose a result, or silently give a wrong one.
//!
//! A [`Kind`] of torture is a function from a seed to a try; the same seed makes the same try (except for the moment at which a
//! process is killed). What is tortured is the program, in a process of its own. `tests/short.rs` makes some tries of each kind;
//! this crate's program makes as many as fit into a budget:
//!
//! ```text
//! cargo run --release -p logltn-torture -- --minutes 30 --seed 1
//! ```
//!
//! `docs/reliability.md` lists what they check, and how many were run.
#![cfg(target_os = "linux")]

mod damage;
mod faults;
mod hdf5;
mod hostile;
mod kills;
mod kind;
mod mutate;
mod program;
mod results;
mod subject;
pub mod tally;

pub use kind::{KINDS, Kind};
pub use program::{Attempt, PROGRAM};

// The random numbers of the engine's own tests.
#[path = "../../logltn/tests/cases/rng.rs"]
#[allow(dead_code)]
mod rng;

// Never compiled here (`build.rs` does that); listed so that `cargo fmt` sees it.
#[cfg(any())]
#[path = "../preload/faults.rs"]
mod preload;
