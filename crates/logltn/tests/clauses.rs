//! Small clauses, which the engine evaluates in one pass, against the same clauses evaluated node by node: same
//! values, same gradients; and the gradients against differences.
//!
//! `LOGLTN_RANDOM_CASES=20000 cargo test --release --test all clauses::` looks further than CI does.

use logltn::Precision;
use logltn::{
    ConstantData, Data, Engine, Fusing, Output, Parameters, Plan, Semantics, Source, Theory,
};

/// A reproducible generator.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6364136223846793005)).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

fn number_of_cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(600, |n| n.parse().expect("a number"))
}

/// An atom: of classes or not, of one individual, two, or none that varies.
fn atom(random: &mut Random) -> &'static str {
    random.pick(&[
        "C(x, c)", "C(y, c)", "C(x, c)", "D(y, c)", "D(x, c)", "C(x, 0)", "D(y, 0)", "P(x)",
        "P(y)", "Q(y)", "R(x, y)", "R(y, y)", "C(a, c)", "P(a)",
    ])
}

fn formula(random: &mut Random) -> String {
    let literal = |random: &mut Random| {
        let negation = random.pick(&["", "", "not "]);
        format!("{negation}{}", atom(random))
    };
    let connective = random.pick(&["->", "->", "->", "or", "or", "and"]);
    let count = match connective {
        "->" => 2,
        _ => 2 + random.below(4),
    };
    let literals: Vec<String> = (0..count).map(|_| literal(random)).collect();
    let guard = random.pick(&[
        "",
        "",
        "where dist(x, y) < near ",
        "where dist(x, y) < near ",
        "where x != y ",
        "where dist(x, y) < nothing ",
        "where x = y ",
    ]);
    let binders = random.pick(&["c: K, x: A, y: A", "x: A, y: A, c: K", "x: A, c: K, y: A"]);
    if random.below(5) == 0 {
        let atom = random.pick(&["C(x, c)", "D(y, c)", "not C(y, c)", "C(a, c)", "C(x, 0)"]);
        return match random.below(3) {
            0 => format!("forall x, y: A {guard}. exists c: K. {atom}"),
            1 => format!("forall x, y: A {guard}. exists c: K where c < 2. {atom}"),
            _ => format!("forall c: K. exists x, y: A {guard}. {atom}"),
        };
    }
    let quantifier = random.pick(&["forall", "forall", "forall", "exists"]);
    format!(
        "{quantifier} {binders} {guard}. {}",
        literals.join(&format!(" {connective} "))
    )
}

struct Case {
    text: String,
    plan: Plan,
    /// By predicate.
    scale: f64,
    seed: u64,
    parameters: Parameters,
}

fn case(seed: u64, name: &str) -> Case {
    let mut random = Random(seed);
    let random = &mut random;
    random.unit();
    let formulas: Vec<String> = (0..1 + random.below(3))
        .map(|i| format!("axiom a{i} (weight {}): {}", 1 + i, formula(random)))
        .collect();
    let classes = 2 + random.below(19);
    let text = format!(
        "sort A  sort K = 0..{}  constant a: A  param near  param nothing
        predicate C(A, K)  predicate D(A, K)  predicate P(A)  predicate Q(A)  predicate R(A, A)
        {}",
        classes - 1,
        formulas.join("\n        ")
    );
    let theory = Theory::parse(Source::new("clauses.ltn", text.clone())).expect("a theory");
    let individuals = 1 + random.below(13);
    let features = (0..2 * individuals).map(|_| random.unit()).collect();
    let mut data = Data::new(&theory);
    data.set_features("A", 2, features).expect("features");
    data.set_constant("a", ConstantData::Row(0))
        .expect("a constant");
    data.set_param("near", 0.2 + random.unit())
        .expect("a param");
    data.set_param("nothing", -1.0).expect("a param");
    let second = [Output::sigmoid().per_class(), Output::softmax()][random.below(2)];
    let fourth = [Output::truth(), Output::sigmoid()][random.below(2)];
    let outputs = [
        Output::softmax(),
        second,
        Output::sigmoid(),
        fourth,
        Output::sigmoid(),
    ];
    let semantics = Semantics::named(name).expect("a semantics");
    let plan = Plan::new(&data, &outputs, &semantics).expect("a plan");
    let alpha = [0.1, 1.0, 2.0, 4.0, 50.0][random.below(5)];
    let p = [1.0, 2.0, 3.0, 4.5, 30.0][random.below(5)];
    let parameters = Parameters {
        alpha,
        p: [1.0, 2.0, 2.5, 6.0][random.below(4)],
        p_forall: p,
    };
    let scale = [1.0, 3.0, 30.0, 1e4][random.below(4)];
    Case {
        text,
        plan,
        scale,
        seed,
        parameters,
    }
}

