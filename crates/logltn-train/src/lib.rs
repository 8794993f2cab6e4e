//! Manifests, data and training for logltn.
