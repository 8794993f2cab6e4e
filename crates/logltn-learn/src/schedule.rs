//! Numbers that change during training: `alpha = { linear = [1, 4] }`.

use logltn::Parameters;

/// A number, or a curve from one number to another.
///
/// ```
/// use logltn_learn::Schedule;
/// let alpha = Schedule::linear(1.0, 4.0);
/// assert_eq!(alpha.at(0.0), 1.0);
/// assert_eq!(alpha.at(0.5), 2.5);
/// assert_eq!(alpha.last(), 4.0);
/// let decay = Schedule::exponential(0.01, 0.0001);
/// assert!((decay.at(0.5) - 0.001).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The numbers.
    pub curve: Curve,
    /// When the number moves on.
    pub by: By,
}

/// The shape of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// Always the same.
    Constant(f64),
    /// A straight line.
    Linear {
        /// At the start.
        from: f64,
        /// At the end.
        to: f64,
    },
    /// The same factor in every step; both ends have the same sign.
    Exponential {
        /// At the start.
        from: f64,
        /// At the end.
        to: f64,
    },
}

/// When a schedule moves on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// At every step.
    #[default]
    Step,
    /// Between epochs.
    Epoch,
}

impl Schedule {
    /// A schedule that moves at every step.
    pub fn new(curve: Curve) -> Schedule {
        Schedule {
            curve,
            by: By::Step,
        }
    }

    /// Always `value`.
    pub fn constant(value: f64) -> Schedule {
        Schedule::new(Curve::Constant(value))
    }

    /// A straight line.
    pub fn linear(from: f64, to: f64) -> Schedule {
        Schedule::new(Curve::Linear { from, to })
    }

    /// The same factor in every step; both ends must have the same sign.
    pub fn exponential(from: f64, to: f64) -> Schedule {
        Schedule::new(Curve::Exponential { from, to })
    }

    /// The same, moving between epochs only.
    pub fn by_epoch(self) -> Schedule {
        Schedule {
            by: By::Epoch,
            ..self
        }
    }

    /// The number at a progress by steps and one by epochs, each from 0 to 1.
    pub fn now(&self, by_step: f64, by_epoch: f64) -> f64 {
        self.at(match self.by {
            By::Step => by_step,
            By::Epoch => by_epoch,
        })
    }

    /// The number at `progress`, from 0 (the first step or epoch) to 1 (the last). Both ends are exact, and
    /// progress outside is taken as the nearer end.
    pub fn at(&self, progress: f64) -> f64 {
        let (from, to) = match self.curve {
            Curve::Constant(value) => (value, value),
            Curve::Linear { from, to } | Curve::Exponential { from, to } => (from, to),
        };
        if progress >= 1.0 {
            to
        } else if progress > 0.0 {
            match self.curve {
                Curve::Constant(value) => value,
                Curve::Linear { .. } => from * (1.0 - progress) + to * progress,
                Curve::Exponential { .. } => from * (to / from).powf(progress),
            }
        } else {
            from
        }
    }

    /// The first number.
    pub fn first(&self) -> f64 {
        self.at(0.0)
    }

    /// The last number, which evaluation uses.
    pub fn last(&self) -> f64 {
        self.at(1.0)
    }
}

impl From<f64> for Schedule {
    fn from(value: f64) -> Schedule {
        Schedule::constant(value)
    }
}

/// α, p and p_forall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedules {
    /// α of LogMeanExp and LogSumExp.
    pub alpha: Schedule,
    /// p of pMean.
    pub p: Schedule,
    /// p of pMeanError.
    pub p_forall: Schedule,
}

impl Default for Schedules {
    fn default() -> Schedules {
        let Parameters { alpha, p, p_forall } = Parameters::default();
        Schedules {
            alpha: Schedule::constant(alpha),
            p: Schedule::constant(p),
            p_forall: Schedule::constant(p_forall),
        }
    }
}

impl Schedules {
    /// The parameters at a progress by steps and one by epochs, each from 0 to 1.
    pub fn at(&self, by_step: f64, by_epoch: f64) -> Parameters {
        Parameters {
            alpha: self.alpha.now(by_step, by_epoch),
            p: self.p.now(by_step, by_epoch),
            p_forall: self.p_forall.now(by_step, by_epoch),
        }
    }

    /// The parameters at the end of training.
    pub fn last(&self) -> Parameters {
        self.at(1.0, 1.0)
    }
}
