//! Rules against counting by brute force.

use std::collections::BTreeSet;

use logltn::{Code, ColumnData, Data, Labels, Source};
use logltn_learn::mine::{Mine, Mined, mine};
use logltn_learn::random::Random;

const TEXT: &str = "
    sort E  sort R = {a, b, c}  table train(r: R, h: E, t: E)  table like(x: E, y: E)  table test(x: E, y: E)
    predicate linked(E, E, R)  predicate likes(E, E)
    axiom facts: forall (r, h, t) in train. linked(t, h, r)
    axiom likes: forall (x, y) in like. likes(x, y)
    axiom mined_4: forall x: E. likes(x, x)
";

const INDIVIDUALS: u32 = 9;

fn random_data(seed: u64) -> Data {
    let theory = logltn::Theory::parse(Source::new("t", TEXT)).unwrap();
    let mut data = Data::new(&theory);
    let mut random = Random::new(seed, 7);
    let mut column = |below: u32, rows: usize| {
        let cells = (0..rows).map(|_| (random.bits() % u64::from(below)) as u32);
        ColumnData::Individuals(cells.collect())
    };
    data.set_size("E", INDIVIDUALS as usize).unwrap();
    let rows = vec![
        column(3, 40),
        column(INDIVIDUALS, 40),
        column(INDIVIDUALS, 40),
    ];
    data.set_rows("train", rows).unwrap();
    for table in ["like", "test"] {
        let rows = vec![column(INDIVIDUALS, 12), column(INDIVIDUALS, 12)];
        data.set_rows(table, rows).unwrap();
    }
    data
}

fn cells(data: &Data, table: &str, column: usize) -> Vec<u32> {
    let id = data.theory().table(table).unwrap();
    match &data.table(id).unwrap().columns[column] {
        ColumnData::Individuals(cells) => cells.clone(),
        _ => panic!("individuals"),
    }
}

type Pairs = BTreeSet<(u32, u32)>;

/// a, b, c and `like`, as `Graph` numbers them.
fn relations(data: &Data) -> Vec<Pairs> {
    let (r, h, t) = (
        cells(data, "train", 0),
        cells(data, "train", 1),
        cells(data, "train", 2),
    );
    let mut all: Vec<Pairs> = (0..3)
        .map(|label| {
            (0..r.len())
                .filter(|i| r[*i] == label)
                .map(|i| (h[i], t[i]))
                .collect()
        })
        .collect();
    let like = cells(data, "like", 0)
        .into_iter()
        .zip(cells(data, "like", 1));
    all.push(like.collect());
    all
}

fn holds(relations: &[Pairs], step: usize, a: u32, b: u32) -> bool {
    let pair = if step.is_multiple_of(2) {
        (a, b)
    } else {
        (b, a)
    };
    relations[step / 2].contains(&pair)
}

/// The pairs of a body, by trying all that is between.
fn pairs_of(relations: &[Pairs], body: &[usize]) -> Pairs {
    let mut found = Pairs::new();
    let between = INDIVIDUALS.pow(body.len() as u32 - 1);
    for x in 0..INDIVIDUALS {
        for y in 0..INDIVIDUALS {
            for mut code in 0..between {
                let mut path = vec![x];
                for _ in 1..body.len() {
                    path.push(code % INDIVIDUALS);
                    code /= INDIVIDUALS;
                }
                path.push(y);
                let mut steps = path.windows(2).zip(body);
                let follows = steps.all(|(ends, step)| holds(relations, *step, ends[0], ends[1]));
                if follows && path.iter().collect::<BTreeSet<_>>().len() == path.len() {
                    found.insert((x, y));
                }
            }
        }
    }
    found
}

