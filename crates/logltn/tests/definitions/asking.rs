//! Questions about definitions: explanations that go into them, and what they say of tuples.

use logltn::theory::{ColumnSort, DefinitionId};
use logltn::{Answers, Explanation, Violation};

use super::*;

/// The numbers of all requests, as in [`run`].
fn fill_in(seed: u64, engine: &mut Engine<f64>) {
    for (i, request) in engine.requests().to_vec().iter().enumerate() {
        let theory = engine.plan().data().theory();
        let name = theory[request.predicate].name.clone();
        for row in 0..request.rows() {
            for class in 0..request.width {
                let x = number(seed, &(name.clone(), request.row(row).to_vec(), class));
                engine.numbers_mut(i)[row * request.width + class] = match name.as_str() {
                    "R" => 1.0 / (1.0 + (-x).exp()),
                    _ => x,
                };
            }
        }
    }
}

fn explain(seed: u64, data: &Data, setup: &Setup, open: bool) -> Result<Vec<Explanation>, String> {
    let (semantics, parameters, options, _) = setup;
    let plan = Plan::for_explaining(data, &outputs(data), semantics, options);
    let mut engine = Engine::<f64>::new(plan.map_err(|e| e.to_string())?);
    if open {
        let names = data.theory().definitions.iter();
        engine.open_definitions(&names.map(|d| d.name().to_string()).collect::<Vec<_>>());
    }
    fill_in(seed, &mut engine);
    engine.explain(parameters, 0).map_err(|e| e.to_string())
}

fn literals(violation: &Violation) -> BTreeMap<&str, (f64, f64)> {
    let literals = violation.literals.iter();
    literals
        .map(|l| (l.text.as_str(), (l.truth, l.blame)))
        .collect()
}

fn bound(violation: &Violation) -> Vec<String> {
    violation.binding.iter().map(|b| b.to.to_string()).collect()
}

fn compare(a: &Violation, b: &Violation) -> Result<(), String> {
    if !near(a.truth, b.truth, 1e-9) {
        return Err(format!("truth: {} and {}", a.truth, b.truth));
    }
    let (x, y) = (literals(a), literals(b));
    if !x.keys().eq(y.keys()) {
        return Err(format!("literals: {x:?}\nand {y:?}"));
    }
    for (literal, (truth, blame)) in &x {
        let (other, other_blame) = y[literal];
        if !near(*truth, other, 1e-9) || !near(*blame, other_blame, 1e-8) {
            return Err(format!(
                "{literal}: {truth} {blame} and {other} {other_blame}"
            ));
        }
    }
    // A tuple that several ask for is gone into once.
    let truths = |v: &Violation| -> Vec<f64> {
        let truest = v.witnesses.iter().filter_map(|w| w.truest.as_ref());
        truest.map(|(_, truth)| *truth).collect()
    };
    let (x, y) = (truths(a), truths(b));
    match x.iter().all(|x| y.iter().any(|y| near(*x, *y, 1e-9))) {
        true => Ok(()),
        false => Err(format!("witnesses: {x:?} and {y:?}")),
    }
}

/// An explanation that goes into all definitions is that of the written-out formula.
#[test]
fn opened_definitions_against_the_written_out_text() {
    let mut compared = 0;
    for seed in 0..cases() {
        let (case, setup) = (case(seed), setup(seed));
        // Where least or greatest members are equal, either may be shown.
        let picks = ["godel", "logltn-max", "lukasiewicz", "goguen"];
        // A negated use of a literal is that literal, negated or not.
        // Under `probability` formulas are events, which have no parts.
        if picks.contains(&setup.0.name) || setup.0.exact || case.has_literal {
            continue;
        }
        let named = explain(seed, &data(&case, &case.named), &setup, true);
        let written = explain(seed, &data(&case, &case.written), &setup, true);
        let (Ok(named), Ok(written)) = (named, written) else {
            continue;
        };
        for (a, b) in named.iter().zip(&written) {
            // A `forall` that a definition begins with is at the root of the other formula.
            let variables = |e: &Explanation| e.worst.first().map_or(0, |w| w.binding.len());
            if a.groundings != b.groundings || variables(a) != variables(b) {
                continue;
            }
            for worst in &a.worst {
                let same = b.worst.iter().filter(|w| bound(w) == bound(worst));
                let found: Vec<_> = same.map(|w| compare(worst, w)).collect();
                let fits = found.iter().any(Result::is_ok);
                let (semantics, texts) = (setup.0.name, (&case.named, &case.written));
                assert!(
                    fits,
                    "seed {seed}, {semantics}, axiom {}, {:?}: {found:?}\n{}\n{}",
                    a.name,
                    bound(worst),
                    texts.0,
                    texts.1
                );
                compared += 1;
            }
        }
    }
    assert!(2 * compared > cases(), "{compared}");
}

