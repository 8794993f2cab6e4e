//! Functions that are given by data: a value for each tuple of individuals.
//!
//! Nothing about them is learnt, so guards may use them. As an argument of a predicate such a value is an individual or
//! a number like any other.

use std::sync::Arc;

use super::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::Span;
use crate::theory::*;

/// The values of a function, row-major over the tuples of its argument sorts: the last argument changes fastest.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionData {
    /// For values that are individuals: 0-based indexes in the sort.
    Individuals(Vec<u32>),
    /// For values that are numbers or vectors; the numbers of one tuple are side by side.
    Reals(Vec<f64>),
}

impl FunctionData {
    fn len(&self) -> usize {
        match self {
            FunctionData::Individuals(values) => values.len(),
            FunctionData::Reals(values) => values.len(),
        }
    }
}

impl Data {
    /// Sets the values of a function. Whether there is one for each tuple is checked when all sorts are
    /// known.
    ///
    /// ```
    /// use logltn::{Data, FunctionData, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Person  predicate tall(Person)  function age(Person): Real
    ///     axiom a: forall x: Person where age(x) >= 18. tall(x)"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_size("Person", 3)?;
    /// data.set_function("age", FunctionData::Reals(vec![12.0, 40.0, 71.5]))?;
    /// assert!(data.missing().is_empty());
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn set_function(
        &mut self,
        function: &str,
        values: FunctionData,
    ) -> Result<(), Diagnostics> {
        let theory = self.theory();
        let Some(id) = theory.function(function) else {
            return Err(theory.unknown(SymbolKind::Function, function).into());
        };
        let wrong = |code, what| Err(Diagnostics::from(Diagnostic::error(code, what)));
        if !theory[id]
            .arguments
            .iter()
            .all(|a| matches!(a, ArgumentSort::Sort(_)))
        {
            let what = format!(
                "function `{function}` cannot be given by data: it has an argument that is a number or a vector, not one \
                 of finitely many individuals"
            );
            return wrong(Code::VectorArgument, what);
        }
        match (&values, theory[id].result) {
            (FunctionData::Individuals(_), ArgumentSort::Sort(_)) => {}
            (FunctionData::Reals(values), ArgumentSort::Vector(width)) => {
                if let Some(at) = values.iter().position(|x| !x.is_finite()) {
                    let (tuple, value) = (at / width.max(1), values[at]);
                    let what =
                        format!("the value of function `{function}` for tuple {tuple} is {value}");
                    return wrong(Code::NotFinite, what);
                }
            }
            (_, ArgumentSort::Sort(sort)) => {
                let sort = &theory[sort].name;
                let what = format!(
                    "the values of function `{function}` must be individuals of sort `{sort}`"
                );
                return wrong(Code::WrongSort, what);
            }
            (_, ArgumentSort::Vector(_)) => {
                let what = format!("the values of function `{function}` must be numbers");
                return wrong(Code::WrongSort, what);
            }
        }
        self.functions[id.index()] = Some(Arc::new(values));
        self.forget_numbers();
        Ok(())
    }

    /// The same data for questions about a column of a sort's features, `x.age`, that no axiom uses.
    ///
    /// ```
    /// use logltn::{Data, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Person  predicate tall(Person)  axiom a: forall x: Person. tall(x)"))?;
    /// let mut data = Data::new(&theory);
    /// data.set_size("Person", 2)?;
    /// let data = data.with_field("Person", "age", vec![12.0, 40.0])?;
    /// let query = Source::new("query", "forall x: Person where x.age > 18. tall(x)");
    /// assert!(data.theory().parse_query(query).is_ok());
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such sort, or a number is not finite.
    pub fn with_field(
        &self,
        sort: &str,
        field: &str,
        values: Vec<f64>,
    ) -> Result<Data, Diagnostics> {
        let mut theory = Theory::clone(self.theory());
        let Some(id) = theory.sort(sort) else {
            return Err(theory.unknown(SymbolKind::Sort, sort).into());
        };
        let function = Function::of_field(id, sort, field, Span::default());
        let name = function.name.clone();
        let mut data = self.clone();
        if theory.function(&name).is_none() {
            theory.functions.push(function);
            data = self.with_theory(Arc::new(theory));
            data.functions.push(None);
        }
        data.set_function(&name, FunctionData::Reals(values))?;
        Ok(data)
    }

