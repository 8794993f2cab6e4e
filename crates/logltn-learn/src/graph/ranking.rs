//! Where the right entity stands among all, other facts left out.

use logltn::{Code, Diagnostic, Diagnostics};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Facts, Triple};
use crate::metrics::{hits, mrr, rank};

/// Questions that are scored at once.
const BLOCK: usize = 128;

/// The ranks of facts, from both ends.
pub struct Ranks(Vec<f64>);

impl Ranks {
    /// The mean of 1 / rank.
    pub fn mrr(&self) -> f64 {
        mrr(&self.0).unwrap_or(f64::NAN)
    }

    /// The share of ranks up to k.
    pub fn hits(&self, k: usize) -> f64 {
        hits(&self.0, k).unwrap_or(f64::NAN)
    }
}

/// Ranks both ends of each fact of `asked` among all entities. Other facts of `known` and of `asked` are no mistakes, and left out; equal scores share
/// the mean of their places. `score` puts the scores of all entities after each entity and relation; `more` adds to them, so many times, for
/// each entry of `times`, of which each has its ranks.
///
/// # Errors
/// If a score is not a number.
pub fn ranks(
    facts: Facts<'_>,
    known: &[Triple],
    asked: &[Triple],
    times: &[f32],
    score: impl Fn(&[[u32; 2]], &mut [f32]),
    more: impl Fn(&[[u32; 2]], f32, &mut [f32]),
) -> Result<Vec<Ranks>, Diagnostics> {
    let entities = facts.entities;
    let both = |of: &[Triple]| -> Vec<Triple> {
        let of = of.iter();
        of.flat_map(|fact| [*fact, facts.backwards(*fact)])
            .collect()
    };
    let asked = both(asked);
    let mut leads: FxHashMap<[u32; 2], Vec<u32>> = FxHashMap::default();
    for [a, r, b] in &asked {
        leads.entry([*a, *r]).or_default().push(*b);
    }
    for [a, r, b] in both(known) {
        leads.entry([a, r]).and_modify(|to| to.push(b));
    }
    let mut all: Vec<Ranks> = times.iter().map(|_| Ranks(Vec::new())).collect();
    let mut scores = Vec::new();
    let mut summed = Vec::new();
    for block in asked.chunks(BLOCK) {
        let questions: Vec<[u32; 2]> = block.iter().map(|[a, r, _]| [*a, *r]).collect();
        scores.resize(block.len() * entities, 0.0);
        score(&questions, &mut scores);
        for (&times, ranks) in times.iter().zip(&mut all) {
            summed.clone_from(&scores);
            more(&questions, times, &mut summed);
            let rows = block.par_iter().zip(summed.par_chunks_exact_mut(entities));
            let found: Vec<Option<f64>> = rows
                .map(|(&[a, r, right], scores)| {
                    let own = f64::from(scores[right as usize]);
                    for other in leads.get(&[a, r]).into_iter().flatten() {
                        scores[*other as usize] = f32::NEG_INFINITY;
                    }
                    rank(own, scores.iter().map(|&score| f64::from(score)))
                })
                .collect();
            for rank in found {
                ranks.0.push(rank.ok_or_else(|| {
                    Diagnostic::error(Code::TrainingDiverged, "a score is not a number")
                })?);
            }
        }
    }
    Ok(all)
}
