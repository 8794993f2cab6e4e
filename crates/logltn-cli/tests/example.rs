//! `logltn example`, from the user's side.

use crate::common::Folder;

#[test]
fn examples_are_listed() {
    let run = Folder::new(&[]).run(&["example"]).ends(0);
    for name in [
        "binary",
        "iris",
        "crabs",
        "clustering",
        "smokes",
        "ancestors",
        "sudoku-9",
    ] {
        run.says(format!("  {name} "));
    }
}

#[test]
fn an_example_is_written_trained_and_shown_and_never_written_over() {
    let folder = Folder::new(&[]);
    let run = folder.ok(&["example", "propositions", "--out", "p"]);
    run.complains("data: three points");
    run.says("what was learnt");
    // What is there can be used like anything else.
    folder.ok(&["eval", "p/propositions.toml", "--run", "p/run"]);
    let again = folder.refuses(&["example", "propositions", "--out", "p"]);
    again.complains("something is there already");
}

#[test]
fn mistakes_are_told_before_anything_is_written() {
    let folder = Folder::new(&[]);
    let unknown = folder.refuses(&["example", "iriss", "--out", "i"]);
    unknown.complains("did you mean `iris`");
    let nowhere = folder.refuses(&["example", "iris", "--data", "nowhere", "--out", "i"]);
    nowhere.complains("no such folder");
    assert!(!folder.has("i"));
}
