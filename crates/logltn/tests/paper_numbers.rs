//! What the paper says about its operators: bounds, De Morgan's inequalities, stability of negation.
//!
//! Its table of fuzzy properties is in `fuzzy_properties.rs`.

use crate::cases::propositional::Formulas;
use crate::cases::random_case::random_case;
use crate::cases::rng::Rng;
use crate::reference::{Case, Evaluation};
use logltn::{Data, Output, Parameters, Semantics, Source, Theory};
use proptest::prelude::*;

fn with(base: &str, changes: &[(&str, &str)]) -> Semantics {
    let base = Semantics::named(base).unwrap();
    (changes.iter()).fold(base, |s, (key, operator)| s.with(key, operator).unwrap())
}

/// Product and maximum in the space of truth degrees: the paper's semantics before its logs.
fn product_and_max() -> Semantics {
    with(
        "stable",
        &[
            ("or", "max"),
            ("implies", "kleene_dienes"),
            ("forall", "product"),
            ("exists", "max"),
            ("over_axioms", "product"),
        ],
    )
    .with_stable_eps(0.0)
    .unwrap()
}

fn alpha(alpha: f64) -> Parameters {
    Parameters {
        alpha,
        ..Parameters::default()
    }
}

/// `exists u: U. P(u)` of these logs of truth degrees.
fn exists(semantics: &Semantics, parameters: &Parameters, logs: &[f64]) -> Evaluation {
    let text = format!(
        "sort U = 1..{} predicate P(U) axiom a: exists u: U. P(u)",
        logs.len()
    );
    let theory = Theory::parse(Source::new("exists.ltn", text)).unwrap();
    let case = Case {
        data: Data::new(&theory),
        theory,
        params: Vec::new(),
        outputs: vec![Output::log_truth()],
        numbers: vec![logs.to_vec()],
    };
    crate::reference::evaluate(&case, semantics, parameters).unwrap()
}

proptest! {
    /// max − log n/α ≤ LogMeanExp ≤ max ≤ LogSumExp ≤ max + log n/α, equations (6) and (8).
    #[test]
    fn log_mean_exp_is_bounded(
        logs in prop::collection::vec(-60.0..=0.0_f64, 1..12),
        exponent in -1.0..2.0_f64,
    ) {
        let parameters = alpha(10_f64.powf(exponent));
        let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let slack = (logs.len() as f64).ln() / parameters.alpha;
        let mean = exists(&with("logltn", &[]), &parameters, &logs).sat;
        let sum = exists(&with("logltn-lse", &[]), &parameters, &logs).sat;
        let rounding = 1e-12 * (1.0 + max.abs() + slack);
        prop_assert!(max - slack - rounding <= mean && mean <= max + rounding);
        prop_assert!(max - rounding <= sum && sum <= max + slack + rounding);
    }

    /// "Its derivative is a softmax function" that sums to 1.
    #[test]
    fn gradients_of_log_mean_exp_add_up_to_one(
        logs in prop::collection::vec(-60.0..=0.0_f64, 1..12),
        exponent in -1.0..2.0_f64,
    ) {
        let value = exists(&with("logltn", &[]), &alpha(10_f64.powf(exponent)), &logs);
        let sum: f64 = value.gradients[0].iter().sum();
        prop_assert!((sum + 1.0).abs() < 1e-12); // the loss is −sat
        prop_assert!(value.gradients[0].iter().all(|&g| (-1.0..=0.0).contains(&g)));
    }
}

/// The four inequalities of the theorem, with the truth degrees of the left and right sides.
const DE_MORGAN: [(&str, &str); 4] = [
    ("not (p() and q())", "not p() or not q()"),
    ("not (p() or q())", "not p() and not q()"),
    ("not (forall u: U. P(u))", "exists u: U. not P(u)"),
    ("not (exists u: U. P(u))", "forall u: U. not P(u)"),
];

#[test]
fn de_morgans_inequalities_hold_for_product_and_max() {
    let mut rng = Rng::new(1);
    for (left, right) in DE_MORGAN {
        let formulas = Formulas::new(&[left, right], product_and_max(), Parameters::default());
        let formulas = formulas.unwrap();
        for _ in 0..2_000 {
            let truths = formulas.truths([(); 6].map(|()| rng.uniform()));
            assert!(
                truths[0] >= truths[1] - 1e-15,
                "{left} ≥ {right}: {truths:?}"
            );
        }
    }
}

