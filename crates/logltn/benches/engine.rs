//! The two axioms that the paper's experiments spend their time in: `cargo bench -p logltn --bench engine`.
//!
//! Clustering: 801 points in 16 dimensions, a guard that keeps 2.5 % of the pairs, 5 clusters. Addition:
//! a batch of 32 sums of two two-digit numbers. Columns: the same for 1, 2, 4 and 15 digits. Loss and gradient, in single precision.

use std::hint::black_box;

use logltn::{ColumnData, Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};

fn main() {
    divan::main();
}

/// A reproducible number in [0, 1).
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1_u64 << 31) as f64
}

fn clustering(semantics: &str) -> Engine<f32> {
    let theory = Theory::parse(Source::new("clustering.ltn", "
        sort Point  sort Cluster = 0..4  param near  predicate C(Point, Cluster)
        axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
        axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
        axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)"))
        .expect("a theory");
    let (points, width) = (801, 16);
    let mut state = 1;
    let centres: Vec<f64> = (0..5 * width).map(|_| 20.0 * random(&mut state)).collect();
    let features: Vec<f64> = (0..points * width)
        .map(|i| {
            let class = (i / width) % 5;
            centres[class * width + i % width]
                + 6.0 * (random(&mut state) + random(&mut state) - 1.0)
        })
        .collect();
    let mut distances = Vec::new();
    for a in features.chunks(width) {
        distances.extend(features.chunks(width).map(|b| logltn::euclidean(a, b)));
    }
    distances.sort_by(f64::total_cmp);
    let mut data = Data::new(&theory);
    data.set_features("Point", width, features)
        .expect("features");
    data.set_param("near", distances[distances.len() / 40])
        .expect("a param");
    let semantics = Semantics::named(semantics).expect("a semantics");
    let plan = Plan::new(&data, &[Output::softmax()], &semantics).expect("a plan");
    filled(Engine::new(plan))
}

fn addition(semantics: &str) -> Engine<f32> {
    let theory = Theory::parse(Source::new(
        "addition.ltn",
        "
        sort Image  sort Digit = 0..9  predicate digit(Image, Digit)
        table sums(x1: Image, x2: Image, y1: Image, y2: Image, n: Int)
        axiom addition: forall (x1, x2, y1, y2, n) in sums.
            exists d1, d2, d3, d4: Digit where 10*d1 + d2 + 10*d3 + d4 = n.
                digit(x1, d1) and digit(x2, d2) and digit(y1, d3) and digit(y2, d4)",
    ))
    .expect("a theory");
    let rows = 15_000;
    let mut state = 2;
    let mut data = Data::new(&theory);
    data.set_size("Image", 4 * rows).expect("a size");
    let mut columns: Vec<ColumnData> = (0..4)
        .map(|k| ColumnData::Individuals((0..rows as u32).map(|i| k * rows as u32 + i).collect()))
        .collect();
    let digit = |state: &mut u64| (10.0 * random(state)) as i64;
    columns.push(ColumnData::Int(
        (0..rows)
            .map(|_| {
                10 * (digit(&mut state) + digit(&mut state)) + digit(&mut state) + digit(&mut state)
            })
            .collect(),
    ));
    data.set_rows("sums", columns).expect("rows");
    data.set_batched("sums").expect("a table");
    let semantics = Semantics::named(semantics).expect("a semantics");
    let plan = Plan::new(&data, &[Output::softmax()], &semantics).expect("a plan");
    let mut engine = Engine::new(plan);
    let table = theory.table("sums").expect("a table");
    let batch: Vec<u32> = (0..32).collect();
    engine.set_batch(table, &batch).expect("a batch");
    filled(engine)
}

/// A batch of 32 sums of two numbers of so many digits, one equation per column with carries as variables.
fn columns(digits: usize) -> Engine<f32> {
    let join = |parts: Vec<String>, with: &str| parts.join(with);
    let names = |name: &str, after: &str| {
        join(
            (0..digits).map(|i| format!("{name}{i}{after}")).collect(),
            ", ",
        )
    };
    let sums = |after: &str| join((0..=digits).map(|i| format!("s{i}{after}")).collect(), ", ");
    let carries = join((0..=digits).map(|i| format!("c{i}")).collect(), ", ");
    let mut equations: Vec<String> = (0..digits)
        .map(|i| format!("a{i} + b{i} + c{i} = s{i} + 10*c{}", i + 1))
        .collect();
    equations.push(format!("c0 = 0 and c{digits} = s{digits}"));
    let literals = (0..digits)
        .map(|i| format!("digit(x{i}, a{i}) and digit(y{i}, b{i})"))
        .collect();
    let text = format!(
        "sort Image  sort Digit = 0..9  sort Carry = 0..1  predicate digit(Image, Digit)
        table sums({}, {}, {})
        axiom addition: forall ({}, {}, {}) in sums.
            exists {}, {}: Digit, {carries}: Carry where {}. {}",
        names("x", ": Image"),
        names("y", ": Image"),
        sums(": Int"),
        names("x", ""),
        names("y", ""),
        sums(""),
        names("a", ""),
        names("b", ""),
        join(equations, " and "),
        join(literals, " and "),
    );
    let theory = Theory::parse(Source::new("columns.ltn", text)).expect("a theory");
    let rows = 30_000 / digits;
    let mut state = 4;
    let mut data = Data::new(&theory);
    data.set_size("Image", 2 * digits * rows).expect("a size");
    let mut columns: Vec<ColumnData> = (0..2 * digits as u32)
        .map(|k| ColumnData::Individuals((0..rows as u32).map(|i| k * rows as u32 + i).collect()))
        .collect();
    let mut sums: Vec<Vec<i64>> = vec![Vec::with_capacity(rows); digits + 1];
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
    data.set_batched("sums").expect("a table");
    let plan = Plan::new(&data, &[Output::softmax()], &Semantics::default()).expect("a plan");
    let mut engine = Engine::new(plan);
    let batch: Vec<u32> = (0..32).collect();
    let table = theory.table("sums").expect("a table");
    engine.set_batch(table, &batch).expect("a batch");
    filled(engine)
}

fn filled(mut engine: Engine<f32>) -> Engine<f32> {
    let mut state = 3;
    for request in 0..engine.requests().len() {
        for x in engine.numbers_mut(request) {
            *x = 4.0 * random(&mut state) as f32 - 2.0;
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

#[divan::bench(args = [1, 2])]
fn addition_logltn(bencher: divan::Bencher, threads: usize) {
    step(bencher, addition("logltn"), threads);
}

/// By the number of digits, on one thread.
#[divan::bench(args = [1, 2, 4, 15])]
fn columns_logltn(bencher: divan::Bencher, digits: usize) {
    step(bencher, columns(digits), 1);
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
        engine.set_batch(table, &batch).expect("a batch");
        let loss = engine
            .evaluate_with_gradients(&PARAMETERS)
            .expect("a loss")
            .loss;
        black_box(loss)
    });
}

/// As many exponentials and logarithms as a clustering step needs for its 80,000 implications, in blocks that stay in
/// cache: the share of the step that is arithmetic of that kind.
#[divan::bench]
fn bound_exp_and_log(bencher: divan::Bencher) {
    use logltn::vector::Real;
    let mut state = 4;
    let differences: Vec<f32> = (0..1024).map(|_| 5.0 * random(&mut state) as f32).collect();
    let (mut x, mut e) = (differences.clone(), vec![0.0; 1024]);
    bencher.bench_local(|| {
        for _ in 0..80_195 / 1024 + 1 {
            x.copy_from_slice(&differences);
            f32::kernels().log1p_exp_neg_with_exp(&mut x, &mut e);
            black_box((&x, &e));
        }
    });
}

/// Two numbers read from, and two added to, tables of 4,005 for each of the 80,000 implications: what the memory side
/// of a clustering step costs at least.
#[divan::bench]
fn bound_gather_and_scatter(bencher: divan::Bencher) {
    let mut state = 5;
    let pairs = 16_039;
    // Sorted by the first, as the plan lists them: 20 neighbours for each point.
    let first: Vec<u32> = (0..pairs).map(|i| (i / 20).min(800) * 5).collect();
    let second: Vec<u32> = (0..pairs)
        .map(|_| (801.0 * random(&mut state)) as u32 * 5)
        .collect();
    let table: Vec<f32> = (0..4005).map(|_| random(&mut state) as f32).collect();
    let mut by = [vec![0.0_f32; 4005], vec![0.0_f32; 4005]];
    bencher.bench_local(|| {
        for class in 0..5 {
            for (&a, &b) in first.iter().zip(&second) {
                let (a, b) = ((a + class) as usize, (b + class) as usize);
                let value = table[a] + table[b];
                by[0][a] += value;
                by[1][b] += value;
            }
        }
        black_box(&by);
    });
}
