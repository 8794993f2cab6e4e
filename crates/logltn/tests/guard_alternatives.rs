//! `or` and `exists` in guards are unions and semi-joins: what they list is what brute force finds, however they are nested,
//! and they take the time of what they keep, not of what could be tried.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use logltn::{ColumnData, Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};
use proptest::prelude::*;

/// A guard over `x`, `z` and what it binds itself (`v2`, `v3`, …): variables by number.
#[derive(Clone, Debug)]
enum Guard {
    Par(usize, usize),
    Flag(usize),
    Same(usize, usize),
    Not(Box<Guard>),
    And(Vec<Guard>),
    Or(Vec<Guard>),
    /// Binds the next variable, over the sort.
    Exists(Box<Guard>),
    /// Binds the next two, over the rows of `par`.
    Rows(Box<Guard>),
}

fn name(variable: usize) -> String {
    match variable {
        0 => "x".into(),
        1 => "z".into(),
        n => format!("v{n}"),
    }
}

impl Guard {
    /// As text; variables that are not bound here yet are taken modulo those that are.
    fn text(&self, bound: usize) -> String {
        let v = |n: &usize| name(n % bound);
        let joined = |members: &[Guard], word: &str| {
            let members: Vec<_> = members
                .iter()
                .map(|m| format!("({})", m.text(bound)))
                .collect();
            members.join(word)
        };
        match self {
            Guard::Par(a, b) => format!("par({}, {})", v(a), v(b)),
            Guard::Flag(a) => format!("flag({})", v(a)),
            Guard::Same(a, b) => format!("{} = {}", v(a), v(b)),
            Guard::Not(inner) => format!("not ({})", inner.text(bound)),
            Guard::And(members) => joined(members, " and "),
            Guard::Or(members) => joined(members, " or "),
            Guard::Exists(body) => format!("exists {}: P. ({})", name(bound), body.text(bound + 1)),
            Guard::Rows(body) => format!(
                "exists ({}, {}) in par. ({})",
                name(bound),
                name(bound + 1),
                body.text(bound + 2)
            ),
        }
    }

    fn holds(&self, world: &World, bound: &[u32]) -> bool {
        let v = |n: &usize| bound[n % bound.len()];
        match self {
            Guard::Par(a, b) => world.par.contains(&(v(a), v(b))),
            Guard::Flag(a) => world.flag.contains(&v(a)),
            Guard::Same(a, b) => v(a) == v(b),
            Guard::Not(inner) => !inner.holds(world, bound),
            Guard::And(members) => members.iter().all(|m| m.holds(world, bound)),
            Guard::Or(members) => members.iter().any(|m| m.holds(world, bound)),
            Guard::Exists(body) => {
                (0..world.people).any(|y| body.holds(world, &[bound, &[y]].concat()))
            }
            Guard::Rows(body) => {
                (world.par.iter()).any(|&(a, b)| body.holds(world, &[bound, &[a, b]].concat()))
            }
        }
    }
}

fn guards() -> impl Strategy<Value = Guard> {
    let leaf = prop_oneof![
        4 => (0..4_usize, 0..4_usize).prop_map(|(a, b)| Guard::Par(a, b)),
        1 => (0..4_usize).prop_map(Guard::Flag),
        2 => (0..4_usize, 0..4_usize).prop_map(|(a, b)| Guard::Same(a, b)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            1 => inner.clone().prop_map(|g| Guard::Not(Box::new(g))),
            3 => some.clone().prop_map(Guard::And),
            4 => some.prop_map(Guard::Or),
            3 => inner.clone().prop_map(|g| Guard::Exists(Box::new(g))),
            2 => inner.prop_map(|g| Guard::Rows(Box::new(g))),
        ]
    })
}

#[derive(Debug)]
struct World {
    people: u32,
    par: Vec<(u32, u32)>,
    flag: Vec<u32>,
}

