//! Numbers and gradients in the memory of whoever asks: to the bit what they are in the engine's own.

use logltn::{Data, Engine, InPlace, Output, Parameters, Plan, Semantics, Source, Theory, Wanted};

const THEORY: &str = "
    sort P  sort T = {a, b, c}  predicate type(P, T)  predicate part(P, P)  predicate ok()
    axiom r: forall x: P. type(x, a) or ok()
    axiom s: forall x, y: P. part(x, y) and type(x, b) -> not part(y, x)
    axiom t: forall x: P. exists y: P, t: T. part(x, y) and type(y, t)";

fn engine(semantics: &str) -> Engine<f64> {
    let theory = Theory::parse(Source::new("t", THEORY)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_size("P", 5).expect("a sort");
    let outputs = [Output::softmax(), Output::sigmoid(), Output::sigmoid()];
    let semantics = Semantics::named(semantics).expect("a name");
    Engine::new(Plan::new(&data, &outputs, &semantics).expect("a plan"))
}

fn numbers(engine: &Engine<f64>) -> Vec<Vec<f64>> {
    let mut next = 0.3_f64;
    let mut number = || {
        next = (next * 7.31 + 0.17) % 4.0;
        next - 2.0
    };
    let requests = engine.requests().iter();
    requests
        .map(|r| (0..r.rows() * r.width).map(|_| number()).collect())
        .collect()
}

#[test]
fn the_same_to_the_bit() {
    for semantics in ["logltn", "stable", "logltn-max"] {
        let (mut copying, mut lending) = (engine(semantics), engine(semantics));
        let numbers = numbers(&copying);
        let parameters = Parameters::default();
        for (i, numbers) in numbers.iter().enumerate() {
            copying.numbers_mut(i).copy_from_slice(numbers);
        }
        let by_axiom = [0.5, -1.0, 2.0];
        for (wanted, what) in [
            (None, "truths"),
            (Some(Wanted::OfLoss), "the loss"),
            (Some(Wanted::Of(&by_axiom)), "axioms"),
        ] {
            let expected = match wanted {
                None => copying.evaluate(&parameters),
                Some(Wanted::OfLoss) => copying.evaluate_with_gradients(&parameters),
                Some(Wanted::Of(by)) => copying.evaluate_with_derivatives(&parameters, by),
            };
            let expected = expected.expect("truths").clone();
            // All of them, with gradients or without, and only some.
            for lent in 0..1 << (2 * numbers.len()) {
                let mut room: Vec<Vec<f64>> =
                    numbers.iter().map(|n| vec![f64::NAN; n.len()]).collect();
                let is = |i: usize, bit: usize| lent >> (2 * i + bit) & 1 == 1;
                let mut given = Vec::new();
                for (i, (numbers, room)) in numbers.iter().zip(&mut room).enumerate() {
                    let own = lending.numbers_mut(i);
                    // What is lent must not be read from here.
                    own.fill(f64::NAN);
                    if is(i, 0) {
                        let gradient = is(i, 1).then_some(&mut room[..]);
                        given.push(Some(InPlace { numbers, gradient }));
                    } else {
                        own.copy_from_slice(numbers);
                        given.push(None);
                    }
                }
                let found = lending.evaluate_in_place(&parameters, wanted, &mut given);
                assert_eq!(found.expect("truths"), &expected, "{semantics}, {what}");
                if wanted.is_none() {
                    continue;
                }
                for (i, room) in room.iter().enumerate() {
                    let found = match is(i, 0) && is(i, 1) {
                        true => room,
                        false => lending.gradient(i),
                    };
                    assert_eq!(found, copying.gradient(i), "{semantics}, {what}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_finite_is_found() {
    let mut engine = engine("logltn");
    let mut numbers = numbers(&engine);
    numbers[1][3] = f64::NAN;
    let mut given: Vec<Option<InPlace<f64>>> = (numbers.iter())
        .map(|numbers| {
            let gradient = None;
            Some(InPlace { numbers, gradient })
        })
        .collect();
    let found = engine.evaluate_in_place(&Parameters::default(), None, &mut given);
    assert!(found.expect_err("not a number").to_string().contains("NaN"));
}

#[test]
#[should_panic(expected = "as many numbers")]
fn too_few_numbers_are_refused() {
    let mut engine = engine("logltn");
    let mut given: Vec<Option<InPlace<f64>>> = engine.requests().iter().map(|_| None).collect();
    given[0] = Some(InPlace {
        numbers: &[0.0],
        gradient: None,
    });
    let _ = engine.evaluate_in_place(&Parameters::default(), None, &mut given);
}

#[test]
#[should_panic(expected = "only lent")]
fn norms_need_the_numbers() {
    let mut engine = engine("logltn");
    let numbers = numbers(&engine);
    let mut given: Vec<Option<InPlace<f64>>> = (numbers.iter())
        .map(|numbers| {
            let gradient = None;
            Some(InPlace { numbers, gradient })
        })
        .collect();
    let wanted = Some(Wanted::OfLoss);
    let _ = engine.evaluate_in_place(&Parameters::default(), wanted, &mut given);
    engine.axiom_gradient_norms(&Parameters::default());
}
