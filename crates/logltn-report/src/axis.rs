//! Axes: which numbers are marked, how they are written, and where they lie.

/// A range of numbers on a line of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
}

impl Axis {
    /// An axis that shows all finite `values` with a little room around them. On a logarithmic one only those above zero
    /// count; without any it is linear.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone, log: bool, room: f64) -> Axis {
        let log = log && values.clone().any(|v| v.is_finite() && v > 0.0);
        let shown = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (mut low, mut high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if log {
            let (mut a, mut b) = (low.log10(), high.log10());
            if b - a < 0.1 {
                (a, b) = (a - 0.5, b + 0.5);
            }
            let room = (b - a) * room;
            return Axis {
                from: 10f64.powf(a - room).max(f64::MIN_POSITIVE),
                to: 10f64.powf(b + room).min(f64::MAX),
                log,
            };
        }
        let least = (low.abs().max(high.abs()) * 1e-9).max(1e-12);
        if high / 2.0 - low / 2.0 < least {
            let around = (low.abs() * 0.1).max(1e-3);
            (low, high) = (low - around, high + around);
        }
        let room = (high / 2.0 - low / 2.0) * 2.0 * room;
        Axis {
            from: (low - room).max(f64::MIN / 4.0),
            to: (high + room).min(f64::MAX / 4.0),
            log,
        }
    }

    /// Where a number lies, 0 being the start and 1 the end. None if the axis cannot show it.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        let share = if self.log {
            (value.ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
        } else {
            // Halves, because the difference of two huge numbers may be infinite.
            (value / 2.0 - self.from / 2.0) / (self.to / 2.0 - self.from / 2.0)
        };
        // Only numbers at the ends of what numbers can be lie outside.
        share.is_finite().then_some(share.clamp(0.0, 1.0))
    }

    /// The numbers to mark, about `count` of them, with their texts.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.log {
            self.log_ticks(count)
        } else {
            self.linear_ticks(count)
        }
    }

    fn linear_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let rough = (self.to - self.from) / count.max(1) as f64;
        let magnitude = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|nice| nice * magnitude)
            .min_by(|a, b| (a / rough).ln().abs().total_cmp(&(b / rough).ln().abs()))
            .unwrap_or(rough);
        let largest = self.from.abs().max(self.to.abs());
        let first = (self.from / step).ceil();
        let last = (self.to / step).floor();
        // A range far from zero may be finer than numbers are there.
        if !(last - first).is_finite() || last - first > 4.0 * count as f64 {
            return Vec::new();
        }
        (0..=(last - first) as usize)
            .map(|i| (first + i as f64) * step)
            .map(|value| (value + 0.0, written(value, step, largest)))
            .collect()
    }

    fn log_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let (a, b) = (self.from.log10(), self.to.log10());
        let decades = b - a;
        let (stride, parts): (i32, &[f64]) = if decades < 1.5 {
            (1, &[1.0, 2.0, 3.0, 5.0])
        } else if decades < 3.0 {
            (1, &[1.0, 3.0])
        } else {
            (
                ((decades / count.max(1) as f64).ceil() as i32).max(1),
                &[1.0],
            )
        };
        (a.floor() as i32..=b.ceil() as i32)
            .filter(|exponent| exponent % stride == 0)
            .flat_map(|exponent| parts.iter().map(move |part| (*part, exponent)))
            .map(|(part, exponent)| (part * 10f64.powi(exponent), power(part, exponent)))
            .filter(|(value, _)| (self.from..=self.to).contains(value))
            .collect()
    }
}

/// A number of an axis whose marks are `step` apart and which reaches to `largest`: all have the same unit, and as many
/// digits as tell neighbours apart.
fn written(value: f64, step: f64, largest: f64) -> String {
    /// The most decimals that are still read at a glance.
    const MOST_DECIMALS: usize = 9;
    if value.abs() < step / 2.0 {
        return "0".into();
    }
    let place = |x: f64| (x.abs().log10() + 1e-9).floor();
    // A narrow range around 0.69 is 0.69314, 0.69315, …, one around 0.00001 is 1.1e−5, 1.2e−5, …
    let decimals = -place(step);
    let narrow = step < 1e-4 && (largest < 1e-3 || decimals > MOST_DECIMALS as f64);
    if narrow || largest >= 1e9 {
        let digits = (place(value) - place(step)).clamp(0.0, 17.0) as usize;
        return minus(format!("{value:.digits$e}"));
    }
    if step < 1e-4 {
        return minus(format!("{value:.*}", decimals as usize));
    }
    let (shown, unit) = if step >= 1e6 || (largest >= 1e6 && step >= 1e5) {
        (1e6, "M")
    } else if step >= 1e4 || (largest >= 1e4 && step >= 1e2) {
        (1e3, "k")
    } else {
        (1.0, "")
    };
    let decimals = (-(step / shown).log10()).ceil().clamp(0.0, 6.0) as usize;
    let text = format!("{:.decimals$}", value / shown);
    minus(format!("{text}{unit}"))
}

