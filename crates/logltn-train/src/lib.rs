//! Manifests, data and training for logltn.

pub mod data;
pub mod manifest;
pub mod project;
mod random;
pub mod standin;
