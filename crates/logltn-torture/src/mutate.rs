//! Mutations of real files: flipped, cut, doubled, spliced, and with numbers that nobody expects.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::rng::Rng;

/// Numbers as text that are too large, too small, or invalid.
const ODD: [&str; 22] = [
    "0",
    "-1",
    "-0",
    "1e400",
    "-1e400",
    "1e39",
    "1e-320",
    "nan",
    "inf",
    "99999999999999999999",
    "9223372036854775807",
    "4294967296",
    "2147483648",
    "0x10",
    "1_000",
    "\u{202e}",
    "\u{0}",
    "\u{feff}",
    "[",
    "\"",
    "'",
    "\n",
];

/// Some of these bytes changed, sometimes to a piece of one of the others.
pub fn bytes(rng: &mut Rng, base: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = base.to_vec();
    for _ in 0..*rng.pick(&[1, 1, 1, 2, 4]) {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        let at = rng.below(length);
        let end = (at + 1 + rng.below(24)).min(length);
        match rng.below(10) {
            0 | 1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff, b'-', b'9', b',', b'\n', b' ']),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            6 => {
                let other = rng.pick(others);
                let from = rng.below(other.len().max(1)).min(other.len());
                let to = (from + rng.below(40)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            7 => {
                let great = *rng.pick(&[
                    0,
                    1,
                    u64::MAX,
                    1 << 31,
                    u64::from(u32::MAX),
                    1 << 40,
                    1 << 62,
                    i64::MAX as u64,
                ]);
                let four = rng.chance(0.5);
                let number = match (rng.chance(0.5), four) {
                    (true, false) => great.to_le_bytes().to_vec(),
                    (false, false) => great.to_be_bytes().to_vec(),
                    (true, true) => (great as u32).to_le_bytes().to_vec(),
                    (false, true) => (great as u32).to_be_bytes().to_vec(),
                };
                let end = (at + number.len()).min(length);
                bytes.splice(at..end, number);
            }
            _ => replace_number(rng, &mut bytes, at),
        }
    }
    bytes
}

/// The next run of digits after a place becomes an odd number.
fn replace_number(rng: &mut Rng, bytes: &mut Vec<u8>, at: usize) {
    let Some(start) = (at..bytes.len()).find(|&i| bytes[i].is_ascii_digit()) else {
        return;
    };
    let end = (start..bytes.len())
        .find(|&i| !bytes[i].is_ascii_digit())
        .unwrap_or(bytes.len());
    bytes.splice(start..end, rng.pick(&ODD).bytes());
}

/// A text with some words changed, sometimes to words of one of the others.
pub fn words(rng: &mut Rng, base: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let split = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        let mut words: Vec<String> = Vec::new();
        for c in text.chars() {
            let joins = |last: char| c.is_alphanumeric() && last.is_alphanumeric();
            match words.last_mut() {
                Some(word) if word.chars().last().is_some_and(joins) => word.push(c),
                _ => words.push(c.to_string()),
            }
        }
        words
    };
    let mut words = split(base);
    let others = split(rng.pick::<Vec<u8>>(others));
    for _ in 0..*rng.pick(&[1, 1, 1, 2, 4]) {
        if words.is_empty() || others.is_empty() {
            break;
        }
        let at = rng.below(words.len());
        let end = (at + 1 + rng.below(6)).min(words.len());
        let from = rng.below(others.len());
        let piece = others[from..(from + 1 + rng.below(8)).min(others.len())].to_vec();
        match rng.below(5) {
            0 => drop(words.drain(at..end)),
            1 => words[at] = rng.pick(&ODD).to_string(),
            2 => {
                let doubled = words[at..end].to_vec();
                words.splice(at..at, doubled);
            }
            3 => words[at] = others[from].clone(),
            _ => drop(words.splice(at..end, piece)),
        }
    }
    words.concat().into_bytes()
}

/// The root of the repository: seeds are the files that it has anyway. On another machine than the one that compiled this,
/// it is where `LOGLTN_ROOT` says, or where the program was started.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let compiled = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let told = std::env::var_os("LOGLTN_ROOT").map(PathBuf::from);
        let known = [told, Some(compiled.into())].into_iter().flatten();
        let mut known = known.filter(|root| root.join("conformance").is_dir());
        known.next().unwrap_or_else(|| PathBuf::from("."))
    })
}
