//! What a predicate or a function says of individuals: truth degrees, classes, values.

use std::ops::Range;

use logltn::theory::{ArgumentSort, FunctionId, PredicateId};
use logltn::{Code, Diagnostic, Diagnostics, FunctionData, Output, Theory, did_you_mean};

use crate::asked_rows::AskedRows;
use crate::degrees::degrees;
use crate::given_numbers::place;
use crate::knowledge::{Ground, KnowledgeBase};
use crate::model::{Model, Rows};
use crate::predictions::{Answers, Predictions};
use crate::worlds::RowsOf;

/// A predicate or a function that can be queried at any of its individuals, and at numbers.
#[derive(Clone, Debug)]
pub struct Asked {
    symbol: Symbol,
    name: String,
    arguments: Vec<ArgumentSort>,
    answers: Answers,
}

#[derive(Clone, Copy, Debug)]
enum Symbol {
    Predicate(PredicateId, Output),
    Function(FunctionId),
    Definition,
}

impl Asked {
    /// A predicate, a function or a definition by its name. What a definition says depends on a semantics:
    /// [`Ask::truths_of`](crate::Ask::truths_of) asks it.
    ///
    /// # Errors
    /// If there is no such name, or it can only be queried at the rows of the axioms.
    pub fn new(knowledge: &KnowledgeBase, name: &str) -> Result<Asked, Diagnostics> {
        let theory = knowledge.theory();
        let predicate = theory.predicate(name);
        let function = theory.function(name);
        if let Some(id) = theory.definition(name) {
            let sorts = theory[id].parameters().iter().map(|p| p.sort);
            return Ok(Asked {
                symbol: Symbol::Definition,
                name: name.to_string(),
                arguments: (sorts.filter_map(|sort| sort.sort()))
                    .map(ArgumentSort::Sort)
                    .collect(),
                answers: Answers::Truth,
            });
        }
        let (symbol, arguments) = match (predicate, function) {
            (Some(id), _) => {
                let symbol = Symbol::Predicate(id, knowledge.outputs[id]);
                (symbol, &theory[id].arguments)
            }
            (None, Some(id)) => (Symbol::Function(id), &theory[id].arguments),
            (None, None) => return Err(Asked::unknown(theory, &[], name).into()),
        };
        let vector = |argument: &ArgumentSort| matches!(argument, ArgumentSort::Vector(2..));
        if arguments.iter().any(vector) {
            let what = format!("`{name}` has an argument that is a vector, which no row holds");
            return Err(Diagnostic::error(Code::VectorArgument, what)
                .help("ask a predicate or a function of individuals and numbers")
                .into());
        }
        let mut arguments = arguments.clone();
        let answers = match symbol {
            Symbol::Predicate(_, output) if output.per_class => match arguments.pop() {
                Some(ArgumentSort::Sort(classes)) => Answers::Classes(classes),
                _ => Answers::Truth,
            },
            Symbol::Predicate(..) | Symbol::Definition => Answers::Truth,
            Symbol::Function(id) => match theory[id].result {
                ArgumentSort::Vector(width) => Answers::Values(width),
                ArgumentSort::Sort(sort) if knowledge.data.function(id).is_some() => {
                    Answers::Individual(sort)
                }
                ArgumentSort::Sort(sort) => Answers::Values(knowledge.vectors[sort].width()),
            },
        };
        let behind = match symbol {
            Symbol::Predicate(id, _) => !matches!(knowledge.predicates[id], Ground::Host),
            Symbol::Function(id) => {
                knowledge.functions[id].is_some() || knowledge.data.function(id).is_some()
            }
            Symbol::Definition => true,
        };
        if !behind {
            let what = format!("`{name}` cannot be asked: the manifest does not ground it");
            return Err(Diagnostic::error(Code::CannotPredict, what)
                .help("only what has a network or numbers can be asked about other rows than those of the axioms")
                .into());
        }
        Ok(Asked {
            symbol,
            name: name.to_string(),
            arguments,
            answers,
        })
    }

