//! What single axioms have of their own, and what of it can change between steps: weights, α, p and p_forall.

use logltn::vector::Real;
use logltn::{AxiomParameters, Code, Diagnostic, Diagnostics, Engine, did_you_mean};

use crate::session::Session;

/// What an axiom has of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxiomSettings {
    /// Instead of the weight in the theory.
    pub weight: Option<f64>,
    /// Instead of the parameters of the step, inside this axiom only.
    pub parameters: AxiomParameters,
}

/// An axiom, a family written out, with its settings as they are.
#[derive(Clone, Debug)]
pub(crate) struct AxiomNow {
    pub name: String,
    pub weight: f64,
    pub parameters: AxiomParameters,
}

impl AxiomNow {
    /// All settings as text, for a state.
    pub fn fact(&self) -> String {
        let AxiomParameters { alpha, p, p_forall } = self.parameters;
        let own = [alpha, p, p_forall].map(|x| x.map_or("-".to_string(), |x| x.to_string()));
        format!("{} {}", self.weight, own.join(" "))
    }

    /// The same back.
    pub fn settings(fact: &str) -> Option<AxiomSettings> {
        let numbers = fact.split(' ').map(|word| match word {
            "-" => Some(None),
            number => number.parse().ok().map(Some),
        });
        let numbers: Option<Vec<Option<f64>>> = numbers.collect();
        let [weight, alpha, p, p_forall] = numbers?[..] else {
            return None;
        };
        Some(AxiomSettings {
            weight,
            parameters: AxiomParameters { alpha, p, p_forall },
        })
    }
}

/// Gives an engine the settings of its axioms, whose places among all these are.
pub(crate) fn apply<T: Real>(
    engine: &mut Engine<T>,
    places: &[usize],
    axioms: &[AxiomNow],
) -> Result<(), Diagnostics> {
    let weights = places.iter().map(|&place| axioms[place].weight);
    engine.set_weights(weights.enumerate())?;
    for (axiom, &place) in places.iter().enumerate() {
        engine.set_axiom_parameters(axiom, axioms[place].parameters)?;
    }
    Ok(())
}

impl Session {
    /// Gives an axiom, or all members of a family, another weight from the next step on.
    ///
    /// # Errors
    /// If there is no such axiom, the weight is negative or not finite, or no axiom of a phase has any weight left. All
    /// is then as it was.
    pub fn set_weight(&mut self, axiom: &str, weight: f64) -> Result<(), Diagnostics> {
        self.set_axioms(axiom, |now| now.weight = weight)
    }

    /// Gives an axiom, or all members of a family, α, p and p_forall of its own from the next step on. They beat the
    /// schedule, and hold inside this axiom only.
    ///
    /// # Errors
    /// If there is no such axiom, or a parameter is out of range. All is then as it was.
    pub fn set_axiom_parameters(
        &mut self,
        axiom: &str,
        parameters: AxiomParameters,
    ) -> Result<(), Diagnostics> {
        self.set_axioms(axiom, |now| now.parameters = parameters)
    }

    /// All that an axiom can have of its own. A weight that is left out stays.
    pub(crate) fn set_axiom(
        &mut self,
        axiom: &str,
        settings: &AxiomSettings,
    ) -> Result<(), Diagnostics> {
        self.set_axioms(axiom, |now| {
            now.weight = settings.weight.unwrap_or(now.weight);
            now.parameters = settings.parameters;
        })
    }

    fn set_axioms(&mut self, name: &str, set: impl Fn(&mut AxiomNow)) -> Result<(), Diagnostics> {
        let mut axioms = self.axioms.clone();
        let family = |axiom: &AxiomNow| axiom.name.split('[').next() == Some(name);
        let named = axioms.iter_mut().filter(|a| a.name == name || family(a));
        let known = named.map(set).count() > 0;
        if !known {
            let names = self.axioms.iter().map(|a| a.name.as_str());
            let message = format!("the theory has no axiom `{name}`");
            let error = Diagnostic::error(Code::UnknownAxiom, message);
            return Err(error.maybe_help(did_you_mean(name, names)).into());
        }
        self.use_axioms(axioms)
    }

    /// These settings from now on; the old ones if something is wrong with them.
    pub(crate) fn use_axioms(&mut self, axioms: Vec<AxiomNow>) -> Result<(), Diagnostics> {
        let mut phases = self.phases.iter_mut();
        let set = phases.try_for_each(|p| apply(&mut p.engine, &p.axioms, &axioms));
        match set {
            Ok(()) => self.axioms = axioms,
            Err(_) => {
                for phase in &mut self.phases {
                    apply(&mut phase.engine, &phase.axioms, &self.axioms)?;
                }
            }
        }
        set
    }
}
