//! `[axioms]`: settings of single axioms or families.

use std::collections::BTreeMap;

use logltn::{Parameters, Span};
use logltn_learn::AxiomSettings;

use super::Manifest;
use super::reader::Item;
use super::schedule::read_parameter;

/// `[axioms.NAME]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axiom {
    /// What it sets: α, p and p_forall inside this axiom only, instead of the schedule's, the flags' and the call's.
    pub settings: AxiomSettings,
    /// Whether it is a law: it holds in every world.
    pub hard: bool,
}

impl Axiom {
    pub(super) fn read(item: &Item<'_>) -> Option<Axiom> {
        let mut table = item.table()?;
        let [alpha, p, p_forall] =
            Parameters::NAMES.map(|name| table.read(name, |item| read_parameter(name, item)));
        let settings = AxiomSettings {
            weight: table.number("weight"),
            alpha,
            p,
            p_forall,
            sample: table.size("sample").map(|n| n.value),
        };
        let hard = table.flag("hard");
        table.end()?;
        Some(Axiom { settings, hard })
    }
}

impl Manifest {
    /// The names of the axioms and families that are laws.
    pub fn laws(&self) -> impl Iterator<Item = &str> {
        let hard = self.axioms.iter().filter(|(_, axiom)| axiom.hard);
        hard.map(|(name, _)| name.as_str())
    }

    /// The axioms that it names, in `[axioms]` and in phases, and where.
    pub(crate) fn named_axioms(&self) -> impl Iterator<Item = (&str, Span)> {
        let train = self.train.as_ref();
        let phases = train.map_or(&[][..], |train| &train.phases).iter();
        let in_phases = phases.flat_map(|phase| phase.axioms.iter().flatten());
        let own = (self.axioms.iter()).map(|(name, axiom)| (name.as_str(), axiom.span));
        own.chain(in_phases.map(|axiom| (axiom.as_str(), axiom.span)))
    }

    /// The settings of single axioms, for a session or an engine.
    pub fn axiom_settings(&self) -> BTreeMap<String, AxiomSettings> {
        let own = self.axioms.iter();
        own.map(|(name, axiom)| (name.clone(), axiom.settings.clone()))
            .collect()
    }
}
