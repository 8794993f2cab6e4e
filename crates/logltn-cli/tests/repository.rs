//! What the files around the program say about each other.

mod common;

use std::fs;

use common::root;

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
