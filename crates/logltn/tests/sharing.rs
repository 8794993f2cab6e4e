//! Shared parts and products of matrices, in single precision, against the theory as it is written in double precision.

use logltn::{
    ColumnData, Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics, Source, Theory,
};

use crate::cases::rng::Rng;

const AXIOMS: [&str; 18] = [
    "forall x: X, z: Z. exists y: Y. r(x, y) and q(y, z)",
    "forall x: X, z: Z. s(z) -> (exists y: Y. r(x, y) and not q(y, z) and t(y))",
    "forall x: X. exists y: Y, z: Z. r(x, y) and q(y, z) and s(z)",
    "exists x: X, z: Z. u(x) or (exists y: Y. (r(x, y) or t(y)) and (q(y, z) or s(z)))",
    "forall x: X. exists y: Y. r(x, y) and (forall z: Z. q(y, z) -> s(z))",
    "forall x, w: X. exists y: Y. r(x, y) and r(w, y) and u(x)",
    "forall x, w: X. exists y: Y, z: Z. r(x, y) and q(y, z) and p(z, w)",
    "forall x, w: X. exists y: Y. r(x, y) and (exists z: Z. q(y, z) and p(z, w))",
    "forall x: X. exists y: Y, z: Z. r(x, y) and q(y, z) and p(z, x)",
    "forall x, w: X. exists v: X where v != x. a(x, v) and a(v, w)",
    "forall x, w: X where x != w. exists v: X. a(x, v) and a(v, w)",
    "forall x, w: X. exists v: X where v != x and w != v. a(x, v) and a(w, v) and u(v)",
    "forall x, w: X. a(x, w) -> (exists v: X where v != w. a(w, v) and u(v))",
    "forall x, w: X. u(w) -> (forall v: X where v != w. a(x, v))",
    "forall x: X, z: Z. s(z) or (forall y: Y where known(y, z). r(x, y) -> t(y))",
    "forall x: X, z: Z. exists y: Y where y != y or not known(y, z). r(x, y)",
    "forall x, w: X. exists v: X where v != w. a(x, v) and u(v)",
    "forall x: X, y: Y. r(x, y) -> (forall w: X where w != x. r(w, y) and u(w))",
];

fn theory(axioms: &[&str]) -> Theory {
    let mut text = "
        sort X  sort Y  sort Z  table known(y: Y, z: Z)
        predicate r(X, Y)  predicate q(Y, Z)  predicate p(Z, X)  predicate s(Z)  predicate t(Y)  predicate u(X)
        predicate a(X, X)"
        .to_string();
    for (i, axiom) in axioms.iter().enumerate() {
        text += &format!("\naxiom a{i}: {axiom}");
    }
    Theory::parse(Source::new("sharing.ltn", text)).expect("a theory")
}

fn nothing() -> Vec<ColumnData> {
    vec![ColumnData::Individuals(Vec::new()); 2]
}

fn plan(data: &Data, semantics: &Semantics, options: PlanOptions) -> Plan {
    let outputs = vec![Output::sigmoid(); data.theory().predicates.len()];
    Plan::new_with(data, &outputs, semantics, &options).expect("a plan")
}

/// A number for each row of a predicate, the same in both precisions and whatever the order of the rows.
fn number(seed: u64, predicate: usize, row: &[u32], scale: f64) -> f32 {
    let at = row
        .iter()
        .fold(seed.wrapping_mul(31) + predicate as u64, |at, i| {
            at.wrapping_mul(1_000_003).wrapping_add(u64::from(*i) + 1)
        });
    let mut rng = Rng::new(at);
    (scale * (2.0 * rng.uniform() - 1.0)) as f32
}

/// The loss, the axioms' truths, by predicate and row the gradient, in the order of the rows, and how many bindings and empty
/// `exists` the axioms have.
type Found = (f64, Vec<f64>, Vec<(usize, Vec<u32>, f64)>, Vec<(u128, u64)>);

macro_rules! run {
    ($name:ident, $number:ty) => {
        fn $name(plan: Plan, seed: u64, scale: f64, parameters: &Parameters) -> Found {
            let mut engine = Engine::<$number>::new(plan);
            let mut asked = Vec::new();
            for request in 0..engine.requests().len() {
                let of = &engine.requests()[request];
                let predicate = of.predicate.0 as usize;
                let rows = of.individuals().chunks_exact(of.arity).map(<[u32]>::to_vec);
                let rows: Vec<Vec<u32>> = rows.collect();
                for (x, row) in engine.numbers_mut(request).iter_mut().zip(&rows) {
                    *x = <$number>::from(number(seed, predicate, row, scale));
                }
                asked.push((predicate, rows));
            }
            let value = engine
                .evaluate_with_gradients(parameters)
                .expect("a loss")
                .clone();
            let mut gradients = Vec::new();
            for (request, (predicate, rows)) in asked.into_iter().enumerate() {
                let own = rows.into_iter().zip(engine.gradient(request));
                gradients.extend(own.map(|(row, g)| (predicate, row, f64::from(*g))));
            }
            gradients.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            let planned = engine.plan().axioms().iter().zip(&value.axioms);
            let counts = planned.map(|(a, found)| (a.groundings, found.empty_exists));
            let counts = counts.collect();
            (
                value.loss,
                value.axioms.iter().map(|a| a.truth).collect(),
                gradients,
                counts,
            )
        }
    };
}

run!(single, f32);
run!(double, f64);

