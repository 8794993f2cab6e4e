//! `log_probabilistic_sum` is the exact dual of the sum: of any formula of `and`, `or` and `not`, and of quantifiers
//! with these two as aggregators, the negation is worth log(1 − eᵛ), where v is what the formula is worth.

use crate::cases::rng::Rng;
use crate::reference::Case;
use logltn::{Data, Output, OutputKind, Parameters, Semantics, Source, Theory};

/// A formula about six propositions and a predicate over four individuals.
fn formula(rng: &mut Rng, depth: usize, quantifiers: bool) -> String {
    let inner = |rng: &mut Rng| formula(rng, depth - 1, quantifiers);
    match rng.below(if depth == 0 { 1 } else { 6 }) {
        0 if quantifiers && rng.chance(0.3) => format!("P({})", rng.below(4)),
        0 => format!("p{}()", rng.below(6)),
        1 => format!("not ({})", inner(rng)),
        2 | 3 => {
            let word = *rng.pick(&[" and ", " or "]);
            let members: Vec<String> = (0..2 + rng.below(3))
                .map(|_| format!("({})", inner(rng)))
                .collect();
            members.join(word)
        }
        4 => format!("({}) -> ({})", inner(rng), inner(rng)),
        _ if quantifiers => {
            let word = *rng.pick(&["forall", "exists"]);
            let body = match rng.chance(0.5) {
                true => "P(u)".to_string(),
                // Variables may not be bound again inside.
                false => format!("P(u) or ({})", formula(rng, depth - 1, false)),
            };
            format!("({word} u: U. {body})")
        }
        _ => format!("not (({}) or ({}))", inner(rng), inner(rng)),
    }
}

/// The formula and its negation, as axioms.
fn both(formula: &str, output: Output, numbers: impl FnMut() -> f64) -> Case {
    let propositions: String = (0..6).map(|i| format!("predicate p{i}() ")).collect();
    let text = format!(
        "sort U = 0..3 {propositions} predicate P(U)\naxiom a: {formula}\naxiom b: not ({formula})"
    );
    let source = Source::new("dual.ltn", text.clone());
    let theory = Theory::parse(source).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut numbers: Vec<f64> = std::iter::repeat_with(numbers).take(10).collect();
    let individuals = numbers.split_off(6);
    Case {
        data: Data::new(&theory),
        theory,
        params: Vec::new(),
        outputs: vec![output; 7],
        numbers: (numbers.into_iter().map(|x| vec![x]))
            .chain([individuals])
            .collect(),
    }
}

/// log(1 − eᵛ)
fn log_not(v: f64) -> f64 {
    if v > -std::f64::consts::LN_2 {
        (-v.exp_m1()).ln()
    } else {
        (-v.exp()).ln_1p()
    }
}

fn semantics() -> [Semantics; 2] {
    let connectives = Semantics::named("logltn-prob").unwrap();
    let quantifiers = connectives
        .with("forall", "sum")
        .and_then(|s| s.with("exists", "log_probabilistic_sum"))
        .unwrap();
    [connectives, quantifiers]
}

#[test]
fn of_logits() {
    let mut rng = Rng::new(1);
    let (mut compared, mut wide) = (0, 0);
    for round in 0..1500 {
        for (semantics, quantifiers) in semantics().iter().zip([false, true]) {
            let text = formula(&mut rng, 4, quantifiers);
            let scale = *rng.pick(&[1.0, 5.0, 30.0, 300.0, 1e4]);
            let case = both(&text, Output::sigmoid(), || {
                scale * (2.0 * rng.uniform() - 1.0)
            });
            for (precision, tolerance) in [(64, 1e-11), (32, 3e-4)] {
                let run = match precision {
                    64 => crate::engine_run::run_f64,
                    _ => crate::engine_run::run_f32,
                };
                let value = run(&case, semantics, &Parameters::default(), &[]).unwrap();
                assert!(value.gradients.iter().flatten().all(|g| g.is_finite()));
                let (mut v, mut w) = (value.axioms[0].truth, value.axioms[1].truth);
                // From the smaller one, which says all about the other.
                if v > w {
                    (v, w) = (w, v);
                }
                assert!(v <= 0.0 && w <= 0.0, "{v} {w}");
                let expected = log_not(v);
                // Relatively, except for what is nothing in this precision.
                let least = if precision == 64 { 1e-290 } else { 1e-28 };
                let near = (w - expected).abs() <= tolerance * expected.abs().max(least);
                assert!(
                    near,
                    "round {round}, {semantics}, {precision} bits: {v:e} makes {expected:e}, not {w:e}\n\
                     {text}\n{:?}",
                    case.numbers
                );
                compared += 1;
                wide += u32::from(v < -100.0);
            }
        }
    }
    assert!(compared == 6000 && wide > 500, "{compared}, {wide}");
}

/// Truth degrees enter log space with 1e-7 added to both sides.
#[test]
fn of_truth_degrees() {
    let mut rng = Rng::new(2);
    for _ in 0..1500 {
        for (semantics, quantifiers) in semantics().iter().zip([false, true]) {
            let text = formula(&mut rng, 3, quantifiers);
            let case = both(&text, Output::truth(), || rng.uniform());
            assert_eq!(case.outputs[0].kind, OutputKind::Truth);
            let value =
                crate::engine_run::run_f64(&case, semantics, &Parameters::default(), &[]).unwrap();
            let sum = value.axioms[0].truth.exp() + value.axioms[1].truth.exp();
            // Each literal can be off by 2e-7, and some formulas have dozens.
            let literals = text.matches(['p', 'P']).count() as f64;
            let tolerance = f64::max(1e-6, 2e-7 * literals);
            assert!((sum - 1.0).abs() < tolerance, "{sum} {text}");
        }
    }
}
