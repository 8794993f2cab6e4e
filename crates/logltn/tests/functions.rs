//! Functions that are given by data. What they say is compared with tables that say the same; random theories with
//! functions in guards and atoms are compared with the reference in `engine_vs_reference.rs`.

use std::collections::BTreeMap;

use logltn::{
    ArgumentShape, Code, ColumnData, ConstantData, Data, Engine, FunctionData, Output, Parameters,
    Plan, PlanOptions, Semantics, Source, Theory,
};

const SYMBOLS: &str = "sort A  sort C = {red, green, blue}  sort N = 3..7
    function age(A): Real  function color(A): C  function boss(A): A  function rank(A): N
    function gap(A, A): Real  function meet(A, A): A  function pick(A, A): C  function after(N): N
    function best(): A  function place(A): Real[2]  function spot(A, A): Real[2]
    table ages(x: A, a: Real)  table colors(x: A, c: C)  table bosses(x: A, y: A)  table ranks(x: A, n: N)
    table gaps(x: A, y: A, g: Real)  table meets(x: A, y: A, z: A)  table picks(x: A, y: A, c: C)
    table afters(n: N, m: N)  table pairs(x: A, y: A)
    constant ann: A  constant three: A  constant four: A
    predicate q(A)  predicate r(A, A)  predicate at(A, Real)  predicate eq(Real, Real)  predicate cls(A, C)
    predicate lvl(N)  predicate near(Real[2], Real[2])  predicate by(A, A)  predicate by2(A, A, A, A)\n";

const AGES: [f64; 5] = [30.0, 12.5, 30.0, 71.0, -0.0];
const COLORS: [u32; 5] = [0, 2, 2, 0, 1];
const BOSSES: [u32; 5] = [3, 3, 0, 3, 2];
const RANKS: [u32; 5] = [0, 4, 1, 1, 2];
const AFTER: [u32; 5] = [1, 2, 3, 4, 4];

fn of_pairs(number: impl Fn(usize, usize) -> usize) -> Vec<u32> {
    let pairs = (0..5).flat_map(|x| (0..5).map(move |y| (x, y)));
    pairs.map(|(x, y)| number(x, y) as u32).collect()
}

fn place(row: usize) -> [f64; 2] {
    [row as f64 / 4.0, 1.0 - (row % 3) as f64]
}

fn data(axioms: &str) -> Result<Data, logltn::Diagnostics> {
    let text = format!("{SYMBOLS}{axioms}");
    let mut data = Data::new(&Theory::parse(Source::new("t", text))?);
    data.set_features("A", 1, vec![0.0, 0.5, 1.0, 2.0, 4.0])?;
    for (name, row) in [("ann", 1), ("three", 3), ("four", 4)] {
        data.set_constant(name, ConstantData::Row(row))?;
    }
    let gaps = of_pairs(|x, y| (3 * x + y) % 4);
    let reals: Vec<f64> = gaps.iter().map(|&g| f64::from(g) * 2.5).collect();
    let meets = of_pairs(|x, y| (x * y + 1) % 5);
    let picks = of_pairs(|x, y| (x + 2 * y) % 3);
    data.set_function("age", FunctionData::Reals(AGES.to_vec()))?;
    data.set_function("gap", FunctionData::Reals(reals.clone()))?;
    for (name, values) in [
        ("color", COLORS.to_vec()),
        ("boss", BOSSES.to_vec()),
        ("rank", RANKS.to_vec()),
        ("meet", meets.clone()),
        ("pick", picks.clone()),
        ("after", AFTER.to_vec()),
        ("best", vec![4]),
    ] {
        data.set_function(name, FunctionData::Individuals(values))?;
    }
    data.set_function(
        "place",
        FunctionData::Reals((0..5).flat_map(place).collect()),
    )?;
    data.set_function(
        "spot",
        FunctionData::Reals((0..25).flat_map(place).collect()),
    )?;
    let individuals = |v: &[u32]| ColumnData::Individuals(v.to_vec());
    let all = || individuals(&[0, 1, 2, 3, 4]);
    let (x, y) = (of_pairs(|x, _| x), of_pairs(|_, y| y));
    data.set_rows("ages", vec![all(), ColumnData::Real(AGES.to_vec())])?;
    data.set_rows("colors", vec![all(), individuals(&COLORS)])?;
    data.set_rows("bosses", vec![all(), individuals(&BOSSES)])?;
    data.set_rows("ranks", vec![all(), individuals(&RANKS)])?;
    data.set_rows("afters", vec![all(), individuals(&AFTER)])?;
    data.set_rows(
        "gaps",
        vec![individuals(&x), individuals(&y), ColumnData::Real(reals)],
    )?;
    data.set_rows("meets", [&x, &y, &meets].map(|c| individuals(c)).to_vec())?;
    data.set_rows("picks", [&x, &y, &picks].map(|c| individuals(c)).to_vec())?;
    data.set_rows(
        "pairs",
        vec![individuals(&[0, 1, 4, 1]), individuals(&[2, 2, 3, 2])],
    )?;
    data.set_batched("pairs")?;
    Ok(data)
}

