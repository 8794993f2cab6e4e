//! What a training does, step by step: batches, learning rates, optimizers, early stopping, warnings.

use std::sync::{Arc, Mutex};

use logltn::{ColumnData, Diagnostics, Output, Request, Semantics};
use logltn_learn::{
    Builder, By, EarlyStop, Grounding, Individuals, Known, Metric, MetricKind, Network, Optimizer,
    Schedule, Session, Step,
};
use logltn_nn::Activation;

const POINTS: [f64; 10] = [0.5, -1.0, 1.25, 0.75, -0.5, 0.25, 0.1, 1.5, -1.0, -0.5];

fn built(builder: Builder) -> Session {
    builder.build().unwrap_or_else(|errors| panic!("{errors}"))
}

fn steps(session: &mut Session) -> Vec<Step> {
    let mut found = Vec::new();
    while !session.is_done() {
        found.push(session.step().unwrap_or_else(|errors| panic!("{errors}")));
    }
    found
}

fn five_points(theory: &str) -> Builder {
    Session::builder(theory).sort("P", Individuals::features([2], POINTS.to_vec()))
}

fn tanh() -> Network {
    Network::mlp(&[4], Activation::Tanh)
}

#[test]
fn an_undecided_network_finds_all_classes_equally_likely_at_first() {
    let session = |network: Network| {
        let theory = "sort P  sort C = 0..2  predicate c(P, C)  axiom a: forall x: P. c(x, 0)";
        let builder = five_points(theory).predicate("c", network, Output::softmax());
        built(builder.steps(200))
    };
    // The other layers are as they were.
    let [with, without] = [tanh().undecided(), tanh()].map(|n| session(n).weights().tensors);
    let pairs = with.iter().zip(&without);
    let changed: Vec<&str> = pairs
        .filter(|(a, b)| a != b)
        .map(|(a, _)| a.0.as_str())
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    let steps = steps(&mut session(tanh().undecided()));
    assert!((steps[0].sat + 3f64.ln()).abs() < 1e-6, "{}", steps[0].sat);
    assert!(steps[199].sat > steps[0].sat, "it learns all the same");
}

/// A softmax starts undecided by itself where only guards tell its classes apart, and learns anyway; labels and symmetric
/// axioms leave it as it was drawn.
#[test]
fn the_axioms_decide_whether_a_softmax_starts_undecided() {
    let weights = |axiom: &str, network: Network| {
        let theory = format!("sort P  sort C = 0..2  predicate c(P, C)  axiom a: {axiom}");
        let builder = five_points(&theory).predicate("c", network, Output::softmax());
        let mut session = built(builder.steps(50));
        let first = session.weights().tensors;
        (first, steps(&mut session))
    };
    let decided = || Network {
        undecided: Some(false),
        ..tanh()
    };
    let guarded =
        "forall x, y: P where x != y. exists d, e: C where d + e = 1. c(x, d) and c(y, e)";
    let (by_itself, steps) = weights(guarded, tanh());
    assert_eq!(by_itself, weights(guarded, tanh().undecided()).0);
    assert_ne!(by_itself, weights(guarded, decided()).0);
    assert!(steps[49].sat > steps[0].sat);
    for other in [
        "forall x: P. c(x, 0)",
        "forall x: P. exists d: C. c(x, d)",
        "forall x: P, d, e: C where d != e. not (c(x, d) and c(x, e))",
    ] {
        assert_eq!(
            weights(other, tanh()).0,
            weights(other, decided()).0,
            "{other}"
        );
    }
}

/// Remembers which individuals were asked for in each step.
struct Spy {
    seen: Arc<Mutex<Vec<Vec<u32>>>>,
    parameters: [f32; 1],
    gradients: [f32; 1],
    /// How its gradient is wrong.
    factor: f32,
}

impl Grounding for Spy {
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        numbers.fill(self.parameters[0]);
        let mut seen = self.seen.lock().expect("one thread");
        seen.push(request.individuals().to_vec());
        Ok(())
    }
    fn backward(&mut self, _: &Request, by_numbers: &[f32]) {
        self.gradients[0] += by_numbers.iter().sum::<f32>() * self.factor;
    }
    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        visit("only", &mut self.parameters, &mut self.gradients);
    }
}

