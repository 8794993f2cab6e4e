//! Rows whose individuals are placeholders.
//!
//! Where the same theory is asked about other rows again and again, most of the plan does not depend on the individuals
//! in them. So a plan can be made for stand-ins, individuals of separate sorts, and each evaluation gives the
//! individuals that they represent. All other formulas, and the sizes of all other sorts, stay the same.

use std::sync::Arc;

use crate::data::{Data, SortData};
use crate::guard_parts::Part;
use crate::output::Output;
use crate::theory::*;

/// A sort of stand-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandIns {
    /// The sort of the theory whose individuals they represent.
    pub of: SortId,
    /// Their own sort.
    pub sort: SortId,
    /// Whether nothing else refers to individuals of that sort, so that no plan depends on its size.
    pub alone: bool,
}

impl Data {
    /// The same data, with stand-ins in those columns of some tables where no plan depends on the individuals: no
    /// guard, no function given by data and no definition reads them, and they are not classes. [`Data::set_stand_ins`]
    /// sets their number.
    ///
    /// Truths then depend only on the numbers of predicates, which are requested for stand-ins as for other
    /// individuals. Exact probabilities are excluded: there it matters whether two atoms are the same.
    ///
    /// ```
    /// use logltn::{Data, Output, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort User  sort Item  table bought(u: User, i: Item)  predicate likes(User, Item)  predicate cheap(Item)
    ///     axiom a: forall (u, i) in bought. likes(u, i)
    ///     axiom b: forall i: Item. cheap(i)"))?;
    /// let data = Data::new(&theory);
    /// let (_, stand_ins) = data.with_stand_ins(&[theory.table("bought").unwrap()], &[Output::sigmoid(), Output::sigmoid()]);
    /// let alone: Vec<_> = stand_ins.iter().map(|s| (s.of, s.alone)).collect();
    /// assert_eq!(alone, [(theory.sort("User").unwrap(), true), (theory.sort("Item").unwrap(), false)]);
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn with_stand_ins(&self, tables: &[TableId], outputs: &[Output]) -> (Data, Vec<StandIns>) {
        let mut theory = Theory::clone(self.theory());
        let mut made: Vec<StandIns> = Vec::new();
        for &table in tables {
            for column in 0..theory[table].columns.len() {
                let ColumnSort::Sort(of) = theory[table].columns[column].sort else {
                    continue;
                };
                if !self.may_be_anybody(table, column, of, outputs) {
                    continue;
                }
                let known = made.iter().find(|s| s.of == of).map(|s| s.sort);
                let sort = known.unwrap_or_else(|| {
                    let sort = SortId(theory.sorts.len() as u32);
                    let own = Sort {
                        kind: SortKind::Data,
                        labels: Vec::new(),
                        ..theory[of].clone()
                    };
                    theory.sorts.push(own);
                    let alone = false;
                    made.push(StandIns { of, sort, alone });
                    sort
                });
                put_in(&mut theory, table, column, sort);
            }
        }
        for stand_ins in &mut made {
            stand_ins.alone = !self.speaks_of(&theory, stand_ins.of);
        }
        let mut data = self.with_theory(Arc::new(theory));
        for _ in &made {
            data.sorts.push(SortData {
                size: Some(0),
                ..SortData::default()
            });
        }
        (data, made)
    }

    /// Sets how many stand-ins a sort of [`Data::with_stand_ins`] has.
    pub fn set_stand_ins(&mut self, stand_ins: &StandIns, count: usize) {
        self.sorts[stand_ins.sort.index()].size = Some(count);
    }

    fn may_be_anybody(
        &self,
        table: TableId,
        column: usize,
        sort: SortId,
        outputs: &[Output],
    ) -> bool {
        let theory = self.theory();
        let are_classes = theory.predicates.iter().zip(outputs).any(|(p, output)| {
            output.per_class && p.arguments.last() == Some(&ArgumentSort::Sort(sort))
        });
        if are_classes || theory.is_in_product(table) {
            return false;
        }
        theory.formulas().all(|axiom| {
            let cells = cells(axiom, table, column);
            cells.is_empty() || !self.asks_who(axiom, &cells)
        })
    }

    /// Whether the meaning of an axiom depends on the values of its variables beyond the numbers of predicates.
    fn asks_who(&self, axiom: &Axiom, variables: &[VarId]) -> bool {
        let is_it = |part: Part| part.variable().is_some_and(|v| variables.contains(&v));
        let in_guard = |guard: &Guard| {
            let mut found = false;
            guard.visit(&mut |part| found |= is_it(part));
            found
        };
        let in_term = |term: &Term| {
            let mut found = false;
            term.visit(&mut |part| found |= is_it(part));
            found
        };
        let in_given = |term: &Term| {
            let mut found = false;
            term.visit(&mut |part| {
                if let Part::Term(term) = part
                    && let TermKind::Apply(function, arguments) = &term.kind
                {
                    found |= self.function(*function).is_some() && arguments.iter().any(in_term);
                }
            });
            found
        };
        axiom.formula.parts().any(|formula| match &formula.kind {
            FormulaKind::Quantified { guard, .. } => guard.as_ref().is_some_and(in_guard),
            FormulaKind::Atom { arguments, .. } => arguments.iter().any(in_given),
            FormulaKind::Use { arguments, .. } => arguments.iter().any(in_term),
            _ => false,
        })
    }

    /// Whether anything in a theory refers to an individual of a sort, by a variable, a name, or a function given by
    /// data.
    fn speaks_of(&self, theory: &Theory, sort: SortId) -> bool {
        let is_it = |s: &ArgumentSort| *s == ArgumentSort::Sort(sort);
        let functions = theory.functions.iter().enumerate();
        let given = functions.filter(|(i, _)| self.function(FunctionId(*i as u32)).is_some());
        let in_columns = |table: &Table| {
            let mut columns = table.columns.iter();
            columns.any(|c| c.sort == ColumnSort::Sort(sort))
        };
        let in_variables = |axiom: &Axiom| {
            let mut variables = axiom.variables.iter();
            variables.any(|v| v.sort == ColumnSort::Sort(sort))
        };
        (theory.constants.iter().any(|c| c.sort == sort))
            || !theory[sort].labels.is_empty()
            || (theory.functions.iter()).any(|f| is_it(&f.result))
            || (given.into_iter()).any(|(_, f)| f.arguments.iter().any(is_it))
            || theory.tables.iter().any(in_columns)
            || theory.formulas().any(in_variables)
    }
}

/// The variables of an axiom that are a column of a table's rows.
fn cells(axiom: &Axiom, table: TableId, column: usize) -> Vec<VarId> {
    let cell = |formula: &Formula| match &formula.kind {
        FormulaKind::Quantified {
            binding: Binding::Rows(of, variables),
            ..
        } if *of == table => Some(variables[column]),
        _ => None,
    };
    axiom.formula.parts().filter_map(cell).collect()
}

/// Gives a column, and the variables that are its cells, another sort.
fn put_in(theory: &mut Theory, table: TableId, column: usize, sort: SortId) {
    let sort = ColumnSort::Sort(sort);
    theory.tables[table.index()].columns[column].sort = sort;
    let definitions = theory.definitions.iter_mut().map(|d| &mut d.body);
    for axiom in theory.axioms.iter_mut().chain(definitions) {
        for variable in cells(axiom, table, column) {
            axiom.variables[variable.index()].sort = sort;
        }
    }
}
