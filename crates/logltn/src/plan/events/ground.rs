//! From programs to ground formulas: every quantifier is written out, binding by binding.

use super::variables::Variables;
use crate::circuit::Proposition;
use crate::plan::Plan;
use crate::plan::active::Active;
use crate::plan::physical::{Physical, SlotSource};
use crate::plan::program::{MOST_CODES, NodeKind, ResolveTable};
use crate::recursion::deep;

/// A binding of the leading quantifiers.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// Its share in the means of these quantifiers, one inside the other.
    pub weight: f64,
    /// The numbers that its [`Ranking`](crate::plan::program::Ranking) gives it.
    pub codes: [u64; MOST_CODES],
    pub event: Proposition,
}

/// Why a formula could not be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotGround {
    TooLarge,
    Stopped,
}

/// Writes out one program.
pub(super) struct Grounding<'a> {
    plan: &'a Plan,
    active: &'a Active,
    program: usize,
    exec: &'a Physical,
    variables: &'a mut Variables,
    /// By level: the values of the slots for the current binding.
    slots: Vec<Vec<u32>>,
    wide: Vec<Vec<u64>>,
    /// How many more literals are allowed.
    left: &'a mut usize,
    met: usize,
}

type Done<V> = Result<V, NotGround>;

/// Called with the variables so far, the numbers of a binding, and its event.
type Visit<'v> = dyn FnMut(&Variables, [u64; MOST_CODES], Proposition) -> Done<()> + 'v;

