//! Large things: guards on distances without testing every pair, sorts of billions of integers, plans that would not
//! fit into memory, many axioms with one guard, and axioms in several parts on several threads.

use std::time::{Duration, Instant};

use logltn::{Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics, Source, Theory};
use proptest::prelude::*;

fn theory(text: &str) -> Theory {
    Theory::parse(Source::new("scale.ltn", text)).expect("a theory")
}

fn planned(data: &Data) -> Plan {
    let outputs = vec![Output::sigmoid(); data.theory().predicates.len()];
    Plan::new(data, &outputs, &Semantics::default()).expect("a plan")
}

fn loss(plan: Plan, threads: usize) -> (f64, Vec<Vec<f64>>) {
    let mut engine = Engine::<f64>::new(plan);
    for request in 0..engine.requests().len() {
        let numbers = engine.numbers_mut(request).iter_mut().enumerate();
        numbers.for_each(|(i, x)| *x = ((i * 37 + 11 * request) % 17) as f64 / 4.0 - 2.0);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let loss = pool.expect("threads").install(|| {
        let value = engine.evaluate_with_gradients(&Parameters::default());
        value.expect("a loss").loss
    });
    let gradients = (0..engine.requests().len()).map(|r| engine.gradient(r).to_vec());
    (loss, gradients.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Under `not not` a guard is not looked up: every pair is tested. The plans must be the same.
    #[test]
    fn near_pairs_are_those_that_pass_the_test(
        width in prop_oneof![1..4_usize, Just(16)],
        points in prop::collection::vec(-3..4_i32, 32..1600),
        limit in 0..6_i32,
        guard in prop::sample::select(vec![
            "dist(x, y) < near", "dist(y, x) <= near", "near > dist(x, y)", "near >= dist(x, y) and x != y",
            "dist(x, y) < near and dist(y, home) <= 2 * near",
        ]),
    ) {
        let count = points.len() / width;
        let features: Vec<f64> = points[..count * width].iter().map(|&x| f64::from(x)).collect();
        let made = |guard: &str| {
            let theory = theory(&format!(
                "sort Point  param near  constant home: Point  predicate P(Point)  predicate Q(Point)
                axiom pairs: forall x, y: Point where {guard}. P(x) -> Q(y)
                axiom some: forall x: Point. exists y: Point where {guard}. P(x) and Q(y)
                axiom home: forall x: Point where dist(x, home) < near. Q(x)"
            ));
            let mut data = Data::new(&theory);
            data.set_features("Point", width, features.clone()).expect("features");
            data.set_param("near", f64::from(limit)).expect("a param");
            data.set_constant("home", logltn::ConstantData::Row(count as u32 / 2)).expect("a constant");
            planned(&data)
        };
        let found = made(guard);
        let tested = made(&format!("not (not ({guard}))"));
        for (a, b) in found.axioms().iter().zip(tested.axioms()) {
            prop_assert_eq!(a.groundings, b.groundings, "{}", a.name);
            prop_assert_eq!(a.empty_exists, b.empty_exists, "{}", a.name);
        }
        prop_assert!(found.to_string().contains("nearby"));
        prop_assert!(!tested.to_string().contains("find y nearby"));
        prop_assert_eq!(loss(found, 1), loss(tested, 1));
    }
}

#[test]
fn billions_of_integers_under_a_guard_that_keeps_ten() {
    for (guard, kept) in [
        ("x < 10", 10),
        ("10 > x", 10),
        ("3 * x <= 29", 10),
        ("x >= 4294967284", 10),
        ("x > 4294967283 and x != 4294967290", 9),
        ("abs(x - 1000000) < 5", 9),
        ("2 - x > -8", 10),
        ("0 - 7 * x >= -70", 11),
        ("x < 0", 0),
    ] {
        let theory = theory(&format!(
            "sort A = 0..4294967293  predicate P(A)  axiom a: forall x: A where {guard}. P(x)"
        ));
        let plan = planned(&Data::new(&theory));
        assert_eq!(plan.axioms()[0].groundings, kept, "{guard}");
    }
    let theory = theory(
        "sort A = -5..4294967280  predicate P(A)  predicate Q(A)
        axiom a: forall x, y: A where x + y < -5 and x <= 3 and abs(x - y) <= 1. P(x) or Q(y)",
    );
    let pairs = (-5..=3_i64).flat_map(|x| (-5..=9_i64).map(move |y| (x, y)));
    let kept = pairs
        .filter(|(x, y)| x + y < -5 && (x - y).abs() <= 1)
        .count();
    let plan = planned(&Data::new(&theory));
    assert_eq!(plan.axioms()[0].groundings, kept as u128);
}

#[test]
fn what_does_not_fit_into_memory_is_refused() {
    let refused = |text: &str, memory: u64| {
        let theory = theory(text);
        let outputs = vec![Output::sigmoid(); theory.predicates.len()];
        let options = PlanOptions {
            memory,
            ..PlanOptions::default()
        };
        Plan::new_with(
            &Data::new(&theory),
            &outputs,
            &Semantics::default(),
            &options,
        )
        .expect_err("too much")
        .to_string()
    };
    let everything = refused(
        "sort A = 0..4294967293  predicate P(A)  axiom a: forall x: A. P(x)",
        u64::MAX,
    );
    assert!(everything.contains("too many bindings"), "{everything}");
    assert!(everything.contains("scale.ltn:1:"), "{everything}");
    let pairs = refused(
        "sort A = 0..9999  predicate P(A, A)  axiom a: forall x, y: A where x != y. P(x, y)",
        100 << 20,
    );
    assert!(pairs.contains("than the 105 MB of memory"), "{pairs}");
    // No list is long here, but the table of answers would be.
    let answers = refused(
        "sort A = 0..99999  predicate P(A, A)  axiom a: forall x, y: A. P(x, y)",
        4 << 30,
    );
    assert!(answers.contains("too many bindings"), "{answers}");
    // Neither, but nobody can count to that.
    let counted = refused(
        "sort K = 0..65535  predicate P(K)  axiom a: forall a, b, c, d: K. P(a) or P(b) or P(c) or P(d)",
        PlanOptions::default().memory,
    );
    assert!(counted.contains("2⁶⁴ bindings or more"), "{counted}");
}

#[test]
fn axioms_with_the_same_guard_share_its_list() {
    let bytes = |members: usize| {
        let theory = theory(&format!(
            "sort A = 0..299  sort K = 0..{}  predicate P(A, K)
            axiom a for k: K: forall x, y: A where abs(x - y) < 20. P(x, k) -> P(y, k)
            axiom b for k: K: forall x: A. exists y: A where y < x. P(x, k) and P(y, k)
            axiom c for k: K: forall x: A where x > k. P(x, k)",
            members - 1
        ));
        let output = Output::sigmoid().per_class();
        let plan = Plan::new(
            &Data::new(&theory),
            &[output],
            &Semantics::named("stable").expect("one"),
        );
        let plan = plan.expect("a plan");
        // Guards that look at what `for` has fixed are not the same.
        let named = |name: &str| {
            plan.axioms()
                .iter()
                .find(|a| a.name == name)
                .map(|a| a.groundings)
        };
        assert_eq!(named("c[0]"), Some(299));
        assert_eq!(named("c[1]"), Some(298));
        plan.memory_bytes()
    };
    let (two, twenty) = (bytes(2), bytes(20));
    assert!(twenty < two + two / 2, "{two} for 2, {twenty} for 20");
}

/// `forall x, y. P(x) and Q(y)` is a sum of two quantifiers, and each is cut into lanes.
#[test]
fn parts_of_an_axiom_on_any_number_of_threads() {
    let theory = theory(
        "sort A = 0..39999  predicate P(A)  predicate Q(A)  predicate R()
        axiom a: forall x, y: A. P(x) and Q(y)
        axiom b: R() and (forall x: A. P(x) or R()) and (forall y: A where y > 7. not Q(y))",
    );
    let one = loss(planned(&Data::new(&theory)), 1);
    for threads in [2, 3] {
        assert_eq!(one, loss(planned(&Data::new(&theory)), threads));
    }
    // The value by hand: means of log sigmoids.
    let number = |request: usize, i: usize| ((i * 37 + 11 * request) % 17) as f64 / 4.0 - 2.0;
    let log_sigmoid = |z: f64| -(-z).exp().ln_1p();
    let mean = |from: usize, f: &dyn Fn(usize) -> f64| {
        (from..40_000).map(f).sum::<f64>() / (40_000 - from) as f64
    };
    let a = mean(0, &|i| log_sigmoid(number(0, i))) + mean(0, &|i| log_sigmoid(number(1, i)));
    let r = log_sigmoid(number(2, 0));
    let either = |x: f64, y: f64| ((x.exp() + y.exp()) / 2.0).ln();
    let b = r
        + mean(0, &|i| either(log_sigmoid(number(0, i)), r))
        + mean(8, &|i| log_sigmoid(-number(1, i)));
    assert!(
        (one.0 + (a + b) / 2.0).abs() < 1e-9,
        "{} {}",
        one.0,
        -(a + b) / 2.0
    );
}

/// An `exists` in a guard is listed from inside, not asked about every combination: over 10,000 individuals that
/// would be a hundred million questions.
#[test]
fn an_exists_in_a_guard_is_a_semi_join() {
    let theory = theory(
        "sort P  table par(a: P, b: P)  predicate gp(P, P)
        axiom sorts: forall x, z: P where exists y: P. par(x, y) and par(y, z). gp(x, z)
        axiom rows:  forall x, z: P where exists (a, b) in par where a = x. exists (c, d) in par where c = b. d = z. gp(x, z)
        axiom known: forall x: P. exists z: P where exists y: P. par(x, y) and par(y, z). gp(x, z)",
    );
    let count = 10_000;
    let mut data = Data::new(&theory);
    data.set_size("P", count).expect("a size");
    // Everyone but the last hundred has two children.
    let parents = (0..2 * (count as u32 - 100)).map(|i| i / 2);
    let children = (0..2 * (count as u32 - 100)).map(|i| (i / 2 + 1 + (i % 2) * 37) % count as u32);
    let columns = [parents.collect::<Vec<u32>>(), children.collect()];
    let expected = {
        let next = |x: u32| {
            (0..2)
                .filter(move |_| x < count as u32 - 100)
                .map(move |i| (x + 1 + i * 37) % count as u32)
        };
        let pairs = (0..count as u32).flat_map(|x| next(x).flat_map(next).map(move |z| (x, z)));
        pairs.collect::<std::collections::BTreeSet<_>>().len() as u128
    };
    data.set_rows("par", columns.map(logltn::ColumnData::Individuals).to_vec())
        .expect("rows");
    let plan = planned(&data);
    for axiom in plan.axioms() {
        assert_eq!(axiom.groundings, expected, "{}", axiom.name);
    }
}

/// Estimates refuse what is surely too much, and nothing else.
#[test]
fn estimates_of_guards() {
    let plan = |guard: &str, memory: u64| {
        let text = format!(
            "sort A = 0..259  predicate P(A)  axiom a: forall x, y, z: A where {guard}. P(x) or P(y) or P(z)"
        );
        let theory = Theory::parse(Source::new("scale.ltn", text)).expect("a theory");
        let options = PlanOptions {
            memory,
            ..PlanOptions::default()
        };
        let (data, semantics) = (Data::new(&theory), Semantics::default());
        Plan::new_with(&data, &[Output::sigmoid()], &semantics, &options)
    };
    let begun = Instant::now();
    let error = plan("x * y + z != x * z + y or x = y", 20 << 20).expect_err("too much");
    let wrong = "too many bindings: about 1.7e7, which take more";
    assert!(error.to_string().contains(wrong), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    // One individual in 260 has all the bindings: few walks meet it, and it counts for many then.
    let plan = plan("x * x + x = 0 or y * y + z * z = 0", 16 << 20).expect("it fits");
    assert_eq!(plan.axioms()[0].groundings, 260 * 260 + 259);
}
