//! How time and memory grow with the number of points, clusters, axioms and digits:
//! `cargo run --release -p logltn --example growth [points|clusters|pairs|axioms|digits]`; `MOST=10000` stops at 10,000 points.
//!
//! For each size: the groundings kept, the processor time of planning and of making an engine, the greatest amount of
//! heap until a step is done, the processor time of a step (loss and gradient, single precision, all threads) and the
//! time of the fastest. The last column is the exponent of a step's processor time in the number of groundings since
//! the row before: 1 is linear.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logltn::{Engine, Parameters, Plan, Semantics};

#[allow(dead_code)] // others are counted, not grown
mod problems;
use problems::{Problem, clustering, columns, parts, random, unequal};

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

/// The processor time of all threads so far, which a busy machine does not change much; the time of day elsewhere.
fn processor_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let by_thread = std::fs::read_dir("/proc/self/task").map(|threads| {
        let times = threads.flatten().filter_map(|thread| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        times.sum()
    });
    match by_thread {
        Ok(nanoseconds) => Duration::from_nanos(nanoseconds),
        Err(_) => START.get_or_init(Instant::now).elapsed(),
    }
}

fn main() {
    // Inside a pool, as a training is: then a step need not wake one.
    let pool = rayon::ThreadPoolBuilder::new().build().expect("threads");
    pool.install(all);
}

fn all() {
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
    if run("pairs") {
        let sizes = [100, 300, 1_000, 3_000];
        series("individuals, all pairs of two", &sizes, unequal);
    }
    if run("axioms") {
        series("axioms over 32 pairs", &[60, 600, 6_000], parts);
    }
    if run("digits") {
        series("digits, 32 sums", &[1, 2, 4, 8, 15], columns);
    }
}

fn series(title: &str, sizes: &[usize], problem: impl Fn(usize) -> Problem) {
    println!("\n| {title} | groundings | plan | engine | most heap | step | fastest | exponent |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut before: Option<(f64, f64)> = None;
    for &size in sizes {
        let (data, outputs) = problem(size);
        let base = NOW.load(Ordering::Relaxed);
        MOST.store(base, Ordering::Relaxed);
        let (plan, planned) = timed(|| Plan::new(&data, &outputs, &Semantics::default()));
        let plan = plan.expect("a plan");
        let groundings: u128 = plan.axioms().iter().map(|a| a.groundings).sum();
        let (mut engine, made) = timed(|| Engine::<f32>::new(plan));
        let mut state = 3;
        for request in 0..engine.requests().len() {
            for x in engine.numbers_mut(request) {
                *x = 4.0 * random(&mut state) as f32 - 2.0;
            }
        }
        let (step, fastest) = steps(&mut engine);
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
            time(fastest)
        );
    }
}

/// Processor time, which is counted in ticks of some milliseconds: what is shorter takes the time of day.
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let (start, begin) = (processor_time(), Instant::now());
    let made = run();
    let (taken, passed) = (processor_time() - start, begin.elapsed());
    let short = passed < Duration::from_millis(10);
    (made, if short { passed } else { taken })
}

fn time(t: Duration) -> String {
    match t.as_secs_f64() {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// The processor time of a step and the time of the fastest, over as many as fit into a second, but at least 5.
fn steps(engine: &mut Engine<f32>) -> (Duration, Duration) {
    let parameters = Parameters::default();
    let mut fastest = Duration::MAX;
    let mut count = 0;
    engine.evaluate_with_gradients(&parameters).expect("a loss");
    let (begin, start) = (Instant::now(), processor_time());
    while count < 5 || begin.elapsed() < Duration::from_secs(1) {
        let start = Instant::now();
        engine.evaluate_with_gradients(&parameters).expect("a loss");
        fastest = fastest.min(start.elapsed());
        count += 1;
    }
    ((processor_time() - start) / count, fastest)
}
