//! From a formula to a circuit, from the top: parts without common variables are compiled separately, a variable is
//! decided if there are no such parts, and equal parts are compiled once.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::order::Order;
use super::proposition::Proposition;
use super::store::{FALSE, Formula, Id, Store, TRUE};
use super::{Circuit, Implications, Node, Part, Root, sums};
use crate::connected::connected;
use crate::recursion::deep;

/// How long a compilation may take, and how many edges its circuit may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub time: Duration,
    pub edges: usize,
}

impl Budget {
    /// About the memory of an edge during compilation.
    pub const BYTES_PER_EDGE: usize = 200;

    pub fn new(time: Duration, bytes: u64) -> Budget {
        let edges = usize::try_from(bytes).unwrap_or(usize::MAX) / Self::BYTES_PER_EDGE;
        Budget {
            time,
            edges: edges.min(u32::MAX as usize / 2),
        }
    }
}

/// A formula for which no circuit was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TooHard {
    pub variables: usize,
    /// The size that was reached.
    pub nodes: usize,
    pub edges: usize,
    pub seconds: f64,
}

struct Compiler<'a> {
    store: &'a mut Store,
    order: Order,
    /// By formula.
    compiled: FxHashMap<Id, Root>,
    nodes: Nodes,
}

/// A circuit that grows, each node once.
pub(super) struct Nodes {
    circuit: Circuit,
    unique: FxHashMap<(u8, Vec<u32>), u32>,
    budget: Budget,
    started: Instant,
    calls: usize,
}

/// Compiles a formula over variables with these many states.
pub(crate) fn compile(
    proposition: &Proposition,
    domains: &[u32],
    budget: Budget,
) -> Result<Circuit, TooHard> {
    if let Some(implications) = Implications::of(proposition, domains) {
        let Some(graph) = sums::Graph::of(&implications, domains.len()) else {
            return Ok(Nodes::new(domains, budget).finish(Root::False));
        };
        let count = graph.orders();
        let orders = (0..count).map_while(|seed| graph.order(seed));
        let compile = |order, own| graph.compile(domains, order, own);
        if let Some(circuit) = smallest(orders, count as usize, budget, compile) {
            return circuit;
        }
    }
    let mut store = Store::new(domains.to_vec());
    let root = store.insert(proposition);
    let orders = Order::to_try(&store, root);
    let count = orders.len();
    let compile = |order, own| compile_with(&mut store, root, order, own);
    smallest(orders.into_iter(), count, budget, compile).unwrap_or(Err(TooHard {
        variables: domains.len(),
        nodes: 0,
        edges: 0,
        seconds: 0.0,
    }))
}

/// The smallest circuit of some orders, as many as `count`: later ones are tried if the first ones give large circuits.
/// `None` if there is no order.
fn smallest<O>(
    orders: impl Iterator<Item = O>,
    count: usize,
    budget: Budget,
    mut compile: impl FnMut(O, Budget) -> Result<Circuit, TooHard>,
) -> Option<Result<Circuit, TooHard>> {
    const LARGE: usize = 2_000;
    let started = Instant::now();
    let mut best: Option<Result<Circuit, TooHard>> = None;
    for (i, order) in orders.enumerate() {
        let left = budget.time.saturating_sub(started.elapsed());
        let mut own = budget;
        own.time = match i + 1 < count {
            true => left / 2,
            false => left,
        };
        if let Some(Ok(best)) = &best {
            own.edges = best.edges();
        }
        match compile(order, own) {
            Ok(circuit) if circuit.edges() <= LARGE => return Some(Ok(circuit)),
            Ok(circuit) => best = Some(Ok(circuit)),
            Err(reached) => {
                best.get_or_insert(Err(reached));
            }
        }
    }
    if let Some(Err(reached)) = &mut best {
        reached.seconds = started.elapsed().as_secs_f64();
    }
    best
}

/// Whether some world makes the formula true.
pub(crate) fn is_satisfiable(
    proposition: &Proposition,
    domains: &[u32],
    budget: Budget,
) -> Result<bool, TooHard> {
    let circuit = compile(proposition, domains, budget)?;
    Ok(circuit.root != Root::False)
}

fn compile_with(
    store: &mut Store,
    root: Id,
    order: Order,
    budget: Budget,
) -> Result<Circuit, TooHard> {
    let mut compiler = Compiler {
        nodes: Nodes::new(&store.domains, budget),
        store,
        order,
        compiled: FxHashMap::default(),
    };
    let root = compiler.compile(root)?;
    Ok(compiler.nodes.finish(root))
}

