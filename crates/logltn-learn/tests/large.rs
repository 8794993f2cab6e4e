//! Tables of which no plan knows all rows, against the same where it does.

use logltn::theory::TableId;
use logltn::{ColumnData, Engine, Output, Parameters, Semantics};
use logltn_learn::{Individuals, LargeTables, Network, Session, Training};
use logltn_nn::Activation;

const POINTS: u32 = 30;
const ROWS: u32 = 50;

const AXIOMS: &str = "
    axiom facts: forall (x, y, n) in pairs. close(x, y) and good(x) -> good(y)
    axiom sums: forall (x, y, n) in pairs where n > 2. exists d: Digit where d + 1 <= n. class(x, d) and good(y)
    axiom some: forall (x) in chosen. exists d: Digit. class(x, d) and good(x)
    axiom all: forall x: Point. good(x)";

fn session(semantics: &str, set: impl FnOnce(&mut Training)) -> Session {
    let theory = format!(
        "sort Point  sort Digit = 0..4  table pairs(x: Point, y: Point, n: Int)  table chosen(x: Point)
         predicate close(Point, Point)  predicate good(Point)  predicate class(Point, Digit) {AXIOMS}"
    );
    let mixed = |k: u32, of: u32| (0..ROWS).map(move |i| i.wrapping_mul(2_654_435_761 + k) % of);
    let individuals = |k| ColumnData::Individuals(mixed(k, POINTS).collect());
    let numbers = ColumnData::Int(mixed(4, 6).map(i64::from).collect());
    Session::builder(theory)
        .sort("Point", Individuals::from(POINTS as usize).learnable(4))
        .batched("pairs", 8, vec![individuals(0), individuals(2), numbers])
        .batched("chosen", 9, vec![individuals(6)])
        .predicate(
            "close",
            Network::mlp(&[8], Activation::Tanh),
            Output::sigmoid(),
        )
        .predicate(
            "good",
            Network::mlp(&[8], Activation::Tanh),
            Output::sigmoid(),
        )
        .predicate(
            "class",
            Network::mlp(&[8], Activation::Tanh),
            Output::softmax(),
        )
        .training(|training| {
            training.semantics = Semantics::named(semantics).unwrap();
            set(training);
        })
        .steps(40)
        .build()
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn training_and_evaluation_are_the_same() {
    for semantics in ["logltn", "logltn-sum", "logltn-prob", "stable", "godel"] {
        let mut known = session(semantics, |_| {});
        let mut large = session(semantics, |training| training.large_from = 1);
        // The plan knows all rows, or those of the first batch.
        let rows = |session: &Session| session.plan().axioms().iter().map(|a| a.groundings).max();
        assert!(rows(&known) >= Some(ROWS.into()) && rows(&large) < Some(ROWS.into()));
        for _ in 0..40 {
            let (a, b) = (known.step().unwrap(), large.step().unwrap());
            assert!((a.loss - b.loss).abs() < 1e-5, "{semantics}: {a:?} {b:?}");
        }
        let parameters = Parameters::default();
        large.restore(&known.state()).unwrap();
        let (a, b) = (
            known.evaluate(&parameters).unwrap(),
            large.evaluate(&parameters).unwrap(),
        );
        for (a, b) in a
            .truths
            .iter()
            .zip(&b.truths)
            .chain([(&a.sat, &b.sat), (&a.loss, &b.loss)])
        {
            assert!((a - b).abs() < 1e-12, "{semantics}: {a} {b}");
        }
        let groundings = |of: &logltn_learn::Evaluated| -> Vec<u128> {
            of.axioms.iter().map(|axiom| axiom.groundings).collect()
        };
        assert_eq!(groundings(&a), groundings(&b), "{semantics}");
    }
}

/// A resumed training continues with the same rows.
#[test]
fn resumed() {
    let large = || session("logltn", |training| training.large_from = 1);
    let (mut straight, mut before, mut after) = (large(), large(), large());
    (0..30).for_each(|_| drop(straight.step().unwrap()));
    (0..11).for_each(|_| drop(before.step().unwrap()));
    after.restore(&before.state()).unwrap();
    (11..30).for_each(|_| drop(after.step().unwrap()));
    assert_eq!(
        straight.weights().tensor("Point"),
        after.weights().tensor("Point")
    );
}

/// However large the parts are.
#[test]
fn part_by_part() {
    for semantics in [
        "logltn",
        "logltn-sum",
        "logltn-max",
        "logltn-prob",
        "prod",
        "stable",
        "lukasiewicz",
        "godel",
    ] {
        let named = Semantics::named(semantics).unwrap();
        let mut session = session(semantics, |_| {});
        (0..3).for_each(|_| drop(session.step().unwrap()));
        let parameters = Parameters::default();
        let whole = session.evaluate(&parameters).unwrap();
        let data = session.knowledge().data.clone();
        let outputs = session.knowledge().outputs.clone();
        let ids = [TableId(0), TableId(1)];
        for rows in [1, 7, 49, 50, 1000] {
            let tables = ids.to_vec();
            let mut parts = LargeTables::new(&data, &outputs, &named, tables).unwrap();
            parts.rows = rows;
            let knowledge = session.knowledge().clone();
            let fill_in = |engine: &mut Engine<f64>| {
                let model = session.model_mut();
                model.attach(&knowledge, engine)?;
                model.evaluate(engine)
            };
            let found = parts.evaluate(&parameters, fill_in).unwrap();
            for (a, b) in whole.truths.iter().zip(&found.truths) {
                assert!(
                    (a - b).abs() < 1e-12 * a.abs().max(1.0),
                    "{semantics}, {rows}: {a} {b}"
                );
            }
            assert!((whole.sat - found.sat).abs() < 1e-12, "{semantics}, {rows}");
        }
    }
}
