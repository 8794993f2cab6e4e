//! The truth of a theory whose predicates are given by numbers, in double precision.

use logltn::theory::PredicateId;
use logltn::{Diagnostic, Diagnostics, Parameters, Plan, PlannedAxiom, Semantics};

use super::shim::Engine;
use super::{NumberTable, Project};

/// What came out.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The axioms, families written out.
    pub axioms: Vec<PlannedAxiom>,
    /// The truth of each of them, a log in the log semantics.
    pub truths: Vec<f64>,
    /// The truth of the whole theory.
    pub sat: f64,
    /// What training would minimise.
    pub loss: f64,
    /// For each predicate given by numbers, the derivative of the loss by each of its numbers. Empty if they
    /// were not asked for.
    pub gradients: Vec<Option<Vec<f64>>>,
    /// What the plan warns of.
    pub warnings: Diagnostics,
}

impl Project {
    /// The plan of the theory in a semantics.
    pub fn plan(&self, semantics: &Semantics) -> Result<Plan, Diagnostics> {
        Plan::new(&self.data, &self.outputs, semantics)
    }

    /// The truth of every axiom, and with `gradients` the derivatives by the predicates' numbers. All predicates
    /// that the axioms use must be given by numbers.
    pub fn evaluate(
        &self,
        semantics: &Semantics,
        parameters: &Parameters,
        gradients: bool,
    ) -> Result<Evaluated, Diagnostics> {
        let plan = self.plan(semantics)?;
        let axioms = plan.axioms().to_vec();
        let warnings = plan.warnings().clone();
        let mut engine = Engine::<f64>::new(plan);
        let places = self.places(&engine)?;
        for (request, (table, starts)) in places.iter().enumerate() {
            let numbers = engine.numbers_mut(request);
            for (row, &start) in numbers.chunks_exact_mut(table.columns()).zip(starts) {
                row.copy_from_slice(&table.values[start..start + table.columns()]);
            }
        }
        let value = if gradients {
            engine.evaluate_with_gradients(parameters)?
        } else {
            engine.evaluate(parameters)?
        };
        let truths = value.axioms.iter().map(|axiom| axiom.truth).collect();
        let (sat, loss) = (value.sat, value.loss);
        let gradients = if gradients {
            self.gradients(&engine, &places)
        } else {
            Vec::new()
        };
        Ok(Evaluated {
            axioms,
            truths,
            sat,
            loss,
            gradients,
            warnings,
        })
    }

    /// For each request of the engine the table that answers it, and where in the table each row starts.
    fn places(&self, engine: &Engine<f64>) -> Result<Vec<(&NumberTable, Vec<usize>)>, Diagnostics> {
        let mut places = Vec::new();
        let mut wrong = Diagnostics::new();
        let mut refused: Vec<PredicateId> = Vec::new();
        for request in engine.requests() {
            let predicate = request.predicate;
            let Some(table) = self.numbers.get(predicate.index()).and_then(Option::as_ref) else {
                if !refused.contains(&predicate) {
                    refused.push(predicate);
                    wrong.push(self.not_given_by_numbers(predicate));
                }
                continue;
            };
            let starts: Option<Vec<usize>> = (0..request.rows())
                .map(|row| Some(table.row(request.row(row))?.start))
                .collect();
            match starts {
                Some(starts) => places.push((table, starts)),
                None => wrong.push(self.not_among_numbers(predicate)),
            }
        }
        wrong.into_result(places).map(|(places, _)| places)
    }

    fn not_given_by_numbers(&self, predicate: PredicateId) -> Diagnostic {
        let declared = &self.theory()[predicate];
        let name = &declared.name;
        let help = "give it by numbers: `logits`, `truth` or `log_truth`";
        match self.manifest.predicates.get(name) {
            Some(given) if given.network().is_some() => Diagnostic::error(format!(
                "predicate `{name}` is a network, and its truth is not known before it is trained"
            ))
            .at(&self.manifest.source, given.span, "")
            .help(help),
            _ => Diagnostic::error(format!("predicate `{name}` is not grounded"))
                .at(&self.theory().source, declared.span, "")
                .help(format!(
                    "add `[predicates.{name}]` to the manifest and {help}"
                )),
        }
    }

    fn not_among_numbers(&self, predicate: PredicateId) -> Diagnostic {
        let declared = &self.theory()[predicate];
        Diagnostic::error(format!(
            "predicate `{}` is given by numbers, which say nothing about learnable constants",
            declared.name
        ))
        .at(&self.theory().source, declared.span, "")
        .help("ground the constant in a `row` of the data")
    }

    fn gradients(
        &self,
        engine: &Engine<f64>,
        places: &[(&NumberTable, Vec<usize>)],
    ) -> Vec<Option<Vec<f64>>> {
        let mut gradients: Vec<Option<Vec<f64>>> = (self.numbers.iter())
            .map(|table| table.as_ref().map(|t| vec![0.0; t.values.len()]))
            .collect();
        for (index, (table, starts)) in places.iter().enumerate() {
            let predicate = engine.requests()[index].predicate;
            let Some(sum) = gradients[predicate.index()].as_mut() else {
                continue;
            };
            let rows = engine.gradient(index).chunks_exact(table.columns());
            for (row, &start) in rows.zip(starts) {
                for (total, part) in sum[start..].iter_mut().zip(row) {
                    *total += part;
                }
            }
        }
        gradients
    }
}
