//! `[axioms]`: settings of single axioms or families.

use std::collections::BTreeMap;

use logltn::Parameters;
use logltn_learn::{AxiomSettings, Schedule};

use super::Manifest;
use super::reader::Item;
use super::schedule::read_parameter;

/// `[axioms.NAME]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axiom {
    /// Instead of the weight in the theory.
    pub weight: Option<f64>,
    /// Inside this axiom only, instead of the schedule's, the flags' and the call's.
    pub alpha: Option<Schedule>,
    /// Likewise.
    pub p: Option<Schedule>,
    /// Likewise.
    pub p_forall: Option<Schedule>,
    /// How many bindings of its outermost `forall` each training step sees, if not all.
    pub sample: Option<usize>,
    /// Whether it is a law: it holds in every world.
    pub hard: bool,
}

impl Axiom {
    pub(super) fn read(item: &Item<'_>) -> Option<Axiom> {
        let mut table = item.table()?;
        let [alpha, p, p_forall] =
            Parameters::NAMES.map(|name| table.read(name, |item| read_parameter(name, item)));
        let axiom = Axiom {
            weight: table.number("weight"),
            alpha,
            p,
            p_forall,
            sample: table.size("sample").map(|n| n.value),
            hard: table.flag("hard"),
        };
        table.end()?;
        Some(axiom)
    }
}

impl Manifest {
    /// The names of the axioms and families that are laws.
    pub fn laws(&self) -> impl Iterator<Item = &str> {
        let hard = self.axioms.iter().filter(|(_, axiom)| axiom.hard);
        hard.map(|(name, _)| name.as_str())
    }

    /// The settings of single axioms, for a session or an engine.
    pub fn axiom_settings(&self) -> BTreeMap<String, AxiomSettings> {
        let settings = |axiom: &Axiom| AxiomSettings {
            weight: axiom.weight,
            alpha: axiom.alpha.clone(),
            p: axiom.p.clone(),
            p_forall: axiom.p_forall.clone(),
            sample: axiom.sample,
        };
        (self.axioms.iter())
            .map(|(name, axiom)| (name.clone(), settings(axiom)))
            .collect()
    }
}
