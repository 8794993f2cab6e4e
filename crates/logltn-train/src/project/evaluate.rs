//! The truth of a theory whose predicates are given by numbers, in double precision.

use std::collections::BTreeMap;

use logltn::theory::{Formula, FormulaKind, PredicateId, Term, TermKind};
use logltn::{
    ArgumentShape, Code, Data, Diagnostic, Diagnostics, Engine, Parameters, Plan, PlanOptions,
    Request, Semantics, did_you_mean,
};
use logltn_learn::{
    Evaluated, Ground, KnowledgeBase, LargeTables, Model, large_tables, set_axioms,
};
use rustc_hash::FxHashSet;

use super::Project;
use crate::in_manifest::planned_in_manifest;
use crate::manifest::Grounding;

const BY_NUMBERS: &str = "give it by numbers: `logits`, `truth` or `log_truth`";

impl Project {
    /// The plan of the theory in a semantics.
    pub fn plan(&self, semantics: &Semantics) -> Result<Plan, Diagnostics> {
        self.plan_with(semantics, &PlanOptions::default())
    }

    /// The same with options.
    pub fn plan_with(
        &self,
        semantics: &Semantics,
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        self.plan_data(&self.data, semantics, options)
    }

    /// The plan for training steps: samples of sorts and axioms that have one, still empty, and all of the others.
    pub(crate) fn plan_of_steps(
        &self,
        semantics: &Semantics,
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        let (samples, axioms) = (self.samples(), self.manifest.axiom_settings());
        let data = logltn_learn::seen_in_steps(&self.data, &samples, &axioms, semantics)?;
        self.plan_data(&data, semantics, options)
    }

    /// How many individuals of each sampled sort training steps see.
    pub(crate) fn samples(&self) -> BTreeMap<String, usize> {
        let sorts = self.manifest.sorts.iter();
        let sample = sorts.filter_map(|(name, sort)| Some((name.clone(), sort.sample?.value)));
        sample.collect()
    }

    fn plan_data(
        &self,
        data: &Data,
        semantics: &Semantics,
        options: &PlanOptions,
    ) -> Result<Plan, Diagnostics> {
        if self.theory().axioms.is_empty() {
            let theory = &self.manifest.theory;
            let error = Diagnostic::error(
                Code::NoAxioms,
                format!("{}: there are no axioms", theory.value.display()),
            )
            .at(&self.manifest.source, theory.span, "the theory")
            .help("write at least one: `axiom name: formula`");
            return Err(error.into());
        }
        let plan = Plan::new_with(data, &self.outputs, semantics, options);
        let plan = plan.map_err(|found| -> Diagnostics {
            found.into_iter().map(planned_in_manifest).collect()
        })?;
        let unknown = self.unknown_axioms(plan.axioms().iter().map(|a| a.name.as_str()));
        unknown.into_result(plan).map(|(plan, _)| plan)
    }

