//! What breaks the axioms at the end of a training, for the report.

use logltn::memory;
use logltn_dashboard::violated as shown;
use logltn_report::Violated;
use logltn_train::train::Trainer;

/// More groundings than these are gone through when somebody asks, not at the end of every training.
const MOST_GROUNDINGS: u128 = 10_000_000;
/// How many axioms, and bindings of each, a page has room for.
const MOST_AXIOMS: usize = 40;
const SHOWN: usize = 5;

/// The worst bindings of each axiom; none where there are too many, or where what was learnt cannot be asked. A run that
/// is finished does not fail for its report.
pub fn violated(trainer: &mut Trainer) -> Vec<Violated> {
    let axioms = trainer.plan().axioms();
    let groundings: u128 = axioms.iter().map(|axiom| axiom.groundings).sum();
    // It takes a plan of its own.
    let plan = trainer.plan();
    let room = memory::ask(3 * plan.memory_bytes() as u128 + 1400 * plan.parts() as u128);
    if groundings > MOST_GROUNDINGS || room.is_err() {
        return Vec::new();
    }
    let parameters = trainer.project().manifest.schedule.last(true);
    let Ok(explained) = trainer.explain(None, &parameters, SHOWN) else {
        return Vec::new();
    };
    let (knowledge, semantics) = (trainer.knowledge().clone(), *trainer.semantics());
    let mut predict = |id, rows: &[u32]| trainer.model_mut().predict(id, rows, 1).ok();
    (explained.axioms.iter())
        .take(MOST_AXIOMS)
        .map(|axiom| shown(&knowledge, &semantics, axiom, &mut predict))
        .collect()
}