    /// The values of a function that is given by data.
    pub fn function(&self, function: FunctionId) -> Option<&Arc<FunctionData>> {
        self.functions[function.index()].as_ref()
    }

    /// The index of the value for some individuals, counted from 0; `None` if one of them has none.
    pub(crate) fn function_row(&self, function: FunctionId, individuals: &[u32]) -> Option<usize> {
        let mut row = 0;
        for (argument, &individual) in self.theory()[function].arguments.iter().zip(individuals) {
            let ArgumentSort::Sort(sort) = argument else {
                return None;
            };
            let size = self.size(*sort);
            if individual as usize >= size {
                return None;
            }
            row = row * size + individual as usize;
        }
        Some(row)
    }

    /// The numbers of a function given by data for some individuals; `None` if it has none for them.
    pub fn function_numbers(&self, function: FunctionId, individuals: &[u32]) -> &[f64] {
        let numbers = || match (
            self.function(function)?.as_ref(),
            self.theory()[function].result,
        ) {
            (FunctionData::Reals(values), ArgumentSort::Vector(width)) => {
                let row = self.function_row(function, individuals)?;
                values.get(row * width..(row + 1) * width)
            }
            _ => None,
        };
        numbers().unwrap_or_default()
    }

    /// How many tuples of individuals a function has a value for.
    pub(crate) fn function_rows(&self, function: FunctionId) -> Option<usize> {
        let mut arguments = self.theory()[function].arguments.iter();
        arguments.try_fold(1_usize, |n, argument| {
            n.checked_mul(self.size(argument.sort()?))
        })
    }

    /// Checks the values of functions, once the sorts are known.
    pub(crate) fn check_functions(&self, out: &mut Diagnostics) {
        let theory = self.theory();
        for (i, function) in theory.functions.iter().enumerate() {
            let id = FunctionId(i as u32);
            let Some(values) = self.function(id) else {
                continue;
            };
            let mut wrong = |code, what: String| {
                let error =
                    Diagnostic::error(code, format!("function `{}`: {what}", function.name));
                out.push(error.at(&theory.source, function.span, ""));
            };
            let sorts = function.arguments.iter().chain([&function.result]);
            let mut sorts = sorts.filter_map(|s| s.sort());
            if let Some(sort) = sorts.find(|s| self.streams_sort(*s)) {
                let sort = &theory[sort].name;
                let what = format!(
                    "it cannot be given by data, since the individuals of sort `{sort}` come with a call"
                );
                wrong(Code::NotStreamed, what);
                continue;
            }
            let width = match function.result {
                ArgumentSort::Vector(width) => width,
                ArgumentSort::Sort(_) => 1,
            };
            let rows = self.function_rows(id);
            if rows.and_then(|n| n.checked_mul(width)) != Some(values.len()) {
                let tuples = rows.map_or("more than can be held".to_string(), |n| n.to_string());
                let each = if width == 1 {
                    "a value".to_string()
                } else {
                    format!("{width} numbers")
                };
                let found = values.len();
                let what = format!(
                    "it needs {each} for each tuple of individuals, {tuples}, but {found} are given"
                );
                wrong(Code::WrongShape, what);
                continue;
            }
            if let (FunctionData::Individuals(values), ArgumentSort::Sort(sort)) =
                (values.as_ref(), function.result)
            {
                let size = self.size(sort);
                if let Some(row) = values.iter().position(|&v| v as usize >= size) {
                    let (value, sort) = (values[row], &theory[sort].name);
                    let what = format!(
                        "the value of tuple {row} is {value}, but sort `{sort}` has {size} individuals"
                    );
                    wrong(Code::UnknownIndividual, what);
                }
            }
        }
    }
}
