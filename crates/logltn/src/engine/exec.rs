//! A program with everything resolved that does not change from step to step: where each level finds
//! its slots in its parent's block, in which buffer each node's value stands.

use super::clause::ExecClause;
use super::eliminate;
use crate::plan::Plan;
use crate::plan::program::*;
use crate::recursion::deep;

/// A program, ready for the lanes.
#[derive(Clone, Debug)]
pub(super) struct Exec {
    pub nodes: Vec<ExecNode>,
    /// The nodes that add up to the axiom's value: one, or the members of a conjunction of quantifiers.
    pub roots: Vec<Root>,
    /// Those of the program, then those that go through small clauses by rows.
    pub levels: Vec<ExecLevel>,
    /// The roots that are small clauses.
    pub clauses: Vec<ExecClause>,
}

/// A part of an axiom that the lanes can share among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub node: usize,
    /// About how much work one binding of its quantifier is.
    pub cost: u64,
    /// Which small clause it is, if it is one.
    pub clause: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct ExecNode {
    pub kind: NodeKind,
    pub level: usize,
    /// Which of its level's buffers holds its value.
    pub buffer: usize,
    /// For a literal: where its places stand; for an elimination, its keys.
    pub place: Place,
}

/// Where the values of a slot are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The same for all bindings: the slot's base.
    Base(usize),
    /// In this array of the level's block.
    Array(usize),
}

#[derive(Clone, Debug, Default)]
pub(super) struct ExecLevel {
    pub parent: usize,
    /// The longest comes last: its tuples run in the innermost loop.
    pub components: Vec<ExecComponent>,
    pub adds: Vec<ExecAdd>,
    pub wide_adds: Vec<ExecAdd>,
    pub resolves: Vec<ExecResolve>,
    /// The number of nodes whose values stand in this level's block.
    pub buffers: usize,
    /// How many bindings a block of this level holds.
    pub capacity: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ExecComponent {
    pub component: usize,
    pub key: Option<Place>,
}

#[derive(Clone, Debug)]
pub(super) struct ExecAdd {
    /// Where the parent level has the sum so far.
    pub from: Place,
    /// Per component.
    pub maps: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ExecResolve {
    pub wide: usize,
    pub array: usize,
    pub table: ResolveTable,
}

/// How many bindings the blocks of the innermost levels hold: enough to drown the cost of a step
/// through the nodes, few enough for the buffers of a formula to stay in the second-level cache.
pub(super) const BLOCK: usize = 1024;

impl Exec {
    /// `and_is_sum`: a conjunction at the root is the sum of its members, each of which can be computed apart.
    pub fn new(plan: &Plan, number: usize, and_is_sum: bool) -> Exec {
        let (program, components) = (&plan.programs[number], plan.components.as_slice());
        let mut levels: Vec<ExecLevel> = Vec::with_capacity(program.levels.len());
        for level in &program.levels {
            let parent = &program.levels[level.parent];
            let mut order: Vec<usize> = (0..level.components.len()).collect();
            order.sort_by_key(|&i| average_length(&components[level.components[i].component]));
            let slot = |slot: usize| place(&parent.adds, slot);
            let wide = |slot: usize| place(&parent.wide_adds, slot);
            levels.push(ExecLevel {
                parent: level.parent,
                components: (order.iter())
                    .map(|&i| ExecComponent {
                        component: level.components[i].component,
                        key: level.components[i].key_slot.map(slot),
                    })
                    .collect(),
                adds: level
                    .adds
                    .iter()
                    .map(|a| ordered(a, &order, slot))
                    .collect(),
                wide_adds: (level.wide_adds.iter())
                    .map(|a| ordered(a, &order, wide))
                    .collect(),
                resolves: (level.resolves.iter())
                    .map(|r| ExecResolve {
                        wide: index_of(&level.wide_adds, r.wide),
                        array: index_of(&level.adds, r.slot),
                        table: r.table,
                    })
                    .collect(),
                buffers: 0,
                capacity: BLOCK,
            });
        }
        let nodes = (program.nodes.iter())
            .map(|node| {
                let buffer = levels[node.level].buffers;
                levels[node.level].buffers += 1;
                ExecNode {
                    kind: node.kind.clone(),
                    level: node.level,
                    buffer,
                    place: match node.kind {
                        NodeKind::Literal { slot, .. } => {
                            place(&program.levels[node.level].adds, slot)
                        }
                        NodeKind::Elimination(index) => {
                            let slot = program.eliminations[index].key_slot.unwrap_or(0);
                            place(&program.levels[node.level].adds, slot)
                        }
                        _ => Place::Base(0),
                    },
                }
            })
            .collect();
        let mut exec = Exec {
            nodes,
            roots: Vec::new(),
            levels,
            clauses: Vec::new(),
        };
        exec.choose_capacities(components);
        let costs = exec.costs_per_binding(components, program);
        let mut summands = Vec::new();
        exec.summands(program.root, and_is_sum, &mut summands);
        let outside = costs[0] / summands.len() as u64;
        for node in summands {
            let cost = match exec.nodes[node].kind {
                NodeKind::Quantifier { level, .. } => costs[level].max(1),
                _ => outside.max(1),
            };
            let clause = ExecClause::new(&mut exec, plan, number, node).map(|clause| {
                exec.clauses.push(clause);
                exec.clauses.len() - 1
            });
            exec.roots.push(Root { node, cost, clause });
        }
        exec
    }

