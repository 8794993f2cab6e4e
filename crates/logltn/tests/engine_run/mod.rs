//! Runs a case through the engine, by its public interface, and compares with the reference.

#![allow(dead_code)] // each test file uses a part of this

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use logltn::theory::TableId;
use logltn::{Engine, Parameters, Plan, Semantics};

use crate::cases::compare::{near, rounding_decides, subgradients};
use crate::cases::rng::Rng;
use crate::reference::{self, AxiomValue, Case};

/// What the engine says of a case, in the shape of the reference's answer.
pub struct Answer {
    pub sat: f64,
    pub loss: f64,
    pub axioms: Vec<AxiomValue>,
    pub gradients: Vec<Vec<f64>>,
}

macro_rules! runner {
    ($run:ident, $run_plan:ident, $run_engine:ident, $number:ty) => {
        /// Evaluates a case with the engine of this precision, on some rows of some tables only.
        pub fn $run(
            case: &Case,
            semantics: &Semantics,
            parameters: &Parameters,
            batches: &[(TableId, Vec<u32>)],
        ) -> Result<Answer, String> {
            let plan = Plan::new(&case.data, &case.outputs, semantics)
                .map_err(|errors| errors.to_string())?;
            $run_plan(plan, case, parameters, batches)
        }

        /// Evaluates a case by a plan that was made for it.
        pub fn $run_plan(
            plan: Plan,
            case: &Case,
            parameters: &Parameters,
            batches: &[(TableId, Vec<u32>)],
        ) -> Result<Answer, String> {
            let mut engine = Engine::<$number>::new(plan);
            for (table, rows) in batches {
                engine
                    .set_batches([(*table, &rows[..])])
                    .map_err(|errors| errors.to_string())?;
            }
            $run_engine(&mut engine, case, parameters, batches.is_empty())
        }

        /// Evaluates a case by an engine; `whole` if that looks at all rows.
        pub fn $run_engine(
            engine: &mut Engine<$number>,
            case: &Case,
            parameters: &Parameters,
            whole: bool,
        ) -> Result<Answer, String> {
            let mut axioms: Vec<AxiomValue> = (engine.plan().axioms().iter())
                .zip(engine.weights())
                .map(|(axiom, &weight)| AxiomValue {
                    name: axiom.name.to_string(),
                    axiom: axiom.axiom,
                    weight,
                    truth: f64::NAN,
                    empty_exists: axiom.empty_exists,
                    groundings: axiom.groundings,
                })
                .collect();
            // Where each number of each request is in the full tables. Every atom at most once.
            let mut asked = BTreeSet::new();
            let places: Vec<(usize, Vec<usize>)> = (engine.requests().iter())
                .map(|request| {
                    let predicate = request.predicate;
                    let per_class = case.outputs[predicate].per_class;
                    let mut places = Vec::new();
                    for row in 0..request.rows() {
                        let mut individuals = request.row(row).to_vec();
                        if per_class {
                            individuals.push(0);
                        }
                        let first = case.position(predicate, &individuals);
                        for place in first..first + request.width {
                            assert!(asked.insert((predicate, place)), "asked twice");
                            places.push(place);
                        }
                    }
                    (predicate.0 as usize, places)
                })
                .collect();
            // A first evaluation of other numbers must leave nothing behind.
            for request in 0..places.len() {
                engine.numbers_mut(request).fill(0.0);
            }
            (engine.evaluate_with_gradients(&Parameters::default()))
                .map_err(|errors| errors.to_string())?;

            for (request, (predicate, places)) in places.iter().enumerate() {
                let numbers = engine.numbers_mut(request);
                assert_eq!(numbers.len(), places.len());
                for (number, &place) in numbers.iter_mut().zip(places) {
                    *number = case.numbers[*predicate][place] as $number;
                }
            }
            let values_only = engine.evaluate(parameters).map_err(|e| e.to_string())?;
            let (sat, loss) = (values_only.sat, values_only.loss);
            let value = (engine.evaluate_with_gradients(parameters)).map_err(|e| e.to_string())?;
            assert_eq!(
                sat.to_bits(),
                value.sat.to_bits(),
                "with and without gradients"
            );
            assert_eq!(loss.to_bits(), value.loss.to_bits());
            assert_eq!(value.axioms.len(), axioms.len());
            for (axiom, value) in axioms.iter_mut().zip(&value.axioms) {
                axiom.truth = value.truth;
                if whole {
                    assert_eq!(axiom.empty_exists, value.empty_exists, "{}", axiom.name);
                }
            }
            let mut gradients: Vec<Vec<f64>> = case
                .numbers
                .iter()
                .map(|table| vec![0.0; table.len()])
                .collect();
            for (request, (predicate, places)) in places.iter().enumerate() {
                let gradient = engine.gradient(request);
                assert_eq!(gradient.len(), places.len());
                for (&derivative, &place) in gradient.iter().zip(places) {
                    gradients[*predicate][place] = f64::from(derivative);
                }
            }
            Ok(Answer {
                sat,
                loss,
                axioms,
                gradients,
            })
        }
    };
}

runner!(run_f64, run_plan_f64, run_engine_f64, f64);
runner!(run_f32, run_plan_f32, run_engine_f32, f32);

/// How a comparison ended, if it did not fail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub values: u32,
    pub gradients: u32,
    /// Refused by both.
    pub refused: u32,
    /// Rounding decides the value: an implication of two equal truth degrees, or an infinite log.
    pub undecided: u32,
}

impl Compared {
    pub fn add(&mut self, other: Compared) {
        self.values += other.values;
        self.gradients += other.gradients;
        self.refused += other.refused;
        self.undecided += other.undecided;
    }
}

