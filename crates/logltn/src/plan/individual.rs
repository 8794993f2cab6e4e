//! Bindings in answers, for people and programs.

use std::fmt;

use crate::data::Data;
use crate::guard::{Cell, Scope, TableIndexes};
use crate::plan::Plan;
use crate::plan::program::{Digit, DigitOf, MOST_CODES, Ranking};
use crate::source::Span;
use crate::theory::*;

/// The value of a variable as it is written: its name if it has one, otherwise its number.
#[derive(Clone, Debug, PartialEq)]
pub enum Individual {
    /// An individual with a name.
    Name(String),
    /// An individual of an integer sort, one without a name by its row, or the cell of an `Int` column.
    Int(i64),
    /// The cell of a `Real` column.
    Real(f64),
}

impl Individual {
    /// An individual of a sort, by its index.
    pub fn of(theory: &Theory, sort: SortId, index: u32) -> Individual {
        let sort = &theory[sort];
        match (sort.kind, sort.labels.get(index as usize)) {
            (SortKind::Range(low, _), _) => Individual::Int(low + i64::from(index)),
            (_, Some(label)) => Individual::Name(label.clone()),
            _ => Individual::Int(i64::from(index)),
        }
    }
}

impl fmt::Display for Individual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Individual::Name(name) => f.write_str(name),
            Individual::Int(n) => n.fmt(f),
            Individual::Real(x) => x.fmt(f),
        }
    }
}

/// A variable and what it is bound to.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The variable.
    pub variable: String,
    /// Its value.
    pub to: Individual,
    /// The value as an individual of a sort, if it is one.
    pub individual: Option<(SortId, u32)>,
}

impl Bound {
    pub(crate) fn new(scope: &Scope, variable: VarId, cell: Cell) -> Bound {
        let Variable { name, sort, .. } = &scope.variables[variable.index()];
        let (to, individual) = match (cell, *sort) {
            (Cell::Individual(index), ColumnSort::Sort(sort)) => {
                let to = Individual::of(scope.theory(), sort, index);
                (to, Some((sort, index)))
            }
            (Cell::Individual(index), _) => (Individual::Int(i64::from(index)), None),
            (Cell::Int(n), _) => (Individual::Int(n), None),
            (Cell::Real(x), _) => (Individual::Real(x), None),
        };
        Bound {
            variable: name.clone(),
            to,
            individual,
        }
    }

    /// The values of some variables.
    pub(crate) fn all(scope: &Scope, variables: &[VarId], env: &[Cell]) -> Vec<Bound> {
        let bound = |&v: &VarId| Bound::new(scope, v, env[v.index()]);
        variables.iter().map(bound).collect()
    }
}

impl Plan {
    /// The values of the variables of a program's leading quantifiers, by the numbers of the binding.
    pub(crate) fn bound(&self, program: usize, codes: &[u64; MOST_CODES]) -> Vec<Bound> {
        let exec = &self.programs[program];
        let Some(ranking) = &exec.ranking else {
            return Vec::new();
        };
        let indexes = TableIndexes::default();
        let scope = Scope {
            data: &self.data,
            variables: &self.data.theory().axioms[exec.axiom].variables,
            indexes: &indexes,
        };
        let mut env = scope.environment();
        ranking.bind(&scope, codes, &mut env);
        Bound::all(&scope, &ranking.variables(), &env)
    }
}

/// An atom or a directly negated atom.
#[derive(Clone, Debug, PartialEq)]
pub struct BlamedLiteral {
    /// The literal as it is written, with individuals in place of variables.
    pub text: String,
    /// Its truth: a log in the log semantics.
    pub truth: f64,
    /// The derivative of the binding's truth by the literal's.
    pub blame: f64,
    /// Its predicate; `None` for a definition.
    pub predicate: Option<PredicateId>,
    /// The individuals that it is about, in the order of its arguments: for a function given by data its value, for a
    /// learnt function its arguments. A learnable constant comes after those of its sort.
    pub individuals: Vec<(SortId, u32)>,
    /// Its first place in the theory.
    pub span: Span,
}

impl Digit {
    /// What it counts, the last varying first: how many there are, and the variable if these are a sort's individuals and not
    /// rows.
    pub(crate) fn parts(&self, data: &Data) -> Vec<(u64, Option<VarId>)> {
        let (table, variables) = match &self.of {
            DigitOf::Variable(v) => return vec![(self.extent, Some(*v))],
            DigitOf::Row(table, variables) => (*table, variables),
        };
        let theory = data.theory();
        let Some(product) = table.product().map(|at| &theory.products[at]) else {
            return vec![(self.extent, None)];
        };
        let mut column = 0;
        let part = |part: &ProductPart| {
            let first = variables.get(column).copied();
            match *part {
                ProductPart::Rows(table) => {
                    column += theory[table].columns.len();
                    (data.table(table).map_or(0, |t| t.rows) as u64, None)
                }
                ProductPart::Sort(sort) => {
                    column += 1;
                    (data.size(sort) as u64, first)
                }
            }
        };
        product.parts.iter().map(part).collect()
    }
}

impl Ranking {
    /// Binds the variables of a binding that is given by its numbers.
    pub(crate) fn bind(&self, scope: &Scope, codes: &[u64; MOST_CODES], env: &mut [Cell]) {
        for Digit {
            of,
            code,
            stride,
            extent,
        } in &self.digits
        {
            let value = codes[*code] / stride % extent;
            match of {
                DigitOf::Variable(v) => env[v.index()] = Cell::Individual(value as u32),
                DigitOf::Row(table, variables) => {
                    scope.bind_row(env, *table, variables, value as usize);
                }
            }
        }
    }

    /// The variables that are bound, in order.
    pub(crate) fn variables(&self) -> Vec<VarId> {
        let variables = self.digits.iter().flat_map(|digit| match &digit.of {
            DigitOf::Variable(v) => std::slice::from_ref(v),
            DigitOf::Row(_, variables) => variables,
        });
        variables.copied().collect()
    }
}
