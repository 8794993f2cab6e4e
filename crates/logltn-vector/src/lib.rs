//! Elementwise mathematics on slices, as fast as the machine allows, for `f32` and `f64`, from the same generic code.
//!
//! The engine spends its time in `exp`, `log` and their relatives. The standard library computes them one number at a
//! time; here each is written once, without branches and table lookups, so that the compiler turns a loop over it into
//! vector instructions (`elementary.rs`). The loops are compiled several times, for AVX-512, for AVX2 and for any
//! machine, and the best that the processor can run is chosen when first needed ([`Kernels`]).
//!
//! What callers can rely on:
//! - The result for an element depends on that element alone, not on its place or on the length of the slice: blocks
//!   may be cut in any way.
//! - Machines differ by 2 units in the last place at most ([`Kernels::pow`] by p times that), and at the very ends of
//!   the range by 0 or ∞ instead of the last number; [`Kernels::sum`], [`Kernels::max`] and [`Kernels::min`] give the
//!   same bits everywhere.
//! - Results too small for a normal number become 0 (subnormal numbers are slow on many machines); NaN goes through.
//!
//! ```
//! use logltn_vector::Real;
//! let mut x = [0.0f32, 1.0, f32::NEG_INFINITY];
//! f32::kernels().exp(&mut x);
//! assert_eq!(x, [1.0, std::f32::consts::E, 0.0]);
//! ```

mod coefficients;
mod elementary;
mod kernels;
mod lane;
mod loops;
mod product;
mod real;
mod task;
#[cfg(test)]
mod tests;

pub use elementary::{Exp, Function, Ln, Log1pExpNeg, LogNot, LogSigmoid, Power, Sigmoid};
pub use kernels::Kernels;
pub use lane::Lane;
pub use product::{Matrix, greatest_sums, product};
pub use real::Real;
pub use task::{Task, run_task};
