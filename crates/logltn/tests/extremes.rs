//! α, p and p_forall from one end of what is accepted to the other: the values are right, in both precisions.

use logltn::Precision;
use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

const DEGREES: [f64; 6] = [0.9999, 0.9998, 0.7, 0.31, 0.02, 1e-3];
const RANGE: [f64; 7] = [1e-3, 1e-2, 1.0, 5.0, 1e3, 1e5, 1e6];

fn truth<T: Precision>(semantics: &str, axiom: &str, parameters: &Parameters) -> f64 {
    let text = format!("sort U = 1..6 predicate P(U) axiom a: {axiom}");
    let theory = Theory::parse(Source::new("t.ltn", text)).expect("a theory");
    let mut semantics = Semantics::named(semantics).expect("it is one");
    if !semantics.sat_is_log() {
        semantics = semantics.with_stable_eps(0.0).expect("no projections");
    }
    let data = Data::new(&theory);
    let plan = Plan::new(&data, &[Output::truth()], &semantics).expect("a plan");
    let mut engine: Engine<T> = Engine::new(plan);
    for (to, degree) in engine.numbers_mut(0).iter_mut().zip(DEGREES) {
        *to = T::from_f64(degree);
    }
    engine.evaluate(parameters).expect("a truth").axioms[0].truth
}

/// log of the mean of e^y, without rounding where all are small.
fn log_mean_exp(y: impl Iterator<Item = f64> + Clone) -> f64 {
    let greatest = y.clone().fold(f64::NEG_INFINITY, f64::max);
    let excess: f64 = y.map(|y| (y - greatest).exp_m1()).sum();
    greatest + (excess / DEGREES.len() as f64).ln_1p()
}

fn close(what: &str, [single, double]: [f64; 2], expected: f64, exponent: f64) {
    // As `Parameters::check` documents it.
    let small = exponent.min(1.0);
    assert!(
        (double - expected).abs() < 1e-12 / small,
        "{what} = {exponent}: {double}, not {expected}"
    );
    assert!(
        (single - expected).abs() < 1e-6 / small,
        "{what} = {exponent}: {single}, not {expected}"
    );
}

#[test]
fn the_values_are_right() {
    for value in RANGE {
        let some = "exists u: U. P(u)";
        let parameters = Parameters {
            alpha: value,
            ..Parameters::default()
        };
        let both = [
            truth::<f32>("logltn", some, &parameters),
            truth::<f64>("logltn", some, &parameters),
        ];
        let logs = DEGREES.iter().map(|t| value * (t + 1e-7).ln());
        close("alpha", both, log_mean_exp(logs) / value, value);

        let parameters = Parameters {
            p: value,
            ..Parameters::default()
        };
        let both = [
            truth::<f32>("stable", some, &parameters),
            truth::<f64>("stable", some, &parameters),
        ];
        let logs = DEGREES.iter().map(|t| value * t.ln());
        close("p", both, (log_mean_exp(logs) / value).exp(), value);

        if value >= 1.0 {
            let parameters = Parameters {
                p_forall: value,
                ..Parameters::default()
            };
            let all = "forall u: U. P(u)";
            let both = [
                truth::<f32>("stable", all, &parameters),
                truth::<f64>("stable", all, &parameters),
            ];
            let logs = DEGREES.iter().map(|t| value * (1.0 - t).ln());
            close(
                "p_forall",
                both,
                1.0 - (log_mean_exp(logs) / value).exp(),
                value,
            );
        }
    }
}
