//! The most probable world of implications between single atoms, however many: a minimum cut instead of a circuit.
//!
//! The true atoms form a set that is closed under implication, and the most probable world is the closed set of
//! greatest gain (Picard 1976). It is the source side of a minimum cut of the implication graph: an atom that gains by
//! being true is connected to the source with its gain as capacity, one that gains by being false to the sink, and
//! implications have infinite capacity.

use std::collections::VecDeque;

use super::Proposition;

/// Laws that only state `if a then b` for single atoms, or that an atom is true or false.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Implications {
    /// If the first is true, so is the second.
    arrows: Vec<(u32, u32)>,
    /// The atoms that are known to be true or false.
    known: Vec<(u32, bool)>,
}

impl Implications {
    /// Reads a conjunction over variables of two states, the second of which means true; `None` if it has other
    /// conjuncts.
    pub fn of(formula: &Proposition, domains: &[u32]) -> Option<Implications> {
        let formulas = match formula {
            Proposition::And(members) => members.as_slice(),
            other => std::slice::from_ref(other),
        };
        let literal = |formula: &Proposition| match *formula {
            Proposition::Is {
                var,
                state,
                positive,
            } if domains[var as usize] == 2 => Some((var, (state == 1) == positive)),
            _ => None,
        };
        let mut found = Implications::default();
        for formula in formulas {
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

    /// The closure over this many variables; `None` if it is contradictory.
    pub fn settled(&self, count: usize) -> Option<Vec<Option<bool>>> {
        let [after, before] = self.lists(count);
        spread(&after, &before, vec![None; count], self.known.clone())
    }

    /// By variable: those that it implies, and those that imply it.
    pub fn lists(&self, count: usize) -> [Vec<Vec<u32>>; 2] {
        let mut lists = [vec![Vec::new(); count], vec![Vec::new(); count]];
        for &(a, b) in &self.arrows {
            lists[0][a as usize].push(b);
            lists[1][b as usize].push(a);
        }
        lists
    }

    /// The most probable world: by variable, whether it is true. `logs` has the logs of the probabilities of being
    /// false and true. Of equally probable worlds the one with the fewest true variables; `None` if no world is
    /// possible.
    pub fn most_probable(&self, logs: &[[f64; 2]]) -> Option<Vec<bool>> {
        let count = logs.len();
        let [after, before] = self.lists(count);
        // The certain variables, and what they imply.
        let certain = logs.iter().zip(0..).flat_map(|([no, yes], var)| {
            let never = |log: &f64| *log == f64::NEG_INFINITY;
            let mut known = Vec::new();
            known.extend(never(no).then_some((var, true)));
            known.extend(never(yes).then_some((var, false)));
            known
        });
        let open: Vec<(u32, bool)> = certain.chain(self.known.iter().copied()).collect();
        let settled = spread(&after, &before, vec![None; count], open)?;
        let gain = |var: usize| logs[var][1] - logs[var][0];
        let mut graph = Graph::new(count + 2);
        let [source, sink] = [count, count + 1];
        for (var, _) in settled.iter().enumerate().filter(|(_, s)| s.is_none()) {
            match gain(var) {
                gain if gain > 0.0 => graph.edge(source, var, gain),
                gain => graph.edge(var, sink, -gain),
            }
            let next = after[var].iter().map(|v| *v as usize);
            let free = next.filter(|v| settled[*v].is_none());
            free.for_each(|next| graph.edge(var, next, f64::INFINITY));
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

/// Settles what is known and everything that follows from it; `None` if it contradicts itself.
fn spread(
    after: &[Vec<u32>],
    before: &[Vec<u32>],
    mut settled: Vec<Option<bool>>,
    mut open: Vec<(u32, bool)>,
) -> Option<Vec<Option<bool>>> {
    while let Some((var, is)) = open.pop() {
        match &mut settled[var as usize] {
            Some(known) if *known == is => continue,
            Some(_) => return None,
            unknown => *unknown = Some(is),
        }
        let next = if is { after } else { before };
        open.extend(next[var as usize].iter().map(|v| (*v, is)));
    }
    Some(settled)
}

/// A graph with capacities. Every edge is followed by its reverse.
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

    /// The nodes on the source side of a minimum cut, as few as possible (Dinic's algorithm). An augmenting path
    /// reduces its narrowest edge to exactly 0, so the algorithm ends despite rounding.
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

    /// Sends as much flow as possible along one shortest path. Edges before `next` are exhausted.
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
