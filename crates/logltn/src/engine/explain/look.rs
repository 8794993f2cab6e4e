//! Values and derivatives of a formula at one binding, by plain recursion in double precision.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::opened::Opened;
use super::tree::{Literal, Quantifier, Tree, TreeKind};
use super::{Looked, Visit};
use crate::engine::Ground;
use crate::engine::strata::Layer;
use crate::guard::{Cell, Scope};
use crate::operators::{
    Accumulated, Aggregation, Backward, Block, Connection, FLOOR, Forward, Implication, Members,
    Negation, Segment, Settings, Slopes, Space, State, complements,
};
use crate::recursion::deep;
use crate::theory::{Binding, VarId};
use crate::vector::Real;

/// How many bindings of a quantifier are aggregated at a time.
const CHUNK: usize = 1024;

/// A literal by its place in the tables: request, whether it is negated, and where.
pub(super) type LiteralPlace = (usize, bool, usize);

/// The data that the interpreter reads for one axiom.
pub(super) struct Look<'a, T> {
    pub ground: &'a Ground<T>,
    pub settings: Settings<f64>,
    pub scope: Scope<'a>,
    /// The axiom's place in the plan.
    pub axiom: usize,
    /// The definitions that are opened.
    pub opened: &'a Opened<'a>,
    /// Where it is: in the axiom, or in a definition that is opened.
    pub layer: Layer,
    /// The variables of the definition that it is in.
    pub parameters: &'a [VarId],
    space: Space,
    and: Connection<f64>,
    or: Connection<f64>,
    implies: Implication<f64>,
    not: Negation<f64>,
    forall: Aggregation<f64>,
    exists: Aggregation<f64>,
    /// The derivatives found so far.
    pub blames: FxHashMap<LiteralPlace, f64>,
    /// The derivatives by tuples of definitions that are still to be opened, by the step that computes
    /// them.
    pub pending: BTreeMap<(usize, LiteralPlace), f64>,
}

/// A member of a connective or a quantifier.
#[derive(Clone, Copy)]
struct Member {
    value: f64,
    /// 0 where it is not needed.
    complement: f64,
}

