//! Closed forms as products of matrices: the same as row by row, whatever else is in the form and whichever rows are asked for.

use logltn::{ColumnData, Diagnostics, Output};
use logltn_learn::random::Random;
use logltn_learn::{
    Builder, ClosedForm, Constant, Individuals, Known, Metric, MetricKind, Network, Optimizer,
    Session,
};
use logltn_nn::Activation;

const ENTITIES: usize = 300;
const RELATIONS: usize = 5;
const WIDTH: usize = 69;

/// Facts, what they do not lead to and what does not lead to them, some of it left out by a guard; and rows that are in no
/// grid.
const THEORY: &str = "
    sort Entity  sort Relation  table train(h: Entity, r: Relation, t: Entity)
    predicate linked(Entity, Relation, Entity)
    axiom facts: forall (h, r, t) in train. linked(h, r, t)
    axiom tails: forall (h, r, _t) in train. forall e: Entity where not train(h, r, e). not linked(h, r, e)
    axiom heads: forall (_h, r, t) in train. forall e: Entity. not linked(e, r, t)";

fn builder(form: &str) -> Builder {
    let mut random = Random::new(3, 0);
    let mut column = |size: usize, rows: usize| {
        ColumnData::Individuals((0..rows).map(|_| random.below(size) as u32).collect())
    };
    let mut facts = |rows: usize| [ENTITIES, RELATIONS, ENTITIES].map(|size| column(size, rows));
    let (train, asked) = (facts(400).to_vec(), facts(40).to_vec());
    let metric = |of: usize| {
        let rows = asked.clone();
        let filter = vec![("train".into(), vec![0, 1, 2])];
        let known = Known::Facts {
            rows,
            of,
            filter,
            k: 0,
        };
        let mut metric = Metric::new(MetricKind::Mrr, "linked", known);
        metric.name = Some(format!("of {of}"));
        metric
    };
    let form = ClosedForm::logit(form).args(["h", "r", "t"]);
    Session::builder(THEORY)
        .sort("Entity", Individuals::from(ENTITIES).learnable(WIDTH))
        .sort("Relation", Individuals::from(RELATIONS).learnable(WIDTH))
        .sample("Entity", 24)
        .batched("train", 50, train)
        .closed_form("linked", form.learn("scale", 0.7))
        .training(|training| {
            training.optimizer = Optimizer::Sgd {
                momentum: 0.0,
                weight_decay: 0.0,
            }
        })
        .metric(metric(0))
        .metric(metric(2))
        .learning_rate(1.0)
        .epochs(1)
}

/// How all weights have moved after some steps, and the metrics.
fn trained(form: &str) -> Result<(Vec<f32>, Vec<f64>), Diagnostics> {
    let mut session = builder(form).build()?;
    let weights = |session: &mut Session| {
        let (weights, mut all) = (session.weights(), Vec::new());
        for name in ["embedding.Entity", "embedding.Relation", "linked.scale"] {
            all.extend_from_slice(weights.tensor(name).expect("it is learnt").1);
        }
        all
    };
    let before = weights(&mut session);
    for _ in 0..4 {
        assert!(session.step()?.gradient_norm > 0.0);
    }
    let after = weights(&mut session).into_iter().zip(before);
    let metrics = session.measure()?.into_iter();
    Ok((
        after.map(|(a, b)| a - b).collect(),
        metrics.map(|(_, value)| value).collect(),
    ))
}

