//! Questions to a theory: what is true, of whom, and what breaks a rule.

use std::collections::BTreeMap;

use logltn::{
    Answers, AxiomParameters, Data, Diagnostics, Engine, Explanation, Output, Parameters, Plan,
    PlanOptions, Semantics, Source,
};

use crate::axioms::{self, AxiomSettings};
use crate::session::Session;
use crate::work::foretell;

/// What questions are about, and how they are meant. [`Session::query`] and [`Session::explain`] ask a session; this is for
/// those who fill in the predicates' numbers themselves.
///
/// ```
/// use logltn::{Answers, Data, Output, Parameters, Semantics, Source, Theory};
/// use logltn_learn::Ask;
///
/// let theory = Theory::parse(Source::new("t", "
///     sort Person = {ann, bob}  predicate happy(Person)
///     axiom all: forall x: Person. happy(x)"))?;
/// let data = Data::new(&theory);
/// let ask = Ask {
///     data: &data,
///     outputs: &[Output::truth()],
///     semantics: Semantics::named("stable").unwrap(),
///     parameters: Parameters::default(),
///     top: 1,
///     options: Default::default(),
/// };
/// let asked = ask.explain(None, &|_| Default::default(), |engine| {
///     engine.numbers_mut(0).copy_from_slice(&[0.9, 0.25]);
///     Ok(())
/// })?;
/// let worst = &asked.axioms[0].worst[0];
/// assert_eq!((worst.binding[0].to.to_string(), worst.truth), ("bob".to_string(), 0.25));
/// assert_eq!((worst.literals[0].text.as_str(), worst.literals[0].blame), ("happy(bob)", 1.0));
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The theory and its data.
    pub data: &'a Data,
    /// What the numbers of each predicate mean, in the order of the theory.
    pub outputs: &'a [Output],
    /// What connectives and quantifiers mean.
    pub semantics: Semantics,
    /// α, p and p_forall.
    pub parameters: Parameters,
    /// How many answers, or bindings of each axiom, are wanted; 0: all.
    pub top: usize,
    /// What planning may take.
    pub options: PlanOptions,
}

/// A question with its answers.
#[derive(Clone, Debug)]
pub struct Queried {
    /// The question.
    pub formula: String,
    /// What is true of it.
    pub answers: Answers,
    /// What is probably not meant.
    pub warnings: Diagnostics,
}

/// Why axioms are as true as they are.
#[derive(Clone, Debug)]
pub struct Explained {
    /// In the order of the theory, families written out.
    pub axioms: Vec<Explanation>,
    /// What is probably not meant.
    pub warnings: Diagnostics,
}

impl Ask<'_> {
    /// Asks a formula: how true it is, or of which bindings if it begins with `find`. `fill_in` gives the engine the
    /// numbers of its requests.
    ///
    /// # Errors
    /// If there is a mistake in the question, shown in place, or in what it is about.
    pub fn query(
        &self,
        formula: &str,
        fill_in: impl FnOnce(&mut Engine<f64>) -> Result<(), Diagnostics>,
    ) -> Result<Queried, Diagnostics> {
        let query = (self.data.theory()).parse_query(Source::new("query", formula))?;
        let (semantics, options) = (&self.semantics, &self.options);
        let plan = Plan::for_query(self.data, self.outputs, semantics, &query, options)?;
        let mut engine = Engine::new(plan);
        fill_in(&mut engine)?;
        foretell(&mut engine, &self.parameters, 1.0, "the question");
        Ok(Queried {
            formula: formula.trim().to_string(),
            answers: engine.answers(&self.parameters, self.top)?,
            warnings: engine.plan().warnings().clone(),
        })
    }

    /// Explains an axiom, a family or a member of one, or all axioms. `own` says which parameters an axiom has of its own,
    /// `fill_in` gives the engine the numbers of its requests.
    ///
    /// # Errors
    /// If there is no such axiom, or something is wrong with what it is about.
    pub fn explain(
        &self,
        axiom: Option<&str>,
        own: &dyn Fn(&str) -> AxiomParameters,
        fill_in: impl FnOnce(&mut Engine<f64>) -> Result<(), Diagnostics>,
    ) -> Result<Explained, Diagnostics> {
        let wanted = |name: &str| axiom.is_none_or(|axiom| axioms::is_named(name, axiom));
        let family = axiom.map(|axiom| axiom.split('[').next().unwrap_or(axiom));
        let theory = self.data.theory();
        if let (Some(axiom), Some(family)) = (axiom, family)
            && theory.axiom(family).is_none()
        {
            let names = theory.axioms.iter().map(|a| a.name.as_str());
            return Err(axioms::no_such(axiom, names).into());
        }
        let data = match family {
            Some(family) => &self.data.with_axioms(|a| a.name == family),
            None => self.data,
        };
        let (semantics, options) = (&self.semantics, &self.options);
        let mut plan = Plan::for_explaining(data, self.outputs, semantics, options)?;
        if let Some(axiom) = axiom
            && axiom.ends_with(']')
            && !plan.axioms().iter().any(|a| a.name == axiom)
        {
            let names = plan.axioms().iter().map(|a| a.name.as_str());
            return Err(axioms::no_such(axiom, names).into());
        }
        plan.retain_axioms(|a| wanted(&a.name));
        let mut engine = Engine::new(plan);
        for place in 0..engine.plan().axioms().len() {
            let own = own(&engine.plan().axioms()[place].name);
            engine.set_axiom_parameters(place, own)?;
        }
        fill_in(&mut engine)?;
        foretell(&mut engine, &self.parameters, 2.0, "the explanation");
        Ok(Explained {
            axioms: engine.explain(&self.parameters, self.top)?,
            warnings: engine.plan().warnings().clone(),
        })
    }
}

