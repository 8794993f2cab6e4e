//! The literals and witnesses that are shown for a binding.

use rustc_hash::FxHashSet;

use super::look::{LiteralPlace, Look, bind, order};
use super::tree::{Literal, Quantifier, Tree, TreeKind};
use super::{Looked, Violation, Witness};
use crate::guard::Cell;
use crate::plan::ArgumentShape;
use crate::plan::individual::BlamedLiteral;
use crate::plan::individual::{Bound, Individual};
use crate::plan::normal::Normal;
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;
use crate::token::written_label;
use crate::vector::Real;

/// Collects literals and witnesses in the order in which they are found.
#[derive(Default)]
struct List {
    literals: Vec<(LiteralPlace, BlamedLiteral)>,
    seen: FxHashSet<LiteralPlace>,
    witnesses: Vec<Witness>,
    /// The tuples of definitions that were opened.
    opened: FxHashSet<LiteralPlace>,
}

impl<T: Real> Look<'_, T> {
    /// A binding of the `forall`s at the root, which `env` holds.
    pub fn violation(
        &mut self,
        tree: &Tree,
        env: &mut Vec<Cell>,
        binding: Vec<Bound>,
        truth: f64,
    ) -> Looked<Violation> {
        let mut list = List::default();
        self.list(tree, env, &mut list)?;
        self.blames.clear();
        self.pending.clear();
        self.blame(tree, env, 1.0)?;
        self.blame_opened()?;
        let mut literals: Vec<BlamedLiteral> = (list.literals.into_iter())
            .map(|(place, literal)| BlamedLiteral {
                blame: self.blames.get(&place).copied().unwrap_or(0.0),
                ..literal
            })
            .collect();
        literals.sort_by(|a, b| b.blame.abs().total_cmp(&a.blame.abs()));
        Ok(Violation {
            binding,
            truth,
            literals,
            witnesses: list.witnesses,
        })
    }

    fn list(&mut self, tree: &Tree, env: &mut Vec<Cell>, to: &mut List) -> Looked<()> {
        deep(|| self.list_here(tree, env, to))
    }

    fn list_here(&mut self, tree: &Tree, env: &mut Vec<Cell>, to: &mut List) -> Looked<()> {
        match &tree.kind {
            TreeKind::Constant(_) | TreeKind::Sum(_) => Ok(()),
            TreeKind::Use(literal) if self.opened.is(literal.request) => {
                let place = self.place(literal, env);
                match to.opened.insert(place) {
                    true => self.inside(place, |look, tree, env| look.list(tree, env, to)),
                    false => Ok(()),
                }
            }
            TreeKind::Literal(literal) | TreeKind::Use(literal) => {
                let truth = self.value(tree, env)?;
                self.add(literal, literal.negated, truth, tree.normal.span, env, to);
                Ok(())
            }
            TreeKind::Not(a) => match self.opened.literal(a) {
                Some(literal) => {
                    let truth = self.value(tree, env)?;
                    self.add(literal, true, truth, tree.normal.span, env, to);
                    Ok(())
                }
                _ => self.list(a, env, to),
            },
            TreeKind::Log(a) => self.list(a, env, to),
            TreeKind::Implies(a, b) | TreeKind::Iff(a, b) => {
                self.list(a, env, to)?;
                self.list(b, env, to)
            }
            TreeKind::And(members) | TreeKind::Or(members) => {
                members.iter().try_for_each(|m| self.list(m, env, to))
            }
            TreeKind::Quantifier(quantifier) => {
                let variables = quantifier.binding.variables();
                let found = self.extreme(quantifier, env)?;
                if !quantifier.forall {
                    let formula = self.text(tree.normal, env);
                    let truest = found.then(|| Bound::all(&self.scope, variables, env));
                    let truest = match truest {
                        Some(binding) => Some((binding, self.value(&quantifier.body, env)?)),
                        None => None,
                    };
                    to.witnesses.push(Witness { formula, truest });
                }
                match found {
                    true => self.list(&quantifier.body, env, to),
                    false => Ok(()),
                }
            }
        }
    }

    /// A formula as it is evaluated; inside a definition, with individuals in place of its
    /// parameters.
    fn text(&self, normal: &Normal, env: &[Cell]) -> String {
        let theory = self.scope.theory();
        if self.parameters.is_empty() {
            return theory.whole_normal_text(self.scope.variables, normal);
        }
        let mut variables = self.scope.variables.to_vec();
        for parameter in self.parameters.iter().map(|p| p.index()) {
            let bound = Bound::new(&self.scope, VarId(parameter as u32), env[parameter]);
            variables[parameter].name = written(&bound.to);
        }
        theory.whole_normal_text(&variables, normal)
    }

    /// Leaves the environment at the truest binding of an `exists`, or at the least true one of a `forall`, the first in
    /// order if several are; false if there is none.
    fn extreme(&mut self, quantifier: &Quantifier, env: &mut Vec<Cell>) -> Looked<bool> {
        if let Some(sum) = &quantifier.sum {
            return self.truest_of_sum(quantifier, sum, env);
        }
        let variables = quantifier.binding.variables();
        let mut best: Option<(f64, Vec<u32>, Vec<Cell>)> = None;
        self.each(quantifier, env, &mut |look, env, row| {
            let value = look.value(&quantifier.body, env)?;
            let value = if quantifier.forall { -value } else { value };
            let better = match &best {
                None => true,
                Some((known, at, _)) => {
                    value > *known || value == *known && order(quantifier.binding, env, row) < *at
                }
            };
            if better {
                let cells = variables.iter().map(|v| env[v.index()]).collect();
                best = Some((value, order(quantifier.binding, env, row), cells));
            }
            Ok(())
        })?;
        if let Some((_, _, cells)) = &best {
            bind(variables, cells, env);
        }
        Ok(best.is_some())
    }

    fn add(
        &self,
        literal: &Literal,
        negated: bool,
        truth: f64,
        span: Span,
        env: &[Cell],
        to: &mut List,
    ) {
        let (request, _, place) = self.place(literal, env);
        let place = (request, negated, place);
        if !to.seen.insert(place) {
            return;
        }
        let theory = self.scope.theory();
        let arguments: Vec<String> = (literal.arguments.iter())
            .map(|term| self.term(term, env))
            .collect();
        let mut leaves = Vec::new();
        for term in literal.arguments {
            self.scope.argument(term, &mut leaves);
        }
        let individuals = (leaves.iter()).filter_map(|(leaf, shape)| match shape {
            ArgumentShape::Individual(sort) => Some((*sort, self.scope.leaf_index(leaf, env))),
            _ => None,
        });
        let name = match literal.predicate {
            Some(predicate) => &theory[predicate].name,
            None => &self.ground.plan.strata.strata[literal.request].name,
        };
        let not = if negated { "not " } else { "" };
        to.literals.push((
            place,
            BlamedLiteral {
                text: format!("{not}{name}({})", arguments.join(", ")),
                truth,
                blame: 0.0,
                predicate: literal.predicate,
                individuals: individuals.collect(),
                span,
            },
        ));
    }

    /// A term with individuals in place of variables.
    fn term(&self, term: &Term, env: &[Cell]) -> String {
        let theory = self.scope.theory();
        match &term.kind {
            TermKind::Variable(id) => written(&Bound::new(&self.scope, *id, env[id.index()]).to),
            TermKind::Individual(sort, index) => written(&Individual::of(theory, *sort, *index)),
            TermKind::Constant(id) => theory[*id].name.clone(),
            TermKind::Number(x) => x.0.to_string(),
            TermKind::Apply(id, arguments) => {
                let arguments: Vec<String> =
                    (arguments.iter()).map(|a| self.term(a, env)).collect();
                format!("{}({})", theory[*id].name, arguments.join(", "))
            }
        }
    }
}

/// As in a theory: put a label that is not a name in double quotes.
fn written(individual: &Individual) -> String {
    match individual {
        Individual::Name(name) => written_label(name),
        other => other.to_string(),
    }
}
