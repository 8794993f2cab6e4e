//! α, p and p_forall from one end of what is accepted to the other: the values are right, in both precisions.

use logltn::Precision;
use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

/// Near the ends and at them, all alike, and far apart.
const DEGREES: [[f64; 6]; 6] = [
    [0.9999, 0.9998, 0.7, 0.31, 0.02, 1e-3],
    [1.0, 0.0, 0.5, 1.0, 0.0, 0.25],
    [1.0; 6],
    [0.0; 6],
    [0.5; 6],
    [0.99999, 0.999999, 1.0, 0.99999, 1e-6, 1e-30],
];

/// From one end of what is accepted to the other, three to a power of ten.
fn range() -> impl Iterator<Item = f64> {
    (-9..=18).map(|i| 10_f64.powf(f64::from(i) / 3.0).clamp(1e-3, 1e6))
}

/// The truth of an axiom; its gradient is finite.
fn truth<T: Precision>(
    semantics: &str,
    axiom: &str,
    degrees: &[f64; 6],
    parameters: &Parameters,
) -> f64 {
    let text = format!("sort U = 1..6 predicate P(U) axiom a: {axiom}");
    let theory = Theory::parse(Source::new("t.ltn", text)).expect("a theory");
    let mut semantics = Semantics::named(semantics).expect("it is one");
    if !semantics.sat_is_log() {
        semantics = semantics.with_stable_eps(0.0).expect("no projections");
    }
    let data = Data::new(&theory);
    let plan = Plan::new(&data, &[Output::truth()], &semantics).expect("a plan");
    let mut engine: Engine<T> = Engine::new(plan);
    for (to, degree) in engine.numbers_mut(0).iter_mut().zip(*degrees) {
        *to = T::from_f64(degree);
    }
    let found = engine.evaluate_with_gradients(parameters).expect("a truth");
    let truth = found.axioms[0].truth;
    let finite = engine.gradient(0).iter().all(|g| g.to_f64().is_finite());
    assert!(finite, "{parameters:?} {degrees:?}");
    truth
}

/// log of the mean of e^y, without rounding where all are small.
fn log_mean_exp(y: [f64; 6]) -> f64 {
    let greatest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return greatest;
    }
    let excess: f64 = y.iter().map(|y| (y - greatest).exp_m1()).sum();
    greatest + (excess / y.len() as f64).ln_1p()
}

fn close(what: &str, [single, double]: [f64; 2], expected: f64, exponent: f64) {
    // As `Parameters::check` documents it.
    let small = exponent.min(1.0);
    assert!(
        (double - expected).abs() < 1e-12 / small,
        "{what} = {exponent}: {double}, not {expected}"
    );
    assert!(
        (single - expected).abs() < 2e-6 / small,
        "{what} = {exponent}: {single}, not {expected}"
    );
}

#[test]
fn the_values_are_right() {
    let some = "exists u: U. P(u)";
    let connected = "P(1) or P(2) or P(3) or P(4) or P(5) or P(6)";
    for (value, degrees) in range().flat_map(|v| DEGREES.map(|d| (v, d))) {
        let both = |semantics: &str, axiom: &str, parameters: Parameters| {
            [
                truth::<f32>(semantics, axiom, &degrees, &parameters),
                truth::<f64>(semantics, axiom, &degrees, &parameters),
            ]
        };
        let with_alpha = Parameters {
            alpha: value,
            ..Parameters::default()
        };
        let expected = log_mean_exp(degrees.map(|t| value * (t + 1e-7).ln())) / value;
        for axiom in [some, connected] {
            close("alpha", both("logltn", axiom, with_alpha), expected, value);
        }
        // LogSumExp counts its members.
        let sum = expected + 6_f64.ln() / value;
        let found = both("logltn-lse", some, with_alpha);
        close(
            "alpha of a sum",
            found.map(|x| x / sum.abs().max(1.0)),
            sum / sum.abs().max(1.0),
            value,
        );

        let with_p = Parameters {
            p: value,
            ..Parameters::default()
        };
        let expected = (log_mean_exp(degrees.map(|t| value * t.ln())) / value).exp();
        close("p", both("stable", some, with_p), expected, value);

        if value >= 1.0 {
            let with_p_forall = Parameters {
                p_forall: value,
                ..Parameters::default()
            };
            let all = "forall u: U. P(u)";
            let error = (log_mean_exp(degrees.map(|t| value * (1.0 - t).ln())) / value).exp();
            close(
                "p_forall",
                both("stable", all, with_p_forall),
                1.0 - error,
                value,
            );
        }
    }
}

/// Under `probability` a slope is a quotient of probabilities, which may be too great for any number.
#[test]
fn slopes_by_degrees_are_finite() {
    let parameters = Parameters::default();
    for (axiom, degrees) in [
        ("P(1) or not P(2)", [1.0, 1.0]),
        ("P(1) and P(2) or (not P(1) and P(3))", [0.0, 0.5]),
    ] {
        for least in [1e-40, 1e-310] {
            let degrees = [least, degrees[0], degrees[1], 0.5, 0.5, 0.5];
            truth::<f32>("probability", axiom, &degrees, &parameters);
            truth::<f64>("probability", axiom, &degrees, &parameters);
        }
    }
}