/// How exactly the engine must agree.
#[derive(Clone, Copy)]
pub enum Precision {
    /// 1e-9.
    Double,
    /// 1e-4, where a change of the numbers in the sixth digit does not already change more.
    Single,
}

/// Compares the engine with the reference. An engine that panics has failed.
pub fn compare(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    precision: Precision,
) -> Result<Compared, String> {
    let checked = || compare_unguarded(case, semantics, parameters, precision);
    catch_unwind(AssertUnwindSafe(checked)).unwrap_or_else(|panic| {
        let message = (panic.downcast_ref::<String>().map(String::as_str))
            .or(panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", message.unwrap_or("?")))
    })
}

fn compare_unguarded(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    precision: Precision,
) -> Result<Compared, String> {
    let mut case = case.clone();
    let (engine, tolerance, gap) = match precision {
        Precision::Double => (run_f64(&case, semantics, parameters, &[]), 1e-9, 1e-10),
        Precision::Single => {
            // Rounded first: what the engine cannot know is not its mistake.
            let numbers = case.numbers.iter_mut().flatten();
            numbers.for_each(|number| *number = f64::from(*number as f32));
            (run_f32(&case, semantics, parameters, &[]), 1e-4, 1e-3)
        }
    };
    let expected = reference::evaluate(&case, semantics, parameters);
    let (engine, expected) = match (engine, expected) {
        (Err(_), Err(_)) => {
            let refused = 1;
            return Ok(Compared {
                refused,
                ..Compared::default()
            });
        }
        (Err(error), Ok(_)) => return Err(format!("refused by the engine: {error}")),
        (Ok(_), Err(error)) => return Err(format!("must be refused: {error}")),
        (Ok(engine), Ok(expected)) => (engine, expected),
    };

    let names = |axioms: &[AxiomValue]| -> Vec<_> {
        let counts = |a: &AxiomValue| (a.name.clone(), a.axiom, a.groundings, a.empty_exists);
        axioms.iter().map(counts).collect()
    };
    if names(&engine.axioms) != names(&expected.axioms) {
        return Err(format!(
            "(name, axiom, groundings, empty exists)\n engine   {:?}\n expected {:?}",
            names(&engine.axioms),
            names(&expected.axioms)
        ));
    }
    let ill_conditioned = match precision {
        Precision::Double => false,
        Precision::Single => is_ill_conditioned(&case, semantics, parameters),
    };
    if expected.jump_gap < gap || !expected.sat.is_finite() || ill_conditioned {
        let undecided = 1;
        return Ok(Compared {
            undecided,
            ..Compared::default()
        });
    }
    let same = |what: &str, found: f64, expected: f64| {
        if near(found, expected, tolerance) {
            Ok(())
        } else {
            Err(format!("{what}: engine {found:e}, expected {expected:e}"))
        }
    };
    let mut compared = Compared {
        values: 1,
        ..Compared::default()
    };
    // Whether the gradients are points, and so agree as well.
    let agree = || -> Result<bool, String> {
        for (found, expected) in engine.axioms.iter().zip(&expected.axioms) {
            let name = &found.name;
            same(&format!("weight of {name}"), found.weight, expected.weight)?;
            same(&format!("truth of {name}"), found.truth, expected.truth)?;
        }
        same("sat", engine.sat, expected.sat)?;
        same("loss", engine.loss, expected.loss)?;
        let Some(sides) = subgradients(&case, semantics, parameters, gap) else {
            return Ok(false);
        };
        let all = || sides.iter().flatten();
        if !all().all(|(least, greatest)| least.is_finite() && greatest.is_finite()) {
            return Ok(false);
        }
        for (predicate, sides) in sides.iter().enumerate() {
            let name = &case.theory.predicates[predicate].name;
            for (place, &(least, greatest)) in sides.iter().enumerate() {
                let found = engine.gradients[predicate][place];
                // At a kink any subgradient is right.
                let expected = match found < least {
                    true => least,
                    false => found.min(greatest),
                };
                same(&format!("gradient {place} of {name}"), found, expected)?;
            }
        }
        Ok(all().all(|&(a, b)| near(a, b, tolerance)))
    };
    match agree() {
        Ok(gradients) => compared.gradients = u32::from(gradients),
        Err(wrong) => {
            let epsilon = match precision {
                Precision::Double => f64::EPSILON,
                Precision::Single => f64::from(f32::EPSILON),
            };
            if !rounding_decides(&case, semantics, parameters, gap, tolerance, epsilon) {
                return Err(wrong);
            }
            (compared.values, compared.undecided) = (0, 1);
        }
    }
    Ok(compared)
}

/// Whether numbers that differ in the sixth digit already give values or gradients that differ by more
/// than single precision is allowed to.
fn is_ill_conditioned(case: &Case, semantics: &Semantics, parameters: &Parameters) -> bool {
    let gradients = |value: &reference::Evaluation| -> Vec<f64> {
        value.gradients.iter().flatten().copied().collect()
    };
    let Ok(value) = reference::evaluate(case, semantics, parameters) else {
        return true;
    };
    let (least, greatest) = value.range;
    if least < 1e-30 || greatest >= 9e4 {
        return true;
    }
    (0..4).any(|seed| {
        let mut rng = Rng::new(seed);
        let mut moved = case.clone();
        for number in moved.numbers.iter_mut().flatten() {
            *number *= 1.0 - 1e-6 * rng.uniform();
        }
        let Ok(other) = reference::evaluate(&moved, semantics, parameters) else {
            return true;
        };
        let changed = |a: f64, b: f64| !near(a, b, 2e-5);
        changed(value.loss, other.loss)
            || (value.axioms.iter().zip(&other.axioms)).any(|(a, b)| changed(a.truth, b.truth))
            || (gradients(&value).iter().zip(gradients(&other))).any(|(a, b)| changed(*a, b))
    })
}
