//! What the pictures of answers to known rows show: confusions, ROC and precision-recall curves, calibration, and predicted
//! against actual values.

use std::collections::BTreeMap;

use logltn_learn::metrics::{Scores, average_precision, roc_auc};
use logltn_learn::{Answered, Compared, largest};
use serde_json::{Value, json};

/// More points of a curve or a cloud would not show more.
const MOST_POINTS: usize = 2_000;
const MOST_CURVE: usize = 200;
/// More classes than these have no curve each.
const MOST_CLASSES: usize = 10;
/// More labels than these have no table that fits a page.
const MOST_LABELS: usize = 100;
/// How many stretches of truth calibration looks at.
const BINS: usize = 10;

/// In the form that the page reads. `names` are those of the classes.
pub fn document(answered: &Answered, names: &[String]) -> Value {
    match &answered.answers {
        Compared::Classes {
            classes,
            said,
            known,
        } => {
            let rows: Vec<&[f64]> = said.chunks_exact((*classes).max(1)).collect();
            let picked: Vec<usize> = rows.iter().map(|row| largest(row)).collect();
            let sure: Vec<f64> = rows.iter().zip(&picked).map(|(row, k)| row[*k]).collect();
            let right: Vec<bool> = picked.iter().zip(known).map(|(a, b)| a == b).collect();
            // With two classes one curve is enough.
            let shown = match classes {
                2 => 1..2,
                n => 0..(*n).min(MOST_CLASSES),
            };
            let curves: Vec<Value> = shown
                .filter_map(|k| {
                    let scores: Vec<f64> = rows.iter().map(|row| row[k]).collect();
                    let positive: Vec<bool> = known.iter().map(|class| *class == k).collect();
                    curves(names.get(k).map_or("", String::as_str), &scores, &positive)
                })
                .collect();
            json!({
                "metric": answered.metric,
                "rows": known.len(),
                "curves": curves,
                "calibration": calibration(&sure, &right),
            })
        }
        Compared::Truths { said, known } => {
            let label = |truth: bool| if truth { "true" } else { "false" }.to_string();
            let labels: Vec<String> = known.iter().map(|truth| label(*truth)).collect();
            let picked: Vec<usize> = said.iter().map(|truth| usize::from(*truth > 0.5)).collect();
            json!({
                "metric": answered.metric,
                "rows": known.len(),
                "classes": ["false", "true"],
                "confusion": confusion(&labels, &picked, &[label(false), label(true)]),
                "curves": curves("true", said, known).into_iter().collect::<Vec<_>>(),
                "calibration": calibration(said, known),
            })
        }
        Compared::Values { said, known } => {
            let every = known.len().div_ceil(MOST_POINTS).max(1);
            let some = |values: &[f64]| -> Vec<f64> {
                values.iter().step_by(every).map(|x| rounded(*x)).collect()
            };
            json!({
                "metric": answered.metric,
                "rows": known.len(),
                "actual": some(known),
                "predicted": some(said),
            })
        }
    }
}

/// The ROC curve and the precision-recall curve of scores; `None` where all rows are alike.
fn curves(name: &str, scores: &[f64], positive: &[bool]) -> Option<Value> {
    let numbers = Scores::truths(scores.to_vec()).ok()?;
    let (auc, precision) = (
        roc_auc(&numbers, positive).ok()?,
        average_precision(&numbers, positive).ok()?,
    );
    let all = positive.iter().filter(|is| **is).count() as f64;
    let others = positive.len() as f64 - all;
    let mut ranked: Vec<(f64, bool)> = scores
        .iter()
        .copied()
        .zip(positive.iter().copied())
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut hits, mut alarms) = (0.0, 0.0);
    let mut roc = vec![(0.0, 0.0)];
    let mut recalled = Vec::new();
    // Rows of one score come together: no threshold tells them apart.
    for tie in ranked.chunk_by(|a, b| a.0 == b.0) {
        let found = tie.iter().filter(|(_, is)| *is).count() as f64;
        hits += found;
        alarms += tie.len() as f64 - found;
        roc.push((alarms / others, hits / all));
        recalled.push((hits / all, hits / (hits + alarms)));
    }
    // Without a row predicted true, precision is undefined: the curve begins with the first row's.
    recalled.insert(0, (0.0, recalled[0].1));
    Some(json!({
        "class": name,
        "auc": auc,
        "average_precision": precision,
        "share": all / positive.len() as f64,
        "roc": thinned(&roc),
        "precision_recall": thinned(&recalled),
    }))
}

/// Every few points, and the last.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MOST_CURVE).max(1);
    let mut some: Vec<(f64, f64)> = points.iter().step_by(every).copied().collect();
    if !(points.len().max(1) - 1).is_multiple_of(every) {
        some.extend(points.last());
    }
    some.iter()
        .map(|(x, y)| (rounded(*x), rounded(*y)))
        .collect()
}

