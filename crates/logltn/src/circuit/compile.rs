//! From a formula to a circuit, from the top: parts without common variables are compiled separately, a variable is
//! decided if there are no such parts, and equal parts are compiled once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::order::{FEW, Order, structure};
use super::proposition::Proposition;
use super::store::{FALSE, Formula, Id, Store, TRUE};
use super::tree::{self, Tree};
use super::{Circuit, Implications, Node, Part, Root, sums};
use crate::connected::connected_by;
use crate::recursion::deep;

/// Looking at so many members takes a tenth of a second.
const FIRST: usize = 1 << 20;

/// Grouping members and choosing among their variables takes about as long as looking at each so often.
const LOOKS: usize = 4;

/// Disjunctions with fewer members are not halved.
const LONG: usize = 8;

/// How long a compilation may take, how many edges its circuit may have, and what ends it early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget<'s> {
    pub time: Duration,
    pub edges: usize,
    /// How many members of formulas may be looked at.
    pub work: usize,
    pub stop: Option<&'s AtomicBool>,
}

impl<'s> Budget<'s> {
    /// About the memory of an edge during compilation.
    pub const BYTES_PER_EDGE: usize = 256;

    pub fn new(time: Duration, bytes: u64, stop: Option<&'s AtomicBool>) -> Budget<'s> {
        let edges = usize::try_from(bytes).unwrap_or(usize::MAX) / Self::BYTES_PER_EDGE;
        Budget {
            time,
            edges: edges.min(u32::MAX as usize / 2),
            work: usize::MAX,
            stop,
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Whether a compilation with this many bytes has to end.
    pub fn is_used_up(&self, started: Instant, bytes: usize) -> bool {
        self.is_stopped()
            || started.elapsed() > self.time
            || bytes / Self::BYTES_PER_EDGE > self.edges
    }
}

/// A formula for which no circuit was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TooHard {
    pub variables: usize,
    /// The size that was reached.
    pub nodes: usize,
    pub edges: usize,
    pub seconds: f64,
    /// It was asked to stop.
    pub stopped: bool,
}

struct Compiler<'a, 's> {
    store: &'a mut Store<'s>,
    order: &'a Order,
    /// By formula.
    compiled: FxHashMap<Id, Root>,
    nodes: Nodes<'s>,
    /// Used when members are grouped.
    owner: Vec<u32>,
}

/// A circuit that grows, each node once.
pub(super) struct Nodes<'s> {
    circuit: Circuit,
    unique: FxHashMap<(u8, Vec<u32>), u32>,
    budget: Budget<'s>,
    started: Instant,
    calls: usize,
}

/// Compiles a formula over variables with these many states.
pub(crate) fn compile(
    proposition: &Proposition,
    domains: &[u32],
    budget: Budget,
) -> Result<Circuit, TooHard> {
    compile_by(proposition, domains, budget, |_| true)
}

/// The same, but only in the ways whose numbers `uses` takes.
pub(super) fn compile_by<'s>(
    proposition: &Proposition,
    domains: &[u32],
    budget: Budget<'s>,
    uses: impl Fn(usize) -> bool,
) -> Result<Circuit, TooHard> {
    if let Some(implications) = Implications::of(proposition, domains) {
        let Some(graph) = sums::Graph::of(&implications, domains.len()) else {
            return Ok(Nodes::new(domains, budget).finish(Root::False));
        };
        let orders: Vec<Vec<u32>> = (0..graph.orders()).map_while(|i| graph.order(i)).collect();
        if !orders.is_empty() && uses(0) {
            let compile = |order: &Vec<u32>, own| graph.compile(domains, order, own);
            return smallest(orders, budget, FIRST << 8, compile);
        }
    }
    let mut store = Store::new(domains.to_vec(), budget);
    let root = store.insert(proposition);
    let mut nodes = Nodes::new(domains, budget);
    nodes.go_on(0, store.is_over())?;
    match root {
        TRUE => return Ok(nodes.finish(Root::True)),
        FALSE => return Ok(nodes.finish(Root::False)),
        _ => {}
    }
    let mut number = 0;
    let mut ways = ways(&store, root);
    ways.retain(|_| {
        number += 1;
        uses(number)
    });
    let inserted = store.len();
    smallest(ways, budget, FIRST, |way, own| {
        store.rewind(inserted, own);
        let nodes = Nodes::new(domains, own);
        let compiled = match way {
            Way::Tree(tree) => tree::compile(tree, &mut store, nodes),
            Way::Decide(order) => decide(order, &mut store, root, nodes),
        };
        (compiled, store.work())
    })
}

