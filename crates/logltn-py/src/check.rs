//! What a step costs, for `logltn check --json` of a knowledge base in memory.

use std::sync::Arc;
use std::time::Duration;

use logltn::{Engine, Parameters, Plan};
use logltn_cli::CheckedStep;
use rayon::ThreadPool;

/// How long to run trial steps for the time estimate.
const BUDGET: Duration = Duration::from_millis(200);

/// The approximate cost of a step, without the networks, which are the caller's.
pub fn step(plan: &Arc<Plan>, pool: &Arc<ThreadPool>, defaults: Parameters) -> CheckedStep {
    // A separate engine: the knowledge base's own must not change.
    let mut engine = Engine::<f32>::new(Arc::clone(plan));
    engine.run_in(Arc::clone(pool));
    let seconds = engine.estimate_seconds(&defaults, BUDGET, true);
    CheckedStep::of_axioms(engine.groundings(), seconds)
}
