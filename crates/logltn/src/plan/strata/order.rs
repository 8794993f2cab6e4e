//! The order in which the tuples of a cycle of strata are computed: starting from the tuples that are asked for, their
//! dependencies are followed, and each tuple comes after those that it needs.
//!
//! Without a depth such an order must exist. With a depth, the tuples exist once for each depth, in layers: layer 0 has
//! the tuples that are asked for from outside, and the tuples that the stratum with the depth needs are in the next
//! layer.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::compile::Problem;
use super::super::ground::{Leaf, Shared, groups, strides};
use super::super::normal::{Kind, Normal};
use super::{Circle, Step, StratumForm};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{Cell, Join, Scope, TableIndexes, conjuncts, free_variables};
use crate::memory;
use crate::recursion::deep;
use crate::theory::*;

/// The tuples of one stratum of a cycle.
#[derive(Default)]
pub(super) struct Tuples {
    /// In the order of computing.
    pub codes: Vec<u64>,
    /// The first ones, up to this number, are computed by the formula; the others are false, at the end of a depth.
    pub evaluated: usize,
    pub layers: usize,
    pub counts: bool,
    pub depth: usize,
}

pub(super) struct Ordered {
    /// By member of the cycle.
    pub tuples: Vec<Tuples>,
    pub steps: Vec<Step>,
}

pub(super) fn order(
    problem: Problem,
    shared: &Shared,
    indexes: &TableIndexes,
    circle: &Circle,
) -> Result<Ordered, Diagnostic> {
    let strata = &shared.strata;
    if !circle.goes_round {
        let stratum = circle.members[0];
        let codes = strata.asked[stratum].codes.clone();
        let constant = strata.forms[stratum].depth == Some(0);
        let end = codes.len() as u32;
        let step = Step {
            stratum,
            layer: 0,
            start: 0,
            end,
            constant,
        };
        let tuples = Tuples {
            evaluated: if constant { 0 } else { codes.len() },
            layers: 1,
            counts: false,
            depth: usize::from(!codes.is_empty() && !constant),
            codes,
        };
        return Ok(Ordered {
            tuples: vec![tuples],
            steps: (end > 0).then_some(step).into_iter().collect(),
        });
    }
    let forms: Vec<&StratumForm> = circle.members.iter().map(|m| &strata.forms[*m]).collect();
    let scopes: Vec<Scope> = (forms.iter())
        .map(|form| Scope {
            data: problem.data,
            variables: &form.variables,
            indexes,
        })
        .collect();
    let mut members = Vec::with_capacity(forms.len());
    for ((form, scope), &stratum) in forms.iter().zip(&scopes).zip(&circle.members) {
        let planter = Planter {
            scope: *scope,
            circle,
            shared,
        };
        let parts = (form.formulas[0].as_ref()).map_or_else(Vec::new, |f| planter.parts(f));
        let matters = |p: &VarId| parts.iter().any(|part| part.reads.contains(p));
        members.push(Asking {
            scope: *scope,
            form,
            matters: form.parameters.iter().map(matters).collect(),
            parts,
            extents: &shared.requests[stratum].extents,
        });
    }
    let mut graph = Graph {
        members,
        theory: problem.data.theory(),
        nodes: Vec::new(),
        known: vec![FxHashMap::default(); forms.len()],
        counts: vec![0; forms.len()],
        asks: Vec::new(),
        alike: vec![FxHashMap::default(); forms.len()],
        questions: Vec::new(),
        targets: Vec::new(),
    };
    let mut outside = Vec::new();
    for (member, &stratum) in circle.members.iter().enumerate() {
        for &code in &strata.asked[stratum].codes {
            outside.push(graph.node(member, code));
        }
    }
    let with_depth = forms.iter().position(|form| form.depth.is_some());
    match with_depth {
        Some(counter) => {
            graph.by_depth(circle, outside, counter, forms[counter].depth.unwrap_or(0))
        }
        None => graph.along_the_order(circle),
    }
}

