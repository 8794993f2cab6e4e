//! Running a program on a lane: forward through the nodes of a block, backward through the same block
//! while it is still in cache. A quantifier inside is visited again for its derivatives, block by
//! block, unless its one block is still there; nothing is stored per binding.

use super::lane::Lane;
use super::literals::Literals;
use super::stop::Stop;
use super::strata::Layer;
use super::touched::ReadSpaced;
use crate::operators::{
    self, Accumulated, Aggregation, Backward, Block, Connection, FLOOR, Forward, Implication,
    Members, Negation, Settings, Slopes, Space, State,
};
use crate::plan::Plan;
use crate::plan::active::Active;
use crate::plan::blocks::{BlockPlaces, Cursor};
use crate::plan::physical::{LevelComponent, Node, Physical, SlotSource};
use crate::plan::program::NodeKind;
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::vector::{Real, run_task};

/// The data that all lanes read.
pub(super) struct Shared<'a, T> {
    pub plan: &'a Plan,
    pub active: &'a Active,
    pub literals: &'a [Literals<T>],
    pub semantics: &'a Semantics,
    pub and: Connection<T>,
    pub or: Connection<T>,
    implies: Implication<T>,
    not: Negation<T>,
    forall: Aggregation<T>,
    exists: Aggregation<T>,
    /// By axiom.
    pub settings: &'a [Settings<f64>],
    /// By axiom: whose parameters its strata are computed with.
    pub groups: &'a [usize],
    pub stop: &'a Stop,
}

impl<'a, T: Real> Shared<'a, T> {
    pub fn new(
        plan: &'a Plan,
        active: &'a Active,
        literals: &'a [Literals<T>],
        settings: &'a [Settings<f64>],
        groups: &'a [usize],
        stop: &'a Stop,
    ) -> Shared<'a, T> {
        let semantics = &plan.semantics;
        Shared {
            plan,
            active,
            literals,
            semantics,
            and: semantics.and.computation(),
            or: semantics.or.computation(),
            implies: semantics.implies.computation(),
            not: semantics.not.computation(),
            forall: semantics.aggregator(true).computation(),
            exists: semantics.aggregator(false).computation(),
            settings,
            groups,
            stop,
        }
    }

    /// The aggregator of a quantifier.
    pub fn aggregation(&self, forall: bool) -> &Aggregation<T> {
        match forall {
            true => &self.forall,
            false => &self.exists,
        }
    }
}

/// The value of a quantifier, empty or not.
pub(super) fn quantifier_value<T: Real>(
    shared: &Shared<T>,
    settings: &Settings<f64>,
    forall: bool,
    state: &State,
) -> f64 {
    if state.count > 0.0 {
        return (shared.aggregation(forall).value)(settings, state);
    }
    match (forall, shared.semantics.space) {
        (true, Space::Log | Space::Mixed) => 0.0,
        (true, Space::Truth) => 1.0,
        (false, Space::Log) => FLOOR,
        (false, Space::Truth | Space::Mixed) => 0.0,
    }
}

/// A program on a lane.
pub(super) struct Run<'a, 'l, T> {
    pub shared: &'a Shared<'a, T>,
    pub program: usize,
    pub exec: &'a Physical,
    /// The current part of the axiom: one of its program's roots.
    pub root: usize,
    pub lane: &'l mut Lane<T>,
    /// Of the axiom.
    pub settings: Settings<T>,
    /// The same, in the form that aggregators take.
    pub aggregators: &'a Settings<f64>,
    /// Its place among the strata.
    pub layer: Layer,
}

/// The result of the forward pass over a part of an axiom.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    /// The state of the root quantifier over its part of the bindings.
    State(State),
    /// The value of a root that is not a quantifier.
    Value(f64),
}

