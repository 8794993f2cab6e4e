//! The short form: some tries of every kind. `cargo run --release -p logltn-torture -- --minutes 30 --seed 1` is the long one.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::time::Duration;

use logltn_torture::tally::{kind, torture};

/// Makes tries; all must be right, and each of some ways to end must have been met, or the tries tried nothing.
fn short(name: &str, tries: u64, met: &[&str]) {
    let program = Path::new(env!("CARGO_BIN_EXE_logltn-torture"));
    let kind = kind(name).expect("there is such a kind");
    let tallies = torture(program, &[kind], 1, 0, Duration::from_secs(3600), tries);
    println!("{name}: {}", tallies[0]);
    assert!(tallies[0].wrong.is_empty(), "{:#?}", tallies[0].wrong);
    assert_eq!(tallies[0].tries(), tries);
    for way in met {
        assert!(
            tallies[0].right.contains_key(*way),
            "never `{way}`: {}",
            tallies[0]
        );
    }
}

#[test]
fn faults() {
    let met = [
        "failed with a message, resumed",
        "killed, resumed",
        "half a call, finished",
        "finished all the same",
    ];
    short("faults", 120, &met);
}

#[test]
fn kills() {
    short("kills", 10, &["one or two kills, the same bits"]);
}

#[test]
fn damage() {
    short(
        "damage",
        80,
        &[
            "refused",
            "refused where it matters",
            "no harm: the same numbers",
        ],
    );
}

#[test]
fn hostile() {
    short("hostile", 150, &["done", "refused"]);
}

#[test]
fn hdf5() {
    short("hdf5", 60, &["read", "refused"]);
}
