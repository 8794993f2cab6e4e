//! The engine against a second evaluator that goes through every binding (`crates/logltn/tests/reference`): random theories,
//! ordinary numbers and extreme ones.

use logltn::{OutputKind, Parameters, Semantics};

use crate::attempt::Attempt;
use crate::cases::compare::{near, unambiguous_gradients};
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use crate::engine_run::{Precision, compare, run_f64};
use crate::reference::{Case, evaluate};

/// Values and derivatives of a random theory.
pub fn values(rng: &mut Rng, _: u64) -> Attempt {
    let random = random_case(rng.next());
    let mut case = random.case;
    let semantics = random_semantics(rng);
    let extreme = rng.chance(0.5);
    let parameters = match extreme {
        true => extreme_parameters(rng),
        false => random_parameters(rng),
    };
    if extreme {
        make_extreme(rng, &mut case);
    }
    let single = !extreme && rng.chance(0.3);
    let precision = if single {
        Precision::Single
    } else {
        Precision::Double
    };
    let compared = compare(&case, &semantics, &parameters, precision).map_err(|wrong| {
        format!(
            "{semantics}, {parameters:?}\n{wrong}\n{}\n{:?}",
            random.text, case.numbers
        )
    })?;
    Ok(
        match (
            compared.refused,
            compared.undecided,
            compared.gradients,
            extreme,
        ) {
            (1, ..) => "refused by both",
            (_, 1, ..) => "rounding decides",
            (.., 1, false) => "value and gradient agree",
            (.., 1, true) => "extreme value and gradient agree",
            (.., false) => "value agrees at a tie",
            (.., true) => "extreme value agrees at a tie",
        },
    )
}

/// α and p over all that is accepted.
fn extreme_parameters(rng: &mut Rng) -> Parameters {
    Parameters {
        alpha: 10_f64.powf(rng.in_range(-3.0, 6.0)).clamp(1e-3, 1e6),
        p: 10_f64.powf(rng.in_range(-3.0, 6.0)).clamp(1e-3, 1e6),
        p_forall: 10_f64.powf(rng.in_range(0.0, 6.0)).clamp(1.0, 1e6),
    }
}

fn make_extreme(rng: &mut Rng, case: &mut Case) {
    for (output, numbers) in case.outputs.iter().zip(&mut case.numbers) {
        for number in numbers {
            if rng.chance(0.5) {
                *number = match output.kind {
                    OutputKind::Softmax | OutputKind::Sigmoid => {
                        *rng.pick(&[1e4, -1e4, 800.0, -800.0, 40.0, -40.0, 1e-9, 0.0, -1e-300])
                    }
                    OutputKind::Truth => *rng.pick(&[0.0, 1.0, 1e-300, 1e-12, 1.0 - 1e-12, 0.5]),
                    OutputKind::LogTruth => *rng.pick(&[0.0, -1e-15, -1e-300, -700.0, -9e4]),
                };
            }
        }
    }
}

/// Derivatives by single numbers, as differences of the second evaluator's losses: that needs no derivative of its own.
pub fn derivatives(rng: &mut Rng, _: u64) -> Attempt {
    let random = random_case(rng.next());
    let mut case = random.case;
    let (semantics, parameters) = (random_semantics(rng), random_parameters(rng));
    let (Ok(found), Ok(_)) = (
        run_f64(&case, &semantics, &parameters, &[]),
        evaluate(&case, &semantics, &parameters),
    ) else {
        return Ok("refused");
    };
    if unambiguous_gradients(&case, &semantics, &parameters, 1e-3, 1e-9).is_none() {
        return Ok("at a tie");
    }
    let mut compared = 0;
    for _ in 0..4 {
        let predicate = rng.below(case.numbers.len());
        if case.numbers[predicate].is_empty() {
            continue;
        }
        let place = rng.below(case.numbers[predicate].len());
        let Some(slope) = slope(&mut case, &semantics, &parameters, predicate, place) else {
            continue;
        };
        let derivative = found.gradients[predicate][place];
        if !near(slope, derivative, 1e-5) {
            return Err(format!(
                "{semantics}, {parameters:?}: derivative {derivative:e} by number {place} of predicate {predicate}, slope {slope:e}\n{}\n{:?}",
                random.text, case.numbers
            ));
        }
        compared += 1;
    }
    Ok(match compared {
        0 => "too steep for differences",
        _ => "agree",
    })
}

/// The slope of the loss, if it is the same from near and from nearer by.
fn slope(
    case: &mut Case,
    semantics: &Semantics,
    parameters: &Parameters,
    predicate: usize,
    place: usize,
) -> Option<f64> {
    let at = case.numbers[predicate][place];
    // Beyond what such a number can be there is no loss.
    let inside = match case.outputs[predicate].kind {
        OutputKind::Softmax | OutputKind::Sigmoid => true,
        OutputKind::Truth => (1e-3..=1.0 - 1e-3).contains(&at),
        OutputKind::LogTruth => at <= -1e-3,
    };
    if !inside {
        return None;
    }
    let mut loss = |x: f64| {
        case.numbers[predicate][place] = x;
        let value = evaluate(case, semantics, parameters)
            .ok()
            .map(|value| value.loss);
        case.numbers[predicate][place] = at;
        value.filter(|loss| loss.is_finite())
    };
    let mut slope = |h: f64| Some((loss(at + h)? - loss(at - h)?) / (2.0 * h));
    let (near_by, nearer) = (slope(1e-4)?, slope(5e-5)?);
    near(near_by, nearer, 1e-6).then_some(nearer)
}