/// The part of a formula that leads to the strata of the cycle.
struct Part<'a> {
    kind: PartKind<'a>,
    /// The variables that it reads, including those that it binds.
    reads: Vec<VarId>,
}

enum PartKind<'a> {
    Ask {
        member: usize,
        leaves: Vec<(Leaf, u64)>,
    },
    Each {
        join: Rc<Join<'a>>,
        inside: Vec<Part<'a>>,
        /// Whether the formula inside depends on the binding; otherwise one binding represents all.
        matters: bool,
    },
}

struct Planter<'a> {
    scope: Scope<'a>,
    circle: &'a Circle,
    shared: &'a Shared,
}

impl<'a> Planter<'a> {
    fn parts(&self, normal: &'a Normal) -> Vec<Part<'a>> {
        match &normal.kind {
            Kind::Use {
                stratum, arguments, ..
            } => {
                let Some(member) = self.circle.members.iter().position(|m| m == stratum) else {
                    return Vec::new();
                };
                let (mut leaves, mut reads) = (Vec::new(), Vec::new());
                for argument in arguments {
                    self.scope.argument(argument, &mut leaves);
                }
                normal.variables(&mut reads);
                let strides = strides(&self.shared.requests[*stratum].extents).unwrap_or_default();
                let leaves = leaves.into_iter().map(|l| l.0).zip(strides).collect();
                let kind = PartKind::Ask { member, leaves };
                vec![Part { kind, reads }]
            }
            Kind::Quantifier {
                binding,
                guard,
                body,
                ..
            } => {
                let inside = deep(|| self.parts(body));
                let conditions = guard.as_deref().map(conjuncts).unwrap_or_default();
                self.each(binding, conditions, inside)
            }
            _ => deep(|| normal.children().flat_map(|c| self.parts(c)).collect()),
        }
    }

    /// The formulas inside a quantifier, for its bindings. Variables that no condition ties together are enumerated
    /// separately, each for the formulas that read it; the other variables only need to have some binding.
    fn each(
        &self,
        binding: &'a Binding,
        conditions: Vec<&'a Guard>,
        inside: Vec<Part<'a>>,
    ) -> Vec<Part<'a>> {
        let looked_at: Vec<VarId> = conditions.iter().flat_map(|g| free_variables(g)).collect();
        let joins: Vec<(Vec<VarId>, Rc<Join>)> = match binding {
            // Where arithmetic can fail, conditions must be evaluated in the order of the text.
            Binding::Sorts(variables) if !conditions.iter().any(|g| self.scope.may_fail(g)) => {
                (groups(variables, conditions).into_iter())
                    .map(|(variables, conditions)| {
                        let join = Join::over_sorts(self.scope, &variables, &conditions);
                        (variables, Rc::new(join))
                    })
                    .collect()
            }
            _ => {
                let join = Join::new(self.scope, binding, &conditions);
                vec![(binding.variables().to_vec(), Rc::new(join))]
            }
        };
        // By which of the joins matter to them.
        let mut by_need: Vec<(Vec<bool>, Vec<Part>)> = Vec::new();
        for part in inside {
            let needs = |(variables, _): &(Vec<VarId>, _)| {
                (variables.iter()).any(|variable| part.reads.contains(variable))
            };
            let need: Vec<bool> = joins.iter().map(needs).collect();
            match by_need.iter_mut().find(|(other, _)| *other == need) {
                Some((_, parts)) => parts.push(part),
                None => by_need.push((need, vec![part])),
            }
        }
        let nested = by_need.into_iter().flat_map(|(need, parts)| {
            let mut order: Vec<usize> = (0..joins.len()).collect();
            order.sort_by_key(|at| !need[*at]);
            order.into_iter().fold(parts, |inside, at| {
                let mut reads = looked_at.clone();
                reads.extend(inside.iter().flat_map(|part| &part.reads));
                reads.sort_unstable();
                reads.dedup();
                let kind = PartKind::Each {
                    join: joins[at].1.clone(),
                    inside,
                    matters: need[at],
                };
                vec![Part { kind, reads }]
            })
        });
        nested.collect()
    }
}

