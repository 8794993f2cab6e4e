//! What users read when something is wrong, one mistake at a time and several at once.

use crate::common::{Folder, sound};

/// A change to the sound project: a file, what to replace in it, and with what. An empty text is replaced by
/// the whole new content.
type Change = (&'static str, &'static str, &'static str);

fn change(folder: &Folder, (file, from, to): Change) {
    let path = folder.path().join(file);
    let text = std::fs::read_to_string(&path).expect("a file of the sound project");
    let changed = if from.is_empty() {
        to.to_string()
    } else {
        assert!(text.contains(from), "{file} does not contain {from:?}");
        text.replacen(from, to, 1)
    };
    std::fs::write(path, changed).expect("a file in a temporary folder");
}

/// What `check` says on standard error about each change alone.
fn report(changes: &[Change]) -> String {
    let mut out = String::new();
    for &(file, from, to) in changes {
        let folder = sound();
        change(&folder, (file, from, to));
        out += &wrong(&folder, &format!("{file}: {from:?} -> {to:?}"));
    }
    out
}

/// The mistakes of a folder under a title; there must be some.
fn wrong(folder: &Folder, title: &str) -> String {
    let run = folder.refuses(&["check", "m.toml"]);
    assert_eq!(run.stdout, "", "{title}");
    format!("===== {title}\n{}\n", run.stderr)
}

#[test]
fn the_project_that_is_changed_is_sound() {
    let run = sound().run(&["check", "m.toml"]);
    run.quiet();
}

#[test]
fn files() {
    let mut out = String::new();
    for file in [
        "t.ltn",
        "points.csv",
        "types.csv",
        "labelled.csv",
        "close.csv",
    ] {
        let folder = sound();
        folder.remove(file);
        out += &wrong(&folder, &format!("no {file}"));
    }
    out += &report(&[
        ("m.toml", "t.ltn", "tt.ltn"),
        ("m.toml", "points.csv", "points.mat"),
        ("m.toml", "points.csv", "pionts.csv"),
        ("points.csv", "", ""),
        ("types.csv", "", ""),
    ]);
    let folder = sound();
    folder.write("t.ltn", b"sort Point\nsort \xff\xfe\n");
    out += &wrong(&folder, "a theory in Latin-1");
    let folder = sound();
    folder.write("labelled.csv", b"x,t\n0,c\xe4t\n");
    out += &wrong(&folder, "a table in Latin-1");
    let run = sound().refuses(&["check", "missing.toml"]);
    out += &format!("===== no manifest\n{}", run.stderr);
    insta::assert_snapshot!(out);
}

#[test]
fn features() {
    let shown = report(&[
        ("points.csv", "3,4", "3"),
        ("points.csv", "3,4", "3,NaN"),
        ("points.csv", "3,4", "3,four"),
        ("points.csv", "x,y", "x,x"),
        ("points.csv", "3,4", "1e200,1e200"),
        (
            "m.toml",
            "features = \"points.csv\"",
            "individuals = [\"p\", \"q\", \"r\"]",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn tables() {
    let shown = report(&[
        ("labelled.csv", "2,dog", "3,dog"),
        ("labelled.csv", "2,dog", "-1,dog"),
        ("labelled.csv", "2,dog", "two,dog"),
        ("labelled.csv", "2,dog", "2,dgo"),
        ("labelled.csv", "2,dog", "2,elephant"),
        ("labelled.csv", "2,dog", "2"),
        ("labelled.csv", "2,dog", "2,dog,1"),
        ("labelled.csv", "x,t", "x,type"),
        (
            "labelled.csv",
            "x,t\n0,cat\n2,dog",
            "x,t,u\n0,cat,1\n2,dog,2",
        ),
        ("labelled.csv", "x,t\n", ""),
        ("readings.csv", "w,n,c,d,x", "w,m,c,d,x"),
        ("readings.csv", "w,n,c,d,x", "weight,n,c,D,x"),
        ("readings.csv", "1.25,4,green,7,2", "1.25,4,green,17,2"),
        (
            "readings.csv",
            "1.25,4,green,7,2",
            "1.25,4.0,Green,seven,2.0",
        ),
        (
            "readings.csv",
            "1.25,4,green,7,2",
            "inf,99999999999999999999,,7,2",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn predicates() {
    let shown = report(&[
        ("close.csv", "0.25", "1.5"),
        ("close.csv", "0.25", "-0.001"),
        ("close.csv", "0.25\n", ""),
        ("close.csv", "", "close\n1\n0\n1\n"),
        ("close.csv", "", "a,b,c\n1,0,0\n0,1,0\n"),
        ("close.csv", "0.25", "x"),
        ("bright.csv", "-1", "0.5"),
        ("bright.csv", "-1", "-inf"),
        ("type.csv", "", "type\n1\n2\n3\n4\n5\n6\n"),
        ("type.csv", "", "cat,dog,cow\n1,2,3\n4,5,6\n7,8,9\n"),
        ("types.csv", "cat\ndog\n", "cat\n"),
        ("shows.csv", "", "red,green\n1,2\n0,0\n1,1\n"),
        ("shows.csv", "0,0,0", "0,0,1e999"),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn manifests() {
    let shown = report(&[
        ("m.toml", "row = 0", "row = 3"),
        ("m.toml", "row = 0", "learnable = 8"),
        ("m.toml", "most = 12", ""),
        ("m.toml", "most = 12", "most = 12\nleast = 1"),
        ("m.toml", "most = 12", "most = 99999999999999999999"),
        ("m.toml", "close = { truth", "cloze = { truth"),
        ("m.toml", "dist(Point, Point)", "dist(Point, Type)"),
        ("m.toml", "labelled.csv\" }", "labelled.csv\" "),
        ("m.toml", "theory = \"t.ltn\"", ""),
        (
            "m.toml",
            "theory = \"t.ltn\"",
            "theory = \"t.ltn\"\nsemantics = \"loglnt\"",
        ),
        (
            "m.toml",
            "shows = { logits = \"shows.csv\", output = \"sigmoid\" }",
            "shows = { args = [\"x\", \"c\"], network = { mlp = [], inputs = [\"x.roi\"] }, output = \"sigmoid\" }",
        ),
        (
            "m.toml",
            "features = \"points.csv\"",
            "features = \"points.csv\"\nlabels = { file = \"types.csv\" }",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn theories() {
    let shown = report(&[
        ("t.ltn", "type(x, cat)", "type(x, cta)"),
        ("t.ltn", "bright(origin)", "bright(origin"),
        ("t.ltn", "sort Digit = 0..9", "sort Digit = 9..0"),
        (
            "t.ltn",
            "predicate bright(Point)",
            "predicate bright(Piont)",
        ),
        ("t.ltn", "d + n < most", "d + n < x"),
    ]);
    insta::assert_snapshot!(shown);
}

/// Broken declarations and files are reported once, not again by everything that uses them.
#[test]
fn one_cause_one_message() {
    for (file, from, to) in [
        (
            "t.ltn",
            "predicate bright(Point)",
            "predicate bright(Piont)",
        ),
        ("types.csv", "cat", "cat,1"),
        ("points.csv", "3,4", "3"),
        (
            "m.toml",
            "rows = \"labelled.csv\"",
            "row = \"labelled.csv\", rows = 3",
        ),
        // A misspelt name is not also a missing one.
        ("m.toml", "near = {", "nera = {"),
        ("m.toml", "[sorts.Point]", "[sorts.Piont]"),
        ("m.toml", "labelled = {", "labeled = {"),
        ("m.toml", "origin = {", "orign = {"),
    ] {
        let folder = sound();
        change(&folder, (file, from, to));
        let run = folder.run(&["check", "m.toml"]);
        let errors = run.stderr.matches("error: ").count();
        let expected = if to.contains("rows = 3") { 2 } else { 1 };
        assert_eq!(errors, expected, "{file}:\n{}", run.stderr);
    }
}

#[test]
fn mistakes_in_three_files_are_reported_in_one_run() {
    let folder = sound();
    change(&folder, ("t.ltn", "bright(origin)", "brihgt(origin)"));
    change(&folder, ("m.toml", "row = 0", "row = 7"));
    change(&folder, ("labelled.csv", "dog", "dgo"));
    change(&folder, ("readings.csv", "green", "grene"));
    change(&folder, ("close.csv", "0.25", "2.5"));
    let all = wrong(&folder, "five files");
    for (file, what) in [
        ("t.ltn:20", "`brihgt`"),
        ("m.toml:13", "no individual 7"),
        ("labelled.csv, row 1 (line 3)", "`dgo`"),
        ("readings.csv, row 2 (line 4)", "`grene`"),
        ("close.csv, row 5 (line 7)", "2.5"),
    ] {
        assert!(all.contains(file) && all.contains(what), "{what}:\n{all}");
    }
    assert!(all.contains("5 errors\n"), "{all}");
}

#[test]
fn with_json_errors_are_on_both_outputs() {
    let folder = sound();
    change(&folder, ("labelled.csv", "dog", "dgo"));
    let run = folder.refuses(&["check", "--json", "m.toml"]);
    run.complains("did you mean `dog`?");
    let document = run.json();
    let errors = document["errors"].as_array().expect("a list");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["file"], "m.toml");
    assert_eq!(errors[0]["line"], 16);
    assert_eq!(errors[0]["help"], "did you mean `dog`?");
}

#[test]
fn flags() {
    for arguments in [
        &["check"][..],
        &["chekc", "m.toml"],
        &["check", "m.toml", "--plna"],
        &["eval", "m.toml", "--semantics", "loglnt"],
        &["eval", "m.toml", "--alpha", "0"],
        &["eval", "m.toml", "--p", "-1"],
        &["eval", "m.toml", "--p-forall", "0.5"],
        &["eval", "m.toml", "--alpha", "nan"],
        &[],
    ] {
        let run = sound().refuses(arguments);
        assert!(!run.stderr.is_empty(), "{arguments:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
    for arguments in [&["--help"][..], &["check", "--help"], &["--version"]] {
        let run = sound().run(arguments);
        run.quiet();
    }
}

#[test]
fn a_short_row_hides_no_wrong_cell() {
    let folder = sound();
    change(&folder, ("labelled.csv", "", "x,t\n0\n9,cat\n1,dgo\n"));
    change(&folder, ("points.csv", "", "x,y\n0\n3,four\n6,8\n"));
    change(&folder, ("bright.csv", "", "bright\n0\n-1,-2\nminus one\n"));
    let run = folder.refuses(&["check", "m.toml"]);
    for wanted in [
        "labelled.csv, row 0 (line 2): expected 2 cells as in the header, found 1",
        "labelled.csv, row 2 (line 4), column `t`: sort `Type` has no individual `dgo`",
        "points.csv, row 0 (line 2): expected 2 cells as in the header, found 1",
        "points.csv, row 1 (line 3), column `y`: expected a number, found `four`",
        "bright.csv, row 1 (line 3): expected 1 cell as in the header, found 2",
        "bright.csv, row 2 (line 4), column `bright`: expected a number, found `minus one`",
    ] {
        run.complains(wanted);
    }
}

#[test]
fn all_mistakes_of_a_table_are_counted_once() {
    let folder = sound();
    let row = "wide,many,pink,ten,first\n";
    folder.write(
        "readings.csv",
        format!("w,n,c,d,x\n{}", row.repeat(20)).as_bytes(),
    );
    let run = folder.run(&["check", "m.toml"]);
    // 5 cells of each of 20 rows, of which 10 are shown.
    let notes: Vec<&str> = (run.stderr.lines())
        .filter(|line| line.contains("more in this file"))
        .collect();
    assert_eq!(notes, [" = note: … and 90 more in this file"]);
}

#[test]
fn cells_separated_by_something_else() {
    for separator in [";", "\t"] {
        let folder = sound();
        let text = "x,t\n0,cat\n".replace(',', separator);
        folder.write("labelled.csv", text.as_bytes());
        let run = folder.run(&["check", "m.toml"]);
        run.complains("help: separate cells with commas");
    }
}

/// To look for the nearest of 10,000 labels takes milliseconds, which is too long for each of 100,000 cells.
#[test]
fn many_unknown_labels_are_told_quickly() {
    let folder = sound();
    let types: String = (0..10_000).map(|i| format!("type{i}\n")).collect();
    let rows: String = (0..100_000).map(|i| format!("0,tyep{i}\n")).collect();
    folder.write("types.csv", types.as_bytes());
    folder.write("labelled.csv", format!("x,t\n{rows}").as_bytes());
    let start = std::time::Instant::now();
    let run = folder.run(&["check", "m.toml"]);
    run.complains("did you mean `type7`?");
    run.complains("… and 99990 more in this file");
    let seconds = start.elapsed().as_secs();
    assert!(seconds < 600, "{seconds} seconds");
}

#[test]
fn a_theory_without_axioms_is_named() {
    let folder = Folder::new(&[
        ("t.ltn", b"sort A = 0..2\n"),
        ("m.toml", b"theory = \"t.ltn\"\n"),
    ]);
    for command in ["check", "eval"] {
        let run = folder.refuses(&[command, "m.toml"]);
        assert!(
            run.stderr.contains("error: t.ltn: there are no axioms")
                && run.stderr.contains("--> m.toml:1:10"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn an_error_is_not_lost_behind_warnings() {
    let variables: Vec<String> = (0..100).map(|i| format!("x{i}")).collect();
    // The error comes last: it is found when the theory is planned, after the warnings about its variables.
    let theory = format!(
        "sort A = 0..2\npredicate P(A)\naxiom a: forall {}: A. P(0)\naxiom b: forall x: A where 1/x > 0. P(x)\n",
        variables.join(", ")
    );
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("m.toml", b"theory = \"t.ltn\"\n"),
    ]);
    let run = folder.refuses(&["check", "m.toml"]);
    assert!(
        run.stderr.starts_with("error: division by zero"),
        "{}",
        run.stderr
    );
}
