//! Random formulas against going through all worlds.

use std::time::Duration;

use super::compile::compile_by;
use super::*;

fn budget() -> Budget<'static> {
    Budget::new(Duration::from_secs(20), 1 << 30, None)
}

struct Case {
    domains: Vec<u32>,
    proposition: Proposition,
    logs: Vec<f64>,
}

fn below(random: &mut Random, n: u32) -> u32 {
    ((random.unit() * f64::from(n)) as u32).min(n.saturating_sub(1))
}

fn formula(random: &mut Random, domains: &[u32], depth: u32) -> Proposition {
    if depth == 0 || random.unit() < 0.2 {
        if domains.is_empty() || random.unit() < 0.03 {
            return match random.unit() < 0.5 {
                true => Proposition::True,
                false => Proposition::False,
            };
        }
        let var = below(random, domains.len() as u32);
        return Proposition::Is {
            var,
            state: below(random, domains[var as usize]),
            positive: random.unit() < 0.6,
        };
    }
    let members = below(random, 5);
    let members = (0..members)
        .map(|_| formula(random, domains, depth - 1))
        .collect();
    match random.unit() < 0.5 {
        true => Proposition::And(members),
        false => Proposition::Or(members),
    }
}

fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let count = below(&mut random, 6);
    let domains: Vec<u32> = (0..count).map(|_| 2 + below(&mut random, 3)).collect();
    let depth = 1 + below(&mut random, 4);
    let proposition = formula(&mut random, &domains, depth);
    let mut logs = Vec::new();
    for domain in &domains {
        let mut weights: Vec<f64> = (0..*domain).map(|_| random.unit() + 1e-3).collect();
        if random.unit() < 0.15 {
            weights[0] = 0.0;
        }
        let total: f64 = weights.iter().sum();
        logs.extend(weights.iter().map(|w| (w / total).ln()));
    }
    Case {
        domains,
        proposition,
        logs,
    }
}

fn holds(proposition: &Proposition, world: &[u32]) -> bool {
    match proposition {
        Proposition::True => true,
        Proposition::False => false,
        Proposition::Is {
            var,
            state,
            positive,
        } => (world[*var as usize] == *state) == *positive,
        Proposition::And(members) => members.iter().all(|m| holds(m, world)),
        Proposition::Or(members) => members.iter().any(|m| holds(m, world)),
    }
}

fn worlds(domains: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for domain in domains {
        let longer = all.iter().flat_map(|world: &Vec<u32>| {
            (0..*domain).map(move |s| world.iter().copied().chain([s]).collect())
        });
        all = longer.collect();
    }
    all
}

#[test]
fn circuits_agree_with_all_worlds() {
    for seed in 0..3000 {
        let Case {
            domains,
            proposition,
            logs,
        } = case(seed);
        let circuit = compile(&proposition, &domains, budget()).unwrap();
        let probability = |world: &[u32]| -> f64 {
            let states = world.iter().zip(&circuit.slots);
            states
                .map(|(s, slot)| logs[(slot + s) as usize])
                .sum::<f64>()
                .exp()
        };
        let all = worlds(&domains);
        let good: Vec<&Vec<u32>> = all.iter().filter(|w| holds(&proposition, w)).collect();
        assert_eq!(circuit.count(), good.len().to_string(), "seed {seed}");
        let expected: f64 = good.iter().map(|w| probability(w)).sum();
        let weights = Weights {
            logs: &logs,
            lanes: 1,
        };
        let mut lanes = Lanes::default();
        let mut value = [0.0];
        lanes.evaluate(&circuit, weights, &mut value);
        assert!((value[0].exp() - expected).abs() < 1e-12, "seed {seed}");
        let best = good.iter().map(|w| probability(w)).fold(0.0, f64::max);
        if expected == 0.0 {
            assert_eq!(value[0], f64::NEG_INFINITY);
            assert_eq!(lanes.most_probable(&circuit, &logs), None);
            continue;
        }
        let mut flows = vec![0.0; logs.len()];
        let mut ratios = vec![0.0; logs.len()];
        lanes.flows(&circuit, weights, &mut flows);
        lanes.ratios(&circuit, weights, &mut ratios);
        for (var, domain) in domains.iter().enumerate() {
            let slots = circuit.slots[var] as usize..circuit.slots[var + 1] as usize;
            let free = 1.0 - flows[slots.clone()].iter().sum::<f64>();
            for state in 0..*domain {
                let slot = slots.start + state as usize;
                let with = good.iter().filter(|w| w[var] == state);
                let marginal = with.map(|w| probability(w)).sum::<f64>() / expected;
                let found = flows[slot] + logs[slot].exp() * free;
                assert!((found - marginal).abs() < 1e-9, "seed {seed}");
                if logs[slot].is_finite() {
                    let flow = ratios[slot] * logs[slot].exp();
                    assert!((flow - flows[slot]).abs() < 1e-9, "seed {seed}");
                }
            }
        }
        let world = lanes.most_probable(&circuit, &logs).unwrap();
        assert!(holds(&proposition, &world));
        assert!((probability(&world) - best).abs() < 1e-12, "seed {seed}");
        let mut world = vec![0; domains.len()];
        lanes.evaluate(&circuit, weights, &mut value);
        for number in 0..5 {
            let unit = |choice| unit_of(seed, number, 0, choice as u64);
            lanes.draw(&circuit, &logs, unit, &mut world);
            assert!(holds(&proposition, &world) && probability(&world) > 0.0);
        }
    }
}

