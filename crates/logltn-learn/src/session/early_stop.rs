//! Metrics while training goes on, and the end of a training that gets no better.

use logltn::Diagnostics;

use super::Session;
use crate::state::State;

/// The best that early stopping has seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The value of its metric.
    pub value: f64,
    /// After which step that was measured.
    pub step: u64,
    /// How many evaluations ago.
    pub ago: u64,
    /// Whether the training ends before its last step, because it got no better.
    pub stopped: bool,
    /// The parameters as they were then.
    pub(crate) weights: State,
}

impl Session {
    /// Whether the metrics are due after the step just done.
    pub fn measure_is_due(&self) -> bool {
        let every = self.training.measure_every;
        !self.measures.is_empty()
            && (self.is_done() || every.is_some_and(|n| self.done.is_multiple_of(n.max(1))))
    }

    /// Takes note of metrics for early stopping, and of the parameters if they are the best so far.
    pub fn note_metrics(&mut self, values: &[(String, f64)]) {
        let Some(early) = &self.training.early_stop else {
            return;
        };
        let Some((wanted, kind)) = self.measures.find(&early.metric) else {
            return;
        };
        let Some((_, value)) = values.iter().find(|(name, _)| name == wanted) else {
            return;
        };
        let patience = early.patience;
        match &mut self.best {
            Some(best) if !kind.better().is_better(*value, best.value) => {
                best.ago += 1;
                best.stopped = best.ago >= patience;
            }
            _ => {
                self.best = Some(Best {
                    value: *value,
                    step: self.done,
                    ago: 0,
                    stopped: false,
                    weights: self.weights(),
                });
            }
        }
    }

    /// The best that early stopping has seen so far; none without [early stopping](crate::Training::early_stop), or before the
    /// first evaluation.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// The label of the metric that decides early stopping.
    pub fn early_stop_metric(&self) -> Option<String> {
        let early = self.training.early_stop.as_ref()?;
        let (label, _) = self.measures.find(&early.metric)?;
        Some(label.to_string())
    }

    /// Puts the best parameters that early stopping has seen back, and leaves all else as it is; for the end of a training.
    ///
    /// # Errors
    /// If they are of other networks, which cannot be here.
    pub fn restore_best(&mut self) -> Result<(), Diagnostics> {
        let Some(best) = self.best.take() else {
            return Ok(());
        };
        let restored = self.restore_weights(&best.weights);
        self.best = Some(best);
        restored
    }
}
