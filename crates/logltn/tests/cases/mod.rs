//! What several test files share.

#![allow(dead_code)] // each test file uses a part of this

pub mod compare;
pub mod conformance;
pub mod named;
pub mod propositional;
pub mod random_case;
pub mod random_exists;
mod random_formula;
mod random_guard;
pub mod rng;
