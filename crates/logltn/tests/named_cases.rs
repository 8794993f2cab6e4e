//! The paper's tasks in small, and the corners of the language: what can be said of their values from
//! outside, by other mathematics than the evaluator's. `engine_vs_reference.rs` runs the same cases
//! through the engine.

use crate::cases::compare::near;
use crate::cases::named;
use crate::cases::rng::Rng;
use logltn::{Parameters, Semantics};

fn semantics(name: &str) -> Semantics {
    Semantics::named(name).unwrap()
}

fn evaluate(case: &crate::reference::Case, name: &str, alpha: f64) -> crate::reference::Evaluation {
    let parameters = Parameters {
        alpha,
        ..Parameters::default()
    };
    crate::reference::evaluate(case, &semantics(name), &parameters).unwrap()
}

/// With LogSumExp at α = 1 the truth of a sum is its probability, if the digits are independent: a
/// convolution of their softmaxes.
#[test]
fn addition_is_a_convolution() {
    let case = named::addition(&mut Rng::new(1));
    let table = case.data.table(case.theory.table("sums").unwrap()).unwrap();
    let logltn::ColumnData::Int(sums) = &table.columns[4] else {
        panic!("sums are integers");
    };
    let digits = |image: u32| -> Vec<f64> {
        let logits = &case.numbers[0][image as usize * 5..][..5];
        let total: f64 = logits.iter().map(|z| z.exp()).sum();
        logits.iter().map(|z| z.exp() / total).collect()
    };
    let convolve = |a: &[f64], b: &[f64], step: usize| -> Vec<f64> {
        let mut out = vec![0.0; a.len() + step * (b.len() - 1)];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                out[i + step * j] += x * y;
            }
        }
        out
    };
    let mut logs = Vec::new();
    for (row, &sum) in sums.iter().enumerate() {
        let image = |column: usize| match &table.columns[column] {
            logltn::ColumnData::Individuals(cells) => digits(cells[row]),
            _ => panic!("images are individuals"),
        };
        let units = convolve(&image(1), &image(3), 1);
        let tens = convolve(&image(0), &image(2), 1);
        logs.push(convolve(&units, &tens, 5)[sum as usize].ln());
    }
    let expected = logs.iter().sum::<f64>() / logs.len() as f64;
    let found = evaluate(&case, "logltn-lse", 1.0);
    assert!(
        near(found.sat, expected, 1e-12),
        "{} and {expected}",
        found.sat
    );
    // 48 has one pair of numbers below 25, 1 has two, 24 has all 25; of 5⁴ quadruples.
    let counts: Vec<u128> = (sums.iter())
        .map(|&n| (0..25).filter(|a| (0..25).contains(&(n - a))).count() as u128)
        .collect();
    assert_eq!(found.axioms[0].groundings, counts.iter().sum::<u128>());
}

/// A softmax is a distribution, so that `some class` has the probability 1: LogSumExp at α = 1 gives 0,
/// and LogMeanExp −log of the number of classes.
#[test]
fn every_point_is_in_some_cluster() {
    let case = named::clustering(&mut Rng::new(2));
    let covered = |name: &str| evaluate(&case, name, 1.0).axioms[0].truth;
    assert!(near(covered("logltn-lse"), 0.0, 1e-12));
    assert!(near(covered("logltn"), -3_f64.ln(), 1e-12));
    // The guards of the other two axioms are each other's opposites, near and far.
    let value = evaluate(&case, "logltn", 1.0);
    let close = value.axioms[2].groundings;
    assert_eq!(close % 3, 0);
    assert!(
        close / 3 >= 15 && (close - 45).is_multiple_of(2),
        "reflexive and symmetric: {close}"
    );
}

#[test]
fn families_of_the_mereology() {
    let case = named::mereology(&mut Rng::new(3));
    let value = evaluate(&case, "logltn", 2.0);
    let names: Vec<&str> = value.axioms.iter().map(|a| a.name.as_str()).collect();
    let expected = [
        "types",
        "antisymmetric",
        "irreflexive",
        "whole_to_parts[cat]",
        "whole_to_parts[car]",
        "part_to_wholes[head]",
        "part_to_wholes[tail]",
        "part_to_wholes[wheel]",
        "no_parts[cloud]",
    ];
    assert_eq!(names, expected);
    let groundings: Vec<u128> = value.axioms.iter().map(|a| a.groundings).collect();
    assert_eq!(groundings, [9, 12, 7, 12, 12, 12, 12, 12, 42]);
    let weights: Vec<f64> = value.axioms.iter().map(|a| a.weight).collect();
    let total: f64 = weights.iter().sum();
    let sum: f64 = value.axioms.iter().map(|a| a.weight * a.truth).sum();
    assert!(near(value.sat, sum / total, 1e-12));
}

#[test]
fn empty_guards_are_crisp_and_counted() {
    let case = named::empty(&mut Rng::new(4));
    let truth = |name: &str| -> Vec<(u64, f64)> {
        let axioms = evaluate(&case, name, 1.0).axioms;
        axioms.iter().map(|a| (a.empty_exists, a.truth)).collect()
    };
    let log = truth("logltn");
    // u = 0 and u = 1 have no w: half the mean is the floor.
    assert_eq!(log[0].0, 2);
    assert!(near(log[0].1, -5e4, 1e-3));
    assert_eq!(log[1], (1, -1e5));
    assert_eq!(log[2], (0, 0.0));
    // `not forall` becomes `exists` in normal form, one per individual of X.
    assert!(log[3].0 == 3 && near(log[3].1, -1e5, 1e-12));
    // An empty `any` next to an empty `all`, which is true: at least log 1/3.
    assert!(log[4].0 == 0 && log[4].1 >= -(3_f64.ln()) - 1e-12);
    assert_eq!(log[5].0, 1);

    let stable = truth("stable");
    assert_eq!(stable[1].0, 1);
    assert_eq!(stable[1].1, 0.0);
    assert_eq!(stable[2], (0, 1.0));
    // Here the `forall` is evaluated, true, and only then negated.
    assert_eq!(stable[3].0, 0);
    let refused = crate::reference::evaluate(&case, &semantics("prod"), &Parameters::default());
    assert!(refused.is_err(), "`not forall` under `forall`");
}

#[test]
fn extreme_logits_stay_finite() {
    for seed in 0..20 {
        let case = named::extreme(&mut Rng::new(seed));
        for name in [
            "logltn",
            "logltn-sum",
            "logltn-max",
            "logltn-lse",
            "logltn-prob",
        ] {
            for alpha in [0.1, 1.0, 100.0] {
                let value = evaluate(&case, name, alpha);
                assert!(value.sat.is_finite());
                assert!(value.gradients.iter().flatten().all(|g| g.is_finite()));
            }
        }
        // log σ(z)ₖ and log(1 − σ(z)ₖ) of four equal logits.
        let first = case.numbers[0][..4].iter().map(|z| z.exp()).sum::<f64>();
        assert_eq!(first, 4.0);
    }
}

/// Whether `nested` is refused by `prod`, and nothing by the others.
#[test]
fn only_prod_refuses() {
    for (case_name, case) in named::all(5) {
        for name in crate::cases::operators() {
            let result =
                crate::reference::evaluate(&case, &semantics(name), &Parameters::default());
            let refused = name == "prod" && matches!(case_name, "nested" | "empty");
            assert_eq!(result.is_err(), refused, "{case_name}, {name}");
        }
    }
}
