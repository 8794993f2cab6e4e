//! All tests of the crate in one program: one link instead of 2.

mod graph_model;
mod reproduce;
