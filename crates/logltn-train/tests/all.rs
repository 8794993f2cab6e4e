//! All tests of the crate in one program: one link instead of 8.

mod common;

mod codes;
mod manifest_against;
mod manifest_examples;
mod manifest_keys;
mod manifest_mistakes;
mod manifest_robust;
mod project;
#[cfg(unix)]
mod run_directory_killed;
mod training;
