//! The problems that are measured: clustering, parts of wholes, additions, each of any size.

use logltn::{ColumnData, Data, Labels, Output, Source, Theory};

/// The data, and what the numbers of each predicate mean.
pub type Problem = (Data, Vec<Output>);

/// A reproducible number in [0, 1).
pub fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1_u64 << 31) as f64
}

fn parse(text: &str) -> Theory {
    Theory::parse(Source::new("growth.ltn", text)).expect("a theory")
}

/// Points around 5 centres, near if among the 20 nearest on average: dense clusters, the hard case for an index.
pub fn clustering(points: usize, clusters: usize, width: usize) -> Problem {
    let theory = parse(&format!(
        "sort Point  sort Cluster = 0..{}  param near  predicate C(Point, Cluster)
        axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
        axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
        axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)",
        clusters - 1
    ));
    let mut state = 1;
    let centres: Vec<f64> = (0..5 * width).map(|_| 20.0 * random(&mut state)).collect();
    let features: Vec<f64> = (0..points * width)
        .map(|i| {
            let centre = centres[(i / width) % 5 * width + i % width];
            centre + 6.0 * (random(&mut state) + random(&mut state) - 1.0)
        })
        .collect();
    let sample = points.div_ceil(200);
    let mut distances: Vec<f64> = features
        .chunks(width)
        .step_by(sample)
        .flat_map(|a| features.chunks(width).map(|b| distance(a, b)))
        .collect();
    let rank = points.div_ceil(sample) * 20;
    let (_, near, _) = distances.select_nth_unstable_by(rank, f64::total_cmp);
    let near = *near;
    let mut data = Data::new(&theory);
    data.set_features("Point", width, features)
        .expect("features");
    data.set_param("near", near).expect("a param");
    (data, vec![Output::softmax()])
}

/// All pairs of different individuals.
pub fn unequal(individuals: usize) -> Problem {
    let theory = parse(&format!(
        "sort A = 1..{individuals}  predicate P(A)  axiom a: forall x, y: A where x != y. P(x) -> P(y)"
    ));
    (Data::new(&theory), vec![Output::sigmoid()])
}

/// As PASCAL-Part: one axiom per type that is a whole or a part, all over the same 32 pairs of boxes.
pub fn parts(axioms: usize) -> Problem {
    let theory = parse(
        "sort Box  sort Type  table pairs(x: Box, y: Box)  table ontology(whole: Type, part: Type)
        predicate type(Box, Type)  predicate part_of(Box, Box)
        axiom wholes for w: Type where exists p: Type. ontology(w, p):
            forall (x, y) in pairs. type(x, w) and part_of(y, x) -> (any p: Type where ontology(w, p). type(y, p))
        axiom parts for p: Type where exists w: Type. ontology(w, p):
            forall (x, y) in pairs. type(x, p) and part_of(x, y) -> (any w: Type where ontology(w, p). type(y, w))",
    );
    let names: Vec<String> = (0..axioms).map(|i| format!("type{i}")).collect();
    let mut labels = Labels::default();
    labels.insert("Type", names);
    let theory = Theory::parse_with(theory.source.clone(), &labels).expect("a theory");
    let mut data = Data::new(&theory);
    let half = axioms as u32 / 2;
    data.set_size("Box", 64).expect("a size");
    let pairs = [(0..32).collect(), (32..64).collect()].map(ColumnData::Individuals);
    data.set_rows("pairs", pairs.into()).expect("rows");
    // Each whole has three parts.
    let wholes = (0..half).flat_map(|w| [w; 3]).collect();
    let parts = (0..half).flat_map(|w| [0, 1, 2].map(|i| half + (w + i) % half));
    let ontology = [wholes, parts.collect()].map(ColumnData::Individuals);
    data.set_rows("ontology", ontology.into()).expect("rows");
    (data, vec![Output::softmax(), Output::sigmoid()])
}