impl<'a, T: Real> Look<'a, T> {
    pub fn new(
        ground: &'a Ground<T>,
        settings: &Settings<f64>,
        scope: Scope<'a>,
        axiom: usize,
        opened: &'a Opened<'a>,
    ) -> Look<'a, T> {
        let semantics = &ground.plan.semantics;
        Look {
            ground,
            settings: *settings,
            scope,
            axiom,
            opened,
            layer: Layer::outside(ground.groups[axiom]),
            parameters: &[],
            space: semantics.space,
            and: semantics.and.computation(),
            or: semantics.or.computation(),
            implies: semantics.implies.computation(),
            not: semantics.not.computation(),
            forall: semantics.aggregator(true).computation(),
            exists: semantics.aggregator(false).computation(),
            blames: FxHashMap::default(),
            pending: BTreeMap::new(),
        }
    }

    pub fn aggregation(&self, forall: bool) -> Aggregation<f64> {
        match forall {
            true => self.forall,
            false => self.exists,
        }
    }

    fn crisp(&self, truth: bool) -> f64 {
        match (truth, self.space) {
            (true, Space::Log) => 0.0,
            (false, Space::Log) => FLOOR,
            (truth, _) => f64::from(u8::from(truth)),
        }
    }

    // --- literals -------------------------------------------------------------------------------

    pub fn place(&self, literal: &Literal, env: &[Cell]) -> LiteralPlace {
        let (code, class) = literal.code(&self.scope, env);
        let row = self.ground.active.numbering[literal.request].number(code);
        let mut place = literal.place(row, class);
        if literal.predicate.is_none() {
            place += self.layer.start(&self.ground.plan, literal.request);
        }
        (literal.request, literal.negated, place)
    }

    pub fn at(&self, (request, negated, place): LiteralPlace) -> f64 {
        let literals = &self.ground.literals[request];
        match negated {
            true => literals.negative[place].to_f64(),
            false => literals.positive[place].to_f64(),
        }
    }

    // --- values ---------------------------------------------------------------------------------

    pub fn value(&mut self, tree: &Tree, env: &mut Vec<Cell>) -> Looked<f64> {
        deep(|| self.value_here(tree, env))
    }

    fn value_here(&mut self, tree: &Tree, env: &mut Vec<Cell>) -> Looked<f64> {
        Ok(match &tree.kind {
            TreeKind::Constant(truth) => self.crisp(*truth),
            TreeKind::Literal(literal) | TreeKind::Use(literal) => {
                self.at(self.place(literal, env))
            }
            TreeKind::Not(a) => {
                let x = self.value(a, env)?;
                self.negated(x)
            }
            TreeKind::Implies(a, b) => {
                let (x, y) = (self.value(a, env)?, self.value(b, env)?);
                self.implied(x, y)
            }
            TreeKind::Iff(a, b) => {
                let (x, y) = (self.value(a, env)?, self.value(b, env)?);
                let halves = [self.implied(x, y), self.implied(y, x)].map(Member::plain);
                self.connected(true, &halves, None).0
            }
            TreeKind::And(members) => {
                let members = self.members(self.and.laws.wants_complements, members, env)?;
                self.connected(true, &members, None).0
            }
            TreeKind::Or(members) => {
                let members = self.members(self.or.laws.wants_complements, members, env)?;
                self.connected(false, &members, None).0
            }
            TreeKind::Log(a) => self.settings.away_from_zero(self.value(a, env)?).ln(),
            TreeKind::Quantifier(quantifier) => match &quantifier.sum {
                Some(sum) => self.sum_value(sum, env)?,
                None => {
                    let state = self.state(quantifier, env)?;
                    self.aggregate(quantifier.forall, &state)
                }
            },
            TreeKind::Sum(sum) => self.sum_value(sum, env)?,
        })
    }

    pub fn aggregate(&self, forall: bool, state: &State) -> f64 {
        if state.count > 0.0 {
            return (self.aggregation(forall).value)(&self.settings, state);
        }
        match (forall, self.space) {
            // Where `prod` adds up logs.
            (true, Space::Mixed) => 0.0,
            (truth, _) => self.crisp(truth),
        }
    }

    fn negated(&self, x: f64) -> f64 {
        let mut out = [0.0];
        (self.not.forward)(&[x], &mut out);
        out[0]
    }

    fn implied(&self, x: f64, y: f64) -> f64 {
        let mut out = [0.0];
        (self.implies.forward)(self.settings, [&[x], &[y]], &mut out);
        out[0]
    }

    fn members(
        &mut self,
        with_complements: bool,
        trees: &[Tree],
        env: &mut Vec<Cell>,
    ) -> Looked<Vec<Member>> {
        (trees.iter())
            .map(|tree| self.member(with_complements, tree, env))
            .collect()
    }

    fn member(
        &mut self,
        with_complement: bool,
        tree: &Tree,
        env: &mut Vec<Cell>,
    ) -> Looked<Member> {
        let value = self.value(tree, env)?;
        let complement = match &tree.kind {
            _ if !with_complement => 0.0,
            TreeKind::Literal(literal) => {
                let (request, negated, place) = self.place(literal, env);
                self.at((request, !negated, place))
            }
            _ => {
                let mut out = [0.0];
                complements(&[value], &mut out);
                out[0]
            }
        };
        Ok(Member { value, complement })
    }

    /// The value of a connective and, given the derivative by it, those by its members.
    fn connected(&self, and: bool, members: &[Member], by: Option<f64>) -> (f64, Vec<f64>) {
        let connective = if and { &self.and } else { &self.or };
        if connective.laws.adds {
            let value = members.iter().map(|m| m.value).sum();
            return (value, vec![by.unwrap_or(0.0); members.len()]);
        }
        let column = |of: fn(&Member) -> f64| members.iter().map(|m| vec![of(m)]).collect();
        let (values, complements): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            (column(|m| m.value), column(|m| m.complement));
        let operands = Members {
            values: &values,
            len: 1,
            complements: &complements,
        };
        let mut slopes = vec![vec![0.0]; members.len()];
        let (mut out, mut scratch) = ([0.0], [0.0]);
        let to = Forward {
            slopes: &mut slopes,
            out: &mut out,
            scratch: &mut scratch,
        };
        (connective.forward)(self.settings, operands, to);
        let Some(by) = by else {
            return (out[0], Vec::new());
        };
        let mut by_complements = vec![vec![0.0]; members.len()];
        let to = Backward {
            by: &[by],
            slopes: &mut slopes,
            by_complements: &mut by_complements,
            scratch: &mut scratch,
        };
        (connective.backward)(self.settings, operands, to);
        let wants = connective.laws.wants_complements;
        let slopes = (slopes.iter().zip(&by_complements).zip(members))
            .map(|((by, by_complement), member)| match wants {
                true => by[0] + by_complement[0] * member.slope_of_complement(),
                false => by[0],
            })
            .collect();
        (out[0], slopes)
    }

    // --- quantifiers ----------------------------------------------------------------------------

    /// Visits the bindings of a quantifier.
    pub fn each(
        &mut self,
        quantifier: &Quantifier,
        env: &mut Vec<Cell>,
        visit: &mut Visit<'_, Self>,
    ) -> Looked<()> {
        let mut failure = None;
        let done = quantifier.join.run(env, &mut |env, row| {
            failure = visit(self, env, row).err();
            failure.is_none()
        });
        done.map_err(|error| self.scope.diagnose(&error))?;
        failure.map_or(Ok(()), Err)
    }

    /// The aggregate over all bindings of a quantifier.
    fn state(&mut self, quantifier: &Quantifier, env: &mut Vec<Cell>) -> Looked<State> {
        let aggregation = self.aggregation(quantifier.forall);
        let wants = aggregation.laws.wants_complements;
        let mut states = [(aggregation.start)()];
        let mut chunk = Vec::with_capacity(CHUNK);
        let settings = self.settings;
        let accumulate = |chunk: &mut Vec<Member>, states: &mut [State]| {
            let (values, complements) = columns(chunk);
            let to = Accumulated {
                states,
                work: &mut vec![0.0; chunk.len()],
                scratch: &mut vec![0.0; chunk.len()],
            };
            let segments = [whole(chunk.len())];
            let block = block(&values, &complements, &segments);
            aggregation.accumulate(&settings, block, to);
            chunk.clear();
        };
        self.each(quantifier, env, &mut |look, env, _| {
            chunk.push(look.member(wants, &quantifier.body, env)?);
            if chunk.len() == CHUNK {
                accumulate(&mut chunk, &mut states);
            }
            Ok(())
        })?;
        if !chunk.is_empty() {
            accumulate(&mut chunk, &mut states);
        }
        Ok(states[0])
    }

    // --- derivatives ----------------------------------------------------------------------------

    /// Adds the derivatives by all literals of a formula, given that by its value.
    pub fn blame(&mut self, tree: &Tree, env: &mut Vec<Cell>, by: f64) -> Looked<()> {
        match by == 0.0 {
            true => Ok(()),
            false => deep(|| self.blame_here(tree, env, by)),
        }
    }

    fn blame_here(&mut self, tree: &Tree, env: &mut Vec<Cell>, by: f64) -> Looked<()> {
        match &tree.kind {
            TreeKind::Constant(_) => {}
            TreeKind::Use(literal) if self.opened.is(literal.request) => {
                self.blame_tuple(self.place(literal, env), by);
            }
            TreeKind::Literal(literal) | TreeKind::Use(literal) => {
                *self.blames.entry(self.place(literal, env)).or_default() += by;
            }
            TreeKind::Not(a) => {
                // A directly negated atom is its own literal.
                if let Some(literal) = self.opened.literal(a) {
                    let (request, _, place) = self.place(literal, env);
                    *self.blames.entry((request, true, place)).or_default() += by;
                    return Ok(());
                }
                let x = self.value(a, env)?;
                let mut out = [0.0];
                (self.not.backward)(&[x], &[by], &mut out);
                self.blame(a, env, out[0])?;
            }
            TreeKind::Implies(a, b) => {
                let (x, y) = (self.value(a, env)?, self.value(b, env)?);
                let (by_x, by_y) = self.by_implied(x, y, by);
                self.blame(a, env, by_x)?;
                self.blame(b, env, by_y)?;
            }
            TreeKind::Iff(a, b) => {
                let (x, y) = (self.value(a, env)?, self.value(b, env)?);
                let halves = [self.implied(x, y), self.implied(y, x)].map(Member::plain);
                let (_, by_halves) = self.connected(true, &halves, Some(by));
                let there = self.by_implied(x, y, by_halves[0]);
                let back = self.by_implied(y, x, by_halves[1]);
                self.blame(a, env, there.0 + back.1)?;
                self.blame(b, env, there.1 + back.0)?;
            }
            TreeKind::And(trees) => {
                let members = self.members(self.and.laws.wants_complements, trees, env)?;
                let (_, slopes) = self.connected(true, &members, Some(by));
                self.blame_all(trees, env, &slopes)?;
            }
            TreeKind::Or(trees) => {
                let members = self.members(self.or.laws.wants_complements, trees, env)?;
                let (_, slopes) = self.connected(false, &members, Some(by));
                self.blame_all(trees, env, &slopes)?;
            }
            TreeKind::Log(a) => {
                let x = self.settings.away_from_zero(self.value(a, env)?);
                self.blame(a, env, by * self.settings.slope() / x)?;
            }
            TreeKind::Quantifier(quantifier) => match &quantifier.sum {
                Some(sum) => self.blame_sum(sum, env, by)?,
                None => self.blame_quantifier(quantifier, env, by)?,
            },
            TreeKind::Sum(sum) => self.blame_sum(sum, env, by)?,
        }
        Ok(())
    }

    pub fn blame_all(&mut self, trees: &[Tree], env: &mut Vec<Cell>, by: &[f64]) -> Looked<()> {
        let mut pairs = trees.iter().zip(by);
        pairs.try_for_each(|(tree, by)| self.blame(tree, env, *by))
    }

    fn by_implied(&self, x: f64, y: f64, by: f64) -> (f64, f64) {
        let (mut by_x, mut by_y) = ([0.0], [0.0]);
        let to = [&mut by_x[..], &mut by_y[..]];
        (self.implies.backward)(self.settings, [&[x], &[y]], &[by], to);
        (by_x[0], by_y[0])
    }

    /// Visits the bindings again, now that their aggregate is known.
    fn blame_quantifier(
        &mut self,
        quantifier: &Quantifier,
        env: &mut Vec<Cell>,
        by: f64,
    ) -> Looked<()> {
        let mut states = [self.state(quantifier, env)?];
        if states[0].count == 0.0 {
            return Ok(());
        }
        let wants = self.aggregation(quantifier.forall).laws.wants_complements;
        let variables = quantifier.binding.variables();
        let mut chunk: Vec<Member> = Vec::with_capacity(CHUNK);
        let mut cells: Vec<Cell> = Vec::new();
        self.each(quantifier, env, &mut |look, env, _| {
            chunk.push(look.member(wants, &quantifier.body, env)?);
            cells.extend(variables.iter().map(|v| env[v.index()]));
            match chunk.len() == CHUNK {
                true => look.blame_chunk(quantifier, env, by, &mut states, &mut chunk, &mut cells),
                false => Ok(()),
            }
        })?;
        self.blame_chunk(quantifier, env, by, &mut states, &mut chunk, &mut cells)
    }

    fn blame_chunk(
        &mut self,
        quantifier: &Quantifier,
        env: &mut Vec<Cell>,
        by: f64,
        states: &mut [State],
        chunk: &mut Vec<Member>,
        cells: &mut Vec<Cell>,
    ) -> Looked<()> {
        let aggregation = self.aggregation(quantifier.forall);
        let (values, complements) = columns(chunk);
        let segments = [whole(chunk.len())];
        let mut slopes = vec![0.0; chunk.len()];
        let mut by_complements = vec![0.0; chunk.len()];
        let to = Slopes {
            states,
            by: &|_| by,
            fresh: false,
            out: &mut slopes,
            by_complements: &mut by_complements,
            scratch: &mut vec![0.0; chunk.len()],
        };
        let block = block(&values, &complements, &segments);
        (aggregation.slopes)(&self.settings, block, to);
        let variables = quantifier.binding.variables();
        let now: Vec<Cell> = variables.iter().map(|v| env[v.index()]).collect();
        let bindings = cells.chunks_exact(variables.len().max(1));
        for (at, binding) in bindings.enumerate() {
            let mut slope = slopes[at];
            if aggregation.laws.wants_complements {
                slope += by_complements[at] * chunk[at].slope_of_complement();
            }
            bind(variables, binding, env);
            self.blame(&quantifier.body, env, slope)?;
        }
        bind(variables, &now, env);
        chunk.clear();
        cells.clear();
        Ok(())
    }
}

