//! Bindings, and the guards that choose among them.

use std::cmp::Ordering;

use logltn::FunctionData;
use logltn::theory::*;

use super::Case;
use super::number::Num;

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    Individual(SortId, u32),
    Number(Num),
}

/// The variables of an axiom that are bound at some place.
#[derive(Clone, Debug)]
pub struct Environment<'a> {
    pub axiom: &'a Axiom,
    cells: Vec<Option<Cell>>,
}

impl<'a> Environment<'a> {
    pub fn new(axiom: &'a Axiom) -> Environment<'a> {
        Environment {
            axiom,
            cells: vec![None; axiom.variables.len()],
        }
    }

    pub fn bind(&mut self, variables: &[VarId], cells: &[Cell]) {
        assert_eq!(variables.len(), cells.len());
        for (variable, cell) in variables.iter().zip(cells) {
            self.cells[*variable] = Some(*cell);
        }
    }

    pub fn get(&self, variable: VarId) -> Cell {
        self.cells[variable].expect("a checked theory has no free variables")
    }
}

/// Everything that a quantifier's variables could be bound to, without its guard.
pub fn all_bindings(case: &Case, axiom: &Axiom, binding: &Binding) -> Vec<Vec<Cell>> {
    match binding {
        Binding::Sorts(variables) => over_sorts(case, axiom, variables),
        Binding::Rows(table, _) => rows(case, *table),
    }
}

/// All combinations of the individuals of the variables' sorts; the last variable changes fastest.
pub fn over_sorts(case: &Case, axiom: &Axiom, variables: &[VarId]) -> Vec<Vec<Cell>> {
    let mut all = vec![Vec::new()];
    for &variable in variables {
        let ColumnSort::Sort(sort) = axiom[variable].sort else {
            panic!("a variable over a sort has a sort");
        };
        let mut longer = Vec::new();
        for binding in &all {
            for individual in 0..case.data.size(sort) {
                let mut binding = binding.clone();
                binding.push(Cell::Individual(sort, individual as u32));
                longer.push(binding);
            }
        }
        all = longer;
    }
    all
}

fn rows(case: &Case, table: TableId) -> Vec<Vec<Cell>> {
    let data = case.data.table(table).expect("every table has rows");
    let declared = &case.theory[table].columns;
    let cell = |column: usize, row: usize| match (&data.columns[column], declared[column].sort) {
        (logltn::ColumnData::Individuals(cells), ColumnSort::Sort(sort)) => {
            Cell::Individual(sort, cells[row])
        }
        (logltn::ColumnData::Int(cells), _) => Cell::Number(Num::Int(cells[row])),
        (logltn::ColumnData::Real(cells), _) => Cell::Number(Num::Real(cells[row])),
        (logltn::ColumnData::Individuals(_), _) => panic!("individuals without a sort"),
    };
    (0..data.rows)
        .map(|row| (0..declared.len()).map(|c| cell(c, row)).collect())
        .collect()
}

pub fn cell_name(case: &Case, cell: &Cell) -> String {
    match *cell {
        Cell::Individual(sort, index) => case.theory[sort].individual_name(index as usize),
        Cell::Number(Num::Int(n)) => n.to_string(),
        Cell::Number(Num::Real(x)) => x.to_string(),
    }
}

/// Whether the guard, if there is one, holds.
pub fn passes(
    case: &Case,
    environment: &mut Environment,
    guard: Option<&Guard>,
) -> Result<bool, String> {
    guard.map_or(Ok(true), |guard| holds(case, environment, guard))
}

fn holds(case: &Case, environment: &mut Environment, guard: &Guard) -> Result<bool, String> {
    Ok(match &guard.kind {
        GuardKind::Compare(comparison, left, right) => {
            let left = number(case, environment, left)?;
            let order = left.compare(number(case, environment, right)?);
            match comparison {
                Comparison::Equal => order == Ordering::Equal,
                Comparison::NotEqual => order != Ordering::Equal,
                Comparison::Less => order == Ordering::Less,
                Comparison::LessEqual => order != Ordering::Greater,
                Comparison::Greater => order == Ordering::Greater,
                Comparison::GreaterEqual => order != Ordering::Less,
            }
        }
        GuardKind::Same {
            negated,
            left,
            right,
        } => {
            let same = individual(case, environment, left) == individual(case, environment, right);
            same != *negated
        }
        GuardKind::Member(table, cells) => {
            let wanted: Result<Vec<Cell>, String> = (cells.iter())
                .map(|cell| match &cell.kind {
                    // A function may say a number where a number is expected.
                    ValueKind::Individual(term) if !says_number(case, term) => {
                        let (sort, index) = individual(case, environment, term);
                        Ok(Cell::Individual(sort, index))
                    }
                    _ => number(case, environment, cell).map(Cell::Number),
                })
                .collect();
            let wanted = wanted?;
            let matches = |row: &Vec<Cell>| row.iter().zip(&wanted).all(|(a, b)| same(case, a, b));
            rows(case, *table).iter().any(matches)
        }
        GuardKind::Not(inner) => !holds(case, environment, inner)?,
        GuardKind::And(members) => {
            for member in members {
                if !holds(case, environment, member)? {
                    return Ok(false);
                }
            }
            true
        }
        GuardKind::Or(members) => {
            for member in members {
                if holds(case, environment, member)? {
                    return Ok(true);
                }
            }
            false
        }
        GuardKind::Exists(binding, guard, body) => {
            for cells in all_bindings(case, environment.axiom, binding) {
                environment.bind(binding.variables(), &cells);
                if passes(case, environment, guard.as_deref())? && holds(case, environment, body)? {
                    return Ok(true);
                }
            }
            false
        }
    })
}

/// Which individual a term names.
pub fn individual(case: &Case, environment: &Environment, term: &Term) -> (SortId, u32) {
    match &term.kind {
        TermKind::Variable(variable) => match environment.get(*variable) {
            Cell::Individual(sort, index) => (sort, index),
            Cell::Number(_) => panic!("a number is no individual"),
        },
        TermKind::Individual(sort, index) => (*sort, *index),
        TermKind::Constant(constant) => (
            case.theory[*constant].sort,
            case.data.constant_index(*constant),
        ),
        TermKind::Apply(function, arguments) => {
            let ArgumentSort::Sort(sort) = case.theory[*function].result else {
                panic!("a number is no individual");
            };
            match said(case, environment, *function, arguments) {
                (FunctionData::Individuals(values), at) => (sort, values[at]),
                _ => panic!("individuals are given as such"),
            }
        }
        TermKind::Number(_) => panic!("a number is no individual"),
    }
}

fn says_number(case: &Case, term: &Term) -> bool {
    matches!(&term.kind, TermKind::Apply(function, _)
        if matches!(case.theory[*function].result, ArgumentSort::Vector(_)))
}

/// The values of a function, and which of them it has at these arguments.
fn said<'c>(
    case: &'c Case,
    environment: &Environment,
    function: FunctionId,
    arguments: &[Term],
) -> (&'c FunctionData, usize) {
    let values = case.data.function(function).expect("no function is learnt");
    let at = arguments.iter().fold(0, |at, argument| {
        let (sort, index) = individual(case, environment, argument);
        at * case.data.size(sort) + index as usize
    });
    (values, at)
}

