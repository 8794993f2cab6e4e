//! Questions to a circuit, for some assignments of weights (lanes) at once: up through the nodes, and down again.
//!
//! Arrays hold one number for each lane, lane after lane within a node or a state. Weights are logs of probabilities; those
//! of a variable add up to 1.

use super::{Circuit, Part, Root};

/// The logs of the weights of all states, `lanes` numbers each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a> {
    pub logs: &'a [f64],
    pub lanes: usize,
}

impl Weights<'_> {
    fn of(&self, slot: usize) -> &[f64] {
        &self.logs[slot * self.lanes..(slot + 1) * self.lanes]
    }
}

/// Reused buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    up: Vec<f64>,
    down: Vec<f64>,
    up_tangent: Vec<f64>,
    down_tangent: Vec<f64>,
    scratch: Vec<f64>,
    preference: Vec<f64>,
}

fn row(list: &[f64], at: usize, lanes: usize) -> &[f64] {
    &list[at * lanes..(at + 1) * lanes]
}

fn row_mut(list: &mut [f64], at: usize, lanes: usize) -> &mut [f64] {
    &mut list[at * lanes..(at + 1) * lanes]
}

/// log Σ exp, one row after the other of which `each` gives some.
fn log_sum_exp<'a>(
    rows: impl Iterator<Item = &'a [f64]> + Clone,
    greatest: &mut [f64],
    out: &mut [f64],
) {
    greatest.fill(f64::NEG_INFINITY);
    for row in rows.clone() {
        for (greatest, x) in greatest.iter_mut().zip(row) {
            *greatest = greatest.max(*x);
        }
    }
    out.fill(0.0);
    for row in rows {
        for ((out, x), greatest) in out.iter_mut().zip(row).zip(&*greatest) {
            // If all parts are impossible, the greatest is −∞ and the difference is NaN.
            *out += if *x == *greatest {
                1.0
            } else {
                (x - greatest).exp()
            };
        }
    }
    for (out, greatest) in out.iter_mut().zip(&*greatest) {
        *out = if *greatest == f64::NEG_INFINITY {
            f64::NEG_INFINITY
        } else {
            greatest + out.ln()
        };
    }
}

impl Lanes {
    /// The log of the probability of the formula, by lane.
    pub fn evaluate(&mut self, circuit: &Circuit, weights: Weights, out: &mut [f64]) {
        let lanes = weights.lanes;
        let root = match circuit.root {
            Root::False => return out.fill(f64::NEG_INFINITY),
            Root::True => return out.fill(0.0),
            Root::Node(root) => root as usize,
        };
        self.up.resize(circuit.nodes.len() * lanes, 0.0);
        self.scratch.resize(lanes, 0.0);
        for (at, part) in circuit.parts() {
            let (done, rest) = self.up.split_at_mut(at * lanes);
            let own = &mut rest[..lanes];
            match part {
                Part::Leaf(var, states) => {
                    let first = circuit.slots[var as usize];
                    let of = |state: &u32| weights.of((first + state) as usize);
                    match states {
                        [only] => own.copy_from_slice(of(only)),
                        _ => log_sum_exp(states.iter().map(of), &mut self.scratch, own),
                    }
                }
                Part::Product(children) => {
                    own.fill(0.0);
                    for child in children {
                        let child = row(done, *child as usize, lanes);
                        own.iter_mut().zip(child).for_each(|(o, c)| *o += c);
                    }
                }
                Part::Sum(children) => {
                    let rows = children.iter().map(|c| row(done, *c as usize, lanes));
                    log_sum_exp(rows, &mut self.scratch, own);
                }
            }
        }
        // Rounding must not give probabilities above 1.
        let values = row(&self.up, root, lanes);
        out.iter_mut()
            .zip(values)
            .for_each(|(o, v)| *o = v.min(0.0));
    }