/// The corollary: the normal form of any formula is at most as true as the formula, and as true if it
/// is in normal form already.
#[test]
fn the_normal_form_is_a_lower_bound() {
    let log = with("logltn-max", &[("forall", "sum")]);
    let (mut compared, mut strictly_below, mut already_normal) = (0, 0, 0);
    for seed in 0..600 {
        let random = random_case(seed);
        let mut case = random.case;
        for (output, numbers) in case.outputs.iter_mut().zip(&mut case.numbers) {
            // Truth degrees that survive the way there and back to nine digits.
            let mut rng = Rng::new(seed);
            *output = Output::log_truth();
            numbers
                .iter_mut()
                .for_each(|x| *x = rng.in_range(0.01, 0.99).ln());
        }
        let parameters = Parameters::default();
        let Ok(in_logs) = crate::reference::evaluate(&case, &log, &parameters) else {
            continue; // no axiom with a weight
        };
        let as_written =
            crate::reference::evaluate(&case, &product_and_max(), &parameters).unwrap();
        for (normal, written) in in_logs.axioms.iter().zip(&as_written.axioms) {
            let difference = written.truth - normal.truth.exp();
            assert!(
                difference >= -1e-9,
                "seed {seed}, {}: {difference}\n{}",
                normal.name,
                random.text
            );
            let axiom = &case.theory.axioms[normal.axiom];
            let show = |formula| case.theory.show(axiom, formula);
            if show(&axiom.formula) == show(&axiom.formula.nnf().unwrap()) {
                assert!(
                    difference <= 1e-9,
                    "seed {seed}, {}\n{}",
                    normal.name,
                    random.text
                );
                already_normal += 1;
            }
            compared += 1;
            strictly_below += u32::from(difference > 1e-6);
        }
    }
    println!("{strictly_below} of {compared} strictly below, {already_normal} in normal form");
    assert!(compared > 1000 && already_normal > 300 && strictly_below * 20 > compared);
}

/// min − product: how far apart the two sides of De Morgan's inequality for ∧ are. That for ∨ is the
/// same at 1 − x.
fn delta(degrees: &[f64]) -> f64 {
    let least = degrees.iter().copied().fold(1.0, f64::min);
    least - degrees.iter().product::<f64>()
}

#[test]
fn the_gap_is_what_the_formulas_say() {
    let formulas: Vec<&str> = DE_MORGAN.iter().flat_map(|(l, r)| [*l, *r]).collect();
    let formulas = Formulas::new(&formulas, product_and_max(), Parameters::default()).unwrap();
    let mut rng = Rng::new(2);
    for _ in 0..500 {
        let degrees = [(); 6].map(|()| rng.uniform());
        let truths = formulas.truths(degrees);
        let [p, q, _, u @ ..] = degrees;
        let gaps = [
            delta(&[p, q]),
            delta(&[1.0 - p, 1.0 - q]),
            delta(&u),
            delta(&u.map(|x| 1.0 - x)),
        ];
        for (index, gap) in gaps.into_iter().enumerate() {
            let found = truths[2 * index] - truths[2 * index + 1];
            assert!(
                (found - gap).abs() < 1e-12,
                "{:?}: {found}, {gap}",
                DE_MORGAN[index]
            );
        }
    }
}

/// The average gap for n = 2 on a grid of `points` × `points`, ends included, one point after the other.
fn average_of_pairs(points: usize) -> f64 {
    let degree = |i: usize| i as f64 / (points - 1) as f64;
    let rows = (0..points).map(|i| {
        (0..points)
            .map(|j| delta(&[degree(i), degree(j)]))
            .sum::<f64>()
    });
    rows.sum::<f64>() / (points * points) as f64
}

