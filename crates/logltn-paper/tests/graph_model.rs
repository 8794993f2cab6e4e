//! Embeddings and rules of knowledge graphs: gradients against finite differences, conclusions against trying everyone.

use logltn::{ColumnData, Diagnostics, Labels, Output, Parameters, Source, Theory};
use logltn_learn::random::Random;
use logltn_learn::{Grounding, Individuals, Optimizer, Session};
use logltn_paper::graph_model::{ComplEx, Conclusions, Evidence, Facts, Triple, ranks};

const DECLARATIONS: &str =
    "\nsort Entity  sort Relation  table train(h: Entity, r: Relation, t: Entity)
    predicate linked(Entity, Relation, Entity)";

fn rules(text: &str, relations: usize) -> Result<Theory, Diagnostics> {
    let mut labels = Labels::default();
    let names = (0..2 * relations).map(|r| match r < relations {
        true => format!("r{r}"),
        false => format!("r{}~", r - relations),
    });
    labels.insert("Relation", names);
    labels.insert("Entity", (0..7).map(|e| format!("e{e}")));
    Theory::parse_with(
        Source::new("rules.ltn", format!("{text}{DECLARATIONS}")),
        &labels,
    )
}

fn random_facts(seed: u64, entities: usize, relations: usize, count: usize) -> Vec<Triple> {
    let mut random = Random::new(seed, 0);
    let mut facts = Vec::new();
    while facts.len() < count {
        let fact = [entities, relations, entities].map(|n| random.below(n) as u32);
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    facts
}

/// The scores of all entities after each entity and relation, by rules alone.
fn scores(evidence: &Evidence, facts: Facts<'_>) -> Vec<f32> {
    let entities = 0..facts.entities as u32;
    let questions: Vec<[u32; 2]> = (0..2 * facts.relations as u32)
        .flat_map(|r| entities.clone().map(move |e| [e, r]))
        .collect();
    let mut scores = vec![0.0; questions.len() * facts.entities];
    evidence.add(&questions, 1.0, &mut scores);
    scores
}

#[test]
fn rules_conclude_what_trying_everyone_does() {
    let text = "
        axiom symmetric (weight 0.5): forall x, y: Entity where train(y, r0, x). linked(x, r0, y)
        axiom path (weight 0.75): forall x, z, y: Entity where train(x, r0, z) and train(z, r1, y) and x != y. linked(x, r2, y)
        axiom fork (weight 0.25): forall x, z, w, y: Entity
            where train(z, r0, x) and train(z, r2, w) and train(w, r1, y) and x != w and z != y. linked(x, r1, y)
        axiom known (weight 0.9): forall x, y: Entity where train(x, r1, e3) and train(x, r2, y). linked(x, r0, y)
        axiom loop (weight 0.6): forall x, y: Entity where train(x, r0, x) and train(x, r1, y). linked(y, r2, x)";
    let told = random_facts(3, 7, 3, 60);
    let facts = Facts {
        entities: 7,
        relations: 3,
        told: &told,
    };
    let theory = rules(text, 3).expect("rules");
    let conclusions = Conclusions::new(&theory, facts).expect("conclusions");
    assert_eq!(conclusions.rules(), 5);
    let found = scores(&Evidence::new(&conclusions.into()), facts);
    let is = |a: u32, r: u32, b: u32| told.contains(&[a, r, b]);
    let weight = |w: f64| -(1.0 - w).ln() as f32;
    let all = 0..7_u32;
    // A rule counts 1 + log n times, if there are n ways.
    let times = |ways: usize| match ways {
        0 => 0.0,
        n => 1.0 + (n as f32).ln(),
    };
    let ways = |holds: bool| usize::from(holds);
    let (mut some_true, mut several) = (0, 0);
    for x in all.clone() {
        for y in all.clone() {
            let path = |z: &u32| x != y && is(x, 0, *z) && is(*z, 1, y);
            let path = all.clone().filter(path).count();
            let fork =
                |z: u32, w: u32| x != w && z != y && is(z, 0, x) && is(z, 2, w) && is(w, 1, y);
            let pairs = all.clone().flat_map(|z| all.clone().map(move |w| (z, w)));
            let fork = pairs.filter(|(z, w)| fork(*z, *w)).count();
            several += usize::from(path > 1) + usize::from(fork > 1);
            let by = |rules: [(usize, f64); 2]| -> f32 {
                rules.iter().map(|(n, w)| times(*n) * weight(*w)).sum()
            };
            let expected = [
                by([
                    (ways(is(y, 0, x)), 0.5),
                    (ways(is(x, 1, 3) && is(x, 2, y)), 0.9),
                ]),
                by([(fork, 0.25), (0, 0.0)]),
                by([(path, 0.75), (ways(is(y, 0, y) && is(y, 1, x)), 0.6)]),
            ];
            for (r, expected) in expected.into_iter().enumerate() {
                some_true += usize::from(expected > 0.0);
                let place = |r: usize, a: u32, b: u32| (r * 7 + a as usize) * 7 + b as usize;
                for found in [found[place(r, x, y)], found[place(r + 3, y, x)]] {
                    assert!(
                        (found - expected).abs() < 1e-5,
                        "{x} {r} {y}: {found} {expected}"
                    );
                }
            }
        }
    }
    assert!(some_true > 20 && some_true < 140, "{some_true}");
    assert!(several > 20, "{several}");
}

#[test]
fn likely_is_what_rules_conclude_together_and_nobody_told() {
    // 0.3 alone is not enough, 0.3 and 0.3 are 0.51; 0.3 in two ways is still one rule.
    let text = "
        axiom a (weight 0.3): forall x, z, y: Entity where train(x, r0, z) and train(z, r0, y). linked(x, r1, y)
        axiom b (weight 0.3): forall x, y: Entity where train(x, r2, y). linked(x, r1, y)";
    let told = [
        [0, 0, 1],
        [1, 0, 2],
        [0, 0, 3],
        [3, 0, 2],
        [0, 2, 2],
        [1, 2, 4],
        [4, 0, 5],
        [5, 0, 6],
        [4, 2, 6],
        [4, 1, 6],
    ];
    let facts = Facts {
        entities: 7,
        relations: 3,
        told: &told,
    };
    let conclusions = Conclusions::new(&rules(text, 3).expect("rules"), facts).expect("facts");
    assert_eq!(conclusions.likely(facts), [[0, 1, 2]]);
    // In two ways from 0 to 2 without the second rule: still 0.3.
    let without: Vec<Triple> = told.into_iter().filter(|t| *t != [0, 2, 2]).collect();
    let facts = Facts {
        told: &without,
        ..facts
    };
    let conclusions = Conclusions::new(&rules(text, 3).expect("rules"), facts).expect("facts");
    assert_eq!(conclusions.likely(facts), [] as [Triple; 0]);
}

#[test]
fn what_concludes_no_facts_is_no_rule() {
    let facts = Facts {
        entities: 7,
        relations: 3,
        told: &[],
    };
    for text in [
        "axiom a: forall x, y: Entity where not train(x, r0, y). linked(x, r1, y)",
        "axiom a: forall x, y: Entity where train(x, r0, x). linked(x, r1, y)",
        "axiom a: forall x, y: Entity. linked(x, r1, y)",
        "axiom a: forall x, y: Entity, r: Relation where train(x, r, y). linked(x, r, y)",
        "axiom a: forall x, y: Entity where train(x, r0, y). not linked(x, r1, y)",
        // Backwards, it is a relation of training, not of rules.
        "axiom a: forall x, y: Entity where train(x, \"r0~\", y). linked(x, r1, y)",
    ] {
        let theory = rules(text, 3).expect("a theory");
        let errors = Conclusions::new(&theory, facts).err().expect(text);
        let error = errors.iter().next().expect("an error");
        assert_eq!(error.code(), logltn::Code::NotARule, "{text}");
    }
}

/// A session that takes one step of gradient descent.
fn session(entities: usize, linked: impl Grounding + 'static, told: &[Triple]) -> Session {
    let column = |at: usize| ColumnData::Individuals(told.iter().map(|t| t[at]).collect());
    Session::builder(
        "sort Entity  sort Relation  table train(h: Entity, r: Relation, t: Entity)
         predicate linked(Entity, Relation, Entity)
         axiom facts: forall (h, r, t) in train. linked(h, r, t)",
    )
    .sort("Entity", Individuals::from(entities))
    .sort("Relation", Individuals::from(4))
    .table("train", vec![column(0), column(1), column(2)])
    .host("linked", linked, Output::log_truth())
    .training(|training| {
        training.optimizer = Optimizer::Sgd {
            momentum: 0.0,
            weight_decay: 0.0,
        };
    })
    .learning_rate(1.0)
    .steps(1)
    .build()
    .expect("a session")
}

fn numbers(linked: &ComplEx) -> Vec<Vec<f32>> {
    let mut all = Vec::new();
    linked
        .clone()
        .visit_parameters(&mut |_, values, _| all.push(values.to_vec()));
    all
}

/// Minus the change by one step of length 1.
fn gradient(cubes: f32, told: &[Triple]) -> Vec<Vec<f64>> {
    let linked = ComplEx::new(5, 4, 3, cubes, 1).expect("embeddings");
    let before = numbers(&linked);
    session(5, linked.clone(), told).step().expect("a step");
    let change = |(a, b): (&f32, &f32)| f64::from(*a) - f64::from(*b);
    (before.iter().zip(numbers(&linked)))
        .map(|(before, after)| before.iter().zip(&after).map(change).collect())
        .collect()
}

#[test]
fn gradients_are_those_of_finite_differences() {
    // Twice the same question, an entity that is both head and tail, and one that is only an answer.
    let told = [[0, 0, 1], [0, 0, 2], [1, 3, 0], [2, 2, 2], [3, 1, 0]];
    let found = gradient(0.0, &told);
    let linked = ComplEx::new(5, 4, 3, 0.0, 1).expect("embeddings");
    let mut session = session(5, linked.clone(), &told);
    let mut loss = |block: usize, at: usize, by: f32| {
        let mut which = 0;
        linked.clone().visit_parameters(&mut |_, values, _| {
            if which == block {
                values[at] += by;
            }
            which += 1;
        });
        session
            .evaluate(&Parameters::default())
            .expect("a loss")
            .loss
    };
    for (block, found) in found.iter().enumerate() {
        for (at, found) in found.iter().enumerate() {
            let step = 0.01;
            let up = loss(block, at, step);
            let down = loss(block, at, -2.0 * step);
            loss(block, at, step);
            let expected = (up - down) / (2.0 * f64::from(step));
            assert!(
                (found - expected).abs() < 2e-4,
                "{block} {at}: {found} {expected}"
            );
        }
    }
}

#[test]
fn gradients_of_weights_are_those_of_finite_differences() {
    let text = "
        axiom a (weight 0.5): forall x, y: Entity where train(y, r0, x). linked(x, r0, y)
        axiom b (weight 0.7): forall x, z, y: Entity where train(x, r0, z) and train(z, r1, y). linked(x, r0, y)
        axiom c (weight 0.3): forall x, z, y: Entity where train(x, r1, z) and train(z, r0, y). linked(x, r1, y)";
    let told = random_facts(5, 7, 2, 30);
    let facts = Facts {
        entities: 7,
        relations: 2,
        told: &told,
    };
    let conclusions = Conclusions::new(&rules(text, 2).expect("rules"), facts).expect("facts");
    let derived = Evidence::new(&conclusions.into());
    let both: Vec<Triple> = (told.iter())
        .flat_map(|t| [*t, facts.backwards(*t)])
        .collect();
    let weights = |add: Option<(usize, f32)>| {
        let mut all = Vec::new();
        derived.clone().visit_parameters(&mut |_, values, _| {
            if let Some((at, by)) = add {
                values[at] += by;
            }
            all = values.to_vec();
        });
        all
    };
    let mut one = session(7, derived.clone(), &both);
    // The loss is that of a softmax over what ranking adds up.
    let scores = scores(&derived, facts);
    let logs = both.iter().map(|&[h, r, t]| {
        let row = &scores[(r as usize * 7 + h as usize) * 7..][..7];
        let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
        f64::from(row[t as usize]) - sum.ln()
    });
    let expected = -logs.sum::<f64>() / both.len() as f64;
    let mut loss = || one.evaluate(&Parameters::default()).expect("a loss").loss;
    assert!((loss() - expected).abs() < 1e-5, "{} {expected}", loss());
    let before = weights(None);
    let mut expected = Vec::new();
    for at in 0..before.len() {
        weights(Some((at, 0.01)));
        let up = loss();
        weights(Some((at, -0.02)));
        let down = loss();
        weights(Some((at, 0.01)));
        expected.push((up - down) / 0.02);
    }
    let some = expected.iter().filter(|by| by.abs() > 0.01).count();
    assert!(some > 3, "{expected:?}");
    let before = weights(None);
    session(7, derived.clone(), &both).step().expect("a step");
    for ((a, b), by) in before.iter().zip(weights(None)).zip(expected) {
        let found = f64::from(a - b);
        assert!((found - by).abs() < 2e-4, "{found} {by}");
    }
}

#[test]
fn these_predicates_say_one_number_of_each_fact() {
    let linked = ComplEx::new(5, 4, 3, 0.0, 1).expect("embeddings");
    let mut session = Session::builder(
        "sort Entity  sort Relation  predicate linked(Entity, Relation, Entity)
         axiom a: forall h, t: Entity, r: Relation. linked(h, r, t)",
    )
    .sort("Entity", Individuals::from(5))
    .sort("Relation", Individuals::from(4))
    .host("linked", linked, Output::softmax())
    .steps(1)
    .build()
    .expect("a session");
    let errors = session.step().expect_err("an error").to_string();
    assert!(errors.contains("log_truth"), "{errors}");
}

#[test]
fn the_regulariser_is_the_cube_of_each_magnitude() {
    let told = [[0, 0, 1], [1, 3, 0]];
    let [plain, held] = [0.0, 0.5].map(|cubes| gradient(cubes, &told));
    let before = numbers(&ComplEx::new(5, 4, 3, 0.5, 1).expect("embeddings"));
    // Entities 0 and 1 ask, by relations 0 and 3: two questions.
    for (block, rows) in [(0, [0, 1]), (1, [0, 3])] {
        for row in 0..5.min(before[block].len() / 6) {
            let vector = &before[block][row * 6..row * 6 + 6];
            for i in 0..6 {
                let magnitude = f64::from(vector[i % 3]).hypot(f64::from(vector[i % 3 + 3]));
                let expected = match rows.contains(&row) {
                    true => 0.5 * 3.0 * magnitude * f64::from(vector[i]) / 2.0,
                    false => 0.0,
                };
                let at = row * 6 + i;
                let found = held[block][at] - plain[block][at];
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{block} {row}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn ranks_leave_other_facts_out_and_share_ties() {
    let facts = Facts {
        entities: 4,
        relations: 1,
        told: &[],
    };
    // Scores 3, 2, 2, 1 whoever asks.
    let score = |questions: &[[u32; 2]], scores: &mut [f32]| {
        for row in 0..questions.len() {
            scores[4 * row..4 * row + 4].copy_from_slice(&[3.0, 2.0, 2.0, 1.0]);
        }
    };
    let more = |questions: &[[u32; 2]], times: f32, scores: &mut [f32]| {
        (0..questions.len()).for_each(|row| scores[4 * row + 3] += 4.0 * times);
    };
    // 1 after 3, which shares its place with 2: rank 2.5. Backwards 3 after 1: last, rank 4; with `more` the first.
    let found = ranks(facts, &[], &[[3, 0, 1]], &[0.0, 1.0], score, more).expect("ranks");
    assert_eq!(found[0].mrr(), (1.0 / 2.5 + 1.0 / 4.0) / 2.0);
    assert_eq!(found[1].mrr(), (1.0 / 3.5 + 1.0) / 2.0);
    assert_eq!(found[1].mrr_of_last(), 1.0 / 3.5);
    assert_eq!([1, 3, 10].map(|k| found[0].hits(k)), [0.0, 0.5, 1.0]);
    // That 3 is linked to 0 as well is not a mistake.
    let found = ranks(facts, &[[3, 0, 0]], &[[3, 0, 1]], &[0.0], score, more).expect("ranks");
    assert_eq!(found[0].mrr(), (1.0 / 1.5 + 1.0 / 4.0) / 2.0);
}
