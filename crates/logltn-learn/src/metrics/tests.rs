//! The metrics against values computed by hand and against definitions too slow to be wrong.

use proptest::prelude::*;

use super::*;

fn average_precision(scores: &[f64], positive: &[bool]) -> Result<f64, MetricError> {
    super::average_precision(&Scores::truths(scores.to_vec())?, positive)
}

fn roc_auc(scores: &[f64], positive: &[bool]) -> Result<f64, MetricError> {
    super::roc_auc(&Scores::logits(scores.to_vec())?, positive)
}

/// Of what is said to be true, however that is said.
fn figure(
    figure: fn(&Scores, &[bool]) -> Result<f64, MetricError>,
    said: &[bool],
    known: &[bool],
) -> Result<f64, MetricError> {
    let numbers = |no: f64, yes: f64| -> Vec<f64> {
        said.iter()
            .map(|&said| if said { yes } else { no })
            .collect()
    };
    let value = figure(&Scores::logits(numbers(0.0, 0.1))?, known);
    assert_eq!(figure(&Scores::truths(numbers(0.5, 0.6))?, known), value);
    let logs = numbers(0.5_f64.ln(), 0.6_f64.ln());
    let logs = Scores::of(logltn::OutputKind::LogTruth, logs)?;
    assert_eq!(figure(&logs, known), value);
    value
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12
}

#[test]
fn nothing_to_compare() {
    assert_eq!(accuracy(&[], &[]), Err(MetricError::Empty));
    assert_eq!(balanced_accuracy(&[], &[]), Err(MetricError::Empty));
    assert_eq!(adjusted_rand_index(&[], &[]), Err(MetricError::Empty));
    assert_eq!(average_precision(&[], &[]), Err(MetricError::Empty));
    assert_eq!(roc_auc(&[], &[]), Err(MetricError::Empty));
}

#[test]
fn lengths_that_differ() {
    let wrong = Err(MetricError::LengthsDiffer {
        predicted: 2,
        known: 1,
    });
    assert_eq!(accuracy(&[1, 2], &[1]), wrong);
    assert_eq!(balanced_accuracy(&[1, 2], &[1]), wrong);
    assert_eq!(adjusted_rand_index(&[1, 2], &[1]), wrong);
    assert_eq!(average_precision(&[1.0, 2.0], &[true]), wrong);
    assert_eq!(roc_auc(&[1.0, 2.0], &[true]), wrong);
    let lengths = accuracy(&[1, 2], &[1]).unwrap_err();
    let text = logltn::Diagnostic::from(lengths).to_string();
    assert!(text.contains("2 rows, but 1 are known"), "{text}");
}

#[test]
fn scores_that_cannot_be_ranked() {
    let wrong = Err(MetricError::NotANumber { row: 1 });
    let scores = [0.5, f64::NAN, f64::NAN];
    assert_eq!(average_precision(&scores, &[true, false, true]), wrong);
    assert_eq!(roc_auc(&scores, &[true, false, true]), wrong);
    // Infinite ones can.
    let scores = [f64::INFINITY, 0.0, f64::NEG_INFINITY];
    assert_eq!(roc_auc(&scores, &[true, false, false]), Ok(1.0));
}

#[test]
fn one_class_only() {
    assert_eq!(accuracy(&[4, 4], &[4, 4]), Ok(1.0));
    assert_eq!(balanced_accuracy(&[4, 1], &[4, 4]), Ok(0.5));
    assert_eq!(adjusted_rand_index(&[4, 4, 4], &[1, 1, 1]), Ok(1.0));
    assert_eq!(adjusted_rand_index(&[4, 4, 4], &[1, 2, 3]), Ok(0.0));
    assert_eq!(adjusted_rand_index(&[4, 5, 6], &[1, 2, 3]), Ok(1.0));
    assert_eq!(adjusted_rand_index(&[4], &[1]), Ok(1.0));
    assert_eq!(average_precision(&[0.1, 0.2], &[true, true]), Ok(1.0));
    let none = Err(MetricError::NoPositives);
    assert_eq!(average_precision(&[0.1, 0.2], &[false, false]), none);
    assert_eq!(roc_auc(&[0.1, 0.2], &[false, false]), none);
    let none = Err(MetricError::NoNegatives);
    assert_eq!(roc_auc(&[0.1, 0.2], &[true, true]), none);
}

#[test]
fn everything_tied() {
    let positive = [true, false, false, true, false];
    assert_eq!(average_precision(&[0.3; 5], &positive), Ok(0.4));
    assert_eq!(roc_auc(&[0.3; 5], &positive), Ok(0.5));
    // The two zeros are one score.
    assert_eq!(roc_auc(&[0.0, -0.0], &[true, false]), Ok(0.5));
}

