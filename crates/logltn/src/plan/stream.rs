//! Rows that come with the call: like a prepared statement, a plan keeps the normal forms of the axioms that depend on
//! them and plans these again; lists that do not depend on the rows stay.

use std::sync::Arc;

use super::compile::{Problem, check, ground_member, lower_all};
use super::ground::Shared;
use super::normal::Member;
use super::strata::{self, StrataPlan};
use super::{Plan, PlanOptions, PlannedAxiom};
use crate::data::{ColumnData, Data};
use crate::diagnostic::Diagnostics;
use crate::guard::{Kept, Scope, TableIndexes, tables};
use crate::guard_parts::Part;
use crate::theory::*;

/// What is kept to plan the axioms again that depend on what comes with a call.
#[derive(Clone, Debug)]
pub(super) struct Streaming {
    options: PlanOptions,
    /// Without components, maps and requests, which are in the plan.
    shared: Shared,
    axioms: Vec<StreamedAxiom>,
    /// The warnings about the other axioms.
    warnings: Diagnostics,
    kept: Kept,
}

/// An axiom that depends on what comes with a call.
#[derive(Clone, Debug)]
struct StreamedAxiom {
    /// Its place in the plan.
    place: usize,
    /// In the theory.
    axiom: usize,
    member: Member,
}

impl Streaming {
    pub fn retain_axioms(&mut self, kept: &[bool]) {
        self.axioms.retain(|a| kept[a.place]);
        for axiom in &mut self.axioms {
            axiom.place = kept[..axiom.place].iter().filter(|k| **k).count();
        }
    }
}

/// Whether an axiom depends on what comes with a call.
pub(super) fn depends(data: &Data, axiom: &Axiom) -> bool {
    // Strata are planned together, with all that use them.
    if data.streams_anything() && !data.theory().used_directly(&axiom.formula).is_empty() {
        return true;
    }
    let sort = |sort: ColumnSort| matches!(sort, ColumnSort::Sort(s) if data.streams_sort(s));
    axiom.variables.iter().any(|v| sort(v.sort))
        || (axiom.formula.parts()).any(|formula| formula_depends(data, formula))
}

fn formula_depends(data: &Data, formula: &Formula) -> bool {
    let theory = data.theory();
    let mut found = match &formula.kind {
        FormulaKind::Atom { predicate, .. } => {
            let mut sorts = theory[*predicate].arguments.iter();
            sorts.any(|sort| match sort {
                ArgumentSort::Sort(sort) => data.streams_sort(*sort),
                ArgumentSort::Vector(_) => false,
            })
        }
        FormulaKind::Quantified { binding, guard, .. } => {
            let mut guards = guard.iter().flat_map(tables);
            matches!(binding, Binding::Rows(table, _) if data.streams_table(*table))
                || guards.any(|t| data.streams_table(t))
        }
        _ => false,
    };
    // The numbers of constants may depend on the size of their sort.
    formula.visit_own(&mut |part| {
        if let Part::Term(Term {
            kind: TermKind::Constant(id),
            ..
        }) = part
        {
            found |= data.streams_sort(theory[*id].sort);
        }
    });
    found
}

impl Plan {
    /// Keeps what the axioms share, and what is needed to plan some of them again.
    pub(super) fn keep(
        &mut self,
        mut shared: Shared,
        options: PlanOptions,
        normal_forms: Vec<(usize, Member)>,
    ) {
        self.exchange(&mut shared);
        if normal_forms.is_empty() {
            return;
        }
        let mut axioms = Vec::with_capacity(normal_forms.len());
        for (axiom, member) in normal_forms {
            let is_it = |a: &PlannedAxiom| a.axiom == axiom && a.name == member.name;
            let place = self.axioms.iter().position(is_it).unwrap_or(0);
            axioms.push(StreamedAxiom {
                place,
                axiom,
                member,
            });
        }
        self.streaming = Some(Streaming {
            options,
            shared,
            axioms,
            warnings: self.warnings.clone(),
            kept: Kept::default(),
        });
    }

    fn exchange(&mut self, shared: &mut Shared) {
        std::mem::swap(&mut self.components, &mut shared.lists.components);
        std::mem::swap(&mut self.maps, &mut shared.maps);
        std::mem::swap(&mut self.requests, &mut shared.requests);
    }

    /// How many components, maps and requests stay when rows come with a call.
    pub(crate) fn fixed(&self) -> Option<(usize, usize, usize)> {
        let fixed = &self.streaming.as_ref()?.shared.fixed;
        Some((fixed.components, fixed.maps, fixed.requests))
    }

