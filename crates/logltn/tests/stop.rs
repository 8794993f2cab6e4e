//! An engine that is stopped at any moment says so, and does as if nothing had happened when it is asked again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use logltn::{Code, Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

const THEORY: &str = "sort S = 0..40  predicate P(S)  predicate Q(S, S)
    axiom sums: forall n: S. exists a, b, c: S where a + b + c = n. P(a) and P(b) and Q(b, c)
    axiom nested: forall x: S. exists y: S. forall z: S. Q(x, y) and (P(z) or Q(y, z))
    axiom clause: forall x, y, z: S where x + y < 2*z. Q(x, y) and Q(y, z) -> Q(x, z)
    axiom some: exists x, y: S. Q(x, y) or not P(x)";

fn engine(semantics: &str) -> Engine<f32> {
    let theory = Theory::parse(Source::new("t", THEORY)).expect("a theory");
    let semantics = Semantics::named(semantics).expect("a semantics");
    let outputs = [Output::sigmoid(), Output::sigmoid()];
    let plan = Plan::new(&Data::new(&theory), &outputs, &semantics).expect("a plan");
    let mut engine = Engine::new(plan);
    for request in 0..engine.requests().len() {
        for (i, x) in engine.numbers_mut(request).iter_mut().enumerate() {
            *x = ((i * 37 + request) % 11) as f32 / 3.0 - 1.6;
        }
    }
    engine
}

/// Truths and gradients.
fn bits(engine: &mut Engine<f32>) -> Vec<u64> {
    let value = engine.evaluate_with_gradients(&Parameters::default());
    let value = value.unwrap_or_else(|e| panic!("{e}"));
    let mut bits: Vec<u64> = value.axioms.iter().map(|a| a.truth.to_bits()).collect();
    for request in 0..engine.requests().len() {
        bits.extend(
            engine
                .gradient(request)
                .iter()
                .map(|x| u64::from(x.to_bits())),
        );
    }
    bits
}

#[test]
fn stopped_at_any_moment() {
    for semantics in ["logltn", "logltn-max", "stable", "logltn-prob"] {
        let expected = bits(&mut engine(semantics));
        let mut engine = engine(semantics);
        let stop = Arc::new(AtomicBool::new(false));
        engine.set_stop(Arc::clone(&stop));
        let mut stopped = 0;
        for attempt in 0..40_u64 {
            let at = Duration::from_micros(attempt * attempt * 3);
            let flag = Arc::clone(&stop);
            let waiting = std::thread::spawn(move || {
                std::thread::sleep(at);
                flag.store(true, Ordering::Relaxed);
            });
            if let Err(errors) = engine.evaluate_with_gradients(&Parameters::default()) {
                let codes: Vec<Code> = errors.iter().map(|e| e.code()).collect();
                assert_eq!(codes, [Code::Interrupted]);
                stopped += 1;
            }
            waiting.join().expect("a thread");
            stop.store(false, Ordering::Relaxed);
        }
        assert!(stopped > 0);
        assert_eq!(bits(&mut engine), expected, "{semantics}");
    }
}

/// Within a factor that says whether it is seconds or hours.
#[test]
fn what_an_evaluation_takes_is_known_before() {
    for semantics in ["logltn", "stable"] {
        let mut engine = engine(semantics);
        assert_eq!(
            engine.groundings(),
            engine
                .plan()
                .axioms()
                .iter()
                .map(|a| a.groundings)
                .sum::<u128>()
        );
        let least = |run: &mut dyn FnMut() -> f64| (0..5).map(|_| run()).fold(f64::MAX, f64::min);
        let estimated = least(&mut || {
            engine.estimate_seconds(&Parameters::default(), Duration::from_millis(20), true)
        });
        let expected = bits(&mut self::engine(semantics));
        assert_eq!(bits(&mut engine), expected, "measuring leaves no trace");
        let took = least(&mut || {
            let begun = std::time::Instant::now();
            bits(&mut engine);
            begun.elapsed().as_secs_f64()
        });
        assert!(
            estimated < 20.0 * took && took < 20.0 * estimated,
            "{semantics}: {estimated} {took}"
        );
    }
}

/// A definition's tuples are computed at every depth, which the estimate knows: few groundings ask for much work.
#[test]
fn the_work_of_definitions_is_estimated() {
    let theory = "sort N = 0..79  predicate e(N, N)
        define reach(s, y: N) to depth 20: e(s, y) or (exists z: N where z != s. reach(s, z) and e(z, y))
        axiom a: reach(0, 1)";
    let theory = Theory::parse(Source::new("t", theory)).unwrap();
    let semantics = Semantics::default();
    let plan = Plan::new(&Data::new(&theory), &[Output::sigmoid()], &semantics).unwrap();
    let mut engine = Engine::<f32>::new(plan);
    assert_eq!(engine.groundings(), 1);
    let work = engine.work_of_definitions();
    assert!(work >= 18 * 79 * 79, "{work}");
    let parameters = Parameters::default();
    let least = |run: &mut dyn FnMut() -> f64| (0..3).map(|_| run()).fold(f64::MAX, f64::min);
    let estimated =
        least(&mut || engine.estimate_seconds(&parameters, Duration::from_millis(1), true));
    let took = least(&mut || {
        let begun = std::time::Instant::now();
        engine.evaluate_with_gradients(&parameters).unwrap();
        begun.elapsed().as_secs_f64()
    });
    assert!(
        estimated < 20.0 * took && took < 20.0 * estimated,
        "{estimated} {took}"
    );
}
