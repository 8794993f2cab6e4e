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

/// The semantics that are made of operators, one formula at a time: all but `probability`.
pub fn operators() -> [&'static str; logltn::Semantics::NAMES.len() - 1] {
    let mut names = logltn::Semantics::NAMES
        .into_iter()
        .filter(|n| *n != "probability");
    std::array::from_fn(|_| names.next().expect("one of the names is left out"))
}
