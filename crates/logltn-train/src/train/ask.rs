//! Questions to a project, with the networks of a run where there is something to learn.

use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics, Engine, Parameters, PlanOptions, Semantics};
use logltn_learn::{Ask, Explained, Model, Queried, own_parameters};

use super::run_weights::RunWeights;
use crate::project::Project;

/// A question's context: a project, the run with the weights of its networks (`None` if nothing is learnt), and the
/// semantics.
#[derive(Clone, Debug)]
pub struct Questions<'a> {
    /// The manifest, read.
    pub project: &'a Project,
    /// The folder of a run, finished or not.
    pub run: Option<&'a Path>,
    /// The semantics of connectives and quantifiers.
    pub semantics: Semantics,
    /// α, p and p_forall.
    pub parameters: Parameters,
    /// How many answers, or bindings of each axiom, to return; 0 for all.
    pub top: usize,
    /// Whether the leading `forall`s of a question belong to the event, where formulas have exact probabilities.
    pub joint: bool,
    /// A question with more groundings than this is refused if a person waits for the answer.
    pub most_groundings: Option<u64>,
    /// The definitions that explanations open.
    pub open: Vec<String>,
}

impl Questions<'_> {
    /// How true a formula is, or its best bindings if it begins with `find`.
    ///
    /// # Errors
    /// If there is a mistake in the question, shown in place; or as [`RunWeights::read`].
    pub fn query(&self, formula: &str) -> Result<Queried, Diagnostics> {
        let mut unknown = Diagnostics::new();
        let data = self.project.data_for_question(formula);
        let ask = Ask {
            data: &data,
            ..self.ask()
        };
        let mut found = ask.query(formula, |engine| self.fill_in(engine, &mut unknown))?;
        found.warnings.extend(unknown);
        Ok(found)
    }

    /// What breaks an axiom most, or each of them.
    ///
    /// # Errors
    /// If there is no such axiom; or as [`RunWeights::read`].
    pub fn explain(&self, axiom: Option<&str>) -> Result<Explained, Diagnostics> {
        let settings = self.project.manifest.axiom_settings();
        let own = |name: &str| own_parameters(&settings, name);
        let mut unknown = Diagnostics::new();
        let fill_in = |engine: &mut Engine<f64>| self.fill_in(engine, &mut unknown);
        let mut found = self.ask().explain(axiom, &own, fill_in)?;
        found.warnings.extend(unknown);
        Ok(found)
    }

    /// The value of a definition for tuples of individuals, given consecutively.
    ///
    /// # Errors
    /// If there is no such definition; or as [`RunWeights::read`].
    pub fn truths_of(
        &self,
        definition: &str,
        tuples: &[u32],
        warnings: &mut Diagnostics,
    ) -> Result<Vec<f64>, Diagnostics> {
        let fill_in = |engine: &mut Engine<f64>| self.fill_in(engine, warnings);
        self.ask().truths_of(definition, Some(tuples), fill_in)
    }

    fn ask(&self) -> Ask<'_> {
        Ask {
            data: &self.project.data,
            outputs: &self.project.outputs,
            semantics: self.semantics,
            parameters: self.parameters,
            top: self.top,
            options: PlanOptions {
                joint: self.joint,
                ..PlanOptions::default()
            },
            open: self.open.clone(),
        }
    }

    fn fill_in(
        &self,
        engine: &mut Engine<f64>,
        warnings: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let groundings = engine.groundings();
        if (self.most_groundings).is_some_and(|most| groundings > u128::from(most)) {
            let what = format!("there are {groundings} groundings, too many to wait for");
            return Err(Diagnostic::error(Code::TooManyBindings, what)
                .help("use fewer variables, or ask on the command line, where it may take its time")
                .into());
        }
        let Some(run) = self.run else {
            return self.project.fill_in(engine);
        };
        let weights = RunWeights::read(self.project, run)?;
        warnings.extend(weights.warnings().clone());
        let knowledge = self.project.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        model.attach(&knowledge, engine)?;
        weights.put_into(&mut model)?;
        model.evaluate(engine)
    }
}
