//! Steps that see samples of a sort, against what a sample means, by hand.

use logltn::{Code, ColumnData, Output, Semantics};
use logltn_learn::{AxiomSettings, Optimizer, Schedule, Session, Training};

const PEOPLE: u32 = 40;

fn individuals(of: impl IntoIterator<Item = u32>) -> ColumnData {
    ColumnData::Individuals(of.into_iter().collect())
}

/// Who knows whom: each knows the next three, around the circle.
fn known(x: u32, y: u32) -> bool {
    (1..4).contains(&((y + PEOPLE - x) % PEOPLE))
}

fn knows() -> Vec<ColumnData> {
    let pairs = || (0..PEOPLE).flat_map(|x| (1..4).map(move |k| (x, (x + k) % PEOPLE)));
    vec![
        individuals(pairs().map(|p| p.0)),
        individuals(pairs().map(|p| p.1)),
    ]
}

fn session(axioms: &str, sample: usize, set: impl FnOnce(&mut Training)) -> Session {
    let theory = format!(
        "sort Person  table knows(x: Person, y: Person)  predicate good(Person)  predicate likes(Person, Person)
         {axioms}"
    );
    Session::builder(theory)
        .sort("Person", PEOPLE as usize)
        .batched("knows", 6, knows())
        .learnable("good", 0.5, Output::sigmoid())
        .learnable("likes", -0.25, Output::sigmoid())
        .sample("Person", sample)
        .training(|training| {
            training.optimizer = Optimizer::Sgd {
                momentum: 0.0,
                weight_decay: 0.0,
            };
            training.learning_rate = Schedule::from(0.1);
            set(training);
        })
        .steps(50)
        .build()
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// The rows of a predicate in the last step.
fn asked(session: &Session, arity: usize) -> Vec<Vec<u32>> {
    let mut rows = Vec::new();
    for request in session.requests() {
        let all = (0..request.rows()).map(|row| request.row(row).to_vec());
        rows.extend(all.filter(|row| row.len() == arity));
    }
    rows
}

fn log_sigmoid(x: f64) -> f64 {
    -(-x).exp().ln_1p()
}

#[test]
fn a_step_is_about_its_sample_and_nobody_else_moves() {
    let mut session = session("axiom a: forall x: Person. good(x)", 7, |_| {});
    let mut weights = vec![0.5_f32; PEOPLE as usize];
    let mut seen = Vec::new();
    for _ in 0..10 {
        let step = session.step().unwrap();
        let sample: Vec<u32> = asked(&session, 1).into_iter().map(|row| row[0]).collect();
        assert_eq!(sample.len(), 7);
        let mean: f64 = (sample.iter())
            .map(|x| log_sigmoid(f64::from(weights[*x as usize])) / 7.0)
            .sum();
        assert!((step.sat - mean).abs() < 1e-6, "{} {mean}", step.sat);
        for &x in &sample {
            let w = f64::from(weights[x as usize]);
            weights[x as usize] = (w + 0.1 / 7.0 / (1.0 + w.exp())) as f32;
        }
        let state = session.weights();
        let (_, now) = state.tensor("good").expect("its numbers");
        for (now, expected) in now.iter().zip(&weights) {
            assert!((now - expected).abs() < 1e-6, "{now} {expected}");
        }
        seen.push(sample);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 10, "each step draws anew");
    // `evaluate` sees everyone.
    let evaluated = session.evaluate(&Default::default()).unwrap();
    let all: f64 = weights.iter().map(|w| log_sigmoid(f64::from(*w))).sum();
    assert!((evaluated.sat - all / f64::from(PEOPLE)).abs() < 1e-6);
    let found = session.query("find x: Person. good(x)", &Default::default(), 0);
    assert!(format!("{:?}", found.unwrap().answers).contains("total: 40"));
}

/// Rows of a table in batches, negatives from the sample that are not known, one sample for all of it.
#[test]
fn negatives_are_drawn_and_guards_look_into_the_whole_table() {
    let axioms = "
        axiom facts: forall (x, y) in knows. likes(x, y)
        axiom negatives: forall (x, y) in knows. forall z: Person where z != x and not knows(x, z). not likes(x, z)
        axiom sample: forall x: Person. good(x)
        axiom pairs: forall x, y: Person where x != y. likes(x, y)";
    let mut session = session(axioms, 9, |_| {});
    for _ in 0..4 {
        session.step().unwrap();
        let sample: Vec<u32> = asked(&session, 1).into_iter().map(|row| row[0]).collect();
        assert_eq!(sample.len(), 9);
        let mut rows = asked(&session, 2);
        rows.sort();
        rows.dedup();
        let facts: Vec<_> = rows.iter().filter(|r| known(r[0], r[1])).collect();
        let heads: std::collections::BTreeSet<u32> = facts.iter().map(|r| r[0]).collect();
        let mut expected: Vec<Vec<u32>> = Vec::new();
        // Facts may also be pairs of the sample.
        expected.extend(facts.iter().map(|r| r.to_vec()));
        for &x in &sample {
            expected.extend(sample.iter().filter(|y| **y != x).map(|y| vec![x, *y]));
        }
        for &x in &heads {
            let fresh = sample.iter().filter(|z| **z != x && !known(x, **z));
            expected.extend(fresh.map(|z| vec![x, *z]));
        }
        expected.sort();
        expected.dedup();
        // Heads of facts that are only pairs of the sample have no negatives of their own beyond those pairs.
        assert!(rows.iter().all(|row| expected.contains(row)), "{rows:?}");
        let batch = facts
            .iter()
            .filter(|r| !(sample.contains(&r[0]) && sample.contains(&r[1])));
        for fact in batch {
            for z in sample
                .iter()
                .filter(|z| **z != fact[0] && !known(fact[0], **z))
            {
                assert!(rows.contains(&vec![fact[0], *z]));
            }
        }
    }
    let groundings: u128 = session.plan().axioms().iter().map(|a| a.groundings).sum();
    let work = session
        .step_work(std::time::Duration::from_millis(1))
        .unwrap();
    // 6 facts, at most 8 negatives of each, 9 of the sample and 72 pairs.
    assert!(
        work.groundings > 9 + 72 && work.groundings <= 6 + 48 + 9 + 72,
        "{work:?}"
    );
    assert!(groundings >= work.groundings);
}

/// An `exists` that only the sample leaves empty does not count; one that nobody satisfies is false.
#[test]
fn what_only_the_sample_leaves_empty_is_left_out() {
    let axioms = "axiom sample: forall x: Person. good(x)
        axiom friends: forall (x, y) in all_pairs. exists z: Person where knows(x, z). good(z)";
    let theory = format!(
        "sort Person  sort Lonely  table knows(x: Person, y: Person)  table all_pairs(x: Person, y: Person)
         predicate good(Person) {axioms}"
    );
    let pairs = vec![individuals(0..PEOPLE), individuals(0..PEOPLE)];
    // Nobody is known to the last one.
    let knows: Vec<ColumnData> = knows()
        .into_iter()
        .map(|column| match column {
            ColumnData::Individuals(cells) => {
                individuals(cells.into_iter().take(3 * PEOPLE as usize - 3))
            }
            other => other,
        })
        .collect();
    let mut session = Session::builder(theory)
        .sort("Person", PEOPLE as usize)
        .sort("Lonely", 1)
        .table("knows", knows)
        .table("all_pairs", pairs)
        .learnable("good", 0.5, Output::sigmoid())
        .sample("Person", 4)
        .steps(5)
        .build()
        .unwrap_or_else(|errors| panic!("{errors}"));
    let step = session.step().unwrap();
    let sample: Vec<u32> = asked(&session, 1).into_iter().map(|row| row[0]).collect();
    assert_eq!(sample.len(), 4);
    let kept = (0..PEOPLE - 1)
        .filter(|x| sample.iter().any(|z| known(*x, *z)))
        .count();
    assert!(kept > 0 && kept < 16);
    // All logits are the same, so each exists is log σ(½), and the last one's the floor.
    let expected = (kept as f64 * log_sigmoid(0.5) - 1e5) / (kept as f64 + 1.0);
    assert!(
        (step.axioms[1] - expected).abs() < 1e-2,
        "{} {expected}",
        step.axioms[1]
    );
}

#[test]
fn a_resumed_training_goes_on_with_the_same_samples() {
    let axioms = "axiom facts: forall (x, y) in knows. likes(x, y)
        axiom negatives: forall (x, y) in knows. forall z: Person where not knows(x, z). not likes(x, z)";
    let mut straight = session(axioms, 5, |t| t.optimizer = Optimizer::Adam);
    let mut before = session(axioms, 5, |t| t.optimizer = Optimizer::Adam);
    for _ in 0..20 {
        straight.step().unwrap();
    }
    for _ in 0..8 {
        before.step().unwrap();
    }
    let state = before.state();
    let mut after = session(axioms, 5, |t| t.optimizer = Optimizer::Adam);
    after.restore(&state).unwrap();
    for _ in 8..20 {
        after.step().unwrap();
    }
    assert_eq!(
        straight.weights().tensor("likes"),
        after.weights().tensor("likes")
    );
    // Another seed draws others.
    let mut other = session(axioms, 5, |t| {
        t.optimizer = Optimizer::Adam;
        t.seed = 1;
    });
    for _ in 0..20 {
        other.step().unwrap();
    }
    assert_ne!(
        straight.weights().tensor("likes"),
        other.weights().tensor("likes")
    );
}

#[test]
fn every_semantics_and_phase_takes_samples() {
    let axioms = "axiom a: forall x: Person. exists y: Person where x != y. likes(x, y)
        axiom b: not (forall x: Person where knows(x, x) or not knows(x, x). good(x))
        axiom c: (exists x: Person where x != x. good(x)) or (forall x: Person. good(x))";
    for base in ["logltn", "logltn-sum", "stable", "lukasiewicz", "godel"] {
        let semantics = Semantics::named(base).unwrap();
        let mut session = session(axioms, 6, |t| t.semantics = semantics);
        for _ in 0..3 {
            let step = session.step().unwrap();
            assert!(step.loss.is_finite(), "{base}");
        }
    }
    // As large as the sort, a sample is the sort.
    let mut all = session("axiom a: forall x: Person. good(x)", 40, |_| {});
    all.step().unwrap();
    assert_eq!(asked(&all, 1).len(), 40);
}

#[test]
fn mistakes() {
    let build = |sort: &str, count: usize| {
        Session::builder("sort Person  predicate good(Person)  axiom a: forall x: Person. good(x)")
            .sort("Person", 5)
            .learnable("good", 0.0, Output::sigmoid())
            .sample(sort, count)
            .steps(1)
            .build()
    };
    let code = |result: Result<Session, logltn::Diagnostics>| {
        result.err().and_then(|e| e.iter().next().map(|d| d.code()))
    };
    assert_eq!(code(build("Persons", 2)), Some(Code::UnknownSort));
    assert_eq!(code(build("Person", 0)), Some(Code::ValueOutOfRange));
    assert_eq!(code(build("Person", 2)), None);
}

/// Adam that leaves alone whom no step has read.
#[test]
fn sparse_adam_moves_the_sample_alone() {
    let run = |optimizer: Optimizer| {
        let mut session = session(
            "axiom a: forall x: Person. forall y: Person where y = x. likes(x, y)",
            5,
            |t| t.optimizer = optimizer,
        );
        let mut moved = std::collections::BTreeSet::new();
        for _ in 0..3 {
            session.step().unwrap();
            moved.extend(asked(&session, 2).into_iter().map(|row| row[0]));
        }
        let state = session.weights();
        let (shape, now) = state.tensor("likes").expect("its numbers");
        assert_eq!(shape, [40, 40]);
        let others: Vec<u32> = (0..PEOPLE)
            .filter(|x| now[*x as usize * 40..][..40].iter().any(|w| *w != -0.25))
            .collect();
        (moved.into_iter().collect::<Vec<_>>(), others)
    };
    let (read, moved) = run(Optimizer::SparseAdam);
    assert_eq!(read, moved);
    assert!(moved.len() > 5 && moved.len() < 16);
}

/// How many bindings of the quantifiers around an `exists` have nobody of the sample, by hand.
#[test]
fn what_is_left_out_is_counted() {
    let axioms = "
        axiom sample: forall x: Person. good(x)
        axiom one: forall x: Person. exists y: Person where knows(x, y). likes(x, y)
        axiom two: forall x: Person. exists y: Person where knows(x, y). exists z: Person where knows(y, z). likes(y, z)
        axiom no: forall x: Person. not (forall y: Person where knows(x, y). likes(x, y))
        axiom nobody: forall x: Person. exists y: Person where knows(x, y) and knows(y, x). likes(x, y)
        sort K = 0..1
        axiom each for k: K: forall x: Person where k > 0. exists y: Person where knows(x, y). likes(x, y)";
    let mut session = session(axioms, 5, |_| {});
    let mut some = [false; 2];
    for _ in 0..20 {
        let step = session.step().unwrap();
        let sample: Vec<u32> = asked(&session, 1).into_iter().map(|row| row[0]).collect();
        assert_eq!(sample.len(), 5);
        let next = |x: u32| sample.iter().copied().filter(move |y| known(x, *y));
        let has = |x: u32| next(x).next().is_some();
        let one = sample.iter().filter(|x| !has(**x)).count();
        let keeps = |x: u32| next(x).any(has);
        let two = sample.iter().filter(|x| !keeps(**x)).count();
        let inner = sample.iter().filter(|x| keeps(**x));
        let two = two
            + inner
                .map(|x| next(*x).filter(|y| !has(*y)).count())
                .sum::<usize>();
        let of = |name: &str| -> usize {
            let found = step.left_out.iter().find(|(axiom, _)| axiom == name);
            found.map_or(0, |(_, count)| *count as usize)
        };
        assert_eq!(
            (of("one"), of("two"), of("no")),
            (one, two, one),
            "{sample:?}"
        );
        // Who has nobody among all is false, not left out.
        assert_eq!((of("nobody"), of("sample")), (0, 0));
        assert_eq!((of("each[0]"), of("each[1]")), (0, one));
        // What a step has not seen has no truth there.
        let names = session.axioms();
        let truth = |name: &str| {
            let place = names.iter().position(|(n, _)| n == name).expect("an axiom");
            step.axioms[place]
        };
        assert_eq!(truth("one").is_nan(), one == 5);
        assert_eq!(truth("each[1]").is_nan(), one == 5);
        assert!(!truth("sample").is_nan());
        some[usize::from(one == 5)] = true;
    }
    assert_eq!(
        some,
        [true, true],
        "some steps see something of it, some do not"
    );
}

/// Rules are sampled by the groundings that the tables of their bodies leave; literals of a body that are learnt go along.
#[test]
fn an_axiom_sees_some_of_its_bindings() {
    let axioms = "axiom rule: forall x, y, z: Person where knows(x, y) and knows(y, z). likes(x, z)
        axiom learnt: forall x, y, z: Person where knows(x, y). likes(x, y) and likes(y, z) -> likes(x, z)
        axiom rows: forall (x, y) in knows where x != y. exists z: Person. likes(y, z)";
    let own = |count: usize| AxiomSettings {
        sample: Some(count),
        ..AxiomSettings::default()
    };
    let settings = |t: &mut Training| {
        for (name, count) in [("rule", 20), ("learnt", 30), ("rows", 4)] {
            t.axioms.insert(name.to_string(), own(count));
        }
    };
    let groundings = |session: &Session| -> Vec<u128> {
        session
            .plan()
            .axioms()
            .iter()
            .map(|a| a.groundings)
            .collect()
    };
    let mut run = session(axioms, 1000, settings);
    assert_eq!(groundings(&run), [20, 30, 4 * 40]);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let step = run.step().unwrap();
        assert!(step.loss.is_finite());
        seen.insert(asked(&run, 2));
    }
    assert_eq!(seen.len(), 5, "each step draws anew");
    let all = run.evaluate(&Default::default()).unwrap();
    let all: Vec<u128> = all.axioms.iter().map(|a| a.groundings).collect();
    assert_eq!(all, [360, 120 * 40, 120 * 40]);
    // Beside the sample of a sort, which is what inner quantifiers see.
    let mut both = session(axioms, 7, settings);
    assert_eq!(groundings(&both), [20, 30, 4 * 7]);
    both.step().unwrap();
    // The bodies hold, and the rule's value is that of its bindings.
    let mut rule = session(
        "axiom rule: forall x, y, z: Person where knows(x, y) and knows(y, z). likes(x, z)",
        1000,
        |t| {
            t.axioms.insert("rule".to_string(), own(20));
        },
    );
    let step = rule.step().unwrap();
    assert!((step.sat - log_sigmoid(-0.25)).abs() < 1e-6);
    for row in asked(&rule, 2) {
        assert!(
            (2..7).contains(&((row[1] + PEOPLE - row[0]) % PEOPLE)),
            "{row:?}"
        );
    }
    // As many as there are are all.
    let whole = session(
        "axiom rule: forall x, y: Person where knows(x, y). likes(x, y)",
        1000,
        |t| {
            t.axioms.insert("rule".to_string(), own(120));
        },
    );
    assert_eq!(groundings(&whole), [120]);
}

#[test]
fn axioms_that_cannot_be_sampled() {
    for axiom in [
        "exists x: Person. good(x)",
        "not (forall x: Person. good(x))",
    ] {
        let session = Session::builder(format!(
            "sort Person  predicate good(Person)  axiom a: {axiom}"
        ))
        .sort("Person", 5)
        .learnable("good", 0.0, Output::sigmoid())
        .training(|t| {
            let sample = AxiomSettings {
                sample: Some(2),
                ..AxiomSettings::default()
            };
            t.axioms.insert("a".to_string(), sample);
        })
        .steps(1)
        .build();
        let errors = session.err().expect("no forall at the root");
        assert_eq!(
            errors.iter().next().unwrap().code(),
            Code::NothingToSample,
            "{axiom}"
        );
    }
}
