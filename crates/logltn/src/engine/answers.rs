//! The answers to a question.

use super::rank::{Found, Order};
use super::{Engine, Precision};
use crate::diagnostic::Diagnostics;
use crate::parameters::Parameters;
use crate::plan::individual::Bound;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// The truth of a closed formula: a log in the log semantics and in `prod`.
    Closed(f64),
    /// The bindings that satisfy an open formula.
    Open {
        /// How many bindings pass the guard.
        total: u64,
        /// Best first; equal truths in the order of the individuals (or of the rows, if `find` ranges over a
        /// table).
        answers: Vec<Answer>,
    },
}

/// A binding of the variables of the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// In the order in which the question names them.
    pub binding: Vec<Bound>,
    /// How true the formula is for this binding: a log in the log semantics and in `prod`.
    pub truth: f64,
}

impl<T: Precision> Engine<T> {
    /// Answers the question of a plan [for one](crate::Plan::for_query): the `top` truest bindings, or all of them if
    /// `top` is 0. Memory is needed for these only, not for the bindings they are chosen from. The numbers must be
    /// filled in.
    ///
    /// ```
    /// use logltn::{Answers, Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics, Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Person = {ann, bob, cleo}  predicate happy(Person)
    ///     axiom a: forall x: Person. happy(x)"))?;
    /// let query = theory.parse_query(Source::new("query", "find x: Person. not happy(x)"))?;
    /// let (data, semantics) = (Data::new(&theory), Semantics::default());
    /// let plan = Plan::for_query(&data, &[Output::truth()], &semantics, &query, &PlanOptions::default())?;
    /// let mut engine = Engine::<f64>::new(plan);
    /// engine.numbers_mut(0).copy_from_slice(&[0.9, 0.2, 0.5]);
    /// let Answers::Open { total, answers } = engine.answers(&Parameters::default(), 2)? else { panic!() };
    /// let named: Vec<String> = answers.iter().map(|a| a.binding[0].to.to_string()).collect();
    /// assert_eq!((total, named), (3, vec!["bob".to_string(), "cleo".to_string()]));
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub fn answers(&mut self, parameters: &Parameters, top: usize) -> Result<Answers, Diagnostics> {
        if self.ground.plan.programs[0].ranking.is_none() {
            let truth = self.evaluate(parameters)?.axioms[0].truth;
            return Ok(Answers::Closed(truth));
        }
        let top = if top == 0 { usize::MAX } else { top };
        let ranks = self.ranks(parameters, Order::TruestFirst, top)?;
        let ranks = ranks.into_iter().next().flatten().unwrap_or_default();
        let plan = &self.ground.plan;
        let answer = |found: &Found| Answer {
            binding: plan.bound(0, &found.codes),
            truth: found.truth,
        };
        Ok(Answers::Open {
            total: ranks.total,
            answers: ranks.first.iter().map(answer).collect(),
        })
    }

    /// How true a question is for each of its bindings, in the order of the individuals or of the rows; a closed
    /// formula has one. The numbers must be filled in.
    ///
    /// # Errors
    /// As [`Engine::answers`].
    pub fn truths_in_order(&mut self, parameters: &Parameters) -> Result<Vec<f64>, Diagnostics> {
        if self.ground.plan.programs[0].ranking.is_none() {
            return Ok(vec![self.evaluate(parameters)?.axioms[0].truth]);
        }
        let ranks = self.ranks(parameters, Order::TruestFirst, usize::MAX)?;
        let mut found = ranks.into_iter().next().flatten().unwrap_or_default().first;
        found.sort_unstable_by_key(|found| found.codes);
        Ok(found.into_iter().map(|found| found.truth).collect())
    }
}