    /// That a theory has no such symbol, and which one may be meant.
    pub fn unknown(theory: &Theory, defined: &[String], name: &str) -> Diagnostic {
        let predicates = theory.predicates.iter().map(|p| p.name.as_str());
        let names = predicates.chain(theory.functions.iter().map(|f| f.name.as_str()));
        let definitions = theory.definitions.iter().map(|d| d.name());
        let defined = definitions.chain(defined.iter().map(String::as_str));
        let names: Vec<&str> = names.chain(defined).collect();
        let what = format!("the theory has no predicate, function or definition `{name}`");
        let error = Diagnostic::error(Code::UnknownPredicate, what);
        match did_you_mean(name, names.iter().copied()) {
            Some(guess) => error.help(guess),
            None => error.note(format!("it has {}", names.join(", "))),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a function.
    pub fn is_function(&self) -> bool {
        matches!(self.symbol, Symbol::Function(_))
    }

    /// The predicate and what its numbers mean, if it is one.
    pub fn predicate(&self) -> Option<(PredicateId, Output)> {
        match self.symbol {
            Symbol::Predicate(id, output) => Some((id, output)),
            Symbol::Function(_) | Symbol::Definition => None,
        }
    }

    /// Some rows of a predicate, for questions about worlds; `known` has the numbers that are in them. None of a function.
    pub fn rows_of<'a>(&'a self, rows: &'a [u32], known: &'a [f64]) -> Option<RowsOf<'a>> {
        self.at(Rows::new(rows, self.arguments.len(), known))
    }

    pub(crate) fn at<'a>(&'a self, rows: Rows<'a>) -> Option<RowsOf<'a>> {
        let (predicate, output) = self.predicate()?;
        Some(RowsOf {
            predicate,
            output,
            arguments: &self.arguments,
            rows,
        })
    }

