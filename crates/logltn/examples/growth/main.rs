//! How time and memory grow with the number of points, clusters, axioms and digits:
//! `cargo run --release -p logltn --example growth [points|clusters|axioms|digits]`; `MOST=10000` stops at 10,000 points.
//!
//! For each size: the groundings kept, the time to plan and to make an engine, the greatest amount of heap during that
//! and after a step, and the fastest and the median time of a step (loss and gradient, single precision). The last
//! column is the exponent of the fastest step's time in the number of groundings since the row before: 1 is linear.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logltn::{Engine, Parameters, Plan, Semantics};

#[allow(dead_code)] // others are counted, not grown
mod problems;
use problems::{Problem, clustering, columns, parts, random};

/// Counts what is allocated.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let run = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    if run("points") {
        let most = std::env::var("MOST").map_or(100_000, |n| n.parse().expect("a number"));
        let sizes = [100, 1_000, 10_000, 100_000];
        let sizes: Vec<usize> = sizes.into_iter().filter(|n| *n <= most).collect();
        series("points in 3 dimensions, 20 neighbours each", &sizes, |n| {
            clustering(n, 5, 3)
        });
        series("points in 16 dimensions, 20 neighbours each", &sizes, |n| {
            clustering(n, 5, 16)
        });
    }
    if run("clusters") {
        series("clusters, 801 points", &[5, 50, 500], |n| {
            clustering(801, n, 16)
        });
    }
    if run("axioms") {
        series("axioms over 32 pairs", &[60, 600, 6_000], parts);
    }
    if run("digits") {
        series("digits, 32 sums", &[1, 2, 4, 8, 15], columns);
    }
}

fn series(title: &str, sizes: &[usize], problem: impl Fn(usize) -> Problem) {
    println!(
        "\n| {title} | groundings | plan | engine | most heap | step, fastest | median | exponent |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut before: Option<(f64, f64)> = None;
    for &size in sizes {
        let (data, outputs) = problem(size);
        let base = NOW.load(Ordering::Relaxed);
        MOST.store(base, Ordering::Relaxed);
        let start = Instant::now();
        let plan = Plan::new(&data, &outputs, &Semantics::default()).expect("a plan");
        let planned = start.elapsed();
        let groundings: u128 = plan.axioms().iter().map(|a| a.groundings).sum();
        let start = Instant::now();
        let mut engine = Engine::<f32>::new(plan);
        let made = start.elapsed();
        let mut state = 3;
        for request in 0..engine.requests().len() {
            for x in engine.numbers_mut(request) {
                *x = 4.0 * random(&mut state) as f32 - 2.0;
            }
        }
        let (step, median) = steps(&mut engine);
        let heap = (MOST.load(Ordering::Relaxed) - base) as f64 / 1e6;
        // Of digits there are exponentially many groundings, which elimination never visits.
        let work = match title.starts_with("digits") {
            true => size as f64,
            false => groundings as f64,
        };
        let seconds = step.as_secs_f64();
        let exponent = before.map_or("".to_string(), |(w, s)| {
            format!("{:.2}", (seconds / s).ln() / (work / w).ln())
        });
        before = Some((work, seconds));
        let shown = match groundings {
            0..100_000_000_000 => groundings.to_string(),
            _ => format!("{:.1e}", groundings as f64),
        };
        println!(
            "| {size} | {shown} | {} | {} | {heap:.1} MB | {} | {} | {exponent} |",
            time(planned),
            time(made),
            time(step),
            time(median)
        );
    }
}

fn time(t: Duration) -> String {
    match t.as_secs_f64() {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// The fastest and the median of as many steps as fit into a second, but at least 5.
fn steps(engine: &mut Engine<f32>) -> (Duration, Duration) {
    let parameters = Parameters::default();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 5 || (begin.elapsed() < Duration::from_secs(1) && times.len() < 1_000) {
        let start = Instant::now();
        engine.evaluate_with_gradients(&parameters).expect("a loss");
        times.push(start.elapsed());
    }
    times.sort();
    (times[0], times[times.len() / 2])
}