fn outputs(data: &Data) -> Vec<Output> {
    let output = |name: &str| match name {
        "cls" => Output::softmax(),
        _ => Output::sigmoid(),
    };
    let predicates = data.theory().predicates.iter();
    predicates.map(|p| output(&p.name)).collect()
}

type Atom = (String, Vec<u64>, usize);

/// Truths, groundings and empty quantifiers, the loss, and the derivative by each atom that has any.
type Answer = (Vec<(f64, u128, u64)>, f64, BTreeMap<Atom, f64>);

/// Every number is a function of what the arguments are, never of how they are numbered. `by2` and `by` say of
/// individuals what `near` says of their places.
fn run(engine: &mut Engine<f64>) -> Answer {
    let data = engine.plan().data().clone();
    let theory = data.theory();
    let mut atoms: Vec<Vec<Atom>> = Vec::new();
    for request in engine.requests() {
        let mut own = Vec::new();
        let name = theory[request.predicate].name.as_str();
        for row in 0..request.rows() {
            let mut arguments: Vec<f64> = Vec::new();
            for (&leaf, shape) in request.row(row).iter().zip(&request.shape) {
                match shape {
                    ArgumentShape::Individual(_) if name == "by" => {
                        arguments.extend(place(leaf as usize))
                    }
                    ArgumentShape::Individual(_) => arguments.push(f64::from(leaf)),
                    ArgumentShape::Number => arguments.push(request.number(leaf)),
                    ArgumentShape::Row(function) => {
                        let Some(FunctionData::Reals(values)) =
                            data.function(*function).map(AsRef::as_ref)
                        else {
                            panic!("a vector of numbers");
                        };
                        arguments.extend(&values[2 * leaf as usize..][..2]);
                    }
                    ArgumentShape::Apply(..) => panic!("nothing is learnt"),
                }
            }
            if name == "by2" {
                let spot = |a: f64, b: f64| place((5.0 * a + b) as usize);
                let [a, b, c, d] = arguments[..] else {
                    panic!("four")
                };
                arguments = [spot(a, b), spot(c, d)].concat();
            }
            let name = if name.starts_with("by") { "near" } else { name };
            for class in 0..request.width {
                let bits = arguments.iter().map(|x| x.to_bits()).collect();
                own.push((name.to_string(), bits, class));
            }
        }
        atoms.push(own);
    }
    for (request, atoms) in atoms.iter().enumerate() {
        for (number, (name, arguments, class)) in engine.numbers_mut(request).iter_mut().zip(atoms)
        {
            let mut x = name.len() as f64 + 0.3 * *class as f64;
            for argument in arguments {
                x = (2.0 * x + f64::from_bits(*argument)).sin() * 2.0;
            }
            *number = x;
        }
    }
    let found = engine
        .evaluate_with_gradients(&Parameters::default())
        .unwrap()
        .clone();
    let axioms = (engine.plan().axioms().iter().zip(&found.axioms))
        .map(|(planned, a)| (a.truth, planned.groundings, a.empty_exists))
        .collect();
    let mut gradients = BTreeMap::new();
    for (request, atoms) in atoms.into_iter().enumerate() {
        for (atom, &by) in atoms.into_iter().zip(engine.gradient(request)) {
            *gradients.entry(atom).or_insert(0.0) += by;
        }
    }
    gradients.retain(|_, by| *by != 0.0);
    (axioms, found.loss, gradients)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

/// A formula with functions, and one with tables that says the same with as many groundings.
const PAIRS: [(&str, &str); 24] = [
    // Guards.
    (
        "forall x: A where age(x) > 12.5. q(x)",
        "forall x: A where exists (y, a) in ages where y = x. a > 12.5. q(x)",
    ),
    (
        "forall x, y: A where color(x) = color(y). r(x, y)",
        "forall x, y: A where exists c: C. colors(x, c) and colors(y, c). r(x, y)",
    ),
    (
        "forall x: A where color(x) != red. exists y: A where boss(y) = x. r(x, y)",
        "forall x: A where not colors(x, red). exists y: A where bosses(y, x). r(x, y)",
    ),
    (
        "forall x, y: A where age(boss(x)) = age(y) + 41. r(x, y)",
        "forall x, y: A where exists b: A. bosses(x, b) and (exists (u, a) in ages where u = b. exists (v, c) in ages \
      where v = y. a = c + 41). r(x, y)",
    ),
    (
        "forall x, y: A where x = boss(y). r(x, y)",
        "forall x, y: A where bosses(y, x). r(x, y)",
    ),
    (
        "forall x: A where x = boss(x). q(x)",
        "forall x: A where bosses(x, x). q(x)",
    ),
    (
        "forall x: A where bosses(boss(x), x). q(x)",
        "forall x: A where exists y: A. bosses(x, y) and bosses(y, x). q(x)",
    ),
    (
        "forall x, y: A where rank(x) + 1 = rank(y). r(x, y)",
        "forall x, y: A where exists n, m: N where n + 1 = m. ranks(x, n) and ranks(y, m). r(x, y)",
    ),
    (
        "forall x: A where ranks(x, after(3)). q(x)",
        "forall x: A where ranks(x, 4). q(x)",
    ),
    (
        "forall x, y: A where gap(x, y) < 5 and x != best(). r(x, y)",
        "forall x, y: A where (exists (u, v, g) in gaps where u = x and v = y. g < 5) and x != four. r(x, y)",
    ),
    (
        "forall x: A where dist(boss(x), ann) < 1. q(x)",
        "forall x: A where exists (u, b) in bosses where u = x. dist(b, ann) < 1. q(x)",
    ),
    (
        "forall (x, y) in pairs where age(x) >= age(y). r(x, y)",
        "forall (x, y) in pairs where exists (u, a) in ages where u = x. exists (v, b) in ages where v = y. a >= b. r(x, y)",
    ),
    // Atoms.
    (
        "forall x: A. at(x, age(x))",
        "forall (x, a) in ages. at(x, a)",
    ),
    (
        "forall x: A. r(boss(x), boss(boss(x)))",
        "forall (x, y) in bosses. exists (u, z) in bosses where u = y. r(y, z)",
    ),
    (
        "forall x, y: A. eq(gap(x, y), 2.5)",
        "forall (_x, _y, g) in gaps. eq(g, 2.5)",
    ),
    (
        "forall x: A. exists y: A. at(y, gap(x, y))",
        "forall x: A. exists (u, y, g) in gaps where u = x. at(y, g)",
    ),
    (
        "forall x, y: A. r(meet(x, y), y) or q(meet(y, y))",
        "forall (x, y, z) in meets. exists (u, v, w) in meets where u = y and v = y. r(z, y) or q(w)",
    ),
    (
        "forall x: A. cls(x, color(x))",
        "forall (x, c) in colors. cls(x, c)",
    ),
    (
        "forall x, y: A. cls(x, pick(x, y))",
        "forall (x, y, c) in picks. cls(x, c)",
    ),
    (
        "forall x: A. exists y: A. cls(y, pick(x, y)) and q(x)",
        "forall x: A. exists (u, y, c) in picks where u = x. cls(y, c) and q(x)",
    ),
    (
        "cls(best(), color(ann)) or q(boss(ann))",
        "cls(four, blue) or q(three)",
    ),
    (
        "forall n: N. lvl(after(after(n)))",
        "forall (_n, m) in afters. exists (k, l) in afters where k = m. lvl(l)",
    ),
    (
        "forall x: A. near(place(x), place(boss(x)))",
        "forall (x, y) in bosses. by(x, y)",
    ),
    (
        "forall x, y: A. near(spot(x, y), spot(y, boss(x)))",
        "forall x, y: A. exists (u, b) in bosses where u = x. by2(x, y, y, b)",
    ),
];

#[test]
fn functions_say_what_tables_say() {
    for (with_functions, with_tables) in PAIRS {
        for name in ["logltn", "logltn-max", "logltn-lse", "lukasiewicz"] {
            let semantics = Semantics::named(name).unwrap();
            let mut answers = Vec::new();
            for formula in [with_functions, with_tables] {
                let data = data(&format!("axiom a: {formula}"))
                    .unwrap_or_else(|e| panic!("{formula}\n{e}"));
                for options in [PlanOptions::default(), PlanOptions::as_written()] {
                    let plan = Plan::new_with(&data, &outputs(&data), &semantics, &options);
                    let mut engine =
                        Engine::<f64>::new(plan.unwrap_or_else(|e| panic!("{formula}\n{e}")));
                    answers.push(run(&mut engine));
                    // A batch, with the same row twice.
                    engine
                        .set_batches([(data.theory().table("pairs").unwrap(), &[3, 0, 0][..])])
                        .unwrap();
                    answers.push(run(&mut engine));
                }
            }
            let (expected, batch) = (&answers[4], &answers[5]);
            assert!(!expected.2.is_empty(), "{with_tables} tests nothing");
            for (found, expected) in answers.iter().zip([expected, batch].into_iter().cycle()) {
                let what = format!("{with_functions}, {name}");
                for (a, b) in found.0.iter().zip(&expected.0) {
                    assert!(
                        near(a.0, b.0) && a.1 == b.1 && a.2 == b.2,
                        "{what}: {a:?} {b:?}"
                    );
                }
                assert!(near(found.1, expected.1), "{what}");
                let keys: Vec<_> = found.2.keys().chain(expected.2.keys()).collect();
                for key in keys {
                    let [x, y] = [found, expected].map(|s| s.2.get(key).copied().unwrap_or(0.0));
                    assert!(near(x, y), "{what}: {key:?} {x} {y}");
                }
            }
        }
    }
}

fn plan(axioms: &str) -> Result<Plan, logltn::Diagnostics> {
    let data = data(axioms)?;
    Plan::new(&data, &outputs(&data), &Semantics::default())
}

/// 25 pairs lead to four different numbers.
#[test]
fn a_predicate_is_asked_once_about_equal_values() {
    for (formula, rows) in [
        ("eq(gap(x, y), age(x))", 16),
        ("q(meet(x, y))", 5),
        ("r(boss(x), boss(y))", 9),
    ] {
        let engine =
            Engine::<f64>::new(plan(&format!("axiom a: forall x, y: A. {formula}")).unwrap());
        let request = &engine.requests()[0];
        let mut distinct: Vec<&[u32]> = (0..request.rows()).map(|r| request.row(r)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), request.rows(), "{formula}");
        assert_eq!(request.rows(), rows, "{formula}");
    }
}

