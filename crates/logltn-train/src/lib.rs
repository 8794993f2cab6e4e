//! Manifests, data and training for logltn.

pub mod manifest;
