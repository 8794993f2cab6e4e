//! A model asked about rows of the caller's choice, outside of training.

use logltn::theory::{FunctionId, PredicateId};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics};

use super::build::{Builder, Symbol};
use super::{Model, Purpose, Rows, is_vector, rows_shape};
use crate::knowledge::KnowledgeBase;
use crate::slow_work::{Foretold, thousands};

impl Model {
    /// The numbers of a predicate on rows of individuals, without training anything.
    ///
    /// # Errors
    /// If some of its arguments are numbers or vectors, or it is not known without an axiom that asks.
    pub fn predict(
        &mut self,
        predicate: PredicateId,
        tuples: &[u32],
        arity: usize,
    ) -> Result<Vec<f32>, Diagnostics> {
        if self.theory[predicate].arguments.iter().any(is_vector) {
            return Err(cannot_predict());
        }
        let numbers = self.said(predicate, Rows::new(tuples, arity, &[]))?;
        Ok(numbers.into_iter().map(|x| x as f32).collect())
    }

    /// The same with arguments that are numbers, in double precision.
    pub(crate) fn numbers_at(
        &mut self,
        knowledge: &KnowledgeBase,
        predicate: PredicateId,
        rows: Rows<'_>,
    ) -> Result<Vec<f64>, Diagnostics> {
        self.prepare_predicate(knowledge, predicate)?;
        self.said(predicate, rows)
    }

    /// The unit and the feed of a symbol for arguments of some shape.
    pub(super) fn feed_of(
        &self,
        symbol: Symbol,
        shape: &[ArgumentShape],
    ) -> Option<(usize, usize)> {
        let units = self.symbols.iter().filter(|(of, _)| *of == symbol);
        units.into_iter().find_map(|&(_, unit)| {
            let mut feeds = self.units[unit].feeds.iter();
            Some((unit, feeds.position(|feed| feed.shape == shape)?))
        })
    }

    /// The values of a unit for rows of individuals.
    pub(super) fn ask_about(
        &mut self,
        (unit, feed): (usize, usize),
        rows: Rows<'_>,
    ) -> Result<Vec<f64>, Diagnostics> {
        self.unchanged = false;
        self.set_numbers(rows.numbers);
        let mut out = Vec::new();
        let (foretold, arity) = (Foretold::default(), rows.arity);
        // In pieces, for the sake of memory.
        let pieces = rows.individuals.chunks(arity.max(1) * 2048);
        for (at, tuples) in pieces.enumerate() {
            self.unless_stopped()?;
            let rows = rows.count as u64;
            foretold.done(2048 * at as u64, rows, || {
                format!("a network is asked about {} rows", thousands(rows.into()))
            });
            self.units
                .iter_mut()
                .flat_map(|u| &mut u.feeds)
                .for_each(|f| f.clear());
            // As they come: nobody else asks for rows of this feed, and to look for equal ones takes longer than a
            // small network does.
            let asked = &mut self.units[unit].feeds[feed];
            asked.tuples.extend_from_slice(tuples);
            asked.rows = tuples.len() / arity.max(1);
            self.ask_among_units();
            self.run(Purpose::Looking);
            let unit = &self.units[unit];
            let feed = &unit.feeds[feed];
            let from = feed.start * unit.output_width;
            let outputs = &unit.network.outputs()[from..][..feed.rows * unit.output_width];
            out.extend(outputs.iter().map(|&x| f64::from(x)));
        }
        self.unless_stopped()?;
        Ok(out)
    }

    /// Makes sure that a function can be queried at individuals, and returns where.
    pub(crate) fn prepare_function(
        &mut self,
        knowledge: &KnowledgeBase,
        function: FunctionId,
    ) -> Result<(usize, usize), Diagnostics> {
        let arguments = &knowledge.theory()[function].arguments;
        let shape = rows_shape(arguments)?;
        let found = Builder::new(knowledge, self).feed(Symbol::Function(function), shape)?;
        self.sort_units();
        Ok(found)
    }

    /// The values of a function on rows of individuals, without training anything.
    ///
    /// # Errors
    /// If it has arguments that are vectors, or no network.
    pub fn values(
        &mut self,
        knowledge: &KnowledgeBase,
        function: FunctionId,
        tuples: &[u32],
        arity: usize,
    ) -> Result<Vec<f32>, Diagnostics> {
        if knowledge.theory()[function].arguments.iter().any(is_vector) {
            let what = "a function of numbers cannot be asked about individuals alone";
            return Err(Diagnostic::error(Code::VectorArgument, what).into());
        }
        let values = self.values_at(knowledge, function, Rows::new(tuples, arity, &[]))?;
        Ok(values.into_iter().map(|x| x as f32).collect())
    }

    /// The same with arguments that are numbers, in double precision.
    pub(crate) fn values_at(
        &mut self,
        knowledge: &KnowledgeBase,
        function: FunctionId,
        rows: Rows<'_>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let feed = self.prepare_function(knowledge, function)?;
        self.ask_about(feed, rows)
    }

    /// Makes sure that a predicate with numeric arguments can be queried at rows.
    pub(crate) fn prepare_predicate(
        &mut self,
        knowledge: &KnowledgeBase,
        predicate: PredicateId,
    ) -> Result<(), Diagnostics> {
        if let Some(program) = self.program_of(predicate) {
            let arguments = &knowledge.theory()[predicate].arguments;
            let per_class = usize::from(knowledge.outputs[predicate].per_class);
            let shape = rows_shape(&arguments[..arguments.len() - per_class])?;
            Builder::new(knowledge, self).answer(program, &shape)?;
            self.sort_units();
        }
        Ok(())
    }
}

pub(super) fn cannot_predict() -> Diagnostics {
    let what =
        "only predicates of individuals, with a network or numbers, can be evaluated on other rows";
    Diagnostic::error(Code::CannotPredict, what).into()
}
