//! The same bits on any number of threads.

use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1_u64 << 31) as f64
}

/// Large enough for several lanes, with a nested quantifier, an `or` of three and a keyed guard.
fn engine(semantics: &str) -> Engine<f32> {
    let theory = Theory::parse(Source::new("threads.ltn", "
        sort Point  sort Kind = 0..6  param near  predicate C(Point, Kind)  predicate R(Point, Point)
        axiom covered:   forall x: Point. exists c: Kind. C(x, c)
        axiom smooth:    forall c: Kind, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
        axiom linked:    forall x: Point. exists y: Point where dist(x, y) < near. R(x, y) or C(y, 1) or not C(x, 2)
        axiom shared:    forall x: Point, y: Point. R(x, y) -> (exists z: Point. R(y, z) and C(z, 1))
        axiom somewhere: exists x: Point, y: Point. R(x, y) and C(x, 0)
        axiom chain:     forall x: Point. exists a, b, c, d: Kind where a + b = c + d. C(x, a) and C(x, b) and C(x, c) and C(x, d)"))
        .expect("a theory");
    let mut state = 1;
    let features = (0..300 * 3).map(|_| random(&mut state)).collect();
    let mut data = Data::new(&theory);
    data.set_features("Point", 3, features).expect("features");
    data.set_param("near", 0.25).expect("a param");
    let outputs = [Output::softmax(), Output::sigmoid()];
    let semantics = Semantics::named(semantics).expect("a semantics");
    let plan = Plan::new(&data, &outputs, &semantics).expect("a plan");
    let mut engine = Engine::new(plan);
    for request in 0..engine.requests().len() {
        for x in engine.numbers_mut(request) {
            *x = 6.0 * random(&mut state) as f32 - 3.0;
        }
    }
    engine
}

/// This many rows of classes that they are computed in pieces, and small clauses whose lanes reach parts of their tables.
fn many_rows(semantics: &str) -> Engine<f32> {
    let theory = Theory::parse(Source::new(
        "rows.ltn",
        "
        sort Point  sort Kind = 0..4  param near  predicate C(Point, Kind)
        axiom covered: forall x: Point. exists c: Kind. C(x, c)
        axiom smooth:  forall c: Kind, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)",
    ))
    .expect("a theory");
    let mut state = 1;
    let features = (0..12_000 * 2).map(|_| random(&mut state)).collect();
    let mut data = Data::new(&theory);
    data.set_features("Point", 2, features).expect("features");
    data.set_param("near", 0.02).expect("a param");
    let semantics = Semantics::named(semantics).expect("a semantics");
    let plan = Plan::new(&data, &[Output::softmax()], &semantics).expect("a plan");
    let mut engine = Engine::new(plan);
    for x in engine.numbers_mut(0) {
        *x = 6.0 * random(&mut state) as f32 - 3.0;
    }
    engine
}

/// Loss and gradients, as bits.
fn bits(engine: &mut Engine<f32>, threads: usize) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool");
    pool.install(|| {
        let parameters = Parameters {
            alpha: 3.0,
            p: 2.5,
            p_forall: 4.0,
        };
        let value = engine.evaluate_with_gradients(&parameters).expect("a loss");
        let mut bits = vec![value.loss.to_bits()];
        bits.extend(value.axioms.iter().map(|a| a.truth.to_bits()));
        for request in 0..engine.requests().len() {
            bits.extend(
                engine
                    .gradient(request)
                    .iter()
                    .map(|g| u64::from(g.to_bits())),
            );
        }
        bits
    })
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for semantics in crate::cases::operators() {
        let mut engine = engine(semantics);
        let one = bits(&mut engine, 1);
        assert!(
            one.iter().skip(6).any(|b| *b != 0),
            "{semantics} has no gradient"
        );
        for threads in [2, 3, 7] {
            assert_eq!(
                one,
                bits(&mut engine, threads),
                "{semantics} on {threads} threads"
            );
        }
        // And a second evaluation is not disturbed by the first.
        assert_eq!(one, bits(&mut engine, 1), "{semantics} again");
    }
}

#[test]
fn nor_do_those_of_many_rows() {
    for semantics in crate::cases::operators() {
        let mut engine = many_rows(semantics);
        let one = bits(&mut engine, 1);
        for threads in [2, 5] {
            assert_eq!(one, bits(&mut engine, threads), "{semantics}");
        }
        // What lanes have touched before is not seen again.
        let numbers = engine.numbers_mut(0).to_vec();
        engine.numbers_mut(0).iter_mut().for_each(|x| *x = -*x);
        assert_ne!(one, bits(&mut engine, 2), "{semantics}");
        engine.numbers_mut(0).copy_from_slice(&numbers);
        assert_eq!(one, bits(&mut engine, 3), "{semantics} again");
    }
}

#[test]
fn a_number_that_is_not_finite_is_refused_with_its_axiom_and_predicate() {
    let mut engine = engine("logltn");
    let request = (engine.requests().iter())
        .position(|r| r.width == 7)
        .expect("the request of C");
    engine.numbers_mut(request)[7 * 12 + 4] = f32::NAN;
    let error = engine
        .evaluate(&Parameters::default())
        .expect_err("NaN")
        .to_string();
    assert!(
        error.contains("predicate `C` gave NaN in row 12, column 4"),
        "{error}"
    );
    assert!(error.contains("asked for by axiom `covered`"), "{error}");
    assert!(error.contains("threads.ltn:3"), "{error}");
}
