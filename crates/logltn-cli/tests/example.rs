//! `logltn example`, from the user's side.

mod common;

use common::Folder;

#[test]
fn examples_are_listed() {
    let run = Folder::new(&[]).run(&["example"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for name in [
        "binary",
        "iris",
        "crabs",
        "clustering",
        "smokes",
        "ancestors",
        "sudoku-9",
    ] {
        assert!(run.stdout.contains(&format!("  {name} ")), "{}", run.stdout);
    }
}

#[test]
fn an_example_is_written_trained_and_shown_and_never_written_over() {
    let folder = Folder::new(&[]);
    let run = folder.run(&["example", "propositions", "--out", "p"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("data: three points"), "{}", run.stderr);
    assert!(run.stdout.contains("what was learnt"), "{}", run.stdout);
    // What is there can be used like anything else.
    let eval = folder.run(&["eval", "p/propositions.toml", "--run", "p/run"]);
    assert_eq!(eval.status, 0, "{}", eval.stderr);
    let again = folder.run(&["example", "propositions", "--out", "p"]);
    assert_eq!(again.status, 2, "{}", again.stderr);
    assert!(
        again.stderr.contains("something is there already"),
        "{}",
        again.stderr
    );
}

#[test]
fn mistakes_are_told_before_anything_is_written() {
    let folder = Folder::new(&[]);
    let unknown = folder.run(&["example", "iriss", "--out", "i"]);
    assert_eq!(unknown.status, 2, "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("did you mean `iris`"),
        "{}",
        unknown.stderr
    );
    let nowhere = folder.run(&["example", "iris", "--data", "nowhere", "--out", "i"]);
    assert_eq!(nowhere.status, 2, "{}", nowhere.stderr);
    assert!(
        nowhere.stderr.contains("no such folder"),
        "{}",
        nowhere.stderr
    );
    assert!(!folder.path().join("i").exists());
}