#[test]
fn plans_show_how_functions_are_looked_up() {
    let plan = plan("axiom a: forall x, y: A where color(x) = color(y). r(x, boss(y))").unwrap();
    let text = plan.to_string();
    assert!(
        text.contains("loop x (5), look up y by value, test"),
        "{text}"
    );
    assert!(text.contains("r(A, A): at most"), "{text}");
}

/// What leads to other variables is looped over, and what is known is not.
#[test]
fn variables_are_found_by_what_functions_say() {
    for (guard, method) in [
        ("x: A, n: N where rank(x) = n", "loop x (5), compute n"),
        (
            "y: A, x: A where bosses(boss(x), y)",
            "loop x (5), join bosses for y",
        ),
        (
            "n: N, x: A where after(n) = rank(x)",
            "loop n (5), look up x by value, test",
        ),
    ] {
        let text = plan(&format!("axiom a: forall {guard}. q(x)"))
            .unwrap()
            .to_string();
        assert!(text.contains(method), "{guard}: {text}");
    }
}

/// A hash join, and not all pairs: this would take minutes otherwise.
#[test]
fn equal_values_are_joined() {
    let text = "sort A  function f(A): Real  function g(A): A  predicate q(A)
        axiom a: forall x, y: A where f(x) = f(g(y)) and x != y. q(x)
        axiom b: forall x: A where exists y: A. f(y) = f(x) + 1. q(x)";
    let size = 200_000;
    let mut data = Data::new(&Theory::parse(Source::new("t", text)).unwrap());
    data.set_size("A", size).unwrap();
    data.set_function(
        "f",
        FunctionData::Reals((0..size).map(|i| (i / 2) as f64).collect()),
    )
    .unwrap();
    data.set_function(
        "g",
        FunctionData::Individuals((0..size as u32).rev().collect()),
    )
    .unwrap();
    let plan = Plan::new(&data, &[Output::sigmoid()], &Semantics::default()).unwrap();
    let groundings: Vec<u128> = plan.axioms().iter().map(|a| a.groundings).collect();
    assert_eq!(groundings, [2 * size as u128, size as u128 - 2]);
}

