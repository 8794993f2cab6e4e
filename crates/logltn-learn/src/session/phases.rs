//! The phases of a training, each with a plan of its axioms.

use std::sync::Arc;

use logltn::{Code, Data, Diagnostic, Diagnostics, Engine, Output, Plan, Semantics};

use crate::axioms::AxiomNow;
use crate::knowledge::KnowledgeBase;
use crate::slow_work::thousands;
use crate::training::{Length, MOST_STEPS, Training};

pub(crate) struct Phase {
    pub engine: Engine<f32>,
    /// The first step after it.
    pub end: u64,
    /// Its axioms' places among all.
    pub axioms: Vec<usize>,
}

/// The phases of a training, and how many steps they have together.
pub(super) fn plan_phases(
    knowledge: &KnowledgeBase,
    training: &Training,
    seen: &Data,
    whole: &Arc<Plan>,
    (axioms, steps_per_epoch): (&[AxiomNow], u64),
) -> Result<(Vec<Phase>, u64), Diagnostics> {
    let mut phases = Vec::new();
    let mut end: u64 = 0;
    for spec in &training.phases {
        let steps = match spec.length {
            Length::Steps(steps) => steps,
            Length::Epochs(epochs) => epochs.saturating_mul(steps_per_epoch),
        };
        end = end.saturating_add(steps);
        let plan = match &spec.axioms {
            None => Arc::clone(whole),
            Some(names) => Arc::new(plan_of(
                seen,
                &knowledge.outputs,
                &training.semantics,
                names,
            )?),
        };
        if plan.axioms().iter().all(|axiom| axiom.hard) {
            let what = "there is nothing to train: all axioms are laws, which hold in every world";
            return Err(Diagnostic::error(Code::NothingToTrain, what)
                .help("add an axiom about observations, or remove `hard` from one")
                .into());
        }
        phases.push(phase(plan, axioms, end));
    }
    if end > MOST_STEPS {
        let what = format!(
            "the training has {} steps, more than {}, the most that are allowed",
            thousands(end.into()),
            thousands(MOST_STEPS.into())
        );
        return Err(Diagnostic::error(Code::ValueOutOfRange, what)
            .help("fewer steps or epochs, or larger batches")
            .into());
    }
    Ok((phases, end))
}

fn phase(plan: Arc<Plan>, axioms: &[AxiomNow], end: u64) -> Phase {
    // Both are in the order of the theory.
    let mut all = axioms.iter().enumerate();
    let places = (plan.axioms().iter())
        .filter_map(|a| Some(all.find(|(_, now)| now.name == a.name)?.0))
        .collect();
    Phase {
        engine: Engine::new(plan),
        end,
        axioms: places,
    }
}

/// The plan of some axioms.
fn plan_of(
    data: &Data,
    outputs: &[Output],
    semantics: &Semantics,
    names: &[String],
) -> Result<Plan, Diagnostics> {
    let named = |name: &str| names.iter().any(|n| n == name);
    let family = |name: &str| name.split('[').next().unwrap_or(name).to_string();
    let member_named = |axiom: &str| names.iter().any(|n| family(n) == axiom);
    // Phases choose observations, never laws.
    let is_law = |axiom: &str| semantics.exact && data.has_laws_of(axiom);
    let data = data.with_axioms(|axiom| member_named(&axiom.name) || is_law(&axiom.name));
    let mut plan = Plan::new(&data, outputs, semantics)?;
    plan.retain_axioms(|axiom| named(&axiom.name) || named(&family(&axiom.name)));
    Ok(plan)
}
