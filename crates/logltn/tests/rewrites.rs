//! Rewritten plans against plans as written, and against the reference: same values, same gradients, same
//! counts.
//!
//! `LOGLTN_RANDOM_CASES=100000 cargo test --release --test all rewrites::` looks further than CI does.

use crate::cases::compare::{near, unambiguous_gradients};
use crate::cases::random_case::{RandomCase, random_case, random_parameters, random_semantics};
use crate::cases::random_exists::{random_exists, random_unread};
use crate::cases::rng::Rng;
use crate::engine_run::{Answer, run_plan_f64};
use crate::reference::Case;
use logltn::{Parameters, Plan, PlanOptions, Semantics};

fn number_of_cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(1500, |n| n.parse().expect("a number"))
}

/// One of the log semantics, sometimes with operators replaced.
fn log_semantics(rng: &mut Rng) -> Semantics {
    let names = crate::cases::operators().map(|name| match name.starts_with("logltn") {
        true => name,
        false => "logltn", // more often than the others
    });
    let mut semantics = Semantics::named(rng.pick::<&str>(&names)).unwrap();
    if rng.chance(0.2) {
        let (key, operator) = *rng.pick(&[
            ("or", "max"),
            ("or", "log_sum_exp"),
            ("or", "log_probabilistic_sum"),
            ("exists", "log_probabilistic_sum"),
            ("exists", "max"),
            ("exists", "log_sum_exp"),
            ("exists", "mean"),
            ("and", "min"),
            ("forall", "sum"),
            ("forall", "min"),
        ]);
        semantics = semantics.with(key, operator).unwrap();
    }
    semantics
}

fn same(found: &Answer, expected: &Answer, gradients: bool) -> Result<(), String> {
    let check = |what: String, a: f64, b: f64| match near(a, b, 1e-9) {
        true => Ok(()),
        false => Err(format!("{what}: rewritten {a:e}, as written {b:e}")),
    };
    for (a, b) in found.axioms.iter().zip(&expected.axioms) {
        check(format!("truth of {}", a.name), a.truth, b.truth)?;
        if (a.groundings, a.empty_exists) != (b.groundings, b.empty_exists) {
            return Err(format!(
                "{}: groundings {} and {}, empty {} and {}",
                a.name, a.groundings, b.groundings, a.empty_exists, b.empty_exists
            ));
        }
    }
    check("loss".into(), found.loss, expected.loss)?;
    if gradients {
        for (p, (a, b)) in found.gradients.iter().zip(&expected.gradients).enumerate() {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                check(format!("gradient {i} of predicate {p}"), *a, *b)?;
            }
        }
    }
    Ok(())
}

/// Whether the plan was rewritten, and whether the gradients could be compared.
fn compare(
    random: &RandomCase,
    semantics: &Semantics,
    parameters: &Parameters,
) -> Result<(bool, bool), String> {
    let case: &Case = &random.case;
    let always = PlanOptions {
        always: true,
        ..PlanOptions::default()
    };
    let plan = |options| Plan::new_with(&case.data, &case.outputs, semantics, &options);
    let (plan, rewritten) = (plan(PlanOptions::as_written()), plan(always));
    let (plan, rewritten) = match (plan, rewritten) {
        (Ok(plan), Ok(rewritten)) => (plan, rewritten),
        (Err(_), Err(_)) => return Ok((false, false)),
        (a, b) => return Err(format!("only one refused: {a:?} {b:?}")),
    };
    assert!(!plan.to_string().contains("rewritten"));
    let changed = ["rewritten", "shared_", "counted beforehand"]
        .map(|word| rewritten.to_string().contains(word));
    let changed = changed.contains(&true);
    let warnings = |p: &Plan| p.warnings().to_string();
    if warnings(&plan) != warnings(&rewritten) {
        return Err(format!(
            "{}\nbut\n{}",
            warnings(&plan),
            warnings(&rewritten)
        ));
    }
    let expected = run_plan_f64(plan, case, parameters, &[])?;
    let shown = rewritten.to_string();
    let found = run_plan_f64(rewritten, case, parameters, &[])?;
    let reference =
        crate::reference::evaluate(case, semantics, parameters).map_err(|e| e.to_string())?;
    // Away from ties.
    let gradients = unambiguous_gradients(case, semantics, parameters, 1e-10, 1e-9);
    same(&found, &expected, gradients.is_some()).map_err(|e| format!("{e}\n{shown}"))?;
    for (a, b) in found.axioms.iter().zip(&reference.axioms) {
        if !near(a.truth, b.truth, 1e-9) || a.groundings != b.groundings {
            return Err(format!(
                "{}: {a:?}, by the reference {b:?}\n{shown}",
                a.name
            ));
        }
    }
    Ok((changed, gradients.is_some()))
}

/// Any semantics, where parts of formulas are shared and nothing else is rewritten unless it is a log semantics.
fn any_semantics(rng: &mut Rng) -> Semantics {
    let names = crate::cases::operators();
    Semantics::named(rng.pick::<&str>(&names)).unwrap()
}

fn compare_many(
    make: impl Fn(u64) -> RandomCase,
    semantics: impl Fn(&mut Rng) -> Semantics,
    cases: u64,
    at_least: f64,
) {
    let (mut changed, mut with_gradients) = (0, 0);
    let mut failures = Vec::new();
    for seed in 0..cases {
        let random = make(seed);
        let mut rng = Rng::new(!seed);
        let semantics = semantics(&mut rng);
        let parameters = random_parameters(&mut rng);
        let checked = || compare(&random, &semantics, &parameters);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(checked));
        match outcome.unwrap_or_else(|_| Err("panicked".into())) {
            Ok((rewritten, gradients)) => {
                changed += u64::from(rewritten);
                with_gradients += u64::from(rewritten && gradients);
            }
            Err(error) => failures.push((
                random.text.len(),
                format!(
                    "seed {seed}, {semantics}, {parameters:?}\n{error}\n{}",
                    random.text
                ),
            )),
        }
    }
    failures.sort();
    if let Some((_, shortest)) = failures.first() {
        panic!(
            "{} of {cases} failed; the shortest:\n{shortest}",
            failures.len()
        );
    }
    println!("{changed} rewritten, {with_gradients} of them with gradients");
    // They must not pass by rewriting nothing.
    assert!(
        changed as f64 > at_least * cases as f64,
        "{changed} of {cases}"
    );
    assert!(
        with_gradients * 10 > changed * 7,
        "{with_gradients} of {changed}"
    );
}

#[test]
fn random_theories() {
    compare_many(random_case, log_semantics, number_of_cases(), 0.1);
}

#[test]
fn random_conjunctions_under_exists() {
    compare_many(random_exists, log_semantics, number_of_cases() / 3, 0.5);
}

/// Guards that read variables which the formula does not, whatever the operators.
#[test]
fn counted_bindings() {
    let semantics = |rng: &mut Rng| match rng.chance(0.5) {
        true => log_semantics(rng),
        false => random_semantics(rng),
    };
    compare_many(random_unread, semantics, number_of_cases(), 0.5);
}

#[test]
fn shared_parts_in_all_semantics() {
    compare_many(random_case, any_semantics, number_of_cases(), 0.2);
}