impl<'a, 'l, T: Real> Run<'a, 'l, T> {
    pub fn new(
        shared: &'a Shared<'a, T>,
        program: usize,
        root: usize,
        lane: &'l mut Lane<T>,
    ) -> Run<'a, 'l, T> {
        Run {
            shared,
            program,
            exec: &shared.plan.programs[program],
            root,
            lane,
            settings: shared.settings[program].cast(),
            aggregators: &shared.settings[program],
            layer: Layer::outside(shared.groups[program]),
        }
    }
}

impl<T: Real> Run<'_, '_, T> {
    /// Whether the root is a quantifier that picks one value (`min` or `max`).
    pub fn root_is_extreme(&self) -> bool {
        match self.exec.nodes[self.root].kind {
            NodeKind::Quantifier { forall, .. } => self.shared.aggregation(forall).laws.picks_one,
            _ => false,
        }
    }

    /// The derivative of the loss by each binding's value, if it is known before the values are: that by
    /// the axiom is, and the root quantifier is linear.
    pub fn derivative_along(&self, by_axiom: f64) -> Option<f64> {
        let NodeKind::Quantifier { forall, level, .. } = self.exec.nodes[self.root].kind else {
            return None;
        };
        let components = &self.shared.active.components;
        let length = |c: &LevelComponent| {
            let offsets = &components[c.component].offsets;
            f64::from(offsets[1] - offsets[0])
        };
        let level = &self.exec.levels[level];
        let count: f64 = match level.weights.is_empty() {
            true => level.components.iter().map(length).product(),
            false => level.counted,
        };
        let laws = self.shared.aggregation(forall).laws;
        laws.linear_slope(by_axiom, self.aggregators, count)
    }

    /// The forward pass over the bindings `start..end` of the root quantifier (or of everything, if the
    /// root is none). With `derivative`, that of the loss by the axiom, the backward pass goes along:
    /// possible where the root is linear.
    pub fn forward_root(&mut self, start: u64, end: u64, derivative: Option<f64>) -> Partial {
        self.make_room();
        self.lane.again = false;
        let NodeKind::Quantifier {
            forall,
            level,
            body,
        } = self.exec.nodes[self.root].kind
        else {
            self.forward(self.root);
            return Partial::Value(self.lane.values[0][self.buffer(self.root)][0].to_f64());
        };
        let mut state = [(self.shared.aggregation(forall).start)()];
        let mut cursor = self.root_cursor(level, start, end);
        while self.fill(level, &mut cursor) {
            self.forward(body);
            self.accumulate(forall, level, body, &mut state);
            if let Some(derivative) = derivative {
                let len = self.lane.blocks.block(level).len;
                let buffer = self.buffer(body);
                self.weigh(level);
                let Lane {
                    derivatives,
                    weights,
                    ..
                } = &mut *self.lane;
                let by_body = &mut derivatives[level][buffer][..len];
                match self.exec.levels[level].weights.is_empty() {
                    true => by_body.fill(T::from_f64(derivative)),
                    false => (by_body.iter_mut().zip(weights))
                        .for_each(|(by, weight)| *by = T::from_f64(derivative * *weight)),
                }
                self.backward(body);
            }
        }
        self.lane.blocks.put_cursor(level, cursor);
        Partial::State(state[0])
    }

    /// The backward pass over the same bindings, given the final state.
    pub fn backward_root(&mut self, start: u64, end: u64, total: Partial, derivative: f64) {
        self.make_room();
        self.lane.again = true;
        let (
            NodeKind::Quantifier {
                forall,
                level,
                body,
            },
            Partial::State(state),
        ) = (&self.exec.nodes[self.root].kind, total)
        else {
            self.forward(self.root);
            let buffer = self.buffer(self.root);
            self.lane.derivatives[0][buffer][0] = T::from_f64(derivative);
            return self.backward(self.root);
        };
        let (forall, level, body) = (*forall, *level, *body);
        let mut state = [state];
        let mut cursor = self.root_cursor(level, start, end);
        while self.fill(level, &mut cursor) {
            self.forward(body);
            self.derivatives(forall, level, body, &mut state, &|_| derivative, false);
            self.backward(body);
        }
        self.lane.blocks.put_cursor(level, cursor);
    }

