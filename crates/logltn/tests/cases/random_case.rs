//! Random theories with data, numbers and semantics, each made from a seed.
//!
//! A theory is written as text and parsed, so that a failure can be shown as what a user would write.

use logltn::theory::{ColumnSort, PredicateId, SortKind};
use logltn::{
    ColumnData, ConstantData, Data, FunctionData, Output, OutputKind, Parameters, Semantics,
    Source, Theory,
};

use super::random_formula::{Signature, axioms};
use super::rng::Rng;
use crate::reference::{Case, Num};

/// A case with the text of its theory.
pub struct RandomCase {
    pub text: String,
    pub case: Case,
}

/// The case of a seed.
pub fn random_case(seed: u64) -> RandomCase {
    let mut rng = Rng::new(seed);
    let signature = signature(&mut rng);
    // `prod` refuses most theories; some are made for it.
    let prenex = rng.chance(0.35);
    let text = format!(
        "{}{}",
        signature.declarations(),
        axioms(&mut rng, &signature, prenex)
    );
    let theory = Theory::parse(Source::new("random.ltn", text.clone()))
        .unwrap_or_else(|errors| panic!("seed {seed}: {errors}\nin\n{text}"));
    let case = ground(&mut rng, theory, &signature);
    RandomCase { text, case }
}

fn signature(rng: &mut Rng) -> Signature {
    let mut signature = Signature::default();
    for index in 0..=rng.below(4) {
        let largest = if rng.chance(0.2) { 6 } else { 4 };
        let size = 1 + rng.below(largest);
        let kind = match rng.below(4) {
            0 | 3 => {
                let low = rng.between(-2, 2);
                SortKind::Range(low, low + size as i64 - 1)
            }
            1 => SortKind::Labels,
            _ => SortKind::Data,
        };
        signature.sorts.push((format!("S{index}"), kind, size));
    }
    for index in 0..rng.below(4) {
        let columns = (0..=rng.below(4)).map(|_| match rng.below(6) {
            0 => ColumnSort::Int,
            1 => ColumnSort::Real,
            _ => ColumnSort::Sort(signature.any_sort(rng)),
        });
        let columns = columns.collect();
        signature.tables.push((format!("T{index}"), columns));
    }
    for index in 0..rng.below(3) {
        let value = if rng.chance(0.5) {
            Num::Int(rng.between(-2, 4))
        } else {
            Num::Real(rng.between(-4, 8) as f64 / 4.0)
        };
        signature.params.push((format!("p{index}"), value));
    }
    for index in 0..rng.below(3) {
        let sort = signature.any_sort(rng);
        signature.constants.push((format!("k{index}"), sort));
    }
    for index in 0..=rng.below(4) {
        let arguments = (0..*rng.pick(&[0, 1, 1, 1, 2, 2, 2, 2, 3, 3]))
            .map(|_| signature.any_sort(rng))
            .collect();
        signature.predicates.push((format!("P{index}"), arguments));
    }
    for index in 0..rng.below(4) {
        let arguments = (0..*rng.pick(&[0, 1, 1, 1, 1, 2, 2, 3]))
            .map(|_| signature.any_sort(rng))
            .collect();
        let result = match rng.below(4) {
            0 => ColumnSort::Real,
            _ => ColumnSort::Sort(signature.any_sort(rng)),
        };
        let name = format!("f{index}");
        signature.functions.push((name, arguments, result));
    }
    signature
}

