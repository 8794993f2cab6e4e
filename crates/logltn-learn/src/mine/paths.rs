//! Walks all paths and counts where they lead.
//!
//! For each pair of first steps, on all threads: from every individual the ends of the path, each once, are compared with
//! the facts from that individual. Nothing is stored per pair.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::graph::Graph;
use super::{Mine, Rule};
use crate::slow_work::Foretold;

/// An individual that several ways lead to.
const SEVERAL: u32 = u32::MAX;

/// What a thread needs, cleared by counting up.
struct Scratch {
    round: u64,
    /// By individual: the round in which it was last an end.
    seen: Vec<u64>,
    /// By individual: a round, and which facts lead there from where its paths begin.
    facts: Vec<(u64, u32)>,
    /// By individual: a round, and the only one before it on its paths, or [`SEVERAL`].
    before: Vec<(u64, u32)>,
    middles: Vec<u32>,
}

/// The pairs of a body, and those of them that are facts of each head.
#[derive(Clone)]
struct Count {
    pairs: u64,
    facts: Vec<u64>,
}

impl Scratch {
    fn new(graph: &Graph) -> Scratch {
        Scratch {
            round: 0,
            seen: vec![0; graph.nodes],
            facts: vec![(0, 0); graph.nodes],
            before: vec![(0, 0); graph.nodes],
            middles: Vec::new(),
        }
    }

    fn next_round(&mut self) -> u64 {
        self.round += 1;
        self.round
    }

    /// Marks where the facts of an individual lead; the round tells them from others.
    fn mark(&mut self, graph: &Graph, x: usize) -> u64 {
        let round = self.next_round();
        let mut last = None;
        for (i, &(to, _)) in graph.facts.from(x).iter().enumerate() {
            if last.replace(to) != Some(to) {
                self.facts[to as usize] = (round, i as u32);
            }
        }
        round
    }

    /// An end, if it is new in this round.
    fn arrive(&mut self, graph: &Graph, count: &mut Count, (x, y): (usize, u32), marked: u64) {
        let seen = &mut self.seen[y as usize];
        if *seen == self.round {
            return;
        }
        *seen = self.round;
        count.pairs += 1;
        let (round, first) = self.facts[y as usize];
        if round == marked {
            let facts = graph.facts.from(x)[first as usize..].iter();
            for (_, head) in facts.take_while(|(to, _)| *to == y) {
                count.facts[*head as usize] += 1;
            }
        }
    }
}

/// All rules that are good enough.
pub(super) fn find(graph: &Graph, how: &Mine) -> Vec<Rule> {
    let steps = graph.steps.len();
    let none = Count {
        pairs: 0,
        facts: vec![0; graph.heads.len()],
    };
    let mut rules: Vec<Rule> = (0..steps)
        .into_par_iter()
        .map_init(
            || Scratch::new(graph),
            |scratch, first| {
                let mut count = none.clone();
                one(graph, first, &mut count, scratch);
                rules_of(graph, how, &[first], &count)
            },
        )
        .flatten()
        .collect();
    if how.length >= 2 {
        let (foretold, done) = (Foretold::default(), AtomicU64::new(0));
        // Long and short walks take turns: a thread that is done finds another.
        let longer: Vec<Rule> = (0..steps * steps)
            .into_par_iter()
            .with_max_len(1)
            .map_init(
                || Scratch::new(graph),
                |scratch, at| {
                    let (first, second) = (at / steps, at % steps);
                    let before = done.fetch_add(1, Ordering::Relaxed);
                    foretold.done(before, (steps * steps) as u64, || {
                        format!("there are {steps} × {steps} first steps of paths")
                    });
                    if !graph.meet(first, second) {
                        return Vec::new();
                    }
                    let mut count = none.clone();
                    two(graph, [first, second], &mut count, scratch);
                    let mut rules = rules_of(graph, how, &[first, second], &count);
                    if how.length >= 3 && count.pairs > 0 {
                        let thirds: Vec<usize> =
                            (0..steps).filter(|t| graph.meet(second, *t)).collect();
                        let mut counts = vec![none.clone(); thirds.len()];
                        three(graph, [first, second], &thirds, &mut counts, scratch);
                        for (third, count) in thirds.iter().zip(&counts) {
                            rules.extend(rules_of(graph, how, &[first, second, *third], count));
                        }
                    }
                    rules
                },
            )
            .flatten()
            .collect();
        rules.extend(longer);
    }
    rules
}