#[test]
fn products_of_matrices_equal_the_theory_as_written() {
    let mut products = 0;
    for seed in 0..240 {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.below(3);
        let axioms: Vec<&str> = (0..count).map(|_| *rng.pick(&AXIOMS)).collect();
        let theory = theory(&axioms);
        let mut data = Data::new(&theory);
        for sort in ["X", "Y", "Z"] {
            data.set_size(sort, *rng.pick(&[1, 2, 3, 7, 20]))
                .expect("a size");
        }
        let size = |sort: &str| data.size(theory.sort(sort).expect("a sort"));
        let (y, z) = (size("Y"), size("Z"));
        let mut some = |of: usize| {
            let rows = (0..y * z / 2).map(|_| rng.below(of) as u32);
            ColumnData::Individuals(rows.collect())
        };
        let rows = vec![some(y), some(z)];
        data.set_rows("known", rows).expect("rows");
        let mut names = crate::cases::operators().to_vec();
        names.extend(["logltn", "logltn-lse", "logltn-max"]); // more often than the others
        let semantics = Semantics::named(rng.pick::<&str>(&names)).expect("a semantics");
        let parameters = Parameters {
            alpha: *rng.pick(&[1.0, 2.0, 5.0]),
            ..Parameters::default()
        };
        let in_logs = semantics.space == logltn::Space::Log;
        // Beyond, truth degrees of single precision are 0 or 1, and equal where they are not.
        let scale = *rng.pick(if in_logs {
            &[1.0, 10.0, 1e4]
        } else {
            &[1.0, 2.0, 4.0]
        });
        let always = PlanOptions {
            always: true,
            ..PlanOptions::default()
        };
        let options = PlanOptions::as_written();
        let outputs = vec![Output::sigmoid(); theory.predicates.len()];
        if Plan::new_with(&data, &outputs, &semantics, &options).is_err() {
            continue; // a `forall` inside, which `prod` does not know
        }
        let shared = plan(&data, &semantics, always);
        let shown = shared.to_string();
        products += usize::from(shown.contains("product of matrices"));
        let found = single(shared, seed, scale, &parameters);
        let expected = double(plan(&data, &semantics, options), seed, scale, &parameters);
        let what = || format!("seed {seed}, {semantics}, scale {scale}, {axioms:?}\n{shown}");
        // Truth degrees are known to so much, whatever they are; logs relative to what they are.
        let least = if semantics.space == logltn::Space::Log {
            1e-2
        } else {
            1.0
        };
        let near = |a: f64, b: f64, within: f64| (a - b).abs() <= within * b.abs().max(least);
        assert!(
            near(found.0, expected.0, 1e-5),
            "{} {} {}",
            found.0,
            expected.0,
            what()
        );
        for (a, b) in found.1.iter().zip(&expected.1) {
            assert!(near(*a, *b, 1e-5), "{a} {b} {}", what());
        }
        assert_eq!(found.2.len(), expected.2.len(), "{}", what());
        assert_eq!(found.3, expected.3, "{}", what());
        // Logits of 10⁴ are known to 10⁻³ in single precision, and so are shares of sums of their exponentials.
        let within = if scale > 100.0 { 2e-2 } else { 2e-4 };
        let most = expected.2.iter().map(|g| g.2.abs()).fold(1e-6, f64::max);
        for (a, b) in found.2.iter().zip(&expected.2) {
            assert_eq!((a.0, &a.1), (b.0, &b.1), "{}", what());
            assert!((a.2 - b.2).abs() <= within * most, "{a:?} {b:?} {}", what());
        }
    }
    assert!(products > 50, "{products}");
}

#[test]
fn the_plan_says_what_is_shared_and_what_it_costs() {
    let theory = theory(&[
        "forall x: X, y: Y. r(x, y) -> (exists z: Z. q(y, z) and s(z))",
        "forall y: Y. t(y) -> (exists z: Z. q(y, z) and s(z))",
        "forall x: X, z: Z. exists y: Y. r(x, y) and q(y, z)",
    ]);
    let mut data = Data::new(&theory);
    for sort in ["X", "Y", "Z"] {
        data.set_size(sort, 100).expect("a size");
    }
    data.set_rows("known", nothing()).expect("rows");
    for name in ["logltn", "logltn-max", "stable"] {
        let semantics = Semantics::named(name).expect("a semantics");
        let shown = plan(&data, &semantics, PlanOptions::default()).to_string();
        assert!(
            shown.contains("shared_0(y): exists z: Z. q(y, z) and s(z)\n    100 tuples instead of 10,100 bindings"),
            "{shown}"
        );
        assert_eq!(
            shown.contains("product of matrices"),
            name != "stable",
            "{shown}"
        );
        let whole = PlanOptions {
            share: false,
            ..PlanOptions::default()
        };
        let whole = plan(&data, &semantics, whole).to_string();
        assert!(!whole.contains("shared"), "{whole}");
    }
}

/// A side of a product may be another product, and so may what a variable that all others depend on leaves.
#[test]
fn chains_and_circles_are_products_of_products() {
    let chains = [(AXIOMS[6], 2), (AXIOMS[7], 2), (AXIOMS[8], 1)];
    for (axiom, products) in chains {
        let theory = theory(&[axiom]);
        let mut data = Data::new(&theory);
        for sort in ["X", "Y", "Z"] {
            data.set_size(sort, 100).expect("a size");
        }
        data.set_rows("known", nothing()).expect("rows");
        let semantics = Semantics::default();
        let shown = plan(&data, &semantics, PlanOptions::default()).to_string();
        let found = shown.matches("product of matrices").count();
        assert_eq!(found, products, "{axiom}\n{shown}");
    }
}