    /// After [`Lanes::evaluate`]: for each state, how probable it is, given the formula, that the circuit's way goes
    /// through a leaf with it. If a variable's numbers add up to less than 1, the rest is the probability of paths on
    /// which it is free. Impossible lanes get zeros.
    pub fn flows(&mut self, circuit: &Circuit, weights: Weights, out: &mut [f64]) {
        let lanes = weights.lanes;
        out[..circuit.slot_count() * lanes].fill(0.0);
        let Root::Node(root) = circuit.root else {
            return;
        };
        self.down.clear();
        self.down.resize(circuit.nodes.len() * lanes, 0.0);
        let possible = |v: &f64| if *v == f64::NEG_INFINITY { 0.0 } else { 1.0 };
        let value = row(&self.up, root as usize, lanes);
        let start = row_mut(&mut self.down, root as usize, lanes);
        (start.iter_mut().zip(value)).for_each(|(d, v)| *d = possible(v));
        for (at, part) in circuit.parts().rev() {
            let (below, own) = self.down.split_at_mut(at * lanes);
            let own = &own[..lanes];
            if own.iter().all(|d| *d == 0.0) {
                continue;
            }
            let value = row(&self.up, at, lanes);
            match part {
                Part::Leaf(var, states) => {
                    let first = circuit.slots[var as usize];
                    for state in states {
                        let slot = (first + state) as usize;
                        let weight = weights.of(slot);
                        let out = row_mut(out, slot, lanes);
                        for lane in 0..lanes {
                            if own[lane] != 0.0 {
                                out[lane] +=
                                    own[lane] * share(weight[lane], value[lane], states.len());
                            }
                        }
                    }
                }
                Part::Product(children) => {
                    for child in children {
                        let child = row_mut(below, *child as usize, lanes);
                        child.iter_mut().zip(own).for_each(|(c, o)| *c += o);
                    }
                }
                Part::Sum(children) => {
                    for child in children {
                        let up = row(&self.up, *child as usize, lanes);
                        let child = row_mut(below, *child as usize, lanes);
                        for lane in 0..lanes {
                            if own[lane] != 0.0 {
                                child[lane] += own[lane] * (up[lane] - value[lane]).exp();
                            }
                        }
                    }
                }
            }
        }
    }

    /// After [`Lanes::evaluate`]: the derivative of the formula's probability by the weight of each state, divided by
    /// that probability. This works for weights of 0 too, unlike [`Lanes::flows`]. Impossible lanes get zeros.
    pub fn ratios(&mut self, circuit: &Circuit, weights: Weights, out: &mut [f64]) {
        let lanes = weights.lanes;
        let slots = circuit.slot_count() * lanes;
        out[..slots].fill(f64::NEG_INFINITY);
        let Root::Node(root) = circuit.root else {
            out[..slots].fill(0.0);
            return;
        };
        self.down.clear();
        self.down
            .resize(circuit.nodes.len() * lanes, f64::NEG_INFINITY);
        row_mut(&mut self.down, root as usize, lanes).fill(0.0);
        for (at, part) in circuit.parts().rev() {
            let (below, own) = self.down.split_at_mut(at * lanes);
            let own = &own[..lanes];
            match part {
                Part::Leaf(var, states) => {
                    let first = circuit.slots[var as usize];
                    for state in states {
                        let out = row_mut(out, (first + state) as usize, lanes);
                        out.iter_mut()
                            .zip(own)
                            .for_each(|(o, d)| *o = log_add(*o, *d));
                    }
                }
                Part::Product(children) => {
                    for lane in 0..lanes {
                        let value = |c: &u32| self.up[*c as usize * lanes + lane];
                        let finite = children.iter().map(value).filter(|v| v.is_finite());
                        let (sum, count) = finite.fold((0.0, 0), |(s, n), v| (s + v, n + 1));
                        let zeros = children.len() - count;
                        for child in children {
                            let own_value = value(child);
                            let others = match (own_value.is_finite(), zeros) {
                                (true, 0) => sum - own_value,
                                (false, 1) => sum,
                                _ => continue,
                            };
                            let child = &mut below[*child as usize * lanes + lane];
                            *child = log_add(*child, own[lane] + others);
                        }
                    }
                }
                Part::Sum(children) => {
                    for child in children {
                        let child = row_mut(below, *child as usize, lanes);
                        child
                            .iter_mut()
                            .zip(own)
                            .for_each(|(c, d)| *c = log_add(*c, *d));
                    }
                }
            }
        }
        for slot in 0..circuit.slot_count() {
            let values = row(&self.up, root as usize, lanes);
            for (out, value) in row_mut(out, slot, lanes).iter_mut().zip(values) {
                *out = if *value == f64::NEG_INFINITY {
                    0.0
                } else {
                    (*out - value).exp()
                };
            }
        }
    }