impl Graph {
    /// Whether a path can go on: it ends at the sort that the next step begins with.
    fn meet(&self, first: usize, second: usize) -> bool {
        let sort = |step: usize, end: usize| self.relations[step / 2].sorts[(step + end) % 2];
        sort(first, 1) == sort(second, 0)
    }
}

fn one(graph: &Graph, first: usize, count: &mut Count, scratch: &mut Scratch) {
    for x in 0..graph.nodes {
        let ends = graph.steps[first].from(x);
        if ends.is_empty() {
            continue;
        }
        let marked = scratch.mark(graph, x);
        for &y in ends.iter().filter(|y| **y as usize != x) {
            scratch.arrive(graph, count, (x, y), marked);
        }
    }
}

fn two(graph: &Graph, [first, second]: [usize; 2], count: &mut Count, scratch: &mut Scratch) {
    for x in 0..graph.nodes {
        let middles = graph.steps[first].from(x);
        if middles.is_empty() {
            continue;
        }
        let marked = scratch.mark(graph, x);
        for &z in middles.iter().filter(|z| **z as usize != x) {
            for &y in graph.steps[second].from(z as usize) {
                if y as usize != x && y != z {
                    scratch.arrive(graph, count, (x, y), marked);
                }
            }
        }
    }
}

fn three(
    graph: &Graph,
    [first, second]: [usize; 2],
    thirds: &[usize],
    counts: &mut [Count],
    scratch: &mut Scratch,
) {
    for x in 0..graph.nodes {
        let firsts = graph.steps[first].from(x);
        if firsts.is_empty() {
            continue;
        }
        let marked = scratch.mark(graph, x);
        let mut middles = std::mem::take(&mut scratch.middles);
        middles.clear();
        for &z in firsts.iter().filter(|z| **z as usize != x) {
            for &w in graph.steps[second].from(z as usize) {
                if w as usize == x || w == z {
                    continue;
                }
                let before = &mut scratch.before[w as usize];
                if before.0 != marked {
                    *before = (marked, z);
                    middles.push(w);
                } else if before.1 != z {
                    before.1 = SEVERAL;
                }
            }
        }
        for (third, count) in thirds.iter().zip(&mut *counts) {
            if middles.is_empty() {
                break;
            }
            scratch.next_round();
            for &w in &middles {
                let z = scratch.before[w as usize].1;
                for &y in graph.steps[*third].from(w as usize) {
                    if y as usize != x && y != w && y != z {
                        scratch.arrive(graph, count, (x, y), marked);
                    }
                }
            }
        }
        scratch.middles = middles;
    }
}

fn rules_of(graph: &Graph, how: &Mine, body: &[usize], count: &Count) -> Vec<Rule> {
    let enough = |support: u64| {
        support >= how.support.max(1) && support as f64 >= how.confidence * count.pairs as f64
    };
    let (relation, backwards) = (&graph.relations[body[0] / 2], body[0] % 2 == 1);
    let heads = count.facts.iter().enumerate().filter(|(head, support)| {
        let itself = body.len() == 1 && !backwards && relation.head == Some(*head);
        enough(**support) && !itself
    });
    heads
        .map(|(head, &support)| Rule {
            body: body.to_vec(),
            head,
            support,
            pairs: count.pairs,
            facts: graph.heads[head].facts,
        })
        .collect()
}