fn ground(rng: &mut Rng, theory: Theory, signature: &Signature) -> Case {
    let mut data = Data::new(&theory);
    for (name, kind, size) in &signature.sorts {
        if *kind == SortKind::Data {
            // On a grid, so that distances tie.
            let features = (0..size * 2).map(|_| rng.between(-2, 2) as f64 / 2.0);
            data.set_features(name, 2, features.collect()).unwrap();
        }
    }
    for (name, columns) in &signature.tables {
        let rows = if rng.chance(0.08) {
            0
        } else {
            1 + rng.below(6)
        };
        let mut columns: Vec<ColumnData> = (columns.iter())
            .map(|column| random_column(rng, signature, *column, rows))
            .collect();
        if rows > 1 && rng.chance(0.5) {
            columns.iter_mut().for_each(repeat_first_row_last);
        }
        data.set_rows(name, columns).unwrap();
    }
    for (name, value) in &signature.params {
        match *value {
            Num::Int(n) => data.set_param(name, n).unwrap(),
            Num::Real(x) => data.set_param(name, x).unwrap(),
        }
    }
    for (name, sort) in &signature.constants {
        let row = rng.below(signature.size(*sort)) as u32;
        data.set_constant(name, ConstantData::Row(row)).unwrap();
    }
    for (name, arguments, result) in &signature.functions {
        let tuples = arguments.iter().map(|s| signature.size(*s)).product();
        let values = match random_column(rng, signature, *result, tuples) {
            ColumnData::Individuals(values) => FunctionData::Individuals(values),
            ColumnData::Real(values) => FunctionData::Reals(values),
            ColumnData::Int(_) => panic!("no function says that"),
        };
        data.set_function(name, values).unwrap();
    }
    let mut case = Case {
        params: signature.params.iter().map(|(_, value)| *value).collect(),
        theory,
        data,
        outputs: Vec::new(),
        numbers: Vec::new(),
    };
    for index in 0..signature.predicates.len() {
        let shape = case.shape(PredicateId(index as u32));
        let output = random_output(rng, &shape);
        case.outputs.push(output);
        let numbers = (0..shape.iter().product()).map(|_| random_number(rng, output.kind));
        case.numbers.push(numbers.collect());
    }
    case
}

fn random_column(
    rng: &mut Rng,
    signature: &Signature,
    sort: ColumnSort,
    rows: usize,
) -> ColumnData {
    match sort {
        ColumnSort::Int => ColumnData::Int((0..rows).map(|_| rng.between(-2, 4)).collect()),
        ColumnSort::Real => {
            ColumnData::Real((0..rows).map(|_| rng.between(-5, 9) as f64 / 4.0).collect())
        }
        ColumnSort::Sort(sort) => {
            let size = signature.size(sort);
            ColumnData::Individuals((0..rows).map(|_| rng.below(size) as u32).collect())
        }
    }
}

fn repeat_first_row_last(column: &mut ColumnData) {
    match column {
        ColumnData::Individuals(cells) => *cells.last_mut().unwrap() = cells[0],
        ColumnData::Int(cells) => *cells.last_mut().unwrap() = cells[0],
        ColumnData::Real(cells) => *cells.last_mut().unwrap() = cells[0],
    }
}

fn random_output(rng: &mut Rng, shape: &[usize]) -> Output {
    let output = match rng.below(6) {
        0 | 1 if shape.last().is_some_and(|&classes| classes > 1) => return Output::softmax(),
        4 => Output::truth(),
        5 => Output::log_truth(),
        _ => Output::sigmoid(),
    };
    if !shape.is_empty() && rng.chance(0.4) {
        output.per_class()
    } else {
        output
    }
}

fn random_number(rng: &mut Rng, kind: OutputKind) -> f64 {
    match kind {
        OutputKind::Softmax | OutputKind::Sigmoid => 2.0 * rng.normal(),
        OutputKind::Truth if rng.chance(0.05) => rng.below(2) as f64,
        OutputKind::Truth => rng.uniform(),
        OutputKind::LogTruth => rng.in_range(1e-3, 1.0).ln() * rng.uniform(),
    }
}

/// A base, up to three operators replaced, sometimes another ε.
pub fn random_semantics(rng: &mut Rng) -> Semantics {
    let mut semantics = Semantics::named(rng.pick::<&str>(&super::operators())).unwrap();
    for _ in 0..rng.below(4) {
        let key = *rng.pick(&Semantics::KEYS);
        let names = Semantics::choices(key);
        // Those that do not belong to the base's space are left out.
        semantics = semantics
            .with(key, rng.pick::<&str>(&names))
            .unwrap_or(semantics);
    }
    if rng.chance(0.3) {
        let eps = *rng.pick(&[0.0, 1e-4, 0.01]);
        semantics = semantics.with_stable_eps(eps).unwrap();
    }
    semantics
}

/// α from 0.1 to 100, p and p_forall from 1 to 8.
pub fn random_parameters(rng: &mut Rng) -> Parameters {
    Parameters {
        alpha: 10_f64.powf(rng.in_range(-1.0, 2.0)),
        p: *rng.pick(&[1.0, 2.0, 1.0 + 7.0 * 0.37, 8.0]),
        p_forall: *rng.pick(&[1.0, 2.0, 1.0 + 7.0 * 0.81, 8.0]),
    }
}
