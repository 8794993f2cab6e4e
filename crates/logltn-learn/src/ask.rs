//! Questions to a theory: what is true, of whom, and what breaks a rule.

use std::collections::{BTreeMap, BTreeSet};

use logltn::theory::DefinitionId;
use logltn::{
    Answers, AxiomParameters, Code, Data, Diagnostic, Diagnostics, Engine, Explanation, Output,
    Parameters, Plan, PlanOptions, Semantics, Source, Theory, did_you_mean,
};

use crate::axioms::{self, AxiomSettings};
use crate::predict::tuples;
use crate::session::Session;
use crate::slow_work::foretell;

/// What questions are about, and how they are meant. [`Session::query`] and [`Session::explain_first`] ask a session; this is for
/// callers that fill in the predicates' numbers themselves.
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
///     open: Vec::new(),
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
    /// The definitions whose formulas explanations go into.
    pub open: Vec<String>,
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

/// Why axioms have the truth they have.
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

    /// Explains an axiom, a family or a member of one, or all axioms. `own` says which parameters an axiom sets itself,
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
        (self.open.iter()).try_for_each(|name| definition_named(theory, name).map(drop))?;
        if let (Some(axiom), Some(family)) = (axiom, family)
            && theory.axiom(family).is_none()
        {
            let names = theory.axioms.iter().map(|a| a.name.as_str());
            return Err(axioms::no_such(axiom, names).into());
        }
        let data = match family {
            Some(family) => {
                // The laws that it is conditioned on come with it.
                let is_law = |axiom: &str| self.semantics.exact && self.data.has_laws_of(axiom);
                &self
                    .data
                    .with_axioms(|a| a.name == family || is_law(&a.name))
            }
            None => self.data,
        };
        let (semantics, options) = (&self.semantics, &self.options);
        let mut plan = Plan::for_explaining(data, self.outputs, semantics, options)?;
        axioms::check_members(&plan, axiom)?;
        plan.retain_axioms(|a| wanted(&a.name));
        let mut engine = Engine::new(plan);
        for place in 0..engine.plan().axioms().len() {
            let own = own(&engine.plan().axioms()[place].name);
            engine.set_axiom_parameters(place, own)?;
        }
        engine.open_definitions(&self.open);
        fill_in(&mut engine)?;
        foretell(&mut engine, &self.parameters, 2.0, "the explanation");
        Ok(Explained {
            axioms: engine.explain(&self.parameters, self.top)?,
            warnings: engine.plan().warnings().clone(),
        })
    }
}

impl Ask<'_> {
    /// The value of a definition for tuples of individuals, given one after the other; without any, of all that there are,
    /// the last argument changing fastest. Logs in the log semantics and in `prod`.
    ///
    /// # Errors
    /// If there is no such definition or individual, or something is wrong with what it is about.
    pub fn truths_of(
        &self,
        definition: &str,
        tuples: Option<&[u32]>,
        fill_in: impl FnOnce(&mut Engine<f64>) -> Result<(), Diagnostics>,
    ) -> Result<Vec<f64>, Diagnostics> {
        let theory = self.data.theory();
        let id = definition_named(theory, definition)?;
        let sizes: Vec<usize> = (theory[id].parameters().iter())
            .filter_map(|parameter| Some(self.data.size(parameter.sort.sort()?)))
            .collect();
        let all;
        let tuples = match tuples {
            Some(tuples) => tuples,
            None => {
                all = all_tuples(definition, &sizes)?;
                &all
            }
        };
        let rows = tuples.chunks(sizes.len().max(1));
        if let Some(at) =
            (rows.clone()).position(|r| r.iter().zip(&sizes).any(|(&i, n)| i as usize >= *n))
        {
            let what = format!("row {at}: `{definition}` knows no such individual");
            return Err(Diagnostic::error(Code::UnknownIndividual, what).into());
        }
        let (semantics, options) = (&self.semantics, &self.options);
        let plan = Plan::for_definition(self.data, self.outputs, semantics, id, tuples, options)?;
        let mut engine = Engine::new(plan);
        fill_in(&mut engine)?;
        foretell(&mut engine, &self.parameters, 1.0, "the question");
        let truths = engine.truths_in_order(&self.parameters)?;
        let wanted = tuples.len().checked_div(sizes.len()).unwrap_or(1);
        if truths.len() != wanted {
            let what = format!(
                "definition `{definition}` answered {} of {wanted} tuples",
                truths.len()
            );
            return Err(Diagnostic::error(Code::Internal, what).into());
        }
        Ok(truths)
    }
}

