//! Sorts that are visited as a whole, in long runs of evenly spaced places: rows, columns, diagonals and numbers that stay the
//! same, in all semantics and both precisions, with sizes around those at which the engine changes its ways.

use crate::cases::rng::Rng;
use crate::engine_run::{Precision, compare};
use crate::reference::Case;
use logltn::{Data, Output, Parameters, Semantics, Source, Theory};

const AXIOMS: [&str; 8] = [
    "forall x: X. exists y: Y. r(x, y) and s(y)",
    "forall y: Y. exists x: X. r(x, y) and not r(x, y)",
    "forall x: X, y: Y. r(x, y) <-> q(y, x)",
    "forall x: X. s(0) or not t(x) or q(0, x) or r(x, 0) or t(x)",
    "exists y: Y. forall x: X. (r(x, y) -> s(y)) and (exists z: Y. r(x, z) and q(y, x))",
    "forall y: Y. s(y) -> (exists x: X. q(y, x) and t(x))",
    "forall x: X, y: Y where y != 0. r(x, y) or s(y) or t(x)",
    "forall x: X. exists c: C. k(x, c) and not k(x, c)",
];

fn case(axiom: &str, [x, y, c]: [usize; 3], seed: u64) -> Case {
    let text = format!(
        "sort X = 0..{}  sort Y = 0..{}  sort C = 0..{}
         predicate r(X, Y)  predicate q(Y, X)  predicate s(Y)  predicate t(X)  predicate k(X, C)
         axiom a: {axiom}  axiom b: forall x: X. t(x)",
        x - 1,
        y - 1,
        c - 1
    );
    let theory = Theory::parse(Source::new("dense.ltn", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut case = Case {
        data: Data::new(&theory),
        theory,
        params: Vec::new(),
        outputs: [vec![Output::sigmoid(); 4], vec![Output::softmax()]].concat(),
        numbers: Vec::new(),
    };
    let mut rng = Rng::new(seed);
    for predicate in 0..case.outputs.len() as u32 {
        let atoms: usize = case
            .shape(logltn::theory::PredicateId(predicate))
            .iter()
            .product();
        let numbers = (0..atoms).map(|_| 2.0 * rng.normal());
        case.numbers.push(numbers.collect());
    }
    case
}

#[test]
fn sizes_around_those_of_runs() {
    let sizes = [
        [1, 1, 2],
        [2, 17, 3],
        [16, 16, 16],
        [40, 15, 20],
        [3, 70, 5],
    ];
    for (i, axiom) in AXIOMS.into_iter().enumerate() {
        for (j, sizes) in sizes.into_iter().enumerate() {
            // Every axiom meets every semantics, at some size.
            for (k, name) in Semantics::NAMES.into_iter().enumerate() {
                // The reference computes operators; `probability` has none, and tests of its own.
                if name == "probability" || !(i + j + k).is_multiple_of(sizes.len()) {
                    continue;
                }
                let case = case(axiom, sizes, (7 * i + j) as u64);
                let semantics = Semantics::named(name).unwrap();
                for precision in [Precision::Double, Precision::Single] {
                    let parameters = Parameters::default();
                    let outcome = compare(&case, &semantics, &parameters, precision);
                    outcome.unwrap_or_else(|e| panic!("{axiom}\n{name} {sizes:?}: {e}"));
                }
            }
        }
    }
}