/// Sums of two numbers of this many digits, one equation per column with carries as variables.
pub fn columns(digits: usize) -> Problem {
    let list = |count: usize, each: &dyn Fn(usize) -> String| {
        (0..count).map(each).collect::<Vec<_>>().join(", ")
    };
    let equations: Vec<String> = (0..digits)
        .map(|i| format!("a{i} + b{i} + c{i} = s{i} + 10*c{}", i + 1))
        .collect();
    let literals: Vec<String> = (0..digits)
        .map(|i| format!("digit(x{i}, a{i}) and digit(y{i}, b{i})"))
        .collect();
    let theory = parse(&format!(
        "sort Image  sort Digit = 0..9  sort Carry = 0..1  predicate digit(Image, Digit)
        table sums({}, {}, {})
        axiom addition: forall ({}, {}, {}) in sums. exists {}, {}: Digit, {}: Carry
            where {} and c0 = 0 and c{digits} = s{digits}. {}",
        list(digits, &|i| format!("x{i}: Image")),
        list(digits, &|i| format!("y{i}: Image")),
        list(digits + 1, &|i| format!("s{i}: Int")),
        list(digits, &|i| format!("x{i}")),
        list(digits, &|i| format!("y{i}")),
        list(digits + 1, &|i| format!("s{i}")),
        list(digits, &|i| format!("a{i}")),
        list(digits, &|i| format!("b{i}")),
        list(digits + 1, &|i| format!("c{i}")),
        equations.join(" and "),
        literals.join(" and "),
    ));
    let rows = 32;
    let mut data = Data::new(&theory);
    data.set_size("Image", 2 * digits * rows).expect("a size");
    let mut columns: Vec<ColumnData> = (0..2 * digits as u32)
        .map(|k| ColumnData::Individuals((0..rows as u32).map(|i| k * rows as u32 + i).collect()))
        .collect();
    let mut sums: Vec<Vec<i64>> = vec![Vec::new(); digits + 1];
    let mut state = 4;
    for _ in 0..rows {
        let mut carry = 0;
        for column in &mut sums[..digits] {
            let digit = |state: &mut u64| (10.0 * random(state)) as i64;
            let sum = digit(&mut state) + digit(&mut state) + carry;
            column.push(sum % 10);
            carry = sum / 10;
        }
        sums[digits].push(carry);
    }
    columns.extend(sums.into_iter().map(ColumnData::Int));
    data.set_rows("sums", columns).expect("rows");
    (data, vec![Output::softmax()])
}

/// Sums of two two-digit numbers, of which a step sees a few.
pub fn addition(rows: usize) -> Problem {
    let theory = parse(
        "sort Image  sort Digit = 0..9  predicate digit(Image, Digit)
        table sums(x1: Image, x2: Image, y1: Image, y2: Image, n: Int)
        axiom addition: forall (x1, x2, y1, y2, n) in sums.
            exists d1, d2, d3, d4: Digit where 10*d1 + d2 + 10*d3 + d4 = n.
                digit(x1, d1) and digit(x2, d2) and digit(y1, d3) and digit(y2, d4)",
    );
    let mut data = Data::new(&theory);
    data.set_size("Image", 4 * rows).expect("a size");
    let mut columns: Vec<ColumnData> = (0..4)
        .map(|k| ColumnData::Individuals((0..rows as u32).map(|i| k * rows as u32 + i).collect()))
        .collect();
    let mut state = 2;
    let sums = (0..rows).map(|_| (0..2).map(|_| (100.0 * random(&mut state)) as i64).sum());
    columns.push(ColumnData::Int(sums.collect()));
    data.set_rows("sums", columns).expect("rows");
    data.set_batched("sums").expect("a table");
    (data, vec![Output::softmax()])
}

/// Shapes of the race (`bench/race`) that broadcasting is good at, small.
pub fn shape(name: &str) -> Problem {
    let pairs = "sort X  predicate r(X, X)  predicate q(X, X)  predicate s(X)";
    let (text, size) = match name {
        "nested" => (
            format!(
                "{pairs}  axiom a: forall x: X. exists y: X. r(x, y) and (forall z: X. r(y, z) -> s(z))"
            ),
            100,
        ),
        "product" => (
            format!("{pairs}  axiom a: forall x, z: X. exists y: X. r(x, y) and q(y, z)"),
            100,
        ),
        "exists" => (
            format!("{pairs}  axiom a: forall x: X. exists y: X. r(x, y) and s(y)"),
            300,
        ),
        "iff" => (
            format!("{pairs}  axiom a: forall x, y: X. r(x, y) <-> q(x, y)"),
            200,
        ),
        _ => {
            let literals: Vec<String> = (0..12).map(|i| format!("p{i}(x)")).collect();
            let predicates: Vec<String> = (0..12).map(|i| format!("predicate p{i}(X)")).collect();
            let text = format!(
                "sort X  {}  axiom a: forall x: X. {}",
                predicates.join("  "),
                literals.join(" or ")
            );
            (text, 5_000)
        }
    };
    let theory = parse(&text);
    let mut data = Data::new(&theory);
    data.set_size("X", size).expect("a size");
    let outputs = vec![Output::sigmoid(); theory.predicates.len()];
    (data, outputs)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}
