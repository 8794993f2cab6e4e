//! All tests of the crate in one program: one link instead of 31.

mod common;

mod advise;
mod beside;
mod book;
mod cases;
mod check;
mod closed_forms;
mod codes;
mod dashboard;
#[cfg(unix)]
mod dashboard_browser;
#[cfg(target_os = "linux")]
mod dashboard_mounted;
mod definitions;
mod ends;
mod eval;
mod grammar;
#[cfg(unix)]
mod hostile;
mod identify;
mod limits;
mod lsp;
mod mcp;
#[cfg(target_os = "linux")]
mod memory;
mod new;
mod new_data;
mod predict;
mod probability;
mod random_manifests;
mod random_tables;
mod repository;
mod runs;
mod train;
