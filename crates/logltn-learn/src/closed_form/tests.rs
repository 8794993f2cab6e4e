//! Values against a reading of the text number by number, gradients against finite differences.

use logltn::vector::Real;
use logltn_nn::Floats;
use proptest::prelude::*;

use super::syntax::{Binary, Expression, Fold, Half, Node, Pair, Unary};
use super::{Argument, ClosedForm, InPlace, Plan, Tape, Work};
use crate::random::Random;

/// The arguments of the tests: a number, two vectors of three, one of five with fields, three that are longer than what is
/// added up at once; and what is learnt.
const ARGUMENTS: [(&str, usize); 9] = [
    ("x", 1),
    ("u", 3),
    ("v", 3),
    ("w", 5),
    ("h", 21),
    ("r", 21),
    ("t", 21),
    ("z", 6),
    ("c", 6),
];
const LEARNT: [(&str, usize); 2] = [("rate", 1), ("axis", 3)];

fn given() -> Vec<Argument> {
    let mut given: Vec<Argument> = (ARGUMENTS.iter())
        .map(|(name, length)| Argument::new(name.to_string(), *length))
        .collect();
    given[3].fields = vec![("head".to_string(), 0, 3), ("tail".to_string(), 3, 2)];
    given
}

fn compile(text: &str) -> Tape {
    let form = LEARNT
        .iter()
        .fold(ClosedForm::logit(text), |form, (name, length)| {
            form.learn(*name, vec![0.0; *length])
        });
    form.compile(&given())
        .unwrap_or_else(|errors| panic!("{text}: {errors}"))
}

/// All numbers that a closed form is of: of each row those of all arguments, then what is learnt.
#[derive(Clone, Debug)]
struct Point {
    rows: Vec<Vec<Vec<f64>>>,
    learnt: Vec<Vec<f64>>,
}

impl Point {
    fn random(rows: usize, random: &mut Random) -> Point {
        let mut vector = |length: &usize| -> Vec<f64> {
            // Single precision can hold them.
            (0..*length)
                .map(|_| f64::from(random.normal() as f32))
                .collect()
        };
        let mut row = || ARGUMENTS.iter().map(|(_, n)| vector(n)).collect();
        let rows = (0..rows).map(|_| row()).collect();
        let learnt = LEARNT.iter().map(|(_, n)| vector(n)).collect();
        Point { rows, learnt }
    }

    /// Number by number, as the text says.
    fn value(&self, expression: &Expression, row: usize) -> f64 {
        let mut values: Vec<Vec<f64>> = Vec::new();
        for node in &expression.nodes {
            let value = match &node.value {
                Node::Number(x) => vec![*x],
                Node::Name(name) => match ARGUMENTS.iter().position(|(n, _)| n == name) {
                    Some(at) => self.rows[row][at].clone(),
                    None => {
                        let at = LEARNT.iter().position(|(n, _)| n == name);
                        self.learnt[at.expect("a name")].clone()
                    }
                },
                Node::Field(_, field) if field.value == "head" => self.rows[row][3][..3].to_vec(),
                Node::Field(..) => self.rows[row][3][3..].to_vec(),
                Node::Half(half, of) => {
                    let at = ARGUMENTS.iter().position(|(n, _)| *n == of.value);
                    let whole = &self.rows[row][at.expect("an argument")];
                    let (re, im) = whole.split_at(whole.len() / 2);
                    match half {
                        Half::Real => re.to_vec(),
                        Half::Imaginary => im.to_vec(),
                    }
                }
                Node::Unary(f, x) => {
                    let one = |x: f64| match f {
                        Unary::Negate => -x,
                        Unary::Abs => x.abs(),
                        Unary::Sqrt => x.sqrt(),
                        Unary::Exp => x.exp(),
                        Unary::Log => x.ln(),
                        Unary::Tanh => x.tanh(),
                        Unary::Sigmoid => 1.0 / (1.0 + (-x).exp()),
                        Unary::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
                    };
                    values[*x].iter().map(|&x| one(x)).collect()
                }
                Node::Fold(f, x) => {
                    let x = &values[*x];
                    vec![match f {
                        Fold::Sum => x.iter().sum(),
                        Fold::Mean => x.iter().sum::<f64>() / x.len() as f64,
                        Fold::Min => x.iter().copied().fold(f64::INFINITY, f64::min),
                        Fold::Max => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                        Fold::Norm => x.iter().map(|x| x * x).sum::<f64>().sqrt(),
                    }]
                }
                Node::Binary(f, a, b) => {
                    let (a, b) = (&values[*a], &values[*b]);
                    let pick = |x: &Vec<f64>, k: usize| x[if x.len() == 1 { 0 } else { k }];
                    let one = |k: usize| {
                        let (a, b) = (pick(a, k), pick(b, k));
                        match f {
                            Binary::Add => a + b,
                            Binary::Subtract => a - b,
                            Binary::Multiply => a * b,
                            Binary::Divide => a / b,
                            Binary::Min => a.min(b),
                            Binary::Max => a.max(b),
                        }
                    };
                    (0..a.len().max(b.len())).map(one).collect()
                }
                Node::Pair(f, a, b) => {
                    let pairs = values[*a].iter().zip(&values[*b]);
                    vec![match f {
                        Pair::Dot => pairs.map(|(a, b)| a * b).sum(),
                        Pair::Dist => pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt(),
                    }]
                }
            };
            values.push(value);
        }
        values.pop().expect("a value")[0]
    }