    /// So many rows of its arguments.
    pub(crate) fn rows<'a>(&self, rows: &'a AskedRows, count: usize) -> Rows<'a> {
        Rows {
            individuals: &rows.arguments,
            arity: self.arguments.len(),
            count,
            numbers: &rows.numbers,
        }
    }

    /// How many numbers a row has.
    pub(crate) fn width(&self, knowledge: &KnowledgeBase) -> usize {
        match self.answers {
            Answers::Truth | Answers::Individual(_) => 1,
            Answers::Classes(sort) => knowledge.data.size(sort),
            Answers::Values(width) => width,
        }
    }

    /// Whether it is a definition.
    pub fn is_definition(&self) -> bool {
        matches!(self.symbol, Symbol::Definition)
    }

    /// What a row has: its arguments, without the one that picks a class.
    pub fn arguments(&self) -> &[ArgumentSort] {
        &self.arguments
    }

    /// How many individuals each argument has to choose from; `None` if one is a number.
    fn sizes(&self, knowledge: &KnowledgeBase) -> Option<Vec<usize>> {
        let size = |argument: &ArgumentSort| Some(knowledge.data.size(argument.sort()?));
        self.arguments.iter().map(size).collect()
    }

    /// What is known about a row.
    pub fn answers(&self) -> Answers {
        self.answers
    }

    /// How many rows there are: every tuple of individuals; `None` if an argument is a number.
    pub fn tuples(&self, knowledge: &KnowledgeBase) -> Option<u128> {
        let sizes = self.sizes(knowledge)?.into_iter();
        Some(sizes.fold(1, |n, size| n.saturating_mul(size as u128)))
    }

    /// Rows `from..to` of all tuples of individuals, the last argument changing fastest.
    pub fn some_tuples(&self, knowledge: &KnowledgeBase, from: u64, to: u64) -> Vec<u32> {
        let sizes = self.sizes(knowledge).unwrap_or_default();
        tuples(&sizes, from..to)
    }

    /// Makes sure that a model can be asked. Its parameters do not change after that.
    ///
    /// # Errors
    /// If the network of a function, or of a predicate of numbers, cannot be built.
    pub fn prepare(&self, knowledge: &KnowledgeBase, model: &mut Model) -> Result<(), Diagnostics> {
        match self.symbol {
            // Whatever it asks is known once it is planned.
            Symbol::Definition => Ok(()),
            Symbol::Predicate(id, _) => model.prepare_predicate(knowledge, id),
            Symbol::Function(id) if knowledge.data.function(id).is_some() => Ok(()),
            Symbol::Function(id) => model.prepare_function(knowledge, id).map(drop),
        }
    }

    /// The values of a model for rows of individuals; an argument that is a number is its place among `known`.
    /// Without arguments there is one row.
    ///
    /// # Errors
    /// If there is no such individual or number, or one that is said is not finite.
    pub fn predict(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        rows: &[u32],
        known: &[f64],
    ) -> Result<Predictions, Diagnostics> {
        let arity = self.arguments.len();
        self.check(knowledge, rows, known)?;
        let (of, width) = (Rows::new(rows, arity, known), self.width(knowledge));
        let mut numbers = self.numbers(knowledge, model, of)?;
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            let row = at / width.max(1);
            let theory = knowledge.theory();
            let tuple = self.arguments.iter().zip(&rows[row * arity..]);
            let tuple: Vec<String> = tuple
                .map(|(argument, &i)| match argument {
                    ArgumentSort::Sort(sort) => theory[*sort].individual_name(i as usize),
                    ArgumentSort::Vector(_) => known[i as usize].to_string(),
                })
                .collect();
            let said = format!("{}({})", self.name, tuple.join(", "));
            let what = format!("{said} is {}", numbers[at]);
            return Err(Diagnostic::error(Code::NotFinite, what)
                .help("the features are very large, or the networks have run away in training")
                .into());
        }
        if let Symbol::Predicate(_, output) = self.symbol {
            let rows = numbers.chunks_exact_mut(width.max(1));
            rows.for_each(|row| degrees(output.kind, row));
        }
        Ok(Predictions {
            answers: self.answers,
            width,
            numbers,
            disagreement: Vec::new(),
        })
    }

    /// What a model says of rows that are there, as it says it: logits of a network.
    pub(crate) fn numbers(
        &self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
        rows: Rows<'_>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let refuse = |what: String| Diagnostic::error(Code::CannotPredict, what);
        let numbers = match self.symbol {
            Symbol::Definition => {
                let name = &self.name;
                let what = format!(
                    "what definition `{name}` says depends on a semantics and its parameters"
                );
                return Err(refuse(what).help("ask for it with `truths_of`").into());
            }
            Symbol::Predicate(id, _) => model.numbers_at(knowledge, id, rows)?,
            Symbol::Function(id) => match knowledge.data.function(id) {
                Some(values) => self.given(knowledge, (id, values), rows),
                None => model.values_at(knowledge, id, rows)?,
            },
        };
        let (found, count) = (numbers.len(), rows.count);
        if found != count * self.width(knowledge) {
            let what = format!("`{}` has {found} numbers for {count} rows", self.name);
            return Err(refuse(what).into());
        }
        Ok(numbers)
    }

    /// The values of a function that is given by data.
    fn given(
        &self,
        knowledge: &KnowledgeBase,
        (id, values): (FunctionId, &FunctionData),
        rows: Rows<'_>,
    ) -> Vec<f64> {
        // What is given by data has individuals only.
        let sizes = self.sizes(knowledge).unwrap_or_default();
        match values {
            FunctionData::Individuals(values) => (rows.iter())
                .filter_map(|row| values.get(place(&sizes, row.iter().copied())?))
                .map(|&i| f64::from(i))
                .collect(),
            FunctionData::Reals(_) => (rows.iter())
                .flat_map(|row| knowledge.data.function_numbers(id, row))
                .copied()
                .collect(),
        }
    }

    /// Whether there are these individuals and numbers.
    pub(crate) fn check(
        &self,
        knowledge: &KnowledgeBase,
        rows: &[u32],
        known: &[f64],
    ) -> Result<(), Diagnostics> {
        let arity = self.arguments.len();
        if arity == 0 || !rows.len().is_multiple_of(arity) {
            return match rows.is_empty() {
                true => Ok(()),
                false => Err(Diagnostic::error(
                    Code::WrongShape,
                    format!(
                        "`{}` takes {arity} individuals to a row, which {} individuals do not make",
                        self.name,
                        rows.len()
                    ),
                )
                .into()),
            };
        }
        let size = |sort| knowledge.data.size(sort);
        let arguments = self.arguments.iter();
        let sizes: Vec<usize> = arguments
            .map(|argument| argument.sort().map_or(known.len(), size))
            .collect();
        for (i, row) in rows.chunks_exact(arity).enumerate() {
            let none = (0..arity).find(|&k| row[k] as usize >= sizes[k]);
            if let Some(k) = none {
                let what = match self.arguments[k] {
                    ArgumentSort::Sort(sort) => {
                        let sort = &knowledge.theory()[sort].name;
                        format!("row {i}: sort `{sort}` has no individual {}", row[k])
                    }
                    ArgumentSort::Vector(_) => format!(
                        "row {i}: argument {} of `{}` is a number, but none is given at place {}",
                        k + 1,
                        self.name,
                        row[k]
                    ),
                };
                return Err(Diagnostic::error(Code::UnknownIndividual, what).into());
            }
        }
        Ok(())
    }
}

/// Some of the tuples of individuals of sorts of these sizes, the last changing fastest.
pub(crate) fn tuples(sizes: &[usize], rows: Range<u64>) -> Vec<u32> {
    let mut tuples = vec![0; (rows.end - rows.start) as usize * sizes.len()];
    for (row, tuple) in rows.zip(tuples.chunks_exact_mut(sizes.len().max(1))) {
        let mut rest = row;
        for (individual, &size) in tuple.iter_mut().zip(sizes).rev() {
            *individual = (rest % size as u64) as u32;
            rest /= size as u64;
        }
    }
    tuples
}
