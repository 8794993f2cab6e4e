//! Weights and parameters of axioms, changed between steps.

use logltn::{AxiomParameters, Diagnostics};

use super::Session;
use crate::axioms::{AxiomNow, apply, is_named, no_such};
use crate::schedule::Moment;

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
    /// If there is no such axiom, or a parameter is out of range. Nothing has changed then.
    pub fn set_axiom_parameters(
        &mut self,
        axiom: &str,
        parameters: AxiomParameters,
    ) -> Result<(), Diagnostics> {
        self.set_axioms(axiom, |now| {
            now.parameters = parameters;
            now.moving = Default::default();
        })
    }

    fn set_axioms(&mut self, name: &str, set: impl Fn(&mut AxiomNow)) -> Result<(), Diagnostics> {
        let mut axioms = self.axioms.clone();
        let named = axioms.iter_mut().filter(|a| is_named(&a.name, name));
        let known = named.map(set).count() > 0;
        if !known {
            let names = self.axioms.iter().map(|a| a.name.as_str());
            return Err(no_such(name, names).into());
        }
        self.use_axioms(axioms)
    }

    /// Gives the axioms of a phase that have their own schedules the parameters of the next step.
    pub(crate) fn move_axioms(&mut self, phase: usize, moment: Moment) -> Result<(), Diagnostics> {
        let phase = &mut self.phases[phase];
        for (axiom, &place) in phase.axioms.iter().enumerate() {
            if let Some(parameters) = self.axioms[place].at(moment) {
                phase.engine.set_axiom_parameters(axiom, parameters)?;
                self.axioms[place].parameters = parameters;
            }
        }
        Ok(())
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
