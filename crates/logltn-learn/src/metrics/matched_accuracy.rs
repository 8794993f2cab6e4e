//! How often the predicted class is the known one if classes may be called by other names.

use std::collections::BTreeMap;

use super::error::{MetricError, rows};

/// The share of rows whose predicted class is the known one, under the renaming of classes, one to one, that makes it
/// greatest. Together with the accuracy it tells concepts that are learnt but mixed up from concepts
/// that are not learnt.
///
/// # Errors
/// If there are no rows, or the lengths differ.
pub(super) fn matched_accuracy(predicted: &[usize], known: &[usize]) -> Result<f64, MetricError> {
    let rows = rows(predicted.len(), known.len())?;
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for class in predicted.iter().chain(known) {
        let next = places.len();
        places.entry(*class).or_insert(next);
    }
    let mut counts = vec![vec![0_i64; places.len()]; places.len()];
    for (p, k) in predicted.iter().zip(known) {
        counts[places[k]][places[p]] += 1;
    }
    Ok(best_matching(&counts) as f64 / rows as f64)
}

/// The greatest sum of one number from each row and each column of a square table (the Hungarian method).
fn best_matching(counts: &[Vec<i64>]) -> i64 {
    let n = counts.len();
    // Row and column 0 stand for nothing yet; costs are the counts' negatives.
    let (mut of_row, mut of_column) = (vec![0_i64; n + 1], vec![0_i64; n + 1]);
    let mut matched = vec![0; n + 1];
    for row in 1..=n {
        matched[0] = row;
        let mut column = 0;
        let mut least = vec![i64::MAX; n + 1];
        let mut before = vec![0; n + 1];
        let mut used = vec![false; n + 1];
        while matched[column] != 0 {
            used[column] = true;
            let (at, mut delta, mut next) = (matched[column], i64::MAX, 0);
            for other in (1..=n).filter(|c| !used[*c]) {
                let cost = -counts[at - 1][other - 1] - of_row[at] - of_column[other];
                if cost < least[other] {
                    (least[other], before[other]) = (cost, column);
                }
                if least[other] < delta {
                    (delta, next) = (least[other], other);
                }
            }
            for other in 0..=n {
                if used[other] {
                    of_row[matched[other]] += delta;
                    of_column[other] -= delta;
                } else {
                    least[other] = least[other].saturating_sub(delta);
                }
            }
            column = next;
        }
        while column != 0 {
            matched[column] = matched[before[column]];
            column = before[column];
        }
    }
    (1..=n).map(|c| counts[matched[c] - 1][c - 1]).sum()
}
