//! How time and memory grow with the number of points, clusters, axioms and digits:
//! `cargo run --release -p logltn --example growth [points|clusters|axioms|digits]`.
//!
//! For each size: the groundings kept, the time to plan and to make an engine, the greatest amount of heap during that
//! and after a step, and the median time of a step (loss and gradient, single precision). The last column is the
//! exponent of the step's time in the number of groundings since the row before: 1 is linear.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logltn::{
    ColumnData, Data, Engine, Labels, Output, Parameters, Plan, Semantics, Source, Theory,
};

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

/// The data, the outputs, and which tables are batched.
type Problem = (Data, Vec<Output>);

fn series(title: &str, sizes: &[usize], problem: impl Fn(usize) -> Problem) {
    println!("\n| {title} | groundings | plan | engine | most heap | step, median | exponent |");
    println!("|---|---|---|---|---|---|---|");
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
        let step = median(&mut engine);
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
            "| {size} | {shown} | {} | {} | {heap:.1} MB | {} | {exponent} |",
            time(planned),
            time(made),
            time(step)
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

/// The median of as many steps as fit into a second, but at least 5.
fn median(engine: &mut Engine<f32>) -> Duration {
    let parameters = Parameters::default();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 5 || (begin.elapsed() < Duration::from_secs(1) && times.len() < 1_000) {
        let start = Instant::now();
        engine.evaluate_with_gradients(&parameters).expect("a loss");
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

/// A reproducible number in [0, 1).
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1_u64 << 31) as f64
}

fn parse(text: &str) -> Theory {
    Theory::parse(Source::new("growth.ltn", text)).expect("a theory")
}

/// Points around 5 centres, near if among the 20 nearest on average: dense clusters, the hard case for an index.
fn clustering(points: usize, clusters: usize, width: usize) -> Problem {
    let theory = parse(&format!(
        "sort Point  sort Cluster = 0..{}  param near  predicate C(Point, Cluster)
        axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
        axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
        axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)",
        clusters - 1
    ));
    let mut state = 1;
    let centres: Vec<f64> = (0..5 * width).map(|_| 20.0 * random(&mut state)).collect();
    let features: Vec<f64> = (0..points * width)
        .map(|i| {
            let centre = centres[(i / width) % 5 * width + i % width];
            centre + 6.0 * (random(&mut state) + random(&mut state) - 1.0)
        })
        .collect();
    let sample = points.div_ceil(200);
    let mut distances: Vec<f64> = features
        .chunks(width)
        .step_by(sample)
        .flat_map(|a| features.chunks(width).map(|b| logltn::euclidean(a, b)))
        .collect();
    let rank = points.div_ceil(sample) * 20;
    let (_, near, _) = distances.select_nth_unstable_by(rank, f64::total_cmp);
    let near = *near;
    let mut data = Data::new(&theory);
    data.set_features("Point", width, features)
        .expect("features");
    data.set_param("near", near).expect("a param");
    (data, vec![Output::softmax()])
}

/// As PASCAL-Part: one axiom per type that is a whole or a part, all over the same 32 pairs of boxes.
fn parts(axioms: usize) -> Problem {
    let theory = parse(
        "sort Box  sort Type  table pairs(x: Box, y: Box)  table ontology(whole: Type, part: Type)
        predicate type(Box, Type)  predicate part_of(Box, Box)
        axiom wholes for w: Type where exists p: Type. ontology(w, p):
            forall (x, y) in pairs. type(x, w) and part_of(y, x) -> (any p: Type where ontology(w, p). type(y, p))
        axiom parts for p: Type where exists w: Type. ontology(w, p):
            forall (x, y) in pairs. type(x, p) and part_of(x, y) -> (any w: Type where ontology(w, p). type(y, w))",
    );
    let names: Vec<String> = (0..axioms).map(|i| format!("type{i}")).collect();
    let theory = Theory::parse_with(theory.source.clone(), &Labels::new().with("Type", names))
        .expect("a theory");
    let mut data = Data::new(&theory);
    let half = axioms as u32 / 2;
    data.set_size("Box", 64).expect("a size");
    let pairs = [(0..32).collect(), (32..64).collect()].map(ColumnData::Individuals);
    data.set_rows("pairs", pairs.into()).expect("rows");
    // Each whole has three parts.
    let wholes = (0..half).flat_map(|w| [w; 3]).collect();
    let parts = (0..half).flat_map(|w| [0, 1, 2].map(|i| half + (w + i) % half));
    let ontology = [wholes, parts.collect()].map(ColumnData::Individuals);
    data.set_rows("ontology", ontology.into()).expect("rows");
    (data, vec![Output::softmax(), Output::sigmoid()])
}

/// Sums of two numbers of so many digits, one equation per column with carries as variables.
fn columns(digits: usize) -> Problem {
    let list = |count: usize, each: &dyn Fn(usize) -> String| {
        (0..count).map(each).collect::<Vec<_>>().join(", ")
    };
    let equations: Vec<String> = (0..digits)
        .map(|i| format!("a{i} + b{i} + c{i} = s{i} + 10*c{}", i + 1))
        .collect();
    let literals: Vec<String> = (0..digits)
        .map(|i| format!("digit(x{i}, a{i}) and digit(y{i}, b{i})"))
        .collect();
    let theory = parse(&format!(
        "sort Image  sort Digit = 0..9  sort Carry = 0..1  predicate digit(Image, Digit)
        table sums({}, {}, {})
        axiom addition: forall ({}, {}, {}) in sums. exists {}, {}: Digit, {}: Carry
            where {} and c0 = 0 and c{digits} = s{digits}. {}",
        list(digits, &|i| format!("x{i}: Image")),
        list(digits, &|i| format!("y{i}: Image")),
        list(digits + 1, &|i| format!("s{i}: Int")),
        list(digits, &|i| format!("x{i}")),
        list(digits, &|i| format!("y{i}")),
        list(digits + 1, &|i| format!("s{i}")),
        list(digits, &|i| format!("a{i}")),
        list(digits, &|i| format!("b{i}")),
        list(digits + 1, &|i| format!("c{i}")),
        equations.join(" and "),
        literals.join(" and "),
    ));
    let rows = 32;
    let mut data = Data::new(&theory);
    data.set_size("Image", 2 * digits * rows).expect("a size");
    let mut columns: Vec<ColumnData> = (0..2 * digits as u32)
        .map(|k| ColumnData::Individuals((0..rows as u32).map(|i| k * rows as u32 + i).collect()))
        .collect();
    let mut sums: Vec<Vec<i64>> = vec![Vec::new(); digits + 1];
    let mut state = 4;
    for _ in 0..rows {
        let mut carry = 0;
        for column in &mut sums[..digits] {
            let digit = |state: &mut u64| (10.0 * random(state)) as i64;
            let sum = digit(&mut state) + digit(&mut state) + carry;
            column.push(sum % 10);
            carry = sum / 10;
        }
        sums[digits].push(carry);
    }
    columns.extend(sums.into_iter().map(ColumnData::Int));
    data.set_rows("sums", columns).expect("rows");
    (data, vec![Output::softmax()])
}