#[test]
fn tangents_are_differences_of_flows() {
    for seed in 0..300 {
        let Case {
            domains,
            proposition,
            mut logs,
        } = case(seed);
        logs.iter_mut().for_each(|l| *l = l.max(-5.0));
        let circuit = compile(&proposition, &domains, budget()).unwrap();
        let mut random = Random::new(seed);
        let direction: Vec<f64> = logs.iter().map(|_| random.unit() - 0.5).collect();
        let mut lanes = Lanes::default();
        let mut flows_at = |step: f64| {
            let logs: Vec<f64> = (logs.iter().zip(&direction))
                .map(|(l, d)| l + step * d)
                .collect();
            let weights = Weights {
                logs: &logs,
                lanes: 1,
            };
            let mut flows = vec![0.0; logs.len()];
            lanes.evaluate(&circuit, weights, &mut [0.0]);
            lanes.flows(&circuit, weights, &mut flows);
            flows
        };
        let (less, more) = (flows_at(-1e-5), flows_at(1e-5));
        flows_at(0.0);
        let mut tangents = vec![0.0; logs.len()];
        let weights = Weights {
            logs: &logs,
            lanes: 1,
        };
        lanes.flow_tangents(&circuit, weights, &direction, &mut tangents);
        for (slot, tangent) in tangents.iter().enumerate() {
            let expected = (more[slot] - less[slot]) / 2e-5;
            assert!((tangent - expected).abs() < 1e-8, "seed {seed}");
        }
    }
}

#[test]
fn hierarchies_and_clauses_are_compiled_at_once() {
    // Every label implies its parent: a tree of 500, and a chain.
    for parent in [|i: u32| (i - 1) / 3, |i: u32| i - 1] {
        let is = |var, positive| Proposition::Is {
            var,
            state: 1,
            positive,
        };
        let rules = (1..500).map(|i| Proposition::Or(vec![is(i, false), is(parent(i), true)]));
        let circuit = compile(&Proposition::And(rules.collect()), &[2; 500], budget()).unwrap();
        assert!(circuit.edges() < 25_000, "{}", circuit.edges());
    }
    let mut random = Random::new(1);
    let clauses = (0..80).map(|_| {
        let literal = |random: &mut Random| Proposition::Is {
            var: below(random, 40),
            state: 1,
            positive: random.unit() < 0.5,
        };
        Proposition::Or((0..3).map(|_| literal(&mut random)).collect())
    });
    compile(&Proposition::And(clauses.collect()), &[2; 40], budget()).unwrap();
}

#[test]
fn what_is_too_hard_is_said() {
    let mut random = Random::new(2);
    let clauses = (0..400).map(|_| {
        let literal = |random: &mut Random| Proposition::Is {
            var: below(random, 200),
            state: 1,
            positive: random.unit() < 0.5,
        };
        Proposition::Or((0..3).map(|_| literal(&mut random)).collect())
    });
    let budget = Budget::new(Duration::from_secs(100), 1 << 20, None);
    let hard = compile(&Proposition::And(clauses.collect()), &[2; 200], budget).unwrap_err();
    assert!(hard.variables == 200);
}

fn is(var: u32, positive: bool) -> Proposition {
    Proposition::Is {
        var,
        state: 1,
        positive,
    }
}