#[test]
fn balanced_accuracy_by_hand() {
    assert_eq!(accuracy(&[1, 0, 0], &[1, 0, 2]), Ok(2.0 / 3.0));
    assert_eq!(matched_accuracy(&[1, 1, 0, 0], &[0, 0, 1, 1]), Ok(1.0));
    assert_eq!(matched_accuracy(&[1, 1, 1, 1], &[0, 0, 1, 1]), Ok(0.5));
    // Recalls: class 0 2/3, class 1 1/2, class 2 0; class 9 is only predicted.
    let known = [0, 0, 0, 1, 1, 2];
    let predicted = [0, 0, 9, 1, 0, 1];
    let expected = (2.0 / 3.0 + 0.5 + 0.0) / 3.0;
    assert!(close(
        balanced_accuracy(&predicted, &known).unwrap(),
        expected
    ));
}

#[test]
fn adjusted_rand_index_by_hand() {
    // Contingency 2 1 / 0 1 over groups of 3 and 1, and of 2 and 2: both 1, within 3 and 2, of 6 pairs.
    // (1 − 3·2/6) / ((3 + 2)/2 − 1) = 0.
    assert_eq!(adjusted_rand_index(&[0, 0, 0, 1], &[5, 5, 6, 6]), Ok(0.0));
    // scikit-learn's example: ((0, 0, 1, 2), (0, 0, 1, 1)) is 0.57.
    let index = adjusted_rand_index(&[0, 0, 1, 2], &[0, 0, 1, 1]).unwrap();
    assert!(close(index, 4.0 / 7.0), "{index}");
}

#[test]
fn adjusted_rand_index_of_many_rows_is_exact() {
    let groups: Vec<usize> = (0..200_000).map(|i| i % 7).collect();
    let renamed: Vec<usize> = groups.iter().map(|g| 100 - g).collect();
    assert_eq!(adjusted_rand_index(&groups, &renamed), Ok(1.0));
}

#[test]
fn average_precision_by_hand() {
    // Thresholds 0.9: 1 of 1; 0.5: 2 of 4 (a tie of three rows); 0.1: 3 of 5.
    let scores = [0.9, 0.5, 0.5, 0.5, 0.1];
    let positive = [true, false, true, false, true];
    let expected = (1.0 + 2.0 / 4.0 + 3.0 / 5.0) / 3.0;
    assert!(close(
        average_precision(&scores, &positive).unwrap(),
        expected
    ));
}

/// The four counts of pairs of rows, by looking at every pair.
fn index_by_pairs(a: &[usize], b: &[usize]) -> f64 {
    let (mut both, mut only_a, mut only_b, mut neither) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..a.len() {
        for j in 0..i {
            match (a[i] == a[j], b[i] == b[j]) {
                (true, true) => both += 1.0,
                (true, false) => only_a += 1.0,
                (false, true) => only_b += 1.0,
                (false, false) => neither += 1.0,
            }
        }
    }
    if only_a == 0.0 && only_b == 0.0 {
        return 1.0;
    }
    2.0 * (both * neither - only_a * only_b)
        / ((both + only_a) * (only_a + neither) + (both + only_b) * (only_b + neither))
}

/// Precision and recall at every threshold, each counted from the start.
fn precision_by_thresholds(scores: &[f64], positive: &[bool]) -> f64 {
    let mut thresholds = scores.to_vec();
    thresholds.sort_by(|a, b| b.total_cmp(a));
    thresholds.dedup();
    let all = positive.iter().filter(|p| **p).count() as f64;
    let mut area = 0.0;
    let mut last_recall = 0.0;
    for threshold in thresholds {
        let taken = scores.iter().filter(|s| **s >= threshold).count() as f64;
        let found = (scores.iter().zip(positive))
            .filter(|(s, p)| **s >= threshold && **p)
            .count() as f64;
        area += found / taken * (found / all - last_recall);
        last_recall = found / all;
    }
    area
}

/// Every positive row against every negative one.
fn area_by_pairs(scores: &[f64], positive: &[bool]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for (s, _) in scores.iter().zip(positive).filter(|(_, p)| **p) {
        for (t, _) in scores.iter().zip(positive).filter(|(_, p)| !**p) {
            pairs += 1.0;
            won += if s > t {
                1.0
            } else if s == t {
                0.5
            } else {
                0.0
            };
        }
    }
    won / pairs
}

/// Few distinct scores, so that ties are common.
fn ranked() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
    prop::collection::vec((0..8i32, any::<bool>()), 1..40).prop_map(|rows| {
        let (scores, positive): (Vec<i32>, Vec<bool>) = rows.into_iter().unzip();
        (
            scores.into_iter().map(|s| f64::from(s) / 4.0).collect(),
            positive,
        )
    })
}