/// The tuples that a stratum of the cycle needs.
struct Asking<'a> {
    scope: Scope<'a>,
    form: &'a StratumForm,
    parts: Vec<Part<'a>>,
    extents: &'a [u64],
    /// By parameter: whether the tuples that it needs depend on it.
    matters: Vec<bool>,
}

impl Asking<'_> {
    /// The first of the tuples that need the same tuples.
    fn representative(&self, code: u64) -> u64 {
        if !self.matters.contains(&false) {
            return code;
        }
        let (mut left, mut stride, mut own) = (code, 1, 0);
        for (extent, matters) in self.extents.iter().zip(&self.matters).rev() {
            own += left % extent * stride * u64::from(*matters);
            left /= extent;
            stride *= extent;
        }
        own
    }

    fn bind(&self, mut code: u64, env: &mut [Cell]) {
        let parameters = self.form.parameters.iter().zip(self.extents);
        for (parameter, extent) in parameters.rev() {
            env[parameter.index()] = Cell::Individual((code % extent) as u32);
            code /= extent;
        }
    }

    fn visit(
        &self,
        parts: &[Part],
        env: &mut Vec<Cell>,
        found: &mut Vec<(usize, u64)>,
    ) -> Result<(), Diagnostic> {
        for part in parts {
            match &part.kind {
                PartKind::Ask { member, leaves } => {
                    let index = |leaf| u64::from(self.scope.leaf_index(leaf, env));
                    let code = leaves.iter().map(|(leaf, stride)| index(leaf) * stride);
                    found.push((*member, code.sum()));
                }
                PartKind::Each {
                    join,
                    inside,
                    matters,
                } => {
                    let mut failure = None;
                    let run = join.run(env, &mut |env, _| {
                        failure = deep(|| self.visit(inside, env, found)).err();
                        *matters && failure.is_none()
                    });
                    run.map_err(|error| self.scope.diagnose(&error))?;
                    failure.map_or(Ok(()), Err)?;
                }
            }
        }
        Ok(())
    }

    /// A tuple as it is written.
    fn show(&self, code: u64) -> String {
        let mut env = self.scope.environment();
        self.bind(code, &mut env);
        let parameters = self.form.parameters.iter();
        let cells = parameters.map(|p| {
            let sort = self.form.variables[p.index()].sort;
            self.scope.show_cell(sort, env[p.index()])
        });
        let cells: Vec<String> = cells.collect();
        format!("`{}({})`", self.form.name, cells.join(", "))
    }
}

/// The dependencies among tuples. Tuples with the same dependencies share a question.
struct Graph<'a> {
    members: Vec<Asking<'a>>,
    theory: &'a Theory,
    /// Member, code, and place among the member's tuples.
    nodes: Vec<(u32, u64, u32)>,
    known: Vec<FxHashMap<u64, u32>>,
    /// By member.
    counts: Vec<u32>,
    /// By node: its question, once it has been looked up.
    asks: Vec<Option<u32>>,
    /// By member: the questions, shared by tuples with the same dependencies.
    alike: Vec<FxHashMap<u64, u32>>,
    /// The member that depends, and where its targets are.
    questions: Vec<(u32, Range<usize>)>,
    targets: Vec<u32>,
}

