//! The numbers that change by a plan: the records do not hold them, the manifest does.

use logltn::{Source, Space};
use logltn_train::manifest::{Manifest, Moment, Schedule};
use logltn_train::run_directory::RunDirectory;

/// The schedules of a run.
#[derive(Clone, Debug)]
pub(super) struct Scheduled {
    curves: Vec<(&'static str, Schedule)>,
    steps: u64,
    steps_per_epoch: u64,
}

impl Scheduled {
    /// For a run that declares its length.
    pub(super) fn of(run: &RunDirectory) -> Option<Scheduled> {
        let info = run.info().ok()?;
        let text = logltn_data::read_text(&run.file("manifest.toml")).ok()?;
        if !info.is_noted("manifest.toml", text.as_bytes()) {
            return None;
        }
        let (manifest, _) = Manifest::parse(Source::new("manifest.toml", text), run.path()).ok()?;
        let train = manifest.train.as_ref()?;
        let schedules = manifest.schedule.training();
        let mut curves = vec![("learning rate", train.settings.learning_rate.clone())];
        // What the quantifiers of its semantics have.
        match manifest.semantics.space {
            Space::Log => curves.push(("α", schedules.alpha)),
            Space::Truth | Space::Mixed => {
                curves.push(("p", schedules.p));
                curves.push(("p_forall", schedules.p_forall));
            }
        }
        Some(Scheduled {
            curves,
            steps: info.total?,
            steps_per_epoch: info.steps_per_epoch?.max(1),
        })
    }

    /// Each by its name: what it was in the step that left this many done.
    pub(super) fn curves(&self) -> impl Iterator<Item = (&'static str, impl Fn(f64) -> f64)> {
        self.curves.iter().map(|(name, schedule)| {
            let at = |done: f64| {
                let step = (done as u64).saturating_sub(1);
                schedule.now(Moment {
                    step,
                    steps: self.steps,
                    epoch: step / self.steps_per_epoch,
                    epochs: self.steps.div_ceil(self.steps_per_epoch),
                })
            };
            (*name, at)
        })
    }
}