/// Formulas of `U(x)` and `P(x)` that no truth of `U` changes.
const CONSTANT: [&str; 7] = [
    "U(x) <-> not U(x)",
    "U(x) or not U(x)",
    "U(x) and not U(x)",
    "(U(x) and P(x)) -> U(x)",
    "exists y: B where y = x. U(x) and not U(y)",
    "exists y: B where E(y, y) and not E(y, y). U(x) and P(y)",
    "P(x) or (U(x) and not U(x))",
];

/// Axioms can be explained in every semantics, with and without what their definitions say, also where nothing but a
/// constant event mentions a predicate. What is found of a binding does not hang on what is opened.
#[test]
fn random_explanations_with_and_without_definitions() {
    let mut compared = 0;
    for seed in 0..cases() / 5 {
        let (case, mut setup) = (case(seed), setup(seed));
        let mut rng = Rng::new(seed ^ 0x5eed);
        let constant = rng.pick::<&str>(&CONSTANT);
        let law = match rng.chance(0.5) {
            true => "axiom law: forall x: B. U(x) -> V(x)",
            false => "",
        };
        let head = format!("predicate U(B)\npredicate V(B)\n{law}");
        let named = format!(
            "{}{head}\ndefine C(x: B): {constant}\naxiom c: forall x: B. C(x)\n",
            case.named
        );
        let written = format!(
            "{}{head}\naxiom c: forall x: B. ({constant})\n",
            case.written
        );
        for name in Semantics::NAMES {
            setup.0 = Semantics::named(name).unwrap();
            if !setup.0.exact && !law.is_empty() {
                continue;
            }
            let data_of = |text: &str| {
                let mut data = data(&case, text);
                if !law.is_empty() {
                    data.set_laws(["law"]);
                }
                data
            };
            let closed = explain(seed, &data_of(&named), &setup, false);
            let open = explain(seed, &data_of(&named), &setup, true);
            let out = explain(seed, &data_of(&written), &setup, false);
            let show = |what: &str| format!("seed {seed}, {name}: {what}\n{named}");
            let (closed, open) = match (closed, open) {
                (Ok(closed), Ok(open)) => (closed, open),
                (Err(a), Err(b)) => {
                    assert_eq!(a, b, "{}", show("refused in two ways"));
                    continue;
                }
                (a, b) => panic!("{}", show(&format!("{:?} {:?}", a.err(), b.err()))),
            };
            for (a, b) in closed.iter().zip(&open) {
                let truths =
                    |e: &Explanation| -> Vec<f64> { e.worst.iter().map(|w| w.truth).collect() };
                assert_eq!(truths(a), truths(b), "{}", show(&a.name));
            }
            if !setup.0.exact {
                continue;
            }
            // Events are those of the written-out formula, and so are the literals that they hang on.
            let out = out.unwrap_or_else(|e| panic!("{}", show(&e)));
            for (a, b) in open.iter().zip(&out) {
                for (worst, other) in a.worst.iter().zip(&b.worst) {
                    let found = compare(worst, other);
                    assert_eq!(found, Ok(()), "{}", show(&a.name));
                    compared += 1;
                }
            }
            // Nobody tells U from what it is given the law.
            let explained = open.last().expect("the axiom of constants");
            for literal in explained.worst.iter().flat_map(|w| &w.literals) {
                let Some(at) = literal.text.strip_prefix("U(b") else {
                    continue;
                };
                let at: u32 = at.trim_end_matches(')').parse().unwrap();
                let chance = |p: &str| {
                    let x = number(seed, &(p.to_string(), vec![at], 0));
                    1.0 / (1.0 + (-x).exp())
                };
                let (u, v) = (chance("U"), chance("V"));
                let expected = match law.is_empty() {
                    true => u,
                    false => u * v / (1.0 - u * (1.0 - v)),
                };
                let what = format!("{} {} {expected}", literal.text, literal.truth.exp());
                let fits = near(literal.truth.exp(), expected, 1e-9);
                assert!(fits && near(literal.blame, 0.0, 1e-9), "{}", show(&what));
            }
        }
    }
    assert!(compared > cases() / 5, "{compared}");
}

