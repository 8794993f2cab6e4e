//! Whole rows of a table: right if all axioms over it hold.

use std::sync::Arc;

use logltn::theory::SymbolKind;
use logltn::theory::TableId;
use logltn::{Code, Data, Diagnostics, Engine, Output, OutputKind, Parameters, Plan, Semantics};
use rustc_hash::FxHashMap;

use super::{Known, Metric};
use crate::degrees::{degrees, largest};
use crate::knowledge::KnowledgeBase;
use crate::metrics::half;
use crate::model::Model;
use crate::worlds::{RowsOf, Worlds};

/// Axioms over a table, evaluated row by row with every predicate made crisp.
pub(super) struct RowCheck {
    engine: Engine<f64>,
    table: TableId,
    rows: usize,
}

impl RowCheck {
    pub fn new(knowledge: &KnowledgeBase, metric: &Metric) -> Result<RowCheck, Diagnostics> {
        let theory = knowledge.theory();
        let table = &metric.of;
        let columns = match &metric.known {
            Known::OwnRows => None,
            Known::Rows(columns) => Some(columns),
            _ => {
                let what = "`row_accuracy` needs rows of its table";
                return Err(metric.wrong(Code::MetricDoesNotFit, what).into());
            }
        };
        let unknown = || metric.place.mark(theory.unknown(SymbolKind::Table, table));
        let id = theory.table(table).ok_or_else(unknown)?;
        // Only axioms that say something of each of its rows.
        let mut data: Data = knowledge.data.with_axioms(|axiom| {
            use logltn::theory::{Binding, FormulaKind, Quantifier};
            matches!(
                &axiom.formula.kind,
                FormulaKind::Quantified {
                    quantifier: Quantifier::Forall,
                    binding: Binding::Rows(over, _),
                    ..
                } if *over == id
            )
        });
        if data.theory().axioms.is_empty() {
            let what = format!(
                "`row_accuracy` has nothing to check: no axiom is `forall (…) in {table}. …`"
            );
            return Err(metric.wrong(Code::MetricDoesNotFit, what).into());
        }
        if let Some(columns) = columns {
            data.set_rows(table, columns.clone())?;
        }
        data.set_batched(table)?;
        let outputs: Vec<Output> = (knowledge.outputs.iter())
            .map(|o| Output {
                kind: OutputKind::Truth,
                per_class: o.per_class,
            })
            .collect();
        // Of 0 and 1 the Gödel operators make 0 and 1: logic as usual.
        let semantics = Semantics::named("godel").unwrap_or_default();
        let plan = Plan::new(&data, &outputs, &semantics)?;
        Ok(RowCheck {
            rows: data.table(id).map_or(0, |t| t.rows),
            engine: Engine::new(plan),
            table: id,
        })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The share of rows that are right.
    pub fn measure(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        worlds: Option<&Worlds>,
    ) -> Result<f64, Diagnostics> {
        self.engine.set_stop(Arc::clone(model.stop()));
        let all: Vec<u32> = (0..self.rows as u32).collect();
        self.engine.set_batches([(self.table, &all[..])])?;
        model.attach(knowledge, &self.engine)?;
        model.evaluate(&mut self.engine)?;
        model.unless_stopped()?;
        // Every answer once, made crisp: the largest class, or the likelier of true and false.
        let mut crisp: Vec<FxHashMap<Vec<u32>, Vec<f64>>> = Vec::new();
        for index in 0..self.engine.requests().len() {
            let mut numbers = self.engine.numbers_mut(index).to_vec();
            let request = &self.engine.requests()[index];
            let mut output = knowledge.outputs[request.predicate];
            let arguments = &knowledge.theory()[request.predicate].arguments;
            if let Some(worlds) = worlds.filter(|worlds| worlds.speak_of(request.predicate))
                && let Some(of) = RowsOf::plain(request, output, arguments)
            {
                let rows = numbers.chunks_exact_mut(request.width);
                rows.for_each(|row| degrees(output.kind, row));
                worlds.condition(&of, request.width, &mut numbers);
                // The greatest class stays the greatest class.
                if output.kind != OutputKind::Softmax {
                    output.kind = OutputKind::Truth;
                }
            }
            let answers = (numbers.chunks_exact(request.width)).map(|row| made_crisp(row, output));
            let keys = (0..request.rows()).map(|row| request.row(row).to_vec());
            crisp.push(keys.zip(answers).collect());
        }
        let mut right = 0;
        for row in all {
            self.engine.set_batches([(self.table, &[row][..])])?;
            for (i, known) in crisp.iter().enumerate() {
                let request = &self.engine.requests()[i];
                let values: Vec<f64> = (0..request.rows())
                    .flat_map(|r| known.get(request.row(r)).cloned().unwrap_or_default())
                    .collect();
                self.engine.numbers_mut(i).copy_from_slice(&values);
            }
            let value = self.engine.evaluate(&Parameters::default())?;
            right += usize::from(value.sat == 1.0);
        }
        Ok(right as f64 / self.rows.max(1) as f64)
    }
}

/// The truth of each number's literal, 0 or 1: of a softmax that of the greatest class, of all others whatever is more
/// true than false.
fn made_crisp(row: &[f64], output: Output) -> Vec<f64> {
    let holds = |k: usize| match output.kind {
        OutputKind::Softmax => k == largest(row),
        kind => row[k] > half(kind),
    };
    let truths = (0..row.len()).map(|k| f64::from(u8::from(holds(k))));
    truths.collect()
}
