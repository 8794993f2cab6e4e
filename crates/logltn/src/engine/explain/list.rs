//! The literals and witnesses that are shown for each binding.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::explainer::{At, Atom, Explainer, Inside, LiteralPlace};
use super::{Violation, Witness};
use crate::diagnostic::Diagnostic;
use crate::guard::Cell;
use crate::plan::ArgumentShape;
use crate::plan::individual::BlamedLiteral;
use crate::plan::individual::{Bound, Individual};
use crate::plan::normal::{Kind, Normal};
use crate::plan::program::Ungrounded;
use crate::recursion::deep;
use crate::source::Span;
use crate::theory::*;
use crate::token::written_label;
use crate::vector::Real;

/// The literals and witnesses of a binding in the order in which they are found.
#[derive(Clone, Default)]
struct List {
    literals: Vec<(LiteralPlace, BlamedLiteral)>,
    seen: FxHashSet<LiteralPlace>,
    witnesses: Vec<Witness>,
    /// The tuples of definitions that were opened.
    opened: FxHashSet<LiteralPlace>,
}

impl<'a, T: Real> Explainer<'a, T> {
    /// Some bindings of the `forall`s at the root, with the truths there.
    pub fn violations(
        &self,
        inside: &Inside<'a>,
        form: &'a Ungrounded,
        bindings: Vec<(Vec<Cell>, f64)>,
    ) -> Result<Vec<Violation>, Diagnostic> {
        let mut lists = vec![List::default(); bindings.len()];
        let (environments, truths): (Vec<_>, Vec<_>) = bindings.into_iter().unzip();
        let all = environments.into_iter().enumerate();
        let all: Vec<At> = all.map(|(shown, env)| At { shown, env }).collect();
        let eliminated = form.eliminated.as_ref();
        self.list(inside, (&form.written, eliminated), all.clone(), &mut lists)?;
        let formula = eliminated.unwrap_or(&form.written);
        let blames = self.blames(inside, formula, all.clone())?;
        let shown = lists.into_iter().zip(blames).zip(all.iter().zip(truths));
        let shown = shown.map(|((list, blames), (at, truth))| {
            let literals = list.literals.into_iter();
            let mut literals: Vec<BlamedLiteral> = literals
                .map(|(place, literal)| BlamedLiteral {
                    blame: blames.get(&place).copied().unwrap_or(0.0),
                    ..literal
                })
                .collect();
            literals.sort_by(|a, b| b.blame.abs().total_cmp(&a.blame.abs()));
            Violation {
                binding: Bound::all(&inside.scope, &inside.bound, &at.env),
                truth,
                literals,
                witnesses: list.witnesses,
            }
        });
        Ok(shown.collect())
    }

    /// Lists a part of a formula at some bindings; with the same after elimination.
    fn list(
        &self,
        inside: &Inside<'a>,
        (part, eliminated): (&Normal, Option<&Normal>),
        bindings: Vec<At>,
        to: &mut [List],
    ) -> Result<(), Diagnostic> {
        match bindings.is_empty() {
            true => Ok(()),
            false => deep(|| self.list_here(inside, (part, eliminated), bindings, to)),
        }
    }

    fn list_here(
        &self,
        inside: &Inside<'a>,
        (part, eliminated): (&Normal, Option<&Normal>),
        bindings: Vec<At>,
        to: &mut [List],
    ) -> Result<(), Diagnostic> {
        // A directly negated atom is a literal.
        let (atom, is_negated) = match &part.kind {
            Kind::Not(a) => (self.atom(inside, a), true),
            _ => (self.atom(inside, part), false),
        };
        match atom {
            Some(atom) if !self.is_opened(atom.request) => {
                let negated = atom.negated || is_negated;
                self.add(inside, &atom, negated, part.span, &bindings, to);
                return Ok(());
            }
            Some(atom) if !is_negated => return self.list_opened(inside, &atom, bindings, to),
            _ => {}
        }
        let Kind::Quantifier { forall, body, .. } = &part.kind else {
            // What is inside a sum of products is not shown.
            let mut twins = eliminated.into_iter().flat_map(Normal::children);
            let mut inner = part.children().map(|child| (child, twins.next()));
            return inner.try_for_each(|both| self.list(inside, both, bindings.clone(), to));
        };
        let (deeper, found) = self.extremes(inside, (part, eliminated), &bindings)?;
        let mut further = Vec::new();
        for (At { shown, env }, found) in bindings.into_iter().zip(found) {
            if !forall {
                let own = &deeper.bound[inside.bound.len()..];
                let truest = (found.as_ref())
                    .map(|(env, truth)| (Bound::all(&inside.scope, own, env), *truth));
                let formula = self.text(inside, part, &env);
                to[shown].witnesses.push(Witness { formula, truest });
            }
            further.extend(found.map(|(env, _)| At { shown, env }));
        }
        let twin = eliminated.filter(|twin| !matches!(twin.kind, Kind::SumProduct(_)));
        let twin = twin.and_then(|twin| twin.children().next());
        self.list(&deeper, (body, twin), further, to)
    }