    pub(super) fn root_cursor(&mut self, level: usize, start: u64, end: u64) -> Cursor {
        let mut cursor = self.lane.blocks.take_cursor(level);
        cursor.reset_to_range(&self.exec.levels[level], self.shared.active, start, end);
        cursor
    }

    pub(super) fn make_room(&mut self) {
        self.lane.make_room(self.exec);
    }

    /// Finds how many bindings each one of a level's block stands for, if some are counted.
    fn weigh(&mut self, level: usize) {
        let Lane {
            blocks, weights, ..
        } = &mut *self.lane;
        let block = blocks.block(level);
        for (i, &array) in self.exec.levels[level].weights.iter().enumerate() {
            for (weight, &own) in weights.iter_mut().zip(block.array(array)) {
                *weight = if i == 0 { 1.0 } else { *weight } * f64::from(own);
            }
        }
    }

    /// The next block of a level; `None` if the engine was told to stop.
    pub(super) fn fill(&mut self, level: usize, cursor: &mut Cursor) -> bool {
        let Shared {
            active, plan, stop, ..
        } = self.shared;
        if stop.is_set() {
            return false;
        }
        let blocks = &mut self.lane.blocks;
        let filled = blocks.fill(active, plan, self.program, self.exec, level, cursor);
        if filled {
            self.lane.filled[level] += blocks.block(level).len as u64;
        }
        filled
    }

    fn buffer(&self, node: usize) -> usize {
        self.exec.nodes[node].buffer
    }

    pub(super) fn len(&self, node: usize) -> usize {
        self.lane.blocks.block(self.exec.nodes[node].level).len
    }

    pub(super) fn take_values(&mut self, node: usize) -> Vec<T> {
        let node = &self.exec.nodes[node];
        std::mem::take(&mut self.lane.values[node.level][node.buffer])
    }

    pub(super) fn put_values(&mut self, node: usize, values: Vec<T>) {
        let node = &self.exec.nodes[node];
        self.lane.values[node.level][node.buffer] = values;
    }

    pub(super) fn values(&self, node: usize) -> &[T] {
        let node = &self.exec.nodes[node];
        let len = self.lane.blocks.block(node.level).len;
        &self.lane.values[node.level][node.buffer][..len]
    }

    pub(super) fn take_derivatives(&mut self, node: usize) -> Vec<T> {
        let node = &self.exec.nodes[node];
        std::mem::take(&mut self.lane.derivatives[node.level][node.buffer])
    }

    pub(super) fn put_derivatives(&mut self, node: usize, derivatives: Vec<T>) {
        let node = &self.exec.nodes[node];
        self.lane.derivatives[node.level][node.buffer] = derivatives;
    }

    // --- forward --------------------------------------------------------------------------------

    /// Computes the values of a node for the current block of its level.
    pub(super) fn forward(&mut self, node: usize) {
        deep(|| self.forward_here(node));
    }

