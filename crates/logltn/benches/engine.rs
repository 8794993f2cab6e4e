//! The two axioms that the paper's experiments spend their time in: `cargo bench -p logltn --bench engine`.
//!
//! Clustering: 801 points in 16 dimensions, a guard that keeps 2.5 % of the pairs, 5 clusters. Addition:
//! a batch of 32 sums of two two-digit numbers. Columns: the same for 1, 2, 4 and 15 digits. Loss and gradient, in
//! single precision. What a clustering step cannot do without: `steps bounds` (examples/steps.rs).

use std::hint::black_box;

use logltn::{Engine, Parameters, Plan, Semantics};

#[path = "../examples/growth/problems.rs"]
#[allow(dead_code)] // the examples as well
mod problems;

fn main() {
    divan::main();
}

fn engine((data, outputs): problems::Problem, semantics: &str) -> Engine<f32> {
    let semantics = Semantics::named(semantics).expect("a semantics");
    let plan = Plan::new(&data, &outputs, &semantics).expect("a plan");
    filled(Engine::new(plan))
}

fn clustering(semantics: &str) -> Engine<f32> {
    engine(problems::clustering(801, 5, 16), semantics)
}

fn addition(semantics: &str) -> Engine<f32> {
    let mut engine = engine(problems::addition(15_000), semantics);
    let table = engine.plan().data().theory().table("sums");
    let batch: Vec<u32> = (0..32).collect();
    (engine.set_batches([(table.expect("a table"), &batch[..])])).expect("a batch");
    filled(engine)
}

fn filled(mut engine: Engine<f32>) -> Engine<f32> {
    let mut state = 3;
    for request in 0..engine.requests().len() {
        for x in engine.numbers_mut(request) {
            *x = 4.0 * problems::random(&mut state) as f32 - 2.0;
        }
    }
    engine
}

const PARAMETERS: Parameters = Parameters {
    alpha: 2.0,
    p: 3.0,
    p_forall: 2.0,
};

fn step(bencher: divan::Bencher, mut engine: Engine<f32>, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool");
    bencher.bench_local(|| {
        let loss = pool.install(|| {
            let value = engine.evaluate_with_gradients(&PARAMETERS);
            value.expect("a loss").loss
        });
        black_box(loss)
    });
}

#[divan::bench(args = [1, 2])]
fn clustering_logltn(bencher: divan::Bencher, threads: usize) {
    step(bencher, clustering("logltn"), threads);
}

#[divan::bench(args = [1, 2])]
fn clustering_stable(bencher: divan::Bencher, threads: usize) {
    step(bencher, clustering("stable"), threads);
}

/// By the number of clusters, on one thread.
#[divan::bench(args = [5, 16, 50, 150])]
fn clusters_logltn(bencher: divan::Bencher, clusters: usize) {
    step(
        bencher,
        engine(problems::clustering(801, clusters, 16), "logltn"),
        1,
    );
}

#[divan::bench(args = [1, 2])]
fn addition_logltn(bencher: divan::Bencher, threads: usize) {
    step(bencher, addition("logltn"), threads);
}

/// By the number of digits, on one thread.
#[divan::bench(args = [1, 2, 4, 15])]
fn columns_logltn(bencher: divan::Bencher, digits: usize) {
    step(bencher, engine(problems::columns(digits), "logltn"), 1);
}

#[divan::bench]
fn addition_batch_and_step(bencher: divan::Bencher) {
    let mut engine = addition("logltn");
    let table = engine
        .plan()
        .data()
        .theory()
        .table("sums")
        .expect("a table");
    let mut first = 0;
    bencher.bench_local(|| {
        first = (first + 32) % 14_000;
        let batch: [u32; 32] = std::array::from_fn(|i| first + i as u32);
        engine.set_batches([(table, &batch[..])]).expect("a batch");
        let loss = engine
            .evaluate_with_gradients(&PARAMETERS)
            .expect("a loss")
            .loss;
        black_box(loss)
    });
}