/// Some of many things, each with laws of its own: the circuit grows with the things, not with their square.
#[test]
fn a_long_disjunction_is_halved() {
    let edges = |things: u32| {
        let laws =
            (0..things).map(|i| Proposition::Or(vec![is(2 * i, false), is(2 * i + 1, true)]));
        let some = Proposition::Or((0..things).map(|i| is(2 * i, true)).collect());
        let all = Proposition::And(laws.chain([some]).collect());
        let circuit = compile(&all, &vec![2; 2 * things as usize], budget()).unwrap();
        if things < 20 {
            let count = 3_u64.pow(things) - 2_u64.pow(things);
            assert_eq!(circuit.count(), count.to_string());
        }
        circuit.edges()
    };
    assert!(edges(16) > 16);
    assert!(edges(2048) < 20 * 2048, "{}", edges(2048));
}

/// Random disjunctions across groups of variables.
#[test]
fn halves_agree_with_all_worlds() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let domains = [2, 3, 2, 2, 2, 3, 2, 2, 2];
        let own = |random: &mut Random, depth: u32| {
            let group = 3 * below(random, 3);
            let local = formula(random, &domains[..3], depth);
            let (shape, names) = Shape::of([&local].into_iter(), |v| domains[v as usize]);
            renamed(&shape.proposition(), &|v| group + names[v as usize])
        };
        let some = (0..9).map(|_| own(&mut random, 1)).collect();
        let laws = (0..4).map(|_| own(&mut random, 2));
        let all = Proposition::And(laws.chain([Proposition::Or(some)]).collect());
        let domains = [domains[0], domains[1], domains[2]].repeat(3);
        let circuit = compile(&all, &domains, budget()).unwrap();
        let count = worlds(&domains).iter().filter(|w| holds(&all, w)).count();
        assert_eq!(circuit.count(), count.to_string(), "seed {seed}");
    }
}

fn renamed(proposition: &Proposition, name: &impl Fn(u32) -> u32) -> Proposition {
    let all = |members: &[Proposition]| members.iter().map(|m| renamed(m, name)).collect();
    match proposition {
        Proposition::And(members) => Proposition::And(all(members)),
        Proposition::Or(members) => Proposition::Or(all(members)),
        &Proposition::Is {
            var,
            state,
            positive,
        } => Proposition::Is {
            var: name(var),
            state,
            positive,
        },
        other => other.clone(),
    }
}

/// At most two of 70 has fifty thousand clauses, and what is left of them after each decision is written down.
#[test]
fn formulas_count_as_memory() {
    let pairs = (0..70).flat_map(|i| (0..i).map(move |j| (i, j)));
    let triples = pairs.flat_map(|(i, j)| (0..j).map(move |k| [i, j, k]));
    let all = triples.map(|of| Proposition::Or(of.map(|v| is(v, false)).into()));
    let all = Proposition::And(all.collect());
    let budget = Budget::new(Duration::from_secs(1000), 1 << 23, None);
    let ended = compile(&all, &[2; 70], budget);
    assert!(ended.is_err_and(|reached| !reached.stopped));
}

/// Of all the ways to compile a formula each finds the same worlds.
#[test]
fn every_way_agrees_with_all_worlds() {
    let mut used = [0; 4];
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let count = 3 + below(&mut random, 6);
        let domains: Vec<u32> = (0..count).map(|_| 2 + below(&mut random, 2)).collect();
        let literal = |random: &mut Random| {
            let var = below(random, count);
            Proposition::Is {
                var,
                state: below(random, domains[var as usize]),
                positive: random.unit() < 0.4,
            }
        };
        let mut members: Vec<Proposition> = (0..below(&mut random, 12))
            .map(|_| match random.unit() < 0.8 {
                true => Proposition::Or((0..3).map(|_| literal(&mut random)).collect()),
                false => formula(&mut random, &domains, 2),
            })
            .collect();
        // At most one of some, or two at least.
        let of: Vec<u32> = (0..count).filter(|_| random.unit() < 0.8).collect();
        let all = random.unit() < 0.6;
        let state = |var: u32| Proposition::Is {
            var,
            state: domains[var as usize] - 1,
            positive: !all,
        };
        let pairs = of.iter().flat_map(|i| of.iter().map(move |j| (*i, *j)));
        let pairs = pairs
            .filter(|(i, j)| i != j)
            .map(|(i, j)| [state(i), state(j)].into());
        match all {
            true => members.extend(pairs.map(Proposition::Or)),
            false => members.push(Proposition::Or(pairs.map(Proposition::And).collect())),
        }
        let all = match random.unit() < 0.8 {
            true => Proposition::And(members),
            false => Proposition::Or(members),
        };
        let worlds = worlds(&domains).iter().filter(|w| holds(&all, w)).count();
        for (way, used) in used.iter_mut().enumerate() {
            let circuit = compile_by(&all, &domains, budget(), |number| number == way);
            if let Ok(circuit) = circuit {
                *used += 1;
                assert_eq!(
                    circuit.count(),
                    worlds.to_string(),
                    "seed {seed}, way {way}"
                );
            }
        }
    }
    assert!(used.iter().skip(1).all(|used| *used > 300), "{used:?}");
}

