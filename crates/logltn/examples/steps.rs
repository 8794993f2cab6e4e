//! Takes steps of one problem and says nothing, so that a profiler or an instruction counter sees little else; or
//! compares its time with that of a fixed loop: what `bench/guard/run` runs.
//!
//! - `steps clustering 100`: a hundred steps. Problems: clustering, addition, columns, parts, and shapes of the race.
//! - `steps kernels`: which instructions the loops use here.
//! - `steps bounds`: the fastest clustering step beside what its implications cannot do without.
//! - `steps clauses`: clustering steps by semantics and number of clusters, in one pass and node by node, in turns.
//! - `steps threads`: each problem on one thread and on two, in turns: what a second core gains. Wants a quiet machine.
//! - `steps ratios`: for each problem, the time of a step in units of the fixed loop, fastest of many, in turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use logltn::vector::Real;
use logltn::{Engine, Fusing, Parameters, Plan, Semantics};

#[path = "growth/problems.rs"]
#[allow(dead_code)] // the one that grows as well
mod problems;

const PROBLEMS: [&str; 9] = [
    "clustering",
    "addition",
    "columns",
    "parts",
    "nested",
    "product",
    "exists",
    "iff",
    "clause",
];

fn main() {
    // Inside a pool, as a training is: then a step need not wake one.
    let pool = rayon::ThreadPoolBuilder::new().build().expect("threads");
    pool.install(run);
}

fn run() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["kernels"] => println!("{}", f32::kernels().name()),
        ["ratios"] => ratios(),
        ["bounds"] => bounds(),
        ["clauses"] => clauses(),
        ["threads"] => threads(),
        [problem, steps] if PROBLEMS.contains(problem) => {
            let steps: usize = steps.parse().expect("how many steps");
            let mut problem = Steps::new(problem);
            (0..steps).for_each(|_| problem.step());
        }
        _ => {
            eprintln!(
                "usage: steps kernels | ratios | bounds | clauses | threads | ({}) STEPS",
                PROBLEMS.join("|")
            );
            std::process::exit(2);
        }
    }
}

struct Steps {
    engine: Engine<f32>,
    /// The first row of the next batch.
    next: u32,
}

impl Steps {
    fn new(problem: &str) -> Steps {
        let problem = match problem {
            "clustering" => problems::clustering(801, 5, 16),
            "addition" => problems::addition(1_024),
            "columns" => problems::columns(15),
            "parts" => problems::parts(60),
            shape => problems::shape(shape),
        };
        Steps::of(problem, &Semantics::default())
    }

    fn of((data, outputs): problems::Problem, semantics: &Semantics) -> Steps {
        let plan = Plan::new(&data, &outputs, semantics).expect("a plan");
        let mut steps = Steps {
            engine: Engine::new(plan),
            next: 0,
        };
        let mut state = 3;
        for request in 0..steps.engine.requests().len() {
            for x in steps.engine.numbers_mut(request) {
                *x = 4.0 * problems::random(&mut state) as f32 - 2.0;
            }
        }
        steps
    }

    fn step(&mut self) {
        let theory = self.engine.plan().data().theory();
        let batched = theory.table("sums").filter(|&t| {
            let data = self.engine.plan().data().table(t);
            data.is_some_and(|d| d.batched)
        });
        if let Some(table) = batched {
            let batch: [u32; 32] = std::array::from_fn(|i| (self.next + i as u32) % 1_024);
            self.next += 32;
            self.engine
                .set_batches([(table, &batch[..])])
                .expect("a batch");
        }
        let value = self.engine.evaluate_with_gradients(&Parameters::default());
        black_box(value.expect("a loss").loss);
    }
}

/// What every step is made of, in the same mixture every time: exponentials, logarithms, reading and adding to places.
fn fixed_loop(table: &mut [f32], places: &[u32]) {
    let mut x: Vec<f32> = places.iter().map(|&p| table[p as usize]).collect();
    let mut e = vec![0.0; x.len()];
    for _ in 0..8 {
        f32::kernels().log1p_exp_neg_with_exp(&mut x, &mut e);
        for (&place, &e) in places.iter().zip(&e) {
            table[place as usize] += 1e-6 * e;
        }
    }
    black_box(table);
}

fn ratios() {
    let mut state = 5;
    let mut table: Vec<f32> = (0..4_096)
        .map(|_| problems::random(&mut state) as f32)
        .collect();
    let places: Vec<u32> = (0..4_096)
        .map(|_| (4_096.0 * problems::random(&mut state)) as u32)
        .collect();
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    for name in PROBLEMS {
        let mut problem = Steps::new(name);
        problem.step();
        let mut fastest = [Duration::MAX; 2];
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
            fastest[0] = fastest[0].min(time(&mut || fixed_loop(&mut table, &places)));
            fastest[1] = fastest[1].min(time(&mut || problem.step()));
        }
        println!(
            "{name} {:.3}",
            fastest[1].as_secs_f64() / fastest[0].as_secs_f64()
        );
    }
}

