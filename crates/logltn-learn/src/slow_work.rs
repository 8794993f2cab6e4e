//! Long work says early on how long it takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use logltn::{Code, Diagnostic, Engine, Parameters, Precision, early};

/// How long a step or a question may take without a warning, in seconds.
pub(crate) const SLOW: f64 = 60.0;

/// The least work of a question that is worth an estimate, in groundings.
const PERHAPS_SLOW: u128 = 1 << 28;

/// How long a question may be measured before it is answered.
const MEASURED: Duration = Duration::from_millis(100);

/// How long work may have gone on before it is foretold from that.
const PATIENCE: Duration = Duration::from_secs(1);

/// [Says](early::say) that `what` takes a minute or more, if the engine would take so long for it: `passes` evaluations.
pub fn foretell<T: Precision>(
    engine: &mut Engine<T>,
    parameters: &Parameters,
    passes: f64,
    what: &str,
) {
    if !early::is_heard() {
        return;
    }
    let groundings = engine.groundings();
    let definitions = u128::from(engine.work_of_definitions());
    if groundings.saturating_add(definitions) < PERHAPS_SLOW {
        return;
    }
    let seconds = passes * engine.estimate_seconds(parameters, MEASURED, false);
    let groundings = thousands(groundings);
    say_if_slow(seconds, || {
        format!("{what} goes through {groundings} groundings")
    });
}

pub(crate) fn say_if_slow(seconds: f64, what: impl FnOnce() -> String) {
    if seconds >= SLOW {
        let what = format!("{}, which takes about {}", what(), duration(seconds));
        early::say(&Diagnostic::warning(Code::SlowWork, what).help(
            "Ctrl-C ends it; a guard, fewer variables, or fewer rows to ask about make it quicker",
        ));
    }
}

/// Work that goes on piece by piece. Once, early on, it is foretold how long it takes in all, if that is a minute or more.
pub struct Foretold {
    begun: Instant,
    said: AtomicBool,
}

impl Default for Foretold {
    fn default() -> Foretold {
        Foretold {
            begun: Instant::now(),
            said: AtomicBool::new(!early::is_heard()),
        }
    }
}

impl Foretold {
    /// So much of the work is done.
    pub fn done(&self, done: u64, of: u64, what: impl FnOnce() -> String) {
        let elapsed = self.begun.elapsed();
        if elapsed < PATIENCE || done == 0 || self.said.swap(true, Ordering::Relaxed) {
            return;
        }
        say_if_slow(elapsed.as_secs_f64() * (of as f64 / done as f64), what);
    }
}

/// A time for people, with as many digits as an estimate has.
pub fn duration(seconds: f64) -> String {
    let units = [
        (365.25 * 86_400.0, "year"),
        (86_400.0, "day"),
        (3_600.0, "hour"),
        (60.0, "minute"),
    ];
    for (unit, name) in units {
        if seconds >= 1.5 * unit {
            return format!("{} {name}s", digits(seconds / unit));
        }
    }
    match seconds {
        s if s >= 1.0 => format!("{} seconds", digits(s)),
        s => format!("{} ms", digits(1e3 * s)),
    }
}

/// Two digits.
fn digits(x: f64) -> String {
    if x < 10.0 {
        return format!("{x:.1}");
    }
    let step = 10_f64.powf(x.log10().floor() - 1.0);
    let rounded = (x / step).round() * step;
    match rounded < 1e15 {
        true => thousands(rounded as u128),
        false => format!("{rounded:.0e}"),
    }
}

pub(crate) fn thousands(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_for_people() {
        for (seconds, shown) in [
            (0.0012, "1.2 ms"),
            (0.0, "0.0 ms"),
            (2.34, "2.3 seconds"),
            (88.0, "88 seconds"),
            (100.0, "1.7 minutes"),
            (1e6, "12 days"),
            (1e12, "32,000 years"),
        ] {
            assert_eq!(duration(seconds), shown);
        }
        assert!(duration(1e40).ends_with("years"));
    }
}
