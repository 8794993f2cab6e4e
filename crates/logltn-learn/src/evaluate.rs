//! The truth of a theory as it is, in double precision.

use logltn::{Code, Diagnostic, Diagnostics, Engine, Parameters, PlannedAxiom, Theory};

use crate::given_numbers::Numbers;
use crate::slow_work::foretell;

/// What came out.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The axioms, families written out, with the weights that they were evaluated with.
    pub axioms: Vec<PlannedAxiom>,
    /// The truth of each of them, a log in the log semantics.
    pub truths: Vec<f64>,
    /// How many observations of each are impossible, in the semantics `probability`.
    pub impossible: Vec<u64>,
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

impl Evaluated {
    /// Runs an engine whose numbers are filled in. `numbers` are those of the predicates that are given by numbers, in
    /// the order of the theory, if the derivatives by them are wanted.
    pub fn of<'n>(
        engine: &mut Engine<f64>,
        parameters: &Parameters,
        numbers: Option<impl Iterator<Item = Option<&'n Numbers>>>,
    ) -> Result<Evaluated, Diagnostics> {
        // The way back takes about as long again.
        let passes = if numbers.is_some() { 2.0 } else { 1.0 };
        foretell(engine, parameters, passes, "the theory");
        let value = match numbers {
            Some(_) => engine.evaluate_with_gradients(parameters)?,
            None => engine.evaluate(parameters)?,
        };
        let truths = value.axioms.iter().map(|axiom| axiom.truth).collect();
        let impossible = value.axioms.iter().map(|axiom| axiom.impossible).collect();
        let (sat, loss) = (value.sat, value.loss);
        let mut axioms = engine.plan().axioms().to_vec();
        for (axiom, &weight) in axioms.iter_mut().zip(engine.weights()) {
            axiom.weight = weight;
        }
        let evaluated = Evaluated {
            truths,
            impossible,
            sat,
            loss,
            gradients: numbers.map_or(Vec::new(), |numbers| gradients(engine, numbers.collect())),
            axioms,
            warnings: engine.plan().warnings().clone(),
        };
        evaluated.check(engine.plan().data().theory())?;
        Ok(evaluated)
    }

    /// An infinite loss, or derivative, is not an answer.
    ///
    /// # Errors
    /// With the axiom or the predicate whose number is not finite.
    pub(crate) fn check(&self, theory: &Theory) -> Result<(), Diagnostics> {
        const HELP: &str = "a truth of exactly 0 has no finite logarithm, and roots of 0 no finite slope: `stable_eps` above 0 keeps away from it \
            (1e-4 unless the semantics says otherwise), and so does a truth above 0";
        let refuse = |what: String| Diagnostic::error(Code::NotFinite, what).help(HELP);
        for (axiom, truth) in self.axioms.iter().zip(&self.truths) {
            if !truth.is_finite() {
                let error = refuse(format!("axiom `{}` has the truth {truth}", axiom.name));
                return Err(error.at(&theory.source, axiom.span, "").into());
            }
        }
        if !self.loss.is_finite() || !self.sat.is_finite() {
            return Err(refuse(format!("the loss is {}", self.loss)).into());
        }
        for (predicate, gradients) in theory.predicates.iter().zip(&self.gradients) {
            let mut numbers = gradients.iter().flatten().enumerate();
            if let Some((at, by)) = numbers.find(|(_, by)| !by.is_finite()) {
                let what = format!(
                    "the derivative of the loss by number {at} of `{}` is {by}",
                    predicate.name
                );
                return Err(refuse(what).into());
            }
        }
        Ok(())
    }
}

fn gradients(engine: &Engine<f64>, numbers: Vec<Option<&Numbers>>) -> Vec<Option<Vec<f64>>> {
    let mut gradients: Vec<Option<Vec<f64>>> = (numbers.iter())
        .map(|table| table.map(|t| vec![0.0; t.values.len()]))
        .collect();
    for (index, request) in engine.requests().iter().enumerate() {
        let predicate = request.predicate.0 as usize;
        let (Some(table), Some(sum)) = (numbers[predicate], &mut gradients[predicate]) else {
            continue;
        };
        let by_rows = engine.gradient(index).chunks_exact(table.columns);
        for (row, by) in by_rows.enumerate() {
            if let Some(range) = table.row(request.row(row)) {
                let sums = sum[range].iter_mut().zip(by);
                sums.for_each(|(sum, by)| *sum += by);
            }
        }
    }
    gradients
}
