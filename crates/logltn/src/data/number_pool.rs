//! The numbers that are arguments where a predicate or a function expects a `Real`: literals, the cells of `Int` and
//! `Real` columns, and the values of functions that are given by data.
//!
//! A request names its rows by small integers, the indexes of individuals. Numbers are indexed in the same way, each
//! distinct one once, so that a predicate is evaluated once for a number, whatever rows contain it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{ColumnData, Data, FunctionData};
use crate::theory::*;

/// Distinct numbers, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberPool {
    pub values: Arc<[f64]>,
    index: FxHashMap<u64, u32>,
}

/// If rows come with calls, the count of their numbers is unknown; rows of requests are numbered for this many.
pub(crate) const MOST_STREAMED: u64 = 1 << 24;

impl NumberPool {
    /// The numbers of `before`, and all that the axioms use.
    pub fn of(before: &NumberPool, data: &Data) -> NumberPool {
        let theory = data.theory();
        let mut index = before.index.clone();
        let mut values = before.values.to_vec();
        let mut add = |x: f64| {
            index.entry(bits(x)).or_insert_with(|| {
                values.push(x + 0.0);
                values.len() as u32 - 1
            });
        };
        let mut functions = BTreeSet::new();
        for axiom in theory.formulas() {
            let mut used = Vec::new();
            let mut columns = Vec::new();
            for part in axiom.formula.parts() {
                formula(part, &mut used, &mut columns, &mut functions, &mut add);
            }
            for (table, variables) in columns {
                let Some(data) = data.table(table) else {
                    continue;
                };
                for (variable, column) in variables.iter().zip(&*data.columns) {
                    match column {
                        _ if !used.contains(variable) => {}
                        ColumnData::Individuals(_) => {}
                        ColumnData::Int(cells) => cells.iter().for_each(|&n| add(n as f64)),
                        ColumnData::Real(cells) => cells.iter().for_each(|&x| add(x)),
                    }
                }
            }
        }
        for function in functions {
            if theory[function].result == ArgumentSort::Vector(1)
                && let Some(FunctionData::Reals(values)) =
                    data.function(function).map(AsRef::as_ref)
            {
                values.iter().for_each(|&x| add(x));
            }
        }
        let values = values.into();
        NumberPool { values, index }
    }

    /// The place of a number, which some axiom must use.
    pub fn index(&self, x: f64) -> u32 {
        self.index.get(&bits(x)).copied().unwrap_or(u32::MAX)
    }
}

/// The two zeros are one number.
fn bits(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// The variables, literals and functions that are arguments, and the variables of rows.
fn formula(
    formula: &Formula,
    used: &mut Vec<VarId>,
    columns: &mut Vec<(TableId, Vec<VarId>)>,
    functions: &mut BTreeSet<FunctionId>,
    add: &mut dyn FnMut(f64),
) {
    match &formula.kind {
        FormulaKind::Atom { arguments, .. } | FormulaKind::Use { arguments, .. } => {
            for argument in arguments {
                argument.visit(&mut |part| {
                    if let crate::guard_parts::Part::Term(term) = &part {
                        match &term.kind {
                            TermKind::Number(x) => add(x.0),
                            TermKind::Apply(function, _) => {
                                functions.insert(*function);
                            }
                            _ => {}
                        }
                    }
                    used.extend(part.variable());
                });
            }
        }
        FormulaKind::Quantified {
            binding: Binding::Rows(table, variables),
            ..
        } => columns.push((*table, variables.clone())),
        _ => {}
    }
}