/// Loss, truths, gradients.
struct Answer {
    values: Vec<f64>,
    gradients: Vec<f64>,
    norms: Vec<f64>,
}

fn fill<T: Precision>(engine: &mut Engine<T>, case: &Case) {
    let mut random = Random(!case.seed);
    random.unit();
    for request in 0..engine.requests().len() {
        let predicate = engine.requests()[request].predicate.0 as usize;
        for x in engine.numbers_mut(request) {
            let u = random.unit();
            // The fourth predicate may be one of truth degrees; all else are logits.
            *x = T::from_f64(match predicate {
                3 => 0.1 + 0.8 * u,
                _ => case.scale * (2.0 * u - 1.0),
            });
        }
    }
}

fn answer<T: Precision>(case: &Case, fusing: Fusing) -> Answer {
    let mut engine = Engine::<T>::new(case.plan.clone());
    engine.set_fusing(fusing);
    // What was there before must not matter.
    let before = engine.evaluate_with_gradients(&Parameters::default());
    assert!(before.is_ok());
    fill(&mut engine, case);
    let values_only = engine.evaluate(&case.parameters).expect("a loss").clone();
    let value = (engine.evaluate_with_gradients(&case.parameters)).expect("a loss");
    assert_eq!(values_only, *value, "with and without gradients");
    let mut values = vec![value.loss, value.sat];
    values.extend(value.axioms.iter().map(|a| a.truth));
    values.extend(value.axioms.iter().map(|a| a.empty_exists as f64));
    let mut gradients = Vec::new();
    for request in 0..engine.requests().len() {
        gradients.extend(engine.gradient(request).iter().map(|g| g.to_f64()));
    }
    Answer {
        values,
        gradients,
        norms: engine.axiom_gradient_norms(&case.parameters),
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Differences between the two ways of one precision.
fn differences<T: Precision>(case: &Case, tolerance: f64, wrong: &mut Vec<String>) -> bool {
    let (fused, plain) = (
        answer::<T>(case, Fusing::Always),
        answer::<T>(case, Fusing::Never),
    );
    let mut check = |what: &str, a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            if !near(*a, *b, tolerance) {
                wrong.push(format!(
                    "seed {}, {}, {what} {i}: in one go {a:e}, node by node {b:e}\n{}",
                    case.seed,
                    case.plan.semantics(),
                    case.text
                ));
            }
        }
    };
    check("value", &fused.values, &plain.values);
    check("gradient", &fused.gradients, &plain.gradients);
    check("norm", &fused.norms, &plain.norms);
    // Not vacuous: where the way matters at all, the last bits differ somewhere.
    fused.gradients != plain.gradients || fused.values != plain.values
}

#[test]
fn in_one_go_and_node_by_node_agree() {
    let mut wrong = Vec::new();
    let mut changed = [0, 0];
    let names: Vec<&str> = (crate::cases::operators().into_iter())
        .chain(["logltn", "logltn", "stable", "prod"])
        .collect();
    for seed in 0..number_of_cases() {
        let name = names[seed as usize % names.len()];
        let case = case(seed, name);
        changed[0] += u32::from(differences::<f64>(&case, 1e-9, &mut wrong));
        // Large logits of single precision have few digits behind the point, and α multiplies what is lost.
        let lost = 1e-6 * case.scale.max(1.0) * case.parameters.alpha.max(1.0);
        // A truth degree of 1e-4, the least that `prod` takes the log of, has four digits left.
        let least: f64 = if name == "prod" { 5e-3 } else { 2e-4 };
        changed[1] += u32::from(differences::<f32>(&case, lost.max(least), &mut wrong));
    }
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    for changed in changed {
        assert!(
            u64::from(changed) > number_of_cases() / 5,
            "{changed} of {} cases have small clauses",
            number_of_cases()
        );
    }
}

/// The derivative by each number is the slope of the loss.
#[test]
fn gradients_are_slopes() {
    let mut checked = 0;
    for seed in 0..number_of_cases() / 10 {
        for name in ["logltn", "logltn-lse", "stable", "prod"] {
            let mut case = case(seed, name);
            case.scale = case.scale.min(3.0);
            case.parameters = Parameters {
                alpha: case.parameters.alpha.min(4.0),
                p: case.parameters.p,
                p_forall: case.parameters.p_forall.min(6.0),
            };
            let mut engine = Engine::<f64>::new(case.plan.clone());
            engine.set_fusing(Fusing::Always);
            fill(&mut engine, &case);
            (engine.evaluate_with_gradients(&case.parameters)).expect("a loss");
            for request in 0..engine.requests().len() {
                let count = engine.gradient(request).len();
                for at in (0..count).step_by(1 + count / 5) {
                    let expected = engine.gradient(request)[at];
                    let mut loss = |by: f64| {
                        engine.numbers_mut(request)[at] += by;
                        let loss = engine.evaluate(&case.parameters).expect("a loss").loss;
                        engine.numbers_mut(request)[at] -= by;
                        loss
                    };
                    let slope = (loss(1e-5) - loss(-1e-5)) / 2e-5;
                    // What is 0 up to rounding has no digits to compare.
                    assert!(
                        near(slope, expected, 1e-6),
                        "seed {seed}, {name}: {slope} and {expected}\n{}",
                        case.text
                    );
                    checked += u32::from(expected != 0.0);
                }
            }
        }
    }
    assert!(checked > 100, "{checked} slopes");
}