/// Small clauses in one pass, and node by node.
fn clauses() {
    println!("semantics, clusters: in one go, node by node, ratio");
    for name in ["logltn", "stable"] {
        let semantics = Semantics::named(name).expect("a semantics");
        for clusters in [5, 16, 50, 150] {
            let ways = [Fusing::WhereCheaper, Fusing::Never];
            let mut both = ways.map(|fusing| {
                let mut steps = Steps::of(problems::clustering(801, clusters, 16), &semantics);
                steps.engine.set_fusing(fusing);
                steps.step();
                steps
            });
            let mut fastest = [Duration::MAX; 2];
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_secs(2) {
                for (steps, fastest) in both.iter_mut().zip(&mut fastest) {
                    let start = Instant::now();
                    steps.step();
                    *fastest = start.elapsed().min(*fastest);
                }
            }
            let [one_go, nodes] = fastest;
            let ratio = nodes.as_secs_f64() / one_go.as_secs_f64();
            println!("{name}, {clusters}: {one_go:?}, {nodes:?}, {ratio:.1}");
        }
    }
}

/// A turn is many steps; its figure is their median. Nine turns of each, one thread and two alternating.
fn threads() {
    let pools = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads")
    });
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        (times[times.len() / 2], times[0], times[times.len() - 1])
    };
    println!("| step | one thread: median (least–most) | two threads | gain |");
    println!("|---|---|---|---|");
    for name in PROBLEMS {
        let mut problem = Steps::new(name);
        let mut turns = [Vec::new(), Vec::new()];
        for _ in 0..9 {
            for (pool, turns) in pools.iter().zip(&mut turns) {
                let times = pool.install(|| {
                    let begin = Instant::now();
                    let mut times = Vec::new();
                    while begin.elapsed() < Duration::from_millis(300) {
                        let start = Instant::now();
                        problem.step();
                        times.push(start.elapsed().as_secs_f64() * 1e6);
                    }
                    times
                });
                turns.push(median(times).0);
            }
        }
        let [one, two] = turns.map(median);
        println!(
            "| {name} | {:.0} µs ({:.0}–{:.0}) | {:.0} µs ({:.0}–{:.0}) | {:.2} |",
            one.0,
            one.1,
            one.2,
            two.0,
            two.1,
            two.2,
            one.0 / two.0
        );
    }
}

/// The implications of a clustering step: 5 clusters, 801 points, their near pairs.
const IMPLICATIONS: usize = 80_195;

/// Arithmetic: one exponential and one logarithm for each implication, in blocks that stay in cache. Memory: two
/// numbers read from, and two added to, tables of 4,005 for each; the first of a pair stays the same for 20.
fn bounds() {
    let mut state = 4;
    let differences: Vec<f32> = (0..1_024)
        .map(|_| 5.0 * problems::random(&mut state) as f32)
        .collect();
    let (mut x, mut e) = (differences.clone(), vec![0.0; 1_024]);
    let second: Vec<u32> = (0..IMPLICATIONS / 5)
        .map(|_| (801.0 * problems::random(&mut state)) as u32 * 5)
        .collect();
    let table = vec![0.5_f32; 4_005];
    let mut by = [vec![0.0_f32; 4_005], vec![0.0_f32; 4_005]];
    let mut problem = Steps::new("clustering");
    let mut fastest = [Duration::MAX; 3];
    for _ in 0..2_000 {
        let start = Instant::now();
        for _ in 0..IMPLICATIONS / 1_024 + 1 {
            x.copy_from_slice(&differences);
            f32::kernels().log1p_exp_neg_with_exp(&mut x, &mut e);
            black_box((&x, &e));
        }
        fastest[0] = fastest[0].min(start.elapsed());
        let start = Instant::now();
        for class in 0..5 {
            for (first, seconds) in second.chunks(20).enumerate() {
                let first = (first * 5).min(4_000) + class;
                let mut sum = 0.0;
                for &second in seconds {
                    let second = second as usize + class;
                    let value = table[first] + table[second];
                    sum += value;
                    by[1][second] += value;
                }
                by[0][first] += sum;
            }
        }
        black_box(&by);
        fastest[1] = fastest[1].min(start.elapsed());
        let start = Instant::now();
        problem.step();
        fastest[2] = fastest[2].min(start.elapsed());
    }
    println!("exponentials and logarithms {:?}", fastest[0]);
    println!("reading and adding {:?}", fastest[1]);
    println!("step {:?}", fastest[2]);
}