fn grouped() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    prop::collection::vec((0..4usize, 0..5usize), 1..40).prop_map(|rows| rows.into_iter().unzip())
}

proptest! {
    #[test]
    fn adjusted_rand_index_counts_pairs((a, b) in grouped()) {
        let index = adjusted_rand_index(&a, &b).unwrap();
        prop_assert!(close(index, index_by_pairs(&a, &b)));
        prop_assert_eq!(index, adjusted_rand_index(&b, &a).unwrap());
        prop_assert!((-0.5..=1.0).contains(&index));
    }

    #[test]
    fn average_precision_steps_through_thresholds((scores, positive) in ranked()) {
        match average_precision(&scores, &positive) {
            Ok(area) => prop_assert!(close(area, precision_by_thresholds(&scores, &positive))),
            Err(error) => {
                prop_assert_eq!(error, MetricError::NoPositives);
                prop_assert!(!positive.contains(&true));
            }
        }
    }

    #[test]
    fn roc_auc_counts_pairs((scores, positive) in ranked()) {
        match roc_auc(&scores, &positive) {
            Ok(area) => prop_assert!(close(area, area_by_pairs(&scores, &positive))),
            Err(_) => prop_assert!(!positive.contains(&true) || !positive.contains(&false)),
        }
    }

    #[test]
    fn balanced_accuracy_is_the_accuracy_of_balanced_rows(
        (predicted, known) in grouped(),
    ) {
        // Each class's rows repeated until all classes are as large: then both are the same.
        let size = |class: usize| known.iter().filter(|k| **k == class).count();
        let common: usize = (0..5).map(size).filter(|n| *n > 0).product();
        let (mut p, mut k) = (Vec::new(), Vec::new());
        if common <= 5_000 {
            for (row, class) in known.iter().enumerate() {
                for _ in 0..common / size(*class) {
                    p.push(predicted[row]);
                    k.push(*class);
                }
            }
            let plain = accuracy(&p, &k).unwrap();
            prop_assert!(close(balanced_accuracy(&predicted, &known).unwrap(), plain));
        }
    }
}

#[test]
fn precision_recall_and_f1_by_hand() {
    let known = [true, true, true, false, false];
    let said = [true, false, true, true, false];
    let right = figure(
        accuracy_of_truths,
        &[true, false, true],
        &[true, false, false],
    );
    assert_eq!(right, Ok(2.0 / 3.0));
    assert!(close(figure(precision, &said, &known).unwrap(), 2.0 / 3.0));
    assert!(close(figure(recall, &said, &known).unwrap(), 2.0 / 3.0));
    assert!(close(figure(f1, &said, &known).unwrap(), 2.0 / 3.0));
    // Nothing is said: nothing is right.
    assert_eq!(figure(precision, &[false; 5], &known), Ok(0.0));
    assert_eq!(figure(recall, &[false; 5], &known), Ok(0.0));
    assert_eq!(figure(f1, &[false; 5], &known), Ok(0.0));
    // Nothing could be found.
    for kind in [precision, recall, f1] {
        assert_eq!(
            figure(kind, &[true, false], &[false, false]),
            Err(MetricError::NoPositives)
        );
        assert_eq!(figure(kind, &[], &[]), Err(MetricError::Empty));
    }
    // Class 0: said 3, right 2 of 3; class 1: said 1, right 1 of 2; class 2: said 1, never right, and never known.
    let (known, said) = ([0, 0, 0, 1, 1], [0, 0, 2, 1, 0]);
    let third = 1.0 / 3.0;
    let value = |figure: fn(&[usize], &[usize]) -> Result<f64, MetricError>| {
        figure(&said, &known).expect("a value")
    };
    assert!(close(
        value(precision_of_classes),
        (2.0 * third + 1.0) * third
    ));
    assert!(close(value(recall_of_classes), (2.0 * third + 0.5) * third));
    assert!(close(
        value(f1_of_classes),
        (2.0 * third + 2.0 * third) * third
    ));
}

#[test]
fn errors_of_numbers_by_hand() {
    let (known, said) = ([1.0, 2.0, 3.0, 6.0], [1.0, 4.0, 3.0, 5.0]);
    assert!(close(rmse(&said, &known).unwrap(), 1.25_f64.sqrt()));
    assert!(close(mae(&said, &known).unwrap(), 0.75));
    // The mean is 3, and 4 + 1 + 0 + 9 vary.
    assert!(close(r2(&said, &known).unwrap(), 1.0 - 5.0 / 14.0));
    assert_eq!(r2(&[0.3; 3], &[0.1; 3]), Err(MetricError::AllEqual));
    let wrong = Err(MetricError::NotANumber { row: 1 });
    for figure in [rmse, mae, r2] {
        assert_eq!(figure(&[], &[]), Err(MetricError::Empty));
        assert_eq!(figure(&[0.0, f64::NAN], &[0.0, 1.0]), wrong);
    }
}