/// The ways to compile a formula, the cheaper ones first.
fn ways(store: &Store, root: Id) -> Vec<Way> {
    let mut ways = Vec::new();
    let mut order = Order::new(None);
    let only = [root];
    let mut members = only.as_slice();
    if store.formula(root) == Formula::And {
        members = store.members(root);
        if let Some((eliminated, left_out)) = structure(store, members) {
            if !left_out {
                ways.push(Way::Tree(Tree::new(store, members, &eliminated)));
            }
            order = Order::new(Some(&eliminated));
        }
    }
    ways.push(Way::Tree(Tree::in_line(store, members)));
    ways.push(Way::Decide(order));
    if store.domains.len() > FEW {
        ways.push(Way::Decide(Order::new(None)));
    }
    if store.formula(root) == Formula::Or {
        ways.reverse();
    }
    ways
}

/// How a formula can be compiled.
enum Way {
    Tree(Tree),
    Decide(Order),
}

/// A circuit, and how much work it was.
pub(super) type Compiled = (Result<Circuit, TooHard>, usize);

/// The smallest circuit of some ways to compile one, which are tried in turns, with more and more work: where one of them
/// needs little, it does not matter what the others would need. After the first circuit, unless it is small, the other ways
/// may take a little longer once more.
fn smallest<'s, W>(
    mut ways: Vec<W>,
    budget: Budget<'s>,
    first: usize,
    mut compile: impl FnMut(&W, Budget<'s>) -> Compiled,
) -> Result<Circuit, TooHard> {
    const SMALL: usize = 200;
    /// This much takes a millisecond, or a few.
    const LITTLE: usize = 1 << 14;
    let started = Instant::now();
    let mut best: Option<Circuit> = None;
    let mut reached = TooHard::default();
    let mut own = budget;
    own.work = first.min(budget.work);
    loop {
        let mut later = Vec::new();
        for way in ways {
            own.time = budget.time.saturating_sub(started.elapsed());
            let (compiled, work) = compile(&way, own);
            match compiled {
                Ok(circuit) => {
                    own.edges = circuit.edges();
                    own.work = own.work.min(work.saturating_mul(2).max(LITTLE));
                    let is_small = own.edges <= SMALL;
                    best = Some(circuit);
                    if is_small {
                        break;
                    }
                }
                Err(why) => {
                    if why.edges >= reached.edges {
                        reached = why;
                    }
                    if why.stopped {
                        return Err(why);
                    }
                    if work > own.work {
                        later.push(way);
                    }
                }
            }
        }
        if let Some(circuit) = best {
            return Ok(circuit);
        }
        let is_over = started.elapsed() > budget.time;
        if later.is_empty() || is_over || own.work >= budget.work {
            reached.seconds = started.elapsed().as_secs_f64();
            return Err(reached);
        }
        ways = later;
        own.work = own.work.saturating_mul(4).min(budget.work);
    }
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

fn decide<'s>(
    order: &Order,
    store: &mut Store<'s>,
    root: Id,
    nodes: Nodes<'s>,
) -> Result<Circuit, TooHard> {
    let mut compiler = Compiler {
        nodes,
        store,
        order,
        compiled: FxHashMap::default(),
        owner: Vec::new(),
    };
    let compiled = compiler.compile(root).and_then(|root| {
        // What the last steps made of the formulas may be cut short.
        compiler.nodes.go_on(0, compiler.store.is_over())?;
        Ok(root)
    });
    compiled.map(|root| compiler.nodes.finish(root))
}

