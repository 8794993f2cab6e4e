//! The engine against the reference: conformance cases and random theories.
//!
//! `LOGLTN_RANDOM_CASES=100000 cargo test --release --test engine_vs_reference` looks further than CI does.

#![cfg(any())] // until the engine is there

mod common;
mod engine_run;
mod reference;

use common::conformance;
use common::random_case::{random_case, random_parameters, random_semantics};
use common::rng::Rng;
use engine_run::{Compared, Precision, compare};

fn number_of_cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(1500, |n| n.parse().expect("a number"))
}

/// Compares on many seeds; if some fail, shows the shortest theory among them.
fn compare_random(first_seed: u64, cases: u64, precision: Precision) -> Compared {
    let mut total = Compared::default();
    let mut failures = Vec::new();
    for seed in first_seed..first_seed + cases {
        let random = random_case(seed);
        let mut rng = Rng::new(!seed);
        for _ in 0..2 {
            let semantics = random_semantics(&mut rng);
            let parameters = random_parameters(&mut rng);
            match compare(&random.case, &semantics, &parameters, precision) {
                Ok(compared) => total.add(compared),
                Err(error) => failures.push((
                    random.text.len(),
                    format!(
                        "seed {seed}, {semantics}, {parameters:?}\n{error}\n{}",
                        random.text
                    ),
                )),
            }
        }
    }
    failures.sort();
    if let Some((_, shortest)) = failures.first() {
        panic!(
            "{} of {} failed; the shortest:\n{shortest}",
            failures.len(),
            2 * cases
        );
    }
    println!("{total:?}");
    total
}

#[test]
fn random_theories_in_double_precision() {
    let total = compare_random(0, number_of_cases(), Precision::Double);
    // The tests above must not pass by leaving everything out.
    let all = total.values + total.refused + total.undecided;
    assert!(total.values * 10 > all * 7, "{total:?}");
    assert!(total.gradients * 10 > total.values * 8, "{total:?}");
    assert!(total.refused * 200 > all, "{total:?}");
}

#[test]
fn random_theories_in_single_precision() {
    let total = compare_random(1 << 32, number_of_cases() / 3, Precision::Single);
    let all = total.values + total.refused + total.undecided;
    assert!(total.values * 10 > all * 6, "{total:?}");
    assert!(total.gradients * 10 > total.values * 7, "{total:?}");
}

#[test]
fn conformance_cases() {
    for precision in [Precision::Double, Precision::Single] {
        for (name, case, expected) in conformance::cases() {
            for entry in expected {
                let (semantics, parameters) = (entry.semantics, entry.parameters);
                let compared = compare(&case, &semantics, &parameters, precision)
                    .unwrap_or_else(|error| panic!("{name}, {semantics}, {parameters:?}: {error}"));
                // `tests/conformance.rs` has compared the reference with the case itself.
                assert_eq!(
                    compared.refused == 1,
                    entry.outcome.is_none(),
                    "{name}, {semantics}"
                );
            }
        }
    }
}
