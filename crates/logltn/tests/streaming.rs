//! Rows of tables and sizes of sorts that come with the call, against plans that were made with them: the same values,
//! gradients, counts and requests, whatever came before.

use std::collections::{BTreeMap, BTreeSet};

use crate::cases::compare::near;
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use crate::engine_run::{Answer, run_engine_f64};
use crate::reference::Case;
use logltn::theory::{SortId, SortKind, TableId};
use logltn::{ColumnData, Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

/// What comes with the call.
#[derive(Clone, Default)]
struct Coming {
    sizes: Vec<(SortId, usize)>,
    rows: Vec<(TableId, Vec<ColumnData>)>,
}

/// Some tables and sorts of the case are to come with the call.
fn streamed(case: &Case, rng: &mut Rng) -> (Data, Coming) {
    let mut data = case.data.clone();
    let mut coming = Coming::default();
    for (i, table) in case.theory.tables.iter().enumerate() {
        let id = TableId(i as u32);
        if rng.chance(0.7) {
            let rows = case.data.table(id).expect("rows").columns.clone();
            data.set_streamed(&table.name).expect("a table");
            coming.rows.push((id, rows.to_vec()));
        }
    }
    for (i, sort) in case.theory.sorts.iter().enumerate() {
        let id = SortId(i as u32);
        let may = sort.kind == SortKind::Data && sort.labels.is_empty();
        // One with features is refused.
        if may && rng.chance(0.5) && data.set_streamed_size(&sort.name).is_ok() {
            coming.sizes.push((id, case.data.size(id)));
        }
    }
    (data, coming)
}

/// The first half of the rows.
fn half(coming: &Coming) -> Coming {
    let mut coming = coming.clone();
    for column in coming.rows.iter_mut().flat_map(|(_, columns)| columns) {
        let rows = column.len() / 2;
        match column {
            ColumnData::Individuals(cells) => cells.truncate(rows),
            ColumnData::Int(cells) => cells.truncate(rows),
            ColumnData::Real(cells) => cells.truncate(rows),
        }
    }
    coming
}

/// By predicate and shape, the rows that are asked for.
fn requests(engine: &Engine<f64>) -> BTreeMap<String, BTreeSet<Vec<u32>>> {
    let name = |r: &logltn::Request| format!("{:?} {:?}", r.predicate, r.shape);
    let mut found = BTreeMap::new();
    for request in engine.requests().iter().filter(|r| r.rows() > 0) {
        let rows: BTreeSet<Vec<u32>> = match request.arity {
            0 => [Vec::new()].into(),
            arity => (request.individuals().chunks(arity))
                .map(<[u32]>::to_vec)
                .collect(),
        };
        assert_eq!(rows.len(), request.rows());
        found.insert(name(request), rows);
    }
    found
}

/// Whether the same is asked, or, of a table of all rows, what is needed of it.
fn asks_the_same(streamed: &Engine<f64>, planned: &Engine<f64>) -> bool {
    let (streamed, planned) = (requests(streamed), requests(planned));
    let known = |(name, rows): (&String, &BTreeSet<Vec<u32>>)| {
        planned.get(name).is_some_and(|all| rows.is_subset(all))
    };
    streamed.iter().all(known)
}

fn same(found: &Answer, expected: &Answer) -> Result<(), String> {
    let check = |what: &str, a: f64, b: f64| match near(a, b, 1e-9) || a.is_nan() && b.is_nan() {
        true => Ok(()),
        false => Err(format!("{what}: streamed {a:e}, planned {b:e}")),
    };
    for (a, b) in found.axioms.iter().zip(&expected.axioms) {
        check(&format!("truth of {}", a.name), a.truth, b.truth)?;
        if (&a.name, a.groundings, a.empty_exists) != (&b.name, b.groundings, b.empty_exists) {
            return Err(format!("{a:?} and {b:?}"));
        }
    }
    check("loss", found.loss, expected.loss)?;
    let gradients = found.gradients.iter().flatten();
    for (a, b) in gradients.zip(expected.gradients.iter().flatten()) {
        check("a gradient", *a, *b)?;
    }
    Ok(())
}

/// Whether there was something to compare.
fn compare(case: &Case, seed: u64) -> Result<bool, String> {
    let mut rng = Rng::new(!seed);
    let (semantics, parameters) = (random_semantics(&mut rng), random_parameters(&mut rng));
    let (data, coming) = streamed(case, &mut rng);
    // What shapes the theory cannot come with the call.
    let Ok(plan) = Plan::new(&data, &case.outputs, &semantics) else {
        return Ok(false);
    };
    let mut engine = Engine::<f64>::new(plan);
    let stream = |engine: &mut Engine<f64>, coming: &Coming| {
        engine.stream(&coming.sizes, coming.rows.clone())
    };
    let planned = Plan::new(&case.data, &case.outputs, &semantics);
    let _ = stream(&mut engine, &half(&coming));
    let came = stream(&mut engine, &coming);
    let planned = match (planned, came) {
        (Err(_), Err(_)) => return Ok(false),
        (Ok(planned), Ok(())) => planned,
        (a, b) => return Err(format!("only one refused: {a:?} {b:?}")),
    };
    let warnings = |plan: &Plan| {
        let mut said: Vec<String> = plan.warnings().iter().map(|w| format!("{w:?}")).collect();
        said.sort();
        said
    };
    let (said, expected) = (warnings(engine.plan()), warnings(&planned));
    if said != expected {
        return Err(format!("warnings {said:#?}\nplanned {expected:#?}"));
    }
    let mut whole = Engine::<f64>::new(planned);
    for again in [false, true] {
        if again {
            // A mistake leaves nothing behind.
            let wrong: Vec<_> = coming.rows.iter().map(|(t, _)| (*t, Vec::new())).collect();
            let refused = engine.stream(&coming.sizes, wrong).is_err();
            assert_eq!(refused, !coming.rows.is_empty());
            stream(&mut engine, &coming).map_err(|e| format!("again: {e}"))?;
        }
        if !asks_the_same(&engine, &whole) {
            return Err(format!(
                "{:?} and {:?}",
                requests(&engine),
                requests(&whole)
            ));
        }
        let found = run_engine_f64(&mut engine, case, &parameters, true)?;
        let expected = run_engine_f64(&mut whole, case, &parameters, true)?;
        same(&found, &expected)?;
    }
    Ok(!coming.rows.is_empty() || !coming.sizes.is_empty())
}

#[test]
fn random_theories() {
    let cases = std::env::var("LOGLTN_RANDOM_CASES").map_or(1500, |n| n.parse().expect("a number"));
    let mut failures = Vec::new();
    let mut compared = 0;
    for seed in 0..cases {
        let random = random_case(seed);
        let outcome = std::panic::catch_unwind(|| compare(&random.case, seed));
        match outcome.unwrap_or_else(|_| Err("panicked".into())) {
            Ok(done) => compared += u64::from(done),
            Err(error) => failures.push((
                random.text.len(),
                format!("seed {seed}\n{error}\n{}", random.text),
            )),
        }
    }
    failures.sort();
    if let Some((_, shortest)) = failures.first() {
        panic!(
            "{} of {cases} failed; the shortest:\n{shortest}",
            failures.len()
        );
    }
    assert!(compared * 2 > cases, "{compared} of {cases}");
}

const ADDITION: &str = "
    sort Image  sort Digit = 0..9  table sums(x: Image, y: Image, n: Int)
    predicate digit(Image, Digit)  predicate even(Digit)
    axiom addition: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)
    axiom parity: forall d: Digit where d % 2 = 0. even(d)";

