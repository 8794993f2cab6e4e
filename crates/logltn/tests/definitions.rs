//! Definitions: what a use means is its formula in parentheses, in every semantics. The written-out text is made here, by
//! its own printer.

mod asking;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cases::compare::near;
use crate::cases::rng::Rng;
use logltn::theory::TableId;
use logltn::{
    AxiomParameters, ColumnData, Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics,
    Source, Theory,
};

// --- formulas of the tests ----------------------------------------------------------------------

#[derive(Clone)]
enum F {
    Atom(&'static str, Vec<String>),
    Use(usize, Vec<String>),
    Not(Box<F>),
    Nary(&'static str, Vec<F>),
    Binary(&'static str, Box<F>, Box<F>),
    Quantified {
        word: &'static str,
        /// Variables with their sorts, or a table and its columns.
        binds: Vec<(String, char)>,
        table: Option<&'static str>,
        guard: Option<String>,
        body: Box<F>,
    },
}

struct Define {
    parameters: Vec<(String, char)>,
    body: F,
}

/// How uses are printed.
#[derive(Clone, Copy, PartialEq)]
enum Print {
    Named,
    WrittenOut,
    /// As predicates `O0`, `O1`, …
    Opaque,
}

struct Printer<'a> {
    how: Print,
    definitions: &'a [Define],
    fresh: usize,
}

impl Printer<'_> {
    fn print(&mut self, f: &F, names: &BTreeMap<String, String>) -> String {
        let word = |text: &str| {
            // Guards are short texts over names.
            let mut out = String::new();
            let mut name = String::new();
            for c in text.chars().chain([' ']) {
                if c.is_alphanumeric() || c == '_' {
                    name.push(c);
                } else {
                    out.push_str(names.get(&name).unwrap_or(&name));
                    name.clear();
                    out.push(c);
                }
            }
            out.trim_end().to_string()
        };
        match f {
            F::Atom(p, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|a| word(a)).collect();
                format!("{p}({})", arguments.join(", "))
            }
            F::Use(d, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|a| word(a)).collect();
                match self.how {
                    Print::Named => format!("D{d}({})", arguments.join(", ")),
                    Print::Opaque => format!("O{d}({})", arguments.join(", ")),
                    Print::WrittenOut => {
                        let definition = &self.definitions[*d];
                        let names = (definition.parameters.iter().zip(arguments))
                            .map(|((name, _), argument)| (name.clone(), argument))
                            .collect();
                        format!("({})", self.print(&definition.body, &names))
                    }
                }
            }
            F::Not(a) => format!("not ({})", self.print(a, names)),
            F::Nary(connective, members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|m| format!("({})", self.print(m, names)))
                    .collect();
                members.join(&format!(" {connective} "))
            }
            F::Binary(connective, a, b) => {
                let (a, b) = (self.print(a, names), self.print(b, names));
                format!("({a}) {connective} ({b})")
            }
            F::Quantified {
                word: quantifier,
                binds,
                table,
                guard,
                body,
            } => {
                let mut inner = names.clone();
                let mut shown = Vec::new();
                for (name, _) in binds {
                    self.fresh += 1;
                    let fresh = format!("v{}", self.fresh);
                    shown.push(fresh.clone());
                    inner.insert(name.clone(), fresh);
                }
                let binder = match table {
                    Some(table) => format!("({}) in {table}", shown.join(", ")),
                    None => (shown.iter().zip(binds))
                        .map(|(name, (_, sort))| format!("{name}: {sort}"))
                        .collect::<Vec<_>>()
                        .join(", "),
                };
                let guard = guard.as_ref().map(|guard| {
                    let mut out = String::new();
                    let mut name = String::new();
                    for c in guard.chars().chain([' ']) {
                        if c.is_alphanumeric() || c == '_' {
                            name.push(c);
                        } else {
                            out.push_str(inner.get(&name).unwrap_or(&name));
                            name.clear();
                            out.push(c);
                        }
                    }
                    format!(" where {}", out.trim_end())
                });
                let body = self.print(body, &inner);
                format!("{quantifier} {binder}{}. {body}", guard.unwrap_or_default())
            }
        }
    }
}

