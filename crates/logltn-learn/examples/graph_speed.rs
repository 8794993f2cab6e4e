//! Triples per second over embeddings of 100,000 × 200 numbers: steps with sparse and with dense updates, and ranking.
//! `cargo run --release -p logltn-learn --example graph_speed`; beside PyTorch: `python bench/graph_speed.py`.

use std::time::Instant;

use logltn::{ColumnData, Diagnostics};
use logltn_learn::random::Random;
use logltn_learn::{ClosedForm, Individuals, Known, Metric, MetricKind, Optimizer, Session};

const ENTITIES: usize = 100_000;
const RELATIONS: usize = 10;
const WIDTH: usize = 200;
const FACTS: usize = 50_000;
const BATCH: usize = 512;
const NEGATIVES: usize = 64;
const STEPS: usize = 15;
const RANKED: usize = 200;

fn main() -> Result<(), Diagnostics> {
    for (name, optimizer) in [
        ("sparse_adam", Optimizer::SparseAdam),
        ("adam", Optimizer::Adam),
    ] {
        let mut session = session(optimizer)?;
        session.step()?;
        let mut fastest = f64::INFINITY;
        for _ in 0..STEPS {
            let begun = Instant::now();
            session.step()?;
            fastest = fastest.min(begun.elapsed().as_secs_f64());
        }
        println!("step, {name}: {:.0} triples/s", BATCH as f64 / fastest);
        if optimizer == Optimizer::SparseAdam {
            let begun = Instant::now();
            session.measure()?;
            let seconds = begun.elapsed().as_secs_f64();
            println!("ranking: {:.0} triples/s", RANKED as f64 / seconds);
        }
    }
    Ok(())
}

/// Each fact of a batch, and that it does not lead to some entities.
fn session(optimizer: Optimizer) -> Result<Session, Diagnostics> {
    let mut random = Random::new(0, 0);
    let mut column = |size: usize, rows: usize| {
        ColumnData::Individuals((0..rows).map(|_| random.below(size) as u32).collect())
    };
    let mut facts = |rows| {
        [ENTITIES, RELATIONS, ENTITIES]
            .map(|size| column(size, rows))
            .to_vec()
    };
    let rows = facts(RANKED);
    Session::builder(
        "sort Entity  sort Relation  table train(h: Entity, r: Relation, t: Entity)
         predicate linked(Entity, Relation, Entity)
         axiom facts: forall (h, r, t) in train. linked(h, r, t)
         axiom negatives: forall (h, r, _t) in train. forall e: Entity. not linked(h, r, e)",
    )
    .sort("Entity", Individuals::from(ENTITIES).learnable(WIDTH))
    .sort("Relation", Individuals::from(RELATIONS).learnable(WIDTH))
    .sample("Entity", NEGATIVES)
    .batched("train", BATCH, facts(FACTS))
    .closed_form(
        "linked",
        ClosedForm::logit("sum(h * r * t)").args(["h", "r", "t"]),
    )
    .training(|training| training.optimizer = optimizer)
    .metric(Metric::new(
        MetricKind::Mrr,
        "linked",
        Known::Facts {
            rows,
            of: 2,
            filter: vec![("train".into(), vec![0, 1, 2])],
            k: 0,
        },
    ))
    .learning_rate(0.001)
    .epochs(1)
    .build()
}