/// Each form twice: as a product of matrices, and so that it is computed row by row.
#[test]
fn the_same_as_row_by_row() -> Result<(), Diagnostics> {
    for (form, by_rows) in [
        (
            "sum(h * r * t) + 0 * scale",
            "sum((h + 0) * r * (t + 0)) + 0 * scale",
        ),
        (
            "scale * mean(h * r * t)",
            "scale * mean((h + 0) * r * (t + 0))",
        ),
        (
            "tanh(sum(h * r * t)) + scale * norm(h + r - t)",
            "tanh(sum((h + 0) * r * (t + 0))) + scale * norm(h + r - t)",
        ),
        (
            "dot(h, t) * scale + sum(r * t) - exp(-sum(h * r * t))",
            "dot(h + 0, t + 0) * scale + sum((r + 0) * (t + 0)) - exp(-sum((h + 0) * r * (t + 0)))",
        ),
        (
            "sum(h * t * t) - scale * sum(h * r)",
            "sum((h + 0) * t * t) - scale * sum((h + 0) * (r + 0))",
        ),
    ] {
        let (one, metrics) = trained(form)?;
        let (other, expected) = trained(by_rows)?;
        let size = one.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let apart = one
            .iter()
            .zip(&other)
            .fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
        assert!(
            size > 0.0 && apart <= 1e-4 * size,
            "{form}: {apart} of {size}"
        );
        for (found, expected) in metrics.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-3,
                "{form}: {found}, {expected}"
            );
        }
    }
    Ok(())
}

/// The same bits on any number of threads.
#[test]
fn threads_change_nothing() -> Result<(), Diagnostics> {
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| trained("scale * sum(h * r * t)"))
    };
    let (one, three) = (of(1)?, of(3)?);
    assert_eq!(one, three);
    Ok(())
}

/// Embeddings behind a closed form, a network and a table of numbers: of each a step reads some.
fn sparse(optimizer: Optimizer) -> Result<Session, Diagnostics> {
    let theory = format!(
        "{THEORY}
        constant someone: Entity
        predicate kind(Entity)  predicate near(Entity, Relation)
        axiom kinds: forall (h, _r, t) in train. kind(h) -> not kind(t) or kind(someone)
        axiom nears: forall (h, r, _t) in train. near(h, r)"
    );
    let mut random = Random::new(5, 0);
    let mut column = |size: usize| {
        ColumnData::Individuals((0..400).map(|_| random.below(size) as u32).collect())
    };
    let train = [ENTITIES, RELATIONS, ENTITIES].map(&mut column).to_vec();
    let form = ClosedForm::logit("sum(h * r * t)").args(["h", "r", "t"]);
    Session::builder(theory)
        .sort("Entity", Individuals::from(ENTITIES).learnable(WIDTH))
        .sort("Relation", Individuals::from(RELATIONS).learnable(WIDTH))
        .constant("someone", Constant::Learnable(WIDTH))
        .sample("Entity", 10)
        .batched("train", 10, train)
        .closed_form("linked", form)
        .predicate(
            "kind",
            Network::mlp(&[4], Activation::Tanh),
            Output::sigmoid(),
        )
        .learnable("near", 0.0, Output::sigmoid())
        .training(|training| training.optimizer = optimizer)
        .learning_rate(0.01)
        .epochs(1)
        .build()
}

/// Adam has nothing to remember at first, so that rows without a gradient stay with it, too.
#[test]
fn the_first_step_is_that_of_adam() -> Result<(), Diagnostics> {
    let first = |optimizer| -> Result<_, Diagnostics> {
        let mut session = sparse(optimizer)?;
        let step = session.step()?;
        Ok((step.loss, step.gradient_norm, session.weights()))
    };
    let (one, other) = (first(Optimizer::SparseAdam)?, first(Optimizer::Adam)?);
    assert_eq!((one.0, &one.2), (other.0, &other.2));
    assert!((one.1 - other.1).abs() < 1e-9 * one.1);
    Ok(())
}

/// What the steps before have left behind is nothing.
#[test]
fn goes_on_as_one_that_begins_there() -> Result<(), Diagnostics> {
    let mut whole = sparse(Optimizer::SparseAdam)?;
    for step in 0..8 {
        let mut other = sparse(Optimizer::SparseAdam)?;
        other.restore(&whole.state())?;
        let (one, two) = (whole.step()?, other.step()?);
        assert_eq!(
            (one.loss, one.gradient_norm),
            (two.loss, two.gradient_norm),
            "{step}"
        );
        assert_eq!(whole.state(), other.state(), "{step}");
    }
    Ok(())
}