// --- random ones --------------------------------------------------------------------------------

struct Maker {
    rng: Rng,
    names: usize,
    definitions: Vec<Define>,
}

const HEAD: &str = "
    sort A = 0..2
    sort B = {b0, b1, b2}
    sort H
    table E(x: B, y: B)
    table T(a: A, b: B)
    predicate N(H, A)
    predicate P(B)
    predicate Q(B, A)
    predicate R(B, B)
    predicate Z()
";

impl Maker {
    fn term(&mut self, sort: char, scope: &[(String, char)]) -> String {
        let own: Vec<&(String, char)> = scope.iter().filter(|(_, s)| *s == sort).collect();
        if !own.is_empty() && (sort == 'H' || self.rng.chance(0.85)) {
            return self.rng.pick(&own).0.clone();
        }
        match sort {
            'A' => self.rng.below(3).to_string(),
            _ => format!("b{}", self.rng.below(3)),
        }
    }

    /// `uses`: how many of the definitions it may use.
    fn formula(&mut self, depth: usize, scope: &[(String, char)], uses: usize) -> F {
        if depth == 0 || self.rng.chance(0.15) {
            // Individuals of H have no names, and there may be none.
            let has_c = scope.iter().any(|(_, sort)| *sort == 'H');
            if uses > 0 && self.rng.chance(0.55) {
                let d = self.rng.below(uses);
                let sorts: Vec<char> = self.definitions[d].parameters.iter().map(|p| p.1).collect();
                if has_c || !sorts.contains(&'H') {
                    let arguments = sorts.iter().map(|s| self.term(*s, scope)).collect();
                    return F::Use(d, arguments);
                }
            }
            if has_c && self.rng.chance(0.4) {
                return F::Atom("N", vec![self.term('H', scope), self.term('A', scope)]);
            }
            return match self.rng.below(4) {
                0 => F::Atom("P", vec![self.term('B', scope)]),
                1 => F::Atom("Q", vec![self.term('B', scope), self.term('A', scope)]),
                2 => F::Atom("R", vec![self.term('B', scope), self.term('B', scope)]),
                _ => F::Atom("Z", vec![]),
            };
        }
        match self.rng.below(9) {
            0 | 1 => F::Not(Box::new(self.formula(depth - 1, scope, uses))),
            2 | 3 => {
                let n = 2 + self.rng.below(2);
                let members = (0..n)
                    .map(|_| self.formula(depth - 1, scope, uses))
                    .collect();
                F::Nary(self.rng.pick::<&str>(&["and", "or"]), members)
            }
            4 => {
                let word = if self.rng.chance(0.7) { "->" } else { "<->" };
                let a = self.formula(depth - 1, scope, uses);
                F::Binary(
                    word,
                    Box::new(a),
                    Box::new(self.formula(depth - 1, scope, uses)),
                )
            }
            _ => self.quantified(depth, scope, uses),
        }
    }

    fn quantified(&mut self, depth: usize, scope: &[(String, char)], uses: usize) -> F {
        let word = *self
            .rng
            .pick::<&str>(&["forall", "exists", "exists", "forall", "all", "any"]);
        let mut name = |sort: char| {
            self.names += 1;
            (format!("w{}", self.names), sort)
        };
        let big = word == "all" || word == "any";
        let (binds, table) = match self.rng.below(5) {
            0 if !big => (vec![name('B'), name('B')], Some("E")),
            1 if !big => (vec![name('A'), name('B')], Some("T")),
            4 if !big => (vec![name('H')], None),
            2 => (vec![name('A')], None),
            _ => (vec![name('B')], None),
        };
        let mut inner = scope.to_vec();
        inner.extend(binds.iter().cloned());
        let visible: Vec<(String, char)> = match big {
            // The guard of a big connective sees no variables of quantifiers. Parameters may turn out to be some.
            true => {
                let parameters = scope.iter().filter(|(name, _)| name.starts_with('p'));
                binds.iter().chain(parameters).cloned().collect()
            }
            false => inner.clone(),
        };
        let guard = self.rng.chance(0.5).then(|| {
            let (x, y) = (self.term('B', &visible), self.term('B', &visible));
            let (a, b) = (self.term('A', &visible), self.term('A', &visible));
            match self.rng.below(5) {
                0 => format!("{x} != {y}"),
                1 => format!("E({x}, {y})"),
                2 => format!("{a} < {b} + 1"),
                3 => format!("T({a}, {x})"),
                _ => format!("{a} = {b} or {x} = {y}"),
            }
        });
        let body = self.formula(depth - 1, &inner, uses);
        F::Quantified {
            word,
            binds,
            table,
            guard,
            body: Box::new(body),
        }
    }
}