    /// Whether axioms that depend on what comes with a call ask a predicate about nothing but cells of the rows, or
    /// individuals, that their first quantifier ranges over. Then the rows that a call needs do not depend on the rest
    /// of the plan; otherwise they depend on how the axioms are rewritten, and so on the estimated costs.
    pub fn asks_first_bindings(&self, predicate: PredicateId) -> bool {
        let theory = self.data.theory();
        let per_class = self.outputs[predicate.index()].per_class;
        let axioms = theory.axioms.iter().filter(|a| depends(&self.data, a));
        axioms.into_iter().all(|axiom| {
            let first = match &axiom.formula.kind {
                FormulaKind::Quantified {
                    binding: Binding::Rows(_, variables),
                    ..
                }
                | FormulaKind::Quantified {
                    binding: Binding::Sorts(variables),
                    guard: None,
                    ..
                } => &variables[..],
                _ => &[],
            };
            let is_known = |term: &Term| match &term.kind {
                TermKind::Variable(v) => first.contains(v) || axiom[*v].bound_by == BoundBy::Family,
                TermKind::Apply(..) => false,
                TermKind::Individual(..) | TermKind::Constant(_) | TermKind::Number(_) => true,
            };
            axiom.formula.parts().all(|formula| match &formula.kind {
                FormulaKind::Atom {
                    predicate: of,
                    arguments,
                } if *of == predicate => {
                    let of_row = arguments.len() - usize::from(per_class && !arguments.is_empty());
                    arguments[..of_row].iter().all(is_known)
                }
                _ => true,
            })
        })
    }

    /// Plans again what depends on rows and sizes that come with a call. After an error it is as before the first call.
    pub(crate) fn stream(
        &mut self,
        sizes: &[(SortId, usize)],
        rows: Vec<(TableId, Vec<ColumnData>)>,
    ) -> Result<(), Diagnostics> {
        let data = Arc::make_mut(&mut self.data);
        let done = match data.stream(sizes, rows) {
            Ok(()) => self.plan_streamed(),
            Err(errors) => Err(errors),
        };
        if done.is_err() {
            let data = Arc::make_mut(&mut self.data);
            data.forget_streams();
            // Also if it was this that was to stop.
            let stop = data.stop.take();
            let done = self.plan_streamed();
            Arc::make_mut(&mut self.data).stop = stop;
            done?;
        }
        done
    }

    fn plan_streamed(&mut self) -> Result<(), Diagnostics> {
        let Some(mut streaming) = self.streaming.take() else {
            return Ok(());
        };
        self.exchange(&mut streaming.shared);
        let done = self.plan_with(&mut streaming);
        self.exchange(&mut streaming.shared);
        self.streaming = Some(streaming);
        if let (Ok(()), Some(mut events)) = (&done, self.events.take()) {
            let renewed = Arc::make_mut(&mut events).renew(self);
            self.events = Some(events);
            return renewed;
        }
        done
    }

    fn plan_with(&mut self, streaming: &mut Streaming) -> Result<(), Diagnostics> {
        let shared = &mut streaming.shared;
        shared.forget();
        let data = self.data.clone();
        let problem = Problem {
            data: &data,
            outputs: &self.outputs,
            semantics: &self.semantics,
            options: &streaming.options,
        };
        let mut found = streaming.warnings.clone();
        check(&data, &self.outputs, &self.semantics, &mut found);
        if found.has_errors() {
            return Err(found);
        }
        let indexes = TableIndexes::with(std::mem::take(&mut streaming.kept));
        strata::take_sizes(problem, shared)?;
        let mut grounded = Vec::with_capacity(streaming.axioms.len());
        for streamed in &streaming.axioms {
            let scope = Scope {
                data: &data,
                variables: &data.theory().axioms[streamed.axiom].variables,
                indexes: &indexes,
            };
            let member = streamed.member.clone();
            grounded.push(ground_member(
                problem,
                scope,
                shared,
                streamed.axiom,
                member,
            )?);
        }
        let strata = strata::ground_all(problem, shared, &indexes);
        streaming.kept = indexes.keep(&data);
        let (strata, steps) = strata?;
        let (lowered, strata) = lower_all(problem, shared, grounded, strata, &mut found);
        if found.has_errors() {
            return Err(found);
        }
        for (streamed, lowered) in streaming.axioms.iter().zip(lowered) {
            self.axioms[streamed.place] = lowered.axiom;
            self.programs[streamed.place] = lowered.program;
            self.forms[streamed.place] = lowered.forms;
        }
        self.strata = StrataPlan { strata, steps };
        self.warnings = found;
        Ok(())
    }
}
