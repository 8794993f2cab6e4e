//! The engine against the reference: conformance cases and random theories.
//!
//! `LOGLTN_RANDOM_CASES=100000 cargo test --release --test all engine_vs_reference::` looks further than CI does;
//! `LOGLTN_SHOW=20` shows more than one of the theories that fail.

use crate::cases::compare::{near, unambiguous_gradients};
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use crate::cases::{conformance, named};
use crate::engine_run::{Compared, Precision, compare, run_f64};
use crate::reference::Case;
use logltn::{ColumnData, OutputKind, Parameters, Semantics};

fn number_of_cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(1500, |n| n.parse().expect("a number"))
}

/// α and p over all that is accepted.
fn extreme_parameters(rng: &mut Rng) -> Parameters {
    Parameters {
        alpha: 10_f64.powf(rng.in_range(-3.0, 6.0)).clamp(1e-3, 1e6),
        p: 10_f64.powf(rng.in_range(-3.0, 6.0)).clamp(1e-3, 1e6),
        p_forall: 10_f64.powf(rng.in_range(0.0, 6.0)).clamp(1.0, 1e6),
    }
}

fn make_extreme(rng: &mut Rng, case: &mut Case) {
    for (output, numbers) in case.outputs.iter().zip(&mut case.numbers) {
        for number in numbers {
            if rng.chance(0.5) {
                *number = match output.kind {
                    OutputKind::Softmax | OutputKind::Sigmoid => {
                        *rng.pick(&[1e4, -1e4, 800.0, -800.0, 40.0, -40.0, 1e-9, 0.0, -1e-300])
                    }
                    OutputKind::Truth => *rng.pick(&[0.0, 1.0, 1e-300, 1e-12, 1.0 - 1e-12, 0.5]),
                    OutputKind::LogTruth => *rng.pick(&[0.0, -1e-15, -1e-300, -700.0, -9e4]),
                };
            }
        }
    }
}

