//! Dates as numbers: days since 1970-01-01, with the time of day as a share of a day.

use serde::{Deserialize, Serialize};

/// How the dates of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DateForm {
    /// `2024-02-29`, also with `/`; and with a time, `2024-02-29T13:05:00Z`.
    YearMonthDay,
    /// `29.2.2024`, `29/2/2024`.
    DayMonthYear,
    /// `2/29/2024`.
    MonthDayYear,
}

impl DateForm {
    /// The form that fits all cells, and whether another one would fit as well.
    pub(crate) fn of<'c>(cells: impl Iterator<Item = &'c str> + Clone) -> Option<(Self, bool)> {
        let fits = |form: &Self| cells.clone().all(|cell| form.days(cell).is_some());
        let mut fitting = [Self::YearMonthDay, Self::MonthDayYear, Self::DayMonthYear]
            .into_iter()
            .filter(fits);
        let first = fitting.next()?;
        Some((first, fitting.next().is_some()))
    }

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::YearMonthDay => "year-month-day",
            Self::DayMonthYear => "day/month/year",
            Self::MonthDayYear => "month/day/year",
        }
    }

    /// Days since 1970-01-01.
    pub(crate) fn days(self, cell: &str) -> Option<f64> {
        let (date, time) = match cell.split_once(['T', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (cell, None),
        };
        let separator = date.chars().find(|c| !c.is_ascii_digit())?;
        let dotted = separator == '.';
        if !matches!(separator, '-' | '/' | '.') || (dotted && self != Self::DayMonthYear) {
            return None;
        }
        let parts: Vec<&str> = date.split(separator).collect();
        let [a, b, c] = parts[..] else { return None };
        let (year, month, day) = match self {
            Self::YearMonthDay => (a, b, c),
            Self::DayMonthYear => (c, b, a),
            Self::MonthDayYear => (c, a, b),
        };
        // Two digits do not tell the century.
        let digits = |text: &str, least: usize, most: usize| {
            let plain = text.bytes().all(|b| b.is_ascii_digit());
            (plain && (least..=most).contains(&text.len()))
                .then(|| text.parse::<i64>().ok())
                .flatten()
        };
        let days = civil(
            digits(year, 4, 4)?,
            digits(month, 1, 2)?,
            digits(day, 1, 2)?,
        )?;
        Some(days as f64 + time.map_or(Some(0.0), time_of_day)?)
    }
}

/// Days since 1970-01-01, if the day exists.
fn civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// `13:05`, `13:05:00.5`, with `Z` or an offset such as `+02:00`, as a share of a day.
fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim();
    let (clock, offset) = match text.find(['Z', '+', '-']) {
        Some(at) => (&text[..at], &text[at..]),
        None => (text, ""),
    };
    let mut parts = clock.split(':');
    let mut number = |most: f64| {
        let part = parts.next()?;
        let value: f64 = part.parse().ok()?;
        let plain = part.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        (plain && (0.0..=most).contains(&value)).then_some(value)
    };
    let (hours, minutes) = (number(24.0)?, number(59.0)?);
    let seconds = match clock.split(':').count() {
        2 => 0.0,
        3 => number(60.0)?,
        _ => return None,
    };
    let shift = match offset {
        "" | "Z" => 0.0,
        _ => {
            let sign = if offset.starts_with('-') { -1.0 } else { 1.0 };
            let digits: String = offset[1..].chars().filter(|c| *c != ':').collect();
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            let (h, m) = match digits.len() {
                2 if plain => (digits.parse::<f64>().ok()?, 0.0),
                4 if plain => (digits[..2].parse().ok()?, digits[2..].parse().ok()?),
                _ => return None,
            };
            sign * (h * 3600.0 + m * 60.0)
        }
    };
    Some((hours * 3600.0 + minutes * 60.0 + seconds - shift) / 86_400.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        let days = |cell| DateForm::YearMonthDay.days(cell);
        assert_eq!(days("1970-01-01"), Some(0.0));
        assert_eq!(days("2000-03-01"), Some(11_017.0));
        assert_eq!(days("1969-12-31"), Some(-1.0));
        assert_eq!(days("1970-01-02T12:00:00Z"), Some(1.5));
        assert_eq!(days("1970-01-02 14:00+02:00"), Some(1.5));
        for wrong in [
            "2023-02-29",
            "1970-13-01",
            "70-01-01",
            "1970-1",
            "1970-01-01T25:00",
            "a-b-c",
            "",
            "1.2.3",
            "１９７０-01-01",
            "1970-01-01T+1:00",
            "1970-01-01T10:00+é",
        ] {
            assert_eq!(days(wrong), None, "{wrong}");
        }
        // Every day follows the one before.
        let mut last = None;
        for year in [1899, 1900, 1999, 2000, 2023, 2024] {
            for month in 1..=12 {
                for day in (1..=31).filter_map(|day| civil(year, month, day)) {
                    assert!(last.is_none_or(|last| day > last));
                    last = Some(day);
                }
            }
        }
        assert_eq!(
            civil(2024, 12, 31).unwrap() - civil(2024, 1, 1).unwrap(),
            365
        );
    }

    #[test]
    fn forms_are_told_apart_where_they_can_be() {
        let of = |cells: &[&'static str]| DateForm::of(cells.iter().copied());
        assert_eq!(
            of(&["2020-01-02", "2020/01/03"]),
            Some((DateForm::YearMonthDay, false))
        );
        assert_eq!(of(&["13/1/2020"]), Some((DateForm::DayMonthYear, false)));
        assert_eq!(of(&["1/13/2020"]), Some((DateForm::MonthDayYear, false)));
        assert_eq!(of(&["1/2/2020"]), Some((DateForm::MonthDayYear, true)));
        assert_eq!(of(&["1.2.2020"]), Some((DateForm::DayMonthYear, false)));
        assert_eq!(of(&["13/13/2020"]), None);
        assert_eq!(of(&["1.5"]), None);
    }
}