    fn forward_here(&mut self, node: usize) {
        let exec = self.exec;
        let len = self.len(node);
        match &exec.nodes[node].kind {
            NodeKind::Constant(truth) => {
                let value = T::from_f64(match (truth, self.shared.semantics.space) {
                    (true, Space::Log) => 0.0,
                    (false, Space::Log) => FLOOR,
                    (truth, _) => f64::from(u8::from(*truth)),
                });
                let mut out = self.take_values(node);
                out[..len].fill(value);
                self.put_values(node, out);
            }
            NodeKind::Literal { .. } | NodeKind::Use { .. } => {
                let mut out = self.take_values(node);
                self.gather(node, &mut out[..len], false);
                self.put_values(node, out);
            }
            NodeKind::And(members) if self.shared.and.laws.adds => {
                self.forward_sum(node, members);
            }
            NodeKind::And(members) => self.forward_connective(&self.shared.and, node, members),
            NodeKind::Or(members) => self.forward_connective(&self.shared.or, node, members),
            NodeKind::Not(a) => {
                self.forward(*a);
                let mut out = self.take_values(node);
                (self.shared.not.forward)(self.values(*a), &mut out[..len]);
                self.put_values(node, out);
            }
            NodeKind::Implies(a, b) => {
                self.forward(*a);
                self.forward(*b);
                let mut out = self.take_values(node);
                let operands = [self.values(*a), self.values(*b)];
                (self.shared.implies.forward)(self.settings, operands, &mut out[..len]);
                self.put_values(node, out);
            }
            NodeKind::Iff(a, b) => {
                self.forward(*a);
                self.forward(*b);
                self.forward_equivalence(node, *a, *b);
            }
            NodeKind::Log(a) => {
                self.forward(*a);
                let mut out = self.take_values(node);
                let s = self.settings;
                for (out, &x) in out[..len].iter_mut().zip(self.values(*a)) {
                    *out = s.away_from_zero(x);
                }
                T::kernels().ln(&mut out[..len]);
                self.put_values(node, out);
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => self.forward_quantifier(node, *forall, *level, *body),
            NodeKind::Elimination(index) => self.forward_elimination(node, *index),
        }
    }

    /// Reads a literal's values; with `add`, adds them to the buffer.
    fn gather(&self, node: usize, out: &mut [T], add: bool) {
        if let NodeKind::Literal {
            request, negated, ..
        } = self.exec.nodes[node].kind
        {
            self.gather_from(node, request, negated, out, add);
        }
        if let NodeKind::Use {
            stratum, negated, ..
        } = self.exec.nodes[node].kind
        {
            let literals = &self.shared.literals[stratum];
            let table = match negated {
                true => &literals.negative,
                false => &literals.positive,
            };
            let start = self.layer.start(self.shared.plan, stratum);
            self.gather_places(node, &table[start..], out, add);
        }
    }

    fn gather_from(&self, node: usize, request: usize, negated: bool, out: &mut [T], add: bool) {
        let literals = &self.shared.literals[request];
        let table = if negated {
            &literals.negative
        } else {
            &literals.positive
        };
        self.gather_places(node, table, out, add);
    }

    fn gather_places(&self, node: usize, table: &[T], out: &mut [T], add: bool) {
        match self.exec.nodes[node].place {
            SlotSource::Base(slot) => {
                let value = table[self.shared.active.bases[self.program][slot] as usize];
                match add {
                    true => out.iter_mut().for_each(|out| *out += value),
                    false => out.fill(value),
                }
            }
            SlotSource::Array(index) => {
                let block = self.lane.blocks.block(self.exec.nodes[node].level);
                match block.places(index) {
                    BlockPlaces::Listed(places) if add => {
                        let pairs = out.iter_mut().zip(places);
                        pairs.for_each(|(out, &place)| *out += table[place as usize]);
                    }
                    BlockPlaces::Listed(places) => {
                        let pairs = out.iter_mut().zip(places);
                        pairs.for_each(|(out, &place)| *out = table[place as usize]);
                    }
                    BlockPlaces::Spaced(spaced) => run_task(ReadSpaced {
                        table,
                        spaced,
                        out,
                        add,
                    }),
                }
            }
        }
    }

    /// A sum of logs. Literals are added as they are read, without a separate buffer.
    fn forward_sum(&mut self, node: usize, members: &[usize]) {
        let len = self.len(node);
        let is_literal = |m: usize| matches!(self.exec.nodes[m].kind, NodeKind::Literal { .. });
        for &member in members {
            if !is_literal(member) {
                self.forward(member);
            }
        }
        let mut out = self.take_values(node);
        for (i, &member) in members.iter().enumerate() {
            let out = &mut out[..len];
            match (is_literal(member), i) {
                (true, i) => self.gather(member, out, i > 0),
                (false, 0) => out.copy_from_slice(self.values(member)),
                (false, _) => {
                    let values = self.values(member);
                    out.iter_mut().zip(values).for_each(|(out, &x)| *out += x);
                }
            }
        }
        self.put_values(node, out);
    }

    fn forward_connective(&mut self, connective: &Connection<T>, node: usize, members: &[usize]) {
        members.iter().for_each(|m| self.forward(*m));
        if connective.laws.wants_complements {
            self.find_complements(members);
        }
        let len = self.len(node);
        let mut out = self.take_values(node);
        let (level, buffers) = self.side_by_side(members);
        let lane = &mut *self.lane;
        let operands = Members {
            values: &lane.values[level][buffers.clone()],
            len,
            complements: &lane.complements,
        };
        // What the operator keeps for the members' derivatives is stored where these will be.
        let to = Forward {
            slopes: &mut lane.derivatives[level][buffers],
            out: &mut out[..len],
            scratch: &mut lane.scratch[..len],
        };
        (connective.forward)(self.settings, operands, to);
        self.put_values(node, out);
    }

    /// The level and the buffers of a connective's members.
    fn side_by_side(&self, members: &[usize]) -> (usize, std::ops::Range<usize>) {
        let first = &self.exec.nodes[members[0]];
        (first.level, first.buffer..first.buffer + members.len())
    }

    /// The complements of some nodes of one level: for a literal its negation.
    fn find_complements(&mut self, nodes: &[usize]) {
        let mut all = std::mem::take(&mut self.lane.complements);
        all.resize_with(all.len().max(nodes.len()), Vec::new);
        let by_complements = &mut self.lane.by_complements;
        by_complements.resize_with(all.len(), Vec::new);
        for (k, &node) in nodes.iter().enumerate() {
            let len = self.len(node);
            all[k].resize(len, T::ZERO);
            self.lane.by_complements[k].resize(len, T::ZERO);
            match self.exec.nodes[node].kind {
                NodeKind::Literal {
                    request, negated, ..
                } => self.gather_from(node, request, !negated, &mut all[k], false),
                _ => operators::complements(self.values(node), &mut all[k]),
            }
        }
        self.lane.complements = all;
    }

    /// Passes the derivatives by complements on: to the negations of literals, or to the nodes that they are
    /// complements of.
    fn hand_on_complements(&mut self, nodes: &[usize]) {
        let all = std::mem::take(&mut self.lane.by_complements);
        for (by, &node) in all.iter().zip(nodes) {
            match self.exec.nodes[node].kind {
                NodeKind::Literal {
                    request, negated, ..
                } => self.scatter_to(node, request, 0, !negated, by),
                _ => {
                    let mut own = self.take_derivatives(node);
                    operators::add_slopes(self.values(node), by, &mut own);
                    self.put_derivatives(node, own);
                }
            }
        }
        self.lane.by_complements = all;
    }

    /// Both implications, and their conjunction.
    fn forward_equivalence(&mut self, node: usize, a: usize, b: usize) {
        let len = self.len(node);
        let (Shared { and, implies, .. }, settings) = (self.shared, self.settings);
        let mut halves = std::mem::take(&mut self.lane.halves);
        let mut kept = std::mem::take(&mut self.lane.by_halves);
        let mut scratch = std::mem::take(&mut self.lane.scratch);
        let mut out = self.take_values(node);
        kept.resize_with(2, Vec::new);
        for buffer in halves.iter_mut().chain(&mut kept) {
            buffer.resize(len, T::ZERO);
        }
        let (x, y) = (self.values(a), self.values(b));
        (implies.forward)(settings, [x, y], &mut halves[0]);
        (implies.forward)(settings, [y, x], &mut halves[1]);
        let members = Members {
            values: &halves,
            len,
            complements: &[],
        };
        let to = Forward {
            slopes: &mut kept,
            out: &mut out[..len],
            scratch: &mut scratch[..len],
        };
        (and.forward)(settings, members, to);
        self.put_values(node, out);
        self.lane.scratch = scratch;
        self.lane.by_halves = kept;
        self.lane.halves = halves;
    }

    /// Other equivalences may have overwritten the halves, so they are computed again.
    fn backward_equivalence(&mut self, node: usize, a: usize, b: usize) {
        self.forward_equivalence(node, a, b);
        let len = self.len(node);
        let (Shared { and, implies, .. }, settings) = (self.shared, self.settings);
        let halves = std::mem::take(&mut self.lane.halves);
        let mut by_halves = std::mem::take(&mut self.lane.by_halves);
        let mut scratch = std::mem::take(&mut self.lane.scratch);
        let by = self.take_derivatives(node);
        let (mut by_a, mut by_b) = (self.take_derivatives(a), self.take_derivatives(b));
        let members = Members {
            values: &halves,
            len,
            complements: &[],
        };
        let to = Backward {
            by: &by[..len],
            slopes: &mut by_halves,
            by_complements: &mut [],
            scratch: &mut scratch[..len],
        };
        (and.backward)(settings, members, to);
        by_a[..len].fill(T::ZERO);
        by_b[..len].fill(T::ZERO);
        let (x, y) = (self.values(a), self.values(b));
        let (by_x, by_y) = (&mut by_a[..len], &mut by_b[..len]);
        (implies.backward)(settings, [x, y], &by_halves[0], [by_x, by_y]);
        (implies.backward)(settings, [y, x], &by_halves[1], [by_y, by_x]);
        self.put_derivatives(node, by);
        self.put_derivatives(a, by_a);
        self.put_derivatives(b, by_b);
        self.lane.scratch = scratch;
        self.lane.by_halves = by_halves;
        self.lane.halves = halves;
    }

    fn forward_quantifier(&mut self, node: usize, forall: bool, level: usize, body: usize) {
        let parents = self.len(node);
        let mut states = std::mem::take(&mut self.lane.states[node]);
        states.clear();
        states.resize(parents, (self.shared.aggregation(forall).start)());
        let mut cursor = self.lane.blocks.take_cursor(level);
        cursor.reset(parents);
        let mut blocks = 0;
        while self.fill(level, &mut cursor) {
            blocks += 1;
            self.forward(body);
            self.accumulate(forall, level, body, &mut states);
        }
        self.lane.blocks.put_cursor(level, cursor);
        let parent_stamp = self.lane.blocks.block(self.exec.nodes[node].level).stamp;
        self.lane.resident[level] = if blocks == 1 { parent_stamp } else { 0 };
        let mut out = self.take_values(node);
        for (out, state) in out.iter_mut().zip(&states) {
            *out = T::from_f64(quantifier_value(
                self.shared,
                self.aggregators,
                forall,
                state,
            ));
        }
        if !forall && !self.lane.again && !self.exec.nodes[node].uncounted {
            let empty = states.iter().filter(|s| s.count == 0.0).count();
            self.lane.empty_exists += empty as u64;
        }
        self.put_values(node, out);
        self.lane.states[node] = states;
    }

    fn accumulate(&mut self, forall: bool, level: usize, body: usize, states: &mut [State]) {
        let aggregation = self.shared.aggregation(forall);
        if aggregation.laws.wants_complements {
            self.find_complements(&[body]);
        }
        self.weigh(level);
        let buffer = self.buffer(body);
        let lane = &mut *self.lane;
        let bindings = lane.blocks.block(level);
        let weighed = !self.exec.levels[level].weights.is_empty();
        let block = Block {
            values: &lane.values[level][buffer][..bindings.len],
            complements: lane.complements.first().map_or(&[], |c| c),
            segments: &bindings.segments,
            weights: weighed.then(|| &lane.weights[..bindings.len]),
        };
        let to = Accumulated {
            states,
            work: &mut lane.derivatives[level][buffer][..bindings.len],
            scratch: &mut lane.scratch[..bindings.len],
        };
        aggregation.accumulate(self.aggregators, block, to);
    }

    // --- backward -------------------------------------------------------------------------------

    /// Passes the derivatives of a node, for the current block, down to the literals.
    pub(super) fn backward(&mut self, node: usize) {
        deep(|| self.backward_here(node));
    }

    fn backward_here(&mut self, node: usize) {
        let exec = self.exec;
        let len = self.len(node);
        let s = self.settings;
        match &exec.nodes[node].kind {
            NodeKind::Constant(_) => {}
            NodeKind::Literal { .. } | NodeKind::Use { .. } => {
                let by = self.take_derivatives(node);
                self.scatter(node, &by[..len]);
                self.put_derivatives(node, by);
            }
            NodeKind::And(members) if self.shared.and.laws.adds => {
                let by = self.take_derivatives(node);
                for &member in members {
                    if matches!(exec.nodes[member].kind, NodeKind::Literal { .. }) {
                        self.scatter(member, &by[..len]);
                    } else {
                        let mut own = self.take_derivatives(member);
                        own[..len].copy_from_slice(&by[..len]);
                        self.put_derivatives(member, own);
                        self.backward(member);
                    }
                }
                self.put_derivatives(node, by);
            }
            NodeKind::And(members) => self.backward_connective(&self.shared.and, node, members),
            NodeKind::Or(members) => self.backward_connective(&self.shared.or, node, members),
            NodeKind::Not(a) => {
                let by = self.take_derivatives(node);
                let mut by_a = self.take_derivatives(*a);
                (self.shared.not.backward)(self.values(*a), &by[..len], &mut by_a[..len]);
                self.put_derivatives(node, by);
                self.put_derivatives(*a, by_a);
                self.backward(*a);
            }
            NodeKind::Log(a) => {
                let by = self.take_derivatives(node);
                let mut by_a = self.take_derivatives(*a);
                for ((out, &by), &x) in by_a.iter_mut().zip(&by).zip(self.values(*a)) {
                    *out = by * (s.slope() / s.away_from_zero(x));
                }
                self.put_derivatives(node, by);
                self.put_derivatives(*a, by_a);
                self.backward(*a);
            }
            NodeKind::Implies(a, b) => {
                let by = self.take_derivatives(node);
                let (mut by_a, mut by_b) = (self.take_derivatives(*a), self.take_derivatives(*b));
                by_a[..len].fill(T::ZERO);
                by_b[..len].fill(T::ZERO);
                let operands = [self.values(*a), self.values(*b)];
                let slopes = [&mut by_a[..len], &mut by_b[..len]];
                (self.shared.implies.backward)(s, operands, &by[..len], slopes);
                self.put_derivatives(node, by);
                self.put_derivatives(*a, by_a);
                self.put_derivatives(*b, by_b);
                self.backward(*a);
                self.backward(*b);
            }
            NodeKind::Iff(a, b) => {
                self.backward_equivalence(node, *a, *b);
                self.backward(*a);
                self.backward(*b);
            }
            NodeKind::Quantifier {
                forall,
                level,
                body,
            } => self.backward_quantifier(node, *forall, *level, *body),
            NodeKind::Elimination(index) => self.backward_elimination(node, *index),
        }
    }

    /// Adds to the derivatives by a literal's number.
    fn scatter(&mut self, node: usize, by: &[T]) {
        if let NodeKind::Literal {
            request, negated, ..
        } = self.exec.nodes[node].kind
        {
            self.scatter_to(node, request, 0, negated, by);
        }
        if let NodeKind::Use {
            stratum, negated, ..
        } = self.exec.nodes[node].kind
        {
            let start = self.layer.start(self.shared.plan, stratum);
            self.scatter_to(node, stratum, start, negated, by);
        }
    }

    fn scatter_to(&mut self, node: usize, request: usize, start: usize, negated: bool, by: &[T]) {
        let Lane {
            blocks, by_literal, ..
        } = &mut *self.lane;
        let table = &mut by_literal[request][usize::from(negated)];
        match self.exec.nodes[node].place {
            SlotSource::Base(slot) => {
                let place = self.shared.active.bases[self.program][slot] as usize;
                table.add(start + place, T::kernels().sum(by));
            }
            SlotSource::Array(index) => {
                let block = blocks.block(self.exec.nodes[node].level);
                match block.places(index) {
                    places if start > 0 => table.add_beyond(start, places, by),
                    BlockPlaces::Listed(places) => table.add_at(places, by),
                    BlockPlaces::Spaced(spaced) => table.add_spaced(spaced, by),
                }
            }
        }
    }

    fn backward_connective(&mut self, connective: &Connection<T>, node: usize, members: &[usize]) {
        let wants_complements = connective.laws.wants_complements;
        if wants_complements {
            self.find_complements(members);
        }
        let len = self.len(node);
        let by = self.take_derivatives(node);
        let (level, buffers) = self.side_by_side(members);
        let lane = &mut *self.lane;
        let operands = Members {
            values: &lane.values[level][buffers.clone()],
            len,
            complements: &lane.complements,
        };
        let to = Backward {
            by: &by[..len],
            slopes: &mut lane.derivatives[level][buffers],
            by_complements: &mut lane.by_complements,
            scratch: &mut lane.scratch[..len],
        };
        (connective.backward)(self.settings, operands, to);
        self.put_derivatives(node, by);
        if wants_complements {
            self.hand_on_complements(members);
        }
        for &member in members {
            let literal = matches!(self.exec.nodes[member].kind, NodeKind::Literal { .. });
            // Usually the whole derivative is by the complement.
            if !(wants_complements && literal && self.has_no_derivatives(member)) {
                self.backward(member);
            }
        }
    }

    fn has_no_derivatives(&self, node: usize) -> bool {
        let Node { level, buffer, .. } = self.exec.nodes[node];
        let own = &self.lane.derivatives[level][buffer][..self.len(node)];
        own.iter().all(|by| *by == T::ZERO)
    }

    fn backward_quantifier(&mut self, node: usize, forall: bool, level: usize, body: usize) {
        let parents = self.len(node);
        let by = self.take_derivatives(node);
        let mut states = std::mem::take(&mut self.lane.states[node]);
        let by_aggregate = |parent: usize| by[parent].to_f64();
        let parent_stamp = self.lane.blocks.block(self.exec.nodes[node].level).stamp;
        let again = std::mem::replace(&mut self.lane.again, true);
        if self.lane.resident[level] == parent_stamp {
            self.derivatives(forall, level, body, &mut states, &by_aggregate, true);
            self.backward(body);
        } else {
            let mut cursor = self.lane.blocks.take_cursor(level);
            cursor.reset(parents);
            while self.fill(level, &mut cursor) {
                self.forward(body);
                self.derivatives(forall, level, body, &mut states, &by_aggregate, false);
                self.backward(body);
            }
            self.lane.blocks.put_cursor(level, cursor);
        }
        self.lane.again = again;
        self.lane.states[node] = states;
        self.put_derivatives(node, by);
    }

    fn derivatives(
        &mut self,
        forall: bool,
        level: usize,
        body: usize,
        states: &mut [State],
        by: &dyn Fn(usize) -> f64,
        fresh: bool,
    ) {
        let aggregation = self.shared.aggregation(forall);
        let wants_complements = aggregation.laws.wants_complements;
        if wants_complements {
            self.find_complements(&[body]);
        }
        self.weigh(level);
        let buffer = self.buffer(body);
        let lane = &mut *self.lane;
        let bindings = lane.blocks.block(level);
        let weighed = !self.exec.levels[level].weights.is_empty();
        let block = Block {
            values: &lane.values[level][buffer][..bindings.len],
            complements: lane.complements.first().map_or(&[], |c| c),
            segments: &bindings.segments,
            weights: weighed.then(|| &lane.weights[..bindings.len]),
        };
        let to = Slopes {
            states,
            by,
            fresh,
            out: &mut lane.derivatives[level][buffer][..bindings.len],
            by_complements: lane.by_complements.first_mut().map_or(&mut [], |by| by),
            scratch: &mut lane.scratch[..bindings.len],
        };
        (aggregation.slopes)(self.aggregators, block, to);
        if wants_complements {
            self.hand_on_complements(&[body]);
        }
    }
}
