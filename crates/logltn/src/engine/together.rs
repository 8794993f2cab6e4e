//! Many processes: merges the states that each has of its own rows.
//!
//! Every process sends the states of its root quantifiers, a few numbers each, and gets those of all. From the same
//! numbers all compute the same truths, to the last bit. Every process has the values of parts that are not sharded; if
//! these differ, as with dropout, their mean is taken.
//!
//! Derivatives by sharded parts are multiplied by the number of processes: averaging gradients over processes, as
//! `DistributedDataParallel` does, then gives those of one process with all rows.

use super::merge::{root_is_forall, take_in, value};
use super::run::{Partial, Shared};
use super::share::Part;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::State;
use crate::vector::Real;

/// Takes the numbers of this process and gives which one it is, and the numbers of all, one process after the other.
pub type Exchange<'a> = dyn FnMut(&[f64]) -> Result<(usize, Vec<f64>), Diagnostics> + 'a;

/// How many numbers are sent of each part: a state or a value, and how often an `exists` inside had nothing to choose from.
const NUMBERS_PER_PART: usize = 5;

/// The result of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    /// Of all processes.
    pub value: f64,
    /// The factor of the derivatives by it.
    pub factor: f64,
    /// Whether the derivative by an extreme goes to this process.
    pub mine: bool,
}

/// Sends the results of this process's lanes, and takes over those of all processes.
pub(super) fn join<T: Real>(
    shared: &Shared<T>,
    parts: &[Part],
    totals: &mut [Partial],
    empties: &mut [u64],
    exchange: &mut Exchange,
) -> Result<Vec<Joint>, Diagnostics> {
    let mut own = Vec::with_capacity(NUMBERS_PER_PART * parts.len());
    for ((part, total), empty) in parts.iter().zip(&*totals).zip(&*empties) {
        match total {
            Partial::State(s) if part.root.sharded => own.extend([s.a, s.b, s.c, s.count]),
            total => own.extend([value(shared, part, total), 0.0, 0.0, 0.0]),
        }
        own.push(*empty as f64);
    }
    let (rank, all) = exchange(&own)?;
    if own.is_empty() || all.is_empty() || all.len() % own.len() != 0 {
        let message = format!(
            "{} numbers came from processes that send {} each",
            all.len(),
            own.len()
        );
        return Err(Diagnostic::error(Code::RanksDisagree, message).into());
    }
    let ranks: Vec<&[f64]> = all.chunks_exact(own.len()).collect();
    let mut joint = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let at = NUMBERS_PER_PART * i;
        let (Partial::State(_), true) = (&totals[i], part.root.sharded) else {
            let first = ranks[0][at];
            let equal = ranks.iter().all(|r| r[at] == first);
            let sum: f64 = ranks.iter().map(|r| r[at]).sum();
            joint.push(Joint {
                value: if equal {
                    first
                } else {
                    sum / ranks.len() as f64
                },
                factor: 1.0,
                mine: true,
            });
            continue;
        };
        let states = ranks.iter().map(|r| State {
            a: r[at],
            b: r[at + 1],
            c: r[at + 2],
            count: r[at + 3],
        });
        let nothing = (shared.aggregation(root_is_forall(shared, part)).start)();
        totals[i] = Partial::State(nothing);
        for state in states.clone() {
            take_in(shared, part, &mut totals[i], &Partial::State(state));
        }
        let attains =
            |s: &State| matches!(&totals[i], Partial::State(all) if s.count > 0.0 && s.a == all.a);
        let first = states.clone().position(|s| attains(&s));
        empties[i] = ranks.iter().map(|r| r[at + 4] as u64).sum();
        joint.push(Joint {
            value: value(shared, part, &totals[i]),
            factor: ranks.len() as f64,
            mine: first == Some(rank),
        });
    }
    Ok(joint)
}