    /// After [`Lanes::evaluate`] and [`Lanes::flows`]: how the flows change when the logs of the weights change in a
    /// direction (the product of the second derivatives with it).
    pub fn flow_tangents(
        &mut self,
        circuit: &Circuit,
        weights: Weights,
        direction: &[f64],
        out: &mut [f64],
    ) {
        let lanes = weights.lanes;
        out[..circuit.slot_count() * lanes].fill(0.0);
        let Root::Node(_) = circuit.root else {
            return;
        };
        let count = circuit.nodes.len() * lanes;
        self.up_tangent.clear();
        self.up_tangent.resize(count, 0.0);
        self.down_tangent.clear();
        self.down_tangent.resize(count, 0.0);
        for (at, part) in circuit.parts() {
            let (done, own) = self.up_tangent.split_at_mut(at * lanes);
            let own = &mut own[..lanes];
            let value = row(&self.up, at, lanes);
            match part {
                Part::Leaf(var, states) => {
                    let first = circuit.slots[var as usize];
                    for state in states {
                        let slot = (first + state) as usize;
                        let (weight, along) = (weights.of(slot), row(direction, slot, lanes));
                        for lane in 0..lanes {
                            own[lane] +=
                                along[lane] * share(weight[lane], value[lane], states.len());
                        }
                    }
                }
                Part::Product(children) => {
                    for child in children {
                        let child = row(done, *child as usize, lanes);
                        own.iter_mut().zip(child).for_each(|(o, c)| *o += c);
                    }
                }
                Part::Sum(children) => {
                    for child in children {
                        let below = row(&self.up, *child as usize, lanes);
                        let child = row(done, *child as usize, lanes);
                        for lane in 0..lanes {
                            own[lane] += child[lane] * share(below[lane], value[lane], 2);
                        }
                    }
                }
            }
        }
        for (at, part) in circuit.parts().rev() {
            let (below, own) = self.down_tangent.split_at_mut(at * lanes);
            let own = &own[..lanes];
            let flow = row(&self.down, at, lanes);
            let (value, tangent) = (row(&self.up, at, lanes), row(&self.up_tangent, at, lanes));
            match part {
                Part::Leaf(var, states) => {
                    let first = circuit.slots[var as usize];
                    for state in states {
                        let slot = (first + state) as usize;
                        let (weight, along) = (weights.of(slot), row(direction, slot, lanes));
                        let out = row_mut(out, slot, lanes);
                        for lane in 0..lanes {
                            let share = share(weight[lane], value[lane], states.len());
                            let change = along[lane] - tangent[lane];
                            out[lane] += share * (own[lane] + flow[lane] * change);
                        }
                    }
                }
                Part::Product(children) => {
                    for child in children {
                        let child = row_mut(below, *child as usize, lanes);
                        child.iter_mut().zip(own).for_each(|(c, o)| *c += o);
                    }
                }
                Part::Sum(children) => {
                    for child in children {
                        let at = *child as usize;
                        let (up, along) =
                            (row(&self.up, at, lanes), row(&self.up_tangent, at, lanes));
                        let child = row_mut(below, at, lanes);
                        for lane in 0..lanes {
                            let share = share(up[lane], value[lane], 2);
                            let change = along[lane] - tangent[lane];
                            child[lane] += share * (own[lane] + flow[lane] * change);
                        }
                    }
                }
            }
        }
    }

