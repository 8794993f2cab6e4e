//! A softmax over all entities of which one probability is wanted.

use logltn::vector::Real;
use logltn::{Code, Diagnostic, Diagnostics, Request};

/// Sums are kept side by side, which a processor adds at once; the same on every machine.
const LANES: usize = 16;

/// The exponentials of scores over the largest of them, which is the answer, and their sum.
pub(super) fn exponentials(scores: &[f32], out: &mut [f32], total: &mut f32) -> f32 {
    let largest = |lanes: &mut [f32; LANES], part: &[f32]| {
        let pairs = lanes.iter_mut().zip(part);
        pairs.for_each(|(lane, x)| *lane = if *x > *lane { *x } else { *lane });
    };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let parts = scores.chunks_exact(LANES);
    let rest = parts.remainder();
    parts.for_each(|part| largest(&mut lanes, part));
    largest(&mut lanes, rest);
    let top = lanes.into_iter().fold(f32::NEG_INFINITY, f32::max);
    out.iter_mut().zip(scores).for_each(|(o, x)| *o = x - top);
    f32::kernels().exp(out);
    let mut lanes = [0.0_f32; LANES];
    let parts = out.chunks_exact(LANES);
    let rest = parts.remainder();
    for part in parts {
        lanes.iter_mut().zip(part).for_each(|(lane, x)| *lane += x);
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, x)| *lane += x);
    *total = lanes.into_iter().sum();
    top
}

/// One number for each row is what these predicates say.
///
/// # Errors
/// If more are asked for.
pub(super) fn one_each(request: &Request) -> Result<(), Diagnostics> {
    match request.width {
        1 => Ok(()),
        width => {
            let what = format!(
                "a predicate of `graph` says one log of a degree of truth for each fact, and was asked for {width} numbers"
            );
            let error = Diagnostic::error(Code::WrongShape, what);
            Err(error.help("its output is `Output::log_truth()`").into())
        }
    }
}