/// `check --plan` says which quantifiers are about a small clause.
#[test]
fn the_plan_says_so() {
    let shown = |formula: &str, semantics: &str| {
        let text = format!("sort A = 0..2  predicate P(A)  predicate Q(A)  axiom a: {formula}");
        let theory = Theory::parse(Source::new("clauses.ltn", text)).expect("a theory");
        let outputs = [Output::sigmoid(), Output::sigmoid()];
        let semantics = Semantics::named(semantics).expect("a semantics");
        let plan = Plan::new(&Data::new(&theory), &outputs, &semantics).expect("a plan");
        plan.to_string()
            .contains("a clause of 2 literals: value and derivatives in one pass")
    };
    for semantics in [
        "logltn",
        "logltn-sum",
        "logltn-max",
        "logltn-lse",
        "stable",
        "prod",
    ] {
        assert!(shown("forall x: A. P(x) -> Q(x)", semantics), "{semantics}");
        assert!(!shown("forall x: A. P(x)", semantics), "{semantics}");
    }
    // Another connective on top, and an operator that is no product.
    assert!(!shown("(forall x: A. P(x) -> Q(x)) or Q(0)", "logltn"));
    assert!(!shown("forall x: A. P(x) -> Q(x)", "lukasiewicz"));
}

/// `forall x, y: A. …` over this many individuals, every predicate with its own output kind.
fn pairs<T: Precision>(
    formula: &str,
    individuals: usize,
    output: Output,
    fusing: Fusing,
) -> Engine<T> {
    let text =
        format!("sort A  predicate P(A)  predicate Q(A)  axiom a: forall x, y: A. {formula}");
    let theory = Theory::parse(Source::new("pairs.ltn", text)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_size("A", individuals).expect("a size");
    let semantics = Semantics::named("logltn").expect("a semantics");
    let plan = Plan::new(&data, &[output, output], &semantics).expect("a plan");
    let mut engine = Engine::new(plan);
    engine.set_fusing(fusing);
    engine
}

#[test]
fn norms_do_not_remember_evaluations() {
    let mut engine: Engine<f64> = pairs("P(x) -> Q(y)", 20, Output::sigmoid(), Fusing::Always);
    for i in 0..2 {
        let numbers = engine.numbers_mut(i).iter_mut().enumerate();
        numbers.for_each(|(j, x)| *x = (i + j) as f64 / 7.0 - 1.0);
    }
    let parameters = Parameters::default();
    engine.evaluate_with_gradients(&parameters).expect("a loss");
    let first = engine.axiom_gradient_norms(&parameters);
    for _ in 0..2 {
        engine.evaluate(&parameters).expect("a loss");
        let again = engine.axiom_gradient_norms(&parameters);
        assert_eq!(first, again);
    }
}

/// Where nearly all exponentials are too small, node by node is quicker: then that is what is done, to the last bit, and
/// in the step after it the clause is back.
#[test]
fn small_exponentials_go_node_by_node_for_that_step_only() {
    let steps = |fusing| -> Vec<(f64, Vec<f32>)> {
        let mut engine: Engine<f32> = pairs("P(x) or Q(y)", 40, Output::sigmoid(), fusing);
        let mut step = |logit: f32| {
            for i in 0..2 {
                let numbers = engine.numbers_mut(i).iter_mut().enumerate();
                numbers.for_each(|(j, x)| *x = logit + (i + j) as f32 / 70.0);
            }
            let evaluation = engine.evaluate_with_gradients(&Parameters::default());
            let loss = evaluation.expect("a loss").loss;
            (loss, engine.gradient(0).to_vec())
        };
        [-0.5, -200.0, -0.5].map(&mut step).to_vec()
    };
    let chosen = steps(Fusing::WhereCheaper);
    assert_eq!(chosen[0], steps(Fusing::Always)[0]);
    assert_eq!(chosen[1], steps(Fusing::Never)[1]);
    assert_eq!(chosen[2], chosen[0]);
}