    /// Checks the names of axioms in `[axioms]` and in phases against these, with families written out. This is
    /// possible only when the members of families are known.
    pub fn unknown_axioms<'n>(&self, axioms: impl Iterator<Item = &'n str> + Clone) -> Diagnostics {
        let manifest = &self.manifest;
        let mut out = Diagnostics::new();
        // Naming a family without members is not a mistake.
        for (name, span) in manifest
            .named_axioms()
            .filter(|(name, _)| name.ends_with(']'))
        {
            if !axioms.clone().any(|axiom| axiom == name) {
                let error = Diagnostic::error(
                    Code::UnknownAxiom,
                    format!("the theory has no axiom `{name}`"),
                );
                let error = error.maybe_help(did_you_mean(name, axioms.clone()));
                out.push(error.at(&manifest.source, span, "no member of the family"));
            }
        }
        out
    }

    /// The truth of every axiom, and with `gradients` the derivatives by the predicates' numbers. All predicates
    /// that the axioms use must be given by numbers, or by closed forms in which nothing is learnt.
    pub fn evaluate(
        &self,
        semantics: &Semantics,
        parameters: &Parameters,
        gradients: bool,
    ) -> Result<Evaluated, Diagnostics> {
        self.evaluate_with(semantics, parameters, gradients, |engine| {
            self.fill_in(engine)
        })
    }

    /// Fills in the numbers of an engine's requests, all of which must belong to predicates given by numbers or by
    /// closed forms of data.
    pub(crate) fn fill_in(&self, engine: &mut Engine<f64>) -> Result<(), Diagnostics> {
        let mut knowledge = self.sketch();
        if self.check_known(&knowledge, engine)? {
            knowledge = self.knowledge()?;
        }
        // Whatever is learnt has been refused, and need not be there.
        for id in (0..knowledge.predicates.len() as u32).map(PredicateId) {
            if knowledge.learns(id) {
                knowledge.predicates[id] = Ground::Host;
            }
        }
        for vectors in &mut knowledge.vectors {
            vectors.learnable = None;
        }
        let mut model = Model::new(&knowledge, 0)?;
        model.attach(&knowledge, engine)?;
        model.evaluate(engine)
    }

    /// The same, with the predicates' numbers filled in by the caller.
    pub(crate) fn evaluate_with(
        &self,
        semantics: &Semantics,
        parameters: &Parameters,
        gradients: bool,
        mut fill_in: impl FnMut(&mut Engine<f64>) -> Result<(), Diagnostics>,
    ) -> Result<Evaluated, Diagnostics> {
        let large = large_tables(&self.data);
        if !large.is_empty() && !gradients && !semantics.exact {
            let mut parts = LargeTables::new(&self.data, &self.outputs, semantics, large)?;
            set_axioms(&mut parts.engine, &self.manifest.axiom_settings())?;
            return parts.evaluate(parameters, fill_in);
        }
        let mut engine = Engine::<f64>::new(self.plan(semantics)?);
        set_axioms(&mut engine, &self.manifest.axiom_settings())?;
        fill_in(&mut engine)?;
        let numbers = self.numbers.iter().map(|table| table.as_deref());
        Evaluated::of(&mut engine, parameters, gradients.then_some(numbers))
    }

    /// Whether an engine asks closed forms.
    ///
    /// # Errors
    /// If it asks what is learnt.
    fn check_known(
        &self,
        knowledge: &KnowledgeBase,
        engine: &Engine<f64>,
    ) -> Result<bool, Diagnostics> {
        let mut closed_forms = false;
        let mut wrong = Diagnostics::new();
        let mut refused = FxHashSet::<PredicateId>::default();
        for request in engine.requests() {
            match self.is_closed_form(knowledge, request) {
                Ok(closed_form) => closed_forms |= closed_form,
                // Once for all requests.
                Err(error) if refused.insert(request.predicate) => wrong.push(error),
                Err(_) => {}
            }
        }
        wrong.into_result(closed_forms).map(|(found, _)| found)
    }

    /// Whether a request is to a closed form; others are to numbers.
    fn is_closed_form(
        &self,
        knowledge: &KnowledgeBase,
        request: &Request,
    ) -> Result<bool, Diagnostic> {
        let predicate = request.predicate;
        let is_closed_form = matches!(knowledge.predicates[predicate], Ground::ClosedForm(_));
        if is_closed_form && !knowledge.learns(predicate) {
            if let Some(function) = request.shape.iter().find_map(|s| self.learnt_function(s)) {
                return Err(self.not_trained(
                    predicate,
                    &format!("applied to the network of `{function}`"),
                ));
            }
            return match self.is_applied_to_learnable(predicate) {
                true => Err(self.not_trained(predicate, "applied to a learnable constant")),
                false => Ok(true),
            };
        }
        let Some(table) = self
            .numbers
            .get(predicate.0 as usize)
            .and_then(Option::as_ref)
        else {
            return Err(self.not_given_by_numbers(predicate));
        };
        let applied = |shape: &ArgumentShape| matches!(shape, ArgumentShape::Apply(..));
        if request.shape.iter().any(applied) {
            return Err(self.not_among_numbers(predicate, "the value of a function"));
        }
        // A request for every possible row also has rows that no axiom uses.
        let unknown = (0..request.rows()).any(|row| table.row(request.row(row)).is_none())
            && self.is_applied_to_learnable(predicate);
        if unknown || request.width != table.columns {
            return Err(self.not_among_numbers(predicate, "a learnable constant"));
        }
        Ok(false)
    }

    /// A function with a network that an argument is a value of.
    fn learnt_function(&self, shape: &ArgumentShape) -> Option<&str> {
        let ArgumentShape::Apply(function, arguments) = shape else {
            return None;
        };
        let name = &self.theory()[*function].name;
        let given = self.manifest.functions.get(name);
        match given.is_some_and(|given| given.network.is_some()) {
            true => Some(name),
            false => arguments.iter().find_map(|a| self.learnt_function(a)),
        }
    }

    /// Whether some atom has a learnable constant as an argument.
    fn is_applied_to_learnable(&self, predicate: PredicateId) -> bool {
        let theory = self.theory();
        let learnable = |term: &Term| match &term.kind {
            TermKind::Constant(id) => {
                let index = self.data.constant_index(*id) as usize;
                index >= self.data.size(theory[*id].sort)
            }
            _ => false,
        };
        // The predicates of a definition are queried at the same individuals as the definition.
        // A recursive one is not queried at learnable constants.
        let is_it = |part: &Formula| match &part.kind {
            FormulaKind::Atom {
                predicate: of,
                arguments,
            } => *of == predicate && arguments.iter().any(learnable),
            _ => false,
        };
        let mut axioms = theory.axioms.iter().map(|axiom| theory.written_out(axiom));
        axioms.any(|axiom| axiom.formula.parts().any(is_it))
    }

    fn not_given_by_numbers(&self, predicate: PredicateId) -> Diagnostic {
        let declared = &self.theory()[predicate];
        let name = &declared.name;
        match self.manifest.predicates.get(name).map(|g| &g.grounding) {
            Some(Grounding::Network { .. }) => self.not_trained(predicate, "a network"),
            Some(Grounding::Learnable { .. }) => self.not_trained(predicate, "learnable"),
            Some(Grounding::ClosedForm(form)) => {
                let what = match form.learnt().is_empty() {
                    true => "a closed form of vectors that are learnt",
                    false => "a closed form with numbers that are learnt",
                };
                self.not_trained(predicate, what)
            }
            _ => Diagnostic::error(
                Code::NotGrounded,
                format!("predicate `{name}` is not grounded"),
            )
            .at(&self.theory().source, declared.span, "")
            .help(format!(
                "add `[predicates.{name}]` to the manifest and {BY_NUMBERS}"
            )),
        }
    }

    fn not_trained(&self, predicate: PredicateId, what: &str) -> Diagnostic {
        let name = &self.theory()[predicate].name;
        let message = format!(
            "predicate `{name}` is {what}, and its truth is not known before it is trained"
        );
        let error = Diagnostic::error(Code::NotTrained, message);
        let error = match self.manifest.predicates.get(name) {
            Some(given) => error.at(&self.manifest.source, given.span, ""),
            None => error,
        };
        error.help(format!(
            "give the run that trained it, `--run DIR`; or {BY_NUMBERS}"
        ))
    }

    fn not_among_numbers(&self, predicate: PredicateId, argument: &str) -> Diagnostic {
        let declared = &self.theory()[predicate];
        Diagnostic::error(Code::NotGrounded, format!(
            "predicate `{}` is given by numbers, but an axiom applies it to {argument}, for which there are none",
            declared.name
        ))
        .at(&self.theory().source, declared.span, "")
    }
}
