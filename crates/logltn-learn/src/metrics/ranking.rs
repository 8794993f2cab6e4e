//! Rows from the highest score to the lowest, in groups that no threshold can tell apart.

use super::error::{MetricError, rows};
use super::scores::Scores;

/// How many rows of one score are positive, and how many are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tie {
    pub(super) positives: u64,
    pub(super) negatives: u64,
}

/// The groups of equal scores, the highest score first. Infinite scores are scores like any other; 0 and −0 are equal.
pub(super) fn ties(scores: &Scores, positive: &[bool]) -> Result<Vec<Tie>, MetricError> {
    let scores = scores.numbers();
    rows(scores.len(), positive.len())?;
    // −0 + 0 = 0: `total_cmp` would put the two zeros apart.
    let mut ranked: Vec<(f64, bool)> = scores
        .iter()
        .map(|score| score + 0.0)
        .zip(positive.iter().copied())
        .collect();
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    Ok(ranked
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| {
            let positives = group.iter().filter(|(_, positive)| *positive).count() as u64;
            Tie {
                positives,
                negatives: group.len() as u64 - positives,
            }
        })
        .collect())
}