/// Whether a formula is a literal once definitions are written out.
fn is_literal(f: &F, definitions: &[Define]) -> bool {
    match f {
        F::Atom(..) => true,
        F::Use(d, _) => is_literal(&definitions[*d].body, definitions),
        F::Not(a) => is_literal(a, definitions),
        // One of a single member is its member.
        F::Quantified { word, body, .. } if word.starts_with('a') => is_literal(body, definitions),
        _ => false,
    }
}

struct Case {
    /// Some definition is a literal, for which `log_probabilistic_sum` does not take its use.
    has_literal: bool,
    named: String,
    written: String,
    opaque: String,
    /// Of the sort H.
    individuals: usize,
    edges: Vec<ColumnData>,
    rows: Vec<ColumnData>,
}

/// A case whose text can be written out.
fn case(seed: u64) -> Case {
    let mut cases = (0..).map(|more| made(seed + more * 1_000_000));
    let parses = |case: &Case| Theory::parse(Source::new("t", &case.written)).is_ok();
    cases.find(parses).unwrap()
}

fn made(seed: u64) -> Case {
    let mut maker = Maker {
        rng: Rng::new(seed),
        names: 0,
        definitions: Vec::new(),
    };
    for d in 0..1 + maker.rng.below(3) {
        let arity = maker.rng.below(3);
        let parameters: Vec<(String, char)> = (0..arity)
            .map(|i| (format!("p{d}_{i}"), *maker.rng.pick(&['A', 'B', 'B', 'H'])))
            .collect();
        let depth = 1 + maker.rng.below(3);
        let body = maker.formula(depth, &parameters, d);
        maker.definitions.push(Define { parameters, body });
    }
    let uses = maker.definitions.len();
    let axioms: Vec<F> = (0..1 + maker.rng.below(3))
        .map(|_| {
            let depth = maker.rng.below(4);
            maker.formula(depth, &[], uses)
        })
        .collect();
    let definitions = &maker.definitions;
    let text = |how: Print| {
        let mut printer = Printer {
            how,
            definitions,
            fresh: 0,
        };
        let mut text = HEAD.to_string();
        let none = BTreeMap::new();
        for (d, definition) in definitions.iter().enumerate() {
            let sorts = definition.parameters.iter();
            match how {
                Print::Named => {
                    let head: Vec<String> = sorts
                        .map(|(name, sort)| format!("{name}: {sort}"))
                        .collect();
                    let body = printer.print(&definition.body, &none);
                    let _ = writeln!(text, "define D{d}({}): {body}", head.join(", "));
                }
                Print::Opaque => {
                    let head: Vec<String> = sorts.map(|(_, sort)| sort.to_string()).collect();
                    let _ = writeln!(text, "predicate O{d}({})", head.join(", "));
                }
                Print::WrittenOut => {}
            }
        }
        for (i, axiom) in axioms.iter().enumerate() {
            let _ = writeln!(text, "axiom a{i}: {}", printer.print(axiom, &none));
        }
        text
    };
    let (named, written, opaque) = (
        text(Print::Named),
        text(Print::WrittenOut),
        text(Print::Opaque),
    );
    let rng = &mut maker.rng;
    let mut column =
        |n: usize, of: usize| -> Vec<u32> { (0..n).map(|_| rng.below(of) as u32).collect() };
    let edges = [0, 1, 3, 5][seed as usize % 4];
    let rows = [2, 0, 4, 1][seed as usize / 4 % 4];
    Case {
        has_literal: (maker.definitions.iter()).any(|d| is_literal(&d.body, &maker.definitions)),
        named,
        written,
        opaque,
        individuals: [0, 2, 1][seed as usize % 3],
        edges: vec![
            ColumnData::Individuals(column(edges, 3)),
            ColumnData::Individuals(column(edges, 3)),
        ],
        rows: vec![
            ColumnData::Individuals(column(rows, 3)),
            ColumnData::Individuals(column(rows, 3)),
        ],
    }
}