    /// A block of an outer level holds only as many bindings as the inner level's block has room for,
    /// so that the inner block is still there when the backward pass wants it.
    fn choose_capacities(&mut self, components: &[Component]) {
        for i in (1..self.levels.len()).rev() {
            let expansion: usize = (self.levels[i].components.iter())
                .map(|c| average_length(&components[c.component]).max(1))
                .product();
            let room = self.levels[i].capacity / expansion.max(1);
            let parent = self.levels[i].parent;
            if parent != 0 {
                let capacity = self.levels[parent].capacity.min(room);
                self.levels[parent].capacity = capacity.clamp(8, BLOCK);
            }
        }
        self.levels[0].capacity = 1;
    }

    fn summands(&self, node: usize, and_is_sum: bool, found: &mut Vec<usize>) {
        match &self.nodes[node].kind {
            NodeKind::And(members) if and_is_sum => {
                deep(|| (members.iter()).for_each(|m| self.summands(*m, and_is_sum, found)));
            }
            _ => found.push(node),
        }
    }

    /// By level, about how much work one of its bindings is.
    fn costs_per_binding(&self, components: &[Component], program: &Program) -> Vec<u64> {
        let mut cost = vec![0_u64; self.levels.len()];
        for node in &self.nodes {
            if let NodeKind::Elimination(index) = node.kind {
                cost[node.level] += eliminate::cost(program, index);
            }
        }
        for i in (1..self.levels.len()).rev() {
            let level = &self.levels[i];
            cost[i] += (level.buffers + level.adds.len()) as u64;
            let expansion: u64 = (level.components.iter())
                .map(|c| average_length(&components[c.component]).max(1) as u64)
                .product();
            let total = cost[i].saturating_mul(expansion);
            cost[level.parent] = cost[level.parent].saturating_add(total);
        }
        cost
    }
}

fn average_length(component: &Component) -> usize {
    component.len() / component.keys().max(1)
}

fn index_of(adds: &[SlotAdd], slot: usize) -> usize {
    adds.iter().position(|a| a.slot == slot).unwrap_or(0)
}

/// Level 0 has no arrays: everything there is constant.
fn place(adds: &[SlotAdd], slot: usize) -> Place {
    match adds.iter().position(|a| a.slot == slot) {
        Some(index) => Place::Array(index),
        None => Place::Base(slot),
    }
}

fn ordered(add: &SlotAdd, order: &[usize], from: impl Fn(usize) -> Place) -> ExecAdd {
    ExecAdd {
        from: from(add.slot),
        maps: order.iter().map(|&i| add.maps[i].clone()).collect(),
    }
}