    /// The most probable world that makes the formula true, a state for each variable, for one lane; `None` if there is
    /// no such world. Of equally probable worlds the one whose states come first.
    pub fn most_probable(&mut self, circuit: &Circuit, logs: &[f64]) -> Option<Vec<u32>> {
        let weight = |var: usize, state: u32| logs[(circuit.slots[var] + state) as usize];
        // Of a free variable.
        let best: Vec<u32> = (0..circuit.domains.len())
            .map(|var| first_greatest(0..circuit.domains[var], |s| weight(var, s)))
            .collect();
        let mut world = best.clone();
        let root = match circuit.root {
            Root::False => return None,
            Root::True => return Some(world),
            Root::Node(root) => root as usize,
        };
        self.up.resize(circuit.nodes.len(), 0.0);
        self.preference.resize(circuit.nodes.len(), 0.0);
        let chosen = |var: u32, states: &[u32]| {
            first_greatest(states.iter().copied(), |s| weight(var as usize, s))
        };
        for (at, part) in circuit.parts() {
            let (value, preference) = match part {
                // The loss in log probability compared with the free variable's best state.
                Part::Leaf(var, states) => {
                    let state = chosen(var, states);
                    let best = best[var as usize];
                    let loss = weight(var as usize, state) - weight(var as usize, best);
                    (loss, f64::from(best) - f64::from(state))
                }
                Part::Product(children) => {
                    let children = children.iter().map(|c| *c as usize);
                    children.fold((0.0, 0.0), |(v, p), c| {
                        (v + self.up[c], p + self.preference[c])
                    })
                }
                Part::Sum(children) => {
                    let child = self.best_child(children);
                    (self.up[child], self.preference[child])
                }
            };
            (self.up[at], self.preference[at]) = (value, preference);
        }
        if self.up[root] == f64::NEG_INFINITY {
            return None;
        }
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            match circuit.part(circuit.nodes[at]) {
                Part::Leaf(var, states) => {
                    world[var as usize] = chosen(var, states);
                }
                Part::Product(children) => {
                    open.extend(children.iter().map(|c| *c as usize));
                }
                Part::Sum(children) => {
                    open.push(self.best_child(children));
                }
            }
        }
        Some(world)
    }

    fn best_child(&self, children: &[u32]) -> usize {
        let key = |c: usize| (self.up[c], self.preference[c]);
        let mut best = children[0] as usize;
        for child in &children[1..] {
            if key(*child as usize) > key(best) {
                best = *child as usize;
            }
        }
        best
    }

    /// After [`Lanes::evaluate`] of one lane, which is possible: a world drawn from the distribution given the formula. `unit` has
    /// a random number for each node, and after these for each variable that is free.
    pub fn draw(
        &self,
        circuit: &Circuit,
        logs: &[f64],
        unit: impl Fn(usize) -> f64,
        world: &mut [u32],
    ) {
        let weight = |var: u32, state: u32| logs[(circuit.slots[var as usize] + state) as usize];
        world.fill(u32::MAX);
        if let Root::Node(root) = circuit.root {
            let mut open = vec![root];
            while let Some(at) = open.pop() {
                match circuit.part(circuit.nodes[at as usize]) {
                    Part::Leaf(var, states) => {
                        let states = states.iter().copied();
                        world[var as usize] = pick(unit(at as usize), states, |s| weight(var, s));
                    }
                    Part::Product(children) => open.extend(children),
                    Part::Sum(children) => {
                        let children = children.iter().copied();
                        open.push(pick(unit(at as usize), children, |c| self.up[c as usize]));
                    }
                }
            }
        }
        for (var, state) in world.iter_mut().enumerate() {
            if *state == u32::MAX {
                let unit = unit(circuit.nodes.len() + var);
                *state = pick(unit, 0..circuit.domains[var], |s| weight(var as u32, s));
            }
        }
    }
}

/// The share of a part in a sum, given the logs of both.
fn share(part: f64, sum: f64, parts: usize) -> f64 {
    match (parts, sum == f64::NEG_INFINITY) {
        (_, true) => 0.0,
        (1, _) => 1.0,
        _ => (part - sum).exp(),
    }
}

fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    match low == f64::NEG_INFINITY {
        true => high,
        false => high + (low - high).exp().ln_1p(),
    }
}

fn first_greatest(items: impl Iterator<Item = u32>, value: impl Fn(u32) -> f64) -> u32 {
    let mut best: Option<(u32, f64)> = None;
    for item in items {
        let value = value(item);
        if best.is_none_or(|(_, greatest)| value > greatest) {
            best = Some((item, value));
        }
    }
    best.map_or(0, |(item, _)| item)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A step of SplitMix64.
fn mixed(x: u64) -> u64 {
    let mut z = x.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// In [0, 1).
fn unit(z: u64) -> f64 {
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// The random number of one choice in one world: the same wherever it is drawn, in any order
/// (`torch/_device/_worlds.py` has the same).
pub(crate) fn unit_of(seed: u64, world: u64, group: u64, choice: u64) -> f64 {
    let by = [world, group, choice];
    unit(
        by.iter()
            .fold(mixed(seed), |key, n| mixed(key.wrapping_add(*n))),
    )
}

/// Random numbers one after the other, the same everywhere.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

#[cfg(test)]
impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        let next = unit(mixed(self.0));
        self.0 = self.0.wrapping_add(GOLDEN);
        next
    }
}

/// One of some items, by the logs of their weights and a number in [0, 1); never one that is impossible, if another is not.
pub(crate) fn pick(
    unit: f64,
    items: impl Iterator<Item = u32> + Clone,
    log: impl Fn(u32) -> f64,
) -> u32 {
    let greatest = items.clone().map(&log).fold(f64::NEG_INFINITY, f64::max);
    let weight = |item: u32| match log(item) {
        f64::NEG_INFINITY => 0.0,
        log => (log - greatest).exp(),
    };
    let total: f64 = items.clone().map(weight).sum();
    let mut left = unit * total;
    let mut last = 0;
    for item in items {
        let weight = weight(item);
        if weight > 0.0 {
            last = item;
            if left < weight {
                return item;
            }
        }
        left -= weight;
    }
    last
}
