//! What the files around the program say about each other.

mod common;

use std::fs;

use common::root;

/// A target that `fuzz/Cargo.toml` does not list is never built.
#[test]
fn every_fuzz_target_is_listed() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("fuzz/Cargo.toml");
    let mut targets = 0;
    for entry in fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the fuzz targets") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a target");
        // The others are modules of the targets.
        if text.contains("fuzz_target!") {
            let name = path.file_name().expect("a name").to_string_lossy();
            let listed = format!("path = \"fuzz_targets/{name}\"");
            assert!(manifest.contains(&listed), "{name} is not listed");
            targets += 1;
        }
    }
    assert!(targets >= 8, "{targets} targets");
}

/// The README promises a compiler that Cargo accepts.
#[test]
fn the_readme_names_the_compiler_that_is_needed() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let version = (manifest.lines())
        .find_map(|line| line.strip_prefix("rust-version = "))
        .expect("a `rust-version`")
        .trim_matches('"');
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let promised = format!("With [Rust](https://rustup.rs) {version} or newer");
    assert!(readme.contains(&promised), "{promised}");
}
