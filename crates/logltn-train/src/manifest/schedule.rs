//! Numbers that change during training: `alpha = { linear = [1, 4] }`.

use logltn::{Code, Diagnostic, Parameters};
use logltn_learn::{By, Curve, Schedule, Schedules, Spanned};

use super::reader::{Item, Problems, at_most_one};

/// The two ends of a schedule; a constant has only the first.
#[derive(Clone, Copy)]
pub(super) enum End {
    From,
    To,
}

/// `[schedule]`: α, p and p_forall during training.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled {
    /// α, if it is said.
    pub alpha: Option<Schedule>,
    /// p of pMean.
    pub p: Schedule,
    /// p of pMeanError.
    pub p_forall: Schedule,
}

impl Default for Scheduled {
    fn default() -> Scheduled {
        let Schedules { p, p_forall, .. } = Schedules::default();
        Scheduled {
            alpha: None,
            p,
            p_forall,
        }
    }
}

impl From<Schedules> for Scheduled {
    fn from(Schedules { alpha, p, p_forall }: Schedules) -> Scheduled {
        Scheduled {
            alpha: Some(alpha),
            p,
            p_forall,
        }
    }
}

impl Scheduled {
    /// What training takes: the paper's schedule of α where none is said.
    pub fn training(&self) -> Schedules {
        let alpha = self.alpha.clone();
        Schedules {
            alpha: alpha.unwrap_or_else(Schedules::papers_alpha),
            p: self.p.clone(),
            p_forall: self.p_forall.clone(),
        }
    }

    /// What evaluation takes: the last values; where no schedule of α is said, that of the paper for a trained model,
    /// and α = 1 where nothing was trained.
    pub fn last(&self, trained: bool) -> Parameters {
        let mut last = self.training().last();
        if self.alpha.is_none() && !trained {
            last.alpha = Parameters::default().alpha;
        }
        last
    }
}

/// Reads a number, `{ linear = [a, b] }`, `{ exponential = [a, b] }` or `{ at = [[0, a], [n, b]] }`. `check` says what is wrong with a
/// number at one end, in words that complete "must be …".
pub(super) fn read_schedule(
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
    let what = "a number, { linear = [from, to] }, { exponential = [from, to] } or { at = [[0, value], …] }";
    let mut table = item.table(problems, what)?;
    let (linear, exponential) = (table.take("linear"), table.take("exponential"));
    let at = table.take("at");
    let by = match table.take("by") {
        Some(by) => by
            .one_of(problems, &[("step", By::Step), ("epoch", By::Epoch)])
            .map(|by| by.value),
        None => Some(By::Step),
    };
    table.finish(problems);
    if !at_most_one(problems, &item.path, &[&linear, &exponential, &at]) {
        return None;
    }
    if let Some(at) = at {
        let curve = read_steps(&at, problems, |item, end, problems| {
            read(item, end, problems)
        })?;
        return Some(Spanned::new(Schedule { curve, by: by? }, item.span));
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

/// `[[0, 1], [400, 6]]`: a value from each of these steps or epochs on.
fn read_steps<'d>(
    at: &Item<'d>,
    problems: &mut Problems<'_>,
    mut read: impl FnMut(&Item<'d>, End, &mut Problems<'_>) -> Option<f64>,
) -> Option<Curve> {
    let what = "pairs of a step (or epoch) and the value from there on: [[0, 1], [400, 6]]";
    let pairs = at.items(problems, what)?;
    let mut steps: Vec<(u64, f64)> = Vec::new();
    let mut sound = true;
    for (i, pair) in pairs.iter().enumerate() {
        let members = pair.items(problems, "a pair: [step, value]");
        let Some([from, value]) = members.as_deref() else {
            if members.is_some() {
                let message = format!("`{}`: expected a pair, [step, value]", pair.path);
                problems.error(Code::InvalidSchedule, pair.span, message);
            }
            sound = false;
            continue;
        };
        let end = match i + 1 == pairs.len() {
            true => End::To,
            false => End::From,
        };
        let (step, value) = (
            from.whole(problems, 0, i64::MAX as u64),
            read(value, end, problems),
        );
        let (Some(step), Some(value)) = (step, value) else {
            sound = false;
            continue;
        };
        let wrong = match steps.last() {
            None if i == 0 && step.value != 0 => {
                Some("the first must be 0: what would be the value before?".to_string())
            }
            Some((before, _)) if step.value <= *before => {
                Some(format!("must come after {before}, in ascending order"))
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            problems.push(
                from.span,
                &wrong,
                Diagnostic::error(
                    Code::InvalidSchedule,
                    format!("`{}` is {}: {wrong}", from.path, step.value),
                ),
            );
            sound = false;
        }
        steps.push((step.value, value));
    }
    if pairs.is_empty() {
        let message = format!("`{}` is empty: expected {what}", at.path);
        problems.error(Code::EmptyValue, at.span, message);
        sound = false;
    }
    sound.then(|| Curve::Stepwise(steps.into()))
}

/// One of α, p and p_forall by its name.
pub(super) fn read_parameter(
    name: &'static str,
    item: &Item<'_>,
    problems: &mut Problems<'_>,
) -> Option<Schedule> {
    let check = |v, _| Parameters::check(name, v).map_err(|e| e.expected());
    read_schedule(item, problems, check).map(|read| read.value)
}

/// `[schedule]`.
pub(super) fn read_schedules(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Scheduled> {
    let mut table = item.table(problems, "a table with `alpha`, `p` or `p_forall`")?;
    let [alpha, p, p_forall] = Parameters::NAMES.map(|name| {
        let item = table.take(name)?;
        read_parameter(name, &item, problems)
    });
    table.finish(problems);
    let default = Scheduled::default();
    Some(Scheduled {
        alpha,
        p: p.unwrap_or(default.p),
        p_forall: p_forall.unwrap_or(default.p_forall),
    })
}