#[test]
fn ranks_by_hand() {
    assert!(close(mrr(&[1.0, 2.5]).unwrap(), 0.7));
    assert_eq!(hits(&[1.0, 2.5], 2), Ok(0.5));
    assert_eq!(mrr(&[]), Err(MetricError::Empty));
    assert_eq!(hits(&[], 1), Err(MetricError::Empty));
}

#[test]
fn names_are_different() {
    for (i, (name, kind)) in MetricKind::ALL.iter().enumerate() {
        assert_eq!(kind.name(), *name);
        assert!(MetricKind::ALL[..i].iter().all(|(other, _)| other != name));
    }
}

/// Of each metric, what is right is better than what is wrong: its direction cannot be the other one.
#[test]
fn what_is_right_is_better() {
    let (known, wrong) = ([true, false, true, false], [false, true, false, true]);
    let scores = |said: &[bool]| {
        let numbers = said.iter().map(|&said| f64::from(u8::from(said)));
        Scores::truths(numbers.collect()).expect("numbers")
    };
    let classes = |said: &[bool]| -> Vec<usize> { said.iter().map(|&b| usize::from(b)).collect() };
    let values = |said: &[bool]| scores(said).numbers().to_vec();
    for (name, kind) in MetricKind::ALL {
        // Two clusterings that are each other's opposites are the same, and use the same classes.
        let other = match kind {
            MetricKind::AdjustedRandIndex | MetricKind::MatchedAccuracy | MetricKind::Collapse => {
                [true, true, true, true]
            }
            _ => wrong,
        };
        let [right, wrong] = [known, other].map(|said| match kind.figure() {
            Figure::Classes(f) => vec![f(&classes(&said), &classes(&known))],
            Figure::TruthsOrClasses(f, g) => vec![
                f(&scores(&said), &known),
                g(&classes(&said), &classes(&known)),
            ],
            Figure::Certainties(f) => {
                let right: Vec<bool> = said.iter().zip(&known).map(|(s, k)| s == k).collect();
                vec![f(&[1.0; 4], &right)]
            }
            Figure::Truths(f) => vec![f(&scores(&said), &known)],
            Figure::Ranks(f) => vec![f(&[if said == known { 1.0 } else { 9.0 }])],
            Figure::FirstRanks(f) => vec![f(&[if said == known { 1.0 } else { 9.0 }], 3)],
            Figure::Values(f) => vec![f(&values(&said), &values(&known))],
            Figure::Axioms => vec![Ok(f64::from(u8::from(said == known)))],
        });
        for (right, wrong) in right.into_iter().zip(wrong) {
            let (right, wrong) = (right.expect("a value"), wrong.expect("a value"));
            assert!(
                kind.better().is_better(right, wrong),
                "{name}: {right} {wrong}"
            );
        }
    }
}

proptest! {
    #[test]
    fn matched_accuracy_is_the_best_over_all_renamings(
        pairs in prop::collection::vec((0_usize..4, 0_usize..4), 1..30),
    ) {
        let (predicted, known): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        let mut best = 0.0_f64;
        for code in 0..256_usize {
            let renamed = |c: usize| code >> (2 * c) & 3;
            let mut seen = [false; 4];
            (0..4).for_each(|c| seen[renamed(c)] = true);
            if seen == [true; 4] {
                let renamed: Vec<usize> = predicted.iter().map(|c| renamed(*c)).collect();
                best = best.max(accuracy(&renamed, &known).unwrap());
            }
        }
        prop_assert!(close(matched_accuracy(&predicted, &known).unwrap(), best));
        let never = (0..4).filter(|c| known.contains(c) && !predicted.contains(c)).count();
        prop_assert_eq!(collapse(&predicted, &known).unwrap(), never as f64);
    }

    #[test]
    fn calibration_is_the_mean_gap_of_its_groups(
        rows in prop::collection::vec((0.0_f64..=1.0, any::<bool>()), 1..40),
    ) {
        let (certain, right): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
        let mut expected = 0.0;
        for group in 0..15 {
            let (low, high) = (f64::from(group) / 15.0, f64::from(group + 1) / 15.0);
            let inside = |c: f64| c > low && c <= high || group == 0 && c == 0.0;
            let own: Vec<&(f64, bool)> = rows.iter().filter(|(c, _)| inside(*c)).collect();
            let sum = |f: &dyn Fn(&(f64, bool)) -> f64| own.iter().map(|r| f(r)).sum::<f64>();
            expected += (sum(&|r| f64::from(u8::from(r.1))) - sum(&|r| r.0)).abs() / rows.len() as f64;
        }
        prop_assert!((calibration_error(&certain, &right).unwrap() - expected).abs() < 1e-9);
    }
}
