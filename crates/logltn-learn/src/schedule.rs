//! Numbers that change during training: `alpha = { linear = [1, 4] }`.

use std::sync::Arc;

use logltn::Parameters;

/// A number, or a curve from one number to another.
///
/// ```
/// use logltn_learn::{Curve, Moment, Schedule};
/// let at = |step| Moment { step, steps: 101, epoch: 0, epochs: 1 };
/// let alpha = Schedule::linear(1.0, 4.0);
/// assert_eq!(alpha.first(), 1.0);
/// assert_eq!(alpha.now(at(50)), 2.5);
/// assert_eq!(alpha.last(), 4.0);
/// let decay = Schedule::exponential(0.01, 0.0001);
/// assert!((decay.now(at(50)) - 0.001).abs() < 1e-12);
/// let p = Schedule::new(Curve::Stepwise([(0, 1.0), (40, 6.0)].into()));
/// assert_eq!((p.now(at(39)), p.now(at(40)), p.last()), (1.0, 6.0, 6.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The numbers.
    pub curve: Curve,
    /// When the number moves on.
    pub by: By,
}

/// The shape of a schedule.
#[derive(Clone, Debug, PartialEq)]
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
    /// A value from each of these steps or epochs on. The first is 0, and they ascend.
    Stepwise(Arc<[(u64, f64)]>),
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

/// Where a training is. All are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The step that comes next.
    pub step: u64,
    /// How many there are in all.
    pub steps: u64,
    /// The epoch that it is in.
    pub epoch: u64,
    /// How many there are in all.
    pub epochs: u64,
}

impl Schedule {
    /// A schedule that moves at every step.
    pub fn new(curve: Curve) -> Schedule {
        Schedule {
            curve,
            by: By::Step,
        }
    }

    /// A straight line.
    pub fn linear(from: f64, to: f64) -> Schedule {
        Schedule::new(Curve::Linear { from, to })
    }

    /// The same factor in every step; both ends must have the same sign.
    pub fn exponential(from: f64, to: f64) -> Schedule {
        Schedule::new(Curve::Exponential { from, to })
    }

    /// The number at a moment of a training: a curve's first at the first step (or in the first epoch), its last at
    /// the last.
    pub fn now(&self, moment: Moment) -> f64 {
        let (at, of) = match self.by {
            By::Step => (moment.step, moment.steps),
            By::Epoch => (moment.epoch, moment.epochs),
        };
        if let Curve::Stepwise(values) = &self.curve {
            let reached = values.iter().take_while(|(from, _)| *from <= at);
            return reached.last().map_or(self.first(), |(_, value)| *value);
        }
        let progress = match of {
            0 | 1 => 0.0,
            _ => at.min(of - 1) as f64 / (of - 1) as f64,
        };
        let (from, to) = (self.first(), self.last());
        if progress >= 1.0 {
            to
        } else if progress > 0.0 {
            match self.curve {
                Curve::Constant(_) | Curve::Stepwise(_) => from,
                Curve::Linear { .. } => from * (1.0 - progress) + to * progress,
                Curve::Exponential { .. } => from * (to / from).powf(progress),
            }
        } else {
            from
        }
    }

    /// The first number.
    pub fn first(&self) -> f64 {
        match &self.curve {
            Curve::Constant(value) => *value,
            Curve::Linear { from, .. } | Curve::Exponential { from, .. } => *from,
            Curve::Stepwise(values) => values.first().map_or(f64::NAN, |first| first.1),
        }
    }

    /// The last number, which evaluation uses.
    pub fn last(&self) -> f64 {
        match &self.curve {
            Curve::Constant(value) => *value,
            Curve::Linear { to, .. } | Curve::Exponential { to, .. } => *to,
            Curve::Stepwise(values) => values.last().map_or(f64::NAN, |last| last.1),
        }
    }
}

impl From<f64> for Schedule {
    fn from(value: f64) -> Schedule {
        Schedule::new(Curve::Constant(value))
    }
}

/// α, p and p_forall.
#[derive(Clone, Debug, PartialEq)]
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
            alpha: Schedule::from(alpha),
            p: Schedule::from(p),
            p_forall: Schedule::from(p_forall),
        }
    }
}

impl Schedules {
    /// The parameters at a moment of a training.
    pub fn now(&self, moment: Moment) -> Parameters {
        Parameters {
            alpha: self.alpha.now(moment),
            p: self.p.now(moment),
            p_forall: self.p_forall.now(moment),
        }
    }

    /// The parameters at the end of training.
    pub fn last(&self) -> Parameters {
        Parameters {
            alpha: self.alpha.last(),
            p: self.p.last(),
            p_forall: self.p_forall.last(),
        }
    }
}
