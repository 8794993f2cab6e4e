//! After the first steps, closed forms ask for no memory. On its own, because the allocator is the whole program's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use logltn::{ColumnData, Engine, Parameters, Plan, Semantics};
use logltn_learn::{ClosedForm, Individuals, Model, Network, Session};
use logltn_nn::Activation;

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often 20 steps ask for memory: of closed forms over embeddings, and perhaps over a network.
fn count(entities: usize, network: bool) -> usize {
    let mut theory = "sort E  sort R  predicate near(E, E)  predicate linked(E, R, E)
        axiom a: forall x, y: E. near(x, y) -> near(y, x)
        axiom b: forall x, y: E. linked(x, likes, y) -> linked(x, knows, y) and near(x, y)"
        .to_string();
    if network {
        theory += " table prices(x: E, y: Real)  function f(E): Real  predicate eq(Real, Real)
            axiom c: forall (x, y) in prices. eq(f(x), y)";
    }
    let mut builder = Session::builder(theory)
        .sort("E", Individuals::from(entities).learnable(20))
        .sort("R", Individuals::named(["likes", "knows"]).learnable(20))
        .closed_form(
            "near",
            ClosedForm::logit("margin - dist(a1, a2)").learn("margin", 1.0),
        )
        .closed_form(
            "linked",
            ClosedForm::logit("sum(a1 * a2 * a3) - norm(tanh(a1) - a3)"),
        );
    if network {
        let columns = vec![
            ColumnData::Individuals((0..entities as u32).collect()),
            ColumnData::Real(vec![1.5; entities]),
        ];
        builder = builder
            .table("prices", columns)
            .function("f", Network::mlp(&[4], Activation::Tanh))
            .closed_form(
                "eq",
                ClosedForm::log_truth("-softplus(rate) * dist(a1, a2)").learn("rate", 0.5),
            );
    }
    let session = (builder.steps(1).build()).unwrap_or_else(|errors| panic!("{errors}"));
    let knowledge = session.knowledge();
    let semantics = Semantics::default();
    let plan = Plan::new(&knowledge.data, &knowledge.outputs, &semantics).expect("a plan");
    let mut engine = Engine::<f32>::new(plan);
    let mut model = Model::new(knowledge, 0).expect("a model");
    model.attach(knowledge, &engine).expect("feeds");
    let mut step = || {
        model.forward(&mut engine, false).expect("numbers");
        let value = engine.evaluate_with_gradients(&Parameters::default());
        assert!(value.expect("a value").loss > 0.0);
        model.backward(&engine);
    };
    (0..3).for_each(|_| step());
    let before = COUNT.load(Ordering::Relaxed);
    (0..20).for_each(|_| step());
    COUNT.load(Ordering::Relaxed) - before
}

#[test]
fn a_step_asks_for_no_memory() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    pool.expect("threads").install(|| {
        // One lane, and several: whatever the size, nothing depends on the rows.
        let (few, many) = (count(5, false), count(150, false));
        assert!(few <= 40 && many <= few, "{few}, {many}");
        // The networks' gradients have their own.
        let (few, many) = (count(5, true), count(150, true));
        assert!(few <= 100 && many <= few + 20, "{few}, {many}");
    });
}