/// `part` · 10^`exponent`.
fn power(part: f64, exponent: i32) -> String {
    if (-3..=3).contains(&exponent) {
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        return format!("{:.decimals$}", part * 10f64.powi(exponent));
    }
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize).unwrap_or(c),
        None => '⁻',
    };
    let digits: String = exponent.to_string().chars().map(raised).collect();
    if part == 1.0 {
        format!("10{digits}")
    } else {
        format!("{part}·10{digits}")
    }
}

/// With the sign that is as wide as a digit.
fn minus(text: String) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: Axis, count: usize) -> Vec<String> {
        axis.ticks(count)
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    fn linear(from: f64, to: f64) -> Axis {
        Axis {
            from,
            to,
            log: false,
        }
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(
            texts(linear(0.0, 1000.0), 5),
            ["0", "200", "400", "600", "800", "1000"]
        );
        assert_eq!(texts(linear(-0.31, 0.02), 4), ["−0.3", "−0.2", "−0.1", "0"]);
        assert_eq!(texts(linear(0.0, 100_000.0), 2), ["0", "50k", "100k"]);
        assert_eq!(
            texts(linear(0.0, 20_000.0), 4),
            ["0", "5k", "10k", "15k", "20k"]
        );
        assert_eq!(texts(linear(0.0, 2.5e6), 3), ["0", "1M", "2M"]);
        assert_eq!(texts(linear(0.0, 2e-6), 2), ["0", "1e−6", "2e−6"]);
        assert_eq!(texts(linear(0.0, 3e9), 3), ["0", "1e9", "2e9", "3e9"]);
    }

    #[test]
    fn marks_of_a_narrow_range_differ() {
        assert_eq!(
            texts(linear(0.693_145, 0.693_149), 4),
            ["0.693145", "0.693146", "0.693147", "0.693148", "0.693149"]
        );
        assert_eq!(
            texts(linear(9.8e-5, 1.02e-4), 2),
            ["9.8e−5", "1.00e−4", "1.02e−4"]
        );
        for (middle, around) in (-12..=12).flat_map(|e| (1..9).map(move |a| (e, a))) {
            let (middle, share) = (6.931_47 * 10f64.powi(middle), 10f64.powi(-around));
            for sign in [1.0, -1.0] {
                let ends = [middle * sign * (1.0 - share), middle * sign * (1.0 + share)];
                let axis = Axis::around(ends.into_iter(), false, 0.05);
                let texts = texts(axis, 5);
                let mut different = texts.clone();
                different.dedup();
                assert!(texts.len() >= 3, "{axis:?} {texts:?}");
                assert_eq!(texts, different);
            }
        }
    }

    #[test]
    fn decades_are_marked() {
        let log = |from, to| Axis {
            from,
            to,
            log: true,
        };
        assert_eq!(
            texts(log(0.01, 100.0), 5),
            ["0.01", "0.1", "1", "10", "100"]
        );
        assert_eq!(texts(log(1.0, 1e6), 4), ["1", "100", "10⁴", "10⁶"]);
        assert_eq!(texts(log(0.9, 6.0), 4), ["1", "2", "3", "5"]);
    }

    #[test]
    fn any_values_give_an_axis() {
        for values in [
            vec![],
            vec![f64::NAN],
            vec![5.0],
            vec![0.0, 0.0],
            vec![f64::MIN, f64::MAX],
            vec![1e300, 1e300 * (1.0 + 1e-15)],
            vec![-1.0, f64::INFINITY],
            vec![5e-324, 1e308],
        ] {
            for log in [false, true] {
                let axis = Axis::around(values.iter().copied(), log, 0.05);
                assert!(axis.from < axis.to, "{values:?} {axis:?}");
                assert!(axis.ticks(5).len() < 40);
                for value in values
                    .iter()
                    .filter(|v| v.is_finite() && (!axis.log || **v > 0.0))
                {
                    let share = axis.share(*value).unwrap_or(-1.0);
                    assert!(
                        (-0.01..=1.01).contains(&share),
                        "{values:?} {axis:?} {share}"
                    );
                }
            }
        }
    }
}