/// Compares on many seeds; if some fail, shows the shortest theory among them.
fn compare_random(first_seed: u64, cases: u64, precision: Precision, extreme: bool) -> Compared {
    let mut total = Compared::default();
    let mut failures = Vec::new();
    for seed in first_seed..first_seed + cases {
        let mut random = random_case(seed);
        let mut rng = Rng::new(!seed);
        if extreme {
            make_extreme(&mut rng, &mut random.case);
        }
        for _ in 0..2 {
            let semantics = random_semantics(&mut rng);
            let parameters = match extreme {
                true => extreme_parameters(&mut rng),
                false => random_parameters(&mut rng),
            };
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
    if !failures.is_empty() {
        let shown = std::env::var("LOGLTN_SHOW").map_or(1, |n| n.parse().expect("a number"));
        let shortest: Vec<String> = failures.iter().take(shown).map(|f| f.1.clone()).collect();
        panic!(
            "{} of {} failed; the shortest:\n{}",
            failures.len(),
            2 * cases,
            shortest.join("\n")
        );
    }
    println!("{total:?}");
    total
}

#[test]
fn random_theories_in_double_precision() {
    let total = compare_random(0, number_of_cases(), Precision::Double, false);
    // The tests above must not pass by leaving everything out.
    let all = total.values + total.refused + total.undecided;
    assert!(total.values * 10 > all * 7, "{total:?}");
    assert!(total.gradients * 10 > total.values * 8, "{total:?}");
    assert!(total.refused * 200 > all, "{total:?}");
}

#[test]
fn random_theories_in_single_precision() {
    let total = compare_random(1 << 32, number_of_cases() / 3, Precision::Single, false);
    let all = total.values + total.refused + total.undecided;
    assert!(total.values * 10 > all * 6, "{total:?}");
    assert!(total.gradients * 10 > total.values * 7, "{total:?}");
}

#[test]
fn random_theories_of_extreme_numbers() {
    let total = compare_random(1 << 33, number_of_cases(), Precision::Double, true);
    let all = total.values + total.refused + total.undecided;
    assert!(total.values * 10 > all * 6, "{total:?}");
    assert!(total.gradients * 10 > total.values * 3, "{total:?}");
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

#[test]
fn named_cases() {
    let mut rng = Rng::new(1);
    for seed in 0..4 {
        for (name, case) in named::all(seed) {
            for base in crate::cases::operators() {
                let semantics = Semantics::named(base).unwrap();
                if name == "extreme" && !base.starts_with("logltn") {
                    continue; // truth degrees of 0 and 1: every comparison is a tie
                }
                let parameters = crate::cases::random_case::random_parameters(&mut rng);
                for precision in [Precision::Double, Precision::Single] {
                    compare(&case, &semantics, &parameters, precision).unwrap_or_else(|error| {
                        panic!("{name}, seed {seed}, {semantics}, {parameters:?}: {error}")
                    });
                }
            }
        }
    }
}

/// Logits up to 1e4 in single precision: nothing overflows, whatever its digits.
#[test]
fn extreme_logits_stay_finite_in_single_precision() {
    let mut compared = 0;
    for seed in 0..6 {
        let case = named::extreme(&mut Rng::new(seed));
        for or in Semantics::choices("or") {
            for exists in Semantics::choices("exists") {
                let semantics = Semantics::default().with("or", or);
                let Ok(semantics) = semantics.and_then(|s| s.with("exists", exists)) else {
                    continue; // of truth degrees
                };
                for alpha in [0.1, 1.0, 100.0] {
                    let parameters = Parameters {
                        alpha,
                        ..Parameters::default()
                    };
                    let value =
                        crate::engine_run::run_f32(&case, &semantics, &parameters, &[]).unwrap();
                    assert!(
                        value.loss.is_finite(),
                        "{semantics}, α = {alpha}, seed {seed}"
                    );
                    assert!(value.gradients.iter().flatten().all(|g| g.is_finite()));
                    let expected =
                        crate::reference::evaluate(&case, &semantics, &parameters).unwrap();
                    assert!(near(value.loss, expected.loss, 1e-4));
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 6 * 3 * 6 * 3, "{compared} comparisons");
}

/// The case with some rows of a table only.
fn restricted(case: &Case, table: &str, rows: &[u32]) -> Case {
    let id = case.theory.table(table).unwrap();
    let pick = |column: &ColumnData| match column {
        ColumnData::Individuals(cells) => {
            ColumnData::Individuals(rows.iter().map(|&r| cells[r as usize]).collect())
        }
        ColumnData::Int(cells) => {
            ColumnData::Int(rows.iter().map(|&r| cells[r as usize]).collect())
        }
        ColumnData::Real(cells) => {
            ColumnData::Real(rows.iter().map(|&r| cells[r as usize]).collect())
        }
    };
    let columns = case
        .data
        .table(id)
        .unwrap()
        .columns
        .iter()
        .map(pick)
        .collect();
    let mut case = case.clone();
    case.data.set_rows(table, columns).unwrap();
    case
}

/// A batch is the table with these rows: in any order, few, all, or none.
#[test]
fn batches_are_smaller_tables() {
    let mut case = named::mereology(&mut Rng::new(6));
    case.data.set_batched("pairs").unwrap();
    case.data.set_batched("labelled").unwrap();
    let id = |name: &str| case.theory.table(name).unwrap();
    let all: Vec<u32> = (0..9).collect();
    for (labelled, pairs) in [
        (vec![0, 1, 2], vec![5, 6, 7, 8]),
        (vec![8], vec![11, 0, 3]),
        (all, vec![2]),
        (vec![4, 4, 1], vec![3, 3]),
        (vec![], vec![1]),
    ] {
        let smaller = restricted(&restricted(&case, "labelled", &labelled), "pairs", &pairs);
        let batches = [(id("labelled"), labelled), (id("pairs"), pairs)];
        for base in ["logltn", "logltn-max", "prod", "stable", "lukasiewicz"] {
            let (semantics, parameters) = (Semantics::named(base).unwrap(), Parameters::default());
            let found = run_f64(&case, &semantics, &parameters, &batches).unwrap();
            let expected = crate::reference::evaluate(&smaller, &semantics, &parameters).unwrap();
            assert!(near(found.loss, expected.loss, 1e-9), "{base}, {batches:?}");
            for (found, expected) in found.axioms.iter().zip(&expected.axioms) {
                let same = near(found.truth, expected.truth, 1e-9);
                assert!(same, "{base}, {}, {batches:?}", expected.name);
            }
            let gradients = unambiguous_gradients(&smaller, &semantics, &parameters, 1e-10, 1e-9);
            for (found, expected) in found.gradients.iter().zip(gradients.into_iter().flatten()) {
                let mut pairs = found.iter().zip(&expected);
                assert!(
                    pairs.all(|(a, b)| near(*a, *b, 1e-9)),
                    "{base}, {batches:?}"
                );
            }
        }
    }
}

/// The same where a guard keeps some of the rows, and where they are listed by key: repeated, in any order, none.
#[test]
fn batches_of_guarded_rows_are_smaller_tables() {
    let text = "sort U = 0..5  table t(x: U, y: U)  predicate P(U)  predicate Q(U, U)
        axiom some: forall (x, y) in t where x < y. P(x) or Q(x, y)
        axiom each: forall u: U. exists (x, y) in t where x = u. Q(x, y)
        axiom all: forall (x, y) in t. Q(y, x)";
    let theory = logltn::Theory::parse(logltn::Source::new("batches.ltn", text)).unwrap();
    let mut rng = Rng::new(3);
    let mut data = logltn::Data::new(&theory);
    let mut column = |n: usize| {
        let cells = (0..n).map(|_| rng.below(6) as u32);
        logltn::ColumnData::Individuals(cells.collect())
    };
    data.set_rows("t", vec![column(20), column(20)]).unwrap();
    data.set_batched("t").unwrap();
    let numbers = |n: usize| (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    let case = Case {
        data,
        theory,
        params: Vec::new(),
        outputs: vec![logltn::Output::sigmoid(); 2],
        numbers: vec![numbers(6), numbers(36)],
    };
    let table = case.theory.table("t").unwrap();
    for rows in [vec![3, 17, 3, 0, 9, 3], vec![19, 18, 2], vec![], vec![7]] {
        let smaller = restricted(&case, "t", &rows);
        for base in ["logltn", "logltn-max", "stable"] {
            let (semantics, parameters) = (Semantics::named(base).unwrap(), Parameters::default());
            let found = run_f64(&case, &semantics, &parameters, &[(table, rows.clone())]).unwrap();
            let expected = crate::reference::evaluate(&smaller, &semantics, &parameters).unwrap();
            for (found, expected) in found.axioms.iter().zip(&expected.axioms) {
                let same = near(found.truth, expected.truth, 1e-9);
                assert!(same, "{base}, {}, {rows:?}", expected.name);
            }
            assert!(near(found.loss, expected.loss, 1e-9), "{base}, {rows:?}");
        }
    }
}

/// A minimum that thousands of bindings attain is still one minimum: its gradient adds up to 1, however the
/// engine cuts the bindings into blocks.
#[test]
fn tied_extremes_are_counted_once() {
    let mut wrong = Vec::new();
    for formula in [
        "forall u: U, k: K. P(k)",
        "forall k: K, u: U. P(k)",
        "forall u: U. forall k: K. P(k)",
        "forall u: U. forall v: K, k: K. P(k) and Q()",
        "forall u: U, v: U where u + v < 700. exists k: K. P(k)",
        "exists u: U, k: K. P(k)",
        "exists u: U. forall v: K. exists k: K where k != v. P(k)",
    ] {
        let text = format!(
            "sort U = 0..599 sort K = 0..3 predicate P(K) predicate Q() axiom a: {formula}"
        );
        let theory = logltn::Theory::parse(logltn::Source::new("ties.ltn", text)).unwrap();
        let case = Case {
            data: logltn::Data::new(&theory),
            theory,
            params: Vec::new(),
            outputs: vec![logltn::Output::log_truth(); 2],
            numbers: vec![vec![-0.7, -0.2, -1.3, -0.9], vec![-0.1]],
        };
        for base in ["logltn-max", "godel"] {
            let semantics = Semantics::named(base)
                .unwrap()
                .with("forall", "min")
                .unwrap();
            if let Err(error) =
                compare(&case, &semantics, &Parameters::default(), Precision::Double)
            {
                wrong.push(format!("{semantics}, {formula}: {error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