    /// By binding the truest binding of an `exists`, or the least true one of a `forall`, and the truth there; with what
    /// is bound under it.
    #[allow(clippy::type_complexity)] // an environment and a truth
    fn extremes(
        &self,
        inside: &Inside<'a>,
        (part, eliminated): (&Normal, Option<&Normal>),
        bindings: &[At],
    ) -> Result<(Inside<'a>, Vec<Option<(Vec<Cell>, f64)>>), Diagnostic> {
        let Kind::Quantifier {
            binding,
            guard,
            body,
            ..
        } = &part.kind
        else {
            unreachable!("only quantifiers have extremes");
        };
        let mut deeper = inside.clone();
        deeper.bound.extend(binding.variables());
        let sum = eliminated.filter(|twin| matches!(twin.kind, Kind::SumProduct(_)));
        let Some(sum) = sum else {
            let probe = self.probe(inside, part, bindings.to_vec())?;
            return Ok((deeper, probe.extremes(binding)));
        };
        let probe = self.probe(inside, sum, bindings.to_vec())?;
        let found = probe.truest_of_sum(binding.variables(), guard.as_deref())?;
        let reached = found.iter().flatten().cloned();
        let reached: Vec<At> = reached.map(|env| At { shown: 0, env }).collect();
        let mut truths = match reached.is_empty() {
            true => Vec::new(),
            false => self.probe(&deeper, body, reached)?.values(),
        }
        .into_iter();
        let found = found.into_iter();
        let found = found.map(|env| Some((env?, truths.next()?))).collect();
        Ok((deeper, found))
    }

    /// Lists the formula of a definition at the tuples that are used, each once.
    fn list_opened(
        &self,
        inside: &Inside<'a>,
        atom: &Atom,
        bindings: Vec<At>,
        to: &mut [List],
    ) -> Result<(), Diagnostic> {
        // By layer, in which a definition may read other tuples.
        let mut by_step: BTreeMap<usize, (Inside, &Normal, Vec<At>)> = BTreeMap::new();
        for At { shown, env } in bindings {
            let place = self.place(inside, atom, &env);
            let place = (atom.request, atom.negated, place);
            if to[shown].opened.insert(place)
                && let Some(opened) = self.open(place, inside.layer.group())
            {
                let entry = (opened.inside, opened.formula, Vec::new());
                let (_, _, bindings) = by_step.entry(opened.step).or_insert(entry);
                let env = opened.env;
                bindings.push(At { shown, env });
            }
        }
        let mut steps = by_step.into_values();
        steps.try_for_each(|(inside, formula, bindings)| {
            self.list(&inside, (formula, None), bindings, to)
        })
    }

    fn add(
        &self,
        inside: &Inside,
        atom: &Atom,
        negated: bool,
        span: Span,
        bindings: &[At],
        to: &mut [List],
    ) {
        let theory = inside.scope.theory();
        for At { shown, env } in bindings {
            let place = (atom.request, negated, self.place(inside, atom, env));
            if !to[*shown].seen.insert(place) {
                continue;
            }
            let arguments: Vec<String> = (atom.arguments.iter())
                .map(|term| self.term(inside, term, env))
                .collect();
            let individuals = (atom.leaves.iter()).filter_map(|(leaf, shape)| match shape {
                ArgumentShape::Individual(sort) => {
                    Some((*sort, inside.scope.leaf_index(leaf, env)))
                }
                _ => None,
            });
            let name = match atom.predicate {
                Some(predicate) => &theory[predicate].name,
                None => &self.ground.plan.strata.strata[atom.request].name,
            };
            let not = if negated { "not " } else { "" };
            let literal = BlamedLiteral {
                text: format!("{not}{name}({})", arguments.join(", ")),
                truth: self.truth(place),
                blame: 0.0,
                predicate: atom.predicate,
                individuals: individuals.collect(),
                span,
            };
            to[*shown].literals.push((place, literal));
        }
    }

    /// A formula as it is evaluated; inside a definition, with individuals in place of its
    /// parameters.
    fn text(&self, inside: &Inside, normal: &Normal, env: &[Cell]) -> String {
        let Inside {
            scope, parameters, ..
        } = inside;
        let mut variables = scope.variables.to_vec();
        for &parameter in *parameters {
            let bound = Bound::new(scope, parameter, env[parameter.index()]);
            variables[parameter.index()].name = written(&bound.to);
        }
        scope.theory().whole_normal_text(&variables, normal)
    }

    /// A term with individuals in place of variables.
    fn term(&self, inside: &Inside, term: &Term, env: &[Cell]) -> String {
        let theory = inside.scope.theory();
        match &term.kind {
            TermKind::Variable(id) => written(&Bound::new(&inside.scope, *id, env[id.index()]).to),
            TermKind::Individual(sort, index) => written(&Individual::of(theory, *sort, *index)),
            TermKind::Constant(id) => theory[*id].name.clone(),
            TermKind::Number(x) => x.0.to_string(),
            TermKind::Apply(id, arguments) => {
                let arguments: Vec<String> = (arguments.iter())
                    .map(|a| self.term(inside, a, env))
                    .collect();
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
