//! What the files around the program say about each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{root, run_in};

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

/// The program, the citation and the editors' packages have one version.
#[test]
fn there_is_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("CITATION.cff", format!("version: {version}\n")),
        (
            "editors/vscode/package.json",
            format!("\"version\": \"{version}\""),
        ),
        (
            "editors/tree-sitter-ltn/tree-sitter.json",
            format!("\"version\": \"{version}\""),
        ),
        ("docs/editors.md", format!("logltn-{version}.vsix")),
        ("editors/vscode/README.md", format!("logltn-{version}.vsix")),
    ] {
        let text = fs::read_to_string(root().join(file)).expect(file);
        assert!(text.contains(&line), "{file}: {line}");
    }
}

/// What the tests of the workspace have built, the Python package need not build again: its crates have the same features
/// there, except for pyo3, which nothing else has, and the program, which leaves out the paper.
#[test]
fn the_python_package_shares_what_tests_build() {
    let crates = |arguments: &[&str]| -> BTreeSet<String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        let listed = Command::new(cargo)
            .args([
                "tree", "--locked", "--prefix", "none", "--format", "{p} {f}",
            ])
            .args(arguments)
            .current_dir(root())
            .output()
            .expect("cargo");
        let said = String::from_utf8_lossy(&listed.stderr);
        assert!(listed.status.success(), "{said}");
        (String::from_utf8_lossy(&listed.stdout).lines())
            .map(|line| line.trim_end_matches(" (*)").to_string())
            .filter(|line| !line.starts_with("logltn-cli "))
            .collect()
    };
    let package = crates(&["-p", "logltn-py", "-e", "normal"]);
    assert!(package.iter().any(|line| line.starts_with("serde ")));
    let tests = crates(&["--workspace"]);
    let alone: Vec<&String> = package.difference(&tests).collect();
    assert!(alone.is_empty(), "built again for Python: {alone:#?}");
}

/// Every crate that is published carries its licences.
#[test]
fn packages_have_licences() {
    for krate in fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
    {
        let manifest = fs::read_to_string(krate.path().join("Cargo.toml")).expect("a manifest");
        for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let published = !manifest.contains("publish = false");
            let there = fs::symlink_metadata(krate.path().join(name)).is_ok();
            assert_eq!(there, published, "{}/{name}", krate.path().display());
        }
    }
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

/// The modules of a crate can be read from the bottom up: none of them uses, by way of others, itself.
#[test]
fn modules_form_no_cycles() {
    for krate in fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
    {
        let uses = uses_among_modules(&krate.path().join("src"));
        // What is used by nothing that is left goes first; what remains at the end goes in circles.
        let mut left: BTreeSet<&String> = uses.keys().collect();
        while let Some(top) = left
            .iter()
            .copied()
            .find(|module| !left.iter().any(|other| uses[*other].contains(*module)))
        {
            left.remove(top);
        }
        let around: Vec<(&&String, Vec<&String>)> = left
            .iter()
            .map(|module| {
                let used = uses[*module].iter().filter(|used| left.contains(used));
                (module, used.collect())
            })
            .collect();
        assert!(around.is_empty(), "{}: {around:?}", krate.path().display());
    }
}

/// For each module at the top of a crate the others that it uses, tests left out.
fn uses_among_modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses = BTreeMap::new();
    let mut files: Vec<(String, PathBuf)> = fs::read_dir(source)
        .expect("sources")
        .flatten()
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .map(|(name, path)| (name.trim_end_matches(".rs").to_string(), path))
        .filter(|(name, _)| !["lib", "main", "tests"].contains(&name.as_str()))
        .collect();
    let modules: BTreeSet<String> = files.iter().map(|(module, _)| module.clone()).collect();
    while let Some((module, path)) = files.pop() {
        if path.is_dir() {
            let inside = fs::read_dir(path).expect("a folder").flatten();
            let inside =
                inside.filter(|entry| !entry.file_name().to_string_lossy().starts_with("tests"));
            files.extend(inside.map(|entry| (module.clone(), entry.path())));
            continue;
        }
        let used: &mut BTreeSet<String> = uses.entry(module.clone()).or_default();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a file");
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code = code.collect::<Vec<_>>().join("\n");
        for after in code.split("crate::").skip(1) {
            let names = match after.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or_default(),
                None => after
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
                    .unwrap_or_default(),
            };
            let names = names
                .split(',')
                .map(|name| name.trim().split(':').next().unwrap_or_default());
            used.extend(
                names
                    .filter(|name| modules.contains(*name) && *name != module)
                    .map(String::from),
            );
        }
    }
    uses
}

#[test]
fn theories_of_the_repository_are_in_standard_form() {
    let theories = root().join("theories");
    let files = fs::read_dir(theories)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|e| e == "ltn")) {
        run_in(root(), &["fmt", "--check", path.to_str().unwrap()]).ends(0);
    }
}