fn all_tuples(definition: &str, sizes: &[usize]) -> Result<Vec<u32>, Diagnostics> {
    const MOST: usize = 100_000_000;
    let count = sizes
        .iter()
        .try_fold(1_usize, |n, size| n.checked_mul(*size));
    let Some(count) = count.filter(|n| n.saturating_mul(sizes.len()) <= MOST) else {
        let what =
            format!("definition `{definition}` has too many tuples to ask about all of them");
        let help = "ask about some of them, or with `find` about those that a guard leaves";
        return Err(Diagnostic::error(Code::TooManyTuples, what)
            .help(help)
            .into());
    };
    Ok(tuples(sizes, 0..count as u64))
}

/// A definition by its name.
pub(crate) fn definition_named(theory: &Theory, name: &str) -> Result<DefinitionId, Diagnostics> {
    theory.definition(name).ok_or_else(|| {
        let names: Vec<&str> = theory.definitions.iter().map(|d| d.name()).collect();
        let what = format!("the theory has no definition `{name}`");
        let error = Diagnostic::error(Code::UnknownPredicate, what);
        match (did_you_mean(name, names.iter().copied()), names.is_empty()) {
            (Some(guess), _) => error.help(guess),
            (None, false) => error.note(format!("it has {}", names.join(", "))),
            (None, true) => error.help("write one: `define NAME(x: Sort): formula`"),
        }
        .into()
    })
}

/// The parameters that an axiom sets itself at the end of training; a member's beat its family's.
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
        let data = self.knowledge.data.clone();
        let outputs = self.knowledge.outputs.clone();
        let ask = self.ask(&data, &outputs, parameters, top);
        ask.query(formula, |engine| self.fill_in(engine))
    }

    /// What breaks the first so many axioms of the theory (a family is one) most as things are now: the `top` least true
    /// bindings of each, all of them if that is 0, with the literals to blame and the witnesses. None if there are too many
    /// groundings to look at.
    ///
    /// # Errors
    /// If something is wrong with what they are about.
    pub fn explain_first(
        &mut self,
        axioms: usize,
        parameters: &Parameters,
        top: usize,
    ) -> Result<Option<Explained>, Diagnostics> {
        if !self.has_room_for_whole() {
            return Ok(None);
        }
        let mut data = self.knowledge.data.clone();
        let all = &data.theory().axioms;
        if all.len() > axioms {
            let first: BTreeSet<&str> = all[..axioms].iter().map(|a| a.name.as_str()).collect();
            let is_law = |name: &str| self.training.semantics.exact && data.has_laws_of(name);
            data = data.with_axioms(|a| first.contains(a.name.as_str()) || is_law(&a.name));
        }
        self.explain_of(&data, parameters, top).map(Some)
    }

    fn explain_of(
        &mut self,
        data: &Data,
        parameters: &Parameters,
        top: usize,
    ) -> Result<Explained, Diagnostics> {
        let outputs = self.knowledge.outputs.clone();
        let ask = self.ask(data, &outputs, parameters, top);
        // A family may have a hundred thousand members.
        let axioms = self.axioms.iter();
        let now: BTreeMap<String, AxiomParameters> =
            axioms.map(|a| (a.name.clone(), a.parameters)).collect();
        let own = |name: &str| now.get(name).copied().unwrap_or_default();
        ask.explain(None, &own, |engine| self.fill_in(engine))
    }

    /// What a definition says now of tuples of individuals, given one after the other; without any, of all that there are,
    /// the last argument changing fastest. Logs in the log semantics and in `prod`.
    ///
    /// # Errors
    /// If there is no such definition or individual.
    pub fn truths_of(
        &mut self,
        definition: &str,
        tuples: Option<&[u32]>,
        parameters: &Parameters,
    ) -> Result<Vec<f64>, Diagnostics> {
        let data = self.knowledge.data.clone();
        let outputs = self.knowledge.outputs.clone();
        let ask = self.ask(&data, &outputs, parameters, 0);
        ask.truths_of(definition, tuples, |engine| self.fill_in(engine))
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
            open: Vec::new(),
        }
    }

    pub(crate) fn fill_in(&mut self, engine: &mut Engine<f64>) -> Result<(), Diagnostics> {
        self.model.attach(&self.knowledge, engine)?;
        self.attached = None;
        self.model.evaluate(engine)
    }
}
