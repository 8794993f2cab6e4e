//! The rank of the correct entity among all, with other facts left out.

use logltn::{Code, Diagnostic, Diagnostics};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Facts, Triple};
use logltn_learn::metrics::{hits, mrr};

/// Questions that are scored at once.
const BLOCK: usize = 128;

/// The ranks of facts, from both ends: of each fact first the last entity's, then the first one's.
pub struct Ranks(Vec<f64>);

impl Ranks {
    /// The mean of 1 / rank.
    pub fn mrr(&self) -> f64 {
        mrr(&self.0).unwrap_or(f64::NAN)
    }

    /// The same of the last entities alone, as some report it.
    pub fn mrr_of_last(&self) -> f64 {
        let last: Vec<f64> = self.0.iter().copied().step_by(2).collect();
        mrr(&last).unwrap_or(f64::NAN)
    }

    /// The share of ranks up to k.
    pub fn hits(&self, k: usize) -> f64 {
        hits(&self.0, k).unwrap_or(f64::NAN)
    }
}

/// Ranks both ends of each fact of `asked` among all entities. Other facts of `known` and of `asked` are no mistakes, and left out; equal scores share
/// the mean of their places. `score` puts the scores of all entities after each entity and relation; `more` adds to them, as many times, for each
/// entry of `times`, of which each has its ranks.
///
/// # Errors
/// If a score is not a number.
pub fn ranks(
    facts: Facts<'_>,
    known: &[Triple],
    asked: &[Triple],
    times: &[f32],
    score: impl Fn(&[[u32; 2]], &mut [f32]),
    more: impl Fn(&[[u32; 2]], f32, &mut [f32]) + Sync,
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
    for block in asked.chunks(BLOCK) {
        let questions: Vec<[u32; 2]> = block.iter().map(|[a, r, _]| [*a, *r]).collect();
        scores.resize(block.len() * entities, 0.0);
        score(&questions, &mut scores);
        let rows = block.par_iter().zip(scores.par_chunks_exact(entities));
        let found: Vec<Vec<Option<f64>>> = rows
            .map_init(Vec::new, |summed, (&[a, r, right], scores)| {
                let rank = |times: &f32| {
                    summed.clear();
                    summed.extend_from_slice(scores);
                    more(&[[a, r]], *times, summed);
                    let own = summed[right as usize];
                    for other in leads.get(&[a, r]).into_iter().flatten() {
                        summed[*other as usize] = f32::NEG_INFINITY;
                    }
                    place(own, summed)
                };
                times.iter().map(rank).collect()
            })
            .collect();
        for found in found {
            for (ranks, rank) in all.iter_mut().zip(found) {
                ranks.0.push(rank.ok_or_else(|| {
                    Diagnostic::error(Code::TrainingDiverged, "a score is not a number")
                })?);
            }
        }
    }
    Ok(all)
}

/// The place of a score among those of the others, equal ones sharing the mean of theirs. None if one is not a number.
fn place(own: f32, others: &[f32]) -> Option<f64> {
    let [mut before, mut beside, mut odd] = [0_u32; 3];
    for &other in others {
        before += u32::from(other > own);
        beside += u32::from(other == own);
        odd += u32::from(other.is_nan());
    }
    (odd == 0 && !own.is_nan()).then(|| 1.0 + f64::from(before) + f64::from(beside) / 2.0)
}