impl World {
    fn data(&self, axioms: &str) -> Data {
        let text = format!(
            "sort P  table par(a: P, b: P)  table flag(a: P)  predicate gp(P, P)\n{axioms}"
        );
        let theory = Theory::parse(Source::new("guard.ltn", text)).expect("a theory");
        let mut data = Data::new(&theory);
        data.set_size("P", self.people as usize).expect("a size");
        let (a, b) = self.par.iter().copied().unzip();
        let rows = vec![ColumnData::Individuals(a), ColumnData::Individuals(b)];
        data.set_rows("par", rows).expect("rows");
        let rows = vec![ColumnData::Individuals(self.flag.clone())];
        data.set_rows("flag", rows).expect("rows");
        data
    }
}

fn planned(data: &Data) -> Plan {
    Plan::new(data, &[Output::sigmoid()], &Semantics::default()).expect("a plan")
}

/// The pairs that the axioms speak of: those on whose number the loss depends.
fn spoken_of(plan: Plan) -> BTreeSet<(u32, u32)> {
    let mut engine = Engine::<f64>::new(plan);
    let value = engine.evaluate_with_gradients(&Parameters::default());
    value.expect("a loss");
    let mut pairs = BTreeSet::new();
    for (index, request) in engine.requests().iter().enumerate() {
        for (row, slope) in engine.gradient(index).iter().enumerate() {
            if *slope != 0.0 {
                pairs.insert((request.row(row)[0], request.row(row)[1]));
            }
        }
    }
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_listed_is_what_brute_force_finds(
        guard in guards(),
        people in 1..6_u32,
        par in prop::collection::vec((0..6_u32, 0..6_u32), 0..8),
        flag in prop::collection::vec(0..6_u32, 0..3),
    ) {
        let world = World {
            people,
            par: par.into_iter().map(|(a, b)| (a % people, b % people)).collect(),
            flag: flag.into_iter().map(|a| a % people).collect(),
        };
        let all = (0..people).flat_map(|x| (0..people).map(move |z| (x, z)));
        let expected: BTreeSet<_> = all.filter(|&(x, z)| guard.holds(&world, &[x, z])).collect();
        let text = guard.text(2);
        // All at once; under what is known of `x`; and over rows, where each row is asked about.
        let axioms = format!("axiom a: forall x, z: P where {text}. gp(x, z)");
        let plan = planned(&world.data(&axioms));
        prop_assert_eq!(plan.axioms()[0].groundings, expected.len() as u128, "{}", &text);
        prop_assert_eq!(&spoken_of(plan), &expected, "{}", &text);
        let axioms = format!("axiom a: forall x: P. forall z: P where {text}. gp(x, z)");
        let plan = planned(&world.data(&axioms));
        prop_assert_eq!(&spoken_of(plan), &expected, "nested: {}", &text);
        let axioms = format!("axiom a: forall (x, z) in par where {text}. gp(x, z)");
        let plan = planned(&world.data(&axioms));
        let rows: Vec<_> = world.par.iter().filter(|&row| expected.contains(row)).copied().collect();
        prop_assert_eq!(plan.axioms()[0].groundings, rows.len() as u128, "rows: {}", &text);
        prop_assert_eq!(&spoken_of(plan), &rows.into_iter().collect(), "rows: {}", &text);
    }
}