fn refusal(
    axioms: &str,
    change: impl FnOnce(&mut Data) -> Result<(), logltn::Diagnostics>,
) -> (Code, String) {
    let mut data = Data::new(&Theory::parse(Source::new("t", axioms)).unwrap());
    let found = change(&mut data).and_then(|()| {
        let outputs = vec![Output::sigmoid(); data.theory().predicates.len()];
        Plan::new(&data, &outputs, &Semantics::default())
    });
    let errors = found.expect_err(axioms);
    let first = errors.iter().next().expect("an error");
    (first.code(), errors.to_string())
}

#[test]
fn what_is_wrong_with_a_function_is_said() {
    let one = |function: &str, values: FunctionData| {
        let text = format!(
            "sort A  sort N = 3..4  predicate q(A)  {function}  axiom a: forall x: A. q(x)"
        );
        refusal(&text, |data| {
            data.set_size("A", 3)?;
            data.set_function("f", values)
        })
    };
    let reals = |values: &[f64]| FunctionData::Reals(values.to_vec());
    let individuals = |values: &[u32]| FunctionData::Individuals(values.to_vec());
    for (function, values, code, text) in [
        (
            "function f(A): Real",
            reals(&[1.0, 2.0]),
            Code::WrongShape,
            "a value for each tuple of individuals, 3, but 2 are given",
        ),
        (
            "function f(A): Real[2]",
            reals(&[1.0, 2.0, 3.0]),
            Code::WrongShape,
            "2 numbers for each tuple",
        ),
        (
            "function f(A, N): A",
            individuals(&[0, 1, 2]),
            Code::WrongShape,
            "6, but 3",
        ),
        (
            "function f(A): N",
            individuals(&[0, 1, 2]),
            Code::UnknownIndividual,
            "tuple 2 is 2, but sort `N` has 2",
        ),
        (
            "function f(A): N",
            reals(&[3.0, 3.0, 4.0]),
            Code::WrongSort,
            "individuals of sort `N`",
        ),
        (
            "function f(A): Real",
            individuals(&[0, 1, 2]),
            Code::WrongSort,
            "must be numbers",
        ),
        (
            "function f(A): Real",
            reals(&[0.0, f64::NAN, 1.0]),
            Code::NotFinite,
            "tuple 1 is NaN",
        ),
        (
            "function f(Real): A",
            individuals(&[0]),
            Code::VectorArgument,
            "a number or a vector",
        ),
        (
            "function g(A): A",
            individuals(&[0]),
            Code::UnknownFunction,
            "no function `f`",
        ),
    ] {
        let (found, message) = one(function, values);
        assert_eq!(found, code, "{function}: {message}");
        assert!(message.contains(text), "{function}: {message}");
    }
}

