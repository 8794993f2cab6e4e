//! Lowering: from the grounded axiom to what the engine runs.

mod clause;
mod complete;

use super::physical::*;
use super::program::{self, Component, Map, NodeKind, Program, RequestPlan, SlotAdd};
use crate::recursion::deep;
use crate::semantics::Semantics;

pub(super) use complete::places_in_complete_tables;

/// How many bindings the blocks of the innermost levels hold: enough to make the cost of visiting the nodes
/// negligible, few enough for the buffers of a formula to stay in the second-level cache.
const BLOCK: usize = 1024;

/// The most bindings of a block that is enlarged so that everything under one outer binding fits into it and need not
/// be computed again for the derivatives.
const GREATEST_BLOCK: usize = 8192;

/// The most values of all nodes in such a block: they are to stay in the second-level cache.
const MOST_VALUES: usize = 1 << 17;

/// The same where runs are read side by side, and how many of these there should be.
const GREATEST_BLOCK_OF_RUNS: usize = 1 << 16;
const RUNS: usize = 16;

/// The fewest outer bindings of a block when the inner bindings of one do not fit into a block.
const FEWEST: usize = 8;

/// The grounded parts that all axioms share.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a> {
    pub semantics: &'a Semantics,
    pub components: &'a [Component],
    pub maps: &'a [Map],
    pub requests: &'a [RequestPlan],
}

