//! Quantifiers that bind rows of tables and individuals of sorts at once: one aggregation over all combinations, duplicates included.

use logltn::{
    Answers, ColumnData, Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory,
};

const HEAD: &str = "
    sort X = 0..3  sort K = 0..2  table t(x: X, n: Int)  table u(y: X)  predicate p(X)  predicate q(X, K)
    axiom a: ";

fn data(text: &str) -> Data {
    let theory = Theory::parse(Source::new("t", format!("{HEAD}{text}"))).unwrap();
    let mut data = Data::new(&theory);
    let rows = vec![
        ColumnData::Individuals(vec![0, 2, 2, 3]),
        ColumnData::Int(vec![1, 0, 0, 2]),
    ];
    data.set_rows("t", rows).unwrap();
    data.set_rows("u", vec![ColumnData::Individuals(vec![1, 1, 0])])
        .unwrap();
    data
}

fn truth(text: &str) -> (f64, u128) {
    let data = data(text);
    let outputs = [Output::truth(), Output::truth()];
    let semantics = Semantics::named("lukasiewicz").unwrap();
    let plan = Plan::new(&data, &outputs, &semantics).unwrap();
    let groundings = plan.axioms()[0].groundings;
    let mut engine = Engine::<f64>::new(plan);
    for request in 0..engine.requests().len() {
        let (of, numbers) = engine.request_and_numbers(request);
        let rows = (0..of.rows()).map(|row| of.row(row).to_vec());
        for (number, row) in numbers.iter_mut().zip(rows.collect::<Vec<_>>()) {
            *number = value(&row);
        }
    }
    let truth = engine.evaluate(&Parameters::default()).unwrap().axioms[0].truth;
    (truth, groundings)
}

fn value(row: &[u32]) -> f64 {
    match *row {
        [x] => 0.2 + 0.15 * f64::from(x),
        [x, k] => 0.9 - 0.1 * f64::from(x) - 0.2 * f64::from(k),
        _ => unreachable!("no predicate has more arguments"),
    }
}

const T: [(u32, i64); 4] = [(0, 1), (2, 0), (2, 0), (3, 2)];
const U: [u32; 3] = [1, 1, 0];

#[test]
fn rows_and_individuals() {
    let (found, groundings) = truth("forall (x, n) in t, k: K where k >= n. q(x, k)");
    let all: Vec<f64> = (T.iter())
        .flat_map(|(x, n)| {
            (0..3)
                .filter(|k| i64::from(*k) >= *n)
                .map(|k| value(&[*x, k]))
        })
        .collect();
    assert_eq!(groundings, all.len() as u128);
    assert!((found - all.iter().sum::<f64>() / all.len() as f64).abs() < 1e-12);
}

#[test]
fn rows_of_several_tables() {
    let (found, groundings) =
        truth("exists (x, n) in t, k: K, (y) in u where y != x and n < 2. q(x, k) and p(y)");
    let mut all = Vec::new();
    for (x, n) in T {
        for k in 0..3 {
            for y in U.iter().filter(|y| **y != x && n < 2) {
                all.push((value(&[x, k]) + value(&[*y]) - 1.0).max(0.0));
            }
        }
    }
    assert_eq!(groundings, all.len() as u128);
    assert!((found - all.iter().copied().fold(0.0, f64::max)).abs() < 1e-12);
}

#[test]
fn they_are_printed_as_they_are_written() {
    let text = format!(
        "{HEAD}forall (x, n) in t, k: K, (y) in u where n < 2. q(x, k) or (exists c: K, (z) in u. q(z, c) and p(y))"
    );
    let theory = Theory::parse(Source::new("t", text)).unwrap();
    let printed = theory.to_string();
    assert!(
        printed.contains("(x, n) in t, k: K, (y) in u where"),
        "{printed}"
    );
    assert!(theory.same_as(&Theory::parse(Source::new("u", printed)).unwrap()));
}

#[test]
fn questions_bind_them_too() {
    let data = data("forall (x, n) in t, (y) in u. p(x) or p(y)");
    let query = Source::new("query", "find (x, n) in t, k: K where k = n. q(x, k)");
    let query = data.theory().parse_query(query).unwrap();
    let outputs = [Output::truth(), Output::truth()];
    let semantics = Semantics::named("lukasiewicz").unwrap();
    let plan = Plan::for_query(&data, &outputs, &semantics, &query, &Default::default()).unwrap();
    let mut engine = Engine::<f64>::new(plan);
    let found = engine.answers(&Parameters::default(), 0).unwrap();
    assert!(matches!(found, Answers::Open { total: 4, .. }));
}

#[test]
fn batches_are_refused() {
    let mut data = data("forall (x, n) in t, (y) in u. p(x) or p(y)");
    data.set_batched("t").unwrap();
    let outputs = [Output::truth(), Output::truth()];
    let error = Plan::new(&data, &outputs, &Semantics::default()).unwrap_err();
    assert!(
        error.to_string().contains("table `t` has batches"),
        "{error}"
    );
}

#[test]
fn rows_that_come_with_a_call() {
    let text = format!("{HEAD}forall (x, n) in t, (y) in u where x != y and n < 2. p(x) and p(y)");
    let theory = Theory::parse(Source::new("t", text)).unwrap();
    let (t, u) = (theory.table("t").unwrap(), theory.table("u").unwrap());
    let mut data = Data::new(&theory);
    data.set_streamed("t").unwrap();
    data.set_rows("u", vec![ColumnData::Individuals(U.to_vec())])
        .unwrap();
    let outputs = [Output::truth(), Output::truth()];
    let plan = Plan::new(&data, &outputs, &Semantics::default()).unwrap();
    let mut engine = Engine::<f64>::new(plan);
    for rows in [&T[..], &T[..1], &[], &T[..]] {
        let (x, n): (Vec<u32>, Vec<i64>) = rows.iter().copied().unzip();
        let columns = vec![ColumnData::Individuals(x), ColumnData::Int(n)];
        engine.stream(&[], vec![(t, columns)]).unwrap();
        let pairs = rows.iter().flat_map(|(x, n)| U.map(|y| (*x, *n, y)));
        let kept = pairs.filter(|(x, n, y)| x != y && *n < 2).count();
        assert_eq!(engine.plan().axioms()[0].groundings, kept as u128);
    }
    assert!(!engine.plan().data().streams_table(u));
}
