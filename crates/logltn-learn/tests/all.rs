//! All tests of the crate in one program: one link instead of 10.

mod closed_forms;
mod large;
mod metrics_page;
mod mining;
mod model_gradients;
mod products;
mod sampled;
mod session;
mod training;
