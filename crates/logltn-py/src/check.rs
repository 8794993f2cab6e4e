//! What a step takes, for what `logltn check --json` says of a knowledge base in memory.

use std::sync::Arc;
use std::time::Duration;

use logltn::{Engine, Parameters, Plan};
use logltn_cli::CheckedStep;
use rayon::ThreadPool;

/// For how long steps are tried out, to say how long they take.
const BUDGET: Duration = Duration::from_millis(200);

/// What a step takes, about: networks are whoever's they are.
pub fn step(plan: &Arc<Plan>, pool: &Arc<ThreadPool>, defaults: Parameters) -> CheckedStep {
    // One of its own: the knowledge base's shall not know of this.
    let mut engine = Engine::<f32>::new(Arc::clone(plan));
    engine.run_in(Arc::clone(pool));
    let seconds = engine.estimate_seconds(&defaults, BUDGET);
    CheckedStep::of_axioms(engine.groundings(), seconds)
}