/// What was too hard: chains, at most one of many, strips of a grid.
#[test]
fn narrow_formulas_grow_with_their_length() {
    let edges = |members: Vec<Proposition>, domains: &[u32]| {
        let circuit = compile(&Proposition::And(members), domains, budget()).unwrap();
        circuit.edges()
    };
    let differ = |a: u32, b: u32, state: u32| {
        let not = |var| Proposition::Is {
            var,
            state,
            positive: false,
        };
        Proposition::Or(vec![not(a), not(b)])
    };
    let chain = |n: u32| (1..n).flat_map(|i| (0..3).map(move |s| differ(i - 1, i, s)));
    let strip = |n: u32| (4..n).flat_map(|i| (0..3).map(move |s| differ(i - 4, i, s)));
    assert!(edges(chain(2000).collect(), &[3; 2000]) < 15 * 2000);
    let both = chain(400).chain(strip(400)).collect();
    assert!(edges(both, &[3; 400]) < 200 * 400);
    let pairs = |n: u32| (0..n).flat_map(move |i| (0..i).map(move |j| differ(i, j, 1)));
    let some = Proposition::Or((0..400).map(|i| is(i, true)).collect());
    let one = pairs(400).chain([some]).collect();
    assert!(edges(one, &[2; 400]) < 30 * 400);
}

#[test]
fn a_compilation_can_be_stopped() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let budget = Budget::new(Duration::from_secs(1000), 1 << 30, Some(&stop));
    let rule = |a, b| Proposition::Or(vec![is(a, false), is(b, true)]);
    let rules = (2..100).flat_map(|i| [rule(i, i - 1), rule(i, i - 2)]);
    let rules: Vec<Proposition> = rules.collect();
    let some = Proposition::Or((0..100).map(|i| is(i, true)).collect());
    for formula in [rules.clone(), [rules, vec![some]].concat()] {
        let formula = Proposition::And(formula);
        let ended = compile(&formula, &[2; 100], budget);
        assert!(ended.is_err_and(|reached| reached.stopped));
    }
}

