//! Memory: lists of what guards keep, never a grid; and nothing asked for after the first step.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use logltn::{
    Answers, AxiomParameters, ColumnData, Data, Engine, Output, Parameters, Plan, PlanOptions,
    Semantics, Source, Theory,
};

/// Counts what the allocator is asked for.
struct Counting;

static CURRENT: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);
static COUNT_CALLS: AtomicBool = AtomicBool::new(false);

// SAFETY: hands everything to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = CURRENT.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        if COUNT_CALLS.load(Relaxed) {
            CALLS.fetch_add(1, Relaxed);
        }
        // SAFETY: as of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CURRENT.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as of the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1_u64 << 31) as f64
}

fn fill(engine: &mut Engine<f32>, seed: u64) {
    let mut state = seed;
    for request in 0..engine.requests().len() {
        for x in engine.numbers_mut(request) {
            *x = 4.0 * random(&mut state) as f32 - 2.0;
        }
    }
}

/// One test, since the counters are the process's: the tests of a file run side by side.
#[test]
fn flat_memory_and_no_allocation_per_step() {
    clustering_stays_small();
    addition_allocates_nothing_per_step();
    parameters_of_single_axioms_allocate_nothing_per_step();
    questions_take_memory_for_their_answers_only();
}

fn clustering_stays_small() {
    let before = CURRENT.load(Relaxed);
    let theory = Theory::parse(Source::new("clustering.ltn", "
        sort Point  sort Cluster = 0..4  param near  predicate C(Point, Cluster)
        axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
        axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
        axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)"))
        .expect("a theory");
    let mut state = 1;
    let features = (0..801 * 16).map(|_| random(&mut state)).collect();
    let mut data = Data::new(&theory);
    data.set_features("Point", 16, features).expect("features");
    data.set_param("near", 1.1).expect("a param");
    let plan = Plan::new(&data, &[Output::softmax()], &Semantics::default()).expect("a plan");
    let kept = plan.axioms()[2].groundings;
    assert!(
        (20_000..400_000).contains(&kept),
        "a guard that keeps some percent, not {kept}"
    );
    let mut engine = Engine::<f32>::new(plan);
    fill(&mut engine, 2);
    engine
        .evaluate_with_gradients(&Parameters::default())
        .expect("a loss");
    let peak = PEAK.load(Relaxed) - before;
    // The grid has 3.2 million bindings: 13 MB for a single number each. The reference's process takes
    // 930 MB; 60 MB are ours to use, program and libraries included.
    assert!(peak < 20 << 20, "{} kB", peak >> 10);
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
        let line = status
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .expect("the peak");
        let kilobytes: usize = (line.split_whitespace().nth(1))
            .and_then(|n| n.parse().ok())
            .expect("a number");
        assert!(kilobytes < 60_000, "the whole process took {kilobytes} kB");
    }
}

fn addition_allocates_nothing_per_step() {
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
    let rows = 500_u32;
    let mut columns: Vec<ColumnData> = (0..4)
        .map(|k| ColumnData::Individuals((0..rows).map(|i| k * rows + i).collect()))
        .collect();
    columns.push(ColumnData::Int(
        (0..rows).map(|i| i64::from(i % 199)).collect(),
    ));
    let mut data = Data::new(&theory);
    data.set_size("Image", 4 * rows as usize).expect("a size");
    data.set_rows("sums", columns).expect("rows");
    data.set_batched("sums").expect("a table");
    let plan = Plan::new(&data, &[Output::softmax()], &Semantics::default()).expect("a plan");
    let mut engine = Engine::<f32>::new(plan);
    let table = theory.table("sums").expect("a table");
    let mut losses = [0.0; 10];
    for (step, loss) in losses.iter_mut().enumerate() {
        let batch: [u32; 32] = std::array::from_fn(|i| (step * 37 + i * 3) as u32 % rows);
        COUNT_CALLS.store(step > 0, Relaxed);
        engine.set_batches([(table, &batch[..])]).expect("a batch");
        fill(&mut engine, step as u64);
        let parameters = Parameters {
            alpha: 1.0 + step as f64,
            ..Parameters::default()
        };
        *loss = engine
            .evaluate_with_gradients(&parameters)
            .expect("a loss")
            .loss;
        COUNT_CALLS.store(false, Relaxed);
    }
    assert!(losses.iter().all(|l| l.is_finite() && *l > 0.0));
    assert_eq!(CALLS.load(Relaxed), 0, "allocations after the first step");
}

