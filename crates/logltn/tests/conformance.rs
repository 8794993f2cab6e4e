//! The reference evaluator against the conformance cases: whether we have read the language right.

use crate::cases::compare::{near, unambiguous_gradients};
use crate::cases::conformance;
use logltn::{Source, Theory};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

#[test]
fn the_reference_agrees_with_every_conformance_case() {
    let mut ambiguous = 0;
    let mut compared = 0;
    for (name, case, expected) in conformance::cases() {
        for entry in expected {
            let place = format!("{name}, {}, {:?}", entry.semantics, entry.parameters);
            let result = crate::reference::evaluate(&case, &entry.semantics, &entry.parameters);
            let Some(expected) = entry.outcome else {
                assert!(result.is_err(), "{place}: must be refused");
                continue;
            };
            let value = result.unwrap_or_else(|error| panic!("{place}: {error}"));
            let same = |what: &str, found: f64, expected: &Value| {
                let expected = expected.as_f64().unwrap();
                let message = format!("{place}: {what} is {found}, expected {expected}");
                assert!(near(found, expected, TOLERANCE), "{message}");
            };
            same("sat", value.sat, &expected["sat"]);
            same("loss", value.loss, &expected["loss"]);
            let axioms = expected["axioms"].as_array().unwrap();
            assert_eq!(value.axioms.len(), axioms.len(), "{place}");
            for (found, expected) in value.axioms.iter().zip(axioms) {
                assert_eq!(Some(found.name.as_str()), expected["name"].as_str());
                same(&found.name, found.truth, &expected["truth"]);
                same(&found.name, found.weight, &expected["weight"]);
                let empty = expected["empty_exists"].as_u64().unwrap();
                assert_eq!(found.empty_exists, empty, "{place}: {}", found.name);
            }
            let gradients =
                unambiguous_gradients(&case, &entry.semantics, &entry.parameters, 1e-12, TOLERANCE);
            let Some(gradients) = gradients else {
                ambiguous += 1;
                continue;
            };
            compared += 1;
            for (predicate, gradients) in case.theory.predicates.iter().zip(gradients) {
                let rows = expected["gradients"][&predicate.name].as_array().unwrap();
                let cells: Vec<&Value> = rows.iter().flat_map(|r| r.as_array().unwrap()).collect();
                assert_eq!(cells.len(), gradients.len());
                for (index, (found, expected)) in gradients.iter().zip(cells).enumerate() {
                    let what = format!("gradient {index} of {}", predicate.name);
                    same(&what, *found, expected);
                }
            }
        }
    }
    println!("{compared} gradients compared, {ambiguous} ambiguous");
    assert!(
        ambiguous * 10 <= compared,
        "{ambiguous} of {compared} ambiguous"
    );
}

#[test]
fn every_theory_prints_back() {
    for (name, case, _) in conformance::cases() {
        let printed = case.theory.to_string();
        let again = Theory::parse(Source::new("theory.ltn", printed.as_str()));
        let again = again.unwrap_or_else(|errors| panic!("{name}: {errors}"));
        assert!(case.theory.same_as(&again), "{name} printed as\n{printed}");
    }
}