    /// Values, and the gradient of their sum with these weights: by each leaf of the program, then by what is learnt. Leaves
    /// are copied into the block, or, where they may be, read in place.
    fn run<T: Real>(
        &self,
        tape: &Tape,
        weights: &[f64],
        in_place: bool,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let rows = self.rows.len();
        let learnt: Vec<Vec<f32>> = (self.learnt.iter())
            .map(|x| x.iter().map(|&x| x as f32).collect())
            .collect();
        // The rows of each leaf, the last one first.
        let mut tables: Vec<Vec<f32>> = Vec::new();
        for leaf in tape.leaves() {
            let numbers = self.rows.iter().rev().flat_map(|row| {
                let from = &row[leaf.argument][leaf.from..];
                from[..leaf.length].iter().map(|&x| x as f32)
            });
            tables.push(numbers.collect());
        }
        let stays = |leaf: usize| in_place && tape.may_stay(leaf);
        let places = &|leaf: usize| {
            let numbers = T::of_single(&tables[leaf]).filter(|_| stays(leaf))?;
            let table = leaf;
            Some(InPlace { numbers, table })
        };
        let learnt = &|at: usize| learnt[at].as_slice();
        let lists: Vec<bool> = (0..tape.leaves().len()).map(stays).collect();
        let zeros = tables.iter().map(|table| Floats::zeros(table.len()));
        let mut sums: Vec<Floats> = zeros.collect();
        let mut run = |plan: &Plan, kept: &[(usize, Vec<T>)], by: &[T]| {
            let mut work = Work::<T>::default();
            work.prepare(plan, rows);
            for (at, leaf) in tape.leaves().enumerate().filter(|(at, _)| plan.reads(*at)) {
                let last_first = (0..rows).rev().map(|row| row * leaf.length);
                if stays(at) {
                    let starts = work.starts_mut(at, rows).iter_mut();
                    starts.zip(last_first).for_each(|(to, x)| *to = x as u32);
                    continue;
                }
                let numbers = work.leaf_mut(plan, at, rows).chunks_exact_mut(leaf.length);
                for (out, start) in numbers.zip(last_first) {
                    let row = out.iter_mut().zip(&tables[at][start..]);
                    row.for_each(|(out, &x)| *out = T::from_f64(f64::from(x)));
                }
            }
            for (at, kept) in kept {
                work.result_mut(plan, *at, rows).copy_from_slice(kept);
            }
            work.run(plan, rows, learnt, places, (by, &mut sums));
            work
        };
        let (forward, back) = (
            tape.forward(&[]),
            tape.back(&vec![true; tape.leaves().len()], &lists, &[]),
        );
        let work = run(&forward, &[], &[]);
        let mut values = vec![T::ZERO; rows];
        work.root(&forward, &mut values);
        let kept = back.given.iter();
        let kept = kept.map(|&at| (at, work.result(&forward, at, rows).to_vec()));
        let kept: Vec<(usize, Vec<T>)> = kept.collect();
        let weights: Vec<T> = weights.iter().map(|&w| T::from_f64(w)).collect();
        let work = run(&back, &kept, &weights);
        let exact = |x: &[T]| -> Vec<f64> { x.iter().map(|x| x.to_f64()).collect() };
        let leaves = tape.leaves().zip(&back.by_leaves).zip(&sums);
        let leaves = leaves.map(|((leaf, by), sums)| match by {
            Some(at) => exact(work.result(&back, *at, rows)),
            None => {
                let last_first = sums.chunks_exact(leaf.length).rev().flatten();
                last_first.map(|&x| f64::from(x)).collect()
            }
        });
        let mut gradients: Vec<Vec<f64>> = leaves.collect();
        for (at, _) in LEARNT.iter().enumerate() {
            let found = back.by_learnt.iter().find(|(i, _)| *i == at);
            let by = found.map(|(_, by)| exact(work.result(&back, *by, rows)));
            gradients.push(by.unwrap_or_default());
        }
        (exact(&values), gradients)
    }