impl<'a> Grounding<'a> {
    pub fn new(
        plan: &'a Plan,
        active: &'a Active,
        program: usize,
        variables: &'a mut Variables,
        left: &'a mut usize,
    ) -> Grounding<'a> {
        let exec = &plan.programs[program];
        let levels = &exec.levels;
        Grounding {
            plan,
            active,
            program,
            exec,
            variables,
            slots: levels.iter().map(|l| vec![0; l.adds.len()]).collect(),
            wide: levels.iter().map(|l| vec![0; l.wide_adds.len()]).collect(),
            left,
            met: 0,
        }
    }

    /// The bindings of this many leading quantifiers, and the formula under them.
    pub fn observations(&mut self, leading: usize) -> Done<Vec<Observed>> {
        let mut found = Vec::new();
        self.observe(self.exec.root, leading, 1.0, &mut found)?;
        Ok(found)
    }

    /// Calls `visit` with the numbers of each binding of this many leading quantifiers, and the formula under
    /// them.
    pub fn each_observation(&mut self, leading: usize, visit: &mut Visit<'_>) -> Done<()> {
        self.each_below(self.exec.root, leading, visit)
    }

    fn each_below(&mut self, node: usize, leading: usize, visit: &mut Visit<'_>) -> Done<()> {
        match self.exec.nodes[node].kind {
            NodeKind::Quantifier { level, body, .. } if leading > 0 => {
                self.each_binding(level, &mut |this| this.each_below(body, leading - 1, visit))
            }
            _ => {
                // Each event is dropped before the next one is written out.
                let left = *self.left;
                let event = self.formula(node)?;
                *self.left = left;
                visit(self.variables, self.codes(), event)
            }
        }
    }

    fn codes(&self) -> [u64; MOST_CODES] {
        let mut codes = [0; MOST_CODES];
        if let Some(ranking) = &self.exec.ranking {
            let innermost = ranking.levels.last().copied().unwrap_or(0);
            for (code, wide) in codes.iter_mut().zip(&ranking.codes) {
                *code = self.wide[innermost].get(*wide).copied().unwrap_or(0);
            }
        }
        codes
    }

    fn observe(
        &mut self,
        node: usize,
        leading: usize,
        weight: f64,
        found: &mut Vec<Observed>,
    ) -> Done<()> {
        match self.exec.nodes[node].kind {
            NodeKind::Quantifier { level, body, .. } if leading > 0 => {
                let start = found.len();
                let mut count = 0_u64;
                let mut inner = Vec::new();
                self.each_binding(level, &mut |this| {
                    count += 1;
                    this.observe(body, leading - 1, weight, &mut inner)
                })?;
                found.append(&mut inner);
                (found[start..].iter_mut()).for_each(|o| o.weight /= count as f64);
                Ok(())
            }
            _ => {
                let event = self.formula(node)?;
                found.push(Observed {
                    weight,
                    codes: self.codes(),
                    event,
                });
                Ok(())
            }
        }
    }

    fn formula(&mut self, node: usize) -> Done<Proposition> {
        let exec = self.exec;
        match &exec.nodes[node].kind {
            // Definitions have been written out before.
            NodeKind::Use { .. } => Err(NotGround::TooLarge),
            NodeKind::Constant(true) => Ok(Proposition::True),
            NodeKind::Constant(false) => Ok(Proposition::False),
            NodeKind::Literal {
                request, negated, ..
            } => {
                self.met += 1;
                if *self.left == 0 {
                    return Err(NotGround::TooLarge);
                }
                *self.left -= 1;
                if self.met.is_multiple_of(4096) && self.plan.data.is_stopped() {
                    return Err(NotGround::Stopped);
                }
                let of = &exec.nodes[node];
                let place = self.value(of.level, of.place) as usize;
                let width = self.plan.requests[*request].width.max(1);
                let code = self.active.numbering[*request].code(place / width);
                let class = (place % width) as u32;
                let (var, state) = (self.variables).literal(self.plan, *request, code, class);
                Ok(Proposition::Is {
                    var,
                    state,
                    positive: !negated,
                })
            }
            NodeKind::And(members) | NodeKind::Or(members) => {
                let is_and = matches!(exec.nodes[node].kind, NodeKind::And(_));
                let members = deep(|| {
                    let each = members.iter().map(|m| self.formula(*m));
                    each.collect::<Done<Vec<_>>>()
                })?;
                Ok(match is_and {
                    true => Proposition::and(members),
                    false => Proposition::or(members),
                })
            }
            &NodeKind::Quantifier {
                forall,
                level,
                body,
            } => {
                let mut members = Vec::new();
                deep(|| {
                    self.each_binding(level, &mut |this| {
                        members.push(this.formula(body)?);
                        Ok(())
                    })
                })?;
                Ok(match forall {
                    true => Proposition::and(members),
                    false => Proposition::or(members),
                })
            }
            // Earlier passes leave none of these in log space, and nothing is eliminated here.
            NodeKind::Not(_)
            | NodeKind::Implies(..)
            | NodeKind::Iff(..)
            | NodeKind::Log(_)
            | NodeKind::Elimination(_) => unreachable!("not a formula of log space as written"),
        }
    }

    fn value(&self, level: usize, place: SlotSource) -> u32 {
        match place {
            SlotSource::Base(slot) => self.active.bases[self.program][slot],
            SlotSource::Array(index) => self.slots[level][index],
        }
    }

    /// Visits the bindings of a level, under those of the levels around it.
    fn each_binding(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(&mut Self) -> Done<()>,
    ) -> Done<()> {
        let exec_level = &self.exec.levels[level];
        let parent = exec_level.parent;
        let mut ranges = Vec::with_capacity(exec_level.components.len());
        for component in &exec_level.components {
            let offsets = &self.active.components[component.component].offsets;
            let key = component.key.map_or(0, |key| self.value(parent, key)) as usize;
            let (from, to) = (offsets[key], offsets[key + 1]);
            if from == to {
                return Ok(());
            }
            ranges.push((from, to));
        }
        let mut at: Vec<u32> = ranges.iter().map(|(from, _)| *from).collect();
        loop {
            self.bind(level, &at);
            visit(self)?;
            let mut last = at.len();
            loop {
                if last == 0 {
                    return Ok(());
                }
                last -= 1;
                at[last] += 1;
                if at[last] < ranges[last].1 {
                    break;
                }
                at[last] = ranges[last].0;
            }
        }
    }

    /// Fills in the slots of a level for the current tuples.
    fn bind(&mut self, level: usize, at: &[u32]) {
        let exec_level = &self.exec.levels[level];
        let parent = exec_level.parent;
        for (i, add) in exec_level.adds.iter().enumerate() {
            let mut sum = self.value(parent, add.from);
            for (maps, at) in add.maps.iter().zip(at) {
                (maps.iter()).for_each(|m| sum += self.active.maps[*m][*at as usize]);
            }
            self.slots[level][i] = sum;
        }
        for (i, add) in exec_level.wide_adds.iter().enumerate() {
            let mut sum = match add.from {
                SlotSource::Base(slot) => self.exec.wide_slots[slot],
                SlotSource::Array(index) => self.wide[parent][index],
            };
            for (maps, at) in add.maps.iter().zip(at) {
                (maps.iter()).for_each(|m| sum += self.active.wide[*m][*at as usize]);
            }
            self.wide[level][i] = sum;
        }
        for lookup in &exec_level.resolves {
            let code = self.wide[level][lookup.wide];
            let row = |request: usize, code: u64| {
                let width = self.plan.requests[request].width as u32;
                self.active.numbering[request].number(code) * width
            };
            let found = match lookup.table {
                ResolveTable::Request(request) => row(request, code),
                ResolveTable::Applied { functions, request } => {
                    let code = self.exec.applied[functions].code(code);
                    request.map_or(code as u32, |request| row(request, code))
                }
                ResolveTable::Key(table) => {
                    let table = &self.exec.key_tables[table];
                    table.get(&code).copied().unwrap_or(0)
                }
            };
            self.slots[level][lookup.array] += found;
        }
    }
}