impl Member {
    fn plain(value: f64) -> Member {
        Member {
            value,
            complement: 0.0,
        }
    }

    /// The derivative of log(1 − eˣ) by x is −eˣ / (1 − eˣ); where the truth is exactly 1 there is none.
    fn slope_of_complement(&self) -> f64 {
        match self.value < -1e-30 {
            true => -(self.value - self.complement).exp(),
            false => 0.0,
        }
    }
}

pub(super) fn bind(variables: &[VarId], cells: &[Cell], env: &mut [Cell]) {
    for (variable, cell) in variables.iter().zip(cells) {
        env[variable.index()] = *cell;
    }
}

/// The order in which bindings come: by their individuals, or by the rows of a table.
pub(super) fn order(binding: &Binding, env: &[Cell], row: u32) -> Vec<u32> {
    match binding {
        Binding::Rows(..) => vec![row],
        Binding::Sorts(variables) => (variables.iter())
            .map(|v| env[v.index()].individual())
            .collect(),
    }
}

fn columns(chunk: &[Member]) -> (Vec<f64>, Vec<f64>) {
    chunk.iter().map(|m| (m.value, m.complement)).unzip()
}

fn whole(len: usize) -> Segment {
    Segment {
        parent: 0,
        start: 0,
        end: len,
    }
}

fn block<'b>(values: &'b [f64], complements: &'b [f64], segments: &'b [Segment]) -> Block<'b, f64> {
    Block {
        values,
        complements,
        segments,
        weights: None,
    }
}
