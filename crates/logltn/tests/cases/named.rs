//! The paper's tasks and the language's corners in small, made from a seed.

use logltn::theory::PredicateId;
use logltn::{ColumnData, Data, Output, OutputKind, Source, Theory};

use super::rng::Rng;
use crate::reference::{Case, Num};

/// A case with its name.
pub type Named = (&'static str, Case);

/// All of them.
pub fn all(seed: u64) -> Vec<Named> {
    let rng = &mut Rng::new(seed);
    vec![
        ("clustering", clustering(rng)),
        ("addition", addition(rng)),
        ("mereology", mereology(rng)),
        ("nested", nested(rng)),
        ("empty", empty(rng)),
        ("extreme", extreme(rng)),
    ]
}

fn parse(text: &str) -> Theory {
    Theory::parse(Source::new("named.ltn", text)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Puts numbers of a usual size behind the predicates.
fn grounded(rng: &mut Rng, data: Data, params: Vec<Num>, outputs: &[Output]) -> Case {
    let mut case = Case {
        theory: data.theory().as_ref().clone(),
        data,
        params,
        outputs: outputs.to_vec(),
        numbers: Vec::new(),
    };
    for (index, output) in outputs.iter().enumerate() {
        let atoms = case.shape(PredicateId(index as u32)).iter().product();
        let numbers = (0..atoms).map(|_| match output.kind {
            OutputKind::Softmax | OutputKind::Sigmoid => 2.0 * rng.normal(),
            OutputKind::Truth => rng.uniform(),
            OutputKind::LogTruth => rng.in_range(0.01, 1.0).ln(),
        });
        case.numbers.push(numbers.collect());
    }
    case
}

pub fn clustering(rng: &mut Rng) -> Case {
    let theory = parse(
        "sort Point
         sort Cluster = 0..2
         param near
         predicate C(Point, Cluster)
         axiom covered: forall x: Point. exists c: Cluster. C(x, c)
         axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
         axiom close (weight 3): forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
         axiom far: forall x: Point, y: Point where dist(x, y) >= 4*near and x != y. not (exists c: Cluster. C(x, c) and C(y, c))",
    );
    let mut data = Data::new(&theory);
    let centres = [[-3.0, 0.0], [0.0, 3.0], [3.0, -1.0]];
    let points = (0..15)
        .flat_map(|i| centres[i % 3])
        .map(|x| x + rng.normal());
    data.set_features("Point", 2, points.collect()).unwrap();
    data.set_param("near", 1.25).unwrap();
    grounded(rng, data, vec![Num::Real(1.25)], &[Output::softmax()])
}

/// Two-digit addition in base 5.
pub fn addition(rng: &mut Rng) -> Case {
    let theory = parse(
        "sort Image
         sort Digit = 0..4
         table sums(x1: Image, x2: Image, y1: Image, y2: Image, n: Int)
         predicate digit(Image, Digit)
         axiom addition:
             forall (x1, x2, y1, y2, n) in sums.
             exists d1, d2, d3, d4: Digit where 5*d1 + d2 + 5*d3 + d4 = n.
                 digit(x1, d1) and digit(x2, d2) and digit(y1, d3) and digit(y2, d4)",
    );
    let mut data = Data::new(&theory);
    data.set_size("Image", 14).unwrap();
    let image =
        |rng: &mut Rng| ColumnData::Individuals((0..5).map(|_| rng.below(14) as u32).collect());
    let images: Vec<ColumnData> = (0..4).map(|_| image(rng)).collect();
    // One sum that two pairs of digits give, one that all do not, and some between.
    let sums = ColumnData::Int(vec![48, 1, rng.between(5, 40), rng.between(5, 40), 24]);
    data.set_rows("sums", images.into_iter().chain([sums]).collect())
        .unwrap();
    grounded(rng, data, Vec::new(), &[Output::softmax()])
}

pub fn mereology(rng: &mut Rng) -> Case {
    let theory = parse(
        "sort Box
         sort Type = {cat, head, tail, car, wheel, cloud}
         table labelled(x: Box, t: Type)
         table pairs(x: Box, y: Box)
         table ontology(whole: Type, part: Type)
         predicate type(Box, Type)
         predicate part_of(Box, Box)
         axiom types (weight 2): forall (x, t) in labelled. type(x, t)
         axiom antisymmetric: forall (x, y) in pairs. not (part_of(x, y) and part_of(y, x))
         axiom irreflexive: forall x: Box. not part_of(x, x)
         axiom whole_to_parts for w: Type where exists p: Type. ontology(w, p):
             forall (x, y) in pairs. type(x, w) and part_of(y, x) -> (any p: Type where ontology(w, p). type(y, p))
         axiom part_to_wholes (weight 0.5) for p: Type where exists w: Type. ontology(w, p):
             forall (x, y) in pairs. type(x, p) and part_of(x, y) -> (any w: Type where ontology(w, p). type(y, w))
         axiom no_parts for w: Type where not (exists p: Type. ontology(w, p) or ontology(p, w)):
             forall x: Box, y: Box where x != y. type(x, w) -> not part_of(y, x)",
    );
    let mut data = Data::new(&theory);
    data.set_size("Box", 7).unwrap();
    let boxes = |rng: &mut Rng, rows| {
        ColumnData::Individuals((0..rows).map(|_| rng.below(7) as u32).collect())
    };
    let types = (0..9).map(|_| rng.below(6) as u32).collect();
    let labelled = vec![boxes(rng, 9), ColumnData::Individuals(types)];
    data.set_rows("labelled", labelled).unwrap();
    let pairs = vec![boxes(rng, 12), boxes(rng, 12)];
    data.set_rows("pairs", pairs).unwrap();
    let ontology = vec![
        ColumnData::Individuals(vec![0, 0, 3]),
        ColumnData::Individuals(vec![1, 2, 4]),
    ];
    data.set_rows("ontology", ontology).unwrap();
    grounded(
        rng,
        data,
        Vec::new(),
        &[Output::softmax(), Output::sigmoid()],
    )
}

/// Quantifiers under connectives, under each other, and shared variables.
pub fn nested(rng: &mut Rng) -> Case {
    let theory = parse(
        "sort U = 1..5
         sort V = {a, b, c}
         predicate P(U)
         predicate R(V)
         predicate S(U, V)
         predicate flag()
         axiom either: (forall u: U. P(u)) or (exists v: V. R(v)) or flag()
         axiom negated: not (forall u: U. P(u) -> (exists v: V where v != a. S(u, v)))
         axiom same: (exists u: U. P(u) and not flag()) <-> (forall v: V. R(v) or S(3, v))
         axiom deep: forall u: U. (exists v: V. S(u, v) and (forall w: U where w > u. S(w, v) -> P(w))) or not P(u)
         axiom free: forall u: U, v: V. exists w: U where w + u < 7. R(v)
         axiom pulled: exists u: U, v: V. (S(u, v) or R(v)) and P(u) and flag()",
    );
    let data = Data::new(&theory);
    let outputs = [
        Output::sigmoid(),
        Output::truth(),
        Output::sigmoid().per_class(),
        Output::log_truth(),
    ];
    grounded(rng, data, Vec::new(), &outputs)
}

/// Guards that keep nothing, here and there and everywhere.
pub fn empty(rng: &mut Rng) -> Case {
    let theory = parse(
        "sort U = 0..3
         sort X
         table none(x: X, n: Int)
         predicate S(U, X)
         axiom exists_sometimes: forall u: U. exists w: U, x: X where u > w + 1. S(w, x)
         axiom exists_never: exists u: U where u > 9. forall x: X. S(u, x)
         axiom forall_never: forall (x, n) in none. S(n_is_one, x)
         axiom turned: forall x: X. not (forall u: U where u % 5 = 4. S(u, x))
         axiom connectives: forall x: X. S(0, x) or (any u: U where u < 0. S(u, x)) or (all u: U where u < 0. S(u, x))
         axiom no_family for u: U where u > 3: forall x: X. S(u, x)
         axiom beside: (forall x: X. S(1, x)) and ((exists u: U where u = -1. exists x: X. S(u, x)) or S(2, first))
         constant n_is_one: U
         constant first: X",
    );
    let mut data = Data::new(&theory);
    data.set_size("X", 3).unwrap();
    let none = vec![
        ColumnData::Individuals(Vec::new()),
        ColumnData::Int(Vec::new()),
    ];
    data.set_rows("none", none).unwrap();
    data.set_constant("n_is_one", logltn::ConstantData::Row(1))
        .unwrap();
    data.set_constant("first", logltn::ConstantData::Row(0))
        .unwrap();
    grounded(rng, data, Vec::new(), &[Output::sigmoid()])
}

/// Logits up to 1e4, exact zeros and equal logits. For log space: truth degrees of these are 0 and 1.
pub fn extreme(rng: &mut Rng) -> Case {
    let theory = parse(
        "sort X
         sort K = 0..3
         predicate soft(X, K)
         predicate sharp(X)
         axiom positive: forall x: X, k: K. soft(x, k)
         axiom negative: forall x: X, k: K. not soft(x, k)
         axiom both: forall x: X. sharp(x) and not sharp(x)
         axiom some: exists x: X, k: K. not soft(x, k) and sharp(x)
         axiom implied: forall x: X, k: K. soft(x, k) -> (exists j: K where j != k. not soft(x, j) or sharp(x))",
    );
    let mut data = Data::new(&theory);
    data.set_size("X", 6).unwrap();
    let mut case = grounded(
        rng,
        data,
        Vec::new(),
        &[Output::softmax(), Output::sigmoid()],
    );
    let sizes = [0.0, 1e-3, 1.0, 30.0, 700.0, 1e4];
    for numbers in &mut case.numbers {
        for number in numbers.iter_mut() {
            *number = rng.pick(&sizes) * rng.pick(&[-1.0, 1.0]);
        }
    }
    case.numbers[0][..4].fill(0.0);
    case
}
