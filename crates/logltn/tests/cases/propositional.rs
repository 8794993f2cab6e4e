//! Tiny theories about the propositions p, q, r and a predicate P over three individuals: formulas as
//! expressions of their truth degrees.

use logltn::{Data, Output, Parameters, Semantics, Source, Space, Theory};

use crate::reference::{self, Case};

/// Truth degrees of p, q, r and of P(0), P(1), P(2).
pub type Degrees = [f64; 6];

/// Several formulas under one semantics.
pub struct Formulas {
    case: Case,
    semantics: Semantics,
    parameters: Parameters,
}

impl Formulas {
    /// `None` if the semantics refuses one of them.
    pub fn new(texts: &[&str], semantics: Semantics, parameters: Parameters) -> Option<Formulas> {
        let mut text =
            "sort U = 0..2 predicate p() predicate q() predicate r() predicate P(U)\n".to_string();
        for (index, formula) in texts.iter().enumerate() {
            text += &format!("axiom a{index}: {formula}\n");
        }
        let theory = Theory::parse(Source::new("formulas.ltn", text)).unwrap();
        // In log space, logs of truth degrees: truth degrees themselves would be shifted by 1e-7.
        let output = match semantics.space {
            Space::Log => Output::log_truth(),
            _ => Output::truth(),
        };
        let formulas = Formulas {
            case: Case {
                data: Data::new(&theory),
                theory,
                params: Vec::new(),
                outputs: vec![output; 4],
                numbers: Vec::new(),
            },
            semantics,
            parameters,
        };
        formulas.evaluate([0.5; 6]).map(|_| formulas)
    }

    /// The truth degrees of the formulas.
    pub fn truths(&self, degrees: Degrees) -> Vec<f64> {
        self.evaluate(degrees).expect("accepted before")
    }

    fn evaluate(&self, degrees: Degrees) -> Option<Vec<f64>> {
        let number = |degree: f64| match self.semantics.space {
            // The log of 0 is out of range.
            Space::Log => degree.max(1e-6).ln(),
            _ => degree,
        };
        let mut case = self.case.clone();
        let [p, q, r, individuals @ ..] = degrees.map(number);
        case.numbers = vec![vec![p], vec![q], vec![r], individuals.to_vec()];
        let value = reference::evaluate(&case, &self.semantics, &self.parameters).ok()?;
        let degree = |truth: f64| {
            if self.semantics.sat_is_log() {
                truth.exp()
            } else {
                truth
            }
        };
        Some(value.axioms.iter().map(|a| degree(a.truth)).collect())
    }
}
