//! How a step gets quicker with threads: `cargo run --release -p logltn --example threads [THREADS …]`, by default 1, 2, 4, 8
//! and 16, as far as the machine has this many. `POINTS=1000000` takes another size than 100,000 points.
//!
//! For each number of threads: the median time of a step (loss and gradient, single precision) over points with 20 neighbours
//! each and 5 clusters, and how many times quicker it is than with one. The loss and every derivative must be the same bits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use logltn::{Engine, Parameters, Plan, Semantics};

#[allow(dead_code)] // others are grown, not shared
#[path = "growth/problems.rs"]
mod problems;
use problems::{clustering, random};

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads: Vec<usize> = (std::env::args().skip(1))
        .map(|n| n.parse().expect("a number of threads"))
        .collect();
    if threads.is_empty() {
        threads = [1, 2, 4, 8, 16]
            .into_iter()
            .filter(|n| *n <= cores)
            .collect();
    }
    let points = std::env::var("POINTS").map_or(100_000, |n| n.parse().expect("a number"));
    let begin = Instant::now();
    let (data, outputs) = clustering(points, 5, 3);
    let made = begin.elapsed();
    let plan = Plan::new(&data, &outputs, &Semantics::default()).expect("a plan");
    let groundings: u128 = plan.axioms().iter().map(|a| a.groundings).sum();
    println!(
        "{groundings} groundings, {cores} cores, planned in {:.2?}",
        begin.elapsed() - made
    );
    println!("| threads | step | quicker |\n|---|---|---|");
    let plan = Arc::new(plan);
    let mut alone: Option<(Duration, Vec<u32>)> = None;
    for count in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = Arc::new(pool.expect("threads"));
        let mut engine = Engine::<f32>::new(Arc::clone(&plan));
        engine.run_in(Arc::clone(&pool));
        let mut state = 3;
        for request in 0..engine.requests().len() {
            for x in engine.numbers_mut(request) {
                *x = 4.0 * random(&mut state) as f32 - 2.0;
            }
        }
        let step = pool.install(|| median(&mut engine));
        let bits: Vec<u32> = (0..engine.requests().len())
            .flat_map(|request| engine.gradient(request).iter().map(|g| g.to_bits()))
            .collect();
        let (one, expected) = alone.get_or_insert((step, bits.clone()));
        assert!(*expected == bits, "other bits with {count} threads");
        let quicker = one.as_secs_f64() / step.as_secs_f64();
        println!(
            "| {count} | {:.2} ms | {quicker:.2} |",
            step.as_secs_f64() * 1e3
        );
    }
}

/// Of as many steps as fit into two seconds, but at least 9.
fn median(engine: &mut Engine<f32>) -> Duration {
    let parameters = Parameters::default();
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 10 || begin.elapsed() < Duration::from_secs(2) {
        let start = Instant::now();
        engine.evaluate_with_gradients(&parameters).expect("a loss");
        times.push(start.elapsed());
    }
    // The first makes room.
    times.remove(0);
    times.sort();
    times[times.len() / 2]
}