#[test]
fn what_is_learnt_stays_out_of_guards_and_of_given_functions() {
    let text =
        "sort A  function given(A): A  function learnt(A): A  constant new: A  predicate q(A)\n";
    for (axiom, code, says) in [
        (
            "forall x: A where learnt(x) = x. q(x)",
            Code::LearntInGuard,
            "function `learnt` in a guard",
        ),
        (
            "forall x: A where given(learnt(x)) = x. q(x)",
            Code::LearntInGuard,
            "give those of `learnt` as data",
        ),
        (
            "forall x: A. q(given(learnt(x)))",
            Code::LearntArgument,
            "no value for what `learnt` learns",
        ),
        (
            "q(given(new))",
            Code::LearntArgument,
            "no value for constant `new`",
        ),
        (
            "forall x: A where given(new) = x. q(x)",
            Code::LearntArgument,
            "no value for constant `new`",
        ),
    ] {
        let (found, message) = refusal(&format!("{text}axiom a: {axiom}"), |data| {
            data.set_size("A", 2)?;
            data.set_constant("new", ConstantData::Learnable)?;
            data.set_function("given", FunctionData::Individuals(vec![1, 0]))
        });
        assert_eq!(found, code, "{axiom}: {message}");
        assert!(message.contains(says), "{axiom}: {message}");
    }
}

