//! Figures: how many tries of each kind, and how they ended.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::kind::{KINDS, Kind};
use crate::worker::batch;

/// What came of the tries of one kind.
#[derive(Default)]
pub struct Tally {
    /// How many ended in each right way.
    pub right: BTreeMap<String, u64>,
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

    fn add(&mut self, ended: Vec<(u64, Result<String, String>)>) {
        for (number, ended) in ended {
            match ended {
                Ok(way) => *self.right.entry(way).or_default() += 1,
                Err(wrong) => self.wrong.push((number, wrong)),
            }
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

/// Makes tries of some kinds, in as many processes as there are cores, until the time is up or there have been `most` of each;
/// every kind gets the same share of the time. Says at once what goes wrong.
pub fn torture(
    program: &Path,
    kinds: &[&Kind],
    seed: u64,
    first: u64,
    time: Duration,
    most: u64,
) -> Vec<Tally> {
    let tallies: Vec<Tally> = (kinds.iter())
        .map(|_| Tally {
            next: first,
            ..Tally::default()
        })
        .collect();
    let tallies = Mutex::new(tallies);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while begun.elapsed() < time {
                    let job = {
                        let mut tallies = tallies.lock().expect("no thread panics");
                        let open = (0..kinds.len()).filter(|&k| tallies[k].next < first + most);
                        let Some(k) = open.min_by_key(|&k| (tallies[k].spent, tallies[k].next))
                        else {
                            return;
                        };
                        let from = tallies[k].next;
                        let count = kinds[k].batch.min(first + most - from);
                        tallies[k].next += count;
                        // A guess, so that the other thread does not take the same kind.
                        tallies[k].spent += Duration::from_millis(1);
                        (k, from, count)
                    };
                    let (k, mut from, count) = job;
                    let (started, end) = (Instant::now(), from + count);
                    while from < end && begun.elapsed() < time {
                        let ended = batch(
                            program,
                            kinds[k],
                            seed,
                            from,
                            end - from,
                            time - begun.elapsed().min(time),
                        );
                        from = ended.last().map_or(end, |(number, _)| number + 1);
                        for (number, wrong) in &ended {
                            if let Err(wrong) = wrong {
                                println!(
                                    "WRONG: --seed {seed} --kind {} --try {number}\n{wrong}\n",
                                    kinds[k].name
                                );
                            }
                        }
                        tallies.lock().expect("no thread panics")[k].add(ended);
                    }
                    tallies.lock().expect("no thread panics")[k].spent += started.elapsed();
                }
            });
        }
    });
    tallies.into_inner().expect("no thread panics")
}

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