/// Implications between atoms, some of them known or certain: the cut finds what circuits and all worlds find.
#[test]
fn cuts_find_the_most_probable_world() {
    let (mut impossible, mut tied) = (0, 0);
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let count = below(&mut random, 9);
        let mut members = Vec::new();
        let is = |var: u32, positive: bool| Proposition::Is {
            var,
            state: 1,
            positive,
        };
        for _ in 0..below(&mut random, 2 * count + 1) {
            let (a, b) = (below(&mut random, count), below(&mut random, count));
            if a != b {
                members.push(Proposition::Or(match random.unit() < 0.5 {
                    true => vec![is(a, false), is(b, true)],
                    false => vec![is(b, true), is(a, false)],
                }));
            }
            if random.unit() < 0.05 {
                members.push(is(a, random.unit() < 0.5));
            }
        }
        // Whole numbers tie often; their sums are exact.
        let whole = random.unit() < 0.5;
        let (shape, names) = Shape::of(members.iter(), |_| 2);
        let logs: Vec<[f64; 2]> = (0..names.len())
            .map(|_| match random.unit() < 0.1 {
                true => [[f64::NEG_INFINITY, 0.0], [0.0, f64::NEG_INFINITY]]
                    [below(&mut random, 2) as usize],
                false if whole => [
                    -f64::from(below(&mut random, 4)),
                    -f64::from(below(&mut random, 4)),
                ],
                false => [random.unit().ln(), random.unit().ln()],
            })
            .collect();
        let found = Implications::of(&shape.proposition(), &shape.domains)
            .unwrap()
            .most_probable(&logs);
        let circuit = compile(&shape.proposition(), &shape.domains, budget()).unwrap();
        let kept = worlds(&shape.domains).into_iter();
        let kept = kept.filter(|w| holds(&shape.proposition(), w)).count();
        assert_eq!(circuit.count(), kept.to_string(), "seed {seed}");
        let flat: Vec<f64> = logs.iter().flatten().copied().collect();
        let by_circuit = Lanes::default().most_probable(&circuit, &flat);
        let log = |world: &[u32]| -> f64 {
            let states = world.iter().zip(&logs);
            states.map(|(s, logs)| logs[*s as usize]).sum()
        };
        let all = worlds(&shape.domains).into_iter();
        let good = all.filter(|w| holds(&shape.proposition(), w) && log(w) > f64::NEG_INFINITY);
        let good: Vec<Vec<u32>> = good.collect();
        let best = good
            .iter()
            .map(|w| log(w))
            .fold(f64::NEG_INFINITY, f64::max);
        let Some(found) = found else {
            assert!(good.is_empty() && by_circuit.is_none(), "seed {seed}");
            impossible += 1;
            continue;
        };
        let found: Vec<u32> = found.into_iter().map(u32::from).collect();
        assert!(good.contains(&found), "seed {seed}");
        assert!((log(&found) - best).abs() < 1e-9, "seed {seed}");
        let by_circuit = by_circuit.unwrap();
        assert!((log(&by_circuit) - best).abs() < 1e-9, "seed {seed}");
        if whole {
            // Of equals, nothing is true that need not be.
            let equal: Vec<&Vec<u32>> = good.iter().filter(|w| log(w) == best).collect();
            tied += usize::from(equal.len() > 1);
            let least = (0..found.len()).map(|v| equal.iter().map(|w| w[v]).min().unwrap());
            assert_eq!(found, least.collect::<Vec<u32>>(), "seed {seed}");
            assert_eq!(found, by_circuit, "seed {seed}");
        }
    }
    assert!(impossible > 20 && tied > 100, "{impossible}, {tied}");
}

/// Ten thousand labels and twice as many implications, which no circuit is tried for.
#[test]
fn a_cut_may_be_large() {
    let mut random = Random::new(1);
    let count = 10_000_u32;
    let mut members = Vec::new();
    for child in 1..count {
        for _ in 0..2 {
            members.push(Proposition::Or(vec![
                Proposition::Is {
                    var: child,
                    state: 1,
                    positive: false,
                },
                Proposition::Is {
                    var: below(&mut random, child),
                    state: 1,
                    positive: true,
                },
            ]));
        }
    }
    let (shape, names) = Shape::of(members.iter(), |_| 2);
    let logs: Vec<[f64; 2]> = names
        .iter()
        .map(|_| [random.unit().ln(), random.unit().ln()])
        .collect();
    let found = Implications::of(&shape.proposition(), &shape.domains)
        .unwrap()
        .most_probable(&logs)
        .unwrap();
    let world: Vec<u32> = found.iter().map(|is| u32::from(*is)).collect();
    assert!(holds(&shape.proposition(), &world));
    assert!(found.iter().any(|is| *is) && found.iter().any(|is| !is));
}

/// Written out, the ways to add up to a number are many; the digits that are added decide what is left to each other.
#[test]
fn circuits_of_sums_grow_with_the_digits() {
    for sum in [999, 1234, 110] {
        let digit = |var: u32, number: u32, place: u32| Proposition::Is {
            var,
            state: number / 10_u32.pow(2 - place) % 10,
            positive: true,
        };
        let pairs = (0..1000_u32).filter_map(|x| Some((x, u32::checked_sub(sum, x)?)));
        let ways = pairs.filter(|(_, y)| *y < 1000).map(|(x, y)| {
            let digits = (0..3).map(|i| digit(i, x, i));
            Proposition::And(digits.chain((0..3).map(|i| digit(3 + i, y, i))).collect())
        });
        let ways = Proposition::Or(ways.collect());
        let circuit = compile(&ways, &[10; 6], budget()).unwrap();
        let count = (0..1000).filter(|x| (0..1000).contains(&(sum as i32 - x)));
        assert_eq!(circuit.count(), count.count().to_string());
        assert!(circuit.edges() < 400, "{sum}: {}", circuit.edges());
    }
}
