//! Tables of which there are too many rows to keep something for each: no plan knows more than the rows of a batch, or of a part.
//!
//! That is possible for tables with batches that are [only gone through](logltn::theory::Theory::is_only_gone_through). The rows
//! of a batch come with the step then, as a sample does, and the whole is evaluated part by part.

use logltn::theory::{Axiom, Binding, FormulaKind, TableId};
use logltn::{
    ColumnData, Data, Diagnostics, Engine, Gathered, Output, Parameters, Plan, PlannedAxiom,
    Sampled, Semantics,
};

use crate::evaluate::Evaluated;

/// From this many rows on a table is large. Below, a plan of all of them is worth its memory: about 40 bytes a row, and steps that need
/// no planning.
pub(crate) const FROM: usize = 1 << 22;

/// This many rows are evaluated at once, unless set otherwise.
const PART: usize = 1 << 17;

/// The large tables of these data: those with at least this many rows.
pub(crate) fn tables(data: &Data, from: usize) -> Vec<TableId> {
    let theory = data.theory();
    let ids = (0..theory.tables.len()).map(|i| TableId(i as u32));
    let is_large = |id: &TableId| {
        let rows = |table: &logltn::TableData| table.batched && table.rows >= from.max(1);
        data.table(*id).is_some_and(rows) && theory.is_only_gone_through(*id)
    };
    ids.filter(is_large).collect()
}

/// The large tables of these data.
pub fn large_tables(data: &Data) -> Vec<TableId> {
    tables(data, FROM)
}

/// The table whose rows the outermost quantifier of an axiom goes through.
pub(crate) fn over(axiom: &Axiom) -> Option<TableId> {
    match &axiom.formula.kind {
        FormulaKind::Quantified {
            binding: Binding::Rows(table, _),
            ..
        } => Some(*table),
        _ => None,
    }
}

/// All axioms, large tables a part at a time.
#[derive(Debug)]
pub struct LargeTables<'a> {
    data: &'a Data,
    sampled: Sampled,
    large: Vec<TableId>,
    /// How many rows are evaluated at once. The result depends on it in the last digits alone.
    pub rows: usize,
    /// To be given weights and parameters of single axioms.
    pub engine: Engine<f64>,
}

impl<'a> LargeTables<'a> {
    /// Plans all but the rows of large tables.
    ///
    /// # Errors
    /// As those of [`Plan::new`].
    pub fn new(
        data: &'a Data,
        outputs: &[Output],
        semantics: &Semantics,
        large: Vec<TableId>,
    ) -> Result<LargeTables<'a>, Diagnostics> {
        let sampled = data.sampled(&[], &[], &large, semantics)?;
        let plan = Plan::new(&sampled.data, outputs, semantics)?;
        Ok(LargeTables {
            data,
            sampled,
            large,
            rows: PART,
            engine: Engine::new(plan),
        })
    }

    /// The truth of everything. The predicates' numbers are filled in by the caller, for each part anew.
    ///
    /// # Errors
    /// As those of [`Engine::evaluate`] and of `fill_in`.
    pub fn evaluate(
        mut self,
        parameters: &Parameters,
        mut fill_in: impl FnMut(&mut Engine<f64>) -> Result<(), Diagnostics>,
    ) -> Result<Evaluated, Diagnostics> {
        let mut gathered = Gathered::default();
        let mut axioms = self.engine.plan().axioms().to_vec();
        let over: Vec<Option<TableId>> = axioms.iter().map(|axiom| self.over(axiom)).collect();
        // First those that are over none of them.
        let mut rest = over.iter().any(Option::is_none);
        for table in self.large.clone() {
            let rows = self.data.table(table).map_or(0, |t| t.rows);
            let own: Vec<usize> = (0..over.len())
                .filter(|a| over[*a] == Some(table))
                .collect();
            for &axiom in &own {
                (axioms[axiom].groundings, axioms[axiom].groundings_before) = (0, 0);
                axioms[axiom].empty_exists = 0;
            }
            for from in (0..rows).step_by(self.rows) {
                self.show(table, from..(from + self.rows).min(rows))?;
                fill_in(&mut self.engine)?;
                self.engine.evaluate(parameters)?;
                self.engine.gather(&own, &mut gathered)?;
                if std::mem::take(&mut rest) {
                    let others: Vec<usize> =
                        (0..over.len()).filter(|a| over[*a].is_none()).collect();
                    self.engine.gather(&others, &mut gathered)?;
                }
                for &axiom in &own {
                    let found = &self.engine.plan().axioms()[axiom];
                    axioms[axiom].groundings += found.groundings;
                    axioms[axiom].groundings_before += found.groundings_before;
                    axioms[axiom].empty_exists += found.empty_exists;
                }
            }
        }
        for (axiom, &weight) in axioms.iter_mut().zip(self.engine.weights()) {
            axiom.weight = weight;
        }
        let warnings = self.engine.plan().warnings().clone();
        let value = self.engine.gathered(&gathered, parameters);
        let evaluated = Evaluated {
            truths: value.axioms.iter().map(|axiom| axiom.truth).collect(),
            impossible: vec![0; axioms.len()],
            sat: value.sat,
            loss: value.loss,
            gradients: Vec::new(),
            axioms,
            warnings,
        };
        evaluated.check(self.sampled.data.theory())?;
        Ok(evaluated)
    }

    /// The large table that an axiom goes through.
    fn over(&self, axiom: &PlannedAxiom) -> Option<TableId> {
        let batch = over(&self.sampled.data.theory().axioms[axiom.axiom])?;
        let (of, _) = self.sampled.batches.iter().find(|(_, b)| *b == batch)?;
        Some(*of)
    }

    /// Shows some rows of one of the tables, and none of the others.
    fn show(&mut self, table: TableId, rows: std::ops::Range<usize>) -> Result<(), Diagnostics> {
        let given = self.sampled.batches.iter().map(|(of, batch)| {
            let rows = if *of == table { rows.clone() } else { 0..0 };
            let columns = self
                .data
                .table(*of)
                .map(|t| &*t.columns)
                .unwrap_or_default();
            let some = |column: &ColumnData| column.slice(rows.clone());
            (*batch, columns.iter().map(some).collect())
        });
        self.engine.stream(&[], given.collect())
    }
}
