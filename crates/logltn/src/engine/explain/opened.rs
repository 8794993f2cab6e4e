//! Definitions that an explanation opens, instead of treating their uses as literals.
//!
//! The value of a definition for a tuple is known: the engine has computed it. Only its formula is visited, once for
//! each tuple, however often the tuple is used: derivatives by tuples are collected and passed on in reverse order of
//! computing.

use std::mem::replace;

use super::Looked;
use super::look::{LiteralPlace, Look};
use super::tree::{Literal, Planter, Tree, TreeKind};
use crate::engine::strata::Layer;
use crate::guard::{Cell, Scope, TableIndexes};
use crate::plan::Plan;
use crate::plan::strata::Step;
use crate::vector::Real;

pub(super) struct Opened<'a> {
    plan: &'a Plan,
    indexes: &'a TableIndexes,
    /// By stratum, plain and negated; those of definitions that are opened.
    trees: Vec<[Option<Tree<'a>>; 2]>,
    /// By stratum its steps, in the order of layers and tuples, and their places in the order of computing.
    steps: Vec<Vec<(Step, usize)>>,
}

impl<'a> Opened<'a> {
    pub fn new(plan: &'a Plan, names: &[String], indexes: &'a TableIndexes) -> Opened<'a> {
        let strata = &plan.strata.strata;
        let mut steps: Vec<Vec<(Step, usize)>> = vec![Vec::new(); strata.len()];
        for (at, step) in plan.strata.steps.iter().enumerate() {
            steps[step.stratum].push((*step, at));
        }
        for steps in &mut steps {
            steps.sort_unstable_by_key(|(step, _)| (step.layer, step.start));
        }
        let mut opened = Opened {
            plan,
            indexes,
            trees: Vec::new(),
            steps,
        };
        opened.trees = (strata.iter().enumerate())
            .map(|(at, stratum)| {
                let form = &stratum.form;
                let named = names.contains(&form.name);
                let formulas = form
                    .formulas
                    .each_ref()
                    .map(|f| f.as_ref().filter(|_| named));
                formulas.map(|formula| {
                    formula.map(|f| Planter::new(opened.scope(at), plan).plant_written(f))
                })
            })
            .collect();
        opened
    }

    fn scope(&self, stratum: usize) -> Scope<'a> {
        Scope {
            data: &self.plan.data,
            variables: &self.plan.strata.strata[stratum].form.variables,
            indexes: self.indexes,
        }
    }

    /// Whether a definition is opened.
    pub fn is(&self, stratum: usize) -> bool {
        self.trees[stratum].iter().any(Option::is_some)
    }

    /// The literal, if the node is read as one.
    pub fn literal<'t, 'n>(&self, tree: &'t Tree<'n>) -> Option<&'t Literal<'n>> {
        match &tree.kind {
            TreeKind::Literal(literal) => Some(literal),
            TreeKind::Use(literal) if !self.is(literal.request) => Some(literal),
            _ => None,
        }
    }

    /// The step that computes a tuple, and its place in the order of computing; `None` at the end of a
    /// depth.
    fn step(&self, (stratum, _, place): LiteralPlace) -> Option<(&Step, usize)> {
        let (layer, tuple) = self.plan.strata.strata[stratum].tuple_at(place);
        let steps = &self.steps[stratum];
        let after = steps.partition_point(|(s, _)| (s.layer, s.start as usize) <= (layer, tuple));
        let (step, at) = steps.get(after.checked_sub(1)?)?;
        let holds = step.layer == layer && tuple < step.end as usize && !step.constant;
        holds.then_some((step, *at))
    }
}

impl<'a, T: Real> Look<'a, T> {
    /// Calls `look` on the formula of a definition at a tuple, if the definition is opened and has
    /// a step for the tuple.
    pub fn inside(
        &mut self,
        place: LiteralPlace,
        look: impl FnOnce(&mut Self, &Tree<'a>, &mut Vec<Cell>) -> Looked<()>,
    ) -> Looked<()> {
        let (stratum, negated, at) = place;
        let opened = self.opened;
        let tree = &opened.trees[stratum][usize::from(negated)];
        let (Some(tree), Some((step, _))) = (tree, opened.step(place)) else {
            return Ok(());
        };
        let plan = opened.plan;
        let scope = opened.scope(stratum);
        let planned = &plan.strata.strata[stratum];
        let mut tuple = vec![0; planned.form.parameters.len()];
        plan.requests[stratum].decode(planned.codes[planned.tuple_at(at).1], &mut tuple);
        let mut env = scope.environment();
        for (parameter, individual) in planned.form.parameters.iter().zip(tuple) {
            env[parameter.index()] = Cell::Individual(individual);
        }
        let layer = Layer::inside(plan, step, self.layer.group());
        let outside = (
            replace(&mut self.scope, scope),
            replace(&mut self.layer, layer),
            replace(&mut self.parameters, &planned.form.parameters),
        );
        let done = look(self, tree, &mut env);
        (self.scope, self.layer, self.parameters) = outside;
        done
    }

    /// Adds to the derivative by a tuple.
    pub fn blame_tuple(&mut self, place: LiteralPlace, by: f64) {
        if let Some((_, step)) = self.opened.step(place) {
            *self.pending.entry((step, place)).or_default() += by;
        }
    }

    /// Passes the derivatives by tuples on to the literals under them.
    pub fn blame_opened(&mut self) -> Looked<()> {
        while let Some(((_, place), by)) = self.pending.pop_last() {
            self.inside(place, |look, tree, env| look.blame(tree, env, by))?;
        }
        Ok(())
    }
}
