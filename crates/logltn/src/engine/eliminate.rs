//! An `exists` by elimination, for all outer bindings of a block: the factors' values are gathered, then
//! each step sums over its combinations, and the backward pass goes through the steps in reverse.

use super::run::Run;
use crate::operators::{FLOOR, Semiring};
use crate::plan::physical::{Physical, SlotSource};
use crate::plan::program::{Elimination, EliminationInput, NodeKind};
use crate::vector::Real;

/// The buffers of one elimination.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<T> {
    /// By outer binding.
    keys: Vec<u32>,
    /// By factor: its values, one outer binding after the other, and the derivatives by them.
    factors: Vec<(Vec<T>, Vec<T>)>,
    steps: Vec<StepWork<T>>,
    /// For each combination the greatest of those that it is summed with, for the exponentials.
    rivals: Vec<T>,
}

#[derive(Clone, Debug, Default)]
struct StepWork<T> {
    /// By outer binding: where its combinations and its message start.
    starts: Vec<(u32, u32)>,
    /// By combination: the sum of its inputs; for LogSumExp its exponential after the forward pass.
    combinations: Vec<T>,
    /// By place of the message: its value, the sum of exponentials, and the derivative by it.
    message: Vec<T>,
    sums: Vec<T>,
    by_message: Vec<T>,
}

impl<T: Real> Work<T> {
    /// Room for as many outer bindings as a block holds.
    pub fn make_room(&mut self, elimination: &Elimination, bindings: usize) {
        if self.factors.len() < elimination.factors.len() {
            self.factors
                .resize_with(elimination.factors.len(), Default::default);
        }
        if self.steps.len() < elimination.steps.len() {
            self.steps
                .resize_with(elimination.steps.len(), Default::default);
        }
        let make = |vector: &mut Vec<T>, length: usize| {
            vector.reserve(length.saturating_sub(vector.len()));
        };
        self.keys.reserve(bindings.saturating_sub(self.keys.len()));
        for (factor, (values, derivatives)) in elimination.factors.iter().zip(&mut self.factors) {
            make(values, factor.size * bindings);
            make(derivatives, factor.size * bindings);
        }
        for (step, work) in elimination.steps.iter().zip(&mut self.steps) {
            make(&mut work.combinations, step.longest * bindings);
            make(&mut self.rivals, step.longest * bindings);
            for vector in [&mut work.message, &mut work.sums, &mut work.by_message] {
                make(vector, step.widest * bindings);
            }
            work.starts
                .reserve(bindings.saturating_sub(work.starts.len()));
        }
    }

    /// Whether the only outer binding has none of its own.
    pub fn is_empty_for_one(&self, elimination: &Elimination) -> bool {
        elimination.counts[self.keys[0] as usize] == 0
    }

    /// The sum of the last steps' results, for the only outer binding.
    pub fn total_of_one(&self, elimination: &Elimination) -> f64 {
        let steps = self.steps.iter().zip(&elimination.last);
        let last = steps.filter(|(_, last)| **last);
        last.map(|(step, _)| step.message[0].to_f64()).sum()
    }

    pub fn factor_mut(&mut self, factor: usize) -> &mut [T] {
        &mut self.factors[factor].0
    }

    /// All steps for all outer bindings.
    pub fn forward(&mut self, elimination: &Elimination, semiring: Semiring, alpha: T) {
        for (s, step) in elimination.steps.iter().enumerate() {
            let (earlier, rest) = self.steps.split_at_mut(s);
            let work = &mut rest[0];
            work.starts.clear();
            work.message.clear();
            work.combinations.clear();
            self.rivals.clear();
            for (binding, &key) in self.keys.iter().enumerate() {
                let start = work.combinations.len();
                work.starts.push((start as u32, work.message.len() as u32));
                let Some(list) = elimination.list(key as usize, s) else {
                    continue;
                };
                let len = list.len();
                work.combinations.resize(start + len, T::ZERO);
                let sums = &mut work.combinations[start..];
                for (i, input) in step.inputs.iter().enumerate() {
                    let values = match *input {
                        EliminationInput::Message(m) => {
                            let from = earlier[m].starts[binding].1 as usize;
                            &earlier[m].message[from..]
                        }
                        EliminationInput::Factor(f) => {
                            &self.factors[f].0[binding * elimination.factors[f].size..]
                        }
                    };
                    let places = &list.places[i * len..(i + 1) * len];
                    for (sum, &place) in sums.iter_mut().zip(places) {
                        *sum += values[place as usize];
                    }
                }
                let mut from = 0;
                for &end in &list.ends {
                    let end = end as usize;
                    let own = &sums[from..end];
                    let largest = own[1..].iter().fold(own[0], |a, &b| a.max(b));
                    work.message.push(largest);
                    self.rivals.resize(start + end, largest);
                    from = end;
                }
            }
            if semiring == Semiring::Greatest {
                continue;
            }
            T::kernels().exp_scaled_difference(&mut work.combinations, alpha, &self.rivals);
            work.sums.clear();
            for (&key, &(start, _)) in self.keys.iter().zip(&work.starts) {
                let Some(list) = elimination.list(key as usize, s) else {
                    continue;
                };
                let mut from = start as usize;
                for &end in &list.ends {
                    let end = (start + end) as usize;
                    let own = work.combinations[from..end].iter();
                    work.sums.push(own.fold(T::ZERO, |a, &b| a + b));
                    from = end;
                }
            }
            work.by_message.clear();
            work.by_message.extend_from_slice(&work.sums);
            T::kernels().ln(&mut work.by_message);
            for (message, &log) in work.message.iter_mut().zip(&work.by_message) {
                *message += log / alpha;
            }
        }
    }