    fn sum(&self, expression: &Expression, weights: &[f64]) -> f64 {
        let rows = weights.iter().enumerate();
        rows.map(|(row, w)| w * self.value(expression, row)).sum()
    }

    /// The slope along one number, unless there is a kink nearby.
    fn slope(
        &self,
        expression: &Expression,
        weights: &[f64],
        number: impl Fn(&mut Point) -> &mut f64,
    ) -> Option<f64> {
        let at = |by: f64| {
            let mut moved = self.clone();
            *number(&mut moved) += by;
            moved.sum(expression, weights)
        };
        let slope = |step: f64| (at(step) - at(-step)) / (2.0 * step);
        let (near, far) = (slope(1e-5), slope(3e-5));
        ((near - far).abs() <= 1e-5 * (1.0 + near.abs())).then_some(near)
    }

    /// Compares everything, and says how many slopes were compared.
    fn check(&self, text: &str) -> usize {
        let expression = Expression::parse(text).expect("an expression");
        let tape = compile(text);
        let rows = self.rows.len();
        let weights: Vec<f64> = (0..rows).map(|row| 1.0 + 0.5 * row as f64).collect();
        let (values, gradients) = self.run::<f64>(&tape, &weights, false);
        for (row, &found) in values.iter().enumerate() {
            let expected = self.value(&expression, row);
            let close = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
            assert!(close, "{text} in row {row}: {found}, expected {expected}");
        }
        let mut compared = 0;
        let mut compare = |found: f64, slope: Option<f64>, what: &str| {
            let Some(slope) = slope else { return };
            let close = (found - slope).abs() <= 1e-5 * (1.0 + slope.abs());
            assert!(
                close,
                "{text}, {what}: the gradient is {found}, the slope {slope}"
            );
            compared += 1;
        };
        // Arguments may be read in several leaves.
        for (argument, (name, length)) in ARGUMENTS.iter().enumerate() {
            for (row, k) in (0..rows).flat_map(|row| (0..*length).map(move |k| (row, k))) {
                let mut found = 0.0;
                for (at, leaf) in tape.leaves().enumerate() {
                    let range = leaf.from..leaf.from + leaf.length;
                    if leaf.argument == argument && range.contains(&k) {
                        found += gradients[at][row * leaf.length + k - leaf.from];
                    }
                }
                let slope = self.slope(&expression, &weights, |p| &mut p.rows[row][argument][k]);
                compare(found, slope, &format!("{name}[{k}] of row {row}"));
            }
        }
        for (at, (name, length)) in LEARNT.iter().enumerate() {
            let found = &gradients[tape.leaves().len() + at];
            for k in 0..*length {
                // Numbers that are learnt are in single precision; slopes are taken of the very same.
                let slope = self.slope(&expression, &weights, |p| &mut p.learnt[at][k]);
                compare(
                    found.get(k).copied().unwrap_or(0.0),
                    slope,
                    &format!("{name}[{k}]"),
                );
            }
        }
        // Single precision is the same except for roundings.
        let (single, by_single) = self.run::<f32>(&tape, &weights, true);
        let copied = self.run::<f32>(&tape, &weights, false);
        assert_eq!(copied, (single.clone(), by_single.clone()), "{text}");
        let all = |values: &[f64], gradients: &[Vec<f64>]| {
            let gradients = gradients.iter().flatten();
            values
                .iter()
                .chain(gradients)
                .copied()
                .collect::<Vec<f64>>()
        };
        let (single, double) = (all(&single, &by_single), all(&values, &gradients));
        let largest = double.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (single, double) in single.iter().zip(&double) {
            assert!(
                (single - double).abs() <= 1e-3 * largest,
                "{text}: {single}, {double}"
            );
        }
        compared
    }
}

