//! Many processes: which axioms can be merged from what each process computes for its own rows.
//!
//! A process has its own rows of batched and streamed tables, and its own individuals of sorts whose size comes with the call. A
//! quantifier over one of them that is (a summand of) the axiom keeps a state that merges with those of the others. Anything
//! else would have to see rows of other processes, and is refused. Such a quantifier stays as it is written: whether a rewrite
//! pays depends on how many rows a process has, and all must add up the same parts.

use super::normal::{Kind, Normal};
use super::physical::Physical;
use super::program::{Component, NodeKind};
use crate::data::{ConstantData, Data};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::tables;
use crate::guard_parts::Part;
use crate::recursion::deep;
use crate::semantics::Semantics;
use crate::source::Span;
use crate::theory::*;

/// What belongs to this process alone.
#[derive(Clone, Copy)]
pub(super) struct Shards<'a> {
    pub data: &'a Data,
    /// Of the axiom.
    pub variables: &'a [Variable],
    /// An axiom or a definition, for people.
    pub what: &'static str,
}

impl Shards<'_> {
    fn of_table(&self, table: TableId) -> bool {
        let batched = || self.data.table(table).is_some_and(|t| t.batched);
        self.data.streams_table(table) || batched()
    }

    fn of_variable(&self, variable: VarId) -> bool {
        // Variables that elimination made belong to no process.
        let sort = self.variables.get(variable.index()).map(|v| v.sort);
        matches!(sort, Some(ColumnSort::Sort(sort)) if self.data.streams_sort(sort))
    }

    /// How many binders of this process's own rows or individuals a quantifier has.
    pub fn bound(&self, binding: &Binding) -> usize {
        match binding {
            Binding::Rows(table, _) => match table.product() {
                None => usize::from(self.of_table(*table)),
                Some(product) => {
                    let parts = self.data.theory().products[product].parts.iter();
                    let own = |part: &&ProductPart| match part {
                        ProductPart::Rows(table) => self.of_table(*table),
                        ProductPart::Sort(sort) => self.data.streams_sort(*sort),
                    };
                    parts.filter(own).count()
                }
            },
            Binding::Sorts(variables) => variables.iter().filter(|v| self.of_variable(**v)).count(),
        }
    }

    /// Marks the parts of an axiom of which each process has a share.
    pub fn mark(&self, physical: &mut Physical, components: &[Component]) {
        for root in &mut physical.roots {
            let NodeKind::Quantifier { level, .. } = physical.nodes[root.node].kind else {
                continue;
            };
            let own = &physical.levels[level].components;
            root.sharded = own.iter().any(|c| {
                let table = components[c.component].source.table();
                table.is_some_and(|t| self.of_table(t))
                    || c.bound.variables.iter().any(|v| self.of_variable(*v))
            });
        }
    }

    /// Refuses a definition that would have to: wherever it is used, it is inside a formula.
    pub fn check_definition(&self, body: &Axiom, formula: &Normal) -> Result<(), Diagnostic> {
        self.check_variables(body)?;
        self.check_guards(body, formula)?;
        self.check_inside(body, formula)
    }

    /// Refuses an axiom that would have to see rows of other processes.
    pub fn check(
        &self,
        axiom: &Axiom,
        formula: &Normal,
        semantics: &Semantics,
    ) -> Result<(), Diagnostic> {
        let theory = self.data.theory();
        for (constant, is) in theory.constants.iter().zip(&self.data.constants) {
            let own = self.data.streams_sort(constant.sort);
            if own && matches!(is, Some(ConstantData::Row(_))) {
                let sort = &theory[constant.sort].name;
                return Err(self.refused(
                    axiom,
                    constant.span,
                    format!("constant `{}` is an individual of sort `{sort}`, whose individuals are spread over processes", constant.name),
                    "give the constant a vector of its own, or the sort a fixed size",
                ));
            }
        }
        self.check_variables(axiom)?;
        self.check_guards(axiom, formula)?;
        let mut summands = Vec::new();
        find_summands(formula, semantics.and.laws().adds, &mut summands);
        for summand in summands {
            let Kind::Quantifier { binding, body, .. } = &summand.kind else {
                self.check_inside(axiom, summand)?;
                continue;
            };
            match self.bound(binding) {
                0 => self.check_binding(axiom, summand.span, binding)?,
                1 => {}
                _ => {
                    let message = "this quantifier pairs individuals that are spread over processes: individuals of different processes would have to meet";
                    let help = "give the pairs as rows of a table, each process those of its own individuals";
                    return Err(self.refused(axiom, summand.span, message.into(), help));
                }
            }
            self.check_inside(axiom, body)?;
        }
        Ok(())
    }

    /// No guard goes through individuals of which each process has its own.
    fn check_variables(&self, axiom: &Axiom) -> Result<(), Diagnostic> {
        let theory = self.data.theory();
        for variable in &axiom.variables {
            let ColumnSort::Sort(sort) = variable.sort else {
                continue;
            };
            // Families, `all` and `any` range over no such sort.
            if self.data.streams_sort(sort) && variable.bound_by == BoundBy::Guard {
                let message = format!(
                    "this guard goes through the individuals of sort `{}`, which are spread over processes",
                    theory[sort].name
                );
                let help = "range over them with a `forall` or `exists` at the front of the axiom, or give the sort a fixed size";
                return Err(self.refused(axiom, variable.span, message, help));
            }
        }
        Ok(())
    }

    /// Everything inside a part must be known to this process.
    fn check_inside(&self, axiom: &Axiom, formula: &Normal) -> Result<(), Diagnostic> {
        if let Kind::Quantifier { binding, .. } = &formula.kind {
            if self.bound(binding) > 0 {
                let theory = self.data.theory();
                let of = match binding {
                    Binding::Rows(table, _) => format!("rows of table `{}`", theory[*table].name),
                    Binding::Sorts(_) => {
                        "individuals of a sort whose size comes with the call".into()
                    }
                };
                let message = format!(
                    "this quantifier is inside the formula and ranges over {of}: it would have to see those of the other processes"
                );
                let help = "only a quantifier at the front of an axiom can be combined from what each process sees: write it first, or make the rest another axiom";
                return Err(self.refused(axiom, formula.span, message, help));
            }
            self.check_binding(axiom, formula.span, binding)?;
        }
        deep(|| (formula.children()).try_for_each(|inner| self.check_inside(axiom, inner)))
    }

    /// A table that is the same on all processes cannot refer to individuals that differ between
    /// them.
    fn check_binding(
        &self,
        axiom: &Axiom,
        span: Span,
        binding: &Binding,
    ) -> Result<(), Diagnostic> {
        let Binding::Rows(table, variables) = binding else {
            return Ok(());
        };
        if !variables.iter().any(|v| self.of_variable(*v)) {
            return Ok(());
        }
        let name = &self.data.theory()[*table].name;
        let message = format!(
            "table `{name}` is the same for all processes, but is about individuals that are spread over processes"
        );
        let help = "let its rows come with the call (`streamed`), as the individuals do";
        Err(self.refused(axiom, span, message, help))
    }

    fn check_guards(&self, axiom: &Axiom, formula: &Normal) -> Result<(), Diagnostic> {
        if let Kind::Quantifier {
            guard: Some(guard), ..
        } = &formula.kind
        {
            let looked_into = tables(guard).into_iter().find(|t| self.of_table(*t));
            if let Some(table) = looked_into {
                let mut span = guard.span;
                guard.visit(&mut |part| {
                    if let Part::Guard(Guard {
                        kind: GuardKind::Member(t, _),
                        span: own,
                    }) = part
                        && *t == table
                    {
                        span = *own;
                    }
                });
                let message = format!(
                    "this guard looks into table `{}`, whose rows are spread over processes",
                    self.data.theory()[table].name
                );
                let help = "range over its rows with a `forall` or `exists` at the front of the axiom, or give all processes the whole table";
                return Err(self.refused(axiom, span, message, help));
            }
        }
        deep(|| (formula.children()).try_for_each(|inner| self.check_guards(axiom, inner)))
    }

    fn refused(&self, axiom: &Axiom, span: Span, label: String, help: &str) -> Diagnostic {
        Diagnostic::error(
            Code::NotShardable,
            format!(
                "{} `{}` cannot be combined from what each process sees of its own rows",
                self.what, axiom.name
            ),
        )
        .at(&self.data.theory().source, span, label)
        .help(help)
    }
}

fn find_summands<'f>(formula: &'f Normal, and_adds: bool, found: &mut Vec<&'f Normal>) {
    match &formula.kind {
        Kind::And(members) if and_adds => {
            deep(|| (members.iter()).for_each(|m| find_summands(m, and_adds, found)));
        }
        _ => found.push(formula),
    }
}
