//! Maps of classes that axioms allow, against brute force: the truth of every binding under every assignment of classes
//! comes from the engine's fuzzy operators, and every map is tried.

use std::collections::BTreeMap;

use crate::cases::rng::Rng;
use logltn::theory::PredicateId;
use logltn::{
    ColumnData, Data, Engine, Identified, Identify, Output, Parameters, Plan, PlanOptions,
    Semantics, Source, Support, SupportKind, Theory,
};

fn number_of_cases() -> u64 {
    std::env::var("LOGLTN_RANDOM_CASES").map_or(250, |n| n.parse().expect("a number"))
}

/// A theory with what it is about.
struct Case {
    text: String,
    data: Data,
    outputs: Vec<Output>,
    classes: usize,
    individuals: usize,
    /// By individual: a predicate that is given.
    seen: Vec<bool>,
    learnt: bool,
}

const FIRST: i64 = 2;

fn class(rng: &mut Rng, variables: &[String], classes: usize) -> String {
    match variables.is_empty() || rng.chance(0.3) {
        true => (FIRST + rng.below(classes) as i64).to_string(),
        false => variables[rng.below(variables.len())].clone(),
    }
}

fn guard(rng: &mut Rng, variables: &[String], outer: &[String]) -> String {
    let pick = |rng: &mut Rng, from: &[String]| from[rng.below(from.len())].clone();
    let a = pick(rng, variables);
    let b = pick(rng, if outer.is_empty() { variables } else { outer });
    match rng.below(6) {
        0 => format!("{a} = {b} + {}", rng.below(3)),
        1 => format!("{a} != {b}"),
        2 => format!("{a} % 2 = {b} % 2"),
        3 => format!("{a} < {b} or {a} = {}", FIRST + rng.below(3) as i64),
        4 => format!("{} * {a} + {b} > {}", 1 + rng.below(2), rng.below(9)),
        _ => format!("abs({a} - {b}) <= 1"),
    }
}

struct Scope {
    images: Vec<String>,
    /// Class variables, and numbers for guards.
    digits: Vec<String>,
    numbers: Vec<String>,
    next: usize,
    classes: usize,
    definition: bool,
}

impl Scope {
    fn name(&mut self, letter: &str) -> String {
        self.next += 1;
        format!("{letter}{}", self.next)
    }

    fn formula(&mut self, rng: &mut Rng, depth: usize) -> String {
        let image = |s: &Scope, rng: &mut Rng| s.images[rng.below(s.images.len())].clone();
        if depth == 0 || rng.chance(0.2) {
            let x = image(self, rng);
            return match rng.below(12) {
                0 => format!("seen({x})"),
                1 => format!("not seen({x})"),
                2 if self.definition => {
                    format!("low({x})")
                }
                3 | 4 => format!("not digit({x}, {})", class(rng, &self.digits, self.classes)),
                _ => format!("digit({x}, {})", class(rng, &self.digits, self.classes)),
            };
        }
        match rng.below(8) {
            0 => format!("not ({})", self.formula(rng, depth - 1)),
            1 => format!(
                "({}) -> ({})",
                self.formula(rng, depth - 1),
                self.formula(rng, depth - 1)
            ),
            2 => format!(
                "({}) <-> ({})",
                self.formula(rng, depth - 1),
                self.formula(rng, depth - 1)
            ),
            3 => format!(
                "({}) and ({})",
                self.formula(rng, depth - 1),
                self.formula(rng, depth - 1)
            ),
            4 => format!(
                "({}) or ({})",
                self.formula(rng, depth - 1),
                self.formula(rng, depth - 1)
            ),
            5 => {
                let z = self.name("z");
                self.images.push(z.clone());
                let body = self.formula(rng, depth - 1);
                self.images.pop();
                let quantifier = if rng.chance(0.5) { "exists" } else { "forall" };
                format!("({quantifier} {z}: Image. {body})")
            }
            _ => {
                let (a, b) = (self.name("a"), self.name("b"));
                let outer: Vec<String> = self.digits.iter().chain(&self.numbers).cloned().collect();
                self.digits.extend([a.clone(), b.clone()]);
                let guard = guard(rng, &[a.clone(), b.clone()], &outer);
                let body = self.formula(rng, depth - 1);
                self.digits.truncate(self.digits.len() - 2);
                let quantifier = if rng.chance(0.7) { "exists" } else { "forall" };
                format!("({quantifier} {a}, {b}: Digit where {guard}. {body})")
            }
        }
    }
}