/// The number of a cell: an individual of an integer sort is its integer.
fn as_number(case: &Case, cell: &Cell) -> Option<Num> {
    match *cell {
        Cell::Number(number) => Some(number),
        Cell::Individual(sort, index) => match case.theory[sort].kind {
            SortKind::Range(low, _) => Some(Num::Int(low + i64::from(index))),
            _ => None,
        },
    }
}

fn same(case: &Case, a: &Cell, b: &Cell) -> bool {
    match (as_number(case, a), as_number(case, b)) {
        (Some(a), Some(b)) => a.compare(b) == Ordering::Equal,
        _ => a == b,
    }
}

fn number(case: &Case, environment: &Environment, value: &Value) -> Result<Num, String> {
    let number_of = |cell: Cell| as_number(case, &cell).expect("a checked guard has numbers here");
    let all = |values: &[Value]| -> Result<Vec<Num>, String> {
        values
            .iter()
            .map(|v| number(case, environment, v))
            .collect()
    };
    match &value.kind {
        ValueKind::Int(n) => Ok(Num::Int(*n)),
        ValueKind::Real(x) => Ok(Num::Real(x.0)),
        ValueKind::Param(param) => Ok(case.params[*param]),
        ValueKind::Number(variable) => Ok(number_of(environment.get(*variable))),
        ValueKind::Individual(Term {
            kind: TermKind::Apply(function, arguments),
            ..
        }) if case.theory[*function].result == ArgumentSort::Vector(1) => {
            match said(case, environment, *function, arguments) {
                (FunctionData::Reals(values), at) => Ok(Num::Real(values[at])),
                _ => panic!("numbers are given as such"),
            }
        }
        ValueKind::Individual(term) => {
            let (sort, index) = individual(case, environment, term);
            Ok(number_of(Cell::Individual(sort, index)))
        }
        ValueKind::Negative(inner) => number(case, environment, inner)?.negate(),
        ValueKind::Sum(members) => members.iter().try_fold(Num::Int(0), |sum, (sign, member)| {
            let member = number(case, environment, member)?;
            match sign {
                Sign::Plus => sum.add(member),
                Sign::Minus => sum.subtract(member),
            }
        }),
        ValueKind::Product(members) => {
            members
                .iter()
                .try_fold(Num::Int(1), |product, (factor, member)| {
                    let member = number(case, environment, member)?;
                    match factor {
                        Factor::Times => product.multiply(member),
                        Factor::Over => product.divide(member),
                        Factor::Modulo => product.modulo(member),
                    }
                })
        }
        ValueKind::Abs(inner) => number(case, environment, inner)?.abs(),
        ValueKind::Min(values) => Ok(choose(&all(values)?, Ordering::Less)),
        ValueKind::Max(values) => Ok(choose(&all(values)?, Ordering::Greater)),
        ValueKind::Dist(a, b) => {
            let a = individual(case, environment, a);
            let b = individual(case, environment, b);
            let distance = case.data.distance(a, b);
            distance
                .map(Num::Real)
                .ok_or("no features to measure".into())
        }
    }
}

fn choose(numbers: &[Num], wanted: Ordering) -> Num {
    let better = |a: Num, b: Num| if b.compare(a) == wanted { b } else { a };
    numbers.iter().copied().reduce(better).expect("two or more")
}