/// Body and head of each rule as the text has them: twice the relation's number, one more where it is walked backwards.
fn read(mined: &Mined) -> Vec<(Vec<usize>, usize)> {
    let path = ["x", "z", "w", "y"];
    let relation = |label: &str| match label {
        "\"a\"" => 0,
        "\"b\"" => 1,
        "\"c\"" => 2,
        other => panic!("{other}"),
    };
    let text = mined.to_string();
    let rules = text
        .lines()
        .filter(|line| line.trim().starts_with("forall"));
    rules
        .map(|line| {
            let (_, rest) = line.split_once(" where ").expect("a guard");
            let (guard, head) = rest.rsplit_once(". ").expect("a head");
            let literals = guard.split(" and ").filter(|c| c.ends_with(')'));
            let body = literals.map(|literal| {
                let (name, cells) = literal
                    .trim_end_matches(')')
                    .split_once('(')
                    .expect("a literal");
                let cells: Vec<&str> = cells.split(", ").collect();
                let (number, ends) = match name {
                    "train" => (relation(cells[0]), &cells[1..]),
                    _ => (3, &cells[..]),
                };
                let place = |of: &str| path.iter().position(|p| *p == of).expect("a variable");
                2 * number + usize::from(place(ends[0]) > place(ends[1]))
            });
            let head = match head.strip_prefix("linked(y, x, ") {
                Some(label) => relation(label.trim_end_matches(')')),
                None => {
                    assert_eq!(head, "likes(x, y)");
                    3
                }
            };
            (body.collect(), head)
        })
        .collect()
}

#[test]
fn rules_are_those_of_brute_force() {
    for seed in 0..2 {
        let data = random_data(seed);
        let how = Mine {
            length: 3,
            support: 2,
            confidence: 0.4,
            top: 0,
            ..Mine::default()
        };
        let mined = mine(&data, &how).unwrap();
        let relations = relations(&data);
        let mut bodies: Vec<Vec<usize>> = (0..8).map(|a| vec![a]).collect();
        bodies.extend((0..64).map(|ab| vec![ab / 8, ab % 8]));
        bodies.extend((0..512).map(|abc| vec![abc / 64, abc / 8 % 8, abc % 8]));
        let mut expected = Vec::new();
        for body in bodies {
            let pairs = pairs_of(&relations, &body);
            for (head, facts) in relations.iter().enumerate() {
                let support = pairs.intersection(facts).count() as u64;
                let enough = support >= 2 && support as f64 >= 0.4 * pairs.len() as f64;
                if enough && body != [2 * head] {
                    let (pairs, facts) = (pairs.len() as u64, facts.len() as u64);
                    expected.push((body.clone(), head, support, pairs, facts));
                }
            }
        }
        let rules = read(&mined).into_iter().zip(&mined.rules);
        let mut found: Vec<_> = rules
            .map(|((body, head), rule)| (body, head, rule.support, rule.pairs, rule.facts))
            .collect();
        found.sort();
        expected.sort();
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(found, expected);
    }
}

