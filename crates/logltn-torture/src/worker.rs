//! A process that makes tries of one kind: whatever happens to it, the others go on, and it is known which try it was.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::attempt::Attempt;
use crate::cases::rng::Rng;
use crate::kind::{KINDS, Kind};
use crate::memory::measured;

/// The first word of a worker's command line.
pub const WORKER: &str = "--worker";

/// Makes tries, says how each ended on a line of standard output, and gives the exit status. The words are the kind, the seed,
/// the first number, how many, and after how many seconds it starts no more.
pub fn work(words: &[String]) -> Option<u8> {
    let [kind, seed, first, count, seconds] = words else {
        return None;
    };
    let kind = KINDS.iter().find(|known| known.name == kind)?;
    let (seed, first, count): (u64, u64, u64) =
        (seed.parse().ok()?, first.parse().ok()?, count.parse().ok()?);
    let (begun, time) = (Instant::now(), Duration::from_secs(seconds.parse().ok()?));
    // Panics are what is looked for: they are told as results.
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut place) = PANICKED.lock() {
            *place = (panic.location()).map_or(String::new(), |place| place.to_string());
        }
    }));
    let watched = watch(Duration::from_secs(kind.seconds));
    for number in first..first + count {
        if begun.elapsed() > time {
            break;
        }
        watched.store(watched.load(SeqCst) + 1, SeqCst);
        match one(kind, seed, number) {
            Ok(ending) => println!("{ending}"),
            // On one line.
            Err(wrong) => println!("! {}", serde_json::json!(wrong)),
        }
    }
    Some(0)
}

/// Where the last panic was.
static PANICKED: Mutex<String> = Mutex::new(String::new());

fn one(kind: &Kind, seed: u64, number: u64) -> Attempt {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    let attempt = || catch_unwind(AssertUnwindSafe(|| (kind.attempt)(&mut rng, number)));
    let (ended, bytes) = measured(attempt);
    let ended = ended.unwrap_or_else(|panic| {
        let text = (panic.downcast_ref::<String>().map(String::as_str))
            .or(panic.downcast_ref::<&str>().copied());
        let place = PANICKED.lock().map_or(String::new(), |place| place.clone());
        Err(format!("panicked at {place}: {}", text.unwrap_or("?")))
    })?;
    match bytes > kind.memory {
        true => Err(format!("took {} MiB", bytes >> 20)),
        false => Ok(ended),
    }
}

/// Ends this process when the number that it gives stays the same for too long.
fn watch(limit: Duration) -> &'static AtomicU64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    std::thread::spawn(move || {
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let now = NUMBER.load(SeqCst);
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > limit {
                eprintln!("it did not end within {} seconds", limit.as_secs());
                std::process::exit(3);
            }
        }
    });
    &NUMBER
}

/// Has a worker make tries, for so long; gives how each ended, by number. After one that ends the worker there are no more.
pub fn batch(
    torture: &Path,
    kind: &Kind,
    seed: u64,
    first: u64,
    count: u64,
    time: Duration,
) -> Vec<(u64, Result<String, String>)> {
    let output = Command::new(torture)
        .arg(WORKER)
        .arg(kind.name)
        .args([seed, first, count, time.as_secs()].map(|n| n.to_string()))
        // There is a worker for each core already.
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return vec![(first, Err(format!("no worker: {error}")))],
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut ended: Vec<(u64, Result<String, String>)> = (first..)
        .zip(text.lines())
        .map(|(number, line)| match line.strip_prefix("! ") {
            Some(wrong) => (
                number,
                Err(serde_json::from_str(wrong).unwrap_or_else(|_| wrong.to_string())),
            ),
            None => (number, Ok(line.to_string())),
        })
        .collect();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let wrong = format!("the worker ended with {}: {said}", output.status);
        ended.push((first + ended.len() as u64, Err(wrong)));
    }
    ended
}
