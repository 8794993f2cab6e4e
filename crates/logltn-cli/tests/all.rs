//! All tests of the crate in one program: one link.

mod common;

mod advise;
#[cfg(target_os = "linux")]
mod beside;
mod book;
mod cases;
mod check;
mod codes;
mod dashboard;
#[cfg(unix)]
mod dashboard_browser;
#[cfg(target_os = "linux")]
mod dashboard_mounted;
mod ends;
mod eval;
mod grammar;
#[cfg(unix)]
mod hostile;
mod limits;
mod lsp;
mod mcp;
#[cfg(target_os = "linux")]
mod memory;
mod new;
mod probability;
mod random_manifests;
mod random_tables;
mod repository;
mod train;
