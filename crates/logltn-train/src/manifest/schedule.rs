//! Numbers that change during training: `alpha = { linear = [1, 4] }`.

use logltn::{Code, Diagnostic, Parameters};
use logltn_learn::{By, Curve, Schedule, Schedules, Spanned};

use super::reader::Item;

pub(super) const UNITS_OF_TIME: [(&str, By); 2] = [("step", By::Step), ("epoch", By::Epoch)];

/// The two ends of a schedule; a constant has only the first.
#[derive(Clone, Copy)]
pub(super) enum End {
    From,
    To,
}

/// `[schedule]`: α, p and p_forall during training, where they are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduled {
    /// α.
    pub alpha: Option<Schedule>,
    /// p of pMean.
    pub p: Option<Schedule>,
    /// p of pMeanError.
    pub p_forall: Option<Schedule>,
}

/// The paper's schedule of α, which training takes where none is given: a line from 1 to 4.
pub(crate) fn papers_alpha() -> Schedule {
    Schedule::linear(1.0, 4.0)
}

impl Scheduled {
    /// The parameters of training: the paper's schedule of α by default.
    pub fn training(&self) -> Schedules {
        let Scheduled { alpha, p, p_forall } = self.clone();
        let usual = Schedules::default();
        Schedules {
            alpha: alpha.unwrap_or_else(papers_alpha),
            p: p.unwrap_or(usual.p),
            p_forall: p_forall.unwrap_or(usual.p_forall),
        }
    }

    /// The parameters of evaluation: the last values. Without a schedule of α, that of the paper for a trained model,
    /// and α = 1 where nothing was trained.
    pub fn last(&self, trained: bool) -> Parameters {
        let mut last = self.training().last();
        if self.alpha.is_none() && !trained {
            last.alpha = Parameters::default().alpha;
        }
        last
    }
}

/// Reads a number, `{ linear = [a, b] }`, `{ exponential = [a, b] }` or `{ at = [[0, a], [n, b]] }`. `check` returns
/// the error of a number at one end, in words that complete "must be …".
pub(super) fn read_schedule(
    item: &Item<'_>,
    check: impl Fn(f64, End) -> Result<(), &'static str>,
) -> Option<Spanned<Schedule>> {
    let read = |item: &Item<'_>, end: End| {
        let number = item.number()?;
        if let Err(range) = check(number.value, end) {
            item.out_of_range::<()>(range)?;
        }
        Some(number.value)
    };
    if item.is_number() {
        let constant = Schedule::from(read(item, End::From)?);
        return Some(Spanned::new(constant, item.span));
    }
    let mut table = item.table()?;
    let [linear, exponential, at] = ["linear", "exponential", "at"].map(|key| table.take(key));
    let by = table.read("by", |by| by.one_of(&UNITS_OF_TIME));
    let by = by.map_or(By::Step, |by| by.value);
    let expected = table.group.expected;
    let sound = table.end();
    let curve = if let Some(at) = at {
        read_steps(&at, read)
    } else if let Some(ends) = linear {
        read_ends(&ends, read).map(|(from, to)| Curve::Linear { from, to })
    } else if let Some(ends) = exponential {
        let (from, to) = read_ends(&ends, read)?;
        // No factor leads from one sign to the other, or to 0.
        if from * to <= 0.0 {
            let path = &ends.path;
            let what = format!("`{path}`: nothing grows exponentially from {from} to {to}");
            let error = Diagnostic::error(Code::InvalidSchedule, what).help("use `linear`");
            ends.wrong("needs two numbers of the same sign", error);
            return None;
        }
        Some(Curve::Exponential { from, to })
    } else {
        let message = format!("`{}`: expected {expected}", item.path);
        item.wrong(
            "no schedule",
            Diagnostic::error(Code::InvalidSchedule, message),
        );
        None
    };
    let schedule = Schedule { curve: curve?, by };
    sound.map(|()| Spanned::new(schedule, item.span))
}

/// `[1, 4]`: from one number to another.
fn read_ends<'d>(
    ends: &Item<'d>,
    read: impl Fn(&Item<'d>, End) -> Option<f64>,
) -> Option<(f64, f64)> {
    let items = ends.items()?;
    let [from, to] = items.as_slice() else {
        let (path, found) = (&ends.path, items.len());
        let what = format!("`{path}`: expected two numbers, [from, to], found {found}");
        ends.wrong("", Diagnostic::error(Code::InvalidSchedule, what));
        return None;
    };
    let (from, to) = (read(from, End::From), read(to, End::To));
    Some((from?, to?))
}

/// `[[0, 1], [400, 6]]`: a value from each of these steps or epochs on.
fn read_steps<'d>(at: &Item<'d>, read: impl Fn(&Item<'d>, End) -> Option<f64>) -> Option<Curve> {
    let pairs = at.items()?;
    let mut steps: Vec<(u64, f64)> = Vec::new();
    let before = at.problems.count();
    for (i, pair) in pairs.iter().enumerate() {
        let members = pair.items();
        let Some([from, value]) = members.as_deref() else {
            if members.is_some() {
                let message = format!("`{}`: expected a pair, [step, value]", pair.path);
                pair.wrong("", Diagnostic::error(Code::InvalidSchedule, message));
            }
            continue;
        };
        let end = match i + 1 == pairs.len() {
            true => End::To,
            false => End::From,
        };
        let (step, value) = (from.whole(), read(value, end));
        let (Some(step), Some(value)) = (step, value) else {
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
            let what = format!("`{}` is {}: {wrong}", from.path, step.value);
            from.wrong(&wrong, Diagnostic::error(Code::InvalidSchedule, what));
        }
        steps.push((step.value, value));
    }
    if pairs.is_empty() {
        at.refuse_empty(&format!("expected {}", at.array().0));
    }
    (at.problems.count() == before).then(|| Curve::Stepwise(steps.into()))
}

/// One of α, p and p_forall by its name.
pub(super) fn read_parameter(name: &'static str, item: &Item<'_>) -> Option<Schedule> {
    let check = |v, _| Parameters::check(name, v).map_err(|_| Parameters::expected(name));
    read_schedule(item, check).map(|read| read.value)
}

/// `[schedule]`.
pub(super) fn read_schedules(item: &Item<'_>) -> Option<Scheduled> {
    let table = item.table()?;
    let [alpha, p, p_forall] = Parameters::NAMES.map(|name| {
        let item = table.take(name)?;
        read_parameter(name, &item)
    });
    table.end();
    Some(Scheduled { alpha, p, p_forall })
}