/// Rules say in the language what was counted: their axioms are read, and their groundings make the same pairs.
#[test]
fn rules_are_axioms_that_mean_what_was_counted() {
    let data = random_data(5);
    let how = Mine {
        length: 3,
        support: 2,
        confidence: 0.3,
        top: 3,
        ..Mine::default()
    };
    let mined = mine(&data, &how).unwrap();
    let text = format!("{TEXT}\n{mined}");
    let theory = logltn::Theory::parse_with(Source::new("t", text), &Labels::default()).unwrap();
    let names: Vec<&str> = theory.axioms[3..].iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names.len(), mined.rules.len());
    assert_eq!(names[0], "mined_5");
    let read = read(&mined);
    let of_head = |head| read.iter().filter(|(_, h)| *h == head).count();
    assert!((0..4).all(|head| of_head(head) <= 3));
    let relations = relations(&data);
    let rules = mined.rules.iter().zip(&read);
    for ((rule, (_, head)), axiom) in rules.zip(&theory.axioms[3..]) {
        assert!(axiom.weight <= rule.confidence() && axiom.weight > rule.confidence() - 0.0011);
        // What the guard keeps, as a question about the head.
        let mut fresh = Data::new(&theory);
        fresh.set_size("E", INDIVIDUALS as usize).unwrap();
        for table in ["train", "like", "test"] {
            let id = data.theory().table(table).unwrap();
            fresh
                .set_rows(table, data.table(id).unwrap().columns.to_vec())
                .unwrap();
        }
        let one = fresh.with_axioms(|a| a.name == axiom.name);
        let outputs = vec![logltn::Output::sigmoid(); 2];
        let plan = logltn::Plan::new(&one, &outputs, &logltn::Semantics::default()).unwrap();
        let engine = logltn::Engine::<f64>::new(plan);
        // Each pair of the body once: that is the rows on which the head is asked.
        let rows: usize = engine.requests().iter().map(logltn::Request::rows).sum();
        assert_eq!(rows as u64, rule.pairs, "{}", axiom.name);
        let request = &engine.requests()[0];
        let facts = (0..rows).filter(|row| {
            let row = request.row(*row);
            match *head {
                3 => relations[3].contains(&(row[0], row[1])),
                head => row[2] == head as u32 && relations[head].contains(&(row[1], row[0])),
            }
        });
        assert_eq!(facts.count() as u64, rule.support, "{}", axiom.name);
    }
}

#[test]
fn tables_for_measuring_are_left_out_and_mistakes_are_told() {
    let data = random_data(1);
    let text = mine(&data, &Mine::default()).unwrap().to_string();
    assert!(text.contains("train (40 rows), like (12 rows):"), "{text}");
    let named = |tables: &[&str]| Mine {
        tables: tables.iter().map(ToString::to_string).collect(),
        ..Mine::default()
    };
    let error = mine(&data, &named(&["trein"])).unwrap_err();
    assert_eq!(error.iter().next().unwrap().code(), Code::UnknownTable);
    let error = mine(&data, &named(&["test"])).unwrap_err();
    assert_eq!(error.iter().next().unwrap().code(), Code::NothingToMine);
}

#[test]
fn variables_are_no_labels() {
    let text = "sort E = {x, y, z}  table t(a: E, b: E)  predicate p(E, E)  axiom f: forall (a, b) in t. p(a, b)\n";
    let theory = logltn::Theory::parse(Source::new("t", text)).unwrap();
    let mut data = Data::new(&theory);
    let columns = [vec![0, 1, 2], vec![1, 2, 0]].map(ColumnData::Individuals);
    data.set_rows("t", columns.to_vec()).unwrap();
    let mined = mine(
        &data,
        &Mine {
            support: 1,
            confidence: 0.0,
            ..Mine::default()
        },
    )
    .unwrap();
    assert!(!mined.rules.is_empty());
    let all = format!("{text}{mined}");
    logltn::Theory::parse(Source::new("t", all)).unwrap();
}

#[test]
fn one_number_weighs_all_rules() {
    let data = random_data(5);
    for weight in [0.001, 0.1, 7.0] {
        let how = Mine {
            support: 2,
            weight: Some(weight),
            ..Mine::default()
        };
        let mined = mine(&data, &how).unwrap();
        assert!(mined.rules.len() > 3);
        let theory = logltn::Theory::parse(Source::new("t", format!("{TEXT}\n{mined}"))).unwrap();
        // The theory has an axiom of that name already.
        let rules = theory.axioms[data.theory().axioms.len()..].iter();
        let weights: Vec<f64> = rules.map(|a| a.weight).collect();
        assert!(
            (weights.iter().sum::<f64>() - weight).abs() < 1e-6,
            "{weights:?}"
        );
        // In proportion to what they are worth.
        for (rule, own) in mined.rules.iter().zip(&weights) {
            let ratio = rule.confidence() / mined.rules[0].confidence();
            assert!((own / weights[0] - ratio).abs() < 1e-4, "{weights:?}");
        }
    }
}