    /// The steps in reverse: from the derivative by each outer binding's value to those by the factors.
    pub fn backward(&mut self, elimination: &Elimination, semiring: Semiring, by: &[T]) {
        for work in &mut self.steps[..elimination.steps.len()] {
            work.by_message.clear();
            work.by_message.resize(work.message.len(), T::ZERO);
        }
        for (values, derivatives) in &mut self.factors[..elimination.factors.len()] {
            derivatives.clear();
            derivatives.resize(values.len(), T::ZERO);
        }
        for (s, step) in elimination.steps.iter().enumerate().rev() {
            let (earlier, rest) = self.steps.split_at_mut(s);
            let work = &mut rest[0];
            let is_last = elimination.last[s];
            for (binding, &key) in self.keys.iter().enumerate() {
                let Some(list) = elimination.list(key as usize, s) else {
                    continue;
                };
                let (start, message) = work.starts[binding];
                let (start, message) = (start as usize, message as usize);
                let len = list.len();
                if is_last {
                    work.by_message[message] = by[binding];
                }
                // Overwrites the combinations' values with the derivatives by them.
                let mut from = 0;
                for (place, &end) in list.ends.iter().enumerate() {
                    let end = end as usize;
                    let own = &mut work.combinations[start + from..start + end];
                    let derivative = work.by_message[message + place];
                    if semiring == Semiring::Greatest {
                        let largest = work.message[message + place];
                        // Of equal ones, the first gets the whole derivative.
                        let first = own.iter().position(|x| *x == largest);
                        own.fill(T::ZERO);
                        if let Some(first) = first {
                            own[first] = derivative;
                        }
                    } else {
                        let factor = derivative / work.sums[message + place];
                        own.iter_mut().for_each(|x| *x *= factor);
                    }
                    from = end;
                }
                let derivatives = &work.combinations[start..start + len];
                for (i, input) in step.inputs.iter().enumerate() {
                    let into = match *input {
                        EliminationInput::Message(m) => {
                            let from = earlier[m].starts[binding].1 as usize;
                            &mut earlier[m].by_message[from..]
                        }
                        EliminationInput::Factor(f) => {
                            &mut self.factors[f].1[binding * elimination.factors[f].size..]
                        }
                    };
                    let places = &list.places[i * len..(i + 1) * len];
                    for (&derivative, &place) in derivatives.iter().zip(places) {
                        into[place as usize] += derivative;
                    }
                }
            }
        }
    }
}

/// Makes room for every elimination of a program.
pub(super) fn make_room<T: Real>(works: &mut Vec<Work<T>>, exec: &Physical) {
    if works.len() < exec.eliminations.len() {
        works.resize_with(exec.eliminations.len(), Work::default);
    }
    for node in &exec.nodes {
        if let NodeKind::Elimination(index) = node.kind {
            let bindings = exec.levels[node.level].capacity;
            works[index].make_room(&exec.eliminations[index], bindings);
        }
    }
}

