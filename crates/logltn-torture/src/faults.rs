//! Every call that a training makes on files, going wrong in every way; then the training is resumed.

use std::fs;
use std::sync::OnceLock;

use crate::program::{Attempt, Ended, Harm, SIGINT, SIGKILL, SIGTERM, run};
use crate::results::Results;
use crate::rng::Rng;
use crate::subject::{Subject, undisturbed};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EACCES: i32 = 13;
const ENOSPC: i32 = 28;

/// Tries go through every call in every way, in a scattered order; beyond that the resumed run has a fault, too.
pub fn attempt(rng: &mut Rng, number: u64) -> Attempt {
    let all = ways();
    let (call, how) = &all[scattered(number, all.len())];
    let subject = Subject::new();
    let first = train(&subject, false, Some((*call, how)))?;
    let mut ended = judge(&subject, &first, how)?;
    if number as usize >= all.len() {
        let (call, how) = rng.pick(all);
        let second = train(&subject, true, Some((*call, how)))?;
        judge(&subject, &second, how)
            .map_err(|wrong| format!("then at call {call}, {how}: {wrong}"))?;
        ended = "two faults, resumed";
    }
    let context = |wrong: String| format!("call {call}, {how}: {wrong}\nat first: {first:?}");
    let last = train(&subject, true, None)?;
    if last.status != Some(0) {
        return Err(context(format!("it cannot be resumed: {last:?}")));
    }
    same(&subject).map_err(context)?;
    Ok(ended)
}

/// Whether the faulty run ended as it may.
fn judge(subject: &Subject, ended: &Ended, how: &str) -> Result<&'static str, String> {
    let context = |wrong: String| format!("{how}: {wrong}");
    if ended.signal.is_some() && how.contains("signal") {
        return Ok("killed, resumed");
    }
    // All that was learnt is written: it need not wait for the report.
    if ended.status == Some(130) && (how.ends_with(" 15") || how.ends_with(" 2")) {
        return Ok("stopped, resumed");
    }
    let status = ended.documented().map_err(context)?;
    match status {
        0 if how.contains("signal 0") => same(subject)
            .map(|()| "half a call, finished")
            .map_err(context),
        0 => same(subject)
            .map(|()| "finished all the same")
            .map_err(context),
        _ if how.ends_with(&format!(" {EINTR}")) || how.contains("signal 0") => {
            Err(context(format!("this is no failure: {ended:?}")))
        }
        2 if how.ends_with(&format!(" {ENOSPC}")) => {
            Err(context(format!("a full disk is status 1: {ended:?}")))
        }
        _ if how.contains("signal") => Ok("stopped, resumed"),
        _ => Ok("failed with a message, resumed"),
    }
}

fn same(subject: &Subject) -> Result<(), String> {
    subject.untouched()?;
    undisturbed()
        .results
        .same(&Results::of(&subject.run_folder())?)
}

/// Trains, with a fault at a call.
fn train(subject: &Subject, resume: bool, fault: Option<(u64, &String)>) -> Result<Ended, String> {
    let words = subject.train(resume);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut harm = Harm::default();
    if let Some((call, how)) = fault {
        harm.faults = faults(subject, call, how);
    }
    run(subject.path(), &words, &harm)
}

/// What to tell the library of faults.
pub fn faults(subject: &Subject, call: u64, how: &str) -> Vec<(&'static str, String)> {
    vec![
        ("LOGLTN_FAULT_UNDER", subject.path().display().to_string()),
        ("LOGLTN_FAULT_AT", call.to_string()),
        ("LOGLTN_FAULT_HOW", how.to_string()),
    ]
}

/// The names of the calls that the training makes, in order.
pub fn calls() -> &'static [String] {
    static COUNTED: OnceLock<Vec<String>> = OnceLock::new();
    COUNTED.get_or_init(|| {
        let (subject, log) = (
            Subject::new(),
            tempfile::NamedTempFile::new().expect("a temporary file"),
        );
        let words = subject.train(false);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let faults = vec![
            ("LOGLTN_FAULT_UNDER", subject.path().display().to_string()),
            ("LOGLTN_FAULT_LOG", log.path().display().to_string()),
        ];
        let harm = Harm {
            faults,
            ..Harm::default()
        };
        let ended = run(subject.path(), &words, &harm).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let text = fs::read_to_string(log.path()).expect("the log of calls");
        let name = |line: &str| {
            line.split_once(' ')
                .map_or("", |(_, name)| name)
                .to_string()
        };
        let names: Vec<String> = text.lines().map(name).collect();
        // Were the library not loaded, every try would be a good one.
        assert!(names.len() > 100, "{} calls", names.len());
        names
    })
}

/// Every call with every way in which it can go wrong.
fn ways() -> &'static [(u64, String)] {
    static MADE: OnceLock<Vec<(u64, String)>> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut ways = Vec::new();
        for (call, name) in (1..).zip(calls()) {
            let mut add = |how: String| ways.push((call, how));
            let by_halves = ["read", "write"].contains(&name.as_str());
            let needs_room = [
                "write",
                "fsync",
                "fdatasync",
                "rename",
                "link",
                "linkat",
                "mkdir",
            ];
            for signal in [SIGKILL, SIGTERM, SIGINT] {
                add(format!("before signal {signal}"));
            }
            add(format!("after signal {SIGKILL}"));
            for error in [EIO, EACCES] {
                add(format!("before error {error}"));
            }
            add(format!("after error {EIO}"));
            add(format!("from error {EIO}"));
            if needs_room.contains(&name.as_str()) {
                add(format!("before error {ENOSPC}"));
                add(format!("from error {ENOSPC}"));
            }
            if [
                "read",
                "write",
                "open64",
                "fsync",
                "fdatasync",
                "ftruncate64",
            ]
            .contains(&name.as_str())
            {
                add(format!("before error {EINTR}"));
            }
            if by_halves {
                add(format!("middle signal {SIGKILL}"));
                // No signal at all: only half of it is done, which is allowed.
                add("middle signal 0".to_string());
                add(format!("middle error {EIO}"));
            }
            if name == "write" {
                add(format!("middle error {ENOSPC}"));
            }
        }
        ways
    })
}

/// A walk through all of `count` that is far from any order.
fn scattered(number: u64, count: usize) -> usize {
    let count = count as u64;
    let common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let step = (count * 618 / 1000..)
        .find(|&step| common(step, count) == 1)
        .unwrap_or(1);
    (number % count * step % count) as usize
}