/// The parameters that an axiom has of its own at the end of training; a member's beat its family's.
pub fn own_parameters(settings: &BTreeMap<String, AxiomSettings>, axiom: &str) -> AxiomParameters {
    let named = settings
        .iter()
        .filter(|(name, _)| axioms::is_named(axiom, name));
    // `each` comes before `each[1]` in the order of names.
    named.fold(AxiomParameters::default(), |own, (_, settings)| {
        let last = settings.last();
        AxiomParameters {
            alpha: last.alpha.or(own.alpha),
            p: last.p.or(own.p),
            p_forall: last.p_forall.or(own.p_forall),
        }
    })
}

impl Session {
    /// How true a formula is now, or of which bindings if it begins with `find`: the `top` truest, all of them if that is
    /// 0. In double precision, tables with batches looked at whole.
    ///
    /// # Errors
    /// If there is a mistake in the question, shown in place.
    pub fn query(
        &mut self,
        formula: &str,
        parameters: &Parameters,
        top: usize,
    ) -> Result<Queried, Diagnostics> {
        let data = self.data_now()?;
        let outputs = self.knowledge.outputs.clone();
        let ask = self.ask(&data, &outputs, parameters, top);
        ask.query(formula, |engine| self.fill_in(engine))
    }

    /// What breaks an axiom (a family, a member of one, or each axiom if none is named) most as things are now: its `top`
    /// least true bindings, all of them if that is 0, with the literals to blame and the witnesses.
    ///
    /// # Errors
    /// If there is no such axiom.
    pub fn explain(
        &mut self,
        axiom: Option<&str>,
        parameters: &Parameters,
        top: usize,
    ) -> Result<Explained, Diagnostics> {
        let data = self.data_now()?;
        let outputs = self.knowledge.outputs.clone();
        let ask = self.ask(&data, &outputs, parameters, top);
        let now = self.axioms.clone();
        let own = |name: &str| {
            let found = now.iter().find(|a| a.name == name);
            found.map_or(AxiomParameters::default(), |a| a.parameters)
        };
        ask.explain(axiom, &own, |engine| self.fill_in(engine))
    }

    fn ask<'a>(
        &self,
        data: &'a Data,
        outputs: &'a [Output],
        parameters: &Parameters,
        top: usize,
    ) -> Ask<'a> {
        Ask {
            data,
            outputs,
            semantics: self.training.semantics,
            parameters: *parameters,
            top,
            options: PlanOptions::default(),
        }
    }

    /// With what came with the last call.
    pub(crate) fn data_now(&self) -> Result<Data, Diagnostics> {
        // Questions are about everybody, and what comes with calls.
        if self.samples.is_some() {
            return Ok(self.knowledge.data.clone());
        }
        let mut engine = Engine::<f64>::new(std::sync::Arc::clone(&self.whole));
        self.streamed.give(&mut engine)?;
        Ok(engine.plan().data().clone())
    }

    pub(crate) fn fill_in(&mut self, engine: &mut Engine<f64>) -> Result<(), Diagnostics> {
        self.model.attach(&self.knowledge, engine)?;
        self.attached = None;
        self.model.evaluate(engine)
    }
}