#[test]
fn every_operation() {
    let forms = [
        "x + rate",
        "x - rate",
        "x * rate",
        "x / (2 + rate * rate)",
        "-x",
        "abs(x)",
        "sqrt(0.1 + x * x)",
        "exp(x)",
        "log(0.1 + x * x)",
        "tanh(x)",
        "sigmoid(3 * x)",
        "softplus(x)",
        "sum(u)",
        "mean(w)",
        "norm(u)",
        "min(u)",
        "max(w)",
        "dot(u, v)",
        "dist(u, v)",
        "dot(u, axis)",
        "dist(axis, v)",
        "norm(axis)",
        "dist(x, rate)",
        "norm(x)",
        "dot(x, x)",
        "min(x, rate)",
        "max(x, 0, rate)",
        "sum(max(u, v))",
        "sum(min(u, 0.5))",
        "sum(max(rate, v))",
        "sum(u + axis)",
        "sum(axis - u)",
        "sum(u * rate)",
        "sum(rate / (2 + u * u))",
        "sum(x * u)",
        "sum(u / (2 + x * x))",
        "norm(u * v + axis)",
        "rate",
        "sum(axis)",
        "norm(w.head - u)",
        "sum(w) + sum(w.tail) * x",
        "dist(w.head, axis)",
        "max(axis)",
        "mean(exp(u))",
        "sum(h * r * t) - rate",
        "rate - norm(h + r - t)",
        "dist(h + r, t)",
        "norm(h - r - t)",
        "norm(t - (h + r)) * dot(h, t)",
        "norm(-h)",
        "sum(abs(h - t)) + mean(abs(r))",
        "sum((h - t) * (h - t))",
        "mean(h * h) - dot(r, r)",
        "dot(h * r, t)",
        "sum(re(z) * re(c)) - sum(im(z) * im(c)) * x",
        "norm(re(z) - im(c)) + dot(u, im(z))",
        "sum(h * r * t * h)",
        "dot(h, tanh(r)) + sigmoid(sum(h * t))",
        "exp(-dist(h, t)) * x",
        "norm(h) / (1 + norm(t))",
        "sum(h) * mean(t) - max(h)",
        "sum(h * rate) + dot(h, h + t)",
        "dot(axis, axis) + sum(u * v * axis)",
        "norm(u + v + axis) - norm(axis - u)",
        "sum(sqrt(abs(u) + 0.1)) + sum(log(softplus(v))) - sum(tanh(w)) + sum(sigmoid(axis))",
    ];
    let mut random = Random::new(7, 0);
    for text in forms {
        let mut compared = 0;
        for rows in [1, 4] {
            compared += Point::random(rows, &mut random).check(text);
        }
        assert!(compared > 60, "{text}: {compared}");
    }
}

#[test]
fn slopes_at_0_are_0() {
    let mut point = Point::random(2, &mut Random::new(1, 0));
    for row in &mut point.rows {
        row.iter_mut().for_each(|x| x.fill(0.0));
    }
    for text in [
        "norm(u)",
        "dist(u, v)",
        "abs(x)",
        "sqrt(x)",
        "dist(x, 0)",
        "sum(sqrt(w))",
        "norm(x)",
    ] {
        let (values, gradients) = point.run::<f32>(&compile(text), &[1.0, 2.0], true);
        assert_eq!(values, [0.0, 0.0], "{text}");
        assert!(
            gradients.iter().flatten().all(|g| *g == 0.0),
            "{text}: {gradients:?}"
        );
    }
}