impl Lower<'_> {
    /// The axiom as the engine runs it.
    pub fn apply(&self, program: Program, axiom: usize) -> Physical {
        // The tuples of a stratum are numbered in the order in which its root goes through them.
        let kept = match program.nodes[program.root].kind {
            NodeKind::Quantifier { level, .. } if axiom == usize::MAX => Some(level),
            _ => None,
        };
        let levels = program.levels.iter().enumerate();
        let mut levels: Vec<Level> = levels
            .map(|(at, level)| {
                let order = self.order(&program, at, kept == Some(at));
                self.level(level, &program.levels[level.parent], &order)
            })
            .collect();
        let buffers = buffers(&program.nodes, &mut levels);
        let uncounted = uncounted(&program);
        let nodes = program.nodes.into_iter().zip(buffers).zip(uncounted).map(
            |((node, buffer), uncounted)| {
                let slot = match node.kind {
                    NodeKind::Literal { slot, .. } | NodeKind::Use { slot, .. } => Some(slot),
                    NodeKind::Elimination(index) => program.eliminations[index].key_slot,
                    _ => None,
                };
                let adds = &program.levels[node.level].adds;
                Node {
                    kind: node.kind,
                    level: node.level,
                    buffer,
                    place: place(adds, slot.unwrap_or(0)),
                    uncounted,
                }
            },
        );
        let mut ranking = program.ranking;
        if let Some(ranking) = &mut ranking {
            let innermost = ranking.levels.last().copied().unwrap_or(0);
            let adds = &program.levels[innermost].wide_adds;
            for code in &mut ranking.codes {
                *code = index_of(adds, *code).unwrap_or(0);
            }
        }
        let mut physical = Physical {
            axiom,
            nodes: nodes.collect(),
            root: program.root,
            roots: Vec::new(),
            quantifier_levels: levels.len(),
            levels,
            clauses: Vec::new(),
            slots: program.slots,
            wide_slots: program.wide_slots,
            key_tables: program.key_tables,
            applied: program.applied,
            eliminations: program.eliminations,
            rewrites: program.rewrites,
            ranking,
            form: program.form,
        };
        self.choose_capacities(&mut physical.levels);
        self.choose_roots(&mut physical);
        find_places_of_literals(&mut physical);
        physical
    }

    /// In which order the loops of a level go through its components: the longest innermost, or one that is long enough
    /// and along which the numbers of more literals follow each other in memory.
    fn order(&self, program: &Program, at: usize, by_length: bool) -> Vec<usize> {
        let level = &program.levels[at];
        let length = |i: &usize| self.average_length(level.bound[*i].component);
        let mut order: Vec<usize> = (0..level.bound.len()).collect();
        order.sort_by_key(length);
        // Of equal members an extreme is the first.
        let picks_one = |forall| self.semantics.aggregator(forall).laws().picks_one;
        if by_length || picks_one(true) || picks_one(false) {
            return order;
        }
        let nodes = program.nodes.iter().filter(|n| n.level == at);
        let slots = nodes.filter_map(|n| match n.kind {
            NodeKind::Literal { slot, .. } | NodeKind::Use { slot, .. } => Some(slot),
            _ => None,
        });
        let read: Vec<&SlotAdd> = slots
            .filter_map(|slot| Some(&level.adds[index_of(&level.adds, slot)?]))
            .collect();
        let cost = |i: &usize| {
            let across = read.iter().filter(|add| self.step(&add.maps[*i]) > 1);
            let literals = 1.0 + read.len() as f64 + 3.0 * across.count() as f64;
            literals * (1.0 + 32.0 / length(i).max(1) as f64)
        };
        // Of equally good ones the longest, which is there already.
        let best = (order.iter().rev()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        if let Some(&best) = best {
            order.retain(|i| *i != best);
            order.push(best);
        }
        order
    }

    /// By how much what these maps of a component add differs from the first tuple to the second.
    fn step(&self, maps: &[usize]) -> u64 {
        let steps = maps.iter().map(|map| self.maps[*map].values.step());
        steps.fold(0, u64::saturating_add)
    }

    /// The numbers that a level should have room for: several runs of the innermost loop, where these are read across the
    /// rows of a table and lie side by side there.
    fn side_by_side(&self, levels: &[Level], level: &Level) -> usize {
        let Some((last, before)) = level.components.split_last() else {
            return 0;
        };
        let across = level.adds.iter().any(|add| {
            let Some((own, outer)) = add.maps.split_last() else {
                return false;
            };
            let next = match (outer.last(), add.from) {
                (Some(maps), _) => self.step(maps),
                (None, SlotSource::Array(index)) => {
                    let maps = levels[level.parent].adds[index].maps.last();
                    maps.map_or(0, |maps| self.step(maps))
                }
                (None, SlotSource::Base(_)) => 0,
            };
            self.step(own) > 1 && next == 1
        });
        let one = before.is_empty() && level.parent == 0;
        match across && !one {
            true => RUNS * self.average_length(last.component),
            false => 0,
        }
    }

    fn level(&self, level: &program::Level, parent: &program::Level, order: &[usize]) -> Level {
        let add = |add: &SlotAdd, adds: &[SlotAdd]| Add {
            from: place(adds, add.slot),
            maps: order.iter().map(|&i| add.maps[i].clone()).collect(),
        };
        let component = |position: usize| LevelComponent {
            component: level.bound[position].component,
            key: level.key_slots[position].map(|slot| place(&parent.adds, slot)),
            bound: level.bound[position].clone(),
            position,
        };
        let lookup = |r: &program::Resolve| Lookup {
            wide: index_of(&level.wide_adds, r.wide).unwrap_or(0),
            array: index_of(&level.adds, r.slot).unwrap_or(0),
            table: r.table,
        };
        let wide_adds = level.wide_adds.iter();
        Level {
            parent: level.parent,
            components: order.iter().copied().map(component).collect(),
            adds: level.adds.iter().map(|a| add(a, &parent.adds)).collect(),
            read_by_literals: Vec::new(),
            wide_adds: wide_adds.map(|a| add(a, &parent.wide_adds)).collect(),
            resolves: level.resolves.iter().map(lookup).collect(),
            weights: (level.weights.iter())
                .filter_map(|&slot| index_of(&level.adds, slot))
                .collect(),
            counted: (level.bound.iter())
                .map(|b| &self.components[b.component])
                .map(|c| c.bindings(0..c.len() as u32) as f64)
                .product(),
            buffers: 0,
            capacity: BLOCK,
        }
    }

    /// A block of an outer level holds only as many bindings as the inner level's block has room for, so that the
    /// inner block is still there for the backward pass.
    fn choose_capacities(&self, levels: &mut [Level]) {
        for i in 1..levels.len() {
            // All bindings under one binding of the outermost level, if these are not too many.
            let (mut at, mut under) = (i, 1);
            while levels[at].parent != 0 {
                under = self.expansion(&levels[at]).saturating_mul(under);
                at = levels[at].parent;
            }
            let under = usize::try_from(under.max(1)).unwrap_or(usize::MAX);
            let runs = self.side_by_side(levels, &levels[i]);
            let greatest = match runs {
                0 => GREATEST_BLOCK,
                _ => GREATEST_BLOCK_OF_RUNS,
            };
            let most = (MOST_VALUES / levels[i].buffers.max(1)).clamp(BLOCK, greatest);
            if under <= most {
                let whole = BLOCK.max(runs).div_ceil(under).min(most / under);
                levels[i].capacity = whole * under;
            }
        }
        for i in (1..levels.len()).rev() {
            let room = levels[i].capacity / self.expansion(&levels[i]).max(1) as usize;
            let parent = levels[i].parent;
            if parent != 0 {
                let room = if room == 0 { FEWEST } else { room };
                let capacity = levels[parent].capacity.min(room);
                levels[parent].capacity = capacity.clamp(1, GREATEST_BLOCK);
            }
        }
        levels[0].capacity = 1;
        // A buffer for each of many nodes holds no more than the bindings that there can be.
        let mut most = vec![1; levels.len()];
        for i in 1..levels.len() {
            let components = levels[i].components.iter();
            let lengths = components.map(|c| self.greatest_length(c.component));
            most[i] = lengths.fold(most[levels[i].parent], usize::saturating_mul);
            levels[i].capacity = levels[i].capacity.min(most[i]);
        }
    }

    /// No list of a component is longer. Rows of a batch may be any number.
    fn greatest_length(&self, component: usize) -> usize {
        let component = &self.components[component];
        match component.batched {
            Some(_) => usize::MAX,
            None => component.len().max(1),
        }
    }

    /// A conjunction at the root that is the sum of its members is computed member by member.
    fn choose_roots(&self, physical: &mut Physical) {
        let costs = self.costs_per_binding(physical);
        let mut summands = Vec::new();
        let adds = self.semantics.and.laws().adds;
        find_summands(&physical.nodes, physical.root, adds, &mut summands);
        if summands.len() > MOST_SUMMANDS {
            summands = vec![physical.root];
        }
        let outside = costs[0] / summands.len() as u64;
        for node in summands {
            let cost = match physical.nodes[node].kind {
                NodeKind::Quantifier { level, .. } => costs[level].max(1),
                _ => outside.max(1),
            };
            let clause = self.small_clause(physical, node).map(|clause| {
                physical.clauses.push(clause);
                physical.clauses.len() - 1
            });
            physical.roots.push(Root {
                node,
                cost,
                clause,
                sharded: false,
            });
        }
    }

    /// About how much work an evaluation is, for all batches together; the maximum if it cannot be counted. Work that
    /// is done batch by batch counts as 0.
    pub fn work(&self, physical: &Physical) -> u64 {
        let works = physical.roots.iter().map(|root| {
            let NodeKind::Quantifier { level, .. } = physical.nodes[root.node].kind else {
                return root.cost;
            };
            let level = &physical.levels[level];
            let batched = |c: &LevelComponent| self.components[c.component].batched.is_some();
            match level.components.iter().any(batched) {
                true => 0,
                false => self.expansion(level).saturating_mul(root.cost),
            }
        });
        works.fold(0, u64::saturating_add)
    }

    /// By level, about how much work one of its bindings is.
    fn costs_per_binding(&self, physical: &Physical) -> Vec<u64> {
        let mut cost = vec![0_u64; physical.levels.len()];
        for node in &physical.nodes {
            if let NodeKind::Elimination(index) = node.kind {
                let own = physical.eliminations[index].cost();
                cost[node.level] = cost[node.level].saturating_add(own);
            }
        }
        for (i, level) in physical.levels.iter().enumerate().skip(1).rev() {
            cost[i] = cost[i].saturating_add((level.buffers + level.adds.len()) as u64);
            let total = cost[i].saturating_mul(self.expansion(level));
            cost[level.parent] = cost[level.parent].saturating_add(total);
        }
        cost
    }

    /// The mean number of bindings of a level for each binding of its parent.
    fn expansion(&self, level: &Level) -> u64 {
        let components = level.components.iter();
        let lengths = components.map(|c| self.average_length(c.component).max(1) as u64);
        lengths.fold(1, u64::saturating_mul)
    }

    fn average_length(&self, component: usize) -> usize {
        let component = &self.components[component];
        component.len() / component.keys().max(1)
    }
}

