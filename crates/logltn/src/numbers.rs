//! The numbers that stand where a predicate or a function expects a `Real`: literals, and the cells of `Int` and `Real`
//! columns.
//!
//! A request names its rows by small integers, the indexes of individuals. Numbers join in by being numbered too, each
//! distinct one once, so that a predicate is asked about the same number once, whatever row it stands in.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::data::{ColumnData, TableData};
use crate::recursion::deep;
use crate::theory::*;

/// Distinct numbers, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberPool {
    pub values: Arc<[f64]>,
    index: FxHashMap<u64, u32>,
}

/// If rows come with calls, nobody knows how many numbers they will bring; rows of requests are numbered for so many.
pub(crate) const MOST_STREAMED: u64 = 1 << 24;

impl NumberPool {
    /// Those of `before`, and all that the axioms use.
    pub fn of(before: &NumberPool, theory: &Theory, tables: &[Option<TableData>]) -> NumberPool {
        let mut index = before.index.clone();
        let mut values = before.values.to_vec();
        let mut add = |x: f64| {
            index.entry(bits(x)).or_insert_with(|| {
                values.push(x + 0.0);
                values.len() as u32 - 1
            });
        };
        for axiom in &theory.axioms {
            let mut used = Vec::new();
            let mut columns = Vec::new();
            formula(&axiom.formula, &mut used, &mut columns, &mut add);
            for (table, variables) in columns {
                let Some(data) = &tables[table.index()] else {
                    continue;
                };
                for (variable, column) in variables.iter().zip(&data.columns) {
                    match column {
                        _ if !used.contains(variable) => {}
                        ColumnData::Individuals(_) => {}
                        ColumnData::Int(cells) => cells.iter().for_each(|&n| add(n as f64)),
                        ColumnData::Real(cells) => cells.iter().for_each(|&x| add(x)),
                    }
                }
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

/// The variables and literals that are arguments, and the variables of rows.
fn formula(
    formula: &Formula,
    used: &mut Vec<VarId>,
    columns: &mut Vec<(TableId, Vec<VarId>)>,
    add: &mut dyn FnMut(f64),
) {
    match &formula.kind {
        FormulaKind::Atom { arguments, .. } => {
            for argument in arguments {
                argument.visit(&mut |part| {
                    if let crate::parts::Part::Term(term) = &part
                        && let TermKind::Number(x) = term.kind
                    {
                        add(x.0);
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
    deep(|| {
        for child in formula.children() {
            self::formula(child, used, columns, add);
        }
    });
}