/// Also where they change in every step, and where operators take complements.
fn parameters_of_single_axioms_allocate_nothing_per_step() {
    let theory = Theory::parse(Source::new(
        "clauses.ltn",
        "
        sort A = 0..99  predicate P(A, A)  predicate Q(A)
        axiom symmetric: forall x: A, y: A. P(x, y) -> P(y, x)
        axiom closed: forall x: A, y: A. P(x, y) and Q(x) -> Q(y)
        axiom some: forall x: A. exists y: A. P(x, y)",
    ))
    .expect("a theory");
    for semantics in ["logltn", "logltn-prob", "stable"] {
        let semantics = Semantics::named(semantics).expect("a semantics");
        let outputs = [Output::sigmoid(), Output::sigmoid()];
        let plan = Plan::new(&Data::new(&theory), &outputs, &semantics).expect("a plan");
        let mut engine = Engine::<f32>::new(plan);
        for step in 0..10 {
            let before = CALLS.load(Relaxed);
            COUNT_CALLS.store(step > 1, Relaxed);
            for axiom in 0..3 {
                let own = AxiomParameters {
                    alpha: (axiom < 2).then_some(1.0 + f64::from(step * (1 + axiom as i32))),
                    p_forall: Some(2.0 + f64::from(step)),
                    ..AxiomParameters::default()
                };
                engine.set_axiom_parameters(axiom, own).expect("parameters");
                (engine.set_weights([(axiom, f64::from(step + 1))])).expect("a weight");
            }
            fill(&mut engine, step as u64);
            let value = engine.evaluate_with_gradients(&Parameters::default());
            assert!(value.expect("a loss").loss.is_finite());
            COUNT_CALLS.store(false, Relaxed);
            assert_eq!(CALLS.load(Relaxed), before, "allocations in step {step}");
        }
    }
}

/// Ten of the bindings are kept, however many there are.
fn questions_take_memory_for_their_answers_only() {
    let theory = Theory::parse(Source::new(
        "pairs.ltn",
        "sort A  sort B  predicate P(A)  predicate Q(B)
         axiom a: forall x: A. forall y: B. exists z: B where z = y. P(x) or Q(z)",
    ))
    .expect("a theory");
    let query = theory
        .parse_query(Source::new("query", "find x: A, y: B. P(x) and not Q(y)"))
        .expect("a query");
    let peak_of = |size: usize| {
        let mut data = Data::new(&theory);
        data.set_size("A", size).expect("a size");
        data.set_size("B", size).expect("a size");
        let (outputs, semantics) = ([Output::sigmoid(); 2], Semantics::default());
        let options = PlanOptions::default();
        let plan = Plan::for_explaining(&data, &outputs, &semantics, &options).expect("a plan");
        let mut explaining = Engine::<f32>::new(plan);
        fill(&mut explaining, 3);
        let plan = Plan::for_query(&data, &outputs, &semantics, &query, &options).expect("a plan");
        let mut answering = Engine::<f32>::new(plan);
        fill(&mut answering, 4);
        let before = CURRENT.load(Relaxed);
        PEAK.store(before, Relaxed);
        let explained = explaining
            .explain(&Parameters::default(), 10)
            .expect("explained");
        assert_eq!(explained[0].groundings, (size * size) as u64);
        assert_eq!(explained[0].worst.len(), 10);
        let answers = answering
            .answers(&Parameters::default(), 10)
            .expect("answers");
        let Answers::Open { total, answers } = answers else {
            panic!("an open question");
        };
        assert_eq!((total, answers.len()), ((size * size) as u64, 10));
        PEAK.load(Relaxed) - before
    };
    let (small, large) = (peak_of(500), peak_of(1500));
    // Nine times the bindings, two million more: a byte for each would show. The tables of literals grow a little.
    assert!(large < small + (1 << 18), "{small} and {large} bytes");
}
