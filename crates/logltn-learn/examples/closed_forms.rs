//! How much of a step of a knowledge graph its scorer takes, and how much the engine:
//! `cargo run --release -p logltn-learn --example closed_forms`.

use std::time::{Duration, Instant};

use logltn::{ColumnData, Diagnostics, Engine, Parameters, Plan, Semantics};
use logltn_learn::{ClosedForm, Individuals, Model, Session};

const ENTITIES: u32 = 1000;
const WIDTH: usize = 32;
const STEPS: usize = 20;

const TRANSE: &str = "margin - norm(h + r - t)";
const DISTMULT: &str = "sum(h * r * t) - margin";

/// Rules of three variables, the first two of them related by facts.
const GUARDED: &str = "
    axiom facts: forall (x, y) in parents. linked(x, parent, y)
    axiom grand: forall x, y, z: E where parents(x, y) and parents(y, z).
        linked(x, parent, y) and linked(y, parent, z) -> linked(x, grand, z)
    axiom back: forall x, y, z: E where parents(x, y) and parents(x, z).
        linked(x, parent, y) and linked(x, parent, z) -> linked(y, sibling, z)
    axiom uncle: forall x, y, z: E where parents(x, y) and parents(z, x).
        linked(x, sibling, y) and linked(z, parent, x) -> linked(z, uncle, y)";

/// Rules over all pairs, the third variable related to the first by facts.
const OPEN: &str = "
    axiom facts: forall (x, y) in parents. linked(x, parent, y)
    axiom older: forall x, y, z: E where parents(x, y).
        linked(x, parent, y) and linked(y, older, z) -> linked(x, older, z)
    axiom not_both: forall x, y: E. linked(x, older, y) -> not linked(y, older, x)";

fn main() -> Result<(), Diagnostics> {
    let threads = rayon::current_num_threads();
    println!("{ENTITIES} entities of {WIDTH} numbers, {threads} threads; medians of {STEPS} steps");
    for (rules, axioms) in [("guarded rules", GUARDED), ("open rules", OPEN)] {
        for (name, form) in [("TransE", TRANSE), ("DistMult", DISTMULT)] {
            measure(&format!("{rules}, {name}"), axioms, form)?;
        }
    }
    Ok(())
}

fn measure(title: &str, axioms: &str, form: &str) -> Result<(), Diagnostics> {
    let theory =
        format!("sort E  sort R  table parents(x: E, y: E)  predicate linked(E, R, E) {axioms}");
    // Each has ten children, anywhere.
    let pairs = (0..10 * ENTITIES).map(|i| (i / 10, i.wrapping_mul(2_654_435_761) % ENTITIES));
    let (from, to) = pairs.unzip();
    let session = Session::builder(theory)
        .sort("E", Individuals::from(ENTITIES as usize).learnable(WIDTH))
        .sort(
            "R",
            Individuals::named(["parent", "grand", "sibling", "uncle", "older"]).learnable(WIDTH),
        )
        .table(
            "parents",
            vec![ColumnData::Individuals(from), ColumnData::Individuals(to)],
        )
        .closed_form(
            "linked",
            ClosedForm::logit(form)
                .args(["h", "r", "t"])
                .learn("margin", 1.0),
        )
        .steps(1)
        .build()?;
    let knowledge = session.knowledge();
    let plan = Plan::new(&knowledge.data, &knowledge.outputs, &Semantics::default())?;
    let groundings: u128 = plan.axioms().iter().map(|axiom| axiom.groundings).sum();
    let mut engine = Engine::<f32>::new(plan);
    let mut model = Model::new(knowledge, 0)?;
    model.attach(knowledge, &engine)?;
    let rows: usize = engine.requests().iter().map(|request| request.rows()).sum();
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..STEPS + 3 {
        let start = Instant::now();
        model.forward(&mut engine, false)?;
        let forward = Instant::now();
        engine.evaluate_with_gradients(&Parameters::default())?;
        let engine_done = Instant::now();
        model.backward(&engine);
        times[0].push(forward - start);
        times[1].push(engine_done - forward);
        times[2].push(engine_done.elapsed());
    }
    let [forward, engine, backward] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    });
    let share = 100.0 * engine / (forward + engine + backward);
    println!(
        "{title}: {groundings} groundings, {rows} rows; forward {forward:.2} ms, engine {engine:.2} ms, \
         backward {backward:.2} ms: the engine has {share:.0} %"
    );
    Ok(())
}
