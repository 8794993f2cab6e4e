//! Manifests, data and training for logltn.

pub mod data;
pub mod manifest;
pub mod metrics;
pub mod report;
pub mod run_directory;
pub mod standin;
pub mod tensorboard;