/// Ten thousand people with two children each: one who asks every pair asks a hundred million times.
#[test]
fn alternatives_take_the_time_of_what_they_keep() {
    let people = 10_000;
    let child = |x: u32, i: u32| (x + 1 + i * 37) % people;
    let world = World {
        people,
        par: (0..people)
            .flat_map(|x| [(x, child(x, 0)), (x, child(x, 1))])
            .collect(),
        flag: vec![17],
    };
    let children = |x: u32| [child(x, 0), child(x, 1)];
    let count = |of: &dyn Fn(u32) -> Vec<u32>| {
        (0..people)
            .map(|x| of(x).into_iter().collect::<BTreeSet<_>>().len())
            .sum::<usize>()
    };
    let grand = |x: u32| {
        children(x)
            .into_iter()
            .flat_map(children)
            .collect::<Vec<_>>()
    };
    let to_grand = count(&|x| [grand(x), children(x).to_vec()].concat());
    let and_self = count(&|x| [grand(x), children(x).to_vec(), vec![x]].concat());
    let great = |x: u32| grand(x).into_iter().flat_map(children).collect::<Vec<_>>();
    let flagged = count(&|x| match children(x).contains(&17) {
        true => (0..people).collect(),
        false => grand(x),
    });
    let both_ways = {
        let pairs = (0..people).flat_map(|x| children(x).into_iter().map(move |z| (x, z)));
        pairs
            .flat_map(|(x, z)| [(x, z), (z, x)])
            .collect::<BTreeSet<_>>()
            .len()
    };
    for (guard, expected) in [
        (
            "(exists y: P. par(x, y) and par(y, z)) or par(x, z)",
            to_grand,
        ),
        ("exists y: P. par(x, y) and (par(y, z) or y = z)", to_grand),
        (
            "exists y: P. (par(x, y) or x = y) and (par(y, z) or y = z)",
            and_self,
        ),
        (
            "(exists y: P. par(x, y) and par(y, z)) or (exists y: P. par(x, y) and (y = z or exists w: P. par(y, w) and par(w, z)))",
            count(&|x| [great(x), grand(x), children(x).to_vec()].concat()),
        ),
        (
            "exists (a, b) in par where a = x. exists (c, d) in par where c = b or c = x. d = z",
            to_grand,
        ),
        (
            "exists (a, b) in par where a = x or b = x. a = x and b = z or b = x and a = z",
            both_ways,
        ),
        ("par(x, z) or par(z, x)", both_ways),
        ("exists y: P. par(x, y) and (par(y, z) or flag(y))", flagged),
    ] {
        for axiom in [
            format!("axiom a: forall x, z: P where {guard}. gp(x, z)"),
            format!("axiom a: forall x: P. forall z: P where {guard}. gp(x, z)"),
        ] {
            let begun = Instant::now();
            let plan = planned(&world.data(&axiom));
            assert_eq!(plan.axioms()[0].groundings, expected as u128, "{axiom}");
            // Milliseconds; minutes where every pair is asked.
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(15), "{took:?} for {axiom}");
            println!("{took:?} {axiom}");
        }
    }
}

/// What cannot be listed otherwise is refused before it is begun, also where an `exists` does the trying.
#[test]
fn an_exists_that_nobody_can_wait_for_is_refused() {
    let world = World {
        people: 20_000,
        par: (0..20_000).map(|x| (x, x)).collect(),
        flag: vec![],
    };
    let guard = "exists y: P. not (par(x, y) or not par(y, x) or y = z)";
    let data = world.data(&format!("axiom a: forall x, z: P where {guard}. gp(x, z)"));
    let begun = Instant::now();
    let refused = Plan::new(&data, &[Output::sigmoid()], &Semantics::default());
    let refused = refused.expect_err("too much").to_string();
    assert!(refused.contains("combinations"), "{refused}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// A nest of alternatives is planned in a time that does not double with each level.
#[test]
fn deep_nests_are_planned() {
    let world = World {
        people: 3,
        par: vec![(0, 1), (1, 2)],
        flag: vec![1],
    };
    let mut guard = "x = z".to_string();
    for level in 0..60 {
        guard = match level % 2 {
            0 => format!("(not flag(x) or par(x, z) or ({guard})) and x != z"),
            _ => format!("exists v{level}: P. not flag(v{level}) and ({guard})"),
        };
    }
    let data = world.data(&format!("axiom a: forall x, z: P where {guard}. gp(x, z)"));
    let begun = Instant::now();
    planned(&data);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}