/// Finds the arrays of places that only literals of their own level read.
fn find_places_of_literals(physical: &mut Physical) {
    let counts = physical.levels.iter().map(|level| level.adds.len());
    let mut only: Vec<Vec<bool>> = counts.map(|count| vec![true; count]).collect();
    let mut read = |level: usize, place: SlotSource| {
        if let SlotSource::Array(index) = place {
            only[level][index] = false;
        }
    };
    for (at, level) in physical.levels.iter().enumerate() {
        level.adds.iter().for_each(|a| read(level.parent, a.from));
        let keys = level.components.iter().filter_map(|c| c.key);
        keys.for_each(|key| read(level.parent, key));
        let looked_up = level.resolves.iter().map(|r| SlotSource::Array(r.array));
        looked_up.for_each(|array| read(at, array));
        let weights = level.weights.iter().map(|&array| SlotSource::Array(array));
        weights.for_each(|array| read(at, array));
    }
    // Connectives and quantifiers have no places.
    for node in &physical.nodes {
        if matches!(node.kind, NodeKind::Elimination(_)) {
            read(node.level, node.place);
        }
    }
    for clause in physical.clauses.iter().filter(|c| c.reads_rows()) {
        let literals = clause.literals.iter();
        literals.for_each(|l| read(clause.level, l.place));
    }
    for (level, only) in physical.levels.iter_mut().zip(only) {
        level.read_by_literals = only;
    }
}

