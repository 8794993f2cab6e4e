//! Weights, and α, p and p_forall of single axioms, which can change between calls.

use crate::cases::compare::near;
use crate::cases::random_case::{random_case, random_parameters};
use crate::cases::rng::Rng;
use crate::engine_run::run_engine_f64;
use crate::reference::{Ties, evaluate_own};
use logltn::{
    AxiomParameters, Data, Engine, Fusing, Output, Parameters, Plan, Semantics, Source, Theory,
};

/// Nothing here has ties, except for those that rounding makes.
const SMOOTH: [&str; 6] = [
    "logltn",
    "logltn-sum",
    "logltn-lse",
    "logltn-prob",
    "stable",
    "prod",
];

fn own(rng: &mut Rng) -> AxiomParameters {
    let all = random_parameters(rng);
    let mut sometimes = |value: f64| rng.chance(0.6).then_some(value);
    AxiomParameters {
        alpha: sometimes(all.alpha),
        p: sometimes(all.p),
        p_forall: sometimes(all.p_forall),
    }
}

/// They hold inside their axiom, small clause or not, and the aggregation over axioms keeps those of the call.
#[test]
fn random_theories() {
    let (mut compared, mut gradients) = (0, 0);
    for seed in 0..1500 {
        let random = random_case(seed);
        let mut rng = Rng::new(!seed);
        let mut semantics = Semantics::named(rng.pick::<&str>(&SMOOTH)).unwrap();
        if semantics.sat_is_log() {
            let over = *rng.pick(&["mean", "sum", "log_mean_exp", "log_probabilistic_sum"]);
            semantics = semantics.with("over_axioms", over).unwrap();
        }
        let parameters = random_parameters(&mut rng);
        let Ok(plan) = Plan::new(&random.case.data, &random.case.outputs, &semantics) else {
            continue;
        };
        // Some axioms have the same α of their own: they share tables.
        let shared = own(&mut rng);
        let all: Vec<(AxiomParameters, f64)> = (plan.axioms().iter())
            .map(|_| {
                let own = if rng.chance(0.3) {
                    shared
                } else {
                    own(&mut rng)
                };
                (own, rng.in_range(0.1, 3.0))
            })
            .collect();
        let mut engine = Engine::<f64>::new(plan);
        engine.set_fusing(*rng.pick(&[Fusing::Always, Fusing::Never]));
        for (axiom, (parameters, weight)) in all.iter().enumerate() {
            engine.set_axiom_parameters(axiom, *parameters).unwrap();
            engine.set_weights([(axiom, *weight)]).unwrap();
        }
        let case = &random.case;
        let found = run_engine_f64(&mut engine, case, &parameters, true).unwrap();
        let ties = Ties::default();
        let expected = evaluate_own(case, &semantics, &parameters, ties, &all).unwrap();
        let shown = || {
            format!(
                "seed {seed}, {semantics}, {parameters:?}, {all:?}\n{}",
                random.text
            )
        };
        assert!(near(found.sat, expected.sat, 1e-9), "{}", shown());
        for (found, expected) in found.axioms.iter().zip(&expected.axioms) {
            assert!(near(found.truth, expected.truth, 1e-9), "{}", shown());
            assert_eq!(found.weight, expected.weight);
        }
        compared += 1;
        if expected.singular {
            continue;
        }
        gradients += 1;
        for (found, expected) in found.gradients.iter().zip(&expected.gradients) {
            for (a, b) in found.iter().zip(expected) {
                assert!(near(*a, *b, 1e-8), "{a} instead of {b}: {}", shown());
            }
        }
    }
    assert!(
        compared > 1200 && gradients > 1000,
        "{compared}, {gradients}"
    );
}

fn engine(semantics: &str) -> Engine<f64> {
    let text = "sort A = 0..9  predicate P(A)  predicate Q(A)
        axiom one: forall x: A. P(x) -> Q(x)
        axiom two: forall x: A. P(x) or Q(x)";
    let theory = Theory::parse(Source::new("own.ltn", text)).unwrap();
    let outputs = [Output::sigmoid(); 2];
    let semantics = Semantics::named(semantics).unwrap();
    let mut engine = Engine::new(Plan::new(&Data::new(&theory), &outputs, &semantics).unwrap());
    engine.set_fusing(Fusing::Always);
    for request in 0..2 {
        for (i, x) in engine.numbers_mut(request).iter_mut().enumerate() {
            *x = (i as f64 - 4.0) * (request as f64 + 0.3);
        }
    }
    engine
}

/// Setting and taking back leaves nothing behind, whatever came in between.
#[test]
fn taken_back() {
    for semantics in ["logltn", "stable"] {
        let mut engine = engine(semantics);
        let call = Parameters::default();
        let plain = engine.evaluate_with_gradients(&call).unwrap().clone();
        let gradient = engine.gradient(0).to_vec();
        let strong = AxiomParameters {
            alpha: Some(9.0),
            p: Some(3.0),
            p_forall: Some(40.0), // too large for the powers of small clauses
        };
        engine.set_axiom_parameters(1, strong).unwrap();
        engine.set_weights([(0, 5.0)]).unwrap();
        let changed = engine.evaluate_with_gradients(&call).unwrap().clone();
        assert_eq!(changed.axioms[0], plain.axioms[0]);
        assert_ne!(changed.axioms[1], plain.axioms[1]);
        // The same as if all axioms had them.
        let all = strong.over(&call);
        let other = engine.evaluate_with_gradients(&all).unwrap();
        assert!(near(other.axioms[1].truth, changed.axioms[1].truth, 1e-12));
        (engine.set_axiom_parameters(1, AxiomParameters::default())).unwrap();
        engine.set_weights([(0, 1.0)]).unwrap();
        assert_eq!(*engine.evaluate_with_gradients(&call).unwrap(), plain);
        assert_eq!(engine.gradient(0), gradient);
    }
}

#[test]
fn mistakes_change_nothing() {
    let mut engine = engine("logltn");
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let error = engine.set_weights([(0, weight)]).unwrap_err().to_string();
        assert!(
            error.contains("the weight of axiom `one` must be at least 0"),
            "{error}"
        );
    }
    engine.set_weights([(0, 0.0)]).unwrap();
    let error = engine.set_weights([(1, 0.0)]).unwrap_err().to_string();
    assert!(error.contains("add up to 0"), "{error}");
    assert!(engine.set_weights([(0, 2.0), (1, -2.0)]).is_err());
    assert_eq!(engine.weights(), [0.0, 1.0]);
    // Together what one after the other could not be.
    engine.set_weights([(1, 0.0), (0, 3.0)]).unwrap();
    assert_eq!(engine.weights(), [3.0, 0.0]);
    let bad = AxiomParameters {
        alpha: Some(0.0),
        ..AxiomParameters::default()
    };
    let error = engine.set_axiom_parameters(1, bad).unwrap_err().to_string();
    assert!(error.contains("axiom `two`: `alpha` must be"), "{error}");
}