/// For ten ranges of truth: the mean prediction, the share that is true, and the number of rows.
fn calibration(said: &[f64], right: &[bool]) -> Vec<Value> {
    let mut bins = [(0.0, 0usize, 0usize); BINS];
    for (truth, right) in said.iter().zip(right) {
        let bin = &mut bins[((truth * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + truth, bin.1 + usize::from(*right), bin.2 + 1);
    }
    (bins.iter())
        .filter(|(.., count)| *count > 0)
        .map(|(sum, right, count)| {
            let of = *count as f64;
            json!({ "said": rounded(sum / of), "right": rounded(*right as f64 / of), "rows": count })
        })
        .collect()
}

/// How many individuals of each label are given each class; rows are labels. Where the labels are the names of the classes
/// they have their order, so that what is right lies on the diagonal; `None` if there are too many for a table.
pub fn confusion(labels: &[String], said: &[usize], classes: &[String]) -> Option<Value> {
    let mut rows: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (label, class) in labels.iter().zip(said) {
        rows.entry(label).or_insert_with(|| vec![0; classes.len()])[*class] += 1;
    }
    if rows.len().max(classes.len()) > MOST_LABELS {
        return None;
    }
    let same = rows
        .keys()
        .all(|label| classes.iter().any(|class| class == label));
    let mut order: Vec<&str> = rows.keys().copied().collect();
    if same {
        order = classes.iter().map(String::as_str).collect();
    } else if order.iter().all(|label| label.parse::<i64>().is_ok()) {
        order.sort_by_key(|label| label.parse::<i64>().unwrap_or(0));
    }
    let none = vec![0; classes.len()];
    let counts: Vec<&Vec<u64>> = order.iter().map(|l| rows.get(l).unwrap_or(&none)).collect();
    let right: Option<u64> = same.then(|| (0..order.len()).map(|i| counts[i][i]).sum());
    Some(json!({
        "labels": order,
        "counts": counts,
        "right": right,
        "total": labels.len(),
    }))
}

pub fn rounded(x: f64) -> f64 {
    format!("{x:.4e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answers: Compared) -> Answered {
        Answered {
            of: "p".into(),
            metric: "accuracy(p)".into(),
            answers,
        }
    }

    /// The area under the curve that is drawn is the metric, ties and all.
    #[test]
    fn the_drawn_curve_has_the_area_that_is_told() {
        let mut state = 1u64;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for case in 0..200 {
            let rows = 2 + case % 40;
            let said: Vec<f64> = (0..rows).map(|_| next(5) as f64 / 4.0).collect();
            let known: Vec<bool> = (0..rows).map(|_| next(2) == 1).collect();
            let told = document(
                &answered(Compared::Truths {
                    said: said.clone(),
                    known: known.clone(),
                }),
                &[],
            );
            let total: u64 = (told["confusion"]["counts"].as_array().unwrap().iter())
                .flat_map(|row| row.as_array().unwrap())
                .map(|count| count.as_u64().unwrap())
                .sum();
            assert_eq!(total, rows as u64);
            let in_bins: u64 = (told["calibration"].as_array().unwrap().iter())
                .map(|bin| bin["rows"].as_u64().unwrap())
                .sum();
            assert_eq!(in_bins, rows as u64);
            let Some(curve) = told["curves"].get(0) else {
                assert!(known.iter().all(|k| *k == known[0]), "{told}");
                continue;
            };
            let points: Vec<(f64, f64)> = serde_json::from_value(curve["roc"].clone()).unwrap();
            let area: f64 = points
                .windows(2)
                .map(|w| (w[1].0 - w[0].0) * (w[1].1 + w[0].1) / 2.0)
                .sum();
            let auc = curve["auc"].as_f64().unwrap();
            assert!((area - auc).abs() < 1e-3, "{area} {auc}");
        }
    }

    #[test]
    fn no_rows_are_no_mistake() {
        let none = [
            Compared::Truths {
                said: vec![],
                known: vec![],
            },
            Compared::Values {
                said: vec![],
                known: vec![],
            },
            Compared::Classes {
                classes: 3,
                said: vec![],
                known: vec![],
            },
        ];
        for answers in none {
            assert_eq!(document(&answered(answers), &[])["rows"], json!(0));
        }
    }

    #[test]
    fn what_is_right_lies_on_the_diagonal() {
        let text = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        let table =
            confusion(&text(&["b", "a", "b"]), &[1, 1, 1], &text(&["a", "b", "c"])).unwrap();
        assert_eq!(table["labels"], json!(["a", "b", "c"]));
        assert_eq!(table["counts"], json!([[0, 1, 0], [0, 2, 0], [0, 0, 0]]));
        assert_eq!(table["right"], json!(2));
        // Clusters have other names than labels: nothing is right or wrong.
        let table = confusion(&text(&["10", "9", "x"]), &[0, 1, 1], &text(&["0", "1"])).unwrap();
        assert_eq!(table["labels"], json!(["10", "9", "x"]));
        assert_eq!(table["right"], json!(null));
        let table = confusion(&text(&["10", "9"]), &[0, 1], &text(&["a", "b"])).unwrap();
        assert_eq!(table["labels"], json!(["9", "10"]));
        let many: Vec<String> = (0..101).map(|i| i.to_string()).collect();
        assert!(confusion(&many, &[0; 101], &text(&["a"])).is_none());
    }
}
