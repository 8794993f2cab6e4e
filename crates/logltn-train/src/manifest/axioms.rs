//! `[axioms]`: what single axioms or families have of their own.

use std::collections::BTreeMap;

use logltn::Parameters;
use logltn_learn::{AxiomSettings, Schedule};

use super::Manifest;
use super::reader::{Item, Problems};
use super::schedule::read_parameter;
use super::symbols::flatten;

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
}

impl Axiom {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Axiom> {
        let what = "a table with `weight`, `alpha`, `p`, `p_forall` or `sample`";
        let mut table = item.table(problems, what)?;
        let weight = table
            .take("weight")
            .map(|item| item.number_where(problems, "at least 0 and finite", |w| w >= 0.0));
        let [alpha, p, p_forall] = Parameters::NAMES.map(|name| {
            table
                .take(name)
                .map(|item| read_parameter(name, &item, problems))
        });
        let sample = table.take("sample");
        table.finish(problems);
        let sample = sample.map(|item| item.size(problems, u64::from(u32::MAX)));
        Some(Axiom {
            weight: flatten(weight)?.map(|weight| weight.value),
            alpha: flatten(alpha)?,
            p: flatten(p)?,
            p_forall: flatten(p_forall)?,
            sample: flatten(sample)?.map(|sample| sample.value),
        })
    }
}

impl Manifest {
    /// What single axioms have of their own, for a session or an engine.
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