/// One logit for all: `forall x. p(x)` has the loss −log σ(w), whose derivative is −σ(−w).
fn one_parameter(factor: f32) -> (Builder, Arc<Mutex<Vec<Vec<u32>>>>) {
    let seen = Arc::default();
    let spy = Spy {
        seen: Arc::clone(&seen),
        parameters: [0.5],
        gradients: [0.0],
        factor,
    };
    let theory = "sort P  table t(x: P)  predicate p(P)  axiom a: forall (x) in t. p(x)";
    let rows = vec![ColumnData::Individuals(vec![0, 1, 2, 3, 4])];
    let builder = five_points(theory).table("t", rows);
    (builder.host("p", spy, Output::sigmoid()), seen)
}

fn in_twos(builder: Builder) -> Builder {
    let rows = vec![ColumnData::Individuals(vec![0, 1, 2, 3, 4])];
    builder.batched("t", 2, rows)
}

fn number(session: &mut Session) -> f32 {
    session.weights().tensors[0].2[0]
}

#[test]
fn a_gradient_that_is_not_finite_names_step_axiom_and_predicate() {
    let mut session = built(one_parameter(f32::INFINITY).0.steps(4));
    let error = session.step().expect_err("an infinite gradient");
    let error = error.to_string();
    for part in ["step 1", "network of `p`", "axiom `a`"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(session.done(), 0, "the step does not count");
}

#[test]
fn a_pass_sees_every_row_once_in_another_order_each_time() {
    let (builder, seen) = one_parameter(1.0);
    let mut session = built(in_twos(builder).epochs(4));
    assert_eq!(steps(&mut session).len(), 4 * 3);
    let seen = seen.lock().expect("one thread").clone();
    let mut orders = Vec::new();
    for pass in seen.chunks(3) {
        assert_eq!(pass.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        let mut pass = pass.to_vec();
        pass.iter_mut().for_each(|batch| batch.sort_unstable());
        let mut all = pass.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
        orders.push(pass);
    }
    orders.dedup();
    assert!(orders.len() > 1, "shuffled anew");
}

#[test]
fn a_learning_rate_may_change_by_epoch() {
    // Five rows in batches of two: three steps an epoch. The gradient is the same whatever the rows.
    let sgd = Optimizer::Sgd {
        momentum: 0.0,
        weight_decay: 0.0,
    };
    let builder = in_twos(one_parameter(1.0).0)
        .epochs(3)
        .learning_rate(by_epoch(Schedule::linear(0.3, 0.1)))
        .training(|training| training.optimizer = sgd);
    let mut session = built(builder);
    let mut w = 0.5f64;
    for rate in [0.3, 0.3, 0.3, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1] {
        session.step().expect("a step");
        w += rate / (1.0 + w.exp());
        let found = f64::from(number(&mut session));
        assert!((found - w).abs() < 1e-5, "{found} is not {w}");
    }
    assert!(session.is_done());
}

/// The optimizers written out for a single number.
#[test]
fn optimizers_do_what_their_papers_say() {
    let (rate, weight_decay, momentum) = (0.1, 0.2, 0.9);
    let same = |optimizer, clip_norm, step: &mut dyn FnMut(f64, f64, i32) -> f64| {
        let builder = one_parameter(1.0).0.steps(4).learning_rate(rate);
        let mut session = built(builder.training(|training| {
            training.optimizer = optimizer;
            training.clip_norm = clip_norm;
        }));
        let mut w = 0.5f64;
        for t in 1..=4 {
            w = step(w, -1.0 / (1.0 + w.exp()), t);
            session.step().expect("a step");
            let found = number(&mut session);
            assert!(
                (f64::from(found) - w).abs() < 1e-5,
                "{optimizer:?}: {found} {w}"
            );
        }
    };
    let adam = || {
        let (mut m, mut v) = (0.0, 0.0);
        move |g: f64, t: i32| {
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (m, v) = (m / (1.0 - 0.9_f64.powi(t)), v / (1.0 - 0.999_f64.powi(t)));
            rate * m / (v.sqrt() + 1e-8)
        }
    };
    let mut moved = adam();
    same(Optimizer::Adam, None, &mut |w, g, t| w - moved(g, t));
    let mut moved = adam();
    let decayed = |w: f64| w * (1.0 - rate * weight_decay);
    same(Optimizer::AdamW { weight_decay }, None, &mut |w, g, t| {
        decayed(w) - moved(g, t)
    });
    let mut speed = 0.0;
    let sgd = Optimizer::Sgd {
        momentum,
        weight_decay,
    };
    same(sgd, None, &mut |w, g, _| {
        speed = momentum * speed + g;
        decayed(w) - rate * speed
    });
    let plain = Optimizer::Sgd {
        momentum: 0.0,
        weight_decay: 0.0,
    };
    same(plain, Some(0.05), &mut |w, g, _| {
        w - rate * g.clamp(-0.05, 0.05)
    });
}

#[test]
fn a_metric_that_gets_no_better_stops_the_training() {
    let theory =
        "sort P  sort C = {red, green}  predicate c(P, C)  axiom a: forall x: P. c(x, red)";
    let rows = [vec![0, 1], vec![0, 0]].map(ColumnData::Individuals);
    let known = Known::Rows(rows.to_vec());
    let builder = five_points(theory)
        .predicate("c", tanh(), Output::softmax())
        .metric(Metric::new(MetricKind::Accuracy, "c", known))
        .steps(50)
        .training(|training| {
            training.measure_every = Some(2);
            training.early_stop = Some(EarlyStop {
                metric: "accuracy".into(),
                patience: 3,
            });
        });
    let mut session = built(builder);
    let mut noted = Vec::new();
    let values = [0.1, 0.5, 0.4, 0.6, 0.6, 0.2, 0.5, 0.9];
    while !session.is_done() {
        session.step().expect("a step");
        if session.measure_is_due() {
            noted.push(session.done());
            let value = values[noted.len() - 1];
            session.note_metrics(&[("accuracy(c)".to_string(), value)]);
        }
    }
    // Three evaluations without anything better than 0.6.
    assert_eq!(noted, [2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(session.done(), 14);
    let best = session.best().expect("a best one");
    assert_eq!((best.value, best.step, best.ago), (0.6, 8, 3));
    let end = session.weights();
    session.restore_best().expect("its own weights");
    assert_ne!(session.weights(), end);
}

fn warnings(axioms: &str, truth: f64) -> String {
    let theory = format!("sort P  predicate p(P)  predicate q(P)  {axioms}");
    let builder = five_points(&theory)
        .semantics(Semantics::named("lukasiewicz").expect("a semantics"))
        .numbers("p", vec![truth; 5], Output::truth())
        .predicate("q", tanh(), Output::sigmoid())
        .steps(2);
    let mut session = built(builder);
    session.step().unwrap_or_else(|errors| panic!("{errors}"));
    let first = session.balance().to_string();
    assert_eq!(first, "", "at first it may be as it should");
    session.step().unwrap_or_else(|errors| panic!("{errors}"));
    first + &session.balance().to_string()
}

#[test]
fn gradients_that_vanish_or_outweigh_the_others_are_warned_of() {
    let fine = "axiom a: forall x: P. p(x)  axiom b: forall x: P. q(x)";
    assert_eq!(warnings(fine, 0.5), "");
    let heavy =
        "axiom a (weight 0.0001): forall x: P. p(x)  axiom b (weight 100): forall x: P. q(x)";
    let said = warnings(heavy, 0.5);
    assert!(said.contains("`b` is more than 100 times"), "{said}");
    assert!(said.contains("step 2"), "{said}");
    // min(1 + y, 1) is 1 whatever y is.
    let dead = "axiom dead: forall x: P. p(x) or q(x)  axiom b: forall x: P. q(x)";
    let said = warnings(dead, 1.0);
    assert!(
        said.contains("step 2: the gradient of axiom `dead` is still zero"),
        "{said}"
    );
    assert!(!said.contains("`b`"), "{said}");
    // Several are one warning, which says no more than needed.
    let many = "axiom m0: forall x: P. p(x) or q(x)  axiom m1: forall x: P. q(x) or p(x)
                axiom m2: forall x: P. p(x) or q(x)  axiom m3: forall x: P. q(x) or p(x)
                axiom m4: forall x: P. p(x) or q(x)  axiom b: forall x: P. q(x)";
    let said = warnings(many, 1.0);
    assert_eq!(said.matches("warning").count(), 1, "{said}");
    assert!(
        said.contains("gradients of 5 axioms are still zero: `m0`, `m1`, `m2`, `m3` and 1 more"),
        "{said}"
    );
}

#[test]
fn functions_have_errors() {
    let theory = "sort P  function f(P): Real  predicate p(Real)  axiom a: forall x: P. p(f(x))";
    let rows = || vec![ColumnData::Individuals(vec![1, 3, 0, 4])];
    let known = |values: [f64; 4]| Known::Values(rows(), values.to_vec());
    let metric = |kind, values| Metric::new(kind, "f", known(values));
    let silent = || Network {
        undecided: Some(true),
        ..tanh()
    };
    let builder = |metrics: Vec<Metric>| {
        let builder = five_points(theory)
            .function("f", silent())
            .predicate("p", tanh(), Output::sigmoid())
            .steps(1);
        metrics.into_iter().fold(builder, Builder::metric)
    };
    // It says 0 of everything.
    let values = [1.0, -2.0, 3.0, 6.0];
    let kinds = [MetricKind::Rmse, MetricKind::Mae, MetricKind::R2];
    let mut session = built(builder(kinds.map(|kind| metric(kind, values)).to_vec()));
    let found = session.measure().expect("values");
    let expected = [12.5_f64.sqrt(), 3.0, 1.0 - 50.0 / 34.0];
    for ((name, value), expected) in found.iter().zip(expected) {
        assert!(
            (value - expected).abs() < 1e-12,
            "{name}: {value}, not {expected}"
        );
    }
    // Equal values leave nothing to explain.
    let error = builder(vec![metric(MetricKind::R2, [2.0; 4])])
        .build()
        .err();
    let error = error.expect("a mistake").to_string();
    assert!(error.contains("all known numbers are equal"), "{error}");
}

#[test]
fn an_error_that_gets_no_smaller_stops_the_training() {
    let theory = "sort P  function f(P): Real  predicate p(Real)  axiom a: forall x: P. p(f(x))";
    let known = Known::Values(vec![ColumnData::Individuals(vec![0])], vec![1.0]);
    let builder = five_points(theory)
        .function("f", tanh())
        .predicate("p", tanh(), Output::sigmoid())
        .metric(Metric::new(MetricKind::Mae, "f", known))
        .steps(50)
        .training(|training| {
            training.measure_every = Some(1);
            training.early_stop = Some(EarlyStop {
                metric: "mae".into(),
                patience: 2,
            });
        });
    let mut session = built(builder);
    for value in [0.5, 0.4, 0.6, 0.3, 0.3, 0.5] {
        assert!(!session.is_done());
        session.step().expect("a step");
        session.note_metrics(&[("mae(f)".to_string(), value)]);
    }
    assert!(session.is_done());
}

/// An axiom of whose batch a guard keeps nothing has no truth in that step, though it counts as true in the loss.
#[test]
fn batches_of_which_a_guard_keeps_nothing() {
    let rows = vec![
        ColumnData::Individuals(vec![0, 1, 2, 0]),
        ColumnData::Int(vec![0, 5, 0, 7]),
    ];
    let theory = "sort P  sort C = {a, b}  table t(x: P, n: Int)  predicate p(P)
        axiom all: forall (x, n) in t. p(x)
        axiom some: forall (x, n) in t where n > 3. p(x)
        axiom inner: forall c: C. forall (x, n) in t where n > 3. p(x)
        axiom beside: (forall (x, n) in t where n > 3. p(x)) and (forall y: P. p(y))
        axiom none: forall (x, n) in t where n > 9. p(x)
        axiom one: exists (x, n) in t where n > 3. p(x)";
    let builder = five_points(theory).predicate("p", tanh(), Output::sigmoid());
    let mut session = built(builder.batched("t", 1, rows).steps(8));
    let names: Vec<String> = session.axioms().iter().map(|(n, _)| n.clone()).collect();
    let mut seen = [0; 2];
    while !session.is_done() {
        let step = session.step().unwrap();
        let truth = |name: &str| step.axioms[names.iter().position(|n| n == name).unwrap()];
        let nothing = truth("some").is_nan();
        seen[usize::from(nothing)] += 1;
        assert_eq!(truth("inner").is_nan(), nothing);
        assert_eq!(truth("one") == -1e5, nothing, "an empty `exists` is false");
        assert!(!truth("all").is_nan() && !truth("beside").is_nan());
        assert_eq!(truth("none"), 0.0, "of all rows together it is true");
        let (all, beside) = (truth("all"), truth("beside"));
        let (some, one) = (if nothing { 0.0 } else { truth("some") }, truth("one"));
        let inner = if nothing { 0.0 } else { truth("inner") };
        let sat = (all + some + inner + beside + one) / 6.0;
        assert!(
            (step.loss + sat).abs() < 1e-5 * sat.abs().max(1.0),
            "{} {sat}",
            step.loss
        );
    }
    assert_eq!(seen, [4, 4]);
}

fn by_epoch(schedule: Schedule) -> Schedule {
    let by = By::Epoch;
    Schedule { by, ..schedule }
}