/// By node: whether it is inside a node whose bindings are not counted one by one.
fn uncounted(program: &Program) -> Vec<bool> {
    let mut uncounted: Vec<bool> = (program.nodes.iter())
        .map(|node| node.groundings.is_some())
        .collect();
    // Children come before their parents.
    for (at, node) in program.nodes.iter().enumerate().rev() {
        if uncounted[at] {
            let children = node.kind.children(&program.eliminations).into_iter();
            children.for_each(|child| uncounted[child] = true);
        }
    }
    uncounted
}

/// By node: its buffer among those of its level. The members of a connective are side by side.
fn buffers(nodes: &[program::Node], levels: &mut [Level]) -> Vec<usize> {
    let members = nodes.iter().flat_map(|node| match &node.kind {
        NodeKind::And(members) | NodeKind::Or(members) => members.as_slice(),
        _ => &[],
    });
    let mut buffers = vec![usize::MAX; nodes.len()];
    for node in members.copied().chain(0..nodes.len()) {
        if buffers[node] == usize::MAX {
            let count = &mut levels[nodes[node].level].buffers;
            buffers[node] = *count;
            *count += 1;
        }
    }
    buffers
}

/// With more members than this, preparing each would take longer than computing it.
const MOST_SUMMANDS: usize = 4096;

fn find_summands(nodes: &[Node], node: usize, and_adds: bool, found: &mut Vec<usize>) {
    match &nodes[node].kind {
        NodeKind::And(members) if and_adds => {
            deep(|| (members.iter()).for_each(|m| find_summands(nodes, *m, and_adds, found)));
        }
        _ => found.push(node),
    }
}

fn index_of(adds: &[SlotAdd], slot: usize) -> Option<usize> {
    // They are in the order of their slots.
    adds.binary_search_by_key(&slot, |a| a.slot).ok()
}

/// Level 0 has no arrays: everything there is constant.
fn place(adds: &[SlotAdd], slot: usize) -> SlotSource {
    index_of(adds, slot).map_or(SlotSource::Base(slot), SlotSource::Array)
}
