//! Whether a binding passes a guard.

use std::cmp::Ordering;

use super::join::Join;
use super::table_index::TableIndexes;
use crate::data::FunctionData;
use crate::data::{ColumnData, Data};
use crate::diagnostic::{Code, Diagnostic};
use crate::memory;
use crate::number::{ArithmeticError, Number};
use crate::source::Span;
use crate::theory::*;

/// The value of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    /// An individual, by its index in its sort.
    Individual(u32),
    /// A cell of an `Int` column.
    Int(i64),
    /// A cell of a `Real` column.
    Real(f64),
}

impl Cell {
    /// As 64 bits, for hashing.
    pub fn code(self) -> u64 {
        match self {
            Cell::Individual(index) => u64::from(index),
            Cell::Int(n) => n as u64,
            Cell::Real(x) => x.to_bits(),
        }
    }

    /// The individual. The resolver allows no numbers in its place; they count as the first individual.
    pub fn individual(self) -> u32 {
        match self {
            Cell::Individual(index) => index,
            Cell::Int(_) | Cell::Real(_) => 0,
        }
    }
}

/// Why a guard could not be evaluated or listed.
#[derive(Clone, Debug)]
pub(crate) enum GuardError {
    Arithmetic(Failed),
    /// The combinations that an `exists` keeps do not fit into memory.
    NoRoom(Span),
    /// It was asked to stop.
    Stopped,
}

/// Arithmetic that failed on some binding.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    error: ArithmeticError,
    span: Span,
    binding: Vec<(VarId, Cell)>,
    /// The expression, which may have individuals in place of the variables of `for`, `all` or `any`.
    text: String,
}

/// Everything a guard can read apart from the binding.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub data: &'a Data,
    pub variables: &'a [Variable],
    pub indexes: &'a TableIndexes,
}

