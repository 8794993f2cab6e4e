//! Figures: how many tries of each kind, and how they ended.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::kind::{KINDS, Kind};
use crate::program::{Attempt, set_program};
use crate::rng::Rng;

/// What came of the tries of one kind.
#[derive(Default)]
pub struct Tally {
    /// How many ended in each right way.
    pub right: BTreeMap<&'static str, u64>,
    /// The number of each try that went wrong, and what was wrong.
    pub wrong: Vec<(u64, String)>,
    next: u64,
    spent: Duration,
}

impl Tally {
    /// How many there were.
    pub fn tries(&self) -> u64 {
        self.right.values().sum::<u64>() + self.wrong.len() as u64
    }

    fn add(&mut self, number: u64, ended: Attempt) {
        match ended {
            Ok(way) => *self.right.entry(way).or_default() += 1,
            Err(wrong) => self.wrong.push((number, wrong)),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ways = self
            .right
            .iter()
            .map(|(way, count)| format!("{count} {way}"));
        let wrong = (!self.wrong.is_empty()).then(|| format!("{} WRONG", self.wrong.len()));
        let all: Vec<String> = ways.chain(wrong).collect();
        write!(f, "{} tries: {}", self.tries(), all.join(", "))
    }
}

/// Makes tries of some kinds, as many at once as there are cores, until the time is up or there have been `most` of each; every
/// kind gets the same share of the time. Says at once what goes wrong. `program` is this crate's.
pub fn torture(
    program: &Path,
    kinds: &[&Kind],
    seed: u64,
    first: u64,
    time: Duration,
    most: u64,
) -> Vec<Tally> {
    set_program(program);
    let tally = |_| Tally {
        next: first,
        ..Tally::default()
    };
    let tallies = Mutex::new(kinds.iter().map(tally).collect::<Vec<Tally>>());
    let tallied = || tallies.lock().expect("no thread panics with it");
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while begun.elapsed() < time {
                    let (k, number) = {
                        let mut tallies = tallied();
                        let open = (0..kinds.len()).filter(|&k| tallies[k].next < first + most);
                        let Some(k) = open.min_by_key(|&k| (tallies[k].spent, tallies[k].next))
                        else {
                            return;
                        };
                        tallies[k].next += 1;
                        // A guess, so that the other thread does not take the same kind.
                        tallies[k].spent += Duration::from_millis(1);
                        (k, tallies[k].next - 1)
                    };
                    let (kind, started) = (kinds[k], Instant::now());
                    let ended = one(kind, seed, number);
                    if let Err(wrong) = &ended {
                        println!(
                            "WRONG: --seed {seed} --kind {} --try {number}\n{wrong}\n",
                            kind.name
                        );
                    }
                    let mut tallies = tallied();
                    tallies[k].add(number, ended);
                    tallies[k].spent += started.elapsed();
                }
            });
        }
    });
    tallies.into_inner().expect("no thread panics with it")
}

/// One try. What panics is the harness, which is wrong as well.
fn one(kind: &Kind, seed: u64, number: u64) -> Attempt {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    let attempt = AssertUnwindSafe(|| (kind.attempt)(&mut rng, number));
    catch_unwind(attempt).unwrap_or_else(|panic| {
        let text = (panic.downcast_ref::<String>().map(String::as_str))
            .or(panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("?")))
    })
}

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