impl Compiler<'_> {
    fn compile(&mut self, id: Id) -> Result<Root, TooHard> {
        match id {
            TRUE => return Ok(Root::True),
            FALSE => return Ok(Root::False),
            _ => {}
        }
        if let Some(known) = self.compiled.get(&id) {
            return Ok(*known);
        }
        self.nodes.go_on(self.store.len())?;
        let compiled = match self.store.formula(id).clone() {
            Formula::True => Root::True,
            Formula::False => Root::False,
            Formula::In { var, set } => Root::Node(self.nodes.leaf(var, self.store.states(set))),
            Formula::And(members) => {
                let parts = self.components(&members);
                match parts.len() {
                    1 => deep(|| self.decide(id))?,
                    _ => {
                        let (mut compiled, mut literals) = (Vec::new(), Vec::new());
                        for part in parts {
                            let part = self.rejoined(true, part);
                            let root = deep(|| self.compile(part))?;
                            match (self.store.formula(part), root) {
                                (Formula::In { var, .. }, root) => {
                                    literals.push((*var, root));
                                }
                                _ => compiled.push(root),
                            }
                        }
                        compiled.extend(self.nodes.grouped(literals));
                        self.nodes.product(compiled)
                    }
                }
            }
            Formula::Or(members) => {
                let mut parts = self.components(&members);
                match parts.len() {
                    1 => deep(|| self.decide(id))?,
                    count => {
                        // The first half, or the second half without the first: the two exclude each other.
                        let second = parts.split_off(count / 2).concat();
                        let first = self.rejoined(false, parts.concat());
                        let second = self.rejoined(false, second);
                        let neither = self.store.negation(first);
                        let first = deep(|| self.compile(first))?;
                        let neither = deep(|| self.compile(neither))?;
                        let second = deep(|| self.compile(second))?;
                        let rest = self.nodes.product(vec![neither, second]);
                        self.nodes.sum(vec![first, rest])
                    }
                }
            }
        };
        self.compiled.insert(id, compiled);
        Ok(compiled)
    }

    /// Some members of a connective, which need no further simplification.
    fn rejoined(&mut self, and: bool, members: Vec<Id>) -> Id {
        self.store.connective(and, members)
    }

    /// Groups members that have common variables, in the order of the first member of each group.
    fn components(&self, members: &[Id]) -> Vec<Vec<Id>> {
        let groups = connected(members.len(), |i, visit| {
            (self.store.variables(members[i]).iter()).for_each(|v| visit(*v));
        });
        let group = |group: Vec<u32>| group.iter().map(|i| members[*i as usize]).collect();
        groups.into_iter().map(group).collect()
    }

    /// A sum over the states of a variable; states that leave the same formula are grouped.
    fn decide(&mut self, id: Id) -> Result<Root, TooHard> {
        let var = self.order.choose(self.store, id);
        let mut branches: Vec<(Id, Vec<u32>)> = Vec::new();
        for states in self.store.classes(id, var) {
            let left = self.store.given(id, var, &states);
            match branches.iter_mut().find(|(other, _)| *other == left) {
                Some((_, others)) => others.extend(states),
                None => branches.push((left, states)),
            }
        }
        let mut summands = Vec::with_capacity(branches.len());
        for (left, mut states) in branches {
            let rest = self.compile(left)?;
            if rest == Root::False {
                continue;
            }
            states.sort_unstable();
            let all = states.len() == self.store.domains[var as usize] as usize;
            let leaf = match all {
                true => Root::True,
                false => Root::Node(self.nodes.leaf(var, &states)),
            };
            summands.push(self.nodes.product(vec![leaf, rest]));
        }
        Ok(self.nodes.sum(summands))
    }
}

impl Nodes {
    pub fn new(domains: &[u32], budget: Budget) -> Nodes {
        let mut slots = vec![0];
        for domain in domains {
            slots.push(slots[slots.len() - 1] + domain);
        }
        Nodes {
            circuit: Circuit {
                domains: domains.to_vec(),
                slots,
                ..Circuit::default()
            },
            unique: FxHashMap::default(),
            budget,
            started: Instant::now(),
            calls: 0,
        }
    }

    /// Checks that time and memory are left, with this much else in memory.
    pub fn go_on(&mut self, others: usize) -> Result<(), TooHard> {
        // At the first call, too: without any time there is no circuit.
        let look = self.calls.is_multiple_of(64);
        self.calls += 1;
        if self.circuit.edges().max(others) > self.budget.edges
            || look && self.started.elapsed() > self.budget.time
        {
            return Err(TooHard {
                variables: self.circuit.domains.len(),
                nodes: self.circuit.nodes.len(),
                edges: self.circuit.edges(),
                seconds: self.started.elapsed().as_secs_f64(),
            });
        }
        Ok(())
    }