fn random_case(rng: &mut Rng, classes: usize, individuals: usize) -> Case {
    let definition = rng.chance(0.4);
    let learnt = rng.chance(0.2);
    let mut text = format!(
        "sort Image\nsort Digit = {FIRST}..{}\ntable rows(x: Image, y: Image, n: Int)\n\
         predicate digit(Image, Digit)\npredicate seen(Image)\npredicate other(Image)\n",
        FIRST + classes as i64 - 1
    );
    if definition {
        // Of two parts, so that no `forall` of it leads: what the engine explains does not go on into definitions.
        text += "define low(x: Image): (exists a: Digit where a <= 3. digit(x, a)) and (exists a: Digit. digit(x, a))\n";
    }
    for axiom in 0..1 + rng.below(2) {
        let mut scope = Scope {
            images: vec!["x".into(), "y".into()],
            digits: Vec::new(),
            numbers: vec!["n".into()],
            next: 0,
            classes,
            definition,
        };
        let depth = 1 + rng.below(3);
        if rng.chance(0.25) {
            scope.digits.push("k".into());
            let body = scope.formula(rng, depth);
            text += &format!(
                "axiom f{axiom} for k: Digit where k < 4: forall (x, y, n) in rows. {body}\n"
            );
        } else if rng.chance(0.3) {
            scope.digits.push("k".into());
            if rng.chance(0.5) {
                scope.images.push("w".into());
            }
            let body = scope.formula(rng, depth);
            let binders = [
                "forall (x, y, n) in rows, w: Image, k: Digit where k != 3.",
                "forall (x, y, n) in rows. forall w: Image. forall k: Digit where k != n.",
                "forall w: Image. forall k: Digit. forall (x, y, n) in rows where k < n.",
            ];
            text += &format!("axiom a{axiom}: {} {body}\n", binders[rng.below(3)]);
        } else {
            let body = scope.formula(rng, depth);
            text += &format!("axiom a{axiom}: forall (x, y, n) in rows. {body}\n");
        }
    }
    if learnt {
        text += "axiom l: forall x: Image. other(x) or (exists a: Digit. digit(x, a))\n";
    }
    let theory = Theory::parse(Source::new("t", &text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut data = Data::new(&theory);
    data.set_size("Image", individuals).expect("a size");
    let rows = match individuals {
        0 => 0,
        _ => rng.below(4),
    };
    let mut cells = || {
        let cells: Vec<u32> = (0..rows).map(|_| rng.below(individuals) as u32).collect();
        ColumnData::Individuals(cells)
    };
    let (x, y) = (cells(), cells());
    let n: Vec<i64> = (0..rows).map(|_| rng.between(0, 8)).collect();
    data.set_rows("rows", vec![x, y, ColumnData::Int(n)])
        .expect("rows");
    Case {
        text,
        data,
        outputs: vec![Output::softmax(), Output::truth(), Output::truth()],
        classes,
        individuals,
        seen: (0..individuals).map(|_| rng.chance(0.5)).collect(),
        learnt,
    }
}

/// The bindings of all axioms that are not about something learnt: variables by name, and by assignment whether it is true.
struct Binding {
    axiom: String,
    /// What it has in common with other bindings about the same individuals.
    group: String,
    variables: BTreeMap<String, u32>,
    truth: Vec<bool>,
}

fn assignments(classes: usize, individuals: usize) -> Vec<Vec<u32>> {
    let count = classes.pow(individuals as u32);
    let of = |mut at: usize| {
        let mut out = vec![0; individuals];
        for class in out.iter_mut().rev() {
            *class = (at % classes) as u32;
            at /= classes;
        }
        out
    };
    (0..count).map(of).collect()
}

fn bindings(case: &Case) -> Vec<Binding> {
    let semantics = Semantics::named("logltn-sum").expect("it exists");
    let options = PlanOptions::default();
    let plan = Plan::for_explaining(&case.data, &case.outputs, &semantics, &options)
        .unwrap_or_else(|e| panic!("{e}\n{}", case.text));
    let mut engine = Engine::<f64>::new(plan);
    // Nearly the greatest member, so that what is true stays nearly so.
    let parameters = Parameters {
        alpha: 1000.0,
        ..Parameters::default()
    };
    let mut found: Vec<Binding> = Vec::new();
    let all = assignments(case.classes, case.individuals);
    for (at, classes) in all.iter().enumerate() {
        for index in 0..engine.requests().len() {
            let request = engine.requests()[index].clone();
            for row in 0..request.rows() {
                let who = request.row(row)[0] as usize;
                let numbers =
                    &mut engine.numbers_mut(index)[row * request.width..][..request.width];
                match request.predicate {
                    PredicateId(0) => {
                        numbers.fill(-1000.0);
                        numbers[classes[who] as usize] = 1000.0;
                    }
                    PredicateId(1) => numbers[0] = f64::from(u8::from(case.seen[who])),
                    _ => numbers[0] = 1.0,
                }
            }
        }
        let explained = engine.explain(&parameters, 0).expect("it runs");
        let mut place = 0;
        for axiom in &explained {
            let mut worst: Vec<_> = axiom.worst.iter().collect();
            worst.sort_by_key(|w| format!("{:?}", w.binding));
            for one in worst {
                if at == 0 {
                    let variables = one.binding.iter();
                    let variables =
                        variables.filter_map(|b| Some((b.variable.clone(), b.individual?.1)));
                    let whole = axiom.name.split('[').next().expect("a name");
                    let line = (case.text.lines())
                        .find(|line| line.starts_with(&format!("axiom {whole}")))
                        .expect("its text");
                    let common = one.binding.iter().filter(|b| {
                        let v = &b.variable;
                        let asked = |what: &str| line.contains(&format!("{what}({v}"));
                        ["x", "y", "n"].contains(&v.as_str()) || asked("digit") || asked("low")
                    });
                    found.push(Binding {
                        group: format!("{whole} {:?}", common.collect::<Vec<_>>()),
                        axiom: axiom.name.clone(),
                        variables: variables.collect(),
                        truth: Vec::new(),
                    });
                }
                found[place].truth.push(one.truth > -1.0);
                place += 1;
            }
        }
    }
    found.retain(|b| b.axiom != "l");
    found
}

/// By binding, the assignments that satisfy all bindings about the same individuals.
fn satisfying(bindings: &[Binding], assignments: usize) -> Vec<Vec<usize>> {
    let of = |binding: &Binding| {
        let same: Vec<_> = (bindings.iter())
            .filter(|b| b.group == binding.group)
            .collect();
        let all = |a: &usize| same.iter().all(|b| b.truth[*a]);
        (0..assignments).filter(all).collect()
    };
    bindings.iter().map(of).collect()
}

fn expected(case: &Case, bindings: &[Binding], occurs: &[Vec<usize>]) -> Vec<Vec<u32>> {
    let mut maps = Vec::new();
    each_map(case, bindings, occurs, &mut |map| maps.push(map.to_vec()));
    maps
}

/// Goes through all maps that keep what occurs: by binding, the assignments (of all individuals) of which it has to stay true.
fn each_map(
    case: &Case,
    bindings: &[Binding],
    occurs: &[Vec<usize>],
    visit: &mut dyn FnMut(&[u32]),
) {
    let (k, n) = (case.classes, case.individuals);
    let all = assignments(k, n);
    let mut map = vec![0_u32; k];
    loop {
        let number = |a: usize| {
            all[a]
                .iter()
                .fold(0, |sum, c| sum * k + map[*c as usize] as usize)
        };
        let keeps =
            |(b, occurs): (&Binding, &Vec<usize>)| occurs.iter().all(|a| b.truth[number(*a)]);
        if bindings.iter().zip(occurs).all(keeps) {
            visit(&map);
        }
        let mut place = k;
        loop {
            if place == 0 {
                return;
            }
            place -= 1;
            map[place] += 1;
            if (map[place] as usize) < k {
                break;
            }
            map[place] = 0;
        }
    }
}

fn compare(found: &Identified, maps: &[Vec<u32>], k: usize, context: &str) {
    assert_eq!(found.maps, maps.len().to_string(), "{context}");
    let identity: Vec<u32> = (0..k as u32).collect();
    let distinct = |m: &&Vec<u32>| {
        let mut sorted = (*m).clone();
        sorted.sort_unstable();
        sorted == identity
    };
    let bijective = maps.iter().filter(distinct).count().to_string();
    assert_eq!(
        found.bijective.as_deref(),
        Some(bijective.as_str()),
        "{context}"
    );
    let fixed: Vec<u32> = (0..k as u32)
        .filter(|c| maps.iter().all(|m| m[*c as usize] == *c))
        .collect();
    assert_eq!(found.fixed, fixed, "{context}");
    let moved = |m: &Vec<u32>| m.iter().zip(&identity).filter(|(a, b)| a != b).count();
    let mut others: Vec<Vec<u32>> = maps.iter().filter(|m| **m != identity).cloned().collect();
    others.sort_by_key(|m| (moved(m), m.clone()));
    others.truncate(10);
    assert_eq!(found.examples, others, "{context}");
    let allowed = |m: &Vec<u32>| found.allows(&m.iter().copied().map(Some).collect::<Vec<_>>());
    assert!(others.iter().all(allowed), "{context}");
    let mut left: Vec<&Vec<u32>> = maps.iter().collect();
    let mut labels = Vec::new();
    while left.len() > 1 {
        let count = |c: u32| left.iter().filter(|m| m[c as usize] == c).count();
        let best = (0..k as u32)
            .min_by_key(|c| (count(*c), *c))
            .expect("classes");
        left.retain(|m| m[best as usize] == best);
        labels.push((best, left.len().to_string()));
    }
    let found: Vec<(u32, String)> = found
        .labels
        .iter()
        .map(|l| (l.class, l.maps.clone()))
        .collect();
    assert_eq!(found, labels, "{context}");
}

fn try_case(seed: u64, classes: usize, individuals: usize) {
    let mut rng = Rng::new(seed);
    let case = random_case(&mut rng, classes, individuals);
    let bindings = bindings(&case);
    let all = assignments(classes, individuals);
    let known =
        |p: PredicateId, row: &[u32], _: u32| (p.0 == 1).then(|| case.seen[row[0] as usize]);
    let ask = |labels: Option<&[u32]>, supports: &[Support]| {
        let question = Identify {
            known: &known,
            given: &[false, true, false],
            labels,
            supports,
            ..Identify::new(&case.data, &case.outputs, PredicateId(0))
        };
        question
            .identify()
            .unwrap_or_else(|e| panic!("{e}\nseed {seed}\n{}", case.text))
    };
    let context = |what: &str| format!("seed {seed}, {what}, {classes} classes:\n{}", case.text);
    // All that satisfy a binding.
    let occurs = satisfying(&bindings, all.len());
    let found = ask(None, &[]);
    compare(
        &found,
        &expected(&case, &bindings, &occurs),
        classes,
        &context("satisfying"),
    );
    assert_eq!(found.support, SupportKind::Satisfying);
    let left_out: &[String] = if case.learnt { &["l".to_string()] } else { &[] };
    assert_eq!(found.left_out, left_out, "seed {seed}");
    // Labels.
    let at = rng.below(all.len());
    let occurs: Vec<Vec<usize>> = (bindings.iter())
        .map(|b| if b.truth[at] { vec![at] } else { vec![] })
        .collect();
    let found = ask(Some(&all[at]), &[]);
    compare(
        &found,
        &expected(&case, &bindings, &occurs),
        classes,
        &context("labels"),
    );
    let broken = bindings.iter().filter(|b| !b.truth[at]).count();
    assert_eq!(found.contradicted, broken as u64, "seed {seed}");
    from_file(&case, &bindings, &mut rng, &ask, &context("file"));
}

/// Asks with labels or supports.
type Ask<'a> = dyn Fn(Option<&[u32]>, &[Support]) -> Identified + 'a;

/// Rows of true classes for the axioms that ask about `x` or `y` and nobody else: a column for each that the text of the axiom
/// asks about, whatever decides its bindings.
fn from_file(case: &Case, bindings: &[Binding], rng: &mut Rng, ask: &Ask<'_>, context: &str) {
    let mut supports = Vec::new();
    for line in case.text.lines() {
        let Some(name) = ["a0", "a1", "f0", "f1"]
            .into_iter()
            .find(|n| line.starts_with(&format!("axiom {n}")))
        else {
            continue;
        };
        let asks = |variable: &str| {
            line.contains(&format!("digit({variable}")) || line.contains(&format!("low({variable}"))
        };
        let columns: Vec<&str> = (["x", "y", "w"].into_iter()).filter(|v| asks(v)).collect();
        if asks("z") || columns.is_empty() {
            continue;
        }
        let row = |rng: &mut Rng| {
            columns
                .iter()
                .map(|_| rng.below(case.classes) as u32)
                .collect()
        };
        supports.push(Support {
            axiom: name.into(),
            rows: (0..rng.below(5)).map(|_| row(rng)).collect(),
            columns: columns.iter().map(|c| vec![c.to_string()]).collect(),
            name: "rows.csv".into(),
        });
    }
    if supports.is_empty() {
        return;
    }
    let all = assignments(case.classes, case.individuals);
    let occurs: Vec<Vec<usize>> = (bindings.iter())
        .zip(satisfying(bindings, all.len()))
        .map(|(b, joint)| {
            let support = supports.iter().find(|s| b.axiom.starts_with(&s.axiom));
            let fits = |a: &usize| {
                let is = |(column, class): (&Vec<String>, &u32)| {
                    all[*a][b.variables[&column[0]] as usize] == *class
                };
                support.is_some_and(|s| s.rows.iter().any(|r| s.columns.iter().zip(r).all(is)))
            };
            match support {
                None => joint,
                Some(_) => (0..all.len())
                    .filter(fits)
                    .filter(|a| b.truth[*a])
                    .collect(),
            }
        })
        .collect();
    let found = ask(None, &supports);
    compare(
        &found,
        &expected(case, bindings, &occurs),
        case.classes,
        context,
    );
}

#[test]
fn counts_of_random_axioms_are_those_of_brute_force() {
    for seed in 0..number_of_cases() {
        let mut rng = Rng::new(seed + 1_000_000);
        // A softmax over one class is refused before.
        let classes = 2 + rng.below(4);
        try_case(seed, classes, rng.below(4));
    }
}

#[test]
fn so_they_are_with_eight_classes() {
    // All 16,777,216 maps are tried, which takes a second or so.
    for seed in 0..(number_of_cases() / 250).max(1) {
        let mut rng = Rng::new(5 + seed);
        let individuals = if seed % 2 == 0 { 1 } else { 2 };
        let case = random_case(&mut rng, 8, individuals);
        let bindings = bindings(&case);
        let all = assignments(8, individuals);
        let occurs = satisfying(&bindings, all.len());
        let (mut maps, mut bijective) = (0_u64, 0_u64);
        each_map(&case, &bindings, &occurs, &mut |map| {
            maps += 1;
            bijective += u64::from(map.iter().fold(0_u32, |all, c| all | 1 << c) == 255);
        });
        let known =
            |p: PredicateId, row: &[u32], _: u32| (p.0 == 1).then(|| case.seen[row[0] as usize]);
        let question = Identify {
            known: &known,
            given: &[false, true, false],
            ..Identify::new(&case.data, &case.outputs, PredicateId(0))
        };
        let found = question.identify().expect("it can be counted");
        let context = format!("seed {seed}:\n{}", case.text);
        assert_eq!(found.maps, maps.to_string(), "{context}");
        assert_eq!(found.bijective, Some(bijective.to_string()), "{context}");
    }
}

/// The sums of two images whose true digits are these, as rsbench has them.
fn additions(classes: usize, pairs: &[(u32, u32)]) -> Identified {
    let text = format!(
        "sort Image  sort Digit = 0..{}  table sums(x: Image, y: Image, n: Int)  predicate digit(Image, Digit)
         axiom add: forall (x, y, n) in sums. exists a, b: Digit where a + b = n. digit(x, a) and digit(y, b)",
        classes - 1
    );
    let theory = Theory::parse(Source::new("t", &text)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_size("Image", classes).expect("a size");
    let column =
        |pick: fn(&(u32, u32)) -> u32| ColumnData::Individuals(pairs.iter().map(pick).collect());
    let sums: Vec<i64> = pairs.iter().map(|(a, b)| i64::from(a + b)).collect();
    data.set_rows(
        "sums",
        vec![column(|p| p.0), column(|p| p.1), ColumnData::Int(sums)],
    )
    .expect("rows");
    let labels: Vec<u32> = (0..classes as u32).collect();
    let outputs = [Output::softmax()];
    let question = Identify {
        labels: Some(&labels),
        ..Identify::new(&data, &outputs, PredicateId(0))
    };
    question.identify().expect("it can be counted")
}

#[test]
fn the_shortcuts_of_rsbench_are_counted() {
    let half = additions(5, &[(0, 0), (0, 1), (2, 3), (2, 4)]);
    assert_eq!(
        (half.maps.as_str(), half.bijective.as_deref()),
        ("3", Some("1"))
    );
    assert_eq!(half.fixed, [0, 1]);
    assert_eq!(half.moved(&half.examples[0]), "2 → 3, 3 → 2, 4 → 3");
    let odd = [(1, 5), (3, 7), (1, 9), (3, 9)];
    let even = [(0, 6), (2, 8), (4, 6), (4, 8)];
    let even_odd = additions(10, &[even, odd].concat());
    assert_eq!(
        (even_odd.maps.as_str(), even_odd.bijective.as_deref()),
        ("36", Some("2"))
    );
    assert_eq!(even_odd.labels.len(), 2);
    assert!(even_odd.fixed.is_empty());
}

#[test]
fn twenty_classes_of_which_few_are_tied_are_counted() {
    // 0 + 1 = 1 and 2 + 3 = 5 of twenty: 2 · 6 · 20^16 maps.
    let found = additions(20, &[(0, 1), (2, 3)]);
    assert_eq!(found.maps, (12 * 20_u128.pow(16)).to_string());
    // All digits of each sum: the doubles fix everything.
    let all: Vec<(u32, u32)> = (0..20).flat_map(|a| (0..20).map(move |b| (a, b))).collect();
    assert_eq!(additions(20, &all).maps, "1");
}

#[test]
fn sums_of_numbers_with_two_digits_to_the_base_of_twenty_are_counted() {
    let text = "sort Image  sort Digit = 0..19  table sums(x: Image, y: Image, z: Image, w: Image, n: Int)
        predicate digit(Image, Digit)
        axiom add: forall (x, y, z, w, n) in sums. exists a, b, c, d: Digit where 20*a + b + 20*c + d = n.
            digit(x, a) and digit(y, b) and digit(z, c) and digit(w, d)";
    let theory = Theory::parse(Source::new("t", text)).expect("a theory");
    let sum = |of: &[u32]| i64::from(20 * (of[0] + of[2]) + of[1] + of[3]);
    // Four classes, three of them, and two, which are also in others.
    for rows in [
        vec![[1, 2, 3, 4]],
        vec![[5, 6, 7, 5]],
        vec![[1, 2, 3, 4], [1, 1, 2, 2]],
        vec![[8, 9, 9, 10], [10, 8, 8, 11], [9, 10, 11, 8]],
    ] {
        let mut data = Data::new(&theory);
        data.set_size("Image", 20).expect("a size");
        let column = |at: usize| ColumnData::Individuals(rows.iter().map(|r| r[at]).collect());
        let sums = ColumnData::Int(rows.iter().map(|r| sum(r)).collect());
        data.set_rows(
            "sums",
            vec![column(0), column(1), column(2), column(3), sums],
        )
        .expect("rows");
        let (labels, outputs): (Vec<u32>, _) = ((0..20).collect(), [Output::softmax()]);
        let question = Identify {
            labels: Some(&labels),
            ..Identify::new(&data, &outputs, PredicateId(0))
        };
        let found = question.identify().expect("it can be counted");
        let mut scope = rows.concat();
        scope.sort_unstable();
        scope.dedup();
        let keeps = |becomes: &Vec<u32>| {
            rows.iter().all(|row| {
                let at = |class: &u32| becomes[scope.binary_search(class).expect("one of them")];
                sum(&row.iter().map(at).collect::<Vec<_>>()) == sum(row)
            })
        };
        let maps = assignments(20, scope.len())
            .into_iter()
            .filter(keeps)
            .count() as u128;
        let free = 20 - scope.len() as u32;
        assert_eq!(
            found.maps,
            (maps * 20_u128.pow(free)).to_string(),
            "{rows:?}"
        );
    }
}

#[test]
fn what_cannot_be_true_requires_nothing() {
    // Nobody is 0 and 1; that the rest of it speaks of someone else does not matter.
    let text = "sort Image  sort Digit = 0..2  table rows(x: Image, y: Image)  predicate digit(Image, Digit)
        axiom both: forall (x, y) in rows. digit(x, 2) and (digit(y, 0) and digit(y, 1))";
    let theory = Theory::parse(Source::new("t", text)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_size("Image", 2).expect("a size");
    let column = |cells: &[u32]| ColumnData::Individuals(cells.to_vec());
    data.set_rows("rows", vec![column(&[0]), column(&[1])])
        .expect("rows");
    let outputs = [Output::softmax()];
    let found = Identify::new(&data, &outputs, PredicateId(0)).identify();
    assert_eq!(found.expect("it can be counted").maps, "27");
}

#[test]
fn bindings_about_the_same_individuals_are_one() {
    // No two neighbours have the same of four colours, which every permutation keeps, and nothing else.
    let ways = [
        "axiom proper: forall (x, y) in edges. forall k: Colour. not (is(x, k) and is(y, k))",
        "axiom proper: forall k: Colour. forall (x, y) in edges. not (is(x, k) and is(y, k))",
        "axiom proper: forall (x, y) in edges, k: Colour. not (is(x, k) and is(y, k))",
        "axiom proper for k: Colour: forall (x, y) in edges. not (is(x, k) and is(y, k))",
        "axiom proper: forall (x, y) in edges. all k: Colour. not (is(x, k) and is(y, k))",
        "define apart(x: Node, y: Node): forall k: Colour. not (is(x, k) and is(y, k))
         axiom proper: forall (x, y) in edges. apart(x, y)",
    ];
    for way in ways {
        let text = format!(
            "sort Node  sort Colour = 0..3  table edges(x: Node, y: Node)  predicate is(Node, Colour)\n{way}"
        );
        let theory = Theory::parse(Source::new("t", &text)).unwrap_or_else(|e| panic!("{e}"));
        let mut data = Data::new(&theory);
        data.set_size("Node", 4).expect("a size");
        let column = |cells: &[u32]| ColumnData::Individuals(cells.to_vec());
        data.set_rows("edges", vec![column(&[0, 1, 2, 3]), column(&[1, 2, 3, 3])])
            .expect("rows");
        let outputs = [Output::softmax()];
        let found = Identify::new(&data, &outputs, PredicateId(0)).identify();
        let found = found.unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(found.maps, "24", "{text}");
        assert_eq!(found.bijective.as_deref(), Some("24"), "{text}");
        // Nobody differs from itself.
        let warnings: Vec<_> = found.warnings.iter().map(|w| w.message()).collect();
        assert_eq!(
            warnings,
            ["axiom `proper`: no true classes satisfy 1 of its 4 bindings, which require nothing"],
            "{text}"
        );
    }
}