impl Graph<'_> {
    fn node(&mut self, member: usize, code: u64) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.known[member].entry(code).or_insert(next);
        if node == next {
            self.nodes.push((member as u32, code, self.counts[member]));
            self.counts[member] += 1;
            self.asks.push(None);
        }
        node
    }

    fn member(&self, node: u32) -> usize {
        self.nodes[node as usize].0 as usize
    }

    /// The question of a tuple.
    fn expand(&mut self, node: u32, scratch: &mut Scratch) -> Result<u32, Diagnostic> {
        if let Some(question) = self.asks[node as usize] {
            return Ok(question);
        }
        let (member, code, _) = self.nodes[node as usize];
        let asking = &self.members[member as usize];
        let code = asking.representative(code);
        if let Some(&question) = self.alike[member as usize].get(&code) {
            self.asks[node as usize] = Some(question);
            return Ok(question);
        }
        if self.targets.len() == self.targets.capacity()
            || self.nodes.len() == self.nodes.capacity()
        {
            let bytes = 4 * self.targets.len() as u128 + 96 * self.nodes.len() as u128;
            let room = self.nodes.len() < u32::MAX as usize / 2 && memory::ask(bytes).is_ok();
            if !room || asking.scope.data.is_stopped() {
                return Err(self.too_many(member as usize));
            }
        }
        let Scratch { env, found } = scratch;
        env.clear();
        env.resize(asking.scope.variables.len(), Cell::Individual(0));
        found.clear();
        asking.bind(code, env);
        asking.visit(&asking.parts, env, found)?;
        found.sort_unstable();
        found.dedup();
        let start = self.targets.len();
        for &(member, code) in found.iter() {
            let target = self.node(member, code);
            self.targets.push(target);
        }
        let question = self.questions.len() as u32;
        self.questions.push((member, start..self.targets.len()));
        self.asks[node as usize] = Some(question);
        if self.members[member as usize].matters.contains(&false) {
            self.alike[member as usize].insert(code, question);
        }
        Ok(question)
    }

    fn too_many(&self, member: usize) -> Diagnostic {
        let form = self.members[member].form;
        Diagnostic::error(
            Code::TooMuchMemory,
            format!(
                "definition `{}` is asked about too many tuples: {} so far",
                form.name,
                self.nodes.len()
            ),
        )
        .at(&self.theory.source, form.span, "")
        .help(format!(
            "tie its arguments by guards, or write it so that fewer of them change on the way; {}",
            memory::allow_more()
        ))
    }

    /// No tuple depends on itself: each is computed after the tuples that it needs.
    fn along_the_order(mut self, circle: &Circle) -> Result<Ordered, Diagnostic> {
        let mut scratch = Scratch::default();
        let mut at = 0;
        while at < self.nodes.len() {
            self.expand(at as u32, &mut scratch)?;
            at += 1;
        }
        self.sort_places(0);
        let levels = self.levels(None)?;
        let (places, bounds, deepest) = self.sorted(&levels);
        let steps = steps_of(circle, &bounds, 0, None);
        let tuples = (places.into_iter())
            .map(|codes| Tuples {
                evaluated: codes.len(),
                codes,
                layers: 1,
                counts: false,
                depth: deepest,
            })
            .collect();
        Ok(Ordered { tuples, steps })
    }

    /// Sorts the places of the tuples from the given one on by their codes, since neighbours need neighbours, which are
    /// then still in the cache. Tuples that were not followed come last: at the end of a depth they are not computed.
    fn sort_places(&mut self, from: usize) {
        let mut order: Vec<usize> = (from..self.nodes.len()).collect();
        order.sort_unstable_by_key(|&node| {
            let (member, code, _) = self.nodes[node];
            (member, self.asks[node].is_none(), code)
        });
        let mut next = self.counts.clone();
        for &node in &order {
            next[self.nodes[node].0 as usize] -= 1;
        }
        for node in order {
            let (member, _, place) = &mut self.nodes[node];
            *place = next[*member as usize];
            next[*member as usize] += 1;
        }
    }

    fn by_depth(
        mut self,
        circle: &Circle,
        outside: Vec<u32>,
        counter: usize,
        depth: u32,
    ) -> Result<Ordered, Diagnostic> {
        let mut scratch = Scratch::default();
        let last = depth as usize;
        // By layer: which tuples of the stratum with the depth are needed, and whether others of the cycle are.
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut others: Vec<bool> = Vec::new();
        let mut current = outside;
        let mut stamps = [Vec::new(), Vec::new()];
        // By question: the last layer that followed it.
        let mut followed = Vec::new();
        for layer in 0..=last {
            let mut other = false;
            let mut next = Vec::new();
            let [mine, coming] = match layer % 2 {
                0 => [0, 1],
                _ => [1, 0],
            };
            let stamp = layer as u32 + 1;
            let before = self.nodes.len();
            let mark = |stamps: &mut Vec<u32>, node: u32, stamp: u32| {
                if stamps.len() <= node as usize {
                    stamps.resize(node as usize + 1, 0);
                }
                std::mem::replace(&mut stamps[node as usize], stamp) != stamp
            };
            for &node in &current {
                mark(&mut stamps[mine], node, stamp);
            }
            let mut at = 0;
            while at < current.len() {
                let node = current[at];
                at += 1;
                let counts = self.member(node) == counter;
                other |= !counts;
                if counts && layer == last {
                    continue;
                }
                let question = self.expand(node, &mut scratch)?;
                if !mark(&mut followed, question, stamp) {
                    continue;
                }
                for &target in &self.targets[self.questions[question as usize].1.clone()] {
                    match counts {
                        true if mark(&mut stamps[coming], target, stamp + 1) => next.push(target),
                        false if mark(&mut stamps[mine], target, stamp) => current.push(target),
                        _ => {}
                    }
                }
            }
            self.sort_places(before);
            let places = (current.iter().filter(|node| self.member(**node) == counter))
                .map(|node| self.nodes[*node as usize].2);
            let (low, high) = places.fold((u32::MAX, 0), |(low, high), place| {
                (low.min(place), high.max(place + 1))
            });
            ranges.push((low.min(high), high));
            others.push(other);
            if next.is_empty() {
                break;
            }
            // Once every tuple needs every tuple, the same holds in all following layers.
            let all = self.nodes.len();
            if before == all && current.len() == all && next.len() == all && layer < last {
                ranges.resize(last + 1, (low.min(high), high));
                others.resize(last + 1, other);
                break;
            }
            current = next;
        }
        let layers = ranges.len();
        let levels = self.levels(Some(counter))?;
        let evaluated = (self.nodes.iter().zip(&self.asks))
            .filter(|((member, ..), asks)| *member as usize == counter && asks.is_some())
            .count();
        let (places, bounds, _) = self.sorted(&levels);
        let mut steps = Vec::new();
        for layer in (0..layers).rev() {
            let (start, end) = ranges[layer];
            let constant = layer == last;
            if start < end {
                steps.push(Step {
                    stratum: circle.members[counter],
                    layer,
                    start,
                    end: if constant {
                        end
                    } else {
                        end.min(evaluated as u32)
                    },
                    constant,
                });
            }
            if others[layer] {
                steps.extend(steps_of(circle, &bounds, layer, Some(counter)));
            }
        }
        let tuples = (places.into_iter().enumerate())
            .map(|(member, codes)| Tuples {
                evaluated: if member == counter {
                    evaluated
                } else {
                    codes.len()
                },
                codes,
                layers,
                counts: member == counter,
                depth: layers.min(last),
            })
            .collect();
        Ok(Ordered { tuples, steps })
    }

    /// By node: the length of the longest chain of tuples from it on; 0 for those of the stratum with the depth, which
    /// lead to another layer.
    fn levels(&self, counter: Option<usize>) -> Result<Vec<u32>, Diagnostic> {
        const NEW: u32 = u32::MAX;
        const OPEN: u32 = u32::MAX - 1;
        let targets = |question: u32| {
            let (member, targets) = &self.questions[question as usize];
            match counter == Some(*member as usize) {
                true => &[],
                false => &self.targets[targets.clone()],
            }
        };
        let asked_by = |node: u32| self.asks[node as usize];
        // By question.
        let mut levels = vec![NEW; self.questions.len()];
        let mut path: Vec<(u32, usize)> = Vec::new();
        for first in 0..self.questions.len() as u32 {
            if levels[first as usize] != NEW {
                continue;
            }
            path.push((first, 0));
            levels[first as usize] = OPEN;
            while let Some((question, at)) = path.last_mut() {
                let question = *question;
                let Some(&target) = targets(question).get(*at) else {
                    let above = |t: &u32| asked_by(*t).map_or(0, |q| levels[q as usize]) + 1;
                    levels[question as usize] =
                        targets(question).iter().map(above).max().unwrap_or(0);
                    path.pop();
                    continue;
                };
                *at += 1;
                let Some(next) = asked_by(target) else {
                    continue;
                };
                match levels[next as usize] {
                    NEW => {
                        levels[next as usize] = OPEN;
                        path.push((next, 0));
                    }
                    OPEN => {
                        let start = path.iter().position(|(q, _)| *q == next).unwrap_or(0);
                        let round = path[start..].iter().map(|(q, at)| targets(*q)[at - 1]);
                        return Err(self.cycle(round.collect(), counter.is_some()));
                    }
                    _ => {}
                }
            }
        }
        let level = |question: &Option<u32>| question.map_or(0, |q| levels[q as usize]);
        Ok(self.asks.iter().map(level).collect())
    }

    /// By member its codes, ordered by level and then by place; where each level begins; and how many levels there are.
    fn sorted(&self, levels: &[u32]) -> (Vec<Vec<u64>>, Vec<Vec<u32>>, usize) {
        let members = self.members.len();
        let deepest = levels.iter().max().map_or(0, |most| *most as usize + 1);
        let mut starts = vec![vec![0_u32; deepest + 1]; members];
        for ((member, ..), level) in self.nodes.iter().zip(levels) {
            starts[*member as usize][*level as usize + 1] += 1;
        }
        for starts in &mut starts {
            for level in 0..deepest {
                starts[level + 1] += starts[level];
            }
        }
        let rooms = self
            .counts
            .iter()
            .map(|count| vec![(0, 0); *count as usize]);
        let mut by_place: Vec<Vec<(u64, u32)>> = rooms.collect();
        for (&(member, code, place), &level) in self.nodes.iter().zip(levels) {
            by_place[member as usize][place as usize] = (code, level);
        }
        let sorted = by_place.into_iter().map(|mut tuples| {
            tuples.sort_by_key(|(_, level)| *level);
            tuples.into_iter().map(|(code, _)| code).collect()
        });
        (sorted.collect(), starts, deepest)
    }

    /// Shows a tuple that depends on itself; the last of the tuples needs the first.
    fn cycle(&self, mut round: Vec<u32>, with_depth: bool) -> Diagnostic {
        const MOST_SHOWN: usize = 6;
        let show = |node: u32| {
            let (member, code, _) = self.nodes[node as usize];
            self.members[member as usize].show(code)
        };
        round.rotate_right(1);
        let back = round[0];
        let mut shown: Vec<String> = round.iter().take(MOST_SHOWN).map(|n| show(*n)).collect();
        if round.len() > MOST_SHOWN {
            shown.push(format!("… ({} more)", round.len() - MOST_SHOWN));
        }
        shown.push(show(back));
        let form = self.members[self.member(back)].form;
        let help = match with_depth {
            true => {
                "the depth must be on a definition that each such circle goes through".to_string()
            }
            false => format!(
                "limit its depth: `define {}(…) to depth 8: …`; or write guards that leave an order, as `where j = i - 1`",
                form.name
            ),
        };
        Diagnostic::error(
            Code::DefinitionCycle,
            format!("definition `{}` depends on itself", form.name),
        )
        .at(
            &self.theory.source,
            form.span,
            "depends on itself without end",
        )
        .note(shown.join(" asks for "))
        .help(help)
    }
}

/// The steps of a layer, level by level, but for a member whose steps are others.
fn steps_of(
    circle: &Circle,
    bounds: &[Vec<u32>],
    layer: usize,
    without: Option<usize>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for level in 1..bounds.first().map_or(0, Vec::len) {
        for (member, &stratum) in circle.members.iter().enumerate() {
            let (start, end) = (bounds[member][level - 1], bounds[member][level]);
            if without != Some(member) && start < end {
                steps.push(Step {
                    stratum,
                    layer,
                    start,
                    end,
                    constant: false,
                });
            }
        }
    }
    steps
}

#[derive(Default)]
struct Scratch {
    env: Vec<Cell>,
    found: Vec<(usize, u64)>,
}
