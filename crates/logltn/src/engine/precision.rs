//! Where the engine's heavy work is compiled.
//!
//! Generic functions are compiled in every crate that uses them, and the engine's have variants for each kind of
//! processor. There are only two precisions, so the code that takes long to compile goes through a trait and is
//! compiled here, once for each.

use std::time::Duration;

use super::rank::{Order, Ranks};
use super::{Engine, Exchange, Explanation, InPlace, Wanted};
use crate::diagnostic::Diagnostics;
use crate::parameters::Parameters;
use crate::vector::Real;

/// The numbers that an [`Engine`] computes with: `f32` or `f64`.
pub trait Precision: Work {}

macro_rules! compiled {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $method:ident;)*) => {
        /// What an engine does, in one precision.
        pub trait Work: Real {
            $(fn $name(engine: &mut Engine<Self>, $($argument: $kind),*) $(-> $result)?;)*
        }
        compiled!(for f32: $($name($($argument: $kind),*) $(-> $result)? = $method;)*);
        compiled!(for f64: $($name($($argument: $kind),*) $(-> $result)? = $method;)*);
    };
    (for $real:ty: $($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $method:ident;)*) => {
        impl Precision for $real {}
        impl Work for $real {
            $(fn $name(engine: &mut Engine<Self>, $($argument: $kind),*) $(-> $result)? {
                engine.$method($($argument),*)
            })*
        }
    };
}

compiled! {
    fn list_rows(known: usize) = list_rows_here;
    fn assign_lanes() = assign_lanes_here;
    fn run(parameters: &Parameters, wanted: Option<Wanted>, lent: &mut [Option<InPlace<'_, Self>>],
        exchange: Option<&mut Exchange<'_>>)
        -> Result<(), Diagnostics> = run_here;
    fn ranks(parameters: &Parameters, order: Order, top: usize)
        -> Result<Vec<Option<Ranks>>, Diagnostics> = ranks_here;
    fn explain(parameters: &Parameters, top: usize) -> Result<Vec<Explanation>, Diagnostics> = explain_here;
    fn axiom_gradient_norms(parameters: &Parameters) -> Vec<f64> = axiom_gradient_norms_here;
    fn estimate_seconds(parameters: &Parameters, budget: Duration, back: bool) -> f64 = estimate_seconds_here;
}