#[test]
fn far_from_0_nothing_overflows() {
    let mut point = Point::random(2, &mut Random::new(1, 0));
    (point.rows[0][0], point.rows[1][0]) = (vec![300.0], vec![-300.0]);
    for (text, values, slopes) in [
        ("softplus(x)", [300.0, 0.0], [1.0, 0.0]),
        ("sigmoid(x)", [1.0, 0.0], [0.0, 0.0]),
        ("tanh(x)", [1.0, -1.0], [0.0, 0.0]),
    ] {
        let (found, gradients) = point.run::<f32>(&compile(text), &[1.0, 1.0], true);
        assert_eq!(
            (found, &gradients[0][..]),
            (values.to_vec(), &slopes[..]),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_a_number_goes_through() {
    let mut point = Point::random(1, &mut Random::new(1, 0));
    point.rows[0][0] = vec![-1.0];
    for text in [
        "max(log(x), 3)",
        "min(3, log(x))",
        "max(sqrt(x) * u)",
        "softplus(sqrt(x))",
    ] {
        let (values, _) = point.run::<f32>(&compile(text), &[1.0], true);
        assert!(values[0].is_nan(), "{text}: {values:?}");
    }
}

/// A random expression of some length, tame enough for slopes.
fn random_text(length: usize, depth: usize, random: &mut Random) -> String {
    let mut pick = |n: usize| random.below(n);
    if depth == 0 {
        return match (length, pick(4)) {
            (1, 0) => "x".to_string(),
            (1, 1) => "rate".to_string(),
            (1, 2) => "0.75".to_string(),
            (1, _) => "sum(w.tail)".to_string(),
            (3, 0) => "u".to_string(),
            (3, 1) => "v".to_string(),
            (3, 2) => "axis".to_string(),
            (3, _) => ["w.head", "re(z)", "im(c)"][pick(3)].to_string(),
            (5, _) => "w".to_string(),
            (_, which) => ["h", "r", "t"][which % 3].to_string(),
        };
    }
    let choice = pick(if length == 1 { 15 } else { 9 });
    let wide = [1, 3, 5, 21][pick(4)];
    let scalar = pick(3);
    let mut part = |length: usize| random_text(length, depth - 1, random);
    // One number goes with any vector.
    let (left, right) = match scalar {
        0 => (1, length),
        1 => (length, 1),
        _ => (length, length),
    };
    match choice {
        0 => format!("({} + {})", part(left), part(right)),
        1 => format!("({} - {})", part(left), part(right)),
        2 => format!("tanh({}) * {}", part(left), part(right)),
        3 => format!("{} / (1.5 + softplus({}))", part(left), part(right)),
        4 => format!("max({}, {})", part(left), part(right)),
        5 => format!("-min({}, {})", part(left), part(right)),
        6 => format!("exp(tanh({}))", part(length)),
        7 => format!("log(0.3 + abs({}))", part(length)),
        8 => format!("sigmoid(sqrt(0.2 + abs({})))", part(length)),
        9 => format!("norm({})", part(wide)),
        10 => format!("dist({}, {})", part(wide), part(wide)),
        13 => format!("norm({} + {} - {})", part(wide), part(wide), part(wide)),
        14 => format!(
            "tanh(sum({} * {} * {}))",
            part(wide),
            part(wide),
            part(wide)
        ),
        11 => format!("dot(tanh({}), sigmoid({}))", part(wide), part(wide)),
        _ => format!(
            "{}({})",
            ["sum", "mean", "min", "max"][scalar % 4],
            part(wide)
        ),
    }
}

proptest! {
    #[test]
    fn random_expressions(seed in any::<u64>(), depth in 1_usize..5, rows in 1_usize..4) {
        let mut random = Random::new(seed, 0);
        let mut text = random_text(1, depth, &mut random);
        // A whole of length 1, even if no part was.
        if depth % 2 == 0 {
            text = format!("sum({text})");
        }
        let point = Point::random(rows, &mut random);
        let values = (0..rows).map(|row| point.value(&Expression::parse(&text).expect("parses"), row));
        prop_assume!(values.into_iter().all(|x| x.abs() < 1e3));
        point.check(&text);
    }
}
