//! Numbers that change during training: `alpha = { linear = [1, 4] }`.

use logltn::{Code, Diagnostic, Parameters};

use super::reader::{Item, Problems, at_most_one};
use super::spanned::Spanned;

/// A number, or a curve from one number to another.
///
/// ```
/// use logltn_train::manifest::{Curve, Schedule};
/// let alpha = Schedule::new(Curve::Linear { from: 1.0, to: 4.0 });
/// assert_eq!(alpha.at(0.0), 1.0);
/// assert_eq!(alpha.at(0.5), 2.5);
/// assert_eq!(alpha.last(), 4.0);
/// let decay = Schedule::new(Curve::Exponential { from: 0.01, to: 0.0001 });
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

/// The two ends of a schedule; a constant has only the first.
#[derive(Clone, Copy)]
pub(super) enum End {
    From,
    To,
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

    /// Reads a number, `{ linear = [a, b] }` or `{ exponential = [a, b] }`. `check` says what is wrong with a
    /// number at one end, in words that complete "must be …".
    pub(super) fn read(
        item: &Item<'_>,
        problems: &mut Problems<'_>,
        check: impl Fn(f64, End) -> Result<(), &'static str>,
    ) -> Option<Spanned<Schedule>> {
        let read = |item: &Item<'_>, end: End, problems: &mut Problems<'_>| {
            let number = item.number(problems)?;
            if let Err(range) = check(number.value, end) {
                item.number_where(problems, range, |_| false)?;
            }
            Some(number.value)
        };
        if item.is_number() {
            return Some(Spanned::new(
                Schedule::constant(read(item, End::From, problems)?),
                item.span,
            ));
        }
        let what = "a number, { linear = [from, to] } or { exponential = [from, to] }";
        let mut table = item.table(problems, what)?;
        let (linear, exponential) = (table.take("linear"), table.take("exponential"));
        let by = match table.take("by") {
            Some(by) => by
                .one_of(problems, &[("step", By::Step), ("epoch", By::Epoch)])
                .map(|by| by.value),
            None => Some(By::Step),
        };
        table.finish(problems);
        if !at_most_one(problems, &item.path, &[&linear, &exponential]) {
            return None;
        }
        let is_linear = linear.is_some();
        let Some(curve) = linear.or(exponential) else {
            problems.push(
                item.span,
                "no schedule",
                Diagnostic::error(
                    Code::InvalidSchedule,
                    format!("`{}`: expected {what}", item.path),
                ),
            );
            return None;
        };
        let ends = curve.items(problems, "two numbers: [from, to]")?;
        let [from, to] = ends.as_slice() else {
            problems.error(
                Code::InvalidSchedule,
                curve.span,
                format!(
                    "`{}`: expected two numbers, [from, to], found {}",
                    curve.path,
                    ends.len()
                ),
            );
            return None;
        };
        let (from_value, to_value) = (read(from, End::From, problems), read(to, End::To, problems));
        let (from_value, to_value) = (from_value?, to_value?);
        // There is no factor that leads from one sign to the other, or to 0.
        if !is_linear && from_value * to_value <= 0.0 {
            problems.push(
                curve.span,
                "needs two numbers of the same sign",
                Diagnostic::error(
                    Code::InvalidSchedule,
                    format!(
                        "`{}`: nothing grows exponentially from {from_value} to {to_value}",
                        curve.path
                    ),
                )
                .help("use `linear`"),
            );
            return None;
        }
        let (from, to) = (from_value, to_value);
        Some(Spanned::new(
            Schedule {
                curve: if is_linear {
                    Curve::Linear { from, to }
                } else {
                    Curve::Exponential { from, to }
                },
                by: by?,
            },
            item.span,
        ))
    }
}

/// `[schedule]`: α, p and p_forall.
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
        let at = |schedule: &Schedule| {
            schedule.at(match schedule.by {
                By::Step => by_step,
                By::Epoch => by_epoch,
            })
        };
        Parameters {
            alpha: at(&self.alpha),
            p: at(&self.p),
            p_forall: at(&self.p_forall),
        }
    }

    /// The parameters at the end of training.
    pub fn last(&self) -> Parameters {
        self.at(1.0, 1.0)
    }

    pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Schedules> {
        let mut table = item.table(problems, "a table with `alpha`, `p` or `p_forall`")?;
        let mut schedules = Schedules::default();
        let slots = [
            &mut schedules.alpha,
            &mut schedules.p,
            &mut schedules.p_forall,
        ];
        for (name, slot) in Parameters::NAMES.into_iter().zip(slots) {
            let check = |v, _| Parameters::check(name, v).map_err(|e| e.expected());
            if let Some(read) = table
                .take(name)
                .and_then(|item| Schedule::read(&item, problems, check))
            {
                *slot = read.value;
            }
        }
        table.finish(problems);
        Some(schedules)
    }
}
