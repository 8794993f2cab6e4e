//! Questions and explanations against brute force, on random theories.
//!
//! `LOGLTN_RANDOM_CASES=100000 cargo test --release --test all asking::` looks further than CI does.

use crate::cases::compare::near;
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use crate::reference::explain::{Blamed, Bound as Expected, bindings};
use crate::reference::{Case, Environment, TieRule, Ties};
use logltn::theory::{Axiom, Formula, FormulaKind, Quantifier};
use logltn::{
    Answers, Bound, Engine, Explanation, Parameters, Plan, PlanOptions, Rule, Semantics, Source,
    Violation,
};

const TOLERANCE: f64 = 1e-9;

fn number_of_cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(800, |n| n.parse().expect("a number"))
}

/// Fills in the numbers of a case.
fn filled(plan: Plan, case: &Case) -> Engine<f64> {
    let mut engine = Engine::<f64>::new(plan);
    fill_in(&mut engine, case);
    engine
}

fn fill_in(engine: &mut Engine<f64>, case: &Case) {
    for index in 0..engine.requests().len() {
        let request = engine.requests()[index].clone();
        let predicate = request.predicate;
        for row in 0..request.rows() {
            let mut individuals = request.row(row).to_vec();
            if case.outputs[predicate].per_class {
                individuals.push(0);
            }
            let first = case.position(predicate, &individuals);
            let from = &case.numbers[predicate][first..first + request.width];
            engine.numbers_mut(index)[row * request.width..][..request.width].copy_from_slice(from);
        }
    }
}

/// The same bindings by name.
fn named(case: &Case, cells: &[crate::reference::Cell]) -> Vec<String> {
    let name = |cell: &crate::reference::Cell| match *cell {
        crate::reference::Cell::Individual(sort, index) => {
            logltn::Individual::of(&case.theory, sort, index).to_string()
        }
        crate::reference::Cell::Number(crate::reference::Num::Int(n)) => n.to_string(),
        crate::reference::Cell::Number(crate::reference::Num::Real(x)) => x.to_string(),
    };
    cells.iter().map(name).collect()
}

fn written(binding: &[Bound]) -> Vec<String> {
    binding.iter().map(|b| b.to.to_string()).collect()
}

fn options(rng: &mut Rng) -> PlanOptions {
    PlanOptions {
        always: rng.chance(0.5),
        narrow: rng.chance(0.7),
        eliminate: rng.chance(0.8),
        ..PlanOptions::default()
    }
}

/// Compares a ranking with all bindings, the first to come sorted first. Where rounding decides between two, either may
/// come first.
fn compare_ranking(
    found: &[(Vec<String>, f64)],
    expected: &[(Vec<String>, f64)],
    top: usize,
) -> Result<(), String> {
    let wanted = if top == 0 {
        expected.len()
    } else {
        top.min(expected.len())
    };
    if found.len() != wanted {
        return Err(format!("{} bindings, expected {wanted}", found.len()));
    }
    for (rank, (found, expected_here)) in found.iter().zip(expected).enumerate() {
        if !near(found.1, expected_here.1, TOLERANCE) {
            return Err(format!(
                "rank {rank}: {found:?}, expected {expected_here:?}"
            ));
        }
        let close = |other: &&(Vec<String>, f64)| near(other.1, found.1, 2.0 * TOLERANCE);
        let mut candidates = expected.iter().filter(close);
        if !candidates.any(|other| other.0 == found.0) {
            return Err(format!(
                "rank {rank}: {found:?}, expected {expected_here:?}"
            ));
        }
    }
    Ok(())
}

#[derive(Default, Debug)]
struct Counts {
    rankings: u32,
    closed: u32,
    blames: u32,
    witnesses: u32,
    refused: u32,
    unclear: u32,
}

fn environments<'c>(case: &'c Case, axiom: usize) -> Vec<(String, Environment<'c>)> {
    crate::reference::family(case, axiom).unwrap_or_default()
}

