//! What a session does in memory: mistakes at once, the same bits after a restart and on any number of threads,
//! answers, code behind predicates, and what axioms have of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use logltn::{Code, ColumnData, Diagnostics, FunctionData, Output, Parameters, Request};
use logltn_learn::{
    AxiomSettings, Behind, Builder, By, Constant, Curve, Grounding, Individuals, Known, Length,
    Metric, MetricKind, Network, Optimizer, Param, Phase, Schedule, Session,
};
use logltn_nn::{Activation, LayerSpec};

const POINTS: [f64; 10] = [0.5, -1.0, 1.25, 0.75, -0.5, 0.25, 0.1, 1.5, -1.0, -0.5];

fn built(builder: Builder) -> Session {
    builder.build().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Two phases, two tables with batches, dropout, an embedding and a schedule.
fn everything() -> Builder {
    let dropping = Network::layers([
        LayerSpec::Dense(9),
        LayerSpec::Activation(Activation::Tanh),
        LayerSpec::Dropout(0.5),
    ]);
    Session::builder(
        "sort P  sort Q  sort C = {red, green, blue}
        table few(x: P)  table many(x: P, y: Q)
        predicate c(P, C)  predicate likes(P, Q)
        axiom some for k: C: exists x: P. c(x, k)
        axiom all (weight 3): forall (x) in few. c(x, red)
        axiom pairs: forall (x, y) in many. likes(x, y)",
    )
    .sort("P", Individuals::features([2], POINTS.to_vec()))
    .sort("Q", Individuals::from(4).learnable(3))
    .batched("few", 2, vec![ColumnData::Individuals(vec![0, 1, 2])])
    .batched(
        "many",
        3,
        vec![
            ColumnData::Individuals(vec![0, 1, 2, 3, 4, 0, 1]),
            ColumnData::Individuals(vec![1, 2, 3, 0, 1, 2, 3]),
        ],
    )
    .predicate("c", dropping.clone(), Output::softmax())
    .predicate("likes", dropping, Output::sigmoid())
    .alpha(Schedule::linear(1.0, 4.0))
    .learning_rate(0.05)
    .training(|training| {
        let some = Some(vec!["all".to_string(), "some[green]".to_string()]);
        let phase = |steps, axioms| Phase {
            length: Length::Steps(steps),
            axioms,
        };
        training.phases = vec![phase(5, some), phase(9, None)];
    })
}

fn losses(session: &mut Session) -> Vec<u64> {
    let mut found = Vec::new();
    while !session.is_done() {
        let step = session.step().unwrap_or_else(|errors| panic!("{errors}"));
        found.push(step.loss.to_bits());
    }
    found
}

#[test]
fn a_restored_session_goes_on_with_the_same_bits() {
    for optimizer in [
        Optimizer::Adam,
        Optimizer::Sgd {
            momentum: 0.9,
            weight_decay: 0.1,
        },
    ] {
        let session = || built(everything().training(|t| t.optimizer = optimizer));
        let mut whole = session();
        let expected = losses(&mut whole);
        for at in [0, 1, 4, 5, 6, 13] {
            let mut first = session();
            for _ in 0..at {
                first.step().expect("a step");
            }
            // Looking does no harm.
            first.evaluate(&Parameters::default()).expect("truths");
            let mut state = first.state();
            state.tensors.reverse(); // everything goes by its name
            let mut second = session();
            second.step().expect("a step");
            second.restore(&state).expect("the same training");
            assert_eq!(second.done(), at as u64);
            assert_eq!(losses(&mut second), expected[at..], "from step {at}");
            assert_eq!(second.weights(), whole.weights());
        }
    }
}

/// Axioms with schedules and weights of their own, stepwise schedules, and parts that do not move.
/// Whether and when a step is stopped makes no difference to what comes of it later.
#[test]
fn a_step_that_was_stopped_has_not_happened() {
    let expected = losses(&mut built(everything()));
    let mut session = built(everything());
    session
        .step_work(Duration::from_millis(10))
        .expect("a measure");
    let stop = Arc::new(AtomicBool::new(false));
    session.set_stop(Arc::clone(&stop));
    let mut found = Vec::new();
    while !session.is_done() {
        stop.store(true, Ordering::Relaxed);
        let stopped = session.step().expect_err("it was asked to stop");
        assert!(
            stopped.iter().all(|e| e.code() == Code::Interrupted),
            "{stopped}"
        );
        stop.store(false, Ordering::Relaxed);
        found.push(session.step().expect("a step").loss.to_bits());
    }
    assert_eq!(found, expected);
}

fn settings(builder: Builder) -> Builder {
    let own = |weight, alpha| AxiomSettings {
        weight,
        alpha: Some(alpha),
        p: Some(3.0.into()),
        ..AxiomSettings::default()
    };
    builder.training(|training| {
        training.schedule.alpha =
            Schedule::new(Curve::Stepwise([(0, 1.0), (3, 2.0), (8, 5.0)].into()));
        let some = own(Some(0.5), Schedule::linear(1.0, 9.0));
        training.axioms.insert("some".to_string(), some);
        let green = own(
            None,
            Schedule {
                by: By::Epoch,
                ..Schedule::exponential(8.0, 2.0)
            },
        );
        training.axioms.insert("some[green]".to_string(), green);
        training.freeze = vec!["likes".to_string(), "Q".to_string()];
    })
}

#[test]
fn what_axioms_have_of_their_own_survives_a_restart() {
    let session = || built(settings(everything()));
    let mut whole = session();
    let expected = losses(&mut whole);
    assert_ne!(expected, losses(&mut built(everything())));
    for at in [0, 2, 3, 5, 7, 13] {
        let mut first = session();
        for _ in 0..at {
            first.step().expect("a step");
        }
        let mut second = session();
        second.restore(&first.state()).expect("the same training");
        assert_eq!(losses(&mut second), expected[at..], "from step {at}");
        assert_eq!(second.weights(), whole.weights());
    }
}

#[test]
fn frozen_parts_stay_and_unknown_ones_are_refused() {
    let mut session = built(settings(everything()));
    let before = session.weights();
    losses(&mut session);
    let after = session.weights();
    for ((name, _, was), (_, _, is)) in before.tensors.iter().zip(&after.tensors) {
        let frozen = name.starts_with("likes.") || name == "embedding.Q";
        assert_eq!(was == is, frozen, "{name}");
    }
    let unknown = everything().training(|t| t.freeze = vec!["likse".to_string()]);
    let errors = unknown.build().err().expect("nothing of that name");
    assert!(
        errors.to_string().contains("did you mean `likes`?"),
        "{errors}"
    );
    let unknown = everything().training(|t| {
        let settings = AxiomSettings::default();
        t.axioms.insert("pair".to_string(), settings);
    });
    let errors = unknown.build().err().expect("no axiom of that name");
    assert!(
        errors.to_string().contains("did you mean `pairs`?"),
        "{errors}"
    );
}

#[test]
fn the_state_of_another_training_is_refused() {
    let mut session = built(everything());
    session.step().expect("a step");
    let state = session.state();
    let refused = |builder: Builder| {
        let mut other = built(builder);
        let before = other.state();
        let errors = other.restore(&state).expect_err("another training");
        assert_eq!(other.state(), before, "it is as it was");
        errors.to_string()
    };
    assert!(refused(everything().training(|t| t.seed = 1)).contains("its seed is 0, not 1"));
    assert!(refused(everything().steps(1)).contains("it has 14 steps, not 15"));
    let sgd = Optimizer::Sgd {
        momentum: 0.5,
        weight_decay: 0.0,
    };
    // Adam remembers what momentum needs, and more; without it there is nothing to be found by SGD's name.
    let narrower = everything().sort("P", Individuals::features([1], POINTS.to_vec()));
    assert!(narrower.build().is_err(), "a sort of two sizes");
    let mut plain = built(everything().training(|t| t.optimizer = sgd));
    plain.step().expect("a step");
    let errors = built(everything())
        .restore(&plain.state())
        .expect_err("no second moments");
    assert!(
        errors.to_string().contains("its optimizer differs"),
        "{errors}"
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let mut session = built(everything());
            (losses(&mut session), session.weights())
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn mistakes_are_found_together() {
    let errors = Session::builder(
        "sort P  sort Q  param near  table t(x: P)  constant k: P
        predicate c(P)  predicate d(P, Q)  function f(P): Real
        axiom a: forall x: P where dist(x, x) < near. c(x) or d(x, k2)",
    )
    .build();
    assert!(
        errors
            .err()
            .expect("a label that is not one")
            .to_string()
            .contains("k2")
    );

    let network = || Network::mlp(&[3], Activation::Tanh);
    let errors = Session::builder(
        "sort P  sort Q  param near  table t(x: P)  constant k: P
        predicate c(P)  predicate d(P, Q)  predicate e(P)  function f(P): Real
        axiom a: forall x: P where dist(x, x) < near. c(x)",
    )
    .sort("P", Individuals::features([3], POINTS.to_vec()))
    .sort("Q", Individuals::features([1], vec![1.0, f64::NAN]))
    .param("near", Param::percentile(101.0, "dist(P, P)"))
    .param("far", 1.0)
    .table("u", Vec::new())
    .constant("l", Constant::Row(0))
    .predicate("g", network(), Output::sigmoid())
    .predicate("d", Behind::from(network()).args(["x"]), Output::sigmoid())
    .numbers("e", vec![0.5, 2.0], Output::truth())
    .function("g", network())
    .steps(1)
    .build()
    .err()
    .expect("many mistakes")
    .to_string();
    for part in [
        "10 numbers do not make rows of [3]",
        "number 1 of its features is not finite",
        "101 is not between 0 and 100",
        "no param `far`",
        "no table `u`",
        "no constant `l`",
        "no predicate `g`",
        "`d` has 2 arguments in the theory, but 1 in `args`",
        "predicate `e` needs a number for each tuple",
        "no function `g`",
    ] {
        assert!(errors.contains(part), "{part} is not in:\n{errors}");
    }
}

#[test]
fn networks_and_metrics_that_do_not_fit_are_found_together() {
    let labels = vec!["a".to_string(); 3];
    let wrong = Network::mlp(&[3], Activation::Tanh).inputs(["x", "stop(y"]);
    let errors =
        Session::builder("sort P  predicate c(P)  predicate d(P)  axiom a: forall x: P. c(x)")
            .sort("P", 3)
            .predicate("c", Network::mlp(&[3], Activation::Tanh), Output::sigmoid())
            .predicate("d", Behind::from(wrong).args(["x"]), Output::sigmoid())
            .metric(Metric::new(
                MetricKind::Accuracy,
                "c",
                Known::Labels {
                    sort: "P".into(),
                    labels,
                },
            ))
            .steps(1)
            .build()
            .err()
            .expect("mistakes")
            .to_string();
    for part in [
        "the network of `c` has nothing to read",
        "`x` has no features",
        "`accuracy` needs a predicate that picks one of several classes",
    ] {
        assert!(errors.contains(part), "{part} is not in:\n{errors}");
    }
}

#[test]
fn an_axioms_own_parameters_hold_inside_it_alone() {
    let text = "sort P  predicate p(P)  predicate q(P)
        axiom a: exists x: P. p(x)
        axiom b for k: P: q(k) or p(k)
        axiom c (weight 2): forall x: P. q(x)";
    let numbers = |t: f64| vec![t, 0.5 * t, -t];
    let session = |weight: f64, settings: &[(&str, AxiomSettings)]| {
        let settings = settings.iter().map(|(n, s)| (n.to_string(), s.clone()));
        let builder = Session::builder(text.replace("weight 2", &format!("weight {weight}")))
            .numbers("p", numbers(1.0), Output::sigmoid())
            .predicate("q", Network::mlp(&[3], Activation::Tanh), Output::sigmoid())
            .sort("P", Individuals::named(["ann", "bob", "eve"]).learnable(2))
            .learning_rate(0.1)
            .steps(20);
        builder.training(|training| training.axioms = settings.collect())
    };
    let at = |alpha: f64| Parameters {
        alpha,
        ..Parameters::default()
    };
    let of = |weight, alpha: Option<f64>| AxiomSettings {
        weight,
        alpha: alpha.map(Schedule::from),
        ..AxiomSettings::default()
    };
    let mut written = built(session(7.0, &[]));
    let mut given = built(session(2.0, &[("c", of(Some(7.0), None))]));
    assert_eq!(given.axioms(), written.axioms());
    // Its own α inside one axiom, the step's in the others; a family's name means its members.
    let mut own = built(session(7.0, &[("b", of(None, Some(5.0)))]));
    let [now, then, five] = [
        own.evaluate(&at(1.0)),
        written.evaluate(&at(1.0)),
        written.evaluate(&at(5.0)),
    ]
    .map(|found| found.expect("truths").truths);
    assert_eq!(now[0], then[0]);
    assert_eq!(now[1..4], five[1..4]);
    assert_ne!(now[1..4], then[1..4]);
    let [one, same, other] =
        [&mut written, &mut given, &mut own].map(|s| s.step().expect("a step"));
    assert_eq!(one, same);
    assert_ne!(one, other);
    for (axiom, settings, part) in [
        ("d", of(Some(1.0), None), "no axiom `d`"),
        ("a", of(Some(-1.0), None), "at least 0 and finite"),
        ("a", of(None, Some(-1.0)), "`alpha` must be"),
    ] {
        let errors = session(2.0, &[(axiom, settings)]).build().err();
        let errors = errors.expect("a mistake").to_string();
        assert!(errors.contains(part), "{errors}");
    }
}

#[test]
fn a_network_that_is_moved_twice_goes_twice_as_far() {
    let first_step = |twice: Option<&str>| {
        let mut session = built(
            Session::builder("sort P  predicate c(P)  axiom a: forall x: P. c(x)")
                .sort("P", Individuals::features([2], POINTS.to_vec()))
                .predicate("c", Network::mlp(&[4], Activation::Tanh), Output::sigmoid())
                .learning_rate(0.002)
                .steps(1),
        );
        if let Some(predicate) = twice {
            session.move_twice(predicate);
        }
        let numbers = |session: &mut Session| -> Vec<f32> {
            session
                .weights()
                .tensors
                .into_iter()
                .flat_map(|(_, _, values)| values)
                .collect()
        };
        let before = numbers(&mut session);
        session.step().expect("a step");
        let moved = before
            .iter()
            .zip(numbers(&mut session))
            .map(|(a, b)| (a - b).abs());
        moved.fold(0.0, f32::max)
    };
    let once = first_step(None);
    // Adam's first steps are as long as the learning rate.
    assert!((once - 0.002).abs() < 1e-5, "{once}");
    assert!((first_step(Some("c")) - 2.0 * once).abs() < 1e-5);
    assert_eq!(first_step(Some("another")), once);
}

#[test]
fn predictions_are_the_numbers_behind_the_axioms() {
    let mut session = built(
        Session::builder("sort P  sort C = 0..1  predicate c(P, C)  axiom a: forall x: P. c(x, 1)")
            .sort("P", 2)
            .numbers("c", vec![1.0, 2.0, 3.0, 5.0], Output::softmax())
            .steps(1),
    );
    assert_eq!(
        session.predict("c", &[1, 0, 1]).expect("numbers"),
        [3.0, 5.0, 1.0, 2.0, 3.0, 5.0]
    );
    for (predicate, rows, part) in [
        ("c", &[2_u32][..], "row 0: sort `P` has no individual 2"),
        ("d", &[0], "no predicate `d`"),
    ] {
        let errors = session
            .predict(predicate, rows)
            .expect_err("a mistake")
            .to_string();
        assert!(errors.contains(part), "{errors}");
    }
    let found = session.evaluate(&Parameters::default()).expect("truths");
    let log = |z: [f64; 2]| z[1] - (z[0].exp() + z[1].exp()).ln();
    let expected = (log([1.0, 2.0]) + log([3.0, 5.0])) / 2.0;
    assert!((found.sat - expected).abs() < 1e-12);
    let gradients = found.gradients[0].as_ref().expect("by its numbers");
    assert!((gradients[1] + 0.5 * (1.0 - 1.0 / (1.0 + (-1.0_f64).exp()))).abs() < 1e-12);
}

/// Says 0 of everything, and keeps what it was asked for.
#[derive(Default)]
struct Asked(std::sync::Arc<std::sync::Mutex<Vec<Vec<u32>>>>);

impl Grounding for Asked {
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        numbers.fill(0.0);
        self.0
            .lock()
            .expect("one thread")
            .push(request.individuals().to_vec());
        Ok(())
    }
    fn backward(&mut self, request: &Request, by_numbers: &[f32]) {
        assert_eq!(request.rows() * request.arity, request.individuals().len());
        assert_eq!(request.rows(), by_numbers.len());
    }
}

#[test]
fn what_is_asked_for_is_a_plain_array() {
    let asked = Asked::default();
    let seen = std::sync::Arc::clone(&asked.0);
    let mut session = built(
        Session::builder(
            "sort P  predicate r(P, P)  axiom a: forall x: P, y: P where x != y. r(x, y)",
        )
        .sort("P", 3)
        .host("r", asked, Output::sigmoid())
        .steps(2),
    );
    assert_eq!(session.requests()[0].arity, 2);
    session.step().expect("a step");
    let rows: Vec<Vec<u32>> = seen.lock().expect("one thread")[0]
        .chunks_exact(2)
        .map(<[u32]>::to_vec)
        .collect();
    assert!(rows.contains(&vec![2, 0]) && rows.len() >= 6, "{rows:?}");
}

#[test]
fn functions_given_by_data_can_be_asked() {
    let theory = "sort P  function gap(P, P): Real  function place(P): Real[2]  function boss(P): P
        predicate q(P)  axiom a: forall x, y: P where gap(x, y) > 0. q(x) and not q(boss(y))";
    let gaps = vec![0.0, 1e-17, -2.0, 3.0];
    let mut session = Session::builder(theory)
        .sort("P", 2)
        .function_values("gap", FunctionData::Reals(gaps))
        .function_values("place", FunctionData::Reals(vec![1.0, 2.0, 3.0, 4.0]))
        .function_values("boss", FunctionData::Individuals(vec![1, 1]))
        .learnable("q", 0.0, Output::sigmoid())
        .steps(1)
        .build()
        .unwrap_or_else(|e| panic!("{e}"));
    let mut say = |name: &str, rows: &[u32]| session.predictions(name, rows);
    let found = say("gap", &[0, 1, 1, 1]).expect("values");
    assert_eq!(found.rows().collect::<Vec<_>>(), [[1e-17], [3.0]]);
    let found = say("place", &[1]).expect("values");
    assert_eq!(found.rows().collect::<Vec<_>>(), [[3.0, 4.0]]);
    // Individuals, by their numbers.
    let found = say("boss", &[0]).expect("individuals");
    assert_eq!(found.rows().collect::<Vec<_>>(), [[1.0]]);
}

/// The truth of a rule may be found without looking at each of its groundings; how often it is kept may not, and is left out.
#[test]
fn rules_of_too_many_groundings_are_not_counted() -> Result<(), Diagnostics> {
    let mut session = Session::builder(
        "sort S  predicate p(S)  predicate q(S)
         axiom many: forall v, w, x, y: S. p(v) and p(w) and p(x) -> q(y)
         axiom few: forall x, y: S. p(x) -> q(y)",
    )
    .sort("S", Individuals::from(1000))
    .learnable("p", 1.0, Output::sigmoid())
    .learnable("q", -1.0, Output::sigmoid())
    .steps(1)
    .build()?;
    let rules = session.rules()?;
    let [few] = &rules[..] else {
        panic!("{rules:?}");
    };
    let counts = (few.axiom, few.groundings, few.premises, few.broken);
    assert_eq!(counts, (1, 1_000_000, 1_000_000, 1_000_000));
    Ok(())
}
