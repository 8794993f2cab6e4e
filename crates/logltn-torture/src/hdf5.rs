//! A mutated HDF5 file, which only the paper's third experiment reads, given to the program.

use std::fs;

use tempfile::TempDir;

use crate::mutate;
use crate::program::{Attempt, Harm, run};
use crate::rng::Rng;

const FILES: [&str; 2] = ["trainval/box_features.hdf5", "test/box_features.hdf5"];

/// One file.
pub fn attempt(rng: &mut Rng, _: u64) -> Attempt {
    let fixtures = mutate::root().join("crates/logltn-paper/tests/fixtures/pascal-part");
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let seeds = FILES.map(|name| fs::read(fixtures.join(name)).expect("a fixture"));
    let hit = rng.below(2);
    for (at, name) in FILES.iter().enumerate() {
        let path = folder.path().join("pascal-part").join(name);
        let bytes = match at == hit {
            true => mutate::bytes(rng, &seeds[at], &seeds),
            false => seeds[at].clone(),
        };
        fs::create_dir_all(path.parent().expect("a folder")).map_err(|e| e.to_string())?;
        fs::write(path, bytes).map_err(|e| e.to_string())?;
    }
    let words = [
        "reproduce",
        "pascal-part",
        "--data",
        ".",
        "--out",
        "table",
        "--runs",
        "1",
        "--configs",
        "logltn",
        "--steps",
        "1",
    ];
    let harm = Harm {
        memory: Some(1 << 31),
        ..Harm::default()
    };
    Ok(match run(folder.path(), &words, &harm)?.documented()? {
        0 => "read",
        1 => "failed",
        _ => "refused",
    })
}
