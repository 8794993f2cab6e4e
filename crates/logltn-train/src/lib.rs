//! Manifests, data and training for logltn.

pub mod data;
pub mod manifest;
pub mod metrics;
pub mod model;
pub mod project;
mod random;
pub mod report;
pub mod run_directory;
pub mod standin;
pub mod tensorboard;
pub mod train;
