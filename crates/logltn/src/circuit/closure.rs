//! The most probable world of implications between single atoms, however many: a minimum cut instead of a circuit.
//!
//! What is true carries along what it implies, so the atoms that are true are a set that is closed under implication, and the
//! most probable world is such a set of greatest gain (Picard 1976). It is what stays on the side of the source when the
//! graph of implications is cut: an atom that had better be true hangs on the source by its gain, one that had better be false
//! on the sink, and implications cannot be cut.

use std::collections::VecDeque;

use super::{Proposition, Shape};

/// Laws that say only `if a then b` of single atoms, or that an atom is true or false.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Implications {
    /// If the first is true, so is the second.
    arrows: Vec<(u32, u32)>,
    /// What is true, and what is not.
    known: Vec<(u32, bool)>,
}

impl Implications {
    /// Reads a conjunction over variables of two states, of which the second is that of being true; none if it says more.
    pub fn of(shape: &Shape) -> Option<Implications> {
        let formulas = match shape.proposition() {
            Proposition::And(members) => members,
            other => vec![other],
        };
        let literal = |formula: &Proposition| match *formula {
            Proposition::Is {
                var,
                state,
                positive,
            } if shape.domains[var as usize] == 2 => Some((var, (state == 1) == positive)),
            _ => None,
        };
        let mut found = Implications::default();
        for formula in &formulas {
            match formula {
                Proposition::True => {}
                Proposition::Or(members) => {
                    let [a, b] = members.as_slice() else {
                        return None;
                    };
                    match (literal(a)?, literal(b)?) {
                        ((a, false), (b, true)) | ((b, true), (a, false)) => {
                            found.arrows.push((a, b));
                        }
                        _ => return None,
                    }
                }
                other => found.known.push(literal(other)?),
            }
        }
        Some(found)
    }

    /// The most probable world: by variable, whether it is true. `logs` has the logs of the probabilities of being false
    /// and true. Of equally probable worlds the one in which fewest are true; none if no world is possible.
    pub fn most_probable(&self, logs: &[[f64; 2]]) -> Option<Vec<bool>> {
        let count = logs.len();
        let mut after = vec![Vec::new(); count];
        let mut before = vec![Vec::new(); count];
        for &(a, b) in &self.arrows {
            after[a as usize].push(b as usize);
            before[b as usize].push(a as usize);
        }
        // What is certain, and what that implies.
        let mut settled: Vec<Option<bool>> = vec![None; count];
        let certain = logs.iter().enumerate().flat_map(|(var, [no, yes])| {
            let never = |log: &f64| *log == f64::NEG_INFINITY;
            let mut known = Vec::new();
            known.extend(never(no).then_some((var, true)));
            known.extend(never(yes).then_some((var, false)));
            known
        });
        let mut open: Vec<(usize, bool)> = certain.collect();
        open.extend(self.known.iter().map(|(var, is)| (*var as usize, *is)));
        while let Some((var, is)) = open.pop() {
            match settled[var] {
                Some(known) if known == is => continue,
                Some(_) => return None,
                None => settled[var] = Some(is),
            }
            let next = if is { &after[var] } else { &before[var] };
            open.extend(next.iter().map(|v| (*v, is)));
        }
        let gain = |var: usize| logs[var][1] - logs[var][0];
        let mut graph = Graph::new(count + 2);
        let [source, sink] = [count, count + 1];
        for (var, _) in settled.iter().enumerate().filter(|(_, s)| s.is_none()) {
            match gain(var) {
                gain if gain > 0.0 => graph.edge(source, var, gain),
                gain => graph.edge(var, sink, -gain),
            }
            let free = after[var].iter().filter(|v| settled[**v].is_none());
            free.for_each(|next| graph.edge(var, *next, f64::INFINITY));
        }
        let side = graph.cut(source, sink);
        Some(
            settled
                .into_iter()
                .zip(side)
                .map(|(known, on_side)| known.unwrap_or(on_side))
                .collect(),
        )
    }
}

/// A graph with capacities. Every edge is followed by the one back.
struct Graph {
    /// By node: its edges.
    edges: Vec<Vec<usize>>,
    to: Vec<usize>,
    left: Vec<f64>,
}

impl Graph {
    fn new(nodes: usize) -> Graph {
        Graph {
            edges: vec![Vec::new(); nodes],
            to: Vec::new(),
            left: Vec::new(),
        }
    }

    fn edge(&mut self, from: usize, to: usize, capacity: f64) {
        for (from, to, capacity) in [(from, to, capacity), (to, from, 0.0)] {
            self.edges[from].push(self.to.len());
            self.to.push(to);
            self.left.push(capacity);
        }
    }

    /// Which nodes are on the side of the source, as few as can be, when the edges that are cut have the least capacity in
    /// all (Dinic's algorithm). A way uses up its narrowest edge to exactly 0, so it ends, whatever is rounded.
    fn cut(&mut self, source: usize, sink: usize) -> Vec<bool> {
        loop {
            let distance = self.distances(source);
            if distance[sink] == usize::MAX {
                return distance.into_iter().map(|d| d != usize::MAX).collect();
            }
            let mut next = vec![0; self.edges.len()];
            while self.push(source, sink, &distance, &mut next) {}
        }
    }

    fn distances(&self, source: usize) -> Vec<usize> {
        let mut distance = vec![usize::MAX; self.edges.len()];
        distance[source] = 0;
        let mut open = VecDeque::from([source]);
        while let Some(at) = open.pop_front() {
            for &edge in &self.edges[at] {
                let to = self.to[edge];
                if self.left[edge] > 0.0 && distance[to] == usize::MAX {
                    distance[to] = distance[at] + 1;
                    open.push_back(to);
                }
            }
        }
        distance
    }

    /// Sends as much as goes along one shortest way. Edges before `next` lead nowhere.
    fn push(&mut self, source: usize, sink: usize, distance: &[usize], next: &mut [usize]) -> bool {
        let mut way: Vec<usize> = Vec::new();
        let mut at = source;
        while at != sink {
            match self.edges[at].get(next[at]) {
                Some(&edge) => {
                    let to = self.to[edge];
                    if self.left[edge] > 0.0 && distance[to] == distance[at] + 1 {
                        way.push(edge);
                        at = to;
                    } else {
                        next[at] += 1;
                    }
                }
                None => match way.pop() {
                    Some(edge) => {
                        at = self.to[edge ^ 1];
                        next[at] += 1;
                    }
                    None => return false,
                },
            }
        }
        let narrowest = |least: f64, edge: &usize| least.min(self.left[*edge]);
        let amount = way.iter().fold(f64::INFINITY, narrowest);
        for edge in way {
            self.left[edge] -= amount;
            self.left[edge ^ 1] += amount;
        }
        true
    }
}
