//! A part of a formula by itself, planned for some bindings of the variables around it: what explanations say of these
//! bindings, the engine computes from such a plan.

use std::slice;

use super::Plan;
use super::account::Account;
use super::active::Active;
use super::ground::{Grounder, Shared, ground_under};
use super::lower::{Lower, places_in_complete_tables};
use super::normal::{Kind, Normal};
use super::physical::{Node, Physical};
use super::program::NodeKind;
use crate::diagnostic::Diagnostic;
use crate::guard::{Cell, Scope};
use crate::memory;
use crate::recursion::deep;
use crate::theory::VarId;

/// A small plan whose only program goes through the bindings. Its requests are those of the plan that it is from.
pub(crate) struct Excerpt {
    pub plan: Plan,
    pub active: Active,
    /// The literals that occur, negated ones and uses of definitions among them, by request and sign. Nodes refer to
    /// these, so that each has derivatives of its own.
    pub literals: Vec<(usize, bool)>,
    lists: Grounder,
}

impl Plan {
    /// A directly negated atom is a literal, as is a use of a stratum unless it is `opened`.
    pub(crate) fn excerpt(
        &self,
        scope: Scope,
        part: &Normal,
        variables: &[VarId],
        bindings: Vec<Vec<Cell>>,
        opened: &dyn Fn(usize) -> bool,
    ) -> Result<Excerpt, Diagnostic> {
        let mut lists = Grounder::new(Account::new(memory::limit()));
        let bound = lists.bindings(variables.to_vec(), bindings);
        let mut part = part.clone();
        take_over_factors(self, &mut part, &mut lists);
        let mut shared = Shared::of_plan(lists, self);
        let mut program = ground_under(scope, &self.outputs, &mut shared, vec![bound], part)?;
        let Shared {
            mut lists,
            mut maps,
            mut requests,
            ..
        } = shared;
        places_in_complete_tables(slice::from_mut(&mut program), &mut maps, &requests);
        // Others need no numbering.
        for request in requests.iter_mut().filter(|r| r.occurs == [false; 2]) {
            request.extents = vec![0];
        }
        let lower = Lower {
            semantics: &self.semantics,
            components: &lists.components,
            maps: &maps,
            requests: &requests,
        };
        let mut program = lower.apply(program, usize::MAX);
        let literals = name_literals(&mut program, opened);
        let mut plan = Plan::empty(self.data.clone(), &self.outputs, self.semantics);
        plan.programs.push(program);
        plan.components = std::mem::take(&mut lists.components);
        (plan.maps, plan.requests) = (maps, requests);
        let active = Active::new(&plan);
        lists.components = std::mem::take(&mut plan.components);
        Ok(Excerpt {
            plan,
            active,
            literals,
            lists,
        })
    }
}

/// The lists of a sum of products stay as they are.
fn take_over_factors(plan: &Plan, part: &mut Normal, lists: &mut Grounder) {
    let Kind::SumProduct(sum) = &mut part.kind else {
        let inside = part.children_mut();
        return deep(|| inside.for_each(|inner| take_over_factors(plan, inner, lists)));
    };
    for factor in &mut sum.factors {
        let list = plan.components[factor.bound.component].clone();
        factor.bound = lists.one_list(factor.bound.variables.clone(), list);
        take_over_factors(plan, &mut factor.body, lists);
    }
    for inner in &mut sum.common {
        take_over_factors(plan, inner, lists);
    }
}

/// Lets the nodes refer to literals by request and sign.
fn name_literals(program: &mut Physical, opened: &dyn Fn(usize) -> bool) -> Vec<(usize, bool)> {
    let mut literals: Vec<(usize, bool)> = Vec::new();
    let mut named = |literal: (usize, bool)| {
        let known = literals.iter().position(|other| *other == literal);
        known.unwrap_or_else(|| {
            literals.push(literal);
            literals.len() - 1
        })
    };
    let nodes: Vec<Node> = program.nodes.clone();
    for node in &mut program.nodes {
        let (atom, is_negated) = match node.kind {
            NodeKind::Not(a) => (&nodes[a], true),
            _ => (&*node, false),
        };
        let (request, negated, slot) = match atom.kind {
            NodeKind::Use { stratum, .. } if is_negated && opened(stratum) => continue,
            NodeKind::Use {
                stratum,
                negated,
                slot,
            } => (stratum, negated, slot),
            NodeKind::Literal {
                request,
                negated,
                slot,
            } => (request, negated, slot),
            _ => continue,
        };
        let place = atom.place;
        node.place = place;
        node.kind = NodeKind::Literal {
            request: named((request, negated || is_negated)),
            negated: false,
            slot,
        };
    }
    literals
}

impl Excerpt {
    /// Binds the variables of a level to the `nth` of its bindings under the variables around it.
    pub fn bind(&self, scope: &Scope, level: usize, mut nth: u64, env: &mut [Cell]) {
        let components = self.plan.programs[0].levels[level].components.iter();
        // The guard of a component reads variables further out only.
        for component in components.rev() {
            let list = self.lists.list(&component.bound, env);
            let size = u64::from(list.end - list.start).max(1);
            let tuple = list.start as usize + (nth % size) as usize;
            nth /= size;
            self.lists.bind(*scope, &component.bound, tuple, env);
        }
    }

    /// The variables of a level that has one list, and its tuples.
    pub fn tuples(&self, level: usize) -> (&[VarId], &[u32]) {
        let bound = &self.plan.programs[0].levels[level].components[0].bound;
        let list = &self.lists.components[bound.component];
        (&bound.variables, &list.tuples)
    }
}
