//! What breaks the axioms at the end of a training, for the report.

use logltn_dashboard::violated as shown;
use logltn_report::Violated;
use logltn_train::train::Trainer;

/// How many axioms, and bindings of each, a page has room for.
const MOST_AXIOMS: usize = 40;
const SHOWN: usize = 5;

/// The worst bindings of each axiom; empty if there are too many, or if the networks cannot be evaluated. A finished
/// run does not fail because of its report.
pub fn violated(trainer: &mut Trainer) -> Vec<Violated> {
    let parameters = trainer.project().manifest.schedule.last(true);
    let Ok(Some(explained)) = trainer.explain_first(MOST_AXIOMS, &parameters, SHOWN) else {
        return Vec::new();
    };
    let (knowledge, semantics) = (trainer.knowledge().clone(), trainer.training().semantics);
    let mut predict = |id, rows: &[u32]| trainer.model_mut().predict(id, rows, 1).ok();
    (explained.axioms.iter())
        .take(MOST_AXIOMS)
        .map(|axiom| shown(&knowledge, &semantics, axiom, &mut predict))
        .collect()
}