/// A learnt function of what a given one says is asked about that.
#[test]
fn a_learnt_function_may_be_of_a_given_one() {
    let text = "sort A  function given(A): A  function learnt(A): Real  predicate q(Real)
        axiom a: forall x: A. q(learnt(given(x)))";
    let mut data = Data::new(&Theory::parse(Source::new("t", text)).unwrap());
    data.set_size("A", 3).unwrap();
    data.set_function("given", FunctionData::Individuals(vec![2, 0, 2]))
        .unwrap();
    let plan = Plan::new(&data, &[Output::sigmoid()], &Semantics::default()).unwrap();
    let engine = Engine::<f64>::new(plan);
    let request = &engine.requests()[0];
    assert!(matches!(&request.shape[..], [ArgumentShape::Apply(..)]));
    assert_eq!(request.individuals(), [0, 2]);
}

/// A point near one that a function says of it: not to be looked for near a point that is not known yet.
#[test]
fn near_what_a_function_says_of_it() {
    let features = [0.0, 0.5, 1.0, 2.0, 4.0_f64];
    let boss = |x: usize| BOSSES[x] as usize;
    let meet = |x: usize, y: usize| (x * y + 1) % 5;
    let near = |a: usize, b: usize| (features[a] - features[b]).abs() < 1.2;
    let own = (0..5).filter(|&x| near(x, boss(x))).count();
    let other = (0..5)
        .filter(|&x| (0..5).any(|y| near(y, meet(x, y))))
        .count();
    let pairs = (0..25).filter(|i| near(meet(i / 5, i % 5), i % 5)).count();
    assert_eq!((own, other, pairs), (2, 5, 15));
    for (axiom, expected) in [
        ("forall x: A where dist(x, boss(x)) < 1.2. q(x)", own),
        ("forall x: A where dist(boss(x), x) < 1.2. q(x)", own),
        (
            "forall x: A where exists y: A. dist(y, meet(x, y)) < 1.2. q(x)",
            other,
        ),
        (
            "forall x, y: A where dist(meet(x, y), y) < 1.2. r(x, y)",
            pairs,
        ),
    ] {
        let data = data(&format!("axiom a: {axiom}")).unwrap();
        let outputs = vec![Output::sigmoid(); data.theory().predicates.len()];
        let plan = Plan::new(&data, &outputs, &Semantics::default()).unwrap();
        assert_eq!(plan.axioms()[0].groundings, expected as u128, "{axiom}");
    }
}