/// What is found of a theory: truths, sat, and the gradient by each atom.
#[derive(Debug)]
struct Found {
    truths: Vec<f64>,
    sat: f64,
    groundings: Vec<u128>,
    empty: Vec<u64>,
    gradient: BTreeMap<(String, Vec<u32>, usize), f64>,
}

type Setup = (Semantics, Parameters, PlanOptions, Vec<AxiomParameters>);

fn number(seed: u64, key: &(String, Vec<u32>, usize)) -> f64 {
    let mut hash = seed;
    for byte in format!("{key:?}").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    Rng::new(hash).in_range(-3.0, 3.0)
}

fn data(case: &Case, text: &str) -> Data {
    let theory = Theory::parse(Source::new("t", text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut data = Data::new(&theory);
    data.set_size("H", case.individuals).unwrap();
    data.set_rows("E", case.edges.clone()).unwrap();
    data.set_rows("T", case.rows.clone()).unwrap();
    data
}

fn outputs(data: &Data) -> Vec<Output> {
    (data.theory().predicates.iter())
        .map(|p| match p.name.as_str() {
            "N" | "Q" => Output::softmax(),
            "R" => Output::truth(),
            _ => Output::sigmoid(),
        })
        .collect()
}

fn evaluate(
    seed: u64,
    data: &Data,
    setup: &Setup,
    batch: Option<(TableId, &[u32])>,
) -> Result<Found, String> {
    let (semantics, parameters, options, own) = setup;
    let plan =
        Plan::new_with(data, &outputs(data), semantics, options).map_err(|e| e.to_string())?;
    let mut engine = Engine::<f64>::new(plan);
    for (axiom, own) in own.iter().enumerate().take(engine.plan().axioms().len()) {
        engine.set_axiom_parameters(axiom, *own).unwrap();
    }
    if let Some((table, rows)) = batch {
        engine.set_batches([(table, rows)]).unwrap();
    }
    run(seed, &mut engine, parameters)
}

fn run(seed: u64, engine: &mut Engine<f64>, parameters: &Parameters) -> Result<Found, String> {
    let mut keys = Vec::new();
    for (i, request) in engine.requests().to_vec().iter().enumerate() {
        let name = engine.plan().data().theory()[request.predicate]
            .name
            .clone();
        for row in 0..request.rows() {
            for class in 0..request.width {
                let key = (name.clone(), request.row(row).to_vec(), class);
                let x = number(seed, &key);
                let x = if name == "R" {
                    1.0 / (1.0 + (-x).exp())
                } else {
                    x
                };
                engine.numbers_mut(i)[row * request.width + class] = x;
                keys.push((i, row * request.width + class, key));
            }
        }
    }
    let value = engine
        .evaluate_with_gradients(parameters)
        .map_err(|e| e.to_string())?
        .clone();
    let gradient = keys
        .into_iter()
        .map(|(i, place, key)| (key, engine.gradient(i)[place]))
        .filter(|(_, g)| *g != 0.0)
        .collect();
    Ok(Found {
        truths: value.axioms.iter().map(|a| a.truth).collect(),
        sat: value.sat,
        groundings: engine
            .plan()
            .axioms()
            .iter()
            .map(|a| a.groundings)
            .collect(),
        empty: value.axioms.iter().map(|a| a.empty_exists).collect(),
        gradient,
    })
}

fn same(a: &Found, b: &Found, tolerance: f64) -> Result<(), String> {
    for (i, (x, y)) in a.truths.iter().zip(&b.truths).enumerate() {
        if !near(*x, *y, tolerance) {
            return Err(format!("axiom {i}: {x} and {y}"));
        }
    }
    if !near(a.sat, b.sat, tolerance) {
        return Err(format!("sat: {} and {}", a.sat, b.sat));
    }
    for key in a.gradient.keys().chain(b.gradient.keys()) {
        let of = |found: &Found| found.gradient.get(key).copied().unwrap_or(0.0);
        if !near(of(a), of(b), 10.0 * tolerance) {
            return Err(format!("{key:?}: {} and {}", of(a), of(b)));
        }
    }
    Ok(())
}

fn setup(seed: u64) -> Setup {
    let mut rng = Rng::new(!seed);
    let name = *rng.pick::<&str>(&Semantics::NAMES);
    let mut semantics = Semantics::named(name).unwrap();
    if semantics.space == logltn::Space::Log && rng.chance(0.3) {
        semantics.or = Semantics::named("logltn-prob").unwrap().or;
    }
    let parameters = Parameters {
        alpha: rng.in_range(0.5, 4.0),
        p: rng.in_range(1.0, 4.0),
        p_forall: rng.in_range(1.0, 4.0),
    };
    let options = match rng.below(3) {
        0 => PlanOptions::as_written(),
        1 => PlanOptions {
            always: true,
            ..PlanOptions::default()
        },
        _ => PlanOptions::default(),
    };
    let own = (0..3)
        .map(|_| AxiomParameters {
            alpha: rng.chance(0.3).then_some(2.5),
            p: rng.chance(0.3).then_some(3.0),
            p_forall: rng.chance(0.2).then_some(1.5),
        })
        .collect();
    (semantics, parameters, options, own)
}

fn cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(1500, |n| n.parse().unwrap())
}

/// Truths, gradients, and what is refused are those of the written-out formula; groundings and empty `exists` are those of
/// a predicate in its place.
#[test]
fn random_theories_against_the_written_out_text() {
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..cases() {
        let case = case(seed);
        let setup = setup(seed);
        let show = |what: &str| {
            let (semantics, parameters, ..) = &setup;
            format!(
                "seed {seed}: {what}\n{}\n{parameters:?}\n{}\n{}",
                semantics.name, case.named, case.written
            )
        };
        let tells_apart = setup.0.or == Semantics::named("logltn-prob").unwrap().or;
        if tells_apart && case.has_literal {
            continue;
        }
        let named = evaluate(seed, &data(&case, &case.named), &setup, None);
        let written = evaluate(seed, &data(&case, &case.written), &setup, None);
        let (named, written) = match (named, written) {
            (Ok(named), Ok(written)) => (named, written),
            (Err(a), Err(_)) => {
                assert!(a.contains("forall"), "{}", show(&a));
                refused += 1;
                continue;
            }
            (Err(a), Ok(_)) => panic!("{}", show(&a)),
            (Ok(_), Err(b)) => panic!("{}", show(&format!("not refused: {b}"))),
        };
        if let Err(what) = same(&named, &written, 1e-9) {
            panic!("{}", show(&what));
        }
        // A `forall` that leads by way of a definition is none in the other text.
        if let Ok(opaque) = evaluate(seed, &data(&case, &case.opaque), &setup, None) {
            assert_eq!(
                named.groundings,
                opaque.groundings,
                "{}",
                show("groundings")
            );
            assert_eq!(named.empty, opaque.empty, "{}", show("empty exists"));
        }
        compared += 1;
    }
    assert!(
        compared * 3 > cases() && refused > 0,
        "{compared} {refused}"
    );
}

/// Where a parameter that the guard of an `all` looks at is a variable of a quantifier, nothing is computed.
#[test]
fn what_cannot_be_written_out_is_refused() {
    let (mut refused, mut not_met) = (0, 0);
    for seed in 0..cases() {
        let case = made(seed);
        if Theory::parse(Source::new("t", &case.written)).is_ok() {
            continue;
        }
        let (_, parameters, options, own) = setup(seed);
        let semantics = Semantics::named("stable").unwrap();
        let setup = (semantics, parameters, options, own);
        match evaluate(seed, &data(&case, &case.named), &setup, None) {
            Err(error) => {
                assert!(error.contains("cannot look at"), "{error}\n{}", case.named);
                refused += 1;
            }
            // It stands in an `all` or `any` without members, of which nothing is computed.
            Ok(_) => not_met += 1,
        }
    }
    assert!(refused > 4 * not_met, "{refused} {not_met}");
}

/// A depth that nothing counts down still says where it ends.
#[test]
fn a_depth_without_recursion() {
    for name in Semantics::NAMES {
        for (depth, as_if) in [(0, "any v: S where 1 = 2. p(v)"), (3, "p(x) and p(0)")] {
            let text = |d: &str| {
                format!(
                    "sort S = 0..2  predicate p(S)  {d}\naxiom a: forall x: S. d(x) or p(x)  axiom b: not d(1)"
                )
            };
            let of = |text: &str| {
                let theory = Theory::parse(Source::new("t", text)).unwrap();
                let semantics = Semantics::named(name).unwrap();
                let setup = (
                    semantics,
                    Parameters::default(),
                    PlanOptions::default(),
                    vec![],
                );
                let data = Data::new(&theory);
                evaluate(1, &data, &setup, None).unwrap_or_else(|e| panic!("{name}: {e}"))
            };
            let found = of(&text(&format!(
                "define d(x: S) to depth {depth}: p(x) and p(0)"
            )));
            let expected = of(&text(&format!("define d(x: S): {as_if}")));
            same(&found, &expected, 1e-9).unwrap_or_else(|e| panic!("{name}, {depth}: {e}"));
        }
    }
}

// --- recursion ----------------------------------------------------------------------------------

/// The same theory with the uses of itself written out as definitions of their own, one for each depth or step.
struct Unrolled {
    recursive: String,
    unrolled: String,
}

/// A random formula for a recursive definition over nodes, which uses itself as `SELF`.
fn recursive_body(rng: &mut Rng, guard: &str) -> String {
    let asks = [
        format!("exists z: N where {guard}. (e(x, z) and SELF(z))"),
        format!("exists z: N where {guard}. SELF(z)"),
        format!("forall z: N where {guard}. (SELF(z) or p(z))"),
        format!("forall z: N where {guard}. (e(x, z) -> SELF(z))"),
        format!("not (exists z: N where {guard}. SELF(z))"),
        format!("(exists z: N where {guard}. SELF(z)) <-> p(x)"),
    ];
    let ask = rng.pick(&asks).clone();
    match rng.below(4) {
        0 => format!("p(x) or ({ask})"),
        1 => format!("p(x) and ({ask})"),
        2 => format!("({ask}) -> p(x)"),
        _ => ask,
    }
}

const GRAPH: &str = "sort N = 0..4  predicate p(N)  predicate e(N, N)  table arcs(x: N, y: N)\n";

fn recursion(seed: u64, depth: bool) -> Unrolled {
    let mut rng = Rng::new(seed);
    let guard = match depth {
        true => *rng.pick::<&str>(&["arcs(x, z)", "z != x", "arcs(x, z) or arcs(z, x)", "z = z"]),
        false => *rng.pick::<&str>(&[
            "z = x - 1",
            "z < x",
            "z = x - 1 or z = x - 2",
            "arcs(x, z) and z > x",
        ]),
    };
    let body = recursive_body(&mut rng, guard);
    let also = rng.chance(0.4);
    let axioms = format!(
        "axiom a: {}\naxiom b: forall x: N where x > 1. {}\n",
        rng.pick::<&str>(&["SELF(4)", "exists x: N. SELF(x)", "not SELF(3) or SELF(2)"]),
        rng.pick::<&str>(&["p(x) -> SELF(x)", "not SELF(x)", "SELF(x) <-> p(x)"]),
    );
    let layers = match depth {
        true => rng.below(5),
        false => 6,
    };
    // A second definition on the way round.
    let by_way = |name: &str, other: &str| match also {
        true => format!("define {other}(x: N): p(x) and {name}(x)\n"),
        false => String::new(),
    };
    let inside = if also { "OTHER" } else { "SELF" };
    let body = body.replace("SELF", inside);
    let to = if depth {
        format!(" to depth {layers}")
    } else {
        String::new()
    };
    let recursive = format!(
        "{GRAPH}define d(x: N){to}: {}\n{}{}",
        body.replace("SELF", "d").replace("OTHER", "o"),
        by_way("d", "o"),
        axioms.replace("SELF", "d"),
    );
    // The lowest one is never asked along an order; by depth it is false.
    let mut unrolled = format!("{GRAPH}define d0(x: N): any z: N where z < 0 and z > 0. p(x)\n");
    unrolled += &by_way("d0", "o0");
    for n in 1..=layers {
        let (before, other) = (format!("d{}", n - 1), format!("o{}", n - 1));
        let body = body.replace("SELF", &before).replace("OTHER", &other);
        unrolled += &format!("define d{n}(x: N): {body}\n");
        unrolled += &by_way(&format!("d{n}"), &format!("o{n}"));
    }
    unrolled += &axioms.replace("SELF", &format!("d{layers}"));
    Unrolled {
        recursive,
        unrolled,
    }
}

fn graph(seed: u64, text: &str) -> Data {
    let theory = Theory::parse(Source::new("t", text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut data = Data::new(&theory);
    let mut rng = Rng::new(seed ^ 77);
    let n = [0, 1, 4, 7][seed as usize % 4];
    let mut column = || ColumnData::Individuals((0..n).map(|_| rng.below(5) as u32).collect());
    let columns = vec![column(), column()];
    data.set_rows("arcs", columns).unwrap();
    data
}

/// By depth and along an order: as the unrolled theory, with both signs, in every semantics.
#[test]
fn recursion_against_the_unrolled_theory() {
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..cases() {
        let texts = recursion(seed, seed % 2 == 0);
        let setup = setup(seed);
        let found = |text: &str| evaluate(seed, &graph(seed, text), &setup, None);
        let show = |what: &str| {
            let (semantics, parameters, ..) = &setup;
            format!(
                "seed {seed}: {what}\n{}\n{parameters:?}\n{}\n{}",
                semantics.name, texts.recursive, texts.unrolled
            )
        };
        match (found(&texts.recursive), found(&texts.unrolled)) {
            (Ok(a), Ok(b)) => {
                if let Err(what) = same(&a, &b, 1e-9) {
                    panic!("{}", show(&what));
                }
                assert_eq!(a.groundings, b.groundings, "{}", show("groundings"));
                assert_eq!(a.empty, b.empty, "{}", show("empty"));
                compared += 1;
            }
            (Err(a), Err(_)) => {
                assert!(a.contains("forall"), "{}", show(&a));
                refused += 1;
            }
            // By the text alone, whatever the depth.
            (Err(a), Ok(_)) if setup.0.name == "prod" && a.contains("forall") => refused += 1,
            (Err(a), Ok(_)) => panic!("{}", show(&a)),
            (Ok(_), Err(b)) => panic!("{}", show(&format!("not refused: {b}"))),
        }
    }
    assert!(compared > refused, "{compared} {refused}");
}

fn diagnose(text: &str) -> String {
    let theory = match Theory::parse(Source::new("t", text)) {
        Ok(theory) => theory,
        Err(errors) => return errors.to_string(),
    };
    let outputs = vec![Output::sigmoid(); theory.predicates.len()];
    match Plan::new(&Data::new(&theory), &outputs, &Semantics::default()) {
        Ok(_) => String::new(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn mistakes() {
    let head = "sort S = {a, b, c}  predicate P(S)  predicate R(S, S)\n";
    let says = |text: &str, what: &[&str]| {
        let found = diagnose(&format!("{head}{text}"));
        for what in what {
            assert!(found.contains(what), "{text}\n{what}\n{found}");
        }
    };
    // A cycle is shown.
    says(
        "define q(x: S): P(x) or (exists y: S where y != x. q(y))\naxiom x: q(a)",
        &["depends on itself", "`q(a)` asks for `q(b)`", "to depth"],
    );
    says(
        "define q(x: S): r(x)\ndefine r(x: S): q(x)\naxiom x: q(a)",
        &["depends on itself"],
    );
    says(
        "define q(x: S) to depth 3: r(x)\ndefine r(x: S) to depth 2: q(x)\naxiom x: q(a)",
        &["both have a depth"],
    );
    // A cycle that does not go through the depth.
    says(
        "define q(x: S) to depth 3: r(x)\ndefine r(x: S): r(x) or q(x)\naxiom x: q(a)",
        &["depends on itself", "the depth must be on"],
    );
    says(
        "define q(x: S): P(x)\naxiom x: q(a, b)",
        &["definition `q` takes 1 argument"],
    );
    says(
        "define q(x: S): P(x)\naxiom x: forall y: S where q(y). P(y)",
        &["q"],
    );
    says(
        "define P(x: S): R(x, x)\naxiom x: P(a)",
        &["declared twice"],
    );
    says(
        "define q(x, x: S): P(x)\naxiom x: q(a, b)",
        &["bound already"],
    );
    says(
        "define q(a: S): P(a)\naxiom x: q(b)",
        &["has the name of a label"],
    );
    says(
        "define q(x: S): exists x: S. P(x)\naxiom x: q(b)",
        &["bound already"],
    );
    says("define q(x: T): P(x)\naxiom x: q(b)", &["unknown sort `T`"]);
    says(
        "define q(x: S) to depth x: P(x)\naxiom x: q(b)",
        &["a depth is an integer"],
    );
    says(
        "define q(x: S) to 3: P(x)\naxiom x: q(b)",
        &["expected `depth`"],
    );
    says("define q: P(a)\naxiom x: P(b)", &["expected `(`"]);
    says("axiom x: q(b)", &["unknown predicate `q`"]);
}

/// `define`, `to` and `depth` are names like others; what nobody uses is told.
#[test]
fn words_are_not_reserved() {
    let text = "sort depth = {to, define2}  predicate define(depth)  predicate to2(depth)
        define find2(to3: depth): define(to3)  define unused(x: depth): define(x)
        axiom define: forall depth: depth. define(depth) and find2(to)
        define alone(x: depth) to depth 2: alone(x) or to2(x)";
    let mut found = logltn::Diagnostics::new();
    let theory = Theory::parse_as_far_as_possible(
        Source::new("t", text),
        &logltn::Labels::default(),
        &mut found,
    );
    let found = found.to_string();
    assert_eq!(theory.definitions.len(), 3, "{found}");
    assert!(!found.contains("error"), "{found}");
    assert!(
        found.contains("definition `unused` is never used"),
        "{found}"
    );
    assert!(
        found.contains("definition `alone` is never used"),
        "{found}"
    );
    assert!(!found.contains("`find2` is never used"), "{found}");
    let again = Theory::parse(Source::new("t", theory.to_string())).unwrap();
    assert!(again.same_as(&theory), "{theory}");
}

/// A thousand steps over 20 states, and depth 100: memory and time are those of the tuples.
#[test]
fn long_chains() {
    let text = "sort T = 0..1000  sort S = 0..19  predicate first(S)  predicate moves(S, S)
        define at(i: T, s: S): (exists j: T where j = i and i = 0. first(s))
            or (exists j: T, r: S where j = i - 1. at(j, r) and moves(r, s))
        axiom end: exists s: S. at(1000, s)";
    let theory = Theory::parse(Source::new("t", text)).unwrap();
    let outputs = [Output::sigmoid(), Output::sigmoid()];
    let plan = Plan::new(&Data::new(&theory), &outputs, &Semantics::default()).unwrap();
    let at = &plan.definitions()[0];
    assert_eq!((at.tuples, at.depth), (1000 * 20 + 20, 1001));
    let mut engine = Engine::<f32>::new(plan);
    let value = engine
        .evaluate_with_gradients(&Parameters::default())
        .unwrap();
    assert!(value.sat.is_finite());
}