/// The average gap on a grid of `points` per axis in n dimensions, each multiset of coordinates once,
/// times the number of its orders.
fn average_of_tuples(points: usize, n: usize) -> f64 {
    fn visit(points: usize, least: usize, left: usize, so_far: &mut Vec<usize>, sum: &mut f64) {
        if left == 0 {
            let degrees: Vec<f64> = (so_far.iter())
                .map(|&i| i as f64 / (points - 1) as f64)
                .collect();
            let mut orders = 1.0;
            let mut run = 0;
            for (at, coordinate) in so_far.iter().enumerate() {
                run = if at > 0 && so_far[at - 1] == *coordinate {
                    run + 1
                } else {
                    1
                };
                orders *= (at + 1) as f64 / run as f64;
            }
            *sum += orders * delta(&degrees);
            return;
        }
        for coordinate in least..points {
            so_far.push(coordinate);
            visit(points, coordinate, left - 1, so_far, sum);
            so_far.pop();
        }
    }
    let mut sum = 0.0;
    visit(points, 0, n, &mut Vec::new(), &mut sum);
    sum / (points as f64).powi(n as i32)
}

#[test]
fn the_papers_average_gaps_and_their_grids() {
    let paper = |average: f64, digits: i32| (average * 10_f64.powi(digits)).round() as i64;
    // "By sampling 10e4 × 10e4 points": 0.083167 is what 1000 × 1000 points give.
    assert_eq!(paper(average_of_pairs(1000), 6), 83_167);
    // k points per axis give 1/12 − 1/(6k), so 10⁴ or 10·10⁴ per axis would have given other digits.
    for points in [2, 10, 300, 1000] {
        let expected = 1.0 / 12.0 - 1.0 / (6.0 * points as f64);
        assert!((average_of_pairs(points) - expected).abs() < 1e-12);
        assert!((average_of_tuples(points, 2) - expected).abs() < 1e-12);
    }
    assert_eq!(paper(1.0 / 12.0 - 1.0 / 6e4, 6), 83_317);
    assert_eq!(paper(1.0 / 12.0 - 1.0 / 6e5, 6), 83_332);
    // "By sampling 10e8 points linearly in the domain [0, 1]⁸": 10⁸ points, 10 per axis.
    assert_eq!(paper(average_of_tuples(10, 8), 5), 7_135);
    // That grid is so coarse that its average is a third below the mean over the cube.
    let mean = 1.0 / 9.0 - 2_f64.powi(-8);
    assert!((mean - 0.107_204_861).abs() < 1e-9);
    let mut rng = Rng::new(3);
    let samples = 400_000;
    let sampled: f64 = (0..samples)
        .map(|_| delta(&[(); 8].map(|()| rng.uniform())))
        .sum();
    assert!((sampled / f64::from(samples) - mean).abs() < 1e-3);
}

#[test]
fn the_papers_greatest_gaps() {
    for (n, at, gap) in [(2_i32, 0.5, 0.25), (8, 0.743, 0.650)] {
        let best = f64::from(n).powf(-1.0 / f64::from(n - 1));
        assert!((best - at).abs() < 5e-4);
        let greatest = delta(&vec![best; n as usize]);
        assert!((greatest - gap).abs() < 5e-4);
        let mut rng = Rng::new(4);
        for _ in 0..50_000 {
            let degrees: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
            assert!(delta(&degrees) <= greatest);
        }
    }
}

/// `forall` and `exists` of the truth degrees, as log space computes them.
fn both(semantics: &Semantics, alpha_: f64, degrees: [f64; 3]) -> (f64, f64) {
    let formulas = ["forall u: U. P(u)", "exists u: U. not P(u)"];
    let formulas = Formulas::new(&formulas, *semantics, alpha(alpha_)).unwrap();
    let truths = formulas.truths([0.5, 0.5, 0.5, degrees[0], degrees[1], degrees[2]]);
    (truths[0], truths[1])
}

/// How far ∃¬P is above ¬∀P, at worst, over a grid of truth degrees; positive where De Morgan's inequality
/// fails.
fn worst_violation(semantics: &Semantics, alpha: f64) -> (f64, [f64; 3]) {
    let steps = 20;
    let degree = |i: usize| (i as f64 / steps as f64).clamp(1e-5, 1.0 - 1e-5);
    let mut worst = (f64::NEG_INFINITY, [0.0; 3]);
    for i in 0..=steps {
        for j in i..=steps {
            for k in j..=steps {
                let degrees = [degree(i), degree(j), degree(k)];
                let (forall, exists_not) = both(semantics, alpha, degrees);
                let violation = exists_not - (1.0 - forall);
                if violation > worst.0 {
                    worst = (violation, degrees);
                }
            }
        }
    }
    worst
}

