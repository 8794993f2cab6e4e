//! Killed and signalled at random moments, and resumed, until it is finished.

use std::fs;
use std::time::Duration;

use crate::program::{Attempt, Harm, SIGINT, SIGKILL, SIGTERM, run};
use crate::results::Results;
use crate::rng::Rng;
use crate::subject::{Subject, undisturbed};

/// A sequence of kills.
pub fn attempt(rng: &mut Rng, _: u64) -> Attempt {
    let undisturbed = undisturbed();
    let subject = Subject::new();
    let (mut kills, mut told) = (0, Vec::new());
    let mut within = undisturbed.took.as_secs_f64();
    for round in 0..40 {
        let words = subject.train(round > 0);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let after = Duration::from_secs_f64(within * rng.uniform());
        let signal = *rng.pick(&[SIGKILL, SIGKILL, SIGTERM, SIGINT]);
        let harm = Harm {
            // The last rounds are left in peace.
            signal: (round < 38).then_some((after, signal)),
            ..Harm::default()
        };
        let ended = run(subject.path(), &words, &harm)?;
        told.push(format!("signal {signal} after {after:?}: {ended:?}"));
        match (ended.status, ended.signal) {
            (_, Some(by)) if by == signal => kills += 1,
            (Some(1), _) if signal != SIGKILL && ended.stderr.contains("continue with") => {
                kills += 1
            }
            // All that was learnt is written: it need not wait for the report.
            (Some(130), _) if signal != SIGKILL => kills += 1,
            (Some(0), _) => {
                subject.untouched()?;
                (Results::of(&subject.run_folder()))
                    .and_then(|found| undisturbed.results.same(&found))
                    .map_err(|other| format!("{other}\n{}", told.join("\n")))?;
                if kills > 0 {
                    break;
                }
                // It was quicker than the kill: once more, sooner.
                within /= 2.0;
                fs::remove_dir_all(subject.run_folder()).map_err(|e| e.to_string())?;
            }
            _ => return Err(format!("no good end:\n{}", told.join("\n"))),
        }
    }
    Ok(match kills {
        0 => "never hit",
        1 | 2 => "one or two kills, the same bits",
        _ => "three kills or more, the same bits",
    })
}
