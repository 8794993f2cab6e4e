//! Tortures logltn: `cargo run --release -p logltn-torture -- --minutes 30 --seed 1`.

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("faults are injected by way of LD_PRELOAD and limits: on Linux only");
    ExitCode::from(2)
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    // This program is also the one that it tortures.
    if words
        .first()
        .is_some_and(|word| *word == logltn_torture::PROGRAM)
    {
        return logltn_cli::main_with(words).into();
    }
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    long::run(&words)
        .unwrap_or_else(|| {
            eprintln!("{}", long::USAGE);
            2
        })
        .into()
}

#[cfg(target_os = "linux")]
mod long {
    use std::time::Duration;

    use logltn_torture::tally::{kind, torture};
    use logltn_torture::{KINDS, Kind};

    pub const USAGE: &str = "usage: logltn-torture [--minutes M] [--seed S] [--kind KIND] [--try N]

  --minutes M   how long in all (10)
  --seed S      where all tries come from (1)
  --kind KIND   this kind only
  --try N       this try of the kind only, as a failure names it";

    /// Returns the exit status: 1 if something went wrong; `None` if the arguments are not
    /// understood.
    pub fn run(words: &[String]) -> Option<u8> {
        let (mut minutes, mut seed, mut only, mut attempt) = (10.0, 1, None, None);
        for pair in words.chunks(2) {
            let [name, value] = pair else { return None };
            match name.as_str() {
                "--minutes" => {
                    minutes = value.parse().ok().filter(|m: &f64| *m > 0.0 && *m < 1e6)?
                }
                "--seed" => seed = value.parse().ok()?,
                "--kind" => only = Some(kind(value)?),
                "--try" => attempt = Some(value.parse::<u64>().ok()?),
                _ => return None,
            }
        }
        let kinds: Vec<&Kind> = match only {
            Some(only) => vec![only],
            None => KINDS.iter().collect(),
        };
        let (first, most) = match (only, attempt) {
            (Some(_), Some(attempt)) => (attempt, 1),
            (None, Some(_)) => return None,
            _ => (0, u64::MAX / 2),
        };
        let program = std::env::current_exe().ok()?;
        let tallies = torture(
            &program,
            &kinds,
            seed,
            first,
            Duration::from_secs_f64(minutes * 60.0),
            most,
        );
        let mut wrong = 0;
        for (kind, tally) in kinds.iter().zip(&tallies) {
            println!("{:12} {tally}\n{:12} ({})", kind.name, "", kind.about);
            wrong += tally.wrong.len();
        }
        Some(u8::from(wrong > 0))
    }
}
