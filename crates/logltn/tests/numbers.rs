//! Numbers as arguments: literals and cells of `Int` and `Real` columns. Each theory is compared with one in which the
//! numbers are individuals of a sort, of which the other tests say that they are right.

use std::collections::BTreeMap;

use crate::cases::rng::Rng;
use logltn::{
    ArgumentShape, ColumnData, ConstantData, Data, Engine, Output, Parameters, Plan, PlanOptions,
    Semantics, Source, Theory,
};

const NUMBERS: &str = "sort A  sort C = 0..2
    table t(x: A, y: Real, n: Int, g: Real, h: Int)
    predicate at(A, Real)  predicate eq(Real, Real)  predicate cls(Real, C)  predicate q(A)\n";
const INDIVIDUALS: &str = "sort A  sort C = 0..2  sort N
    table t(x: A, y: N, n: N, g: Real, h: Int)
    constant two: N  constant minus: N
    predicate at(A, N)  predicate eq(N, N)  predicate cls(N, C)  predicate q(A)\n";

/// `TWO` and `MINUS` are literals, or the constants that stand for them.
const FORMULAS: [&str; 12] = [
    "forall (x, y, n, g, h) in t. at(x, y)",
    "forall (x, y, n, g, h) in t where g > 0. at(x, y) -> eq(y, n)",
    "exists (x, y, n, g, h) in t. at(x, n) and not eq(y, TWO)",
    "forall (x, y, n, g, h) in t. exists z: A where z != x. at(z, y) and q(x)",
    "forall x: A. exists (u, y, n, g, h) in t where u = x. at(x, y) or eq(n, y)",
    "forall (x, y, n, g, h) in t. exists c: C. cls(y, c)",
    "forall (x, y, n, g, h) in t. exists c, d: C where c + d = h. cls(y, c) and cls(n, d) and q(x)",
    "forall a, b: A. at(a, TWO) <-> at(b, MINUS)",
    "forall (x, y, n, g, h) in t. forall (u, v, m, i, j) in t where j = h. eq(y, v) or not at(x, m)",
    "eq(TWO, MINUS) or eq(TWO, TWO)",
    "forall (x, y, n, g, h) in t. exists a, b: A. at(a, y) and at(b, n) and q(a)",
    "forall (x, y, n, g, h) in t. not (all c: C where c != 1. cls(y, c))",
];

/// The value of each individual of `N`, the two constants last.
const VALUES: [f64; 7] = [0.25, 2.5, -1.0, 3.0, 0.0, 1e6, 7.0];

fn texts(rng: &mut Rng) -> [String; 2] {
    let mut texts = [NUMBERS.to_string(), INDIVIDUALS.to_string()];
    for i in 0..1 + rng.below(4) {
        let formula = *rng.pick(&FORMULAS);
        for (text, (two, minus)) in texts.iter_mut().zip([("2.5", "-1"), ("two", "minus")]) {
            let formula = formula.replace("TWO", two).replace("MINUS", minus);
            *text += &format!("axiom a{i}: {formula}\n");
        }
    }
    texts
}

struct Rows {
    x: Vec<u32>,
    y: Vec<u32>,
    n: Vec<u32>,
    g: Vec<f64>,
    h: Vec<i64>,
}

impl Rows {
    fn random(rng: &mut Rng, rows: usize) -> Rows {
        // Those of an `Int` column are integers.
        let whole = [2, 3, 4, 5, 6];
        Rows {
            x: (0..rows).map(|_| rng.below(3) as u32).collect(),
            y: (0..rows).map(|_| rng.below(7) as u32).collect(),
            n: (0..rows).map(|_| *rng.pick(&whole)).collect(),
            g: (0..rows).map(|_| rng.normal()).collect(),
            h: (0..rows).map(|_| rng.between(0, 4)).collect(),
        }
    }

    fn columns(&self, numbers: bool) -> Vec<ColumnData> {
        let value = |i: &u32| VALUES[*i as usize];
        let [y, n] = match numbers {
            true => [
                ColumnData::Real(self.y.iter().map(value).collect()),
                ColumnData::Int(self.n.iter().map(|i| value(i) as i64).collect()),
            ],
            false => [&self.y, &self.n].map(|cells| ColumnData::Individuals(cells.clone())),
        };
        vec![
            ColumnData::Individuals(self.x.clone()),
            y,
            n,
            ColumnData::Real(self.g.clone()),
            ColumnData::Int(self.h.clone()),
        ]
    }
}