impl<'a> Scope<'a> {
    pub fn theory(&self) -> &'a Theory {
        self.data.theory()
    }

    /// An environment with room for every variable of the axiom.
    pub fn environment(&self) -> Vec<Cell> {
        vec![Cell::Individual(0); self.variables.len()]
    }

    /// Binds a variable to the `index`-th individual of its sort, or to a cell of a table's row.
    pub fn bind_row(&self, env: &mut [Cell], table: TableId, variables: &[VarId], row: usize) {
        let Some(data) = self.data.table(table) else {
            return;
        };
        for (variable, column) in variables.iter().zip(&*data.columns) {
            env[variable.index()] = match column {
                ColumnData::Individuals(cells) => Cell::Individual(cells[row]),
                ColumnData::Int(cells) => Cell::Int(cells[row]),
                ColumnData::Real(cells) => Cell::Real(cells[row]),
            };
        }
    }

    /// Whether the binding passes. `and` and `or` evaluate their members from the left and stop as soon as the result
    /// is known, so `n != 0 and 1/n < x` never divides by zero.
    pub fn holds(&self, guard: &Guard, env: &mut Vec<Cell>) -> Result<bool, GuardError> {
        match &guard.kind {
            GuardKind::Compare(op, a, b) => {
                let (x, y) = (self.number(a, env)?, self.number(b, env)?);
                let order = x.compare(y);
                Ok(match op {
                    Comparison::Equal => order == Ordering::Equal,
                    Comparison::NotEqual => order != Ordering::Equal,
                    Comparison::Less => order == Ordering::Less,
                    Comparison::LessEqual => order != Ordering::Greater,
                    Comparison::Greater => order == Ordering::Greater,
                    Comparison::GreaterEqual => order != Ordering::Less,
                })
            }
            GuardKind::Same {
                negated,
                left,
                right,
            } => Ok((self.individual(left, env) == self.individual(right, env)) != *negated),
            GuardKind::Member(table, cells) => {
                let mut key = Vec::with_capacity(cells.len());
                for (cell, column) in cells.iter().zip(&self.theory()[*table].columns) {
                    match self.table_cell(cell, column.sort, env)? {
                        Some(code) => key.push(code),
                        None => return Ok(false),
                    }
                }
                Ok(self.indexes.contains(self.data, *table, &key))
            }
            GuardKind::Not(inner) => Ok(!self.holds(inner, env)?),
            GuardKind::And(members) => {
                for member in members {
                    if !self.holds(member, env)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            GuardKind::Or(members) => {
                for member in members {
                    if self.holds(member, env)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            GuardKind::Exists(binding, inner, body) => {
                let conditions: Vec<&Guard> = inner
                    .iter()
                    .map(|g| g.as_ref())
                    .chain([body.as_ref()])
                    .collect();
                let join = Join::new(*self, binding, &conditions);
                let mut found = false;
                join.run(env, &mut |_, _| {
                    found = true;
                    false
                })?;
                Ok(found)
            }
        }
    }

    /// A cell as the 64 bits by which tables are looked up; `None` if no cell of the column can equal it.
    pub fn table_cell(
        &self,
        value: &Value,
        column: ColumnSort,
        env: &mut Vec<Cell>,
    ) -> Result<Option<u64>, GuardError> {
        if let (ColumnSort::Sort(sort), ValueKind::Individual(term)) = (column, &value.kind)
            && self.sort_of(term) == Some(sort)
        {
            return Ok(Some(u64::from(self.individual(term, env))));
        }
        let number = self.number(value, env)?;
        Ok(match column {
            ColumnSort::Real => Some(real_code(number.to_f64())),
            ColumnSort::Int => integer(number).map(|n| n as u64),
            ColumnSort::Sort(sort) => match self.theory()[sort].kind {
                SortKind::Range(low, high) => integer(number)
                    .filter(|n| (low..=high).contains(n))
                    .map(|n| (n - low) as u64),
                _ => None,
            },
        })
    }

    /// The index of an individual in its sort.
    pub fn individual(&self, term: &Term, env: &[Cell]) -> u32 {
        match &term.kind {
            TermKind::Variable(id) => match env[id.index()] {
                Cell::Individual(index) => index,
                Cell::Int(_) | Cell::Real(_) => u32::MAX,
            },
            TermKind::Individual(_, index) => *index,
            TermKind::Constant(id) => self.data.constant_index(*id),
            TermKind::Apply(function, arguments) => {
                let row = self.function_row(*function, arguments, env);
                match self.data.function(*function).map(AsRef::as_ref) {
                    Some(FunctionData::Individuals(values)) => values[row],
                    _ => u32::MAX,
                }
            }
            // The resolver does not let it into a guard.
            TermKind::Number(_) => u32::MAX,
        }
    }

    /// The index of the value of a function given by data. The planner has checked that there is one for all
    /// individuals that its arguments can be.
    pub fn function_row(&self, function: FunctionId, arguments: &[Term], env: &[Cell]) -> usize {
        let sorts = self.theory()[function].arguments.iter();
        sorts.zip(arguments).fold(0, |row, (sort, argument)| {
            let size = match sort {
                ArgumentSort::Sort(sort) => self.data.size(*sort),
                ArgumentSort::Vector(_) => 1,
            };
            row * size + self.individual(argument, env) as usize
        })
    }

    pub fn sort_of(&self, term: &Term) -> Option<SortId> {
        match &term.kind {
            TermKind::Variable(id) => self.variables[id.index()].sort.sort(),
            TermKind::Individual(sort, _) => Some(*sort),
            TermKind::Constant(id) => Some(self.theory()[*id].sort),
            TermKind::Apply(function, _) => self.theory()[*function].result.sort(),
            TermKind::Number(_) => None,
        }
    }

    /// The features of an individual, if its sort has any.
    pub(super) fn features_of(&self, term: &Term, env: &[Cell]) -> Option<&'a [f64]> {
        let sort = self.sort_of(term)?;
        self.data.features((sort, self.individual(term, env)))
    }

    /// The number that a value stands for.
    pub fn number(&self, value: &Value, env: &mut Vec<Cell>) -> Result<Number, GuardError> {
        let fail = |error, env: &[Cell]| {
            GuardError::Arithmetic(Failed {
                error,
                span: value.span,
                binding: self.binding_of(value, env),
                text: self.theory().value_text(self.variables, value),
            })
        };
        match &value.kind {
            ValueKind::Int(n) => Ok(Number::Int(*n)),
            ValueKind::Real(x) => Ok(Number::Real(x.0)),
            ValueKind::Param(id) => {
                Ok(self.data.params[id.index()].unwrap_or(Number::Real(f64::NAN)))
            }
            ValueKind::Number(id) => Ok(match env[id.index()] {
                Cell::Individual(index) => {
                    Number::Int(self.integer_of(self.variables[id.index()].sort, index))
                }
                Cell::Int(n) => Number::Int(n),
                Cell::Real(x) => Number::Real(x),
            }),
            ValueKind::Individual(term) => {
                if let TermKind::Apply(function, arguments) = &term.kind
                    && let Some(FunctionData::Reals(values)) =
                        self.data.function(*function).map(AsRef::as_ref)
                {
                    let row = self.function_row(*function, arguments, env);
                    return Ok(Number::Real(values[row]));
                }
                let sort = self.sort_of(term).map_or(ColumnSort::Int, ColumnSort::Sort);
                Ok(Number::Int(
                    self.integer_of(sort, self.individual(term, env)),
                ))
            }
            ValueKind::Negative(inner) => {
                let x = self.number(inner, env)?;
                x.negate().map_err(|e| fail(e, env))
            }
            ValueKind::Abs(inner) => {
                let x = self.number(inner, env)?;
                x.abs().map_err(|e| fail(e, env))
            }
            ValueKind::Sum(members) => {
                let mut total = Number::Int(0);
                for (i, (sign, member)) in members.iter().enumerate() {
                    let x = self.number(member, env)?;
                    total = match (i, sign) {
                        (0, _) => x,
                        (_, Sign::Plus) => total.plus(x).map_err(|e| fail(e, env))?,
                        (_, Sign::Minus) => total.minus(x).map_err(|e| fail(e, env))?,
                    };
                }
                Ok(total)
            }
            ValueKind::Product(members) => {
                let mut total = Number::Int(1);
                for (i, (factor, member)) in members.iter().enumerate() {
                    let x = self.number(member, env)?;
                    total = match (i, factor) {
                        (0, _) => Ok(x),
                        (_, Factor::Times) => total.times(x),
                        (_, Factor::Over) => total.over(x),
                        (_, Factor::Modulo) => total.modulo(x),
                    }
                    .map_err(|e| fail(e, env))?;
                }
                Ok(total)
            }
            ValueKind::Min(values) => self.extreme(values, Ordering::Less, env),
            ValueKind::Max(values) => self.extreme(values, Ordering::Greater, env),
            ValueKind::Dist(a, b) => {
                let place = |t: &Term| Some((self.sort_of(t)?, self.individual(t, env)));
                let distance = place(a)
                    .zip(place(b))
                    .and_then(|(a, b)| self.data.distance(a, b));
                // The planner has checked that both have features of one width.
                Ok(Number::Real(distance.unwrap_or(f64::MAX)))
            }
        }
    }

    fn extreme(
        &self,
        values: &[Value],
        wanted: Ordering,
        env: &mut Vec<Cell>,
    ) -> Result<Number, GuardError> {
        let mut best = None;
        for value in values {
            let x = self.number(value, env)?;
            best = match best {
                Some(b) if x.compare(b) != wanted => Some(b),
                _ => Some(x),
            };
        }
        Ok(best.unwrap_or(Number::Int(0)))
    }

    /// An individual of an integer sort is its integer.
    pub fn integer_of(&self, sort: ColumnSort, index: u32) -> i64 {
        match sort {
            ColumnSort::Sort(id) => match self.theory()[id].kind {
                SortKind::Range(low, _) => low + i64::from(index),
                _ => i64::from(index),
            },
            _ => i64::from(index),
        }
    }

    fn binding_of(&self, value: &Value, env: &[Cell]) -> Vec<(VarId, Cell)> {
        let mut variables = Vec::new();
        super::value_variables(value, &mut variables);
        variables.sort_unstable();
        variables.dedup();
        let cell = |id: VarId| (id, env[id.index()]);
        variables.into_iter().map(cell).collect()
    }

    /// `x = #3, n = 12`
    pub fn show_binding(&self, binding: &[(VarId, Cell)]) -> String {
        let shown: Vec<_> = binding
            .iter()
            .map(|&(id, cell)| {
                let variable = &self.variables[id.index()];
                format!(
                    "{} = {}",
                    variable.name,
                    self.show_cell(variable.sort, cell)
                )
            })
            .collect();
        shown.join(", ")
    }

    /// An individual by its name, a number as it is.
    pub fn show_cell(&self, sort: ColumnSort, cell: Cell) -> String {
        match (cell, sort) {
            (Cell::Individual(index), ColumnSort::Sort(sort)) => {
                self.theory()[sort].individual_name(index as usize)
            }
            (Cell::Individual(index), _) => index.to_string(),
            (Cell::Int(n), _) => n.to_string(),
            (Cell::Real(x), _) => x.to_string(),
        }
    }

    /// As a message that points at the place and, if arithmetic failed, shows the binding.
    pub fn diagnose(&self, error: &GuardError) -> Diagnostic {
        let error = match error {
            GuardError::Arithmetic(error) => error,
            GuardError::Stopped => {
                return Diagnostic::error(Code::Interrupted, "it was asked to stop");
            }
            GuardError::NoRoom(span) => {
                let limit = memory::shown(memory::limit().into());
                return Diagnostic::error(
                    Code::TooMuchMemory,
                    format!("too many bindings: they take more than the {limit} of memory allowed"),
                )
                .at(
                    &self.theory().source,
                    *span,
                    "the bindings that pass are listed",
                )
                .help(format!(
                    "a narrower guard, or fewer individuals; {}",
                    memory::allow_more()
                ));
            }
        };
        let (code, what) = match error.error {
            ArithmeticError::Overflow => (Code::NumberTooLarge, "this does not fit in 64 bits"),
            ArithmeticError::DivisionByZero => (Code::DivisionByZero, "division by zero"),
        };
        let mut diagnostic = Diagnostic::error(code, format!("{what} in a guard")).at(
            &self.theory().source,
            error.span,
            what,
        );
        if !error.binding.is_empty() {
            diagnostic = diagnostic.note(format!("for {}", self.show_binding(&error.binding)));
        }
        let squeezed = |text: &str| text.replace([' ', '\n', '(', ')'], "");
        if squeezed(&error.text) != squeezed(self.theory().source.slice(error.span)) {
            diagnostic = diagnostic.note(format!("here it is `{}`", error.text));
        }
        match error.error {
            ArithmeticError::DivisionByZero => {
                diagnostic.help("test for zero first: `n != 0 and 1/n < …` never divides by zero")
            }
            ArithmeticError::Overflow => diagnostic,
        }
    }
}

/// Reals are looked up by their bits; the two zeros are one number.
pub(super) fn real_code(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// A number as an integer, if it is one.
pub(super) fn integer(number: Number) -> Option<i64> {
    match number {
        Number::Int(n) => Some(n),
        Number::Real(x) if x == x.trunc() && x.abs() < 9e15 => Some(x as i64),
        Number::Real(_) => None,
    }
}
