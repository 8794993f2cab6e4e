//! Gradients of something else than the loss: with derivatives by the axioms' truths that the caller gives.

use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

fn engine(semantics: &Semantics) -> Engine<f64> {
    let text = "sort P = 0..4  predicate C(P, P)  predicate ok()
        axiom a: forall x, y: P. C(x, y) -> C(y, x)
        axiom b: forall x: P. exists y: P where y >= x. C(x, y) and ok()
        axiom c: exists x: P. not C(x, x)";
    let theory = Theory::parse(Source::new("t", text)).expect("a theory");
    let outputs = [Output::sigmoid(), Output::sigmoid()];
    let plan = Plan::new(&Data::new(&theory), &outputs, semantics).expect("a plan");
    let mut engine = Engine::new(plan);
    for request in 0..engine.requests().len() {
        for (i, number) in engine.numbers_mut(request).iter_mut().enumerate() {
            *number = ((i * 7 + 3) % 11) as f64 / 5.0 - 1.0;
        }
    }
    engine
}

fn gradients(engine: &Engine<f64>) -> Vec<f64> {
    let requests = 0..engine.requests().len();
    requests.flat_map(|r| engine.gradient(r).to_vec()).collect()
}

#[test]
fn as_the_sum_of_single_axioms_and_as_differences() {
    for semantics in ["logltn", "stable", "godel", "logltn-max", "prod"] {
        let semantics = Semantics::named(semantics).expect("a semantics");
        let mut engine = engine(&semantics);
        let parameters = Parameters::default();
        let by_axiom = [0.5, -2.0, 3.0];
        let value = engine
            .evaluate_with_derivatives(&parameters, &by_axiom)
            .expect("a value");
        let value = value.clone();
        let found = gradients(&engine);
        assert_eq!(&value, engine.evaluate(&parameters).expect("a value"));
        // Of something linear, they are those of its parts.
        let mut sum = vec![0.0; found.len()];
        for axiom in 0..3 {
            let mut one = [0.0; 3];
            one[axiom] = by_axiom[axiom];
            engine
                .evaluate_with_derivatives(&parameters, &one)
                .expect("a value");
            let part = gradients(&engine);
            sum.iter_mut()
                .zip(part)
                .for_each(|(sum, part)| *sum += part);
        }
        for (a, b) in found.iter().zip(&sum) {
            assert!((a - b).abs() < 1e-12, "{semantics}: {a} {b}");
        }
        // And differences agree, where there is no tie.
        let weighed = |engine: &mut Engine<f64>| {
            let value = engine.evaluate(&parameters).expect("a value");
            let axioms = value.axioms.iter().zip(by_axiom);
            axioms.map(|(a, by)| a.truth * by).sum::<f64>()
        };
        if semantics.name != "godel" && semantics.name != "logltn-max" {
            let mut at = 0;
            for request in 0..engine.requests().len() {
                for i in 0..engine.numbers_mut(request).len() {
                    let mut moved = |by: f64| {
                        engine.numbers_mut(request)[i] += by;
                        let value = weighed(&mut engine);
                        engine.numbers_mut(request)[i] -= by;
                        value
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    assert!(
                        (slope - found[at]).abs() < 1e-7,
                        "{semantics}: {slope} {}",
                        found[at]
                    );
                    at += 1;
                }
            }
        }
        // The gradient of the loss is as it was.
        engine
            .evaluate_with_gradients(&parameters)
            .expect("a value");
        let loss = gradients(&engine);
        let mut fresh = self::engine(&semantics);
        fresh.evaluate_with_gradients(&parameters).expect("a value");
        assert_eq!(loss, gradients(&fresh));
    }
}
