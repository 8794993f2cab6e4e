//! The reference's gradients against finite differences of its own values: every operator and every
//! aggregator, in every semantics.

use crate::cases::compare::unambiguous_gradients;
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use crate::reference::Case;
use logltn::{Data, Output, OutputKind, Parameters, Semantics, Source, Theory};

/// Every connective and quantifier over every kind of literal, with nothing `prod` would refuse.
const EVERYTHING: &str = "
    sort A = 0..2
    sort B = {u, v}
    predicate S(A, B)
    predicate G(A)
    predicate T(B)
    predicate L(A, A)
    axiom connectives: forall a: A, b: B. not S(a, b) and G(a) and not T(b) and L(a, a) or not L(a, 0) or S(a, u)
    axiom implication (weight 2): forall a: A. S(a, v) and T(u) -> (G(a) or not G(0) or T(v))
    axiom equivalence (weight 0.5): forall b: B. exists a: A. T(b) <-> L(a, 1) and S(a, b)
    axiom inner: exists a: A, b: B. S(a, b) and not (exists c: A where c > a. L(a, c) or not G(c))
    axiom big: all b: B. any a: A where a > 0. S(a, b) -> L(0, a)
";

fn everything(rng: &mut Rng) -> Case {
    let theory = Theory::parse(Source::new("everything.ltn", EVERYTHING)).unwrap();
    let data = Data::new(&theory);
    let sigmoid = |rng: &mut Rng| 1.5 * rng.normal();
    let mut numbers = |n: usize, draw: fn(&mut Rng) -> f64| (0..n).map(|_| draw(rng)).collect();
    Case {
        numbers: vec![
            numbers(6, sigmoid),
            numbers(3, sigmoid),
            numbers(2, |rng| rng.in_range(0.1, 0.9)),
            numbers(9, |rng| rng.in_range(-3.0, -0.1)),
        ],
        outputs: vec![
            Output::softmax(),
            Output::sigmoid(),
            Output::truth(),
            Output::log_truth(),
        ],
        params: Vec::new(),
        theory,
        data,
    }
}

/// Whether gradients could be compared, or why they differ.
fn check(case: &Case, semantics: &Semantics, parameters: &Parameters) -> Result<bool, String> {
    const STEP: f64 = 1e-5;
    let Ok(value) = crate::reference::evaluate(case, semantics, parameters) else {
        return Ok(false);
    };
    if value.jump_gap < 1e-3 || !value.loss.is_finite() {
        return Ok(false);
    }
    let Some(gradients) = unambiguous_gradients(case, semantics, parameters, 1e-6, 1e-9) else {
        return Ok(false);
    };
    for (predicate, gradients) in gradients.iter().enumerate() {
        for (place, &gradient) in gradients.iter().enumerate() {
            let loss = |step: f64| {
                let mut moved = case.clone();
                moved.numbers[predicate][place] += step;
                crate::reference::evaluate(&moved, semantics, parameters)
                    .unwrap()
                    .loss
            };
            let coarse = (loss(2.0 * STEP) - loss(-2.0 * STEP)) / (4.0 * STEP);
            let fine = (loss(STEP) - loss(-STEP)) / (2.0 * STEP);
            let doubt = 1e-6 * value.loss.abs().max(1.0) + (coarse - fine).abs();
            if doubt > 1e-4 * value.loss.abs().max(1.0) {
                return Ok(false); // a kink lies between the two steps
            }
            if (fine - gradient).abs() > doubt {
                return Err(format!(
                    "{semantics}, {parameters:?}: number {place} of predicate {predicate}: \
                     derivative {gradient}, finite difference {fine} ± {doubt}"
                ));
            }
        }
    }
    Ok(true)
}

#[test]
fn every_operator_of_every_semantics() {
    let mut rng = Rng::new(7);
    let mut valid = 0;
    for name in crate::cases::operators() {
        let base = Semantics::named(name).unwrap();
        for key in Semantics::KEYS {
            for operator in Semantics::choices(key) {
                let Ok(semantics) = base.with(key, operator) else {
                    continue;
                };
                valid += 1;
                let mut compared = 0;
                for _ in 0..600 {
                    let case = everything(&mut rng);
                    let parameters = random_parameters(&mut rng);
                    match check(&case, &semantics, &parameters) {
                        Ok(done) => compared += u32::from(done),
                        Err(error) => panic!("{error}"),
                    }
                    if compared == 2 {
                        break;
                    }
                }
                assert_eq!(compared, 2, "{semantics}: too near to ties each time");
            }
        }
    }
    assert!(valid > 240, "{valid} semantics");
}

#[test]
fn random_theories() {
    let mut compared = 0;
    for seed in 0..200 {
        let mut random = random_case(seed);
        for (numbers, output) in random.case.numbers.iter_mut().zip(&random.case.outputs) {
            // Away from the ends of their ranges, where there is no room for a difference.
            let (low, high) = match output.kind {
                OutputKind::Truth => (0.05, 0.95),
                OutputKind::LogTruth => (-5.0, -0.05),
                OutputKind::Softmax | OutputKind::Sigmoid => (-5.0, 5.0),
            };
            numbers.iter_mut().for_each(|x| *x = x.clamp(low, high));
        }
        let mut rng = Rng::new(seed);
        let (semantics, parameters) = (random_semantics(&mut rng), random_parameters(&mut rng));
        match check(&random.case, &semantics, &parameters) {
            Ok(done) => compared += u32::from(done),
            Err(error) => panic!("seed {seed}: {error}\n{}", random.text),
        }
    }
    println!("{compared} of 200 compared");
    assert!(compared > 120, "{compared} of 200 compared");
}