/// The values of definitions for tuples, in any order and repeated, is what a question finds.
#[test]
fn truths_of_tuples_against_questions() {
    let mut compared = 0;
    for seed in 0..cases() / 5 {
        let (case, (semantics, parameters, options, _)) = (case(seed), setup(seed));
        if semantics.exact {
            continue;
        }
        let data = data(&case, &case.named);
        let theory = data.theory();
        for (id, definition) in theory.definitions.iter().enumerate() {
            let parameters_of = definition.parameters();
            let names: Vec<&str> = parameters_of.iter().map(|p| p.name.as_str()).collect();
            let binders: Vec<String> = (parameters_of.iter())
                .map(|p| format!("{}: {}", p.name, theory.column_sort_name(p.sort)))
                .collect();
            let mut question = format!("{}({})", definition.name(), names.join(", "));
            if !binders.is_empty() {
                question = format!("find {}. {question}", binders.join(", "));
            }
            let query = theory.parse_query(Source::new("q", &question)).unwrap();
            let outputs = outputs(&data);
            let plan = Plan::for_query(&data, &outputs, &semantics, &query, &options);
            let sizes: Vec<usize> = (parameters_of.iter())
                .map(|p| match p.sort {
                    ColumnSort::Sort(sort) => data.size(sort),
                    _ => unreachable!("parameters are individuals"),
                })
                .collect();
            let mut rng = Rng::new(seed);
            let rows = 1 + rng.below(6) * usize::from(!sizes.is_empty());
            let tuples: Vec<u32> = (0..rows)
                .flat_map(|_| {
                    sizes
                        .iter()
                        .map(|n| rng.below(*n) as u32)
                        .collect::<Vec<_>>()
                })
                .collect();
            let id = DefinitionId(id as u32);
            let ours = Plan::for_definition(&data, &outputs, &semantics, id, &tuples, &options);
            let (Ok(plan), Ok(ours)) = (plan, ours) else {
                continue;
            };
            let mut engine = Engine::<f64>::new(plan);
            fill_in(seed, &mut engine);
            let answers = engine.answers(&parameters, 0).unwrap();
            let mut engine = Engine::<f64>::new(ours);
            fill_in(seed, &mut engine);
            let truths = engine.truths_in_order(&parameters).unwrap();
            assert_eq!(
                truths.len(),
                rows,
                "seed {seed} {} {question} {tuples:?}",
                semantics.name
            );
            for (row, truth) in truths.into_iter().enumerate() {
                let tuple = &tuples[row * sizes.len()..][..sizes.len()];
                let known = match &answers {
                    Answers::Closed(known) => *known,
                    Answers::Open { answers, .. } => {
                        let is_it = |bound: &[logltn::Bound]| {
                            let mut pairs = bound.iter().zip(tuple);
                            pairs.all(|(b, i)| b.individual.is_some_and(|(_, at)| at == *i))
                        };
                        let mut same = answers.iter().filter(|a| is_it(&a.binding));
                        same.next().expect("an answer").truth
                    }
                };
                assert!(
                    near(truth, known, 1e-9),
                    "seed {seed}: {question} at {tuple:?}: {truth} and {known}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > cases() / 5, "{compared}");
}
