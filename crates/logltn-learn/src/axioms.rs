//! What is set for single axioms, and what of it changes between steps: weights, α, p and p_forall.

use std::collections::BTreeMap;

use logltn::{
    AxiomParameters, Code, Diagnostic, Diagnostics, Engine, Plan, PlannedAxiom, Precision, Theory,
    did_you_mean,
};

use crate::schedule::{Curve, Moment, Schedule};

/// What an axiom sets itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxiomSettings {
    /// Instead of the weight in the theory.
    pub weight: Option<f64>,
    /// Instead of the step's, inside this axiom only.
    pub alpha: Option<Schedule>,
    /// Likewise.
    pub p: Option<Schedule>,
    /// Likewise.
    pub p_forall: Option<Schedule>,
    /// How many bindings of its outermost `forall` each training step sees, if not all.
    pub sample: Option<usize>,
}

impl AxiomSettings {
    /// α, p and p_forall at the end of training.
    pub(crate) fn last(&self) -> AxiomParameters {
        let last = |schedule: &Option<Schedule>| schedule.as_ref().map(Schedule::last);
        AxiomParameters {
            alpha: last(&self.alpha),
            p: last(&self.p),
            p_forall: last(&self.p_forall),
        }
    }
}

/// An axiom, a family written out, with its settings as they are.
#[derive(Clone, Debug)]
pub(crate) struct AxiomNow {
    pub name: String,
    pub weight: f64,
    pub parameters: AxiomParameters,
    /// Of α, p and p_forall those that change during training.
    pub moving: [Option<Schedule>; 3],
}

impl AxiomNow {
    /// With the theory's weight and no parameters of its own.
    pub fn planned(axiom: &PlannedAxiom) -> AxiomNow {
        AxiomNow {
            name: axiom.name.clone(),
            weight: axiom.weight,
            parameters: AxiomParameters::default(),
            moving: Default::default(),
        }
    }

    fn give(&mut self, settings: &AxiomSettings) {
        let AxiomSettings {
            weight,
            alpha,
            p,
            p_forall,
            sample: _,
        } = settings;
        self.weight = weight.unwrap_or(self.weight);
        let own = [alpha, p, p_forall];
        let slots = slots(&mut self.parameters)
            .into_iter()
            .zip(&mut self.moving);
        for (given, (slot, moving)) in own.into_iter().zip(slots) {
            if let Some(schedule) = given {
                *slot = Some(schedule.first());
                *moving = (!matches!(schedule.curve, Curve::Constant(_))).then(|| schedule.clone());
            }
        }
    }

    /// Its parameters at a moment; `None` if they are always the same.
    pub fn at(&self, moment: Moment) -> Option<AxiomParameters> {
        if self.moving.iter().all(Option::is_none) {
            return None;
        }
        let mut parameters = self.parameters;
        for (slot, schedule) in slots(&mut parameters).into_iter().zip(&self.moving) {
            if let Some(schedule) = schedule {
                *slot = Some(schedule.now(moment));
            }
        }
        Some(parameters)
    }
}

fn slots(parameters: &mut AxiomParameters) -> [&mut Option<f64>; 3] {
    let AxiomParameters { alpha, p, p_forall } = parameters;
    [alpha, p, p_forall]
}

/// Gives axioms, or families, or members of families what they have of their own. A member's beats its family's.
pub(crate) fn give(
    theory: &Theory,
    axioms: &mut [AxiomNow],
    settings: &BTreeMap<String, AxiomSettings>,
) -> Result<(), Diagnostics> {
    let mut unknown = Diagnostics::new();
    // `each` comes before `each[1]` in the order of names.
    for (name, settings) in settings {
        let named = axioms.iter_mut().filter(|a| is_named(&a.name, name));
        // A family that has no members is known anyway.
        let known = theory.axioms.iter().any(|axiom| axiom.name == *name);
        if named.map(|axiom| axiom.give(settings)).count() == 0 && !known {
            unknown.push(no_such(name, axioms.iter().map(|a| a.name.as_str())));
        }
    }
    unknown.into_result(()).map(|_| ())
}

/// Whether an axiom has this name, or its family.
pub(crate) fn is_named(axiom: &str, name: &str) -> bool {
    axiom == name || axiom.split('[').next() == Some(name)
}

/// So many axioms are named; a family can have thousands.
pub(crate) const NAMED: usize = 4;

/// `` `a`, `b` and 3 more ``.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED);
    let mut list: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED {
        list.push(format!("{} more", names.len() - NAMED));
    }
    let last = list.pop().unwrap_or_default();
    match list.is_empty() {
        true => last,
        false => format!("{} and {last}", list.join(", ")),
    }
}

/// Whether these, where they are members of families, `each[ann]`, are among the axioms of a plan.
///
/// # Errors
/// With the first that is not.
pub fn check_members<'n>(
    plan: &Plan,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<(), Diagnostics> {
    let all = plan.axioms().iter().map(|axiom| axiom.name.as_str());
    let is_there = |name: &str| !name.ends_with(']') || all.clone().any(|known| known == name);
    match names.into_iter().find(|name| !is_there(name)) {
        Some(name) => Err(no_such(name, all).into()),
        None => Ok(()),
    }
}

pub(crate) fn no_such<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> Diagnostic {
    Diagnostic::error(
        Code::UnknownAxiom,
        format!("the theory has no axiom `{name}`"),
    )
    .maybe_help(did_you_mean(name, names))
}

/// Gives the axioms of an engine what they have of their own, by name, at the end of training: weights, and the last
/// values of α, p and p_forall.
///
/// # Errors
/// If there is no such axiom, or a number is out of range.
pub fn set_axioms<T: Precision>(
    engine: &mut Engine<T>,
    settings: &BTreeMap<String, AxiomSettings>,
) -> Result<(), Diagnostics> {
    if settings.is_empty() {
        return Ok(());
    }
    let mut axioms: Vec<AxiomNow> = (engine.plan().axioms().iter())
        .map(AxiomNow::planned)
        .collect();
    give(engine.plan().data().theory(), &mut axioms, settings)?;
    let axioms = at_last(&axioms);
    let all: Vec<usize> = (0..axioms.len()).collect();
    apply(engine, &all, &axioms)
}

/// The same axioms with their last values of α, p and p_forall.
pub(crate) fn at_last(axioms: &[AxiomNow]) -> Vec<AxiomNow> {
    let mut axioms = axioms.to_vec();
    for axiom in &mut axioms {
        let moving = axiom.moving.iter();
        for (slot, schedule) in slots(&mut axiom.parameters).into_iter().zip(moving) {
            *slot = schedule.as_ref().map_or(*slot, |s| Some(s.last()));
        }
    }
    axioms
}

/// Gives an engine the settings of its axioms, whose places among all these are.
pub(crate) fn apply<T: Precision>(
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