impl Compiler<'_, '_> {
    fn compile(&mut self, id: Id) -> Result<Root, TooHard> {
        match id {
            TRUE => return Ok(Root::True),
            FALSE => return Ok(Root::False),
            _ => {}
        }
        if let Some(known) = self.compiled.get(&id) {
            return Ok(*known);
        }
        let others = self.store.bytes() / Budget::BYTES_PER_EDGE;
        self.nodes.go_on(others, self.store.is_over())?;
        let members = self.store.members(id).to_vec();
        self.store.look(LOOKS * members.len());
        let compiled = match self.store.formula(id) {
            Formula::True => Root::True,
            Formula::False => Root::False,
            Formula::In { var, set } => Root::Node(self.nodes.leaf(var, self.store.states(set))),
            Formula::And => {
                let parts = self.components(&members);
                match parts.len() {
                    1 => match self.halved(&members) {
                        Some(halves) => deep(|| self.either(halves))?,
                        None => deep(|| self.decide(id))?,
                    },
                    _ => {
                        let (mut compiled, mut literals) = (Vec::new(), Vec::new());
                        for part in parts {
                            let part = self.store.part_of_and(part);
                            let root = deep(|| self.compile(part))?;
                            match (self.store.formula(part), root) {
                                (Formula::In { var, .. }, root) => {
                                    literals.push((var, root));
                                }
                                _ => compiled.push(root),
                            }
                        }
                        compiled.extend(self.nodes.grouped(literals));
                        self.nodes.product(compiled)
                    }
                }
            }
            Formula::Pairs { .. } => deep(|| self.decide(id))?,
            Formula::Or => match self.components(&members) {
                parts if parts.len() == 1 => deep(|| self.decide(id))?,
                parts => {
                    let halves = self.first_half(&[], parts);
                    deep(|| self.either(halves))?
                }
            },
        };
        self.compiled.insert(id, compiled);
        Ok(compiled)
    }

    /// If all that connects the members of a conjunction is one long disjunction: what is either true of the first half of
    /// its members, or of the second half only.
    fn halved(&mut self, members: &[Id]) -> Option<[Id; 2]> {
        let length = |id: &Id| match self.store.formula(*id) {
            Formula::Or => self.store.members(*id).len(),
            _ => 0,
        };
        let at = (0..members.len()).max_by_key(|i| length(&members[*i]))?;
        if length(&members[at]) < LONG {
            return None;
        }
        let alternatives = self.store.members(members[at]).to_vec();
        let mut others = members.to_vec();
        others.swap_remove(at);
        let known = others.len();
        let all: Vec<Id> = others.iter().chain(&alternatives).copied().collect();
        let mut groups = self.groups(&all);
        if groups.len() < 3 {
            return None;
        }
        for group in &mut groups {
            group.retain(|at| *at as usize >= known);
        }
        let of = |group: Vec<u32>| group.into_iter().map(|at| all[at as usize]).collect();
        let parts = groups.into_iter().map(of).collect();
        Some(self.first_half(&others, parts))
    }

    /// Of a disjunction in parts, together with other formulas: its first half, and its second half without the first.
    fn first_half(&mut self, others: &[Id], mut parts: Vec<Vec<Id>>) -> [Id; 2] {
        let second = parts.split_off(parts.len() / 2).concat();
        let first = self.store.connective(false, parts.concat());
        let second = self.store.connective(false, second);
        let neither = self.store.negation(first);
        let mut with = |mut members: Vec<Id>| {
            members.extend_from_slice(others);
            self.store.connective(true, members)
        };
        [with(vec![first]), with(vec![neither, second])]
    }

    /// Of two formulas that exclude each other.
    fn either(&mut self, [first, second]: [Id; 2]) -> Result<Root, TooHard> {
        let summands = vec![self.compile(first)?, self.compile(second)?];
        Ok(self.nodes.sum(summands))
    }

    /// Groups members that have common variables, in the order of the first member of each group.
    fn components(&mut self, members: &[Id]) -> Vec<Vec<Id>> {
        let group = |group: Vec<u32>| group.iter().map(|i| members[*i as usize]).collect();
        self.groups(members).into_iter().map(group).collect()
    }

    /// The same by the places of the members.
    fn groups(&mut self, members: &[Id]) -> Vec<Vec<u32>> {
        connected_by(&mut self.owner, members.len(), |i, visit| {
            (self.store.variables(members[i]).iter()).for_each(|v| visit(*v));
        })
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

impl<'s> Nodes<'s> {
    pub fn new(domains: &[u32], budget: Budget<'s>) -> Nodes<'s> {
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

    /// Checks that time and memory are left, with this much else in memory, unless it is `over` for other reasons.
    pub fn go_on(&mut self, others: usize, over: bool) -> Result<(), TooHard> {
        // At the first call, too: without any time there is no circuit.
        let look = self.calls.is_multiple_of(64);
        self.calls += 1;
        let stopped = self.budget.is_stopped();
        // What was written of the circuit takes a quarter of what its compilation does.
        let edges = self.circuit.edges();
        if edges.max(edges / 4 + others) > self.budget.edges
            || look && self.started.elapsed() > self.budget.time
            || stopped
            || over
        {
            return Err(TooHard {
                stopped,
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
        let circuit = &mut self.circuit;
        let number = self.unique.entry((kind, key));
        *number.or_insert_with_key(|(kind, key)| circuit.push(*kind, key))
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
