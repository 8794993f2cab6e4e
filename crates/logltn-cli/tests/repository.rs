//! What the files around the program say about each other.

use std::fs;

use crate::common::root;

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

/// Crates carry theories of the repository inside, since a published crate has no folder around it: they are the same.
#[test]
fn crates_carry_the_same_theories() {
    let mut seen = 0;
    for name in ["logltn-paper", "logltn-standin"] {
        let folder = root().join("crates").join(name).join("theories");
        for file in fs::read_dir(folder).expect("a folder").flatten() {
            let own = fs::read(file.path()).expect("a file");
            let theirs = fs::read(root().join("theories").join(file.file_name()));
            let same = theirs.is_ok_and(|theirs| theirs == own);
            assert!(same, "{} differs from theories/", file.path().display());
            seen += 1;
        }
    }
    assert_eq!(seen, 5);
}

/// The README is short.
#[test]
fn the_readme_has_at_most_700_words() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let words = readme.split_whitespace().count();
    assert!(words <= 700, "{words}");
}