fn explain_case(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    rng: &mut Rng,
    counts: &mut Counts,
) -> Result<(), String> {
    let plan = Plan::for_explaining(&case.data, &case.outputs, semantics, &options(rng));
    let evaluated = crate::reference::evaluate(case, semantics, parameters);
    let (plan, evaluated) = match (plan, evaluated) {
        (Err(_), Err(_)) => {
            counts.refused += 1;
            return Ok(());
        }
        (Err(errors), Ok(_)) => return Err(format!("refused: {errors}")),
        // Who explains axioms does not weigh them.
        (Ok(_), Err(error)) if error.contains("weights") => {
            counts.refused += 1;
            return Ok(());
        }
        (Ok(_), Err(error)) => return Err(format!("must be refused: {error}")),
        (Ok(plan), Ok(evaluated)) => (plan, evaluated),
    };
    if evaluated.jump_gap < 1e-10 || !evaluated.sat.is_finite() {
        counts.unclear += 1;
        return Ok(());
    }
    let top = *rng.pick(&[0, 1, 2, 5]);
    let mut engine = filled(plan, case);
    let explained = engine.explain(parameters, top).map_err(|e| e.to_string())?;
    let mut explained = explained.iter();
    for (index, axiom) in case.theory.axioms.iter().enumerate() {
        for (name, environment) in environments(case, index) {
            let found = explained.next().ok_or("too few explanations")?;
            let value = evaluated
                .axioms
                .iter()
                .find(|a| a.name == name)
                .expect("evaluated");
            if found.name != name || !near(found.truth, value.truth, TOLERANCE) {
                return Err(format!(
                    "{} {}, expected {name} {}",
                    found.name, found.truth, value.truth
                ));
            }
            compare_explanation(
                case,
                axiom,
                &environment,
                semantics,
                parameters,
                top,
                found,
                counts,
            )
            .map_err(|error| format!("axiom {name}: {error}\n{found:#?}"))?;
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn compare_explanation(
    case: &Case,
    axiom: &Axiom,
    environment: &Environment,
    semantics: &Semantics,
    parameters: &Parameters,
    top: usize,
    found: &Explanation,
    counts: &mut Counts,
) -> Result<(), String> {
    let by_rule = |rule| {
        let ties = Ties {
            rule,
            tolerance: 1e-10,
            ..Ties::default()
        };
        bindings(case, axiom, environment, None, semantics, parameters, ties)
    };
    let all = by_rule(TieRule::First)?;
    let others = [TieRule::Last, TieRule::Split, TieRule::Scattered(1)].map(by_rule);
    let mut expected: Vec<(Vec<String>, f64)> = (all.iter())
        .map(|b| (named(case, &b.cells), b.truth))
        .collect();
    if found.groundings != expected.len() as u64 {
        return Err(format!(
            "{} groundings, expected {}",
            found.groundings,
            expected.len()
        ));
    }
    expected.sort_by(|a, b| a.1.total_cmp(&b.1));
    let worst: Vec<(Vec<String>, f64)> = (found.worst.iter())
        .map(|v| (written(&v.binding), v.truth))
        .collect();
    compare_ranking(&worst, &expected, top)?;
    counts.rankings += 1;
    for violation in &found.worst {
        let at = |bounds: &[Expected]| {
            let mut own = bounds
                .iter()
                .filter(|b| named(case, &b.cells) == written(&violation.binding));
            own.next().cloned()
        };
        let expected = at(&all).ok_or("no such binding")?;
        let others: Vec<Expected> = (others.iter().flatten())
            .filter_map(|all| at(all))
            .collect();
        compare_violation(case, violation, &expected, &others, counts)?;
    }
    Ok(())
}

fn compare_violation(
    case: &Case,
    found: &Violation,
    expected: &Expected,
    others: &[Expected],
    counts: &mut Counts,
) -> Result<(), String> {
    if found.witnesses.len() != expected.witnesses.len() {
        // A witness decides which other witnesses there are.
        return match expected.is_close {
            true => Ok(()),
            false => Err(format!("witnesses: expected {:?}", expected.witnesses)),
        };
    }
    for (found, witness) in found.witnesses.iter().zip(&expected.witnesses) {
        assert!(found.formula.starts_with("exists "), "{}", found.formula);
        match (&found.truest, &witness.cells, witness.truth) {
            (None, None, _) => {}
            (Some((binding, truth)), Some(cells), Some(expected_truth)) => {
                let same = written(binding) == named(case, cells);
                let right = same && near(*truth, expected_truth, TOLERANCE);
                if !expected.is_close && !right {
                    return Err(format!("witness {found:?}, expected {witness:?}"));
                }
            }
            _ => return Err(format!("witness {found:?}, expected {witness:?}")),
        }
        counts.witnesses += 1;
    }
    if expected.is_close {
        counts.unclear += 1;
        return Ok(());
    }
    if found.literals.len() != expected.literals.len() {
        return Err(format!("literals: expected {:?}", expected.literals));
    }
    let mut before = f64::INFINITY;
    for literal in &found.literals {
        let individuals: Vec<u32> = literal.individuals.iter().map(|i| i.1).collect();
        let predicate = literal.predicate.expect("no definitions here");
        let position = case.position(predicate, &individuals);
        let negated = literal.text.starts_with("not ");
        let is_it = |b: &&Blamed| {
            (b.literal.predicate, b.literal.position, b.literal.negated)
                == (predicate, position, negated)
        };
        let Some(wanted) = expected.literals.iter().find(is_it) else {
            return Err(format!("{} is not to be listed", literal.text));
        };
        if !near(literal.truth, wanted.truth, TOLERANCE) {
            return Err(format!("{literal:?}, expected {wanted:?}"));
        }
        if literal.blame.abs() > before {
            return Err(format!("{} is out of order", literal.text));
        }
        before = literal.blame.abs();
        let clear = !expected.is_rough
            && others.iter().all(|other| {
                let other = other.literals.iter().find(is_it);
                other.is_some_and(|o| near(o.blame, wanted.blame, TOLERANCE))
            });
        if !clear {
            counts.unclear += 1;
        } else if !near(literal.blame, wanted.blame, TOLERANCE) {
            return Err(format!("{literal:?}, expected {wanted:?}"));
        } else {
            counts.blames += 1;
        }
    }
    Ok(())
}

fn query_case(
    case: &Case,
    semantics: &Semantics,
    parameters: &Parameters,
    rng: &mut Rng,
    counts: &mut Counts,
) -> Result<(), String> {
    for (index, axiom) in case.theory.axioms.iter().enumerate() {
        if axiom.family.is_some() {
            continue;
        }
        let text = case.theory.show(axiom, &axiom.formula);
        let root = match &axiom.formula.kind {
            FormulaKind::Quantified { quantifier, .. } => Some(*quantifier),
            _ => None,
        };
        let text = match root {
            Some(Quantifier::Forall | Quantifier::Exists) if rng.chance(0.8) => {
                let (_, rest) = text.split_once(' ').expect("a binder");
                format!("find {rest}")
            }
            _ => text,
        };
        if text.contains('#') {
            continue; // a row of data has no name
        }
        let query = (case.theory.parse_query(Source::new("query", text.as_str())))
            .map_err(|errors| errors.to_string())?;
        let mut alone = case.clone();
        alone.theory.axioms = vec![query.axiom.clone()];
        let top = *rng.pick(&[0, 1, 3]);
        let environment = Environment::new(&query.axiom);
        let expected = match query.is_open {
            true => bindings(
                &alone,
                &query.axiom,
                &environment,
                Some(1),
                semantics,
                parameters,
                Ties::default(),
            )
            .and_then(|all| {
                crate::reference::check_formula(&alone, semantics)?;
                Ok(all)
            })
            .map(Some),
            false => crate::reference::evaluate(&alone, semantics, parameters).map(|_| None),
        };
        let plan = Plan::for_query(&case.data, &case.outputs, semantics, &query, &options(rng));
        let (plan, expected) = match (plan, expected) {
            (Err(_), Err(_)) => {
                counts.refused += 1;
                continue;
            }
            (Err(errors), Ok(_)) => return Err(format!("{text}: refused: {errors}")),
            (Ok(_), Err(error)) => return Err(format!("{text}: must be refused: {error}")),
            (Ok(plan), Ok(expected)) => (plan, expected),
        };
        let answers = filled(plan, case)
            .answers(parameters, top)
            .map_err(|e| e.to_string())?;
        match (answers, expected) {
            (Answers::Closed(truth), None) => {
                let expected = crate::reference::evaluate(&alone, semantics, parameters)?;
                if expected.jump_gap > 1e-10 && !near(truth, expected.axioms[0].truth, TOLERANCE) {
                    return Err(format!(
                        "{text}: {truth}, expected {}",
                        expected.axioms[0].truth
                    ));
                }
                counts.closed += 1;
            }
            (Answers::Open { total, answers }, Some(all)) => {
                if all.iter().any(|b| b.is_rough) {
                    counts.unclear += 1;
                    continue;
                }
                let mut expected: Vec<(Vec<String>, f64)> = (all.iter())
                    .map(|b| (named(case, &b.cells), b.truth))
                    .collect();
                if total != expected.len() as u64 {
                    return Err(format!(
                        "{text}: {total} in all, expected {}",
                        expected.len()
                    ));
                }
                expected.sort_by(|a, b| b.1.total_cmp(&a.1));
                let found: Vec<(Vec<String>, f64)> = (answers.iter())
                    .map(|a| (written(&a.binding), a.truth))
                    .collect();
                compare_ranking(&found, &expected, top)
                    .map_err(|error| format!("{text} (axiom {index}): {error}"))?;
                counts.rankings += 1;
            }
            _ => return Err(format!("{text}: open or closed?")),
        }
    }
    Ok(())
}

/// The premise and the conclusion of a rule, each under the `forall`s, and how many these are.
fn halves(axiom: &Axiom) -> Option<([Axiom; 2], usize)> {
    fn half(formula: &Formula, conclusion: bool, depth: &mut usize) -> Option<Formula> {
        let mut out = formula.clone();
        let FormulaKind::Quantified {
            quantifier: Quantifier::Forall,
            body,
            ..
        } = &mut out.kind
        else {
            return None;
        };
        *depth += 1;
        **body = match &body.kind {
            FormulaKind::Implies(a, b) => Formula::clone(if conclusion { b } else { a }),
            _ => half(body, conclusion, depth)?,
        };
        Some(out)
    }
    let mut depth = 0;
    let premise = half(&axiom.formula, false, &mut depth)?;
    let conclusion = half(&axiom.formula, true, &mut 0)?;
    let with = |formula| Axiom {
        formula,
        ..axiom.clone()
    };
    Some(([with(premise), with(conclusion)], depth))
}

fn rules_case(
    case: &Case,
    _: &Semantics,
    parameters: &Parameters,
    rng: &mut Rng,
    counts: &mut Counts,
) -> Result<(), String> {
    let semantics = (Semantics::named("godel").unwrap().with("not", "standard"))
        .and_then(|s| s.with("implies", "kleene_dienes"))
        .expect("operators of one space");
    let mut expected = Vec::new();
    for (index, axiom) in case.theory.axioms.iter().enumerate() {
        let Some((halves, depth)) = halves(axiom) else {
            continue;
        };
        let mut rule = Rule {
            axiom: index,
            groundings: 0,
            premises: 0,
            broken: 0,
        };
        for (_, environment) in environments(case, index) {
            let truths = |half: &Axiom| -> Result<Vec<f64>, String> {
                let ties = Ties::default();
                let depth = Some(depth);
                let of = bindings(
                    case,
                    half,
                    &environment,
                    depth,
                    &semantics,
                    parameters,
                    ties,
                );
                Ok(of?.iter().map(|b| b.truth).collect())
            };
            let (Ok(premise), Ok(conclusion)) = (truths(&halves[0]), truths(&halves[1])) else {
                counts.refused += 1;
                return Ok(());
            };
            for (a, b) in premise.into_iter().zip(conclusion) {
                if [a, b].iter().any(|t| (t - 0.5).abs() < 1e-9) {
                    counts.unclear += 1;
                    return Ok(());
                }
                rule.groundings += 1;
                rule.premises += u64::from(a > 0.5);
                rule.broken += u64::from(a > 0.5 && b < 0.5);
            }
        }
        expected.push(rule);
    }
    let all = |_: &Axiom| true;
    let found = Rule::all(&case.data, &case.outputs, &options(rng), all, |engine| {
        fill_in(engine, case);
        Ok(())
    });
    match found {
        Err(_) => counts.refused += 1,
        Ok(found) if found != expected => return Err(format!("{found:?}, expected {expected:?}")),
        Ok(found) => {
            counts.rankings += found.len() as u32;
            counts.witnesses += found.iter().filter(|rule| rule.broken > 0).count() as u32;
        }
    }
    Ok(())
}

type Compare = fn(&Case, &Semantics, &Parameters, &mut Rng, &mut Counts) -> Result<(), String>;

fn on_random_theories(first_seed: u64, cases: u64, compare: Compare) -> Counts {
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    for seed in first_seed..first_seed + cases {
        let random = random_case(seed);
        let mut rng = Rng::new(!seed);
        let semantics = random_semantics(&mut rng);
        let parameters = random_parameters(&mut rng);
        let compared = compare(&random.case, &semantics, &parameters, &mut rng, &mut counts);
        if let Err(error) = compared {
            let text = format!(
                "seed {seed}, {semantics}, {parameters:?}\n{error}\n{}",
                random.text
            );
            failures.push((random.text.len(), text));
        }
    }
    failures.sort();
    if let Some((_, shortest)) = failures.first() {
        panic!("{} failed; the shortest:\n{shortest}", failures.len());
    }
    println!("{counts:?}");
    counts
}

#[test]
fn explanations_agree_with_brute_force() {
    // Each is compared with differences for every literal: a case takes as long as ten questions.
    let cases = number_of_cases() / 6;
    let counts = on_random_theories(0, cases, explain_case);
    // Not by leaving everything out.
    let cases = cases as u32;
    assert!(
        counts.rankings > cases && counts.blames > 2 * cases,
        "{counts:?}"
    );
    assert!(counts.witnesses > cases / 2, "{counts:?}");
}

#[test]
fn rules_are_counted_as_by_brute_force() {
    let counts = on_random_theories(1 << 34, number_of_cases(), rules_case);
    let cases = number_of_cases() as u32;
    assert!(
        counts.rankings > cases / 20 && counts.witnesses > cases / 80,
        "{counts:?}"
    );
    assert!(counts.refused < cases / 4, "{counts:?}");
}

#[test]
fn answers_agree_with_brute_force() {
    let counts = on_random_theories(1 << 33, number_of_cases(), query_case);
    let cases = number_of_cases() as u32;
    assert!(
        counts.rankings > cases / 2 && counts.closed > cases / 8,
        "{counts:?}"
    );
}

/// Sums of two numbers of 15 digits: 10³⁰ bindings of each row's `exists`, of which none is visited.
#[test]
fn long_sums_are_asked_and_explained_by_elimination() {
    const N: usize = 15;
    let names =
        |letter: &str| -> Vec<String> { (0..2 * N).map(|i| format!("{letter}{i}")).collect() };
    let (images, digits) = (names("x"), names("d"));
    let columns: Vec<String> = images.iter().map(|x| format!("{x}: Image")).collect();
    let place = |i: usize| 10_i64.pow((N - 1 - i % N) as u32);
    let terms: Vec<String> = (0..2 * N).map(|i| format!("{}*d{i}", place(i))).collect();
    let atoms: Vec<String> = (0..2 * N).map(|i| format!("digit(x{i}, d{i})")).collect();
    let exists = format!(
        "exists {}: Digit where {} = n. {}",
        digits.join(", "),
        terms.join(" + "),
        atoms.join(" and ")
    );
    let rows = format!("({}, n) in sums", images.join(", "));
    let text = format!(
        "sort Image  sort Digit = 0..9  table sums({}, n: Int)  predicate digit(Image, Digit)
         axiom addition: forall {rows}. {exists}",
        columns.join(", ")
    );
    let theory = logltn::Theory::parse(Source::new("sums.ltn", text)).expect("a theory");
    let mut data = logltn::Data::new(&theory);
    data.set_size("Image", 2 * N).expect("a size");
    // The images show these digits; the second row claims a sum that is too large by one.
    let shown: Vec<i64> = (0..2 * N as i64).map(|i| (7 * i + 3) % 10).collect();
    let sum: i64 = (0..2 * N).map(|i| place(i) * shown[i]).sum();
    let mut columns: Vec<logltn::ColumnData> = (0..2 * N as u32)
        .map(|i| logltn::ColumnData::Individuals(vec![i, i]))
        .collect();
    columns.push(logltn::ColumnData::Int(vec![sum, sum + 1]));
    data.set_rows("sums", columns).expect("rows");
    let outputs = [logltn::Output::softmax()];
    let fill = |engine: &mut Engine<f64>| {
        let individuals = engine.requests()[0].individuals().to_vec();
        for (row, image) in individuals.iter().enumerate() {
            for class in 0..10 {
                // Each picture is a little ambiguous in its own way.
                let noise = ((image + 1) * (class + 2)).wrapping_mul(2_654_435_761) as f64 / 4.3e9;
                let right = if i64::from(class) == shown[*image as usize] {
                    4.0
                } else {
                    0.0
                };
                engine.numbers_mut(0)[row * 10 + class as usize] = right + noise;
            }
        }
    };
    for base in ["logltn", "logltn-lse", "logltn-max"] {
        let semantics = Semantics::named(base).unwrap();
        let parameters = Parameters {
            alpha: 4.0,
            ..Parameters::default()
        };
        let options = PlanOptions::default();
        let plan = Plan::for_explaining(&data, &outputs, &semantics, &options).expect("a plan");
        let mut engine = Engine::<f64>::new(plan);
        fill(&mut engine);
        let explained = engine.explain(&parameters, 0).expect("explained");
        assert_eq!(explained[0].groundings, 2);
        let [wrong, right] = &explained[0].worst[..] else {
            panic!("two rows");
        };
        for (violation, sum) in [(wrong, sum + 1), (right, sum)] {
            assert_eq!(violation.binding[2 * N].to, logltn::Individual::Int(sum));
            let (binding, truth) = violation.witnesses[0].truest.as_ref().expect("a witness");
            let found: Vec<i64> = binding
                .iter()
                .map(|b| i64::from(b.individual.unwrap().1))
                .collect();
            assert_eq!((0..2 * N).map(|i| place(i) * found[i]).sum::<i64>(), sum);
            assert_eq!(violation.literals.len(), 2 * N);
            // The body is the sum of its literals.
            let literals: f64 = violation.literals.iter().map(|l| l.truth).sum();
            assert!(near(*truth, literals, TOLERANCE), "{truth} {literals}");
            assert!(
                violation
                    .literals
                    .iter()
                    .all(|l| (0.0..=1.0 + 1e-9).contains(&l.blame))
            );
        }
        let read: Vec<i64> = (right.witnesses[0].truest.as_ref().unwrap().0.iter())
            .map(|b| i64::from(b.individual.unwrap().1))
            .collect();
        assert_eq!(read, shown);

        let query = theory
            .parse_query(Source::new("query", format!("find {rows}. {exists}")))
            .unwrap();
        let plan = Plan::for_query(&data, &outputs, &semantics, &query, &options).expect("a plan");
        let mut engine = Engine::<f64>::new(plan);
        fill(&mut engine);
        let Answers::Open { answers, .. } = engine.answers(&parameters, 0).expect("answers") else {
            panic!("an open question");
        };
        assert!(near(answers[0].truth, right.truth, TOLERANCE));
        assert!(near(answers[1].truth, wrong.truth, TOLERANCE));
    }
}

/// Equal truths come in the order of the individuals, however the engine goes through them.
#[test]
fn ties_come_in_the_order_of_the_individuals() {
    let text = "sort A = 0..40  sort B = {p, q, r}  table T(a: A, k: Int)  predicate P(B)
        axiom a: forall b: B, x: A, y: A where x != y. P(b)
        axiom r: forall (x, k) in T where k > 0. forall b: B. P(b)";
    let theory = logltn::Theory::parse(Source::new("ties.ltn", text)).expect("a theory");
    let mut data = logltn::Data::new(&theory);
    let rows = vec![
        logltn::ColumnData::Individuals(vec![5, 3, 5, 1]),
        logltn::ColumnData::Int(vec![2, 0, 2, 7]),
    ];
    data.set_rows("T", rows).expect("rows");
    let plan = Plan::for_explaining(
        &data,
        &[logltn::Output::truth()],
        &Semantics::named("lukasiewicz").unwrap(),
        &PlanOptions::default(),
    );
    let mut engine = Engine::<f64>::new(plan.expect("a plan"));
    engine.numbers_mut(0).copy_from_slice(&[0.5, 0.25, 0.5]);
    let explained = engine
        .explain(&Parameters::default(), 0)
        .expect("explained");
    let bindings = |e: &Explanation| -> Vec<Vec<String>> {
        e.worst.iter().map(|v| written(&v.binding)).collect()
    };
    let all = bindings(&explained[0]);
    let mut expected = Vec::new();
    for b in ["q", "p", "r"] {
        for x in 0..=40 {
            for y in (0..=40).filter(|y| *y != x) {
                expected.push(vec![b.to_string(), x.to_string(), y.to_string()]);
            }
        }
    }
    assert_eq!(all, expected);
    // Rows in the order of the table.
    let rows: Vec<String> = bindings(&explained[1])
        .iter()
        .map(|b| b.join(" "))
        .collect();
    assert_eq!(rows[..3], ["5 2 q", "5 2 q", "1 7 q"]);
    assert_eq!(
        rows[3..],
        ["5 2 p", "5 2 r", "5 2 p", "5 2 r", "1 7 p", "1 7 r"]
    );
}

/// Functions and numbers as arguments, in questions and explanations.
#[test]
fn functions_are_asked() {
    let text = "sort A = {a, b}  table T(x: A, w: Real)  function f(A): Real  predicate eq(Real, Real)  predicate P(A)
        axiom e: forall (x, w) in T. eq(f(x), w) or P(x)";
    let theory = logltn::Theory::parse(Source::new("functions.ltn", text)).expect("a theory");
    let mut data = logltn::Data::new(&theory);
    let rows = vec![
        logltn::ColumnData::Individuals(vec![0, 1, 0]),
        logltn::ColumnData::Real(vec![1.5, 2.5, 3.5]),
    ];
    data.set_rows("T", rows).expect("rows");
    let outputs = [logltn::Output::truth(); 2];
    let semantics = Semantics::named("lukasiewicz").unwrap();
    // f(a) = 1, f(b) = 2, and eq is nearness.
    let fill = |engine: &mut Engine<f64>| {
        for index in 0..engine.requests().len() {
            let request = engine.requests()[index].clone();
            for row in 0..request.rows() {
                let leaves = request.row(row);
                engine.numbers_mut(index)[row] = match theory[request.predicate].name.as_str() {
                    "P" => 0.1,
                    _ => {
                        let f = f64::from(leaves[0] + 1);
                        1.0 / (1.0 + (f - request.number(leaves[1])).abs())
                    }
                };
            }
        }
    };
    let options = PlanOptions::default();
    let plan = Plan::for_explaining(&data, &outputs, &semantics, &options).expect("a plan");
    let mut engine = Engine::<f64>::new(plan);
    fill(&mut engine);
    let explained = engine
        .explain(&Parameters::default(), 1)
        .expect("explained");
    let worst = &explained[0].worst[0];
    assert_eq!(written(&worst.binding), ["a", "3.5"]);
    let texts: Vec<&str> = worst.literals.iter().map(|l| l.text.as_str()).collect();
    assert_eq!(texts, ["eq(f(a), 3.5)", "P(a)"]);
    assert!(near(worst.literals[0].truth, 1.0 / 3.5, TOLERANCE));
    let query = theory
        .parse_query(Source::new("query", "find x: A. eq(f(x), 2.25)"))
        .unwrap();
    let plan = Plan::for_query(&data, &outputs, &semantics, &query, &options).expect("a plan");
    let mut engine = Engine::<f64>::new(plan);
    fill(&mut engine);
    let Answers::Open { answers, .. } = engine.answers(&Parameters::default(), 1).expect("answers")
    else {
        panic!("an open question");
    };
    assert_eq!(written(&answers[0].binding), ["b"]);
    assert!(near(answers[0].truth, 0.8, TOLERANCE));
}
