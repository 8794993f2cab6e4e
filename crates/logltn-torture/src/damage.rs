//! Damaged run directories: damage is refused, or never shows in an answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::faults::{calls, faults};
use crate::program::{Attempt, Ended, Harm, run};
use crate::results::Results;
use crate::rng::Rng;
use crate::subject::{Subject, copy, undisturbed};

/// The files of a run that hold its numbers.
const NUMBERS: [&str; 3] = ["weights.safetensors", "metrics.jsonl", "metrics.csv"];

/// One piece of damage.
pub fn attempt(rng: &mut Rng, _: u64) -> Attempt {
    let finished = rng.chance(0.5);
    let from = match finished {
        true => undisturbed().subject.run_folder(),
        false => interrupted().run_folder(),
    };
    let subject = beside_whole(&from);
    let what = damage(rng, &subject.run_folder());
    let said = |command: &str| command_of(&subject, command);
    let mut refused = 0;
    let mut commands = vec!["train --resume"];
    if finished {
        // Before it is resumed, which could mend it.
        commands.splice(0..0, ["eval", "compare"]);
    }
    for command in &commands {
        let ended = said(command)?;
        let status = ended
            .documented()
            .map_err(|wrong| format!("{what}, {command}: {wrong}"))?;
        refused += usize::from(status != 0);
        if status != 0 {
            continue;
        }
        let same = match *command {
            "train --resume" => {
                // Of a finished run it reads the weights only.
                let names = if finished { &NUMBERS[..1] } else { &NUMBERS };
                let numbers = |run: &Path| Results::some_of(run, |name| names.contains(&name));
                let expected = numbers(&undisturbed().subject.run_folder())?;
                numbers(&subject.run_folder()).and_then(|found| expected.same(&found))
            }
            _ if ended.stdout == expected(command) => Ok(()),
            _ => Err(format!(
                "{}\ninstead of\n{}",
                ended.stdout,
                expected(command)
            )),
        };
        same.map_err(|wrong| {
            format!("{what}: other numbers without a word from `{command}`: {wrong}")
        })?;
    }
    subject.untouched()?;
    Ok(match refused {
        0 => "no harm: the same numbers",
        n if n == commands.len() => "refused",
        _ => "refused where it matters",
    })
}

/// A copy of a run, and beside it the undisturbed one to compare it with.
fn beside_whole(run: &Path) -> Subject {
    let subject = Subject::with_run(run);
    copy(
        &undisturbed().subject.run_folder(),
        &subject.path().join("whole"),
    );
    subject
}

fn command_of(subject: &Subject, command: &str) -> Result<Ended, String> {
    let words = match command {
        "eval" => ["eval", "m.toml", "--run", "run"]
            .map(str::to_string)
            .to_vec(),
        "compare" => ["compare", "whole", "run", "--json"]
            .map(str::to_string)
            .to_vec(),
        _ => subject.train(true),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(subject.path(), &words, &Harm::default())
}

/// What a command says of the undamaged run.
fn expected(command: &str) -> &'static str {
    static EVAL: OnceLock<String> = OnceLock::new();
    static COMPARE: OnceLock<String> = OnceLock::new();
    let place = if command == "eval" { &EVAL } else { &COMPARE };
    place.get_or_init(|| {
        let whole = beside_whole(&undisturbed().subject.run_folder());
        let ended = command_of(&whole, command).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(ended.status, Some(0), "{ended:?}");
        ended.stdout
    })
}

/// A run that was killed after some checkpoints.
fn interrupted() -> &'static Subject {
    static MADE: OnceLock<Subject> = OnceLock::new();
    MADE.get_or_init(|| {
        // Of the calls that make checkpoints last, one in the middle of the training.
        let renames: Vec<u64> = (1..)
            .zip(calls())
            .filter(|(_, name)| *name == "linkat")
            .map(|(call, _)| call)
            .collect();
        let at = renames[renames.len() - 2];
        let subject = Subject::new();
        let words = subject.train(false);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let harm = Harm {
            faults: faults(&subject, at, "before signal 9"),
            ..Harm::default()
        };
        let ended = run(subject.path(), &words, &harm).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(ended.signal, Some(9), "{ended:?}");
        assert!(subject.run_folder().join("checkpoint.safetensors").exists());
        subject
    })
}

/// Damages a file of a run that has something to say.
fn damage(rng: &mut Rng, run: &Path) -> String {
    let mut files: Vec<PathBuf> = (fs::read_dir(run).expect("a run").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.metadata().is_ok_and(|m| m.len() > 0))
        .filter(|path| path.extension().is_some_and(|ending| ending != "html"))
        .collect();
    files.sort();
    let path = rng.pick(&files);
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut bytes = fs::read(path).expect("it is there");
    let at = rng.below(bytes.len());
    let how = match rng.below(10) {
        0 => {
            bytes.truncate(at);
            format!("cut at byte {at}")
        }
        1 => {
            let end = (at + 1 + rng.below(600)).min(bytes.len());
            bytes[at..end].fill(0);
            format!("zeros from byte {at} to {end}")
        }
        2 => {
            fs::remove_file(path).expect("it is there");
            return format!("{name}: removed");
        }
        _ => {
            let bit = rng.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
    };
    fs::write(path, bytes).expect("a temporary file");
    format!("{name}: {how}")
}