/// Where the smooth forms keep the inequality, and where and by how much they break it: the numbers of
/// `docs/semantics.md`.
#[test]
fn de_morgans_inequalities_for_the_smooth_forms() {
    let (product, mean) = (with("logltn-sum", &[]), with("logltn", &[]));
    let lse = with("logltn-lse", &[("forall", "sum")]);
    for (alpha, expected) in [
        (0.1, 0.0),
        (0.5, 0.0),
        (1.0, 0.0),
        (2.0, 0.0838),
        (4.0, 0.2013),
        (20.0, 0.3420),
        (100.0, 0.3761),
    ] {
        // LogMeanExp is at most the maximum, so what the theorem says of max stays true.
        let (violation, _) = worst_violation(&product, alpha);
        assert!(violation <= 1e-9, "product, α = {alpha}: {violation}");
        // With the mean as `forall`, a geometric mean of truth degrees, only up to α = 1.
        let (violation, at) = worst_violation(&mean, alpha);
        let same = (violation - expected).abs() < 1e-4;
        assert!(same, "mean, α = {alpha}: {violation} at {at:?}");
        // LogSumExp leaves [0, 1], at worst by n^(1/α) − 1.
        let (violation, at) = worst_violation(&lse, alpha);
        let expected = 3_f64.powf(1.0 / alpha) - 1.0;
        let same = (violation / expected - 1.0).abs() < 1e-2;
        assert!(same, "LogSumExp, α = {alpha}: {violation} at {at:?}");
    }
}

/// ¬(p ∧ q) ≥ ¬p ∨ ¬q and ¬(p ∨ q) ≥ ¬p ∧ ¬q with LogMeanExp, whose truth degree is a power mean.
#[test]
fn de_morgans_inequalities_for_smooth_connectives() {
    let formulas = [
        "p() and q()",
        "not p() or not q()",
        "p() or q()",
        "not p() and not q()",
    ];
    let mut rng = Rng::new(8);
    for exponent in [-1.0, 0.0, 0.5, 1.0, 2.0] {
        let parameters = alpha(10_f64.powf(exponent));
        let formulas = Formulas::new(&formulas, with("logltn", &[]), parameters).unwrap();
        for _ in 0..500 {
            let truths = formulas.truths([(); 6].map(|()| rng.in_range(1e-5, 1.0 - 1e-5)));
            assert!(1.0 - truths[0] >= truths[1] - 1e-12, "∧: {truths:?}");
            assert!(1.0 - truths[2] >= truths[3] - 1e-12, "∨: {truths:?}");
        }
    }
}

/// The table in "Numerical stability of log negations": f2 and its derivative, for sigmoid and softmax.
#[test]
fn log_negations_are_stable() {
    let theory = "predicate S() axiom a: not S()";
    let theory = Theory::parse(Source::new("not.ltn", theory)).unwrap();
    for (x, value, slope) in [
        (0.0, -std::f64::consts::LN_2, -0.5),
        (
            10.0,
            -10.0 - (-10_f64).exp(),
            -1.0 / (1.0 + (-10_f64).exp()),
        ),
        (100.0, -100.0, -1.0),
        (1_000.0, -1_000.0, -1.0),
        (10_000.0, -10_000.0, -1.0),
    ] {
        let case = Case {
            data: Data::new(&theory),
            theory: theory.clone(),
            params: Vec::new(),
            outputs: vec![Output::sigmoid()],
            numbers: vec![vec![x]],
        };
        let found =
            crate::reference::evaluate(&case, &Semantics::default(), &Parameters::default());
        let found = found.unwrap();
        assert!((found.sat - value).abs() <= 1e-9 * value.abs(), "{x}");
        assert!((found.gradients[0][0] + slope).abs() <= 1e-9, "{x}"); // the loss is −sat
    }
}

/// Appendix "Simplification of Log Sigmoid": for large negative x, log S(x) is not about −N with
/// N = e⁻ˣ, as printed, but about −log N = x.
#[test]
fn the_log_of_a_small_sigmoid() {
    let log_sigmoid = |x: f64| (1.0 / (1.0 + (-x).exp())).ln();
    for x in [-10.0, -20.0, -30.0] {
        let n = f64::exp(-x);
        assert!((log_sigmoid(x) + n.ln()).abs() < 1e-4);
        assert!((log_sigmoid(x) + n).abs() > 1e4);
    }
}