    pub fn finish(self, root: Root) -> Circuit {
        pruned(Circuit {
            root,
            ..self.circuit
        })
    }

    /// The factors of a product of many variables in groups, so that products with the same ones share them: an absent
    /// label settles all labels below it.
    pub fn grouped(&mut self, mut parts: Vec<(u32, Root)>) -> Vec<Root> {
        const GROUP: u32 = 16;
        parts.sort_unstable_by_key(|part| part.0);
        while parts.len() > GROUP as usize {
            let groups = parts.chunk_by(|a, b| a.0 / GROUP == b.0 / GROUP);
            let product = |group: &[(u32, Root)]| {
                let factors = group.iter().map(|(_, root)| *root).collect();
                (group[0].0 / GROUP, self.product(factors))
            };
            parts = groups.map(product).collect();
        }
        parts.into_iter().map(|(_, root)| root).collect()
    }

    pub fn leaf(&mut self, var: u32, states: &[u32]) -> u32 {
        let mut key = vec![var];
        key.extend_from_slice(states);
        self.node(0, key)
    }

    pub fn product(&mut self, parts: Vec<Root>) -> Root {
        let mut children = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Root::False => return Root::False,
                Root::True => {}
                // Inner products stay, since others may share them.
                Root::Node(node) => children.push(node),
            }
        }
        match children.as_slice() {
            [] => Root::True,
            [only] => Root::Node(*only),
            _ => Root::Node(self.node(1, children)),
        }
    }

    /// A true member is the only one, since all others exclude it and are false.
    pub fn sum(&mut self, parts: Vec<Root>) -> Root {
        let mut children = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Root::False => {}
                Root::True => return Root::True,
                Root::Node(node) => children.push(node),
            }
        }
        match children.as_slice() {
            [] => Root::False,
            [only] => Root::Node(*only),
            _ => Root::Node(self.node(2, children)),
        }
    }

    fn node(&mut self, kind: u8, key: Vec<u32>) -> u32 {
        if let Some(known) = self.unique.get(&(kind, key.clone())) {
            return *known;
        }
        let number = self.circuit.push(kind, &key);
        self.unique.insert((kind, key), number);
        number
    }
}

impl Circuit {
    /// Adds a node: the variable and the states of a leaf, or the children of a product or a sum.
    fn push(&mut self, kind: u8, key: &[u32]) -> u32 {
        let (list, own) = match kind {
            0 => (&mut self.states, &key[1..]),
            _ => (&mut self.children, key),
        };
        let from = list.len() as u32;
        list.extend_from_slice(own);
        let to = list.len() as u32;
        self.nodes.push(match kind {
            0 => Node::Leaf {
                var: key[0],
                from,
                to,
            },
            1 => Node::Product { from, to },
            _ => Node::Sum { from, to },
        });
        self.nodes.len() as u32 - 1
    }
}

/// The same circuit without nodes that the root does not reach, such as branches that turned out to be impossible.
fn pruned(circuit: Circuit) -> Circuit {
    let Root::Node(root) = circuit.root else {
        return Circuit {
            nodes: Vec::new(),
            children: Vec::new(),
            states: Vec::new(),
            ..circuit
        };
    };
    let mut used = vec![false; circuit.nodes.len()];
    used[root as usize] = true;
    for at in (0..=root as usize).rev() {
        if let (true, Part::Product(children) | Part::Sum(children)) =
            (used[at], circuit.part(circuit.nodes[at]))
        {
            children.iter().for_each(|c| used[*c as usize] = true);
        }
    }
    let mut number = vec![0; circuit.nodes.len()];
    let mut kept = Circuit {
        domains: circuit.domains.clone(),
        slots: circuit.slots.clone(),
        ..Circuit::default()
    };
    for (at, part) in circuit.parts().filter(|(at, _)| used[*at]) {
        let (kind, key) = match part {
            Part::Leaf(var, states) => (0, [&[var], states].concat()),
            Part::Product(children) => (1, children.iter().map(|c| number[*c as usize]).collect()),
            Part::Sum(children) => (2, children.iter().map(|c| number[*c as usize]).collect()),
        };
        number[at] = kept.push(kind, &key);
    }
    kept.root = Root::Node(number[root as usize]);
    kept
}
