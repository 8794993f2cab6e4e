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

/// Reads a number, `{ linear = [a, b] }` or `{ exponential = [a, b] }`. `check` says what is wrong with a
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

/// `[schedule]`: α, p and p_forall.
pub(super) fn read_schedules(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Schedules> {
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
            .and_then(|item| read_schedule(&item, problems, check))
        {
            *slot = read.value;
        }
    }
    table.finish(problems);
    Some(schedules)
}