impl<T: Real> Run<'_, '_, T> {
    pub(super) fn forward_elimination(&mut self, node: usize, index: usize) {
        let elimination = &self.exec.eliminations[index];
        let Some(semiring) = self.shared.aggregation(false).laws.semiring else {
            unreachable!("planned for aggregators only over which the sum distributes");
        };
        elimination.common.iter().for_each(|m| self.forward(*m));
        let bindings = self.len(node);
        let mut work = std::mem::take(&mut self.lane.eliminations[index]);
        work.keys.clear();
        match (elimination.key_slot, self.exec.nodes[node].place) {
            (None, _) => work.keys.resize(bindings, 0),
            (Some(_), SlotSource::Base(slot)) => {
                let key = self.shared.active.bases[self.program][slot];
                work.keys.resize(bindings, key);
            }
            (Some(_), SlotSource::Array(array)) => {
                let block = self.lane.blocks.block(self.exec.nodes[node].level);
                work.keys.extend_from_slice(block.array(array));
            }
        }
        let stamp = self.lane.blocks.block(self.exec.nodes[node].level).stamp;
        for (factor, (values, _)) in elimination.factors.iter().zip(&mut work.factors) {
            values.clear();
            let mut cursor = self.lane.blocks.take_cursor(factor.level);
            cursor.reset(bindings);
            let mut blocks = 0;
            while self.fill(factor.level, &mut cursor) {
                blocks += 1;
                self.forward(factor.body);
                values.extend_from_slice(self.values(factor.body));
            }
            self.lane.blocks.put_cursor(factor.level, cursor);
            self.lane.resident[factor.level] = if blocks == 1 { stamp } else { 0 };
        }
        if self.shared.stop.is_set() {
            // The factors may be incomplete.
            self.lane.eliminations[index] = work;
            return;
        }
        let alpha = self.settings.alpha;
        work.forward(elimination, semiring, alpha);
        let mut out = self.take_values(node);
        let mut empty = 0;
        for (binding, out) in out[..bindings].iter_mut().enumerate() {
            let key = work.keys[binding] as usize;
            if elimination.counts[key] == 0 {
                empty += 1;
                *out = T::from_f64(FLOOR);
                continue;
            }
            // Divided by the number of bindings; variables that nothing reads cancel out.
            let shift = match semiring {
                Semiring::Exponentials { mean: true } => -elimination.log_counts[key],
                Semiring::Exponentials { mean: false } => elimination.log_unread,
                Semiring::Greatest => 0.0,
            };
            *out = T::from_f64(shift / self.aggregators.alpha);
            for (step, last) in work.steps.iter().zip(&elimination.last) {
                if *last {
                    *out += step.message[step.starts[binding].1 as usize];
                }
            }
            for &member in &elimination.common {
                *out += self.values(member)[binding];
            }
        }
        if !self.lane.again && !self.exec.nodes[node].uncounted {
            self.lane.empty_exists += empty;
        }
        self.put_values(node, out);
        self.lane.eliminations[index] = work;
    }

    pub(super) fn backward_elimination(&mut self, node: usize, index: usize) {
        let elimination = &self.exec.eliminations[index];
        let Some(semiring) = self.shared.aggregation(false).laws.semiring else {
            unreachable!("planned for aggregators only over which the sum distributes");
        };
        if self.shared.stop.is_set() {
            return;
        }
        let bindings = self.len(node);
        let mut work = std::mem::take(&mut self.lane.eliminations[index]);
        let mut by = self.take_derivatives(node);
        for (by, &key) in by[..bindings].iter_mut().zip(&work.keys) {
            if elimination.counts[key as usize] == 0 {
                *by = T::ZERO;
            }
        }
        work.backward(elimination, semiring, &by[..bindings]);
        for &member in &elimination.common {
            let mut own = self.take_derivatives(member);
            own[..bindings].copy_from_slice(&by[..bindings]);
            self.put_derivatives(member, own);
            self.backward(member);
        }
        self.put_derivatives(node, by);
        let stamp = self.lane.blocks.block(self.exec.nodes[node].level).stamp;
        let again = std::mem::replace(&mut self.lane.again, true);
        for (factor, (_, derivatives)) in elimination.factors.iter().zip(&work.factors) {
            if self.lane.resident[factor.level] == stamp {
                self.hand_down(factor.body, derivatives);
                continue;
            }
            let mut cursor = self.lane.blocks.take_cursor(factor.level);
            cursor.reset(bindings);
            let mut rest = derivatives.as_slice();
            while self.fill(factor.level, &mut cursor) {
                self.forward(factor.body);
                let (these, others) = rest.split_at(self.len(factor.body));
                self.hand_down(factor.body, these);
                rest = others;
            }
            self.lane.blocks.put_cursor(factor.level, cursor);
        }
        self.lane.again = again;
        self.lane.eliminations[index] = work;
    }

    fn hand_down(&mut self, node: usize, derivatives: &[T]) {
        let mut own = self.take_derivatives(node);
        own[..derivatives.len()].copy_from_slice(derivatives);
        self.put_derivatives(node, own);
        self.backward(node);
    }
}
