//! What a plan knows before any number is there: which axioms, how many groundings, how many empty
//! `exists`. Guards are compiled to indexes in a plan, and visited one binding at a time here.

use crate::cases::random_case::{random_case, random_semantics};
use crate::cases::rng::Rng;
use crate::cases::{conformance, named};
use crate::reference::Case;
use logltn::{Parameters, Plan, Semantics};

/// Whether both accept the case, if they agree.
fn compare(case: &Case, semantics: &Semantics) -> Result<bool, String> {
    let plan = Plan::new(&case.data, &case.outputs, semantics);
    let expected = crate::reference::evaluate(case, semantics, &Parameters::default());
    let (plan, expected) = match (plan, expected) {
        (Err(_), Err(_)) => return Ok(false),
        (Err(error), Ok(_)) => return Err(format!("refused: {error}")),
        (Ok(_), Err(error)) => return Err(format!("must be refused: {error}")),
        (Ok(plan), Ok(expected)) => (plan, expected),
    };
    let found: Vec<_> = (plan.axioms().iter())
        .map(|a| {
            (
                a.name.to_string(),
                a.axiom,
                a.weight,
                a.groundings,
                a.empty_exists,
            )
        })
        .collect();
    let expected: Vec<_> = (expected.axioms.iter())
        .map(|a| {
            (
                a.name.clone(),
                a.axiom,
                a.weight,
                a.groundings,
                a.empty_exists,
            )
        })
        .collect();
    if found == expected {
        return Ok(true);
    }
    Err(format!(
        "(name, axiom, weight, groundings, empty exists)\nplan     {found:?}\nexpected {expected:?}"
    ))
}

#[test]
fn random_theories() {
    let cases = std::env::var("LOGLTN_RANDOM_CASES").map_or(1500, |n| n.parse().expect("a number"));
    let mut failures = Vec::new();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..cases {
        let random = random_case(seed);
        let semantics = random_semantics(&mut Rng::new(!seed));
        let outcome = std::panic::catch_unwind(|| compare(&random.case, &semantics));
        match outcome.unwrap_or_else(|_| Err("panicked".into())) {
            Ok(true) => accepted += 1,
            Ok(false) => refused += 1,
            Err(error) => failures.push((
                random.text.len(),
                format!("seed {seed}, {semantics}\n{error}\n{}", random.text),
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
    println!("{accepted} accepted, {refused} refused");
    assert!(refused * 100 > accepted && refused * 5 < accepted);
}

#[test]
fn named_and_conformance_cases() {
    let named = named::all(1)
        .into_iter()
        .map(|(name, case)| (name.to_string(), case));
    let conformance = conformance::cases()
        .into_iter()
        .map(|(name, case, _)| (name, case));
    for (name, case) in named.chain(conformance) {
        for base in crate::cases::operators() {
            let semantics = Semantics::named(base).unwrap();
            compare(&case, &semantics).unwrap_or_else(|error| panic!("{name}, {base}: {error}"));
        }
    }
}

/// `docs/language.md` refuses a `forall` under a connective, `exists` or `not` by where it is written. Whether
/// the data happens to leave a family or an `any` without members must not decide if a theory is accepted.
#[test]
fn prod_refuses_whatever_the_data() {
    let prod = Semantics::named("prod").unwrap();
    let mut accepted = Vec::new();
    for axiom in [
        "axiom a for u: U where u > 9: (forall v: U. P(v)) or P(u)",
        "axiom a: any u: U where u > 9. not (forall v: U. P(v)) or P(u)",
        "axiom a: any u: U where u = 0. forall v: U. P(v)",
        "axiom a: all u: U. forall v: U. P(v)",
        "axiom a: exists u: U where u > 9. forall v: U. P(v)",
        "axiom a: forall u: U where u > 9. P(u) -> (forall v: U. P(v))",
    ] {
        let text = format!("sort U = 0..1 predicate P(U) axiom fine: P(0)\n{axiom}");
        let theory = logltn::Theory::parse(logltn::Source::new("refused.ltn", text)).unwrap();
        let data = logltn::Data::new(&theory);
        let plan = Plan::new(&data, &[logltn::Output::sigmoid()], &prod);
        let Err(errors) = plan else {
            accepted.push(axiom);
            continue;
        };
        let message = errors.to_string();
        assert!(
            message.contains("forall") && message.contains("logltn"),
            "{message}"
        );
    }
    assert!(accepted.is_empty(), "accepted: {accepted:#?}");
}