fn addition() -> (Theory, Engine<f64>) {
    let theory = Theory::parse(Source::new("addition.ltn", ADDITION)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_streamed("sums").expect("a table");
    data.set_streamed_size("Image").expect("a sort");
    let outputs = [Output::softmax(), Output::sigmoid()];
    let plan = Plan::new(&data, &outputs, &Semantics::default()).expect("a plan");
    assert!(plan.warnings().is_empty(), "{}", plan.warnings());
    (theory, Engine::new(plan))
}

fn sums(n: &[i64]) -> Vec<ColumnData> {
    let images = |k: u32| (0..n.len() as u32).map(|i| 2 * i + k).collect();
    vec![
        ColumnData::Individuals(images(0)),
        ColumnData::Individuals(images(1)),
        ColumnData::Int(n.to_vec()),
    ]
}

#[test]
fn each_call_has_its_rows() {
    let (theory, mut engine) = addition();
    let (table, image) = (theory.table("sums").unwrap(), theory.sort("Image").unwrap());
    for n in [vec![7, 12], vec![0], vec![18, 3, 9, 9], vec![]] {
        let images = 2 * n.len();
        engine
            .stream(&[(image, images)], vec![(table, sums(&n))])
            .expect("rows");
        let axioms = engine.plan().axioms();
        let groundings: i64 = n.iter().map(|n| 10 - (n - 9).abs()).sum();
        assert_eq!(axioms[0].groundings, groundings as u128);
        assert_eq!(axioms[1].groundings, 5);
        let digit = theory.predicate("digit").unwrap();
        let asked = |r: &&logltn::Request| r.predicate == digit;
        let rows = engine.requests().iter().find(asked).map_or(0, |r| r.rows());
        assert_eq!(rows, images);
        let request = engine.requests().iter().position(|r| r.predicate == digit);
        if let Some(request) = request {
            engine.numbers_mut(request).fill(0.5);
        }
        let value = engine.evaluate_with_gradients(&Parameters::default());
        // All digits are equally likely: log(1/100) for each row.
        let truth = value.expect("a value").axioms[0].truth;
        let expected = if n.is_empty() { 0.0 } else { -(100_f64.ln()) };
        assert!((truth - expected).abs() < 1e-9, "{truth}");
    }
}

#[test]
fn mistakes() {
    let (theory, mut engine) = addition();
    let (table, image) = (theory.table("sums").unwrap(), theory.sort("Image").unwrap());
    let digit = theory.sort("Digit").unwrap();
    let mut said = Vec::new();
    for (sizes, rows) in [
        (vec![(image, 2)], vec![(table, sums(&[1, 2]))]),
        (vec![(digit, 2)], vec![]),
        (
            vec![(image, 2)],
            vec![(table, vec![ColumnData::Int(vec![1])])],
        ),
    ] {
        said.push(
            engine
                .stream(&sizes, rows)
                .expect_err("a mistake")
                .to_string(),
        );
    }
    insta::assert_snapshot!(said.join("\n"));
    // What shapes a theory must be there when it is planned.
    let theory = "sort D = 0..3  table t(d: D)  predicate P(D)  axiom a for d: D where t(d): P(d)";
    let theory = Theory::parse(Source::new("t.ltn", theory)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_streamed("t").expect("a table");
    let refused = Plan::new(&data, &[Output::sigmoid()], &Semantics::default());
    assert!(
        refused
            .expect_err("refused")
            .to_string()
            .contains("table `t`")
    );
}