fn data(text: &str) -> Data {
    let theory = Theory::parse(Source::new("t", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut data = Data::new(&theory);
    data.set_size("A", 3).unwrap();
    if theory.sort("N").is_some() {
        data.set_size("N", VALUES.len()).unwrap();
        data.set_constant("two", ConstantData::Row(1)).unwrap();
        data.set_constant("minus", ConstantData::Row(2)).unwrap();
    }
    data
}

fn outputs(data: &Data) -> Vec<Output> {
    let output = |name: &str| match name {
        "cls" => Output::softmax(),
        _ => Output::sigmoid(),
    };
    let predicates = data.theory().predicates.iter();
    predicates.map(|p| output(&p.name)).collect()
}

/// An atom: predicate, values of the arguments in bits, class.
type Atom = (u32, Vec<u64>, usize);

/// What is computed, and the derivative by each atom that has any.
type Answer = (Vec<(f64, u64)>, f64, BTreeMap<Atom, f64>);

/// Every number is a function of what the arguments are, never of how they are numbered.
fn run(engine: &mut Engine<f64>) -> Answer {
    let theory = engine.plan().data().theory().clone();
    let mut atoms = Vec::new();
    for request in engine.requests() {
        let mut own = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for row in 0..request.rows() {
            let arguments: Vec<u64> = (request.row(row).iter().zip(&request.shape))
                .map(|(&leaf, shape)| {
                    let value = match shape {
                        ArgumentShape::Number => request.number(leaf),
                        ArgumentShape::Individual(sort) if theory[*sort].name == "N" => {
                            VALUES[leaf as usize]
                        }
                        ArgumentShape::Individual(_) => f64::from(leaf),
                        ArgumentShape::Apply(..) | ArgumentShape::Row(_) => {
                            panic!("there are no functions")
                        }
                    };
                    value.to_bits()
                })
                .collect();
            assert!(seen.insert(arguments.clone()), "asked twice: {request:?}");
            for class in 0..request.width {
                own.push((request.predicate.0, arguments.clone(), class));
            }
        }
        atoms.push(own);
    }
    for (request, atoms) in atoms.iter().enumerate() {
        let numbers = engine.numbers_mut(request);
        for (number, (predicate, arguments, class)) in numbers.iter_mut().zip(atoms) {
            let mut x = f64::from(*predicate) + 0.3 * *class as f64;
            for argument in arguments {
                x = (2.0 * x + f64::from_bits(*argument)).sin() * 2.0;
            }
            *number = x;
        }
    }
    let found = engine
        .evaluate_with_gradients(&Parameters::default())
        .expect("a value");
    let axioms = (found.axioms.iter())
        .map(|a| (a.truth, a.empty_exists))
        .collect();
    let loss = found.loss;
    let mut gradients = BTreeMap::new();
    for (request, atoms) in atoms.into_iter().enumerate() {
        for (atom, &by) in atoms.into_iter().zip(engine.gradient(request)) {
            if by != 0.0 {
                *gradients.entry(atom).or_insert(0.0) += by;
            }
        }
    }
    (axioms, loss, gradients)
}

fn assert_same(a: &Answer, b: &Answer, what: &str) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
    assert_eq!(a.0.len(), b.0.len(), "{what}");
    for (a, b) in a.0.iter().zip(&b.0) {
        assert!(near(a.0, b.0) && a.1 == b.1, "{what}: {a:?} {b:?}");
    }
    assert!(near(a.1, b.1), "{what}: {} {}", a.1, b.1);
    let keys = a.2.keys().chain(b.2.keys());
    for key in keys {
        let [x, y] = [a, b].map(|s| s.2.get(key).copied().unwrap_or(0.0));
        assert!(near(x, y), "{what}: {key:?} {x} {y}");
    }
}

const SEMANTICS: [&str; 6] = [
    "logltn",
    "logltn-max",
    "logltn-lse",
    "logltn-sum",
    "stable",
    "lukasiewicz",
];

#[test]
fn numbers_are_like_individuals() {
    let mut rng = Rng::new(13);
    let mut learnt = 0;
    for case in 0..400 {
        let texts = texts(&mut rng);
        let count = 1 + rng.below(9);
        let rows = Rows::random(&mut rng, count);
        let semantics = Semantics::named(SEMANTICS[case % SEMANTICS.len()]).expect("a semantics");
        let batch: Option<Vec<u32>> = (rng.chance(0.4)).then(|| {
            (0..2 + rng.below(3))
                .map(|_| rng.below(count) as u32)
                .collect()
        });
        let options = [PlanOptions::default(), PlanOptions::as_written()];
        let mut answers = Vec::new();
        for (numbers, text) in [true, false].into_iter().zip(&texts) {
            let mut data = data(text);
            data.set_rows("t", rows.columns(numbers)).unwrap();
            if batch.is_some() {
                data.set_batched("t").unwrap();
            }
            for options in &options {
                let plan = Plan::new_with(&data, &outputs(&data), &semantics, options);
                let mut engine = Engine::new(plan.unwrap_or_else(|e| panic!("{text}\n{e}")));
                if let Some(batch) = &batch {
                    let table = data.theory().table("t").unwrap();
                    engine.set_batches([(table, &batch[..])]).unwrap();
                }
                answers.push(run(&mut engine));
            }
        }
        learnt += usize::from(!answers[0].2.is_empty());
        for answer in &answers[1..] {
            assert_same(&answers[0], answer, &texts[0]);
        }
    }
    assert!(learnt > 300, "{learnt}");
}

#[test]
fn numbers_may_come_with_a_call() {
    let mut rng = Rng::new(14);
    for case in 0..60 {
        let [text, _] = texts(&mut rng);
        let semantics = Semantics::named(SEMANTICS[case % SEMANTICS.len()]).expect("a semantics");
        let mut streamed = data(&text);
        streamed.set_streamed("t").unwrap();
        let plan = Plan::new(&streamed, &outputs(&streamed), &semantics);
        let mut engine = Engine::new(plan.unwrap_or_else(|e| panic!("{text}\n{e}")));
        let table = streamed.theory().table("t").unwrap();
        for _ in 0..3 {
            let count = 1 + rng.below(6);
            let columns = Rows::random(&mut rng, count).columns(true);
            engine.stream(&[], vec![(table, columns.clone())]).unwrap();
            let mut whole = data(&text);
            whole.set_rows("t", columns).unwrap();
            let plan = Plan::new(&whole, &outputs(&whole), &semantics).unwrap();
            assert_same(&run(&mut engine), &run(&mut Engine::new(plan)), &text);
        }
    }
}

#[test]
fn what_stands_where_a_real_is_expected() {
    let theory = |formula: &str| {
        let text = format!(
            "sort A  sort B = 0..3  param p  table t(x: A, y: Real, n: Int)
             predicate eq(Real, Real)  predicate v(Real[2])  predicate on(A)
             function f(A): Real  function g(Real): Real  function h(A): Real[2]
             axiom a: {formula}"
        );
        Theory::parse(Source::new("t", text.as_str()))
    };
    for fine in [
        "forall (x, y, n) in t. eq(f(x), y)",
        "forall (x, y, n) in t. eq(g(y), n) and eq(2, -2.5e3) and eq(g(g(0.5)), f(x))",
        "forall x: A. eq(f(x), 2.5) and v(h(x))",
    ] {
        let read = theory(fine).unwrap_or_else(|e| panic!("{e}"));
        let shown = read.to_string();
        let again =
            Theory::parse(Source::new("t", shown.as_str())).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.to_string(), shown);
    }
    for (wrong, expected) in [
        (
            "forall (x, y, n) in t. on(y)",
            "for arguments that are `Real`",
        ),
        (
            "forall (x, y, n) in t. v(y)",
            "several numbers are the value of a function",
        ),
        ("forall (x, y, n) in t. eq(x, y)", "must be of sort `Real`"),
        (
            "forall (x, y, n) in t. eq(2 * y, y)",
            "compute it beforehand, as a column of a table",
        ),
        (
            "forall (x, y, n) in t. eq(-y, y)",
            "compute it beforehand, as a column of a table",
        ),
        ("forall b: B. eq(b, 1)", "must be of sort `Real`"),
        ("forall x: A. on(2.5)", "2.5"),
    ] {
        let errors = theory(wrong).unwrap_err().to_string();
        assert!(errors.contains(expected), "{wrong}: {errors}");
        assert!(!errors.contains("guards only"), "{wrong}: {errors}");
    }
}
